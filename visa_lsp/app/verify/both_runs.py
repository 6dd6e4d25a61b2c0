"""Runs a text and its machine code on the same launches and compares every store and the memory after the run."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from msgspec import structs

from visa_lsp.app.errors import UserError
from visa_lsp.app.launch import runner
from visa_lsp.app.launch.init import launch_text
from visa_lsp.app.launch.program_info import kernel_info
from visa_lsp.app.verify.verify_report import Answer, FirstDifference, HazardReport, KernelVerdict
from visa_lsp.eu.machine_run import MachineOfCode, unmodelled_in
from visa_lsp.eu.store_log import SHARED_BASE, StoreDifference, StoreLog, StoreSide, find_difference, find_load
from visa_lsp.eu.text_machine import UNDEFINED, Contents, TextMachine
from visa_lsp.eu.thread_start import thread_starts
from visa_lsp.program.model import RawOperand
from visa_lsp.sim.faults import Fault, FaultKind
from visa_lsp.sim.launch.config import LaunchError
from visa_lsp.sim.launch.prepare import with_budget
from visa_lsp.sim.values import DTYPE
from visa_lsp.text import lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from visa_lsp.app.launch.ready_run import ReadyRun
    from visa_lsp.app.launch.unit import OpenedLaunch
    from visa_lsp.eu.machine_run import ThreadStart, Watcher
    from visa_lsp.eu.model import MachineCode
    from visa_lsp.sim.dispatch import Dispatch, RunResult
    from visa_lsp.sim.launch.config import Triple
    from visa_lsp.sim.memory import Buffer
    from visa_lsp.sim.observers.hooks import Observer

TEXT_STEPS: Final = 300_000  # less than half a minute
MACHINE_STEPS: Final = (20, 20_000)  # machine instructions for one of the text, and those for every run


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one launch: threads, the first difference, what is not modelled, and the executed machine instructions.

    ``is_endless``: the text has used up its budget of instructions. ``is_stuck``: on both sides threads wait at a barrier that cannot complete.
    """

    threads: int
    first: FirstDifference | None = None
    unmodelled: tuple[tuple[str, int], ...] = ()
    is_endless: bool = False
    steps: int = 0
    is_stuck: bool = False


@dataclass(frozen=True, eq=False)
class TextRun:
    """A run of a text on one launch, for comparisons with machine code. ``has_one_nan``: operations return one and the same NaN."""

    opened: OpenedLaunch
    ready: ReadyRun
    log: StoreLog
    result: RunResult
    has_one_nan: bool = False

    @property
    def is_endless(self) -> bool:
        """True if the text has used up its budget of instructions."""
        return any(fault.kind is FaultKind.BUDGET for fault in self.result.faults)

    @cached_property
    def with_undefined(self) -> Sequence[TextRun]:
        """The runs that store something else, because variables that nothing has written begin with other values than zero."""
        runs = [self._again(undefined=contents, has_one_nan=self.has_one_nan) for contents in UNDEFINED]
        return [run for run in runs if self._has_other_stores(run)]

    @cached_property
    def with_one_nan(self) -> TextRun | None:
        """The run in which operations return one and the same NaN; None if the text then stores the same values."""
        again = self._again(undefined=None, has_one_nan=True)
        return again if self._has_other_stores(again) else None

    def _again(self, *, undefined: Contents | None, has_one_nan: bool) -> TextRun:
        ready = self.opened.ready()
        log = _log_of(ready)
        machine = TextMachine(_dispatch_of(ready, TEXT_STEPS), [log])
        machine.undefined, machine.has_one_nan = undefined, has_one_nan
        return TextRun(self.opened, ready, log, machine.run(), has_one_nan)

    def _has_other_stores(self, other: TextRun) -> bool:
        buffers = zip(self.ready.prepared.dispatch.buffers, other.ready.prepared.dispatch.buffers, strict=False)
        differ = any(not a.private and (a.data != b.data).any() for a, b in buffers)
        return differ or find_difference(self.log, other.log) is not None


def run_text(opened: OpenedLaunch, steps: int = TEXT_STEPS, checkers: Sequence[Observer] = ()) -> TextRun:
    """Run a text on one launch, up to a number of instructions. Raises UserError if the launch cannot be prepared."""
    with _problems_of(opened):
        ready = opened.ready()
    log = _log_of(ready)
    return TextRun(opened, ready, log, TextMachine(_dispatch_of(ready, steps), [log, *checkers]).run())


