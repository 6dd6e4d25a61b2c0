"""Runs pseudo-code on the simulator's memory and groups, to prove that it equals the program.

Values, places, masks and control flow are those of the statements; an instruction that became an assignment, a
condition or a loop is not read again. The words of the instruction table, conversions and messages have the same bodies
as in a run (``sim.lanes``, ``sim.effects``).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from visa_lsp.app.read.model import (
    Both,
    BranchTest,
    Break,
    Calc,
    Choose,
    Compare,
    Continue,
    Goto,
    If,
    Invoke,
    JumpLabel,
    Lanes,
    NamedCall,
    Reading,
    Repeat,
    Return,
    Routine,
    Set,
    Statement,
    Transfer,
)
from visa_lsp.isa import lsc_codes as codes
from visa_lsp.isa.lane import S0
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.program.message import FLAT, MemoryKind, MessageMemory
from visa_lsp.program.model import (
    Combine,
    Immediate,
    Inst,
    Kernel,
    Predicate,
    PredicateOperand,
    RawOperand,
    Value,
)
from visa_lsp.sim import messages
from visa_lsp.sim.effects.control_flow import resume
from visa_lsp.sim.effects.moves import chosen, same_bits, store_relation
from visa_lsp.sim.faults import FaultKind, KernelFault
from visa_lsp.sim.interp import END, SWITCH, WAIT, Code, Thread
from visa_lsp.sim.lanes import lane_plan, predicate_logic
from visa_lsp.sim.machine import Machine
from visa_lsp.sim.operands import Enable, Fetch, Op, Site, predicate_bits
from visa_lsp.sim.values import DTYPE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from visa_lsp.isa.types import DataType, ExecControl
    from visa_lsp.sim.dispatch import Dispatch, RunResult
    from visa_lsp.sim.group import ThreadGroup, Wait
    from visa_lsp.sim.observers.hooks import Observer
    from visa_lsp.sim.registers import Frame

    Array = np.ndarray[Any, np.dtype[Any]]


def evaluate(
    dispatch: Dispatch, reading_of: Callable[[Kernel], Reading], observers: Sequence[Observer] = ()
) -> RunResult:
    """Run a launch with the pseudo-code of its kernel and functions."""
    return ReadingMachine(dispatch, reading_of, observers).run()


class ReadingMachine(Machine):
    """A machine whose threads execute pseudo-code."""

    def __init__(
        self, dispatch: Dispatch, reading_of: Callable[[Kernel], Reading], observers: Sequence[Observer] = ()
    ) -> None:
        super().__init__(dispatch, observers)
        self._reading_of = reading_of
        self._readings: dict[int, Reading] = {}
        self._ops: dict[tuple[int, int], Any] = {}

    def thread(self, group: ThreadGroup, number: int, frame: Frame) -> Thread:
        """Return a thread that executes the pseudo-code of its frame's body."""
        return _Follower(self, group, number, frame)

    def get_reading(self, kernel: Kernel) -> Reading:
        """Return the pseudo-code of a body; created once."""
        found = self._readings.get(id(kernel))
        if found is None:
            found = self._readings[id(kernel)] = self._reading_of(kernel)
        return found

    def get_compiled(self, code: Code, key: object, make: Callable[[], Any]) -> Any:
        """Return the compiled form of a statement or condition; created once per body."""
        at = (id(code), id(key))
        found = self._ops.get(at)
        if found is None:
            with code.let_grow():
                found = self._ops[at] = make()
        return found


class _Into(Struct, frozen=True):
    """The target of an inner expression: the type that its value is converted to."""

    type: DataType
    modifier: OperandModifier


class _Fields(Struct, frozen=True):
    """The fields of a statement, in place of those of an instruction."""

    guard: Predicate | None

    def get(self, name: str, default: Value = None) -> Value:
        return self.guard if name == "pred" else default


