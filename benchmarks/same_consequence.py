"""Proofs over all paths that a change of one instruction has no consequence.

A backward slice of bytes of registers finds results that nothing depends on: messages that store or signal, branches, and writes of control
registers are what others depend on. A write kills bytes only where all lanes execute it. A forward analysis finds whether lanes that are off may see what a surplus NoMask writes for them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from visa_lsp.eu.model import Direct, Indirect, Layout, MachineInst, Payload, Register
from visa_lsp.eu.scoreboard import OUT_OF_ORDER, Scoreboard, function_of
from visa_lsp.program import regions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.eu.model import MachineCode
    from visa_lsp.isa.platforms import Platform

_BARRIER_BYTES = (8, 12)  # of the payload of a signal
_SAMPLER_BYTES = (8, 20)  # of the header of the sampler: channels, the handle of the state, and the next word
_BLOCK_ADDRESS = {".a32": 4, ".a64": 8}  # bytes of the payload of a block, which has one address
_BLOCK = re.compile(r"\bload\.\w+\.d\d+x\d+t\.")
_OLDER_GRF = 32  # bytes of a register before Xe-HPC, where `mach` without AccWrEn leaves the accumulator
_NEAR = 200  # instructions; the pipes forget older ones
_JOINS = ("join", "endif", "else", "while")
_CALLS = ("call", "calla", "ret")


def idle_instructions(code: MachineCode) -> frozenset[int]:
    """Return the indexes of instructions without a consequence."""
    slice_ = _Slice(code)
    live = slice_.live_after()
    return frozenset(i.index for i in code.instructions if not slice_.needs(i, live[i.index]))


def live_bytes(code: MachineCode, index: int) -> int:
    """Return the bytes that matter after an instruction, as bits."""
    return _Slice(code).live_after()[index]


def needs_no_distance(code: MachineCode, also: MachineCode, index: int, platform: Platform) -> bool:
    """Return whether another distance at an instruction leaves no hazard on any path.

    A walk through the code without a jump is the worst path for distances, because a taken branch drains the pipes.
    """
    near = code.instructions[max(0, index - _NEAR) : index + _NEAR]
    return not any(map(_has_places_of_execution, near)) and _is_straight_walk_same(code, also, platform)


def needs_no_wait(code: MachineCode, also: MachineCode, index: int, platform: Platform) -> bool:
    """Return whether a lost wait for a message leaves no hazard on any path, by the rules of ``visa_lsp.eu.scoreboard``.

    What is in flight follows every edge of the code. Messages of one function read in order, so that the reads of one come after those of earlier ones.
    """
    if any(_leaves(inst) or inst.op in ("brd", "brc") for inst in code.instructions):
        return False
    lost, flights = code.instructions[index].wait, _Flights(also, platform)
    functions = {function_of(i) for i in code.instructions if (i.wait.token, i.wait.use) == (lost.token, "set")}
    return not any(
        sender.wait.token == lost.token or (lost.use == "src" and function_of(sender) in functions)
        for sender in flights.hazards()
    )


@dataclass(frozen=True)
class _Flight:
    """The bytes that an instruction in flight may still read and write, and the later ones of its function, which read after it."""

    reads: int
    writes: int
    later: frozenset[int] = frozenset()


_Flying = dict[tuple[int, bool], _Flight]  # by instruction, and whether it is of lanes that are off until a join


class _Flights:
    """The instructions in flight ahead of each instruction, over all paths; what a path lacks may be in flight on another one."""

    def __init__(self, code: MachineCode, platform: Platform) -> None:
        self.code, self.board = code, Scoreboard(code, platform)
        self.every = (1 << Layout(code.grf_bytes).starts["acc"]) - 1
        self.early: set[int] = set()  # whose registers are used too early

    def hazards(self) -> list[MachineInst]:
        """Return the instructions in flight whose registers some instruction may use too early."""
        instructions = self.code.instructions
        before: dict[int, _Flying] = {0: {}}
        work = [0]
        while work:
            inst = instructions[work.pop()]
            after = self._after(inst, before[inst.index])
            targets = inst.targets
            leaves = inst.op == "else" or (inst.op == "goto" and inst.guard is None)
            others = self._of_other_side(after) if leaves else after
            edges = [(n, after) for t in targets[-1:] for n in self._places(t)]  # where lanes that leave go on
            edges += [(n, others) for t in targets[:-1] if t != targets[-1] for n in self._places(t)]
            if "EOT" not in inst.options:
                edges.append((inst.index + 1, others))
            for n, flights in edges:
                joined = dict(before.get(n, {}))
                for key, flight in flights.items():
                    old = joined.get(key, flight)
                    joined[key] = _Flight(
                        old.reads | flight.reads, old.writes | flight.writes, old.later & flight.later
                    )
                if n < len(instructions) and (n not in before or joined != before[n]):
                    before[n] = joined
                    work.append(n)
        return [instructions[n] for n in self.early]

    def _places(self, target: int) -> tuple[int, ...]:
        """Return where a thread goes on at a target; lanes that wait at a join go on behind it."""
        instructions = self.code.instructions
        waits = target < len(instructions) and instructions[target].op in _JOINS
        return (target, target + 1) if waits else (target,)

    def _of_other_side(self, flying: _Flying) -> _Flying:
        """Return what is in flight where only lanes go on that are not those of the instructions in flight."""
        sides = {
            (sender, side or not self.code.instructions[sender].no_mask): f for (sender, side), f in flying.items()
        }
        return sides | {key: flight for key, flight in flying.items() if key[1]}

    def _after(self, inst: MachineInst, flying: _Flying) -> _Flying:
        instructions = self.code.instructions
        is_sender = self.board.pipe_of(inst) == OUT_OF_ORDER
        reads, writes = (_bits(ranges) & self.every for ranges in (inst.reads, inst.writes))
        if _has_places_of_execution(inst):
            reads, writes = self.every, self.every if isinstance(inst.dst, Indirect | Payload) else writes
        left: _Flying = {}
        for (sender, side), before in flying.items():
            flight = self._waited(inst, sender, before)
            is_together = is_sender and function_of(instructions[sender]) == function_of(inst)
            later = flight.later | {inst.index} if is_together else flight.later
            if side and not inst.no_mask and inst.lanes > 1:
                left[sender, side] = replace(flight, later=later)  # other lanes have other bytes
                continue
            if flight.writes & (reads | writes) or (flight.reads & writes and not is_together):
                self.early.add(sender)
            left[sender, side] = _Flight(flight.reads & ~writes, flight.writes & ~writes, later)
        if is_sender and "EOT" not in inst.options:
            left[inst.index, False] = _Flight(reads, writes)
        return {key: flight for key, flight in left.items() if flight.reads or flight.writes}

    def _waited(self, inst: MachineInst, sender: int, flight: _Flight) -> _Flight:
        """Return what an instruction in flight may still do after the waits of another one."""
        instructions, token = self.code.instructions, inst.wait.token
        is_for_it = token is not None and instructions[sender].wait.token == token
        if (is_for_it and inst.wait.use != "src") or (inst.op, inst.subop) == ("sync", "allwr"):
            return _Flight(0, 0)
        is_read = inst.wait.use == "src" and any(instructions[n].wait.token == token for n in flight.later)
        if is_for_it or is_read or (inst.op, inst.subop) == ("sync", "allrd"):
            return replace(flight, reads=0)
        return flight


def _is_straight_walk_same(code: MachineCode, also: MachineCode, platform: Platform) -> bool:
    """Return whether a walk through changed code without a jump has no hazard that the right code does not have."""
    thread: Any = SimpleNamespace(frame=SimpleNamespace(emask=-1, code=None))
    found = []
    for walked in (code, also):
        board = Scoreboard(walked, platform)
        for inst in walked.instructions:
            if not _has_places_of_execution(inst):
                board.before(thread, inst)
        found.append({(h.inst.index, h.behind.index, h.needs.partition("before")[2]) for h in board.hazards()})
    return found[1] <= found[0]


def _leaves(inst: MachineInst) -> bool:
    """Return whether an instruction goes to a place that the code does not tell."""
    return inst.op in _CALLS or (inst.op == "jmpi" and not inst.targets)


def _has_places_of_execution(inst: MachineInst) -> bool:
    """Return whether the registers of an instruction are known only at its execution."""
    operands = (*inst.sources, inst.dst)
    return any(
        isinstance(o, Indirect) or (isinstance(o, Payload) and o.registers is None and o.start >= 0) for o in operands
    )


def without_consequence(code: MachineCode, changed: MachineInst, also: MachineCode) -> bool:
    """Return whether the changed instruction has the same consequence as that of ``code``; ``also`` is the code with the change."""
    old = code.instructions[changed.index]
    if changed.no_mask > old.no_mask and replace(changed, no_mask=False, reads=old.reads, writes=old.writes) == old:
        return _Surplus(code, old).is_harmless()
    if not changed.offset and replace(changed, offset=old.offset, reads=old.reads, writes=old.writes) == old:
        return _Surplus(code, old).is_harmless(
            in_whole=True
        )  # the first lanes of a thread are on where the last ones are
    if old.condition != changed.condition or old.is_message or old.op != changed.op:
        return False
    differ = _bits(old.writes) | _bits(changed.writes)
    if old.lanes != changed.lanes and (old.dst, old.sources) == (changed.dst, changed.sources):
        differ = _bits(old.writes) & ~_bits(changed.writes)
    elif old.offset == changed.offset and isinstance(old.dst, Direct) and _same_but_regions(old, changed):
        differ &= ~_bits([(old.dst.start, old.dst.start + old.dst.type.size)])  # the first lane reads the same element
    for one in (code, also):
        slice_ = _Slice(one)
        inst = one.instructions[changed.index]
        if slice_.is_sink(inst) or slice_.live_after()[inst.index] & differ:
            return False
    return True


def _same_but_regions(old: MachineInst, new: MachineInst) -> bool:
    pairs = list(zip(old.sources, new.sources, strict=True))
    return (
        old.dst == new.dst
        and not old.condition
        and all(
            a == b or (isinstance(a, Direct) and isinstance(b, Direct) and replace(a, region=b.region) == b)
            for a, b in pairs
        )
    )


class _Surplus:
    """The writes of an instruction for lanes that are off, if it loses its mask: ``seen`` where a lane may read it.

    Lanes of no work item are never on. Others that were off may come back at a join: there a read sees the surplus value, unless an
    instruction with the lanes of the reader has overwritten it since.
    """

    def __init__(self, code: MachineCode, inst: MachineInst) -> None:
        self.code, self.inst, self.slice = code, inst, _Slice(code)
        self.whole = {i.index for i in code.instructions} - {n for i in code.instructions for n in _between(i)}
        self.joins = {place for inst in code.instructions for place in inst.landings}
        self.joins |= {i.index + 1 for i in code.instructions if any(target <= i.index for target in i.targets)}

    def is_harmless(self, *, in_whole: bool = False) -> bool:
        """Return whether no lane may see a surplus value; ``in_whole``: and all lanes with a work item are on."""
        inst = self.inst
        if in_whole and inst.index not in self.whole:
            return False
        stores = inst.is_message and (not isinstance(inst.dst, Payload) or inst.dst.start < 0)
        if stores or inst.op.startswith(("call", "ret")) or any(map(_leaves, self.code.instructions)):
            return False
        if inst.is_message and ("flat" in inst.text or "a64" in inst.text or "A64" in inst.text):
            return False  # a surplus load of any address may fail
        if not isinstance(inst.dst, Direct | Payload) or self._writes_wide_accumulator():
            return False
        return self._spread(_bits(inst.writes))

    def _writes_wide_accumulator(self) -> bool:
        """Return whether the instruction writes the upper bits of accumulators, which no range of bytes has."""
        inst = self.inst
        is_accumulator = isinstance(inst.dst, Direct) and inst.dst.register.kind == "acc" and inst.dst.type.is_int
        is_high = inst.op == "mach" and self.code.grf_bytes > _OLDER_GRF
        return "AccWrEn" in inst.options or is_accumulator or is_high or inst.op in ("addc", "subb")

    def _spread(self, written: int) -> bool:
        """Follow the bytes: those that a reader with the same lanes may read, and those that come back at a join."""
        off = self.inst.index not in self.whole
        work = [(n, written, 0) for n in self._nexts(self.inst)]
        known: dict[int, tuple[int, int]] = {}
        while work:
            at, safe, seen = work.pop()
            if at in self.joins and off:
                safe, seen = 0, safe | seen
            old = known.get(at, (0, 0))
            safe, seen = safe | old[0], seen | old[1]
            if (safe, seen) == old or at >= len(self.code.instructions):
                continue
            known[at] = safe, seen
            inst = self.code.instructions[at]
            reads = self.slice.reads(inst)
            if reads & seen or (reads & safe and not self._has_own_lanes(inst)):
                return False
            writes = _bits(inst.writes) if inst.guard is None and not inst.is_message else 0
            if inst.no_mask:
                safe, seen = safe & ~writes, seen & ~writes
            else:
                safe, seen = safe | (seen & writes), seen & ~writes
            work += [(n, safe, seen) for n in self._nexts(inst)]
        return True

    def _nexts(self, inst: MachineInst) -> set[int]:
        if "EOT" in inst.options:
            return set()
        return {inst.index + 1, *inst.landings}

    def _has_own_lanes(self, inst: MachineInst) -> bool:
        """Return whether each lane of a reader reads only the bytes that the instruction has written for it."""
        if inst.no_mask or (inst.guard is not None and inst.guard.combine):
            return False
        own = dict(_lanes_of_result(self.inst, self.code.grf_bytes))
        flags = set(range(self.slice.starts["f"], self.slice.starts["a"]))
        for source in inst.sources:
            if isinstance(source, Direct) and source.start >= 0:
                region = source.region
                if source.register.kind == "f":
                    return False
                elements = regions.source_elements(region, inst.lanes)
                for lane, element in enumerate(elements):
                    for byte in range(
                        source.start + element * source.type.size, source.start + (element + 1) * source.type.size
                    ):
                        if own.get(byte, inst.offset + lane) != inst.offset + lane:
                            return False
            elif isinstance(source, Payload) and source.start >= 0 and inst.is_message:
                if not source.registers:
                    return False
                cell = max(1, source.registers * self.code.grf_bytes // inst.lanes)
                cell = 8 if cell % 8 == 0 and ("a64" in inst.text or "A64" in inst.text or "d64" in inst.text) else 4
                for byte in range(source.registers * self.code.grf_bytes):
                    lane = inst.offset + byte % (inst.lanes * cell) // cell
                    if own.get(source.start + byte, lane) != lane:
                        return False
            elif isinstance(source, Indirect):
                return False
        return not (flags & own.keys())


def _lanes_of_result(inst: MachineInst, grf: int) -> Iterator[tuple[int, int]]:
    """Yield each byte that an instruction writes, with its lane."""
    dst = inst.dst
    if isinstance(dst, Payload) and dst.start >= 0:
        cell = 8 if "d64" in inst.text else 4
        for byte in range((dst.registers or 0) * grf):
            yield dst.start + byte, inst.offset + byte % (inst.lanes * cell) // cell
    elif isinstance(dst, Direct) and dst.start >= 0:
        for lane, element in enumerate(regions.destination_elements(dst.region.horz_stride or 1, inst.lanes)):
            for byte in range(dst.type.size):
                yield dst.start + element * dst.type.size + byte, inst.offset + lane


def _between(inst: MachineInst) -> Iterator[int]:
    """Yield the places between a branch and its targets, where lanes may be off."""
    for target in inst.targets:
        start, end = sorted((inst.index, target))
        yield from range(start, end + (target <= inst.index))


class _Slice:
    def __init__(self, code: MachineCode) -> None:
        self.code, self.starts = code, Layout(code.grf_bytes).starts
        self.all_general = (1 << self.starts["acc"]) - 1
        self.joins = {place for inst in code.instructions for place in inst.landings}
        self.joins |= {i.index + 1 for i in code.instructions if _leaves(i)}

    def live_after(self) -> list[int]:
        """Return the bytes that matter after each instruction, as bits."""
        instructions = self.code.instructions
        before = [0] * (len(instructions) + 2)
        after = [0] * len(instructions)
        changed = True
        while changed:
            changed = False
            for inst in reversed(instructions):
                nexts = set() if "EOT" in inst.options else {inst.index + 1}
                nexts.update(inst.landings)
                if _leaves(inst):
                    nexts |= self.joins
                out = 0
                for n in nexts:
                    out |= before[n] if n < len(before) else 0
                after[inst.index] = out
                found = out & ~self.kills(inst)
                if self.needs(inst, out):
                    found |= self.reads(inst)
                if found != before[inst.index]:
                    before[inst.index], changed = found, True
        return after

    def needs(self, inst: MachineInst, live: int) -> bool:
        """Return whether something depends on an instruction, if ``live`` bytes matter after it."""
        return self.is_sink(inst) or bool(_bits(inst.writes) & live)

    def is_sink(self, inst: MachineInst) -> bool:
        """Return whether an instruction does more than write registers."""
        if inst.is_message:
            return (
                not isinstance(inst.dst, Payload)
                or inst.dst.start < 0
                or "atomic" in inst.text
                or inst.dst.registers is None
            )
        if inst.targets or _leaves(inst) or isinstance(inst.dst, Indirect):
            return True
        return isinstance(inst.dst, Direct) and inst.dst.register.kind not in ("r", "acc", "f", "a", "null")

    def reads(self, inst: MachineInst) -> int:
        """Return the bytes on which an instruction depends."""
        if "EOT" in inst.options or "fence" in inst.text:
            return 0
        if inst.is_message and inst.subop == "gtwy":
            payload = inst.sources[0]
            assert isinstance(payload, Payload)
            return _bits([(payload.start + _BARRIER_BYTES[0], payload.start + _BARRIER_BYTES[1])])
        address = inst.sources[0] if inst.is_message else None
        if isinstance(address, Payload) and address.registers == 1 and self._is_header(inst):
            read = self._read_of_header(inst)
            rest = _bits(r for r in inst.reads if r[0] != address.start)
            return rest | _bits([(address.start + read[0], address.start + read[1])])
        if any(isinstance(s, Indirect) for s in inst.sources):
            return self.all_general | _bits(inst.reads)
        if any(
            isinstance(s, Payload) and (s.registers is None or s.register.kind == "s") and s.start >= 0
            for s in inst.sources
        ):
            return self.all_general | _bits(inst.reads)  # the descriptor in a register tells the length
        found = _bits(inst.reads)
        if any((isinstance(s, Direct) and s.register.kind == "acc") or isinstance(s, Register) for s in inst.sources):
            found |= _bits([(self.starts["acc"], self.starts["f"])])
        return found

    def _is_header(self, inst: MachineInst) -> bool:
        words = f"{inst.text} {inst.comment}"
        return (inst.subop == "smpl" and "wr:1h" in words) or _BLOCK.search(words) is not None

    def _read_of_header(self, inst: MachineInst) -> tuple[int, int]:
        """Return the first and the last byte that a message reads of its first register, in which the rest is ignored."""
        if inst.subop == "smpl":
            return _SAMPLER_BYTES
        return 0, next(size for word, size in _BLOCK_ADDRESS.items() if word in f"{inst.text} {inst.comment}")

    def kills(self, inst: MachineInst) -> int:
        """Return the bytes that an instruction overwrites in any case."""
        if not inst.no_mask or inst.guard is not None or isinstance(inst.dst, Indirect) or inst.is_message:
            return 0
        return _bits(inst.writes)


def _bits(ranges: Iterable[tuple[int, int]]) -> int:
    found = 0
    for first, end in ranges:
        found |= ((1 << end - first) - 1) << first
    return found
