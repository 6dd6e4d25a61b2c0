"""Runs groups of a launch in parallel: a machine for each thread of the host, with the same memory and the same compiled code.

Each machine has its own registers, shared memory and counts; the groups come from one queue. Compiled code runs without
Python's lock. Invariant: the memory after a kernel without races is that of a run on one machine; only the order of
atomics of different groups may differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from operator import add
from typing import Final

from visa_lsp.sim.dispatch import Dispatch, RunResult
from visa_lsp.sim.jit.machine import CompiledMachine
from visa_lsp.sim.jit.whole import GroupQueue, GroupRunner, end_soon
from visa_lsp.sim.machine import fault_key

MAX_RUNNERS: Final = 256
_POLL: Final = 0.05  # seconds between checks of the runners, when Ctrl+C takes effect


def run_side_by_side(dispatch: Dispatch, main_runner: GroupRunner) -> RunResult:
    """Run all groups on several threads of the host; one of them has the runner ``main_runner``.

    Raises the exception of a failed runner.
    """
    from concurrent.futures import ThreadPoolExecutor, wait

    total, leader = prod(dispatch.groups), main_runner.machine
    count = min(dispatch.host_threads, total, MAX_RUNNERS)
    queue, runners = GroupQueue(total, runners=count), [main_runner]
    with leader.compiling:
        for _ in range(count - 1):
            machine = CompiledMachine(replace(dispatch, show_progress=None), leader.making, leader.mode, at_once=True)
            runners.append(GroupRunner(machine))
    leader.tell = lambda _groups, _steps: None
    for runner in runners:
        runner.machine.make_whole = lambda runner=runner: lambda _done: runner.run(queue)
    with ThreadPoolExecutor(count) as pool:
        try:
            running = [pool.submit(runner.machine.run) for runner in runners]
            while wait(running, _POLL).not_done:
                if dispatch.show_progress is not None:
                    dispatch.show_progress(sum(runner.machine.result.groups for runner in runners), queue.steps)
        except BaseException:  # Ctrl-C: a group may never end
            for runner in runners:
                end_soon(runner.machine.launch)
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