class _Expressions(Site):
    """A site whose operands may be expressions."""

    def __init__(self, code: Code, control: ExecControl, guard: Predicate | None, place: int) -> None:
        self.code, self.pc, self.control = code, place, control
        self.inst = _Fields(guard)  # type: ignore[assignment]
        self.lanes = control.exec_size
        self.full = (1 << self.lanes) - 1
        self.grf = code.layout.grf_bytes

    def fault(self, message: str) -> KernelFault:
        return KernelFault(FaultKind.OPERAND, message)

    def _touch(self, *_: Any, **__: Any) -> None:
        """Keep nothing, because there are no observers."""

    def _field(self, _: Any) -> str:
        return ""

    def operand_type(self, operand: Any) -> DataType:
        return operand.type if isinstance(operand, Calc | Choose | Lanes | _Into) else super().operand_type(operand)

    def read(self, operand: Any, lanes: int | None = None, dtype: np.dtype[Any] | None = None) -> Fetch:
        if isinstance(operand, Lanes):
            return self._lanes(operand, self.lanes if lanes is None else lanes, dtype or DTYPE[operand.type])
        if not isinstance(operand, Calc | Choose):
            return super().read(operand, lanes, dtype)
        inner, kind = self.value(operand), DTYPE[operand.type]

        def fetch(f: Frame) -> Array:
            found = inner(f).astype(kind)
            return found if dtype is None else found.view(dtype)

        return fetch

    def _lanes(self, operand: Lanes, lanes: int, kind: np.dtype[Any]) -> Fetch:
        view = self.raw_view(operand.operand, kind.str, 1, lanes, lanes * kind.itemsize)
        zeros = np.zeros(lanes, kind)
        return (lambda _f: zeros) if view is None else lambda f: f.views[view][0]

    def _writes(self, operand: RawOperand) -> bool:
        """Keep nothing, because there are no observers."""
        del operand
        return False

    def value(self, operand: Calc | Choose) -> Fetch:
        """Return the lanes of an expression, converted to its type; bits above the type are undefined."""
        into: Any = _Into(operand.type, OperandModifier.SAT if operand.saturate else OperandModifier.NONE)
        if isinstance(operand, Choose):
            return chosen(self, operand.condition, operand.yes, operand.no, into)  # type: ignore[arg-type]
        args: list[Any] = list(operand.args)
        if operand.meaning == S0 and same_bits(self, into, args):
            return self.read(args[0])
        fetches, compute, convert = lane_plan(self, operand.meaning, args, into)
        return lambda f: convert(f, compute(f, [fetch(f) for fetch in fetches]))


def _assignment(code: Code, statement: Set) -> Op:
    site = _Expressions(code, statement.control, statement.guard, statement.places[0])
    target, value = statement.target, statement.value
    if isinstance(value, Compare):
        return store_relation(site, value.relation, value.left, value.right, target)  # type: ignore[arg-type]
    assert isinstance(value, Calc | Choose)
    if isinstance(target, PredicateOperand):
        assert isinstance(value, Calc)
        return predicate_logic(site, value.meaning, target, list(value.args))
    enable, store, lanes = site.enable(), site.write(target), site.value(value)

    def op(f: Frame) -> None:
        mask = enable(f)
        if mask:
            store(f, mask, lanes(f))

    return op


def _atomic(
    site: _Expressions, statement: Transfer, open_: Any, address: Fetch, offset: Any, enable: Any, data: Any
) -> Op:
    size, lanes = statement.size, site.lanes
    update = (messages.integer_updates(size) | messages.float_updates(size))[statement.update]
    kind = np.dtype(f"<u{statement.cell}")
    fetches = [site.read(source, dtype=kind) for source in statement.sources]
    zeros = np.zeros(lanes, np.uint64)

    def op(f: Frame) -> None:
        mask = enable(f)
        if not mask:
            return
        found, active = open_(f), messages.lanes_of(mask, lanes)
        at = np.broadcast_to(address(f), (lanes,)).astype(np.int64) * statement.scale + offset(f)
        at = messages.places(f, found[0], (at & 0xFFFFFFFF if statement.wraps else at)[active])
        a, b = [*(np.broadcast_to(fetch(f), (lanes,)) for fetch in fetches), zeros, zeros][:2]
        old = messages.atomic(f, found, at, size, active, update, a[active], b[active])
        if data is not None:
            cells = f.views[data][0].view(kind)
            cells[active] = old

    return op


