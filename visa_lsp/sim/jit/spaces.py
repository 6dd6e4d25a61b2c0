"""The memory of a compiled message: a surface, shared local memory, the flat address space.

Only this module knows host addresses. A ``SpacePlace`` is the host address of a space's first byte and its size, for
the addresses of one message. A message outside of it, or without a bound surface, is left to the interpreter before it
has any effect.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from llvmlite import ir

from visa_lsp.program.message import SLM_INDEX, STATELESS_INDEXES, MemoryKind
from visa_lsp.program.model import General
from visa_lsp.sim.jit import state
from visa_lsp.sim.jit.check_instrumentation import READ, WRITTEN
from visa_lsp.sim.jit.emitter import Emitter, Uncompiled
from visa_lsp.sim.jit.numbers import scalar
from visa_lsp.sim.jit.writer import I8, I32, I64, PTR, Node, splat
from visa_lsp.sim.machine import SCRATCH_BYTES
from visa_lsp.sim.messages import SCRATCH_HEADER, SLM_MASK
from visa_lsp.sim.registers import FIRST_HANDLE, SCRATCH_HANDLE, SCRATCH_SURFACE, SLM_SURFACE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from visa_lsp.program.message import MessageMemory
    from visa_lsp.sim.memory import Buffer
    from visa_lsp.sim.operands import Site

_MAX_COMPARED_SURFACES = 16  # surfaces to compare with a surface variable of unknown value


class SpacePlace(NamedTuple):
    """The host address of byte 0 of a space, and whether all requested offsets lie inside.

    ``wrote`` is the address of a word that is set by stores. With checkers: the host address of the first mark of byte
    0, the bytes between marks of different kinds, and the forbidden accesses (``check_instrumentation``). ``use`` is
    what the message does there: ``READ``, ``WRITTEN`` or ``ATOMIC``.
    """

    base: Node
    inside: Node
    wrote: Node
    marks: Node
    stride: Node
    flags: Node
    use: int = -1
    shared: bool = False


SHARED: Final = "shared"
ANY_SURFACE: Final = "any"


class BufferUses(NamedTuple):
    """The kinds of use that a kernel makes of the buffers bound to surfaces, by identity, and of any other memory."""

    of_surfaces: dict[int, frozenset[int]]
    elsewhere: frozenset[int]

    @staticmethod
    def of(uses: AbstractSet[tuple[str, int]], surfaces: Mapping[int, Buffer]) -> BufferUses:
        """Return the uses of buffers by the names of the spaces that messages access, with the kind of use."""
        buffers = {f"surface{number}": id(buffer) for number, buffer in surfaces.items()}
        elsewhere = frozenset(use for name, use in uses if name not in buffers and name != SHARED)
        of_surfaces = dict.fromkeys(buffers.values(), elsewhere)
        for name, use in uses:
            if name in buffers:
                of_surfaces[buffers[name]] |= {use}
        return BufferUses(of_surfaces, elsewhere)

    def changes(self, buffer: Buffer) -> bool:
        """Return whether the kernel may change a buffer."""
        return not self.of_surfaces.get(id(buffer), self.elsewhere) <= {READ}

    def race(self, buffer: Buffer) -> bool:
        """Return whether uses of a buffer may race: not if all are reads, or all are atomics."""
        kinds = self.of_surfaces.get(id(buffer), self.elsewhere)
        return WRITTEN in kinds or len(kinds) > 1


class Found(NamedTuple):
    """A space: converts offsets of lanes to offsets in it, and returns its place for a range of them.

    Any function of the module finds the space again, by the numbers in ``given``; ``name`` says which it is besides them.
    """

    offsets: Callable[[Node], Node]
    place: Callable[[Node, Node], SpacePlace]
    name: str
    again: Callable[..., Found]
    given: Sequence[Node] = ()
    shared: bool = False


class _RangeEntry(NamedTuple):
    """The numbers of one entry of a table (``state.ENTRY``), and the address of its last number."""

    start: Node
    size: Node
    host: Node
    marks: Node
    flags: Node
    wrote: Node

    def place(self, e: Emitter, low: Node, end: Node) -> SpacePlace:
        """Return the place of a range of offsets."""
        b = e.builder
        inside = b.and_(*(b.icmp_unsigned("<=", b.sub(offset, self.start), self.size) for offset in (low, end)))
        base = b.inttoptr(b.sub(self.host, self.start), PTR)
        # The marks of one kind: one per dword, and a spare one.
        stride = b.and_(b.add(self.size, ir.Constant(I64, 7)), ir.Constant(I64, ~3))
        return SpacePlace(base, inside, self.wrote, b.sub(self.marks, self.start), stride, self.flags)


def memory_of(e: Emitter, site: Site, memory: MessageMemory) -> Found:
    """Return the space of a message. Raises Uncompiled if it must be looked up."""
    match memory.kind:
        case MemoryKind.SHARED:
            return find_shared(e)
        case MemoryKind.FLAT:
            return flat(e)
        case MemoryKind.BINDING:
            return by_value(e, memory.number)
        case MemoryKind.VARIABLE:
            return _variable(e, site.code.layout.surface_base[memory.number])
        case MemoryKind.STATE if isinstance(memory.operand, General) and memory.is_handle:
            return _handle(e, site, memory)
    raise Uncompiled


def _variable(e: Emitter, cell: int) -> Found:
    number = e.known_surfaces.get(cell)
    if number is not None:
        return by_value(e, number)
    e.reaches_shared |= cell not in e.given_surfaces
    return _compare_surfaces(e, e.surface(cell), 0)


def _compare_surfaces(e: Emitter, value: Node, lowest: int, scratch: Sequence[Node] = ()) -> Found:
    """Return the bound surface whose number, ``lowest`` or above, is a value, or the scratch space for its handles.

    Raises Uncompiled where they are too many.
    """
    candidates = [number for number in e.bindings.surfaces if number >= lowest]
    if len(candidates) > _MAX_COMPARED_SURFACES:
        raise Uncompiled
    zero = ir.Constant(I64, 0)
    entry = _RangeEntry(zero, zero, zero, zero, zero, e.address(e.launch, state.SCRAP))
    entries = [(ir.Constant(I64, number), _entry(e, number)) for number in candidates]
    for number, candidate in (*entries, *((handle, _scratch(e)) for handle in scratch)):
        same = e.builder.icmp_unsigned("==", value, number)
        pairs = zip(candidate[1:], entry[1:], strict=True)
        entry = _RangeEntry._make([zero, *(e.builder.select(same, own, other) for own, other in pairs)])

    def again(value: Node, *scratch: Node) -> Found:
        return _compare_surfaces(e, value, lowest, scratch)

    return Found(lambda offsets: offsets, partial(entry.place, e), f"above{lowest}", again, (value, *scratch))


def by_value(e: Emitter, value: int) -> Found:
    """Return the space for the value of a surface variable. Raises Uncompiled if there is no compiled form."""
    if value in (SLM_SURFACE, SLM_INDEX):
        return find_shared(e)
    if value in e.bindings.surfaces:
        entry = _entry(e, value)
    elif value in STATELESS_INDEXES:
        return flat(e)
    elif value == SCRATCH_SURFACE:
        entry = _scratch(e)
    else:
        raise Uncompiled
    return Found(lambda offsets: offsets, partial(entry.place, e), f"surface{value}", lambda: by_value(e, value))


def _scratch(e: Emitter) -> _RangeEntry:
    """Return the thread's scratch space; without checkers it has no bytes before the interpreter has made it.

    With checkers a mark for each byte lies behind it.
    """
    zero, host = ir.Constant(I64, 0), e.get(e.scratch, I64)
    exists = e.builder.icmp_unsigned("!=", host, zero)
    size = e.builder.select(exists, ir.Constant(I64, SCRATCH_BYTES), zero)
    marks = e.builder.add(host, ir.Constant(I64, SCRATCH_BYTES))
    flags = ir.Constant(I64, state.PRIVATE)
    return _RangeEntry(zero, size, host, marks, flags, e.address(e.launch, state.SCRAP))


def _entry(e: Emitter, value: int) -> _RangeEntry:
    """Return the entry of a surface, loaded at the start of the function."""
    table, start = e.table(state.SURFACES), state.ENTRY * e.bindings.surfaces.index(value)
    words = (e.constant(table, start + 8 * k) for k in range(1, 5))
    return _RangeEntry._make([ir.Constant(I64, 0), *words, e.address(table, start + state.WRITTEN)])


def surface_place(e: Emitter, row: Node, use: int) -> SpacePlace:
    """Return the place of a whole surface, by its row of the launch's table."""
    zero = ir.Constant(I64, 0)
    e.uses.add((ANY_SURFACE, use))
    words = (e.word(row, 8 * k) for k in range(1, 5))
    return _RangeEntry._make([zero, *words, e.address(row, state.WRITTEN)]).place(e, zero, zero)._replace(use=use)