def compare_with(
    text_run: TextRun,
    code: MachineCode,
    text: str,
    watchers: Sequence[Watcher] = (),
    steps: tuple[int, int] = MACHINE_STEPS,
) -> Outcome:
    """Run machine code on the launch of a text's run, and compare; ``steps`` limit it, as ``MACHINE_STEPS``."""
    unmodelled = _unmodelled_in_text(text_run.result)
    if unmodelled:
        return Outcome(text_run.result.threads, None, unmodelled, text_run.is_endless)
    outcome = _compared(text_run, code, text, watchers, steps)
    if outcome.first is not None and text_run.with_undefined:
        outcome = _compared(text_run, code, text, watchers, steps, has_undefined=False)
    if outcome.first is not None and text_run.with_one_nan is not None:
        has_undefined = not text_run.with_undefined
        outcome = _compared(text_run.with_one_nan, code, text, watchers, steps, has_undefined=has_undefined)
    return outcome


def _compared(
    text_run: TextRun,
    code: MachineCode,
    text: str,
    watchers: Sequence[Watcher],
    steps: tuple[int, int],
    *,
    has_undefined: bool = True,
) -> Outcome:
    opened, threads = text_run.opened, text_run.result.threads
    with _problems_of(opened):
        right = opened.ready()
        starts = _starts_of(opened, right, code)
    log = _log_of(right)
    dispatch = _dispatch_of(right, text_run.result.steps * steps[0] + steps[1])
    machine = MachineOfCode(
        dispatch, code, starts, [log], watchers, has_undefined=has_undefined, has_one_nan=text_run.has_one_nan
    )
    done = machine.run()
    fault = next((fault for fault in done.faults if not fault.is_note), None)
    if fault is not None and fault.kind is FaultKind.UNMODELLED:
        return Outcome(threads, None, ((fault.message, 1),))
    stuck = _stuck_fault(text_run.result)
    if stuck is not None and _stuck_fault(done) is not None:
        fault = None
    undefined = () if has_undefined else text_run.with_undefined
    difference = _first_difference(text_run.ready, right, [text_run.log, log], code, text, undefined)
    if stuck is not None and fault is None and _stuck_fault(done) is None and difference is None:
        difference = _difference_by_fault(replace(stuck, instruction=-1), code, "the text")
    if fault is not None:
        if difference is None:
            difference = _difference_by_fault(fault, code)
        elif difference.gen_value is None:
            difference = replace(difference, gen=f"{difference.gen} ({fault.message})".strip())
    shown = launch_text(opened.proposed.proposal) if opened.proposed is not None else ""
    if difference is not None:
        difference = replace(difference, launch=shown)
    return Outcome(threads, difference, steps=done.steps, is_stuck=stuck is not None)


def _dispatch_of(run: ReadyRun, steps: int) -> Dispatch:
    """Return the dispatch of a run that ends at its first fault or after a number of instructions."""
    return structs.replace(with_budget(run.prepared, steps), first_fault=True)


def _stuck_fault(result: RunResult) -> Fault | None:
    """Return the fault of a barrier that cannot complete."""
    return next((fault for fault in result.faults if fault.kind is FaultKind.BARRIER), None)


def _log_of(run: ReadyRun) -> StoreLog:
    return StoreLog([b for b in run.prepared.dispatch.buffers if b.private])


def run_code_alone(opened: OpenedLaunch, code: MachineCode, watchers: Sequence[Watcher]) -> Outcome:
    """Run only the machine code on one launch, for observers of its instructions."""
    with _problems_of(opened):
        right = opened.ready()
        starts = _starts_of(opened, right, code)
    done = MachineOfCode(_dispatch_of(right, TEXT_STEPS), code, starts, (), watchers).run()
    fault = next((fault for fault in done.faults if fault.kind is FaultKind.UNMODELLED), None)
    return Outcome(done.threads, None, ((fault.message, 1),) if fault is not None else ())


