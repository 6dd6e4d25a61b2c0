"""Where a compiled message goes: a surface, shared local memory, the flat address space. The host's addresses stay here.

A ``SpacePlace`` is the host address of a space's first byte and its size, for the addresses of one message. What lies outside of
it, or is bound to nothing, is left to the interpreter before anything is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from llvmlite import ir

from visa_lsp.isa import lsc_codes as codes
from visa_lsp.program.model import General, Immediate, RawOperand
from visa_lsp.sim.jit import numbers, state
from visa_lsp.sim.jit.emitter import I8, I32, I64, PTR, Uncompiled, splat
from visa_lsp.sim.messages import SLM_MASK
from visa_lsp.sim.registers import FIRST_HANDLE, SLM_SURFACE, STATELESS_SURFACE

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.jit.emitter import Emitter, Node
    from visa_lsp.sim.operands import Site

_SLM_INDEX = 0xFE
_MOST_COMPARED = 16  # surfaces that a surface variable of unknown value is compared with


class SpacePlace(NamedTuple):
    """The host address of byte 0 of a space, and whether all offsets that were asked for lie inside.

    ``wrote`` is the address of a word that says whether something was stored. Where checkers watch: the host address of the first mark of byte 0, the bytes between marks of different kinds, and what is
    forbidden (``watching``).
    """

    base: Node
    inside: Node
    wrote: Node
    marks: Node = None
    stride: Node = None
    flags: Node = None


class Found(NamedTuple):
    """A space: how offsets of lanes become offsets in it, and its place for a range of them."""

    offsets: Callable[[Node], Node]
    place: Callable[[Node, Node], SpacePlace]
    shared: bool = False


def surface(e: Emitter, site: Site) -> Found:
    """Return the space of a message's surface field. Raises Uncompiled where it has to be looked up."""
    if isinstance(site.inst.get("surface"), RawOperand):
        raise Uncompiled
    cell = site.code.layout.surface_base[site.integer("surface")]
    known = e.known_surfaces.get(cell)
    if known is not None:
        return by_value(e, known)
    e.reaches_shared |= cell not in e.given_surfaces
    return _compared(e, e.surface(cell), 0)


def _compared(e: Emitter, value: Node, lowest: int) -> Found:
    """Return the bound surface whose number, ``lowest`` or above, is a value. Raises Uncompiled where they are too many."""
    if sum(number >= lowest for number in e.surface_values) > _MOST_COMPARED:
        raise Uncompiled
    builder, table = e.builder, e.table(state.SURFACES)
    entry = [ir.Constant(PTR, None), *[ir.Constant(I64, 0)] * 3, e.address(e.launch, state.SCRAP)]
    for number, candidate in enumerate(e.surface_values):
        if candidate < lowest:
            continue
        same = builder.icmp_unsigned("==", value, ir.Constant(I64, candidate))
        entry = [builder.select(same, own, other) for own, other in zip(_entry(e, table, number), entry, strict=True)]
    return Found(lambda at: at, _sized(e, *entry))


def by_value(e: Emitter, value: int) -> Found:
    """Return the space that a surface variable's value stands for. Raises Uncompiled where there is no compiled form."""
    if value in (SLM_SURFACE, _SLM_INDEX):
        return shared(e)
    if value in e.surface_values:
        table = e.table(state.SURFACES)
        return Found(lambda at: at, _sized(e, *_entry(e, table, e.surface_values.index(value))))
    if value in (STATELESS_SURFACE, 0xFD):
        return flat(e)
    raise Uncompiled


def _entry(e: Emitter, table: Node, number: int) -> list[Node]:
    words = (e.constant(table, state.ENTRY * number + 8 * k) for k in (1, 2, 3))
    return [
        e.constant(table, state.ENTRY * number, PTR),
        *words,
        e.address(table, state.ENTRY * (number + 1) - state.WRITTEN),
    ]


def _sized(
    e: Emitter, base: Node, size: Node, marks: Node, flags: Node, wrote: Node
) -> Callable[[Node, Node], SpacePlace]:
    def place(low: Node, end: Node) -> SpacePlace:
        builder = e.builder
        above = builder.icmp_signed(">=", low, ir.Constant(I64, 0))
        inside = builder.and_(above, builder.icmp_signed("<=", end, size))
        return SpacePlace(base, inside, wrote, marks, _stride(e, size), flags)

    return place


def _stride(e: Emitter, size: Node) -> Node:
    """Return bytes of the marks of one kind: those of a dword for each, and one to spare."""
    return e.builder.and_(e.builder.add(size, ir.Constant(I64, 7)), ir.Constant(I64, ~3))