def find_shared(e: Emitter) -> Found:
    """Return the shared local memory of the group."""
    e.reaches_shared = True

    def offsets(place: Node) -> Node:
        lanes = isinstance(place.type, ir.VectorType)
        mask = splat(place.type.element, SLM_MASK, place.type.count) if lanes else ir.Constant(place.type, SLM_MASK)
        return e.builder.and_(place, mask)

    host, size, marks = (e.word(e.block, offset) for offset in (state.SLM, state.SLM_SIZE, state.SLM_MARKS))
    zero = ir.Constant(I64, 0)
    entry = _RangeEntry(zero, size, host, marks, zero, e.address(e.launch, state.SCRAP))
    return Found(offsets, partial(entry.place, e), SHARED, lambda: find_shared(e), shared=True)


def flat(e: Emitter) -> Found:
    """Return the flat address space; the buffer with the whole range is searched among all buffers."""

    def place(low: Node, end: Node) -> SpacePlace:
        b, table, count = e.builder, e.table(state.FLAT), e.constant(e.launch, state.FLAT_COUNT)
        candidates = list[SpacePlace]()

        def search(number: Node, done: ir.Block) -> Node:
            row = b.gep(table, [b.mul(number, ir.Constant(I64, state.ENTRY))], source_etype=I8)
            entry = _RangeEntry._make([*(e.word(row, 8 * k) for k in range(5)), e.address(row, state.WRITTEN)])
            candidates.append(entry.place(e, low, end))
            e.leave_if(b.or_(candidates[0].inside, b.icmp_unsigned("==", number, count)), done)
            return b.add(number, ir.Constant(I64, 1))

        e.repeat(ir.Constant(I64, 0), search)
        return candidates[0]

    return Found(lambda addresses: addresses, place, "flat", lambda: flat(e))


def _handle(e: Emitter, site: Site, memory: MessageMemory) -> Found:
    """Return the space of a handle; one of other memory, such as scratch space, matches no surface, so that the interpreter handles it."""
    handle = e.builder.and_(scalar(e, site, memory.operand), ir.Constant(I64, 0xFFFFFFFF))
    scratch: list[Node] = [ir.Constant(I64, SCRATCH_HANDLE)]
    if memory.may_be_scratch:
        header = e.word(e.registers, site.code.layout.offset(SCRATCH_HEADER[0]) + SCRATCH_HEADER[1], I32)
        scratch.append(e.builder.zext(e.builder.lshr(header, ir.Constant(I32, 4)), I64))
    return _compare_surfaces(e, handle, FIRST_HANDLE, scratch)
