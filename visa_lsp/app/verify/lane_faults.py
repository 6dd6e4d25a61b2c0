"""Finds machine instructions that execute other lanes than their line of the text, whether or not a launch shows it.

Looks only at instructions with the operation of their line, because those that a finalizer adds (products in accumulators,
spills, headers) choose their own lanes. Where no listing tells the lines, all lines with the operation are candidates.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from visa_lsp.eu.model import Direct
from visa_lsp.eu.opcodes import PRODUCTS, operation_of
from visa_lsp.isa.types import ExecControl

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.eu.model import MachineCode, MachineInst
    from visa_lsp.program.model import Kernel

_LEAST_LANES: Final = 8  # without lines: shorter vectors are single lanes of a text that the finalizer has joined


def lane_faults(kernel: Kernel, code: MachineCode) -> Iterator[tuple[MachineInst, str]]:
    """Yield each instruction that executes other lanes than its line, with what is wrong."""
    by_line, by_operation = dict[int, tuple[str, ExecControl]](), defaultdict[str, list[ExecControl]](list)
    for inst in kernel.instructions:
        control = next((value for value in inst.values if isinstance(value, ExecControl)), None)
        if control is not None:
            by_line[inst.line] = operation_of(inst), control
            by_operation[operation_of(inst)].append(control)
    pieces = defaultdict[int, list["MachineInst"]](list)
    # With calls, the operations of the kernel's text are not all.
    calls = any(inst.op in ("call", "calla") for inst in code.instructions)
    for piece in filter(_is_vector, code.instructions):
        operation = piece.name if piece.op == "math" else piece.op
        if piece.is_numbered:
            name, control = by_line.get(piece.line, ("", ExecControl(1)))
            if control.exec_size > 1 and operation in (name, PRODUCTS.get(name)):
                pieces[piece.line].append(piece)
        elif piece.line < 0 and not calls and operation != "mov" and piece.lanes >= _LEAST_LANES and piece.no_mask:
            candidates = [c for c in by_operation[operation] if c.exec_size > 1]
            if candidates and not any(c.no_mask for c in candidates):
                yield piece, f"the mask, because no `{operation}` of the text is executed in lanes that are off"
    for line, of_line in pieces.items():
        yield from _faults_of_line(of_line, by_line[line][1])


def _is_vector(inst: MachineInst) -> bool:
    dst = inst.dst
    if inst.lanes == 1 or inst.is_message or not isinstance(dst, Direct):
        return False
    return dst.register.kind in ("r", "f") or (dst.register.is_null and inst.condition != "")


def _faults_of_line(found: Sequence[MachineInst], control: ExecControl) -> Iterator[tuple[MachineInst, str]]:
    """Yield what is wrong with the instructions that do the work of a line."""
    own = range(control.mask_offset, control.mask_offset + control.exec_size)
    masked = [inst for inst in found if not inst.no_mask]
    missing = sorted(set(own) - {lane for inst in masked for lane in range(inst.offset, inst.offset + inst.lanes)})
    if control.no_mask:
        yield from ((inst, "no mask, because its line is executed in lanes that are off, too") for inst in masked)
    elif missing and len(masked) < len(found):  # else these are copies that the finalizer has added
        text = "the mask of its line, which is not executed in lanes that are off"
        yield from ((inst, text) for inst in found if inst.no_mask)
    elif missing and _is_whole(found, control) and not any(map(_has_product, found)):
        yield found[-1], f"lane {missing[0]} of the thread, which its line executes, but none of its instructions"


def _is_whole(found: Sequence[MachineInst], control: ExecControl) -> bool:
    """Return whether no instruction of a line is given to a line nearby, as listings do with parts of equal width."""
    return sum(inst.lanes for inst in found) >= control.exec_size or len({inst.lanes for inst in found}) > 1


def _has_product(inst: MachineInst) -> bool:
    """Return whether an instruction takes a product out of an accumulator; listings often give it to a line nearby."""
    reads = any(isinstance(source, Direct) and source.register.kind == "acc" for source in inst.sources)
    return reads or inst.op in PRODUCTS.values()
