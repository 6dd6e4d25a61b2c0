"""The scoreboard sanitizer: finds registers that an instruction uses before the wait for the instruction in flight.

The rules are facts about hardware pipes, per platform, as data (``PIPES``); their source is the public finalizer
(intel/intel-graphics-compiler, ``visa/LocalScheduler/SWSB_G4IR.cpp`` and ``visa/G4_IR.cpp``) and the code of the corpus:

* Instructions of an in-order pipe finish in order. ``@N`` waits for all but the N-1 youngest instructions of a pipe; without a
  letter it is the instruction's own pipe, beside a token that of its sources' type; ``A`` is every pipe.
* Messages, ``dpas``, and ``math`` of some platforms finish at any time. ``$n.dst`` waits for their results, ``$n.src`` for their
  reads, and a second instruction with ``$n`` waits for both. Messages of one shared function read their registers in order, and so do all ``math``.
* A write of `cr0` waits for every pipe; all finalizers write it so.
* Assumed: the result of an in-order instruction is there after ``_SETTLED`` younger ones of its pipe; a taken branch drains pipes.
* Instructions of two sides of a branch have no lane in common and touch different bytes of a register.

Only general registers are watched. The ranges of an instruction are those of all lanes, as the finalizer sees them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeGuard

import numpy as np

from visa_lsp.eu.model import MESSAGE_REGISTERS, Direct, Indirect, MachineInst, Payload
from visa_lsp.eu.opcodes import row_of
from visa_lsp.isa import types as ty
from visa_lsp.program.model import Immediate
from visa_lsp.sim.operands import lane_mask

if TYPE_CHECKING:
    from visa_lsp.eu.model import MachineCode
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.sim.interp import Thread

MAX_THREADS: Final = 24  # watched of all launches of a kernel, because threads of a kernel mostly take the same paths
MAX_STEPS: Final = 30_000  # watched of a thread
_SETTLED: Final = 10
_SETTLED_LONG: Final = 14
_ADDRESS_LENGTH, _RESULT_LENGTH = (25, 15), (20, 31)  # fields of a descriptor, in registers
_LEAST_BYTES: Final = 32  # of a register
OUT_OF_ORDER: Final = "out of order"
_NO_PIPE: Final = ""


@dataclass(frozen=True, slots=True)
class PipeRules:
    """The pipes of a platform. ``single``: all in-order instructions have one pipe.

    ``math_in_order``: ``math`` has pipe M, else a token. ``long_by_result``: the long pipe has instructions whose result is a double,
    else those with any 64-bit operand.
    """

    single: bool = False
    math_in_order: bool = True
    long_by_result: bool = True


PIPES: Final[dict[str, PipeRules]] = {
    "TGLLP": PipeRules(single=True, math_in_order=False),
    **dict.fromkeys(("XeHP_SDV", "DG2", "MTL", "ARL"), PipeRules(math_in_order=False, long_by_result=False)),
    **dict.fromkeys(("PVC", "PVCXT", "BMG", "PTL"), PipeRules()),
}


@dataclass(frozen=True, slots=True)
class Hazard:
    """A use of registers too early: the instruction, what it must wait for, and the instruction in flight."""

    inst: MachineInst
    needs: str
    behind: MachineInst


@dataclass(slots=True)
class _Flight:
    """An executed instruction: its pipe, its number in the pipe, and the waits that ended it, by instruction.

    ``mask`` has the lanes of the thread that it serves; -1 for all.
    """

    inst: MachineInst
    pipe: str
    mask: int = -1
    number: int = 0
    read_by: int | None = None  # instruction whose wait ended its reads
    done_by: int | None = None  # instruction whose wait ended its writes


@dataclass(slots=True)
class _ThreadState:
    writers: Any
    readers: Any
    flights: list[_Flight]  # number 0 stands for none
    counts: Counter[str] = field(default_factory=Counter)
    # By pipe, in the order of numbers: those up to which instructions have ended, with the instruction whose wait ended them.
    ended: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    tokens: dict[int, int] = field(default_factory=dict)
    by_function: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    steps: int = 0
    last: int = -1

    def end(self, pipe: str, number: int, index: int) -> None:
        """Note that instructions of a pipe up to a number have ended by the wait of an instruction."""
        ends = self.ended[pipe]
        if not ends or number > ends[-1][0]:
            ends.append((number, index))

    def copy(self) -> _ThreadState:
        """Return a state that continues apart from this one."""
        ended = defaultdict[str, list[tuple[int, int]]](list, {pipe: [*ends] for pipe, ends in self.ended.items()})
        by_function = defaultdict[str, list[int]](
            list, {name: [*numbers] for name, numbers in self.by_function.items()}
        )
        flights = [replace(flight) for flight in self.flights]
        return _ThreadState(
            self.writers.copy(), self.readers.copy(), flights, Counter(self.counts), ended, dict(self.tokens), by_function, self.steps, self.last,
        )  # fmt: skip


class Scoreboard:
    """A watcher of machine instructions that finds hazards. One serves all launches of a kernel."""

    def __init__(
        self, code: MachineCode, platform: Platform, states: dict[int, tuple[Thread, _ThreadState]] | None = None
    ) -> None:
        self.code, self.platform = code, platform
        self.rules = PIPES.get(platform.name)
        self._found: dict[tuple[str, int, int], Hazard] = {}
        self._states = states or {}
        self._end = 512 * code.grf_bytes
        self.executed_waits: set[int] = set()
        self.needed_waits: set[int] = set()

    def hazards(self) -> tuple[Hazard, ...]:
        """Return the hazards so far, in the order of the code."""
        return tuple(sorted(self._found.values(), key=lambda h: (h.inst.index, h.behind.index)))

    @property
    def is_full(self) -> bool:
        """True if no further thread is watched."""
        return len(self._states) >= MAX_THREADS

    def fork(self, thread: Thread) -> Scoreboard:
        """Return a scoreboard without hazards that continues from the state of a thread."""
        states = {key: (t, state.copy()) for key, (t, state) in self._states.items() if t is thread}
        return Scoreboard(self.code, self.platform, states)

    def before(self, thread: Thread, inst: MachineInst) -> None:
        """Follow an instruction that a thread is about to execute."""
        watched = self._states.get(id(thread))
        if watched is None or watched[0] is not thread:
            if self.rules is None or self.is_full:
                return
            none = [_Flight(inst, _NO_PIPE)]
            watched = thread, _ThreadState(np.zeros(self._end, np.int32), np.zeros(self._end, np.int32), none)
            self._states[id(thread)] = watched
        state = watched[1]
        state.steps += 1
        if state.steps <= MAX_STEPS:
            self._follow(thread, inst, state)

    def _follow(self, thread: Thread, inst: MachineInst, state: _ThreadState) -> None:
        if state.last >= 0 and inst.index != state.last + 1:
            for pipe, count in state.counts.items():
                state.end(pipe, count, -1)
        state.last = inst.index
        flight = _Flight(inst, self.pipe_of(inst), -1 if inst.no_mask else thread.frame.emask)
        own = len(state.flights)
        state.flights.append(flight)
        self._wait(inst, flight, own, state)
        if own > 1 and isinstance(inst.dst, Direct) and inst.dst.register.kind == "cr":
            self._change_modes(inst, state.flights[own - 1].inst)
        if not _is_workaround(inst):
            reads, writes = _ranges(thread, inst)
            for start, end in reads:
                self._read(state, own, start, end)
            for start, end in writes:
                self._write(state, own, start, end)
            if thread.frame.code is None and _is_of_any_length(inst.dst):
                end = inst.dst.start + MESSAGE_REGISTERS * self.code.grf_bytes
                state.writers[inst.dst.start + _LEAST_BYTES : end] = 0
                state.readers[inst.dst.start + _LEAST_BYTES : end] = 0
        if flight.pipe not in (OUT_OF_ORDER, _NO_PIPE):
            state.counts[flight.pipe] += 1
            flight.number = state.counts[flight.pipe]

    def _change_modes(self, inst: MachineInst, last: MachineInst) -> None:
        """Report a change of modes, which those before it must not see, without a wait for all of them."""
        assert self.rules is not None
        letters = ("A", "") if self.rules.single else ("A",)
        if not any(letter in letters and distance == 1 for letter, distance in inst.wait.distances):
            word = "@1" if self.rules.single else "A@1"
            needs = f"{word} before it changes modes of instructions in flight"
            self._found.setdefault(("modes", inst.index, 0), Hazard(inst, needs, last))

    # ---- waits

    def pipe_of(self, inst: MachineInst) -> str:
        """Return the pipe of an instruction: a letter, ``out of order``, or empty for those that compute nothing."""
        rules, op = self.rules, inst.op
        assert rules is not None
        if inst.is_message or op.startswith("dpas") or (op == "math" and not rules.math_in_order):
            return OUT_OF_ORDER
        if rules.single:
            return "X"
        if op == "math":
            return "M"
        row = row_of(op, inst.subop)
        if op in ("sync", "nop", "illegal"):
            return _NO_PIPE
        if row is not None and row.is_branch:
            return "I"
        dst = inst.dst.type if isinstance(inst.dst, Direct | Indirect) else None
        types = [s.type for s in inst.sources if isinstance(s, Direct | Indirect | Immediate)]
        if dst is ty.DF or (not rules.long_by_result and not {ty.DF, ty.Q, ty.UQ}.isdisjoint([*types, dst])):
            return "L"
        if dst is None:
            return _NO_PIPE
        return "F" if dst.is_float else "I"

    def _guess_pipe(self, inst: MachineInst) -> str:
        """Return the pipe of a distance without a letter beside a token: that of the sources' type."""
        assert self.rules is not None
        if self.rules.single:
            return "X"
        kinds = [s.type for s in inst.sources if isinstance(s, Direct | Indirect | Immediate)]
        if ty.DF in kinds:
            return "L"
        return "F" if kinds and kinds[0].is_float else "I"

    def _wait(self, inst: MachineInst, flight: _Flight, own: int, state: _ThreadState) -> None:
        wait = inst.wait
        for letter, distance in wait.distances:
            self.executed_waits.add(inst.index)
            if letter == "A":
                pipes = list(state.counts)
            elif letter:
                pipes = [letter]
            else:
                has_own = wait.token is None and flight.pipe not in (OUT_OF_ORDER, _NO_PIPE)
                pipes = [flight.pipe if has_own else self._guess_pipe(inst)]
            for pipe in pipes:
                state.end(pipe, state.counts[pipe] - distance + 1, inst.index)
        if wait.token is not None:
            old = state.tokens.get(wait.token, 0)
            if wait.use != "set":
                self.executed_waits.add(inst.index)
            if wait.use == "src":
                function = function_of(state.flights[old].inst) if old else ""
                earlier = state.by_function[function]
                for flight_number in (old, *(w for w in earlier if w <= old)):
                    _mark(state.flights[flight_number], inst.index, done=False)
                state.by_function[function] = [w for w in earlier if w > old]
            else:
                _mark(state.flights[old], inst.index, done=True)
            if wait.use == "set":
                state.tokens[wait.token] = own
                state.by_function[function_of(inst)].append(own)
        if inst.op == "sync" and inst.subop in ("allwr", "allrd"):
            self.executed_waits.add(inst.index)
            for flight_number in state.tokens.values():
                _mark(state.flights[flight_number], inst.index, done=inst.subop == "allwr")

    def _is_flying(self, state: _ThreadState, flight: _Flight, *, reads: bool) -> bool:
        """Return whether an instruction may not have finished; the waits that ended it count as needed."""
        if flight.pipe == OUT_OF_ORDER:
            ended_by = flight.read_by if reads else flight.done_by
            if ended_by is not None:
                self.needed_waits.add(ended_by)
            return ended_by is None
        if flight.pipe == _NO_PIPE:
            return False
        settled = _SETTLED_LONG if flight.pipe == "L" else _SETTLED
        if state.counts[flight.pipe] - flight.number >= settled:
            return False
        ends = state.ended[flight.pipe]
        position = bisect_left(ends, (flight.number,))
        if position == len(ends):
            return True
        self.needed_waits.add(ends[position][1])
        return False

    # ---- uses of registers

    def _read(self, state: _ThreadState, own: int, start: int, end: int) -> None:
        if start >= self._end:
            return
        for writer in set(state.writers[start:end].tolist()):
            if writer and writer != own and self._is_flying(state, state.flights[writer], reads=False):
                self._report(state, own, writer, "reads", start, done=True)
        if state.flights[own].pipe == OUT_OF_ORDER:
            state.readers[start:end] = own

    def _write(self, state: _ThreadState, own: int, start: int, end: int) -> None:
        if start >= self._end:
            return
        flight = state.flights[own]
        for earlier in set(state.writers[start:end].tolist()):
            other = state.flights[earlier]
            in_order = other.pipe == flight.pipe != OUT_OF_ORDER
            if earlier and earlier != own and not in_order and self._is_flying(state, other, reads=False):
                self._report(state, own, earlier, "writes", start, done=True)
        for earlier in set(state.readers[start:end].tolist()):
            other = state.flights[earlier]
            together = earlier and flight.pipe == OUT_OF_ORDER and function_of(other.inst) == function_of(flight.inst)
            if (
                earlier
                and earlier != own
                and not together
                and other.done_by is None
                and self._is_flying(state, other, reads=True)
            ):
                self._report(state, own, earlier, "overwrites", start, done=False)
        state.writers[start:end] = own
        state.readers[start:end] = 0

    def _report(self, state: _ThreadState, own: int, earlier: int, verb: str, place: int, *, done: bool) -> None:
        inst, flight = state.flights[own].inst, state.flights[earlier]
        key = verb, inst.index, flight.inst.index
        if key in self._found or not state.flights[own].mask & flight.mask:
            return
        if flight.pipe == OUT_OF_ORDER:
            token = flight.inst.wait.token
            word = f"${token}.{'dst' if done else 'src'}" if token is not None else "a token"
        else:
            letter = "" if flight.pipe == "X" else flight.pipe
            word = f"{letter}@{state.counts[flight.pipe] - flight.number + 1}"
        register = f"r{place // self.code.grf_bytes}"
        shown = flight.inst.text or flight.inst.name
        words = {"reads": "writes it", "writes": "writes it, too", "overwrites": "reads it"}[verb]
        needs = f"{word} before it {verb} {register}, because an instruction in flight {words}: {_without_words(shown)}"
        self._found[key] = Hazard(inst, needs, flight.inst)