@contextmanager
def _problems_of(opened: OpenedLaunch) -> Iterator[None]:
    """Raise UserError where a launch cannot be prepared."""
    try:
        with opened.errors_named():
            yield
    except (LaunchError, runner.TextProblems) as error:
        raise UserError(f"{opened.options.path}: {str(error).splitlines()[0]}") from None


def _starts_of(opened: OpenedLaunch, run: ReadyRun, code: MachineCode) -> Callable[[Triple, int], ThreadStart]:
    """Return the first registers of threads of the machine code; adds the memory of payloads to that of the run."""
    info, _ = kernel_info(run.prepared.dispatch.kernel, opened.launch, opened.options, [])
    return thread_starts(run.prepared, info, run.platform, has_inline_data=code.has_inline_data)


def _unmodelled_in_text(result: RunResult) -> tuple[tuple[str, int], ...]:
    counts = {f"{sent.mnemonic} of the text: {sent.reason}": sent.count for sent in result.sent}
    for fault in result.faults:
        if not fault.is_note and fault.kind is not FaultKind.BARRIER:
            counts[f"the text: {fault.message}"] = 1
    return tuple(counts.items())


def _first_difference(
    left: ReadyRun,
    right: ReadyRun,
    logs: Sequence[StoreLog],
    code: MachineCode,
    text: str,
    undefined: Sequence[TextRun],
) -> FirstDifference | None:
    """Return the first difference of bytes that the text stores in the runs with ``undefined`` values too."""
    undefined_logs = [run.log for run in undefined]
    difference = None if any(log.is_full for log in logs) else find_difference(logs[0], logs[1], undefined_logs)
    if difference is not None:
        return _describe(left, difference, code, text)
    others = {b.address: b for b in right.prepared.dispatch.buffers if not b.private and b.address}
    for number, buffer in enumerate(left.prepared.dispatch.buffers):
        other = others.get(buffer.address)
        if buffer.private or other is None or buffer.size != other.size:
            continue
        differs = buffer.data != other.data
        for run in undefined:
            differs &= buffer.data == run.ready.prepared.dispatch.buffers[number].data
        places = np.flatnonzero(differs)
        if places.size:
            return _describe_memory(left, logs, buffer, other, int(places[0]), code, text)
    load = None if any(log.is_full for log in logs) else find_load(*logs)
    if load is None:
        return None
    surplus = _describe(left, load, code, text)
    return replace(surplus, place=f"a load of {surplus.place}, which the text does not load")


def _describe(left: ReadyRun, difference: StoreDifference, code: MachineCode, text: str) -> FirstDifference:
    side = difference.text or difference.code
    assert side is not None
    dtype = _dtype_of(left, difference.text, difference.byte, len(side.value) if side.value else 4)
    return FirstDifference(
        _line(left, difference.text), _text_at(left, difference.text, text), _gen(code, difference.code), _number(difference.text, dtype),
        _number(difference.code, dtype), side.lane, difference.thread, difference.group, _place(left, side.address, side.value),
    )  # fmt: skip


def _describe_memory(
    left: ReadyRun, logs: Sequence[StoreLog], buffer: Buffer, other: Buffer, offset: int, code: MachineCode, text: str
) -> FirstDifference:
    """Return the difference of memory after the runs, with the last messages that changed the byte."""
    address = buffer.address + offset
    last = [log.last_at(address) for log in logs]
    sides = [entry[1] if entry is not None else None for entry in last]
    dtype = _dtype_of(left, sides[0], address, 4)
    element_offset = offset - offset % dtype.itemsize
    values = [b.data[element_offset : element_offset + dtype.itemsize].view(dtype)[0] for b in (buffer, other)]
    key = next((key for key, _ in filter(None, last)), ((0, 0, 0), 0))
    lane = next((side.lane for side in sides if side is not None), None)
    return FirstDifference(
        _line(left, sides[0]), _text_at(left, sides[0], text), _gen(code, sides[1]), _plain(values[0]), _plain(values[1]),
        lane, key[1], key[0], _place(left, buffer.address + element_offset, bytes(dtype.itemsize)),
    )  # fmt: skip


def _difference_by_fault(fault: Fault, code: MachineCode, side: str = "machine code") -> FirstDifference:
    gen = code.instructions[fault.instruction].text if 0 <= fault.instruction < len(code.instructions) else ""
    line = code.instructions[fault.instruction].line if gen else -1
    return FirstDifference(
        line,
        "",
        gen or fault.message,
        None,
        None,
        fault.lane,
        fault.thread,
        fault.group,
        f"{side}: {fault.message}",
    )


