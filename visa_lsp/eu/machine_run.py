"""Runs machine code: the machine of texts with threads of another kind.

Groups, barriers, budgets, faults and observers are those of ``sim.machine``. A thread begins with the payload as hardware
and ze_info have it; ``watchers`` receive every executed instruction.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import numpy as np

from visa_lsp.eu import machine_effects
from visa_lsp.eu.descriptors import message
from visa_lsp.eu.opcodes import row_of
from visa_lsp.eu.site import MachineFrame, MachineProgram, MachineSite, Unmodelled
from visa_lsp.eu.text_machine import undefined_bytes
from visa_lsp.sim.machine import Machine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.eu.model import MachineCode, MachineInst
    from visa_lsp.sim.dispatch import Dispatch, GroupShape, RunResult
    from visa_lsp.sim.group import ThreadGroup
    from visa_lsp.sim.interp import Thread
    from visa_lsp.sim.observers.hooks import Observer
    from visa_lsp.sim.operands import Op
    from visa_lsp.sim.registers import Frame

CODE_BASE: Final = 0x7F00_0000  # address of the first instruction, for pointers to functions
_DISPATCH_MASK: Final = 8  # byte of sr0


class Watcher(Protocol):
    """An observer of machine instructions."""

    def before(self, thread: Thread, inst: MachineInst) -> None:
        """Receive an instruction that a thread is about to execute."""


@dataclass(frozen=True, slots=True)
class ThreadStart:
    """The start of a thread: bytes of its register file from byte 0 on."""

    registers: bytes


def compile_op(site: MachineSite) -> Op:
    """Return the op of an instruction by its row. Raises Unmodelled if it has none."""
    row = row_of(site.machine.op, site.machine.subop)
    if row is None:
        raise Unmodelled(site.machine.name)
    if row.meaning == "message":
        return message(site)
    if isinstance(row.meaning, str):
        return machine_effects.EFFECTS[row.meaning](site)
    return machine_effects.compute(site, row.meaning, row.order)


class MachineOfCode(Machine):
    """A run of machine code. ``start_of`` returns the first registers of a thread of a group.

    ``has_undefined``: the other registers begin with any values, else with zeros. ``has_one_nan``: operations return one and the same NaN.
    """

    def __init__(
        self,
        dispatch: Dispatch,
        code: MachineCode,
        start_of: Callable[[tuple[int, int, int], int], ThreadStart],
        observers: Sequence[Observer] = (),
        watchers: Sequence[Watcher] = (),
        *,
        has_undefined: bool = True,
        has_one_nan: bool = False,
    ) -> None:
        super().__init__(dispatch, observers)
        self.has_undefined = has_undefined
        self.watchers = tuple(watchers)
        self.program = MachineProgram(code, self._op_of)
        self.program.has_one_nan = has_one_nan
        self.start_of = start_of
        self._codes[0] = self.program
        self._free_frames: list[MachineFrame] = []

    def _op_of(self, site: MachineSite) -> Op:
        inst = site.machine
        op = compile_op(site)
        if not self.watchers:
            return op
        tell = [watcher.before for watcher in self.watchers]

        def watched(f: Frame) -> int | None:
            assert f.thread is not None
            for receive in tell:
                receive(f.thread, inst)
            return op(f)

        return watched

    def run_groups(self) -> None:
        """Run one group after another. Raises KernelFault if one cannot continue."""
        try:
            super().run_groups()
        except (ValueError, TypeError, IndexError, OverflowError, ZeroDivisionError) as error:
            index = self._running.frame.pc if self._running is not None else 0
            instructions = self.program.machine_code.instructions
            name = instructions[index].name if index < len(instructions) else "the machine code"
            raise Unmodelled(f"{name}: {error}") from error

    def ops_of(self, code: Any) -> list[Op]:
        """Return the ops; observers of vISA instructions are not called."""
        return cast("list[Op]", code.ops)

    def symbol_address(self, name: str) -> int | None:
        """Return the address of a symbol; None where the program has none."""
        return self.dispatch.symbols.get(name)

    def _make_thread(self, group: ThreadGroup, number: int, shape: GroupShape) -> Thread:
        program, dispatch = self.program, self.dispatch
        if self._free_frames:
            frame = self._free_frames.pop()
            frame.reset()
        else:
            self.grew(program.layout.size)
            frame = MachineFrame(program)
        mask = shape.lanes(number)
        start = np.frombuffer(self.start_of(group.id, number).registers, np.uint8)
        starts = cast("Any", program.layout).starts
        if self.has_undefined:
            frame.regs[: starts["acc"]] = undefined_bytes(starts["acc"], sum(group.id) + 8 * number)
        frame.regs[: start.size] = start
        frame.emask = frame.call_mask = mask
        state, message_register = dispatch.platform.thread_number.registers(number)
        frame.put(starts["sr"], state)
        frame.put(starts["sr"] + _DISPATCH_MASK, mask)
        frame.put(starts["msg"], message_register)
        return self.thread(group, number, frame)

    def release(self, frame: Frame) -> None:
        """Recycle a frame."""
        frame.thread = None
        self._free_frames.append(cast("MachineFrame", frame))

    def finish(self) -> RunResult:
        """Return the result, with the count of instructions by opcode and the findings of the observers."""
        with suppress(Exception):
            for observer in self.observers:
                observer.on_end()
        counts: Counter[str] = Counter()
        for inst, count in zip(self.program.machine_code.instructions, self.program.counts, strict=False):
            counts[inst.name] += count
        self.result.instructions = dict(+counts)
        self.result.steps = sum(counts.values())
        self.result.faults = tuple(self._faults)
        return self.result


def unmodelled_in(code: MachineCode) -> dict[str, int]:
    """Return what of the code has no meaning here, with counts, reached or not; descriptors in registers are not judged."""
    program = MachineProgram(code, compile_op)
    counts: Counter[str] = Counter()
    for inst in code.instructions:
        try:
            compile_op(MachineSite(program, inst, inst.index))
        except Unmodelled as missing:
            counts[missing.what] += 1
        except Exception as error:  # noqa: BLE001 - a damaged instruction is named, too
            counts[f"{inst.name}: {error}"] += 1
    return dict(counts)