def function_of(inst: MachineInst) -> str:
    """Return the name of the unit that reads the registers of a message, ``math`` or ``dpas``, in order."""
    return inst.subop if inst.is_message else inst.op


def unneeded_waits(board: Scoreboard) -> tuple[MachineInst, ...]:
    """Return the instructions whose waits nothing needed on the executed paths."""
    return tuple(board.code.instructions[n] for n in sorted(board.executed_waits - board.needed_waits))


def _mark(flight: _Flight, index: int, *, done: bool) -> None:
    if done and flight.done_by is None:
        flight.done_by = index
    if flight.read_by is None:
        flight.read_by = index


def _without_words(text: str) -> str:
    return " ".join(text.partition("//")[0].split())


def _is_of_any_length(operand: object) -> TypeGuard[Payload]:
    """Return whether only the descriptor tells how many registers of a message an operand has."""
    return isinstance(operand, Payload) and operand.registers is None and operand.start >= 0


def _is_workaround(inst: MachineInst) -> bool:
    """Return whether this is the choice between r0 and r0 that finalizers of Xe-LP insert before branches."""
    dst = inst.dst
    return inst.op == "csel" and inst.no_mask and inst.lanes == 4 and isinstance(dst, Direct) and dst.start == 0


def _ranges(thread: Thread, inst: MachineInst) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the ranges of bytes that an instruction reads and writes, those of indirect operands at their place now."""
    reads, writes = list(inst.reads), list(inst.writes)
    if thread.frame.code is None:  # a walk without a run, which knows only that there is a register
        for operand, ranges in (*((source, reads) for source in inst.sources), (inst.dst, writes)):
            if _is_of_any_length(operand):
                ranges.append((operand.start, operand.start + _LEAST_BYTES))
        return reads, writes
    for operand in inst.sources:
        if isinstance(operand, Indirect):
            reads += _indirect_ranges(thread, inst, operand)
        elif _is_of_any_length(operand):
            reads.append((operand.start, operand.start + _told_bytes(thread, inst, _ADDRESS_LENGTH)))
    if isinstance(inst.dst, Indirect):
        writes += _indirect_ranges(thread, inst, inst.dst)
    elif _is_of_any_length(inst.dst):
        writes.append((inst.dst.start, inst.dst.start + _told_bytes(thread, inst, _RESULT_LENGTH)))
    return reads, writes


def _told_bytes(thread: Thread, inst: MachineInst, field: tuple[int, int]) -> int:
    """Return the bytes of registers that a descriptor in a register names in a field: its lowest bit, its mask."""
    descriptor, program = inst.sources[3], thread.frame.code
    if not isinstance(descriptor, Direct) or descriptor.start < 0:
        return 0
    return (thread.frame.word(descriptor.start) >> field[0] & field[1]) * program.layout.grf_bytes


def _indirect_ranges(thread: Thread, inst: MachineInst, operand: Indirect) -> list[tuple[int, int]]:
    from visa_lsp.eu.site import MachineProgram, MachineSite

    program = thread.frame.code
    assert isinstance(program, MachineProgram)
    with program.let_grow():
        site = MachineSite(program, inst, inst.index)
        places, enable = site.indirect(operand, inst.lanes), site.enable()
    # Addresses of lanes that are off are stale.
    starts = places(thread.frame)[lane_mask(enable(thread.frame), inst.lanes)]
    return [(int(start), int(start) + operand.type.size) for start in sorted(set(starts.tolist()))]
