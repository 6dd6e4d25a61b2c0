"""Runs launches as compiled code, with and without checkers, one group after another or in parallel."""

from __future__ import annotations

from collections import Counter
from functools import partial
from math import prod
from operator import add
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.sim.contents import Contents
from visa_lsp.sim.dispatch import RunResult
from visa_lsp.sim.jit.code_cache import Making, RunMode
from visa_lsp.sim.jit.machine import CompiledMachine
from visa_lsp.sim.jit.replay import Replay
from visa_lsp.sim.jit.whole import GroupQueue, GroupRunner, Suspicion
from visa_lsp.sim.machine import fault_key
from visa_lsp.sim.memory import Image

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.sim.dispatch import Dispatch
    from visa_lsp.sim.observers.hooks import Observer

MAX_RUNNERS: Final = 256
_POLL: Final = 0.05  # seconds between checks of the runners, when Ctrl+C takes effect


def runner_of(machine: CompiledMachine) -> GroupRunner | str:
    """Return the runner of whole groups of a machine's launch, compiled for its mode; else the reason why there is none."""
    dispatch, mode, buffers = machine.dispatch, machine.mode, machine.dispatch.buffers
    if dispatch.partial is not None:
        return "not all groups have the same number of work items"
    if mode.side_by_side and any(buffer.private for buffer in buffers):
        return "threads of different groups take turns in the same private memory"
    if mode.watched and any(buffer.whole is not buffer for buffer in buffers):
        return "buffers are parts of others"
    if mode.watched and any(buffer.undefined and isinstance(buffer, Image) for buffer in buffers):
        return "images hold nothing at first"
    # The proof comes first, because it takes a tenth of the time of writing the code.
    if mode.watched and machine.definedness_of(dispatch.kernel) is None:
        return "no proof that registers are written before they are read"
    if machine.compiled_functions is None:
        return "the kernel calls functions with different modes of floats"
    bodies = [compiled.body for compiled in machine.bodies.values()]
    if not all(body.never_leaves for body in bodies):
        return "the kernel leaves compiled code"
    if any(
        (mode.watched and not body.is_fully_compiled) or (mode.side_by_side and not body.is_alone) for body in bodies
    ):
        return "a message of the kernel has no compiled form"
    return GroupRunner(machine)


def run_unwatched(dispatch: Dispatch, making: Making) -> RunResult:
    """Run without checkers."""
    with making.stopwatch:
        machine = CompiledMachine(dispatch, making)

    def run_groups() -> None:
        with machine.compiling:
            runner = runner_of(machine)
        if isinstance(runner, str):
            machine.run_groups()
        else:
            runner.run(GroupQueue(prod(dispatch.groups)))

    return machine.run(run_groups)


def side_by_side(dispatch: Dispatch, making: Making) -> RunResult | str:
    """Run without checkers on several threads of the host, or return the reason why that is impossible."""
    with making.stopwatch:
        runner = runner_of(CompiledMachine(dispatch, making, RunMode(side_by_side=True)))
    return runner if isinstance(runner, str) else _run_side_by_side(dispatch, runner)


def _run_side_by_side(dispatch: Dispatch, main_runner: GroupRunner) -> RunResult:
    """Run all groups on several threads of the host; one of them has the runner ``main_runner``.

    Each thread has a machine with its own registers, shared memory and counts; the groups come from one queue, and memory
    and compiled code, which runs without Python's lock, are the same. Invariant: the memory after a kernel without races is
    that of a run on one machine; only the order of atomics of different groups may differ. Raises the exception of a failed
    runner.
    """
    from concurrent.futures import ThreadPoolExecutor, wait

    total, leader = prod(dispatch.groups), main_runner.machine
    count = min(dispatch.host_threads, total, MAX_RUNNERS)
    queue, runners = GroupQueue(total, runners=count), [main_runner]
    with leader.compiling:
        for _ in range(count - 1):
            machine = CompiledMachine(replace(dispatch, show_progress=None), leader.making, leader.mode)
            runners.append(GroupRunner(machine))
    leader.tell = lambda _groups, _steps: None
    with ThreadPoolExecutor(count) as pool:
        try:
            running = [pool.submit(runner.machine.run, partial(runner.run, queue)) for runner in runners]
            while wait(running, _POLL).not_done:
                if dispatch.show_progress is not None:
                    dispatch.show_progress(sum(runner.machine.result.groups for runner in runners), queue.steps)
        except BaseException:  # Ctrl-C: a group may never end
            queue.interrupted = True
            raise
        finally:
            queue.stop()
    return _sum([future.result() for future in running])


def _sum(results: Sequence[RunResult]) -> RunResult:
    """Return the merged result of all machines; each fault is reported once, in the order of the groups."""
    whole = RunResult(side_by_side=len(results))
    counts: Counter[str] = Counter()
    for result in results:
        counts.update(result.instructions)
        for name in ("threads", "groups", "steps", "barriers", "reads", "writes"):
            setattr(whole, name, getattr(whole, name) + getattr(result, name))
        whole.ended |= result.ended
        for body, executions in result.executions.items():
            total = whole.executions.get(body, (0,) * len(executions))
            whole.executions[body] = tuple(map(add, total, executions))
    whole.instructions = dict(counts)
    faults = sorted((fault for result in results for fault in result.faults), key=lambda fault: fault.group[::-1])
    whole.faults = tuple({fault_key(fault): fault for fault in reversed(faults)}.values())[::-1]
    whole.limits = tuple(dict.fromkeys(line for result in results for line in result.limits))
    return whole


def run_watched(
    dispatch: Dispatch, making: Making, observers: Sequence[Observer], budget: int, before: Contents | None
) -> RunResult | str:
    """Run a launch under observers as compiled code; groups that may have a finding run in the interpreter.

    ``budget`` limits the interpreter's steps for a group, ``before`` has the memory if that is known. Without a proof that the compiled groups have no finding, runs
    nothing and returns the reason. Raises Suspicion, with memory as before, if all groups must be interpreted.
    """
    with making.stopwatch:
        inlined = making.inline(dispatch)
        if inlined is not None:
            dispatch = replace(dispatch, kernel=inlined.kernel)
        machine = CompiledMachine(dispatch, making, RunMode(watched=True))
        machine.inlined = inlined
        runner = runner_of(machine)
    if isinstance(runner, str):
        return runner
    before = before or Contents(dispatch, runner.uses.changes)
    try:
        return runner.machine.run(Replay(runner, observers, before, budget).run)
    except Suspicion:
        before.restore()
        raise
