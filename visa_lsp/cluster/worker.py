"""What runs in a Dask worker: hands the items of a task to a process of its own, and tells what came of each.

A thread of the worker has one such process (``child``) for as long as it does not crash and keeps the limit. Knows of Dask only how
to ask whether a task is still wanted. Invariant: an item has an outcome, and no item takes longer than the limit.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from visa_lsp.cluster.child import PROTOCOL
from visa_lsp.job_process import JobLost, JobProcess

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.cluster.child import Answer, Request

_MAX_CACHED_WORKS: Final = 4
_works: dict[str, bytes] = {}  # the last pieces of work, by key
_own = threading.local()


class Done(NamedTuple):
    """An item's pickled result."""

    value: bytes


class Failed(NamedTuple):
    """Why there is none. ``again``: the process was lost, and another one may fare better."""

    why: str
    again: bool


class Batch(NamedTuple):
    """What a task is to do: pickled items for a piece of work, in a folder, each within ``limit`` seconds.

    ``work`` is the pickled function; None where the worker has had it before, under the same key. No item is begun after
    ``most`` seconds.
    """

    key: str
    work: bytes | None
    folder: str
    limit: float
    items: Sequence[bytes] = ()
    most: float = 0.0


class Report(NamedTuple):
    """What came of a task: the outcomes of its first items, and the seconds that they took; whether it ``knew`` the work."""

    outcomes: Sequence[Done | Failed]
    seconds: float
    knew: bool = True


def run_batch(batch: Batch) -> Report:
    """Do a batch. Called by Dask, in a thread of a worker."""
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
    """A process that works, seen from the thread that it belongs to."""

    def __init__(self) -> None:
        # The same interpreter with the same modules.
        path = os.pathsep.join(filter(None, sys.path))
        self._process = JobProcess("visa_lsp.cluster.child", {**os.environ, "PYTHONPATH": path})
        self.key = ""  # of the work that it knows

    def ask(self, request: Request, limit: float) -> Answer:
        """Return the answer to a request. Raises JobLost where there is none."""
        answer: Answer = pickle.loads(self._process.ask(pickle.dumps(request, PROTOCOL), limit, _is_wanted))  # noqa: S301 - from a process of ours
        self.key = request[1] if answer[0] else ""
        return answer

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.end()


def _is_wanted() -> bool:
    """Return whether somebody waits for the task of this thread."""
    from distributed import get_worker

    worker: Any = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is not None and task.state == "executing"
