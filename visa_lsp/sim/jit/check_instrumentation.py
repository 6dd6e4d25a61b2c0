"""Check instrumentation: tests in compiled code for everything that a checker may report.

A hit ends the function with ``SUSPECT``, and the interpreter runs the launch again and reports the findings. So the
tests must not miss a finding, but a hit need not be a finding. Races: each dword of memory has three marks, for its
last write, read and atomic use; so has each byte of shared memory where a kernel stores less than dwords. A mark is the number of a thread between two barriers: numbers of one round of a group
are consecutive, and later rounds have higher numbers. Uses in an earlier round of the same group are in order; uses by
another group, or by another thread in the same round, are not. A barrier begins a round for a memory only if a fence of
this memory, or no fence at all, was executed.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Final

from llvmlite import ir

from visa_lsp.sim.jit import state
from visa_lsp.sim.jit.writer import I1, I8, I32, I64, PTR, Node, lanes_of, splat, vector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.sim.jit.emitter import Emitter
    from visa_lsp.sim.jit.spaces import SpacePlace

DWORD: Final = 4
SEVERAL: Final = 0xFFFFFFFF  # mark of a dword that several groups have read or used atomically
WRITTEN, READ, ATOMIC = range(3)  # the three marks
# The uses that race with a use: a write races with any other, reads and atomics not with their own kind.
AGAINST: Final = {WRITTEN: (WRITTEN, READ, ATOMIC), READ: (WRITTEN, ATOMIC), ATOMIC: (WRITTEN, READ)}


def suspect(e: Emitter, wrong: Node) -> None:
    """Leave the function if a bit is set."""
    e.leave_if(wrong, e.suspected, rarely=True)


def suspect_always(e: Emitter) -> None:
    """Leave the function in any case; later operations are never reached."""
    suspect(e, ir.Constant(I1, 1))


def any_of(e: Emitter, lanes: Node) -> Node:
    """Return whether the bit of any lane is set."""
    return e.intrinsic(f"llvm.vector.reduce.or.v{lanes_of(lanes)}i1", I1, lanes)


def is_misaligned(e: Emitter, addresses: Node, chosen: Node | None, size: int) -> Node:
    """Return whether the address of any chosen lane is not a multiple of the size."""
    builder, lanes = e.builder, lanes_of(addresses)
    odd = builder.icmp_unsigned("!=", builder.and_(addresses, splat(I64, size - 1, lanes)), splat(I64, 0, lanes))
    return any_of(e, odd if chosen is None else builder.and_(odd, chosen))


def has_flag(e: Emitter, flags: Node, wanted: int) -> Node:
    """Return whether a place has any of the flags."""
    return e.builder.icmp_unsigned("!=", e.builder.and_(flags, ir.Constant(I64, wanted)), ir.Constant(I64, 0))


def within(e: Emitter, byte_numbers: Node, chosen: Node | None, size: int, ranges: Sequence[range]) -> None:
    """Suspect byte numbers of the registers outside of the ranges that a proof has looked at; without ranges that is all."""
    if not ranges:
        return
    b, lanes = e.builder, lanes_of(byte_numbers)
    inside = (
        b.icmp_unsigned("<=", b.sub(byte_numbers, splat(I64, r.start, lanes)), splat(I64, len(r) - size, lanes))
        for r in ranges
    )
    wrong = b.not_(reduce(b.or_, inside))
    if chosen is not None:
        wrong = b.and_(wrong, chosen)
    suspect(e, any_of(e, wrong))


def access(e: Emitter, place: SpacePlace) -> None:
    """Suspect accesses that the argument forbids."""
    forbidden = (state.READONLY if place.use != READ else 0) | (state.WRITEONLY if place.use != WRITTEN else 0)
    suspect(e, has_flag(e, place.flags, forbidden))


def suspect_outlined(e: Emitter, name: str, arguments: Sequence[Node], body: Callable[..., None]) -> None:
    """Test in a separate function of the module, which ``body`` writes once for all instructions that call it."""

    def write_body(launch: Node, *own: Node) -> Node:
        before = e.launch, e.suspected
        e.launch, e.suspected = launch, e.function.append_basic_block("suspected")
        body(*own)
        block = e.builder.block
        e.builder.position_at_end(e.suspected)
        e.builder.ret(ir.Constant(I1, 1))
        e.builder.position_at_end(block)
        e.launch, e.suspected = before
        return ir.Constant(I1, 0)

    suspect(e, e.outline(name, I1, [e.launch, *arguments], write_body))


def outline_message(e: Emitter, name: str, start: int, arguments: Sequence[Node], body: Callable[..., None]) -> None:
    """Emit a message in a function of the module, for ``body`` the registers begin with byte ``start``."""

    def write_body(block: Node, registers: Node, *own: Node) -> None:
        with e.in_function(registers, block):
            body(*own)

    suspect_outlined(e, name, [e.block, e.address(e.registers, start), *arguments], write_body)


def mark(
    e: Emitter, place: SpacePlace, start: Node, size: int, *,
    bits: Node | None = None, same: Node | None = None, undefined: Node | None = None,
) -> None:  # fmt: skip
    """Record suspected races of a use of ``size`` contiguous bytes from an offset on, and mark the use.

    With ``bits``, ``start`` has an offset for each lane, and the bytes of the set lanes are used. ``same`` has a bit for
    each mark, or lane, whose bytes a store does not change; ``undefined`` has the undefined bits of each byte of a block.
    """
    given = {"bits": bits, "same": same, "undefined": undefined}
    given = {name: node for name, node in given.items() if node is not None}

    def write_body(marks: Node, stride: Node, flags: Node, start: Node, *own: Node) -> None:
        here = place._replace(marks=marks, stride=stride, flags=flags)
        _mark(e, here, start, size, **dict(zip(given, own, strict=True)))

    space = "shared" if place.shared else "global"
    name = f"mark_{place.use}_{space}_{size}_{start.type}_{'_'.join(given)}"
    suspect_outlined(e, name, [place.marks, place.stride, place.flags, start, *given.values()], write_body)


def unit_of(e: Emitter, place: SpacePlace) -> int:
    """Return the number of bytes that share a mark."""
    return e.shared_unit if place.shared else DWORD


class _Marks:
    """The marks of a use: ``count`` contiguous ones, or, with ``bits``, one for each set lane."""

    def __init__(self, e: Emitter, place: SpacePlace, start: Node, count: int, bits: Node | None) -> None:
        self._e, self._place, self._bits, unit = e, place, bits, unit_of(e, place)
        self.lanes = count if bits is None else lanes_of(start)
        start = e.builder.and_(start, self._spread(ir.Constant(I64, -unit)))
        self._scale = ir.Constant(I64, DWORD // unit)  # a mark has four bytes
        self._start = e.builder.mul(start, self._spread(self._scale))

    def _spread(self, number: Node) -> Node:
        return number if self._bits is None else self._e.spread(number, self.lanes)

    def _places(self, of: int) -> Node:
        b, place = self._e.builder, self._place
        before = b.mul(b.mul(place.stride, self._scale), ir.Constant(I64, of))
        return b.add(self._start, self._spread(b.add(place.marks, before)))

    def load(self, of: int) -> Node:
        """Return the marks of a kind of use."""
        kind, places = vector(I32, self.lanes), self._places(of)
        if self._bits is not None:
            return self._e.gather(kind, places, self._bits, 4)
        return self._e.builder.load(self._e.builder.inttoptr(places, PTR), typ=kind, align=4)

    def store(self, marks: Node, of: int) -> None:
        """Set the marks of a kind of use."""
        places = self._places(of)
        if self._bits is not None:
            self._e.scatter(marks, places, self._bits, 4)
        else:
            self._e.builder.store(marks, self._e.builder.inttoptr(places, PTR), align=4)

    def suspect(self, wrong: Node) -> None:
        """Leave the function if the bit of any mark is set."""
        chosen = wrong if self._bits is None else self._e.builder.and_(wrong, self._e.lanes(self._bits, self.lanes))
        suspect(self._e, any_of(self._e, chosen))


def _mark(
    e: Emitter, place: SpacePlace, start: Node, size: int,
    bits: Node | None = None, same: Node | None = None, undefined: Node | None = None,
) -> None:  # fmt: skip
    unit = unit_of(e, place)
    count = max(1, size // unit)
    if bits is None:
        parts = [_Marks(e, place, start, count, None)]
    else:
        offsets = (splat(I64, unit * k, lanes_of(start)) for k in range(count))
        parts = [_Marks(e, place, e.builder.add(start, offset), 1, bits) for offset in offsets]
    b, use = e.builder, place.use
    carries = None if undefined is None else any_of(e, b.icmp_unsigned("!=", undefined, splat(I8, 0, size)))
    if place.shared:
        if carries is not None:
            suspect(e, carries)
        for marks in parts:
            _test_and_set(e, place, marks, same)
        return
    with b.if_else(has_flag(e, place.flags, state.PRIVATE), likely=False) as (own, seen):
        with own:
            _mark_private(e, place, start, size, bits, undefined)
        with seen:
            empty = has_flag(e, place.flags, state.UNDEFINED)
            if use == WRITTEN:
                if carries is not None:
                    suspect(e, carries)
                if size < 4:
                    suspect(e, empty)  # because a mark would claim that the whole dword is written
                for marks in parts:
                    _test_and_set(e, place, marks, same)
                return
            for marks in parts:
                with b.if_then(empty, likely=False):
                    marks.suspect(b.icmp_unsigned("==", marks.load(WRITTEN), splat(I32, 0, marks.lanes)))
            with b.if_then(b.not_(has_flag(e, place.flags, state.UNRACED))):
                for marks in parts:
                    _test_and_set(e, place, marks, same)


def _mark_private(
    e: Emitter, place: SpacePlace, start: Node, size: int, bits: Node | None, undefined: Node | None = None
) -> None:
    """Suspect reads of what no thread has written yet; private memory has a mark for each byte, and no races.

    Bytes with undefined bits count as not written.
    """
    b, kind = e.builder, vector(I8, size)
    if bits is not None:
        offsets = e.keep_lanes(start)
        e.each_lane(bits, lambda lane: _mark_private(e, place, e.lane_of(offsets, lane, I64), size, None))
        return
    pointer = b.inttoptr(b.add(start, place.marks), PTR)
    if place.use != WRITTEN:
        empty = b.icmp_unsigned("==", b.load(pointer, typ=kind, align=1), splat(I8, 0, size))
        suspect(e, any_of(e, empty))
    if place.use != READ:
        none = splat(I8, 0, size)
        written = splat(I8, 1, size) if undefined is None else b.zext(b.icmp_unsigned("==", undefined, none), kind)
        b.store(written, pointer, align=1)


def _test_and_set(e: Emitter, place: SpacePlace, marks: _Marks, same: Node | None) -> None:
    """Suspect races by marks, and set them.

    A store that changes nothing races with no earlier use. It is marked where it hides no store of another thread.
    """
    lanes, use, shared, b = marks.lanes, place.use, place.shared, e.builder
    numbers = (state.SHARED_GROUP, state.SHARED_ROUND) if shared else (state.GLOBAL_GROUP, state.GLOBAL_ROUND)
    group, round_ = (e.word(e.launch, cell, I32) for cell in numbers)
    thread, threads = (b.trunc(e.word(e.launch, cell), I32) for cell in (state.THREAD, state.THREADS))
    own = e.spread(b.add(round_, thread), lanes)

    def in_order(mark: Node) -> Node:
        # In order: no thread, this thread, or an earlier round of the group. Marks of other groups in shared memory are old.
        unmarked = b.icmp_unsigned("<", mark, e.spread(group if shared else ir.Constant(I32, 1), lanes))
        since = b.sub(mark, e.spread(group, lanes))
        earlier = b.icmp_unsigned("<", since, e.spread(b.sub(round_, group), lanes))
        return b.or_(b.or_(unmarked, b.icmp_unsigned("==", mark, own)), earlier)

    others = (other for other in AGAINST[use] if other != ATOMIC or e.has_atomics)
    fine = reduce(b.and_, (in_order(marks.load(other)) for other in others))
    if use == WRITTEN:
        written = marks.load(WRITTEN)
        if same is not None:
            if shared:  # because the first store changes what is undefined
                same = b.and_(same, b.icmp_unsigned(">=", written, e.spread(group, lanes)))
            fine = b.or_(fine, same)
        marks.suspect(b.not_(fine))
        marks.store(own if same is None else b.select(in_order(written), own, written), use)
        return
    marks.suspect(b.not_(fine))
    if shared:  # because it is undefined at first
        marks.suspect(b.icmp_unsigned("<", marks.load(WRITTEN), e.spread(group, lanes)))
    # Other threads of this round, which share one number, or other groups.
    old = marks.load(use)
    now = b.icmp_unsigned("<=", b.sub(old, e.spread(round_, lanes)), e.spread(threads, lanes))
    others_mark = b.select(now, e.spread(b.add(round_, threads), lanes), splat(I32, SEVERAL, lanes))
    marks.store(b.select(in_order(old), own, others_mark), use)
