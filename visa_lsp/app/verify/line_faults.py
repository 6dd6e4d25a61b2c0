"""Finds machine instructions that do something else than their line of the text, whether or not a launch shows it.

Looks only at instructions with the operation of their line, because those that a finalizer adds (products in accumulators,
spills, headers) choose their own lanes and numbers. They have the lanes, the relation, the immediate and the scalar sources of
their line. Messages with an element for each lane have its lanes. Where no listing tells the lines, all lines with the operation are candidates.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.eu.lane_owners import lane_faults
from visa_lsp.eu.model import Direct
from visa_lsp.eu.opcodes import MIRRORED, RELATIONS, operation_of
from visa_lsp.isa import types as ty
from visa_lsp.isa.model import SENDING
from visa_lsp.isa.operands import SCALAR_REGION
from visa_lsp.isa.types import DataType, ExecControl
from visa_lsp.program.message import ElementMessage, SampleMessage, TexelMessage, understood_message_of
from visa_lsp.program.model import General, Immediate
from visa_lsp.program.operand_text import immediate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.eu.model import MachineCode, MachineInst
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.model import Inst, Kernel

_LEAST_LANES: Final = 8  # without lines: shorter vectors are single lanes of a text that the finalizer has joined
_LARGEST: Final = 4  # bytes of immediates and sources that are compared; finalizers split larger ones
_PRODUCT_BITS: Final = 16  # of a factor that no finalizer splits
_OF_LANES: Final = ("ugm", "slm", "tgm", "smpl")  # functions whose messages have an element for each lane
_OF_FLOATS: Final = ("add", "mul", "mad", "sel")  # opcodes whose floats finalizers take from lines of their operation
_ADDED: Final = ("mov", "send", "sync", "nop")  # opcodes that finalizers add to any line
# Operations that finalizers replace by products and sums.
_OF_PARTS: Final = ("mad", "madw", "mul", "mulh", "lrp", "div", "mod", "pow")
_OTHER_LANES: Final = "the mask of its line, which is not executed in lanes that are off"


@dataclass(frozen=True, slots=True)
class _Line:
    """An instruction of the text with the name of its operation in machine code."""

    inst: Inst
    operation: str
    control: ExecControl
    result: DataType | None  # type of the destination, if that is a general variable

    @property
    def size(self) -> int:
        """The bytes of an element of the destination; 0 if that is no general variable."""
        return self.result.size if self.result is not None else 0

    @property
    def relation(self) -> str:
        """The relation of a comparison; empty for others."""
        code = self.inst.get("relop")
        return RELATIONS[code] if isinstance(code, int) and code < len(RELATIONS) else ""

    @property
    def immediates(self) -> list[Immediate]:
        """The immediate sources."""
        return [value for value in self.inst.values if isinstance(value, Immediate)]


def text_faults(kernel: Kernel, code: MachineCode, platform: Platform) -> Iterator[tuple[MachineInst, str]]:
    """Yield each instruction that does something else than its line, or than any line does with values of single lanes."""
    reported = set[int]()
    for inst, needs in chain(line_faults(kernel, code), lane_faults(kernel, code, platform)):
        if inst.index not in reported:
            yield inst, needs
        reported.add(inst.index)


def line_faults(kernel: Kernel, code: MachineCode) -> Iterator[tuple[MachineInst, str]]:
    """Yield each instruction that does something else than its line, with what is wrong."""
    lines = {}
    for inst in kernel.instructions:
        control = next((value for value in inst.values if isinstance(value, ExecControl)), None)
        if control is not None:
            dst = inst.get("dst")
            type_ = kernel.variable_type(dst.var) if isinstance(dst, General) else None
            lines[inst.line] = _Line(inst, operation_of(inst), control, type_)
    yield from _faults_of_messages(lines, code)
    by_operation = defaultdict[str, list[_Line]](list)
    for line in lines.values():
        by_operation[line.operation].append(line)
    pieces, spare = defaultdict[int, list["MachineInst"]](list), Counter[str]()
    # With calls, the operations of the kernel's text are not all.
    calls = any(inst.op in ("call", "calla") for inst in code.instructions)
    copies = [value for line in by_operation["mov"] for value in line.immediates]
    parts = [line for line in lines.values() if line.operation in _OF_PARTS and line.control.exec_size > 1]
    sums, zeros = _sums(by_operation["add"]), _comparisons_with_zero(by_operation["cmp"])
    # Finalizers give the rest of a product or of a carry to the next line.
    products = {number for number, line in lines.items() if line.operation == "mad"}
    for piece in code.instructions:
        own = lines.get(piece.line) if piece.is_numbered else None
        is_sum = piece.line - 1 in products and _operation(piece) == "add"
        if own is not None and (_operation(piece) not in (own.operation, *_ADDED) or _is_rest(piece) or is_sum):
            del lines[piece.line]
    lanes_of, copied = Counter[int](), set[int]()  # and lines with a copy of a source
    for piece in code.instructions:
        if piece.is_numbered and piece.line in lines and _operation(piece) == lines[piece.line].operation:
            lanes_of[piece.line] += piece.lanes
        elif piece.is_numbered and piece.op == "mov":
            copied.add(piece.line)
    for piece in code.instructions:
        operation, own = _operation(piece), lines.get(piece.line) if piece.is_numbered else None
        if own is not None and own.size not in (0, _size(piece)):
            own = None  # part of a line nearby
        if own is not None and operation == own.operation and not piece.is_message:
            if lanes_of[piece.line] <= own.control.exec_size:  # else a part of a line nearby is among them
                is_copied = piece.line in copied
                yield from ((piece, fault) for fault in _other_values(piece, own, sums, is_copied=is_copied))
            yield from ((piece, fault) for fault in _other_comparison(piece, own, zeros))
        elif own is not None and own.operation == "sel" and piece.op == "mov":
            yield from ((piece, fault) for fault in _other_choice(piece, own))
        elif piece.line < 0 and not calls and by_operation[operation]:
            given = (*by_operation[operation], *parts)
            yield from ((piece, fault) for fault in _other_operation(piece, given, copies))
        if own is not None and own.control.exec_size > 1 and operation == own.operation:
            if _is_vector(piece):
                pieces[piece.line].append(piece)
        else:
            spare[operation] += piece.lanes
    for number, of_line in pieces.items():
        surplus = sum(inst.lanes for inst in of_line) - lines[number].control.exec_size
        spare[lines[number].operation] += max(0, surplus)
    for number, of_line in pieces.items():
        yield from _faults_of_line(of_line, lines[number].control, spare[lines[number].operation])


def _faults_of_messages(lines: dict[int, _Line], code: MachineCode) -> Iterator[tuple[MachineInst, str]]:
    """Yield each message with an element for each lane that has other lanes than its line."""
    messages = [piece for piece in code.instructions if piece.is_message and not _is_added(piece)]
    by_line = defaultdict[int, list["MachineInst"]](list)
    for piece in messages:
        own = lines.get(piece.line) if piece.is_numbered else None
        if own is not None and _sends_lanes(own):
            by_line[piece.line].append(piece)
    for number, of_line in by_line.items():
        yield from _faults_of_line(of_line, lines[number].control, 0)
    has_calls = any(inst.op in ("call", "calla") for inst in code.instructions)
    vectors = [line for line in lines.values() if line.control.exec_size > 1 and line.inst.row.family in SENDING]
    if has_calls or any(line.control.no_mask for line in vectors):
        return
    for piece in messages:
        if piece.line < 0 and piece.no_mask and piece.lanes > 1 and piece.subop in _OF_LANES:
            yield piece, "the mask, because no message of the text is executed in lanes that are off"


def _is_added(message: MachineInst) -> bool:
    """Return whether a message is one that finalizers add, of a spill or at the end of a thread."""
    words = f"{message.text} {message.comment}"
    return "scratch" in words or ".ss" in words or "EOT" in message.options


def _sends_lanes(line: _Line) -> bool:
    """Return whether a line sends an element for each lane, not a block."""
    message = understood_message_of(line.inst)
    is_single = isinstance(message, ElementMessage) and message.single
    return (
        line.control.exec_size > 1
        and isinstance(message, ElementMessage | TexelMessage | SampleMessage)
        and not is_single
    )


def _operation(inst: MachineInst) -> str:
    return inst.name if inst.op == "math" else inst.op


def _size(inst: MachineInst) -> int:
    return inst.dst.type.size if isinstance(inst.dst, Direct) and inst.dst.start >= 0 else 0


def _is_vector(inst: MachineInst) -> bool:
    dst = inst.dst
    if inst.lanes == 1 or inst.is_message or not isinstance(dst, Direct):
        return False
    return dst.register.kind in ("r", "f") or (dst.register.is_null and inst.condition != "")


def _other_operation(piece: MachineInst, candidates: Sequence[_Line], copies: Sequence[Immediate]) -> Iterator[str]:
    """Yield what no line with the operation of an instruction has, where no listing tells its line.

    ``copies`` are the immediates of copies in the text, which a finalizer may put in place of a variable.
    """
    used = [source for source in piece.sources if isinstance(source, Immediate)]
    is_kept = len(used) == 1 and (piece.op == "cmp" or (used[0].type.is_float and piece.op in _OF_FLOATS))
    given = [*copies, *(value for line in candidates for value in line.immediates)]
    if is_kept and not any(_may_be(value, used[0]) for value in given):
        yield f"another immediate than {immediate(used[0])}, which no `{_operation(piece)}` of the text has"
    vectors = [line for line in candidates if line.control.exec_size > 1]
    # Headers of messages, and flags with all bits, are made of scalars in all lanes.
    if all(isinstance(s, Immediate) or (isinstance(s, Direct) and s.region == SCALAR_REGION) for s in piece.sources):
        return
    is_judged = piece.op != "mov" and piece.lanes >= _LEAST_LANES and _is_vector(piece)
    if is_judged and piece.no_mask and vectors and not any(line.control.no_mask for line in vectors):
        yield f"the mask, because no `{_operation(piece)}` of the text is executed in lanes that are off"
    relations = {relation for line in candidates for relation in (line.relation, MIRRORED.get(line.relation))}
    if candidates[0].relation and piece.condition not in relations:
        yield f"another relation than `{piece.condition}`, which no comparison of the text has"


def _may_be(given: Immediate, used: Immediate) -> bool:
    """Return whether a used immediate may be a given one: with the same bits, or converted."""
    bits = 8 * min(given.type.size, used.type.size)
    return given.type.is_float != used.type.is_float or not (given.bits ^ used.bits) & (1 << bits) - 1


# ---- relations, immediates, regions


def _other_values(piece: MachineInst, line: _Line, sums: set[int], *, is_copied: bool) -> Iterator[str]:
    """Yield what the sources and the condition of an instruction have unlike those of its line; ``is_copied``: the finalizer copies a source."""
    relation = line.relation
    if relation and piece.condition not in (relation, MIRRORED[relation]):
        yield f"`{relation}`, the relation of its line"
    given, used = line.immediates, [source for source in piece.sources if isinstance(source, Immediate)]
    is_vector = len(used) == 1 and used[0].type in (ty.V, ty.UV)
    is_same = _is_same_vector if is_vector and piece.lanes == line.control.exec_size else _is_same
    if len(given) == len(used) == 1 and not is_same(given[0], used[0], piece, line, sums):
        yield f"{immediate(given[0])}, the immediate of its line"
    # The other way round is a copy of a scalar that the finalizer has left out.
    if line.operation != "mov" and not is_copied and line.control.exec_size > 1 < piece.lanes:
        of_line, of_piece = (
            _scalars([line.inst.get(f"src{n}") for n in range(len(piece.sources))]),
            _scalars(piece.sources),
        )
        if of_line is not None and of_piece is not None and of_line > of_piece:
            yield "one element for all lanes, as its line has"


def _comparisons_with_zero(comparisons: Sequence[_Line]) -> dict[int, set[str]]:
    """Return the relations of comparisons of a variable with zero, by the variable."""
    relations = defaultdict[int, set[str]](set)
    for line in comparisons:
        left, right = line.inst.get("src0"), line.inst.get("src1")
        if isinstance(left, General) and isinstance(right, Immediate) and not right.bits:
            relations[left.var].add(line.relation)
    return relations


def _other_comparison(piece: MachineInst, line: _Line, zeros: dict[int, set[str]]) -> Iterator[str]:
    """Yield that an instruction compares its result with zero by another relation than the text."""
    dst = line.inst.get("dst")
    relations = zeros.get(dst.var) if isinstance(dst, General) else None
    if relations and piece.condition and line.operation not in ("cmp", "sel") and piece.condition not in relations:
        yield f"`{'` or `'.join(sorted(relations))}`, as the text compares its result with zero"


def _other_choice(piece: MachineInst, line: _Line) -> Iterator[str]:
    """Yield that a copy, which is a part of a choice, has another immediate than the choice."""
    given, used = line.immediates, [source for source in piece.sources if isinstance(source, Immediate)]
    is_whole = len(given) == len(used) == 1 and line.size <= _LARGEST and given[0].type is used[0].type
    if is_whole and given[0].bits != used[0].bits:
        yield f"{immediate(given[0])}, the immediate of its line"


def _scalars(sources: Sequence[Any]) -> int | None:
    """Return how many of some registers have one element for all lanes, whatever their order; None for other operands."""
    for source in sources:
        is_register = isinstance(source, General) or (isinstance(source, Direct) and source.register.kind == "r")
        if not is_register or (isinstance(source, Direct) and source.type.size > _LARGEST):
            return None
    regions = [source.region for source in sources]
    return sum(r.vert_stride == r.horz_stride == 0 for r in regions) if regions else None


def _is_same(given: Immediate, used: Immediate, piece: MachineInst, line: _Line, sums: set[int]) -> bool:
    """Return whether an immediate of a piece may stand for that of its line."""
    op, bits = piece.op, 8 * min(given.type.size, used.type.size)
    if used.type in (ty.V, ty.UV) or given.type.size > _LARGEST or (op == "mul" and given.bits >> _PRODUCT_BITS):
        return True
    difference = used.bits - given.bits & (1 << bits) - 1
    if not difference:
        return True
    if given.type.is_float != used.type.is_float:
        # A conversion that the finalizer has done, unless it copies the bits of an integer as those of a float.
        is_copy = piece.op == "mov" and line.result is not None and line.result.is_int
        return not (is_copy and given.type.is_int)
    # A finalizer adds up the constants of several additions.
    return op == "add" and difference in {number & (1 << bits) - 1 for number in sums}


def _is_same_vector(given: Immediate, used: Immediate, piece: MachineInst, _line: _Line, _sums: set[int]) -> bool:
    step = piece.dst.word_step if isinstance(piece.dst, Direct) else 1
    return all(
        given.bits >> 4 * lane & 15 == used.bits >> 4 * step * lane & 15 for lane in range(min(piece.lanes, 8 // step))
    )


def _sums(additions: Sequence[_Line]) -> set[int]:
    numbers = {line.immediates[0].bits for line in additions if len(line.immediates) == 1}
    return numbers | {a + b for a in numbers for b in numbers} if len(numbers) < 50 else set()


# ---- lanes


def _faults_of_line(
    pieces: Sequence[MachineInst], control: ExecControl, spare: int
) -> Iterator[tuple[MachineInst, str]]:
    """Yield what is wrong with the lanes of the instructions that do the work of a line.

    ``spare`` counts the lanes of instructions with its operation on other lines, as listings give a part to a line nearby.
    """
    own = range(control.mask_offset, control.mask_offset + control.exec_size)
    masked = [inst for inst in pieces if not inst.no_mask]
    missing = sorted(set(own) - {lane for inst in masked for lane in range(inst.offset, inst.offset + inst.lanes)})
    if control.no_mask:
        yield from ((inst, "no mask, because its line is executed in lanes that are off, too") for inst in masked)
    elif missing and len(masked) < len(pieces):  # else these are copies that the finalizer has added
        yield from ((inst, _OTHER_LANES) for inst in pieces if inst.no_mask)
    elif missing and _is_whole(pieces, control):
        yield (
            pieces[-1],
            f"lane {missing[0]} of the thread, which its line executes, but none of its instructions",
        )
        return
    lanes = sum(inst.lanes for inst in pieces)
    if lanes + spare < control.exec_size:
        yield pieces[-1], f"{control.exec_size} lanes, as its line has, not {lanes}"


def _is_whole(pieces: Sequence[MachineInst], control: ExecControl) -> bool:
    """Return whether no instruction of a line is given to a line nearby, as listings do with parts of equal width."""
    return sum(inst.lanes for inst in pieces) >= control.exec_size or len({inst.lanes for inst in pieces}) > 1


def _is_rest(inst: MachineInst) -> bool:
    """Return whether an instruction takes a product or a carry out of an accumulator."""
    return inst.op == "mov" and any(isinstance(s, Direct) and s.register.kind == "acc" for s in inst.sources)
