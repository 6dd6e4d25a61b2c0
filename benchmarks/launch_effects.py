"""Does a changed instruction have an effect in any launch? Runs the right code, and at each execution also the changed instruction.

No effect: in every execution of every launch, the changed instruction leaves every byte that a later instruction may read as the right one does.
A lost load has none where its registers hold the loaded values already. Other messages and branches count as changed wherever they are executed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from benchmarks.same_consequence import live_bytes
from visa_lsp.app.verify.both_runs import compare_with
from visa_lsp.eu.machine_run import compile_op
from visa_lsp.eu.model import Payload
from visa_lsp.eu.site import MachineFrame, MachineProgram, MachineSite, Unmodelled
from visa_lsp.sim.faults import KernelFault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.app.verify.both_runs import TextRun
    from visa_lsp.eu.model import MachineCode, MachineInst
    from visa_lsp.sim.interp import Thread


class _BothOps:
    """A watcher that executes a changed instruction beside the right one. ``differs``: some live byte has another value."""

    def __init__(self, code: MachineCode, changed: MachineCode, index: int) -> None:
        self.pair = code.instructions[index], changed.instructions[index]
        live = live_bytes(code, index) | live_bytes(changed, index)
        self.live = np.unpackbits(
            np.frombuffer(live.to_bytes(live.bit_length() // 8 + 1, "little"), np.uint8), bitorder="little"
        )
        self.differs = False
        right, wrong = self.pair
        loads = right.is_message and isinstance(right.dst, Payload) and right.dst.start >= 0
        self.is_lost_load = loads and wrong.op == "nop" and "atomic" not in right.text
        self.loading: dict[int, np.ndarray[Any, Any]] = {}  # the registers ahead of a lost load, by thread

    def before(self, thread: Thread, inst: MachineInst) -> None:
        """Execute both instructions on the same registers, and restore these."""
        if self.is_lost_load:
            self._follow_load(thread, inst)
            return
        if inst.index != self.pair[0].index or self.differs:
            return
        right, wrong = (self._registers_after(cast("MachineFrame", thread.frame), inst) for inst in self.pair)
        self.differs = right is None or wrong is None or self._are_unlike(right, wrong)

    def _follow_load(self, thread: Thread, inst: MachineInst) -> None:
        """Compare the registers behind a load with those ahead of it."""
        frame = cast("MachineFrame", thread.frame)
        ahead = self.loading.pop(thread.number, None)
        if ahead is not None and not self.differs:
            size = min(self.live.size, ahead.size)
            self.differs = bool(((frame.regs[:size] != ahead[:size]) & self.live[:size].astype(bool)).any())
        if inst.index == self.pair[0].index:
            self.loading[thread.number] = frame.regs.copy()

    def _are_unlike(self, right: tuple[Any, ...], wrong: tuple[Any, ...]) -> bool:
        size = min(self.live.size, right[0].size)
        bytes_differ = ((right[0] != wrong[0])[:size] & self.live[:size].astype(bool)).any()
        return bool(bytes_differ or (right[1] != wrong[1]).any() or right[2] != wrong[2])

    def _registers_after(self, frame: MachineFrame, inst: MachineInst) -> tuple[Any, ...] | None:
        """Return the registers after an instruction; None if it does more than write registers, or fails."""
        program = cast("MachineProgram", frame.code)
        if inst.is_message or inst.targets:
            return None
        before = frame.regs.copy(), frame.wide.copy(), dict(frame.precise)
        try:
            with program.let_grow():
                op = compile_op(MachineSite(program, inst, inst.index))
            op(frame)
        except (KernelFault, Unmodelled, ValueError):
            return None
        finally:
            after = frame.regs.copy(), frame.wide.copy(), dict(frame.precise)
            frame.regs[:], frame.wide[:], frame.precise = before
        return after


def has_effect(runs: Sequence[TextRun], text: str, code: MachineCode, changed: MachineCode, index: int) -> bool:
    """Return whether a changed instruction has an effect in the launches of some runs."""
    both = _BothOps(code, changed, index)
    for run in runs:
        compare_with(run, code, text, [both])
        if both.differs:
            return True
    return False