def shared(e: Emitter) -> Found:
    """Shared local memory of the group."""
    e.reaches_shared = True
    base = e.builder.inttoptr(e.word(e.block, state.SLM), PTR)
    size = e.word(e.block, state.SLM_SIZE)

    def offsets(at: Node) -> Node:
        lanes = isinstance(at.type, ir.VectorType)
        mask = splat(at.type.element, SLM_MASK, at.type.count) if lanes else ir.Constant(at.type, SLM_MASK)
        return e.builder.and_(at, mask)

    marks = e.word(e.block, state.SLM_MARKS)
    return Found(
        offsets, _sized(e, base, size, marks, ir.Constant(I64, 0), e.address(e.launch, state.SCRAP)), shared=True
    )


def flat(e: Emitter) -> Found:
    """Return the flat address space: the buffer that holds the whole range is looked for among all."""

    def place(low: Node, end: Node) -> SpacePlace:
        builder = e.builder
        table, count = e.table(state.FLAT), e.constant(e.launch, state.FLAT_COUNT)
        nowhere = builder.ptrtoint(e.address(e.launch, state.SCRAP), I64)
        before = builder.block
        head, body, done = (e.function.append_basic_block(n) for n in ("find", "look", "found"))
        builder.branch(head)
        builder.position_at_end(head)
        number = builder.phi(I64)
        number.add_incoming(ir.Constant(I64, 0), before)
        builder.cbranch(builder.icmp_unsigned("<", number, count), body, done)
        builder.position_at_end(body)
        entry = builder.gep(table, [builder.mul(number, ir.Constant(I64, state.FLAT_ENTRY))], source_etype=I8)
        start, size, host, marked, forbidden = (e.word(entry, 8 * k) for k in range(5))
        holds = builder.and_(
            builder.icmp_unsigned("<=", start, low), builder.icmp_unsigned("<=", builder.sub(end, start), size)
        )
        found = (builder.sub(host, start), builder.sub(marked, start), _stride(e, size), forbidden)
        word = builder.ptrtoint(e.address(entry, state.FLAT_ENTRY - state.WRITTEN), I64)
        number.add_incoming(builder.add(number, ir.Constant(I64, 1)), body)
        builder.cbranch(holds, done, head)
        builder.position_at_end(done)
        inside = builder.phi(ir.IntType(1))
        inside.add_incoming(ir.Constant(ir.IntType(1), 0), head)
        inside.add_incoming(ir.Constant(ir.IntType(1), 1), body)
        values = []
        for value, none in (*((v, ir.Constant(I64, 0)) for v in found), (word, nowhere)):
            chosen = builder.phi(I64)
            chosen.add_incoming(none, head)
            chosen.add_incoming(value, body)
            values.append(chosen)
        base, marks, stride, flags, wrote = values
        return SpacePlace(builder.inttoptr(base, PTR), inside, builder.inttoptr(wrote, PTR), marks, stride, flags)

    return Found(lambda at: at, place)


def lsc(e: Emitter, site: Site) -> tuple[Found, Node | None]:
    """Return the space of a message of the load/store controller, and a base to add to its addresses.

    Raises Uncompiled where there is no compiled form.
    """
    kind = site.integer("addrtype", codes.ADDRTYPE_FLAT)
    operand = site.inst.get("surface")
    if site.integer("sfid") == codes.SFID_SLM:
        return shared(e), None
    if kind in (codes.ADDRTYPE_FLAT, codes.ADDRTYPE_ARG):
        if not isinstance(operand, General):
            return flat(e), None
        return flat(e), _scalar(e, site, operand)
    if isinstance(operand, Immediate) and kind == codes.ADDRTYPE_BTI:
        return by_value(e, operand.bits & 0xFFFFFFFF), None
    if isinstance(operand, General) and kind in (codes.ADDRTYPE_BSS, codes.ADDRTYPE_SURF):
        # A handle of anything else, such as scratch space, matches none, so that the interpreter finds it.
        handle = e.builder.and_(_scalar(e, site, operand), ir.Constant(I64, 0xFFFFFFFF))
        return _compared(e, handle, FIRST_HANDLE), None
    raise Uncompiled


def _scalar(e: Emitter, site: Site, operand: General) -> Node:
    type_ = site.operand_type(operand)
    if not type_.is_int:
        raise Uncompiled
    one = e.builder.extract_element(numbers.read(e, site, operand, 1), ir.Constant(I32, 0))
    if type_.size < 8:
        one = (e.builder.sext if type_.is_signed else e.builder.zext)(one, I64)
    return one
