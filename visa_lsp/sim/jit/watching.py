"""What compiled code looks out for where checkers watch: anything that one of them could have something to say about.

A hit ends the function with ``SUSPECT``, and the launch is run again in the interpreter, which tells what there is to tell. So
nothing here may overlook a finding, and what is found here need not be one.

Races: each dword of memory has three marks, of who has written it, read it, and used it atomically. A mark is the number of a
thread between two barriers: numbers of one round of a group lie side by side, and later rounds have higher ones. What was done
in an earlier round of the same group is in order; what another group, or another thread in the same round, has done is not.
Barriers begin a round for a memory only where its fence was executed, or none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from llvmlite import ir

from visa_lsp.sim.jit import state
from visa_lsp.sim.jit.emitter import I1, I32, I64, PTR, lanes_of, splat, vector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.sim.jit.emitter import Emitter, Node
    from visa_lsp.sim.jit.spaces import SpacePlace

SEVERAL: Final = 0xFFFFFFFF  # mark of what several groups have read or used atomically
WRITTEN, READ, ATOMIC = range(3)  # the three marks
# What is in no order with a use: a write with any other, reads and atomics not with their like.
AGAINST: Final = {WRITTEN: (WRITTEN, READ, ATOMIC), READ: (WRITTEN, ATOMIC), ATOMIC: (WRITTEN, READ)}


class Numbers(NamedTuple):
    """The numbers of the running round: that of the thread, the first of the group, the first of the round, one for several."""

    own: Node
    group: Node
    round: Node
    several: Node


def suspect(e: Emitter, wrong: Node) -> None:
    """Leave where a bit is set."""
    on = e.function.append_basic_block("fine")
    e.builder.cbranch(wrong, e.suspected, on).set_weights([1, 999])
    e.builder.position_at_end(on)


def suspect_always(e: Emitter) -> None:
    """Leave in any case; what is written behind it is never reached."""
    suspect(e, ir.Constant(I1, 1))


def any_of(e: Emitter, lanes: Node) -> Node:
    """Return whether one of some lanes' bits is set."""
    return e.intrinsic(f"llvm.vector.reduce.or.v{lanes_of(lanes)}i1", I1, lanes)


def alignment(e: Emitter, at: Node, chosen: Node | None, size: int) -> None:
    """Suspect addresses that are no multiple of the size of what they are of."""
    if size <= 1:
        return
    builder = e.builder
    if not isinstance(at.type, ir.VectorType):
        suspect(e, builder.icmp_unsigned("!=", builder.and_(at, ir.Constant(I64, size - 1)), ir.Constant(I64, 0)))
        return
    lanes = lanes_of(at)
    odd = builder.icmp_unsigned("!=", builder.and_(at, splat(I64, size - 1, lanes)), splat(I64, 0, lanes))
    if chosen is not None:
        odd = builder.and_(odd, chosen)
    suspect(e, any_of(e, odd))


def access(e: Emitter, place: SpacePlace, *, reads: bool, writes: bool) -> None:
    """Suspect what an argument does not allow."""
    forbidden = (state.WRITEONLY if reads else 0) | (state.READONLY if writes else 0)
    found = e.builder.and_(place.flags, ir.Constant(I64, forbidden))
    suspect(e, e.builder.icmp_unsigned("!=", found, ir.Constant(I64, 0)))


def _numbers(e: Emitter, *, shared: bool) -> Numbers:
    group, first = (state.SHARED_GROUP, state.SHARED_ROUND) if shared else (state.GLOBAL_GROUP, state.GLOBAL_ROUND)
    builder = e.builder
    round_ = e.word(e.launch, first, I32)
    thread = builder.trunc(e.word(e.launch, state.THREAD), I32)
    several = builder.add(round_, builder.trunc(e.word(e.launch, state.THREADS), I32))
    return Numbers(builder.add(round_, thread), e.word(e.launch, group, I32), round_, several)


