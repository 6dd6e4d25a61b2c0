"""Splits work for a crew into tasks, distributes them, and returns the results in order.

Only a few tasks run at a time, so that their size can follow the times of earlier ones, and new workers get a share.
Knows functions and their arguments, not kernels. Invariant: every item has one outcome as long as a worker is left.
"""

from __future__ import annotations

import pickle
import time
import uuid
from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from visa_lsp.cluster.child import PROTOCOL
from visa_lsp.cluster.crew import Crew, Gone, value_of
from visa_lsp.cluster.worker import Batch, Done, Failed, Report, run_batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from distributed import Future


Item = TypeVar("Item")
Result = TypeVar("Result")

# The minimum planned seconds of a task, and its planned seconds per thread of all workers, because one process
# distributes all tasks.
_TASK: Final = 0.1
_HANDING: Final = 0.004
_AHEAD: Final = 3  # concurrent tasks per thread of a worker
MAX_TASK_ITEMS: Final = 4_096  # items per task
# A task stops after this many times its planned seconds, and its other items are distributed anew.
_MAX_TASK_SPANS: Final = 20
_GRACE: Final = 10.0  # seconds beyond the limit after which a silent worker is refused
_MAX_INLINE_FUNCTION_BYTES: Final = 10_000  # pickled functions up to this size are sent with every task
_TRIES: Final = 2  # crashes of its process after which an item is abandoned
_TURNS: Final = 20  # attempts per item


def results(
    crew: Crew,
    work: Callable[[Item], Result],
    items: Sequence[Item],
    guesses: Sequence[float],
    lost: Callable[[Item, str], Result],
    pack: Callable[[Item], Item],
    limit: float,
    folder: str = "",
) -> Iterator[Result]:
    """Yield the result of ``work`` for each item, in order; for a failed item that of ``lost``, called with the reason.

    ``work``, items and results are pickled; ``work`` holds shared data and is sent to each worker once. ``pack`` converts
    an item just before it is sent. ``guesses`` are estimated times of items, in proportion; ``limit`` is the maximum seconds
    of one item. ``folder`` is the current folder of the work, empty for any. Raises ClusterError if no worker is left.
    """
    batch = Batch(uuid.uuid4().hex, None, folder, limit)
    job = _Job(
        crew,
        pickle.dumps(work, PROTOCOL),
        batch,
        lambda number: pickle.dumps(pack(items[number]), PROTOCOL),
        guesses,
    )
    try:
        for number, outcome in enumerate(job.outcomes()):
            # Unpickling is safe because the worker has confirmed its identity.
            yield pickle.loads(outcome.value) if isinstance(outcome, Done) else lost(items[number], outcome.why)  # noqa: S301
    finally:
        job.cancel()


class _Task(NamedTuple):
    """Running items by number, and their worker."""

    numbers: Sequence[int]
    worker: str
    future: Future
    guess: float
    since: float