def _line(left: ReadyRun, side: StoreSide | None) -> int:
    instructions = left.prepared.dispatch.kernel.instructions
    return instructions[side.instruction].line if side is not None and side.instruction < len(instructions) else -1


def _text_at(left: ReadyRun, side: StoreSide | None, text: str) -> str:
    line, lines = _line(left, side), lines_of(text)
    return lines[line].split("///")[0].rstrip() if 0 <= line < len(lines) else ""


def _gen(code: MachineCode, side: StoreSide | None) -> str:
    return code.instructions[side.instruction].text if side is not None else ""


def _dtype_of(left: ReadyRun, side: StoreSide | None, address: int, size: int) -> np.dtype[Any]:
    """Return the type of the data that an instruction of the text stores, if it has ``size`` bytes, else that of the buffer."""
    kernel = left.prepared.dispatch.kernel
    if side is not None and side.instruction < len(kernel.instructions):
        values = kernel.instructions[side.instruction].values
        data = [value for value in values if isinstance(value, RawOperand) and value.var]
        type_ = kernel.variable_type(data[-1].var) if data else None
        if type_ in DTYPE and type_.size == size:
            return np.dtype(DTYPE[type_])
    return _dtype_at(left, address, size)


def _dtype_at(left: ReadyRun, address: int, size: int) -> np.dtype[Any]:
    """Return the type of the elements of the buffer at an address, if it has ``size`` bytes, else an unsigned integer."""
    for key, buffer in left.prepared.buffers.items():
        if buffer.address <= address < buffer.address + buffer.size:
            dtype = left.prepared.arrays[key].dtype
            if dtype.kind in "iuf" and dtype.itemsize <= size:
                return dtype
    return np.dtype(f"<u{size if size in (1, 2, 4, 8) else 1}")


def _number(side: StoreSide | None, dtype: np.dtype[Any]) -> Any:
    if side is None or side.value is None:
        return None
    if len(side.value) % dtype.itemsize:
        return "0x" + side.value[::-1].hex()
    return _plain(np.frombuffer(side.value, dtype)[0])


def _plain(value: Any) -> Any:
    """Return a number for JSON; NaN with its bits as a word."""
    if isinstance(value, np.floating) and not np.isfinite(value):
        bits = int.from_bytes(value.tobytes(), "little")
        return f"{value} (0x{bits:0{2 * value.itemsize}x})"
    return value.item()


def _place(left: ReadyRun, address: int, value: bytes | None) -> str:
    size = len(value) if value else 4
    if address >= SHARED_BASE:
        return f"bytes {address - SHARED_BASE}-{address - SHARED_BASE + size - 1} of shared local memory"
    buffer, offset = left.prepared.dispatch.memory.locate(address)
    return buffer.span_text(offset, size) if buffer is not None else f"address {address:#x}"


def verdict_of(
    path: str, kernel: str, platform: str, outcomes: Sequence[Outcome], hazards: Sequence[HazardReport],
    code: MachineCode, unneeded: Sequence[HazardReport] | None, *, hazards_only: bool = False,
) -> KernelVerdict:  # fmt: skip
    """Return the answer about a kernel from the outcomes of its launches."""
    difference = next((outcome.first for outcome in outcomes if outcome.first is not None), None)
    unmodelled: dict[str, int] = {}
    for outcome in outcomes:
        for what, count in outcome.unmodelled:
            unmodelled[what] = unmodelled.get(what, 0) + count
    if unmodelled:
        unmodelled |= unmodelled_in(code)
    answer = Answer.EQUAL
    if difference is not None:
        answer = Answer.DIFFERENT
    elif hazards:
        answer = Answer.HAZARD
    elif unmodelled:
        answer = Answer.UNMODELLED
    return KernelVerdict(
        path, kernel, platform, answer, len(outcomes), sum(outcome.threads for outcome in outcomes), difference, tuple(hazards),
        tuple(unmodelled.items()), None if unneeded is None else tuple(unneeded), hazards_only, sum(outcome.is_stuck for outcome in outcomes),
    )  # fmt: skip
