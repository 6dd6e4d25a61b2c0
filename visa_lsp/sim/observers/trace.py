"""The observer behind ``run --trace``: one line for each instruction that chosen threads execute, with its values.

Passes text to a function, prints nothing itself. A line has group, thread, place, source line, active lanes, the
instruction, and the new values of its destination, or without a destination its sources. Invariant: only lanes that the
instruction wrote are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.program.model import Address, General, Indirect, PredicateOperand
from visa_lsp.program.operand_text import OperandNames, instruction
from visa_lsp.program.text_form import names_of
from visa_lsp.sim.observers.hooks import Observer
from visa_lsp.sim.operands import Site, Touch
from visa_lsp.sim.values import DTYPE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from visa_lsp.sim.dispatch import Dispatch
    from visa_lsp.sim.interp import Code, Thread
    from visa_lsp.sim.registers import Frame

Who = tuple[tuple[int, int, int], int]

MAX_LINES: Final = 100_000
_MAX_VALUES: Final = 32


class Tracer(Observer):
    """A tracer of the threads ``who``: it passes at most ``limit`` lines to ``write``, then a last line."""

    wants_instructions = True

    def __init__(self, who: Collection[Who], write: Callable[[str], None], limit: int = MAX_LINES) -> None:
        self._who = frozenset(who)
        self._write = write
        self._left = limit
        self._names: dict[int, OperandNames] = {}
        self._mask = 0

    def unfit(self, dispatch: Dispatch) -> str:
        """Return the reason if a chosen thread does not exist."""
        for (x, y, z), thread in sorted(self._who):
            word = f"{x},{thread}" if not (y or z) else f"{x}:{y}:{z},{thread}"
            if any(number >= count for number, count in zip((x, y, z), dispatch.groups, strict=True)):
                last = ":".join(str(count - 1) for count in dispatch.groups)
                return f"--trace {word}: no such thread; the last group is {last}"
            if thread >= dispatch.threads_per_group:
                last = str(dispatch.threads_per_group - 1)
                return f"--trace {word}: no such thread; the last thread of a group is {last}"
        return ""

    def before_instruction(self, thread: Thread, pc: int) -> None:
        """Record the active lanes before an instruction."""
        del pc
        self._mask = thread.frame.emask

    def after_instruction(self, thread: Thread, frame: Frame, pc: int) -> None:
        """Write the line of an instruction."""
        if (thread.group.id, thread.number) not in self._who or self._left <= 0:
            return
        code = frame.code
        inst = code.kernel.instructions[pc]
        if inst.row.opens_label or inst.row.marks_source:
            return
        self._left -= 1
        names = self._names.get(id(code))
        if names is None:
            names = self._names[id(code)] = names_of(code.kernel, thread.machine.dispatch.platform)
        group = ",".join(str(n) for n in thread.group.id)
        line = f" line {inst.line + 1}" if inst.line >= 0 else ""
        values = _values(frame, code, pc, names)
        self._write(
            f"[{group}].{thread.number} #{pc}{line} {self._mask:#x}: {instruction(names, inst)}"
            + (f"  // {values}" if values else "")
        )
        if not self._left:
            self._write("the trace ends here: it has reached its limit of lines")


def _values(frame: Frame, code: Code, pc: int, names: OperandNames) -> str:
    inst = code.kernel.instructions[pc]
    dst = inst.get("dst")
    if isinstance(dst, PredicateOperand):
        name = names.predicate.get(dst.var, f"P{dst.var}")
        return f"{name} = {frame.preds[dst.var]:#x}"
    if isinstance(dst, Address):
        cell = code.layout.address_base[dst.var] + dst.offset
        name = names.address.get(dst.var, f"A{dst.var}")
        return f"{name} = {int(frame.addr[cell])}"
    touches = [t for t in code.touches.get(pc, []) if t.indirect is None]
    shown = [t for t in touches if t.write] or touches
    return "; ".join(_touch(frame, code, pc, t) for t in shown)


def _touch(frame: Frame, code: Code, pc: int, touch: Touch) -> str:
    inst = code.kernel.instructions[pc]
    name = code.kernel.variable_name(touch.var)
    raw = frame.regs[np.minimum(touch.places, frame.regs.size - 1)]
    operand = inst.get(touch.field) if touch.field else None
    if not touch.raw and isinstance(operand, General | Indirect):
        values: Any = raw.reshape(-1).view(DTYPE[Site(code, inst, pc).operand_type(operand)])
        texts = [f"{v:.9g}" if isinstance(v, float) else str(v) for v in values.tolist()]
    else:
        size = next(s for s in (8, 4, 2, 1) if raw.shape[1] % s == 0)
        texts = [f"{v:#x}" for v in np.ascontiguousarray(raw).view(f"<u{size}").reshape(-1).tolist()]
    ellipsis = ", ..." if len(texts) > _MAX_VALUES else ""
    return f"{name} = {', '.join(texts[:_MAX_VALUES])}{ellipsis}"