class _Job:
    """The pending, running and finished items."""

    def __init__(
        self, crew: Crew, work: bytes, batch: Batch, item: Callable[[int], bytes], guesses: Sequence[float]
    ) -> None:
        self._crew = crew
        self._work = work
        self._batch = batch
        self._item = item  # the pickled item of a number
        self._guesses = guesses
        self._next = 0  # the first item that was never sent
        self._again: deque[int] = deque()  # items to send again, one per task
        self._tasks: dict[str, _Task] = {}  # by key
        self._load: Counter[str] = Counter()  # running tasks by worker
        self._ready: dict[int, Done | Failed] = {}
        self._scale = 1.0  # actual seconds per estimated second
        self._losses: Counter[int] = Counter()  # by item: the number of crashes of its process,
        self._avoid: defaultdict[int, set[str]] = defaultdict(set)  # and their workers
        self._turns: Counter[int] = Counter()
        self._heard: dict[str, float] = {}  # time of the last answer of a worker, which then has the work

    def outcomes(self) -> Iterator[Done | Failed]:
        """Yield the outcome of each item, in order."""
        for number in range(len(self._guesses)):
            while number not in self._ready:
                if self._crew.look():
                    self._recover()
                self._hand_out()
                for future in self._crew.wait_for_finished():
                    self._take(future)
            yield self._ready.pop(number)

    def cancel(self) -> None:
        """Cancel running tasks."""
        self._crew.cancel(task.future for task in self._tasks.values())
        self._tasks.clear()

    def _hand_out(self) -> None:
        """Send tasks to all workers with free slots, in turn."""
        submitted = True
        while submitted:
            submitted = False
            for worker, threads in self._crew.accepted.items():
                knows = worker in self._heard or len(self._work) <= _MAX_INLINE_FUNCTION_BYTES
                if self._load[worker] < (threads * _AHEAD if knows else 1):
                    numbers = self._pick(worker)
                    submitted = submitted or bool(numbers)
                    if numbers:
                        self._submit(numbers, worker)

    def _pick(self, worker: str) -> Sequence[int]:
        """Return items for a worker: one to repeat, if it may run there, or the next ones."""
        for number in self._again:
            if worker not in self._avoid[number] or self._crew.accepted.keys() <= self._avoid[number]:
                self._again.remove(number)
                return [number]
        span = self._span()
        start, seconds = self._next, 0.0
        most = min(start + MAX_TASK_ITEMS, len(self._guesses))
        while self._next < most and (self._next == start or seconds + self._guesses[self._next] * self._scale <= span):
            seconds += self._guesses[self._next] * self._scale
            self._next += 1
        return range(start, self._next)

    def _span(self) -> float:
        """Return the target seconds of a task, long enough for one process to keep all workers busy."""
        return max(_TASK, _HANDING * sum(self._crew.accepted.values()))

    def _submit(self, numbers: Sequence[int], worker: str) -> None:
        for number in numbers:
            self._turns[number] += 1
        work = None if worker in self._heard and len(self._work) > _MAX_INLINE_FUNCTION_BYTES else self._work
        items = [self._item(number) for number in numbers]
        future = self._crew.submit(
            worker, run_batch, self._batch._replace(work=work, items=items, most=_MAX_TASK_SPANS * self._span())
        )
        guess = sum(self._guesses[number] for number in numbers)
        self._tasks[future.key] = _Task(numbers, worker, future, guess, time.monotonic())
        self._load[worker] += 1

    def _take(self, future: Future) -> None:
        """Process the result of a task."""
        task = self._tasks.pop(future.key, None)
        if task is None:
            return
        self._load[task.worker] -= 1
        try:
            report: Report = value_of(future)
        except Gone:
            self._repeat(task.numbers)
            return
        except Exception as error:  # noqa: BLE001 - reported with the item
            # Items are repeated one per task, because it is unknown which of them crashed the worker.
            why = " ".join(str(error).split())
            for number in task.numbers:
                self._judge(number, Failed(why, again=True) if len(task.numbers) == 1 else None)
            return
        self._heard[task.worker] = time.monotonic()
        if not report.knew:
            del self._heard[task.worker]
        for number, outcome in zip(task.numbers, report.outcomes, strict=False):
            if isinstance(outcome, Failed):
                self._avoid[number].add(task.worker)
            self._judge(number, outcome)
        self._repeat(task.numbers[len(report.outcomes) :])
        if task.guess and len(report.outcomes) == len(task.numbers):
            self._scale += 0.3 * (min(report.seconds / task.guess, 1e3) - self._scale)

    def _judge(self, number: int, outcome: Done | Failed | None) -> None:
        """Store the outcome of an item, unless it is to be repeated."""
        if isinstance(outcome, Failed) and outcome.again:
            self._losses[number] += 1
            final = self._losses[number] >= _TRIES
            outcome = Failed(f"{outcome.why}, {_TRIES} times", again=False) if final else None
        if outcome is None:
            self._repeat([number])
        else:
            self._ready[number] = outcome

    def _repeat(self, numbers: Sequence[int]) -> None:
        """Repeat items that have attempts left."""
        for number in numbers:
            if self._turns[number] < _TURNS:
                self._again.append(number)
            else:
                self._ready[number] = Failed(f"no worker answered in {_TURNS} attempts", again=False)

    def _recover(self) -> None:
        """Repeat the items of workers that left or are silent."""
        patience = self._batch.limit + _GRACE
        now = time.monotonic()
        waiting: dict[str, float] = {}  # start time by worker
        for task in self._tasks.values():
            waiting[task.worker] = min(task.since, waiting.get(task.worker, now))
        for worker, since in waiting.items():
            if now - max(since, self._heard.get(worker, 0.0)) > patience:
                self._crew.refuse(worker, f"worker {worker} did not answer for {patience:.0f} seconds")
            if worker not in self._crew.accepted:
                self._drop(worker)

    def _drop(self, worker: str) -> None:
        tasks = [task for task in self._tasks.values() if task.worker == worker]
        self._crew.cancel(task.future for task in tasks)
        for task in tasks:
            del self._tasks[task.future.key]
            self._repeat(task.numbers)
        del self._load[worker]