def _access(code: Code, statement: Transfer) -> Op:
    site = _Expressions(code, statement.control, statement.guard, statement.places[0])
    memory, single, size, cell = statement.memory, statement.single, statement.size, statement.cell
    operand, model = memory.operand, codes.ADDRTYPE_TEXT.get(memory.model, "")
    if memory.shared:
        place = MessageMemory(MemoryKind.SHARED)
    elif memory.variable >= 0:
        place = MessageMemory(MemoryKind.VARIABLE, memory.variable)
    elif memory.model in (codes.ADDRTYPE_FLAT, codes.ADDRTYPE_ARG):
        place = FLAT
    elif isinstance(operand, Immediate) and memory.model == codes.ADDRTYPE_BTI:
        place = MessageMemory(MemoryKind.BINDING, operand.bits & 0xFFFFFFFF)
    else:
        place = MessageMemory(MemoryKind.STATE, operand=operand, model=model)
    open_ = messages.open_memory(site, place)
    lanes, count = site.lanes, len(statement.elements)
    row = max(site.grf, -(-lanes * cell // site.grf) * site.grf)
    if single:
        data = site.raw_view(statement.data, "u1", 1, count * cell, count * cell)
    else:
        data = site.raw_view(statement.data, "u1", count, lanes * cell, row if count > 1 else lanes * cell)
    address, offset, enable = (
        site.read(statement.address, 1 if single else lanes),
        site.scalar_of(statement.offset),
        site.enable(),
    )
    source = site.read(statement.value) if statement.value is not None else None
    if statement.update:
        return _atomic(site, statement, open_, address, offset, enable, data)
    low = size if statement.high else 0
    alignment = min(4, size) if count > 1 or single else 1

    def op(f: Frame) -> None:
        mask = enable(f)
        if not mask or (data is None and not statement.write):
            return
        found = open_(f)
        at = np.broadcast_to(address(f), (1 if single else lanes,)).astype(np.int64) * statement.scale + offset(f)
        at = messages.places(f, found[0], at & 0xFFFFFFFF if statement.wraps else at)
        if single:
            each = np.arange(count)
            cells = np.zeros((count, cell), np.uint8) if data is None else f.views[data][0].reshape(count, cell)
            if mask & 1:
                move(f, cells, found, at[0] + each * size, each)
            return
        active = messages.lanes_of(mask, lanes)
        if source is not None:
            given = np.ascontiguousarray(np.broadcast_to(source(f), (lanes,))).view(np.uint8).reshape(lanes, size)
            messages.store(f, found, at[active], given[active], active, alignment)
            return
        for k, element in enumerate(statement.elements):
            cells = np.zeros((lanes, cell), np.uint8) if data is None else f.views[data][k].reshape(lanes, cell)
            move(f, cells, found, at[active] + element * size, active)

    def move(f: Frame, cells: Array, found: Any, at: Array, active: Array) -> None:
        if statement.write:
            messages.store(f, found, at, np.ascontiguousarray(cells[active, low : low + size]), active, alignment)
            return
        got = messages.load(f, found, at, size, active, alignment)
        cells[active] = 0
        cells[active, low : low + size] = got

    return op


def _compile_test(code: Code, condition: BranchTest, place: int) -> Enable:
    """Return the active lanes for which a condition holds."""
    control, pred = condition.control, condition.predicate
    at, full = control.mask_offset, (1 << control.exec_size) - 1
    taken: Enable
    if condition.index is not None:
        number = _Expressions(code, control, None, place).read(condition.index, 1)
        taken = lambda f: f.emask if int(number(f)[0]) == condition.case else 0  # noqa: E731
    elif condition.whole or control.exec_size == 1:
        one = full if condition.whole and pred is not None and pred.combine is not Combine.NONE else 1
        bit = predicate_bits(pred, at, one) if pred is not None else lambda _f: 1
        taken = lambda f: f.emask if bit(f) else 0  # noqa: E731
    else:
        lanes = predicate_bits(pred, at, full) if pred is not None else lambda _f: full
        taken = lambda f: f.emask & lanes(f) << at  # noqa: E731
    return (lambda f: f.emask & ~taken(f)) if condition.negated else taken


class _ThreadEnded(Exception):  # noqa: N818 - a message has ended the thread
    """The thread is done."""


class _Follower(Thread):
    """A thread that executes statements: a list starts with the lanes of the frame and leaves those that reach its end."""

    machine: ReadingMachine

    def __init__(self, machine: ReadingMachine, group: ThreadGroup, number: int, frame: Frame) -> None:
        super().__init__(machine, group, number, frame)
        self._parked: dict[int, int] = {}  # label -> lanes waiting there
        self._left: list[list[int]] = []  # for each open loop, the lanes that left it, and the lanes of its next round
        self._steps = 0
        self._quantum = 0

    def run(self, quantum: int) -> Iterator[Wait | None]:
        self._quantum = quantum
        kernel = self.frame.code.kernel
        try:
            yield from self._routine(self.machine.get_reading(kernel).routines[0])
        except _ThreadEnded:
            return
        self.machine.spend(self._steps)

    def _routine(self, routine: Routine) -> Iterator[Wait | None]:
        """Run a routine to its end, in the active lanes."""
        parked, self._parked = self._parked, {}
        left, self._left = self._left, []
        yield from self._list(routine.body)
        self._parked, self._left = parked, left
        self.frame.emask = 0

    def _list(self, code: tuple[Statement, ...]) -> Iterator[Wait | None]:
        """Execute a list; in one with labels, always continue at the lowest place with lanes."""
        labels = {s.label: at for at, s in enumerate(code) if isinstance(s, JumpLabel)}
        f = self.frame
        if not labels:
            for statement in code:
                if not f.emask:
                    return
                yield from self._one(statement)
            return
        waiting = {0: f.emask}
        while True:
            for label, at in labels.items():
                if label in self._parked:
                    waiting[at] = waiting.get(at, 0) | self._parked.pop(label)
            at = min((place for place, lanes in waiting.items() if lanes), default=len(code))
            f.emask = waiting.pop(at, 0)
            if at == len(code):
                return
            yield from self._one(code[at])
            waiting[at + 1] = waiting.get(at + 1, 0) | f.emask
            if self._steps >= self._quantum:
                yield from self._pause()

    def _pause(self) -> Iterator[None]:
        self.machine.spend(self._steps)
        self._steps = 0
        yield None

    def _one(self, statement: Statement) -> Iterator[Wait | None]:
        f = self.frame
        self._steps += 1
        match statement:
            case Set():
                f.pc = statement.places[0]
                self._op(statement, lambda: _assignment(f.code, statement))(f)
            case Transfer(image=Inst() as inst):
                # The registers of its operands hold their values, because sources are not folded.
                for part in (*statement.states, inst):
                    f.pc = statement.places[0]
                    self._op(part, lambda part=part: f.code.op_for(part, statement.places[0]))(f)
            case Transfer():
                f.pc = statement.places[0]
                self._op(statement, lambda: _access(f.code, statement))(f)
            case Both():
                for part in statement.parts:
                    yield from self._one(part)
            case NamedCall(inst, places):
                f.pc = places[0]
                signal = self._op(statement, lambda: f.code.op_for(inst, places[0]))(f)
                if signal == WAIT:
                    f.pc += 1
                    yield self.pending
                elif signal == SWITCH:
                    yield from self._function()
                elif signal == END:
                    raise _ThreadEnded
            case If():
                lanes = f.emask
                taken = self._lanes(statement.condition, statement.places)
                f.emask, rest = taken, 0
                yield from self._list(statement.then)
                rest, f.emask = f.emask, lanes & ~taken
                yield from self._list(statement.otherwise)
                f.emask |= rest
            case Repeat():
                yield from self._loop(statement)
            case Break():
                self._left[-1][0] |= f.emask
                f.emask = 0
            case Continue():
                self._left[-1][1] |= f.emask
                f.emask = 0
            case Goto():
                self._parked[statement.label] = self._parked.get(statement.label, 0) | f.emask
                f.emask = 0
            case Return():
                f.call_mask &= ~f.emask
                f.emask = 0
            case Invoke():
                yield from self._subroutine(statement)

    def _op(self, statement: object, make: Callable[[], Op]) -> Op:
        op: Op = self.machine.get_compiled(self.frame.code, statement, make)
        return op

    def _lanes(self, condition: BranchTest, places: tuple[int, ...]) -> int:
        f = self.frame
        taken: Enable = self.machine.get_compiled(
            f.code, condition, lambda: _compile_test(f.code, condition, places[0])
        )
        if not condition.tests:
            return taken(f)
        # A predicate that the pseudo-code omits keeps its value.
        kept = list(f.preds)
        for test in condition.tests:
            for one in test.parts if isinstance(test, Both) else (test,):
                assert isinstance(one, Set)
                self._op(one, partial(_assignment, f.code, one))(f)
        lanes = taken(f)
        f.preds[:] = kept
        return lanes

    def _loop(self, loop: Repeat) -> Iterator[Wait | None]:
        f = self.frame
        left = [0, 0]
        self._left.append(left)
        while f.emask:
            self._steps += 1
            if self._steps >= self._quantum:
                yield from self._pause()
            if loop.first is not None:
                stay = self._lanes(loop.first, loop.first_places)
                left[0] |= f.emask & ~stay
                f.emask = stay
                if not stay:
                    break
            yield from self._list(loop.body)
            f.emask |= left[1]
            left[1] = 0
            if loop.last is not None:
                stay = self._lanes(loop.last, loop.last_places)
                left[0] |= f.emask & ~stay
                f.emask = stay
        self._left.pop()
        f.emask = left[0]

    def _subroutine(self, call: Invoke) -> Iterator[Wait | None]:
        f = self.frame
        lanes = self._lanes(call.condition, call.places)
        if not lanes:
            return
        kept = f.emask, f.call_mask
        f.emask = f.call_mask = lanes
        routine = next(r for r in self.machine.get_reading(f.code.kernel).routines if r.entry == call.routine)
        yield from self._routine(routine)
        f.emask, f.call_mask = kept

    def _function(self) -> Iterator[Wait | None]:
        """Run the called function in its frame, and return to the caller."""
        f = self.frame
        yield from self._routine(self.machine.get_reading(f.code.kernel).routines[0])
        resume(f)