def told(e: Emitter, name: str, arguments: Sequence[Node], body: Callable[..., None]) -> None:
    """Suspect what a function of the module does, which ``body`` writes: it stands once, however many instructions look."""

    def written(launch: Node, *own: Node) -> Node:
        before = e.launch, e.suspected
        e.launch, e.suspected = launch, e.function.append_basic_block("suspected")
        body(*own)
        at = e.builder.block
        e.builder.position_at_end(e.suspected)
        e.builder.ret(ir.Constant(I1, 1))
        e.builder.position_at_end(at)
        e.launch, e.suspected = before
        return ir.Constant(I1, 0)

    suspect(e, e.outlined(name, I1, [e.launch, *arguments], written))


class Marks:
    """The marks of ``lanes`` dwords that lie side by side, from the offset ``first`` on, as the space counts them.

    ``marks`` is the host's address of the first mark of byte 0, ``stride`` the bytes between kinds.
    """

    def __init__(self, e: Emitter, marks: Node, stride: Node, first: Node, lanes: int, *, shared: bool) -> None:
        self.e, self.shared, self.lanes = e, shared, lanes
        self._marks, self._stride = marks, stride
        self.numbers = _numbers(e, shared=shared)
        self._first = e.builder.and_(first, ir.Constant(I64, ~3))

    def _splat(self, value: Node) -> Node:
        return self.e.spread(value, self.lanes)

    def _at(self, kind: int) -> Node:
        b, base = self.e.builder, self._marks
        if kind != WRITTEN:
            base = b.add(base, b.mul(self._stride, ir.Constant(I64, kind)))
        return b.inttoptr(b.add(self._first, base), PTR)

    def get(self, kind: int) -> Node:
        """Return the marks of all lanes."""
        return self.e.builder.load(self._at(kind), typ=vector(I32, self.lanes), align=4)

    def put(self, kind: int, value: Node) -> None:
        """Set them."""
        self.e.builder.store(value, self._at(kind), align=4)

    def use(self, kind: int) -> None:
        """Suspect what is in no order with a use of this kind, and leave its own marks."""
        self.check(AGAINST[kind])
        if kind == WRITTEN:
            self.take()
            return
        if self.shared:
            self.written()
        self.add(kind)

    def in_order(self, mark: Node) -> Node:
        """Lanes for which a mark says nobody, this thread, or an earlier round of the group."""
        b, numbers = self.e.builder, self.numbers
        # Shared memory is new with each group: what a group before has left says nothing.
        nobody = b.icmp_unsigned("<", mark, self._splat(numbers.group if self.shared else ir.Constant(I32, 1)))
        own = b.icmp_unsigned("==", mark, self._splat(numbers.own))
        since = b.sub(mark, self._splat(numbers.group))
        earlier = b.icmp_unsigned("<", since, self._splat(b.sub(numbers.round, numbers.group)))
        return b.or_(b.or_(nobody, own), earlier)

    def check(self, kinds: Sequence[int]) -> None:
        """Suspect lanes at places that others have used in these ways, in no order."""
        b = self.e.builder
        fine = None
        for kind in kinds:
            one = self.in_order(self.get(kind))
            fine = one if fine is None else b.and_(fine, one)
        suspect(self.e, any_of(self.e, b.not_(fine)))

    def add(self, kind: int) -> None:
        """Mark the places as used by this thread, beside others of this round or of other groups."""
        b, numbers = self.e.builder, self.numbers
        old = self.get(kind)
        now = b.icmp_unsigned("<", b.sub(old, self._splat(numbers.round)), self._splat(b.add(b.sub(numbers.several, numbers.round), ir.Constant(I32, 1))))  # fmt: skip
        others = b.select(now, self._splat(numbers.several), splat(I32, SEVERAL, self.lanes))
        self.put(kind, b.select(self.in_order(old), self._splat(numbers.own), others))

    def take(self) -> None:
        """Mark the places as written by this thread."""
        self.put(WRITTEN, self._splat(self.numbers.own))

    def written(self) -> None:
        """Suspect places that nobody of this group has written: shared memory holds nothing at first."""
        b = self.e.builder
        old = b.icmp_unsigned("<", self.get(WRITTEN), self._splat(self.numbers.group))
        suspect(self.e, any_of(self.e, old))


def dwords(size: int) -> int:
    """Return how many dwords an element of so many bytes touches, if it is aligned."""
    return max(1, size // 4)
