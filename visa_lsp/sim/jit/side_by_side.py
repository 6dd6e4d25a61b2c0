"""Groups of a launch side by side: a machine for each thread of the host, over the same memory and the same compiled code.

Registers, shared memory and counts are each machine's own; the groups come from one queue. Compiled code runs without Python's
lock. Invariant: what a kernel without races leaves in memory is what one machine leaves; the order in which groups come to their
atomics is not.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from operator import add
from threading import Thread
from typing import TYPE_CHECKING, Final

from visa_lsp.sim.dispatch import RunResult
from visa_lsp.sim.jit.machine import CompiledMachine
from visa_lsp.sim.jit.whole import GroupQueue, GroupRunner
from visa_lsp.sim.machine import fault_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.sim.dispatch import Dispatch

MOST_RUNNERS: Final = 256
_POLL: Final = 0.05  # seconds between looks at the runners: Ctrl+C is heard then


class _Runner:
    """One machine in a thread of the host."""

    def __init__(self, machine: CompiledMachine, queue: GroupQueue) -> None:
        self.machine, self.result = machine, RunResult()
        self.failure: BaseException | None = None
        runner = GroupRunner(machine)
        machine.make_whole = lambda: lambda _done: runner.run(queue)
        self.thread = Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            self.result = self.machine.run()
        except BaseException as error:  # noqa: BLE001 - it is raised where the run was asked for
            self.failure = error


def reason_against(dispatch: Dispatch, machine: CompiledMachine) -> str:
    """Why groups have to run one after another; empty where they can run side by side."""
    if dispatch.partial is not None:
        return "not all groups have the same number of work items"
    if any(buffer.private for buffer in dispatch.buffers):
        return "threads of different groups take turns in the same private memory"
    code = machine.code(dispatch.kernel)
    if not machine.fits(code):
        return "the kernel leaves compiled code"
    if not machine.compiled_anew(code).body.is_alone:
        return "a message of the kernel has no compiled form"
    return ""


def run_side_by_side(dispatch: Dispatch, first: CompiledMachine) -> RunResult:
    """Run all groups on several threads of the host. ``first`` is a machine for which nothing speaks against it.

    Raises what was raised where one of them has failed.
    """
    gx, gy, gz = dispatch.groups
    total = gx * gy * gz
    count = min(dispatch.host_threads, total, MOST_RUNNERS)
    queue = GroupQueue(total, runners=count)
    with first.compiling:
        runners = [_Runner(first, queue)]
        for _ in range(count - 1):
            machine = CompiledMachine(replace(dispatch, told=None), first.making, side_by_side=True, at_once=True)
            runners.append(_Runner(machine, queue))
    first.tell = lambda _groups, _steps: None
    try:
        for runner in runners:
            runner.thread.start()
        for runner in runners:
            while runner.thread.is_alive():
                runner.thread.join(_POLL)
                if dispatch.told is not None:
                    dispatch.told(sum(r.machine.result.groups for r in runners), queue.steps)
    finally:
        queue.stop()
        for runner in runners:
            if runner.thread.ident is not None:
                runner.thread.join()
    failed = next((runner.failure for runner in runners if runner.failure is not None), None)
    if failed is not None:
        raise failed
    return _sum([runner.result for runner in runners])


def _sum(results: Sequence[RunResult]) -> RunResult:
    """Return what all machines have done; faults in the order of their groups, each told once."""
    whole = RunResult(side_by_side=len(results))
    counts: Counter[str] = Counter()
    for one in results:
        counts.update(one.instructions)
        for name in ("threads", "groups", "steps", "barriers", "reads", "writes"):
            setattr(whole, name, getattr(whole, name) + getattr(one, name))
        whole.ended |= one.ended
        for body, some in one.executions.items():
            known = whole.executions.get(body, (0,) * len(some))
            whole.executions[body] = tuple(map(add, known, some))
    whole.instructions = dict(counts)
    faults = sorted((fault for one in results for fault in one.faults), key=lambda fault: fault.group[::-1])
    whole.faults = tuple({fault_key(fault): fault for fault in reversed(faults)}.values())[::-1]
    whole.limits = tuple(dict.fromkeys(line for one in results for line in one.limits))
    return whole
