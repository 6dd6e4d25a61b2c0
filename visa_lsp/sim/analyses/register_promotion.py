"""Register promotion: finds registers that a compiled function can hold in values, and writes whose inactive lanes are dead.

Each instruction writes a register in memory, and merges the old values of inactive lanes. Most of these merges are
useless: an inactive lane waits at a later place, where most variables are written before they are read. Here each lane
is followed separately along its possible edges, backwards: a dword is *live* at a place if a lane, or the thread, may
read it before it is written. Invariants: lanes that are inactive during an instruction wait at later joins, or are
done. At an entry or exit of a function the live dwords are in the registers, in the layout of the interpreter.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from sys import maxsize
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from visa_lsp.flow.solve import solve
from visa_lsp.isa.model import FlowClass, PredicateUse
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.model import Predicate
from visa_lsp.sim.analyses.definedness_proof import after
from visa_lsp.sim.operands import Site, Touch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from visa_lsp.sim.interp import Code

_FOLLOWED: Final = frozenset({
    FlowClass.NEXT, FlowClass.NOTE, FlowClass.LABEL, FlowClass.SUBROUTINE, FlowClass.GOTO, FlowClass.JUMP, FlowClass.RETURN,
    FlowClass.FUNCTION_RETURN,
})  # fmt: skip
_DWORD: Final = 4
# live at one place: kernels that gain a factor of 3 hold 470; one that lost a quarter had 1,750
MAX_LIVE_BYTES: Final = 1_024


class HeldPiece(NamedTuple):
    """A range of register bytes that no access crosses."""

    start: int
    size: int


class Held:
    """The pieces held by a function, in the order of their places; empty if the analysis does not apply."""

    def __init__(self) -> None:
        self.pieces: Sequence[HeldPiece] = ()
        self.whole: frozenset[int] = frozenset()  # instructions that may also overwrite inactive lanes
        self.live: Mapping[int, int] = {}  # live dwords at the beginning of a stretch, including those of waiting lanes
        self.touched: Mapping[int, Mapping[int, bool]] = {}  # by instruction: its pieces, and whether they are written

    def at(self, start: int, end: int) -> int | None:
        """Return the piece around the bytes; -1 if no piece overlaps them, None if a piece has only some of them."""
        number = bisect_right(self.pieces, (start, maxsize)) - 1
        for near in (number, number + 1):  # the last piece that begins at or before the bytes, and the next one
            if 0 <= near < len(self.pieces):
                low, size = self.pieces[near]
                if low <= start and end <= low + size:
                    return near
                if start < low + size and low < end:
                    return None
        return -1

    def live_pieces(self, pc: int) -> list[int]:
        """Return the live pieces at the beginning of a stretch: an entry of the function loads them, an exit stores them."""
        bits = self.live[pc] if self.pieces else 0
        return [number for number, (start, size) in enumerate(self.pieces) if _range(start, start + size) & bits]


class _Use(NamedTuple):
    """The sets of dwords that an instruction reads, overwrites completely for the active lanes, and writes in part."""

    read: int
    killed: int
    written: int


def find_held(code: Code, starts: Sequence[int], ends: Mapping[int, int], *, to_the_end: bool = False) -> Held:
    """Return the registers held by the function of a body; ``starts`` and ``ends`` are its stretches.

    All ops of the body must exist already. ``to_the_end``: the registers of a thread are read after its end. Nothing is
    held if lanes move by other instructions than ``goto``, or if registers are accessed by address.
    """
    instructions = code.kernel.instructions
    registers = Held()
    if any(inst.row.flow not in _FOLLOWED for inst in instructions):
        return registers
    if any(touch.indirect is not None for touches in code.touches.values() for touch in touches):
        return registers
    registers.pieces = _pieces(code)
    shared = ~_bits(_lanewise(code))
    uses = [_use(code, pc, shared) for pc in range(len(instructions))]
    # A function gives the predefined registers back, of all lanes of the caller.
    end = code.layout.size if to_the_end else 0 if code.kernel.is_kernel else code.layout.predefined_end
    last = (1 << end // _DWORD) - 1
    lives = _Lives(code, starts, ends, uses, shared, last)
    registers.whole = frozenset(
        pc
        for pc, use in enumerate(uses)
        if use.written and use.written == use.killed and not use.written & (shared | lives.beside(pc))
    )
    registers.live = lives.by_place()
    if any(bits.bit_count() * _DWORD > MAX_LIVE_BYTES for bits in registers.live.values()):
        return Held()  # because more would be spilled than fit into the host's registers
    registers.touched = {pc: _find_touched(registers, touches) for pc, touches in code.touches.items()}
    return registers


def _pieces(code: Code) -> list[HeldPiece]:
    """Return the accessed bytes of declared variables, in pieces that no access crosses."""
    start = code.layout.predefined_end
    ranges = sorted({(low, end) for touches in code.touches.values() for t in touches for low, end in [_ends(t)]})
    merged: list[list[int]] = []
    for low, end in ranges:
        if merged and low < merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([low, end])
    return [HeldPiece(low, end - low) for low, end in merged if low >= start]


def _ends(touch: Touch) -> tuple[int, int]:
    return touch.start + min(touch.elements), touch.start + max(touch.elements) + touch.size


def _find_touched(registers: Held, touches: Sequence[Touch]) -> dict[int, bool]:
    written: dict[int, bool] = {}
    for touch in touches:
        number = registers.at(*_ends(touch))
        if number is not None and number >= 0:
            written[number] = written.get(number, False) or touch.write
    return written


def _control(code: Code, pc: int) -> ExecControl:
    """Return the execution control of an instruction; that of plain gather and scatter is in an operand."""
    inst = code.kernel.instructions[pc]
    return next((v for v in inst.values if isinstance(v, ExecControl)), None) or Site(code, inst, pc).control


def _lanewise(code: Code) -> np.ndarray:
    """Return a flag for each byte: whether always the same lane accesses it."""
    owner = np.zeros(code.layout.size, np.int16)
    shared = np.zeros(code.layout.size, np.bool_)
    seen = set()
    for pc, touches in code.touches.items():
        control = _control(code, pc)
        for touch in touches:
            rows, lanes = len(touch.elements), touch.lanes
            apart = not (control.no_mask or lanes == 1 or rows % lanes)
            key = touch.start, touch.size, touch.elements, lanes, apart and control.mask_offset, apart
            if key in seen:
                continue
            seen.add(key)
            places = touch.places
            if not apart:
                shared[places] = True
                continue
            own = np.broadcast_to((np.arange(rows) % lanes + control.mask_offset + 1)[:, None], places.shape)
            before = owner[places]
            owner[places] = own
            wrong = ((before != 0) & (before != own)) | (owner[places] != own)
            shared[places[wrong]] = True
    return np.asarray(~shared & (owner != 0))


def _bits(flags: np.ndarray) -> int:
    """Return a bit for each dword, set if all of its bytes have a flag."""
    return int.from_bytes(np.packbits(flags.reshape(-1, _DWORD).all(axis=1), bitorder="little").tobytes(), "little")


def _range(start: int, end: int) -> int:
    return (1 << -(-end // _DWORD)) - (1 << start // _DWORD)


@lru_cache(4096)
def _dwords(elements: tuple[int, ...], size: int, start: int) -> tuple[int, int]:
    """Return the sets of dwords that elements touch, and that they fill, counted from the dword with byte ``start``."""
    bytes_ = np.zeros(start + max(elements) + size + _DWORD - 1, np.bool_)
    bytes_[(start + np.array(elements)[:, None] + np.arange(size)).reshape(-1)] = True
    rows = bytes_[: bytes_.size // _DWORD * _DWORD].reshape(-1, _DWORD)
    touched, full = (np.packbits(x, bitorder="little").tobytes() for x in (rows.any(axis=1), rows.all(axis=1)))
    return int.from_bytes(touched, "little"), int.from_bytes(full, "little")


def _use(code: Code, pc: int, shared: int) -> _Use:
    inst = code.kernel.instructions[pc]
    control = _control(code, pc)
    pred = inst.get("pred")
    guarded = isinstance(pred, Predicate) and pred.var and inst.row.predicate_use is not PredicateUse.CHOOSES
    read = killed = written = 0
    for touch in code.touches.get(pc, []):
        low = min(touch.elements)
        start = max(0, touch.start + low)
        elements = touch.elements if not low else tuple(element - low for element in touch.elements)
        touched, full = (bits << start // _DWORD for bits in _dwords(elements, touch.size, start % _DWORD))
        if not touch.write:
            read |= touched
            continue
        written |= touched
        if not guarded:
            # Only an instruction without a mask certainly overwrites bytes shared by lanes.
            killed |= full if control.no_mask else full & ~shared
    return _Use(read, killed, written)


class _Lives:
    """The live dwords at the beginning of stretches, and at the joins where lanes may wait; ``last`` are live at the end."""

    def __init__(
        self, code: Code, starts: Sequence[int], ends: Mapping[int, int], uses: Sequence[_Use], shared: int, last: int
    ) -> None:
        self._starts, self._joins = starts, sorted(code.joins)
        instructions = code.kernel.instructions
        # A jump may pass places where lanes wait.
        self._anywhere = any(inst.row.flow is FlowClass.JUMP for inst in instructions)
        number = {start: node for node, start in enumerate(starts)}
        # The nodes of stretches are followed by a node for each join and one for finished lanes: live there, or at a
        # later join.
        done = len(starts) + len(self._joins)
        values = [0] * (done + 1)
        values[number[len(instructions)]] = values[done] = last
        ahead: list[list[int]] = [[] for _ in values]
        passes = [_pass(uses[start : ends[start]]) for start in starts]
        other = {}  # nodes of waiting lanes: the thread may continue there and read shared bytes
        for node, start in enumerate(starts[:-1]):
            pc = min(ends[start], len(instructions)) - 1
            flow = instructions[pc].row.flow
            ahead[node] = [number[to] for to in after(code, pc)] + [done] * flow.returns
            if flow is FlowClass.GOTO or flow.returns:
                other[node] = self._wait(pc)
        for place, join in enumerate(self._joins):
            ahead[len(starts) + place] = [number[join], len(starts) + place + 1]
        dependents: list[list[int]] = [[] for _ in values]
        for node, needed in enumerate(ahead):
            for of in (*needed, *([other[node]] if node in other else ())):
                dependents[of].append(node)

        def evaluate(node: int) -> int:
            live = 0
            for of in ahead[node]:
                live |= values[of]
            if node >= len(starts):
                return live
            if node in other:
                live |= shared & values[other[node]]
            use = passes[node]
            return use.read | live & ~use.killed

        settled = {number[len(instructions)], done}
        order = [node for node in reversed(range(len(values))) if node not in settled]
        self._values = solve(values, order, dependents, evaluate)

    def _wait(self, pc: int) -> int:
        """Return the node of the joins where other lanes may wait during the instruction at ``pc``."""
        return len(self._starts) + (0 if self._anywhere else bisect_right(self._joins, pc))

    def beside(self, pc: int) -> int:
        """Return the live dwords at the joins where lanes may wait during an instruction."""
        return self._values[self._wait(pc)]

    def by_place(self) -> dict[int, int]:
        """Return the live dwords at the beginning of each stretch, including those of waiting lanes."""
        return {start: bits | self.beside(start) for start, bits in zip(self._starts, self._values, strict=False)}


def _pass(uses: Sequence[_Use]) -> _Use:
    """Return the use of a stretch: the dwords that it reads before it writes them, and the dwords that it writes first."""
    read = killed = written = 0
    for use in uses:
        read |= use.read & ~killed
        killed |= use.killed & ~read
        written |= use.written
    return _Use(read, killed, written)
