"""Code in a Dask worker: passes the items of a task to a child process and reports the outcomes.

Each thread of the worker keeps one process (``child``) until it crashes or exceeds the limit. Uses Dask only to query whether
a task is still wanted. Invariant: every item has an outcome, and none takes longer than the limit.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from visa_lsp.cluster.child import PROTOCOL, Answer, Request
from visa_lsp.job_process import JobLost, JobProcess

_MAX_CACHED_WORKS: Final = 4
_works: dict[str, bytes] = {}  # the most recent functions by key
_own = threading.local()


class Done(NamedTuple):
    """The pickled result of an item."""

    value: bytes


class Failed(NamedTuple):
    """The reason of a failure. ``again``: the process was lost, and another attempt may succeed."""

    why: str
    again: bool


class Batch(NamedTuple):
    """A task: pickled items for a function, in a folder, each limited to ``limit`` seconds.

    ``work`` is the pickled function; None if the worker has it under the same key. No item starts after ``most`` seconds.
    """

    key: str
    work: bytes | None
    folder: str
    limit: float
    items: Sequence[bytes] = ()
    most: float = 0.0


class Report(NamedTuple):
    """The result of a task: the outcomes of its first items and their seconds; ``knew``: the worker had the function."""

    outcomes: Sequence[Done | Failed]
    seconds: float
    knew: bool = True


def run_batch(batch: Batch) -> Report:
    """Run a batch. Called by Dask in a thread of a worker."""
    work = batch.work if batch.work is not None else _works.get(batch.key)
    if work is None:
        return Report((), 0.0, knew=False)
    if batch.key not in _works:
        for old in list(_works)[: 1 - _MAX_CACHED_WORKS]:
            _works.pop(old, None)
        _works[batch.key] = work
    began = time.perf_counter()
    outcomes: list[Done | Failed] = []
    for item in batch.items:
        outcomes.append(_outcome(work, batch, item))
        lost = isinstance(outcomes[-1], Failed) and outcomes[-1].again
        if lost or time.perf_counter() - began > batch.most:
            break
    return Report(outcomes, time.perf_counter() - began)


def _outcome(work: bytes, batch: Batch, item: bytes) -> Done | Failed:
    child: _Child | None = getattr(_own, "child", None)
    if child is None:
        child = _own.child = _Child()
    try:
        well, value = child.ask((batch.folder, batch.key, None if child.key == batch.key else work, item), batch.limit)
    except JobLost as lost:
        child.end()
        _own.child = None
        return Failed(str(lost), again=True)
    return Done(value) if well and isinstance(value, bytes) else Failed(str(value), again=False)


class _Child:
    """The child process of a thread."""

    def __init__(self) -> None:
        # Started with the same interpreter and modules.
        path = os.pathsep.join(filter(None, sys.path))
        self._process = JobProcess("visa_lsp.cluster.child", {**os.environ, "PYTHONPATH": path})
        self.key = ""  # key of the function that it has

    def ask(self, request: Request, limit: float) -> Answer:
        """Return the answer to a request. Raises JobLost if the process is lost."""
        answer: Answer = pickle.loads(self._process.ask(pickle.dumps(request, PROTOCOL), limit, _is_wanted))  # noqa: S301 - this process started it
        self.key = request[1] if answer[0] else ""
        return answer

    def end(self) -> None:
        """Kill the process."""
        self._process.end()


def _is_wanted() -> bool:
    """Return whether the task of this thread is still wanted."""
    from distributed import get_worker

    worker: Any = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is not None and task.state == "executing"
