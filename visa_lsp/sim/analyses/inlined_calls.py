"""Puts subroutines in the place of their calls, so that lanes move by ``goto`` alone.

The lanes that a call does not take wait behind the copy of the subroutine, where its returns lead. A copy has an
instruction for each of the call and the subroutine, so that both forms execute equally many. ``origins`` says which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from visa_lsp.isa.model import FlowClass
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.model import Inst, Kernel, LabelEntry, Predicate

if TYPE_CHECKING:
    from visa_lsp.isa.model import Instruction
    from visa_lsp.program.model import Value

MAX_INLINED: Final = 4_000  # instructions of a body without calls
_LABEL: Final = TABLE.by_flow[FlowClass.LABEL]
_GOTO: Final = TABLE.by_flow[FlowClass.GOTO]


class InlinedCalls(NamedTuple):
    """A kernel without calls, and for each of its instructions the place of the original one; -1 without any."""

    kernel: Kernel
    original: Kernel
    origins: tuple[int, ...]


def inline_calls(kernel: Kernel, simd: int) -> InlinedCalls | None:
    """Return a kernel with copies of its subroutines; None where it has no calls, or where copies would do something else."""
    if not any(inst.row.flow is FlowClass.CALL for inst in kernel.instructions):
        return None
    inliner = _Inliner(kernel, simd)
    if not inliner.copy(0, (), None):
        return None
    labels = kernel.labels + (LabelEntry(0, 0),) * (inliner.labels - len(kernel.labels))
    inlined = replace(kernel, instructions=tuple(inliner.instructions), labels=labels)
    return InlinedCalls(inlined, kernel, tuple(inliner.origins))


class _Inliner:
    def __init__(self, kernel: Kernel, simd: int) -> None:
        self._kernel, self._simd = kernel, simd
        self._places = {inst.get("label"): pc for pc, inst in enumerate(kernel.instructions) if inst.row.opens_label}
        starts = {pc for pc, inst in enumerate(kernel.instructions) if inst.row.flow is FlowClass.SUBROUTINE}
        self._starts = sorted({0, *starts})
        self.labels = len(kernel.labels)
        self.instructions: list[Inst] = []
        self.origins: list[int] = []

    def copy(self, start: int, callers: tuple[int, ...], return_label: int | None, *, named: bool = True) -> bool:
        """Append the body that begins at a place, and return whether that is possible.

        Its returns go to the label ``return_label``. Without ``named`` its own first label is left out.
        """
        instructions = self._kernel.instructions
        last = start == self._starts[-1]
        end = len(instructions) if last else self._starts[self._starts.index(start) + 1]
        opened = [instructions[pc].get("label") for pc in range(start, end) if instructions[pc].row.opens_label]
        if start in callers or not (self._ends(start, end) or (last and return_label is None)):
            return False
        numbers = {label: label if return_label is None else self._new_label() for label in opened[not named :]}
        for pc in range(start + (not named), end):
            inst, values = instructions[pc], instructions[pc].values
            row, flow = inst.row, inst.row.flow
            if len(self.instructions) > MAX_INLINED or flow.structured or "labels" in row.index:
                return False
            if flow is FlowClass.CALL:
                if not self._call(inst, pc, (*callers, start)):
                    return False
                continue
            if return_label is not None and flow is FlowClass.RETURN:
                row, values = _GOTO, (*values, return_label)
            elif "label" in row.index:
                if inst.get("label") not in numbers:
                    return False
                index = row.index["label"]
                values = (*values[:index], numbers[inst.get("label")], *values[index + 1 :])
            self._append(row, values, pc, inst.line)
        return True

    def _call(self, inst: Inst, pc: int, callers: tuple[int, ...]) -> bool:
        control, pred, start = inst.get("exec"), inst.get("pred"), self._places.get(inst.get("label"))
        if start not in self._starts or not self._takes_all(inst):
            return False
        return_label = self._new_label()
        others = replace(pred, inverse=not pred.inverse) if isinstance(pred, Predicate) and pred.var else None
        if others is not None:
            self._append(_GOTO, (control, others, return_label), pc, inst.line)
        else:
            self._append(_LABEL, (self._new_label(),), pc, inst.line)
        if not self.copy(start, callers, return_label, named=others is not None):
            return False
        self._append(_LABEL, (return_label,), start if others is None else -1, inst.line)
        return True

    def _takes_all(self, inst: Inst) -> bool:
        """Return whether an instruction without a predicate moves all active lanes; with execution size 1 it does."""
        control = inst.get("exec")
        return isinstance(control, ExecControl) and (
            control.exec_size == 1 or (control.exec_size >= self._simd and not control.mask_offset)
        )

    def _ends(self, start: int, end: int) -> bool:
        """Return whether no lane goes on behind the last instruction of a body."""
        body = self._kernel.instructions[start:end]
        inst = next((inst for inst in reversed(body) if inst.row.flow is not FlowClass.NOTE), None)
        if inst is None or inst.get("pred") is not None:
            return False
        moves = inst.row.flow.returns or inst.row.flow in (FlowClass.GOTO, FlowClass.JUMP)
        return moves and self._takes_all(inst)

    def _new_label(self) -> int:
        self.labels += 1
        return self.labels - 1

    def _append(self, row: Instruction, values: tuple[Value, ...], origin: int, line: int) -> None:
        self.instructions.append(Inst(row, values, line))
        self.origins.append(origin)
