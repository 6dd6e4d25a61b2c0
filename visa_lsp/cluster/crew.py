"""The workers of a Dask cluster: connects to the scheduler, tracks workers, and accepts or refuses them.

Knows schedulers and addresses, not the work, which ``job`` distributes. Invariant: a worker gets work only after it has
confirmed the same ``identity``.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import re
import signal
import threading
import time
import uuid
import warnings
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.build_id import identity
from visa_lsp.children import temporary_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from distributed import Client, Future

_CONNECT: Final = 5.0  # seconds for a scheduler to answer
_JOIN: Final = 15.0  # seconds to wait for the first worker
_REPLACE: Final = 5.0  # seconds to wait for a worker when all present ones are refused
_LOOK: Final = 0.5  # seconds between two queries of the workers
_FETCH: Final = 10.0  # seconds to fetch a finished result
_MAX_LOCAL_WORKERS: Final = 64
_ADDRESS: Final = re.compile(r"(?:[a-z]+://)?(?:\[[0-9a-fA-F:.%]+\]|[^\s:/\[\]]+):\d{1,5}")


class ClusterError(Exception):
    """The cluster cannot be reached or has no usable worker."""


@contextlib.contextmanager
def crew_at(address: str, say: Callable[[str], None]) -> Iterator[Crew]:
    """Connect to the workers of a scheduler, or start and later stop local processes for ``local`` and ``local:N``.

    ``say`` is called with messages about refused workers. Raises ClusterError if no scheduler answers.
    """
    count = _local(address)
    for name in ("distributed", "asyncio"):  # errors of Dask are reported here in other words
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if count is not None:
            address = stack.enter_context(workers_here(count))
        yield Crew(stack.enter_context(_client(address)), say)


def _local(address: str) -> int | None:
    """Return the number of local workers of an address; None for the address of a scheduler."""
    if address == "local":
        return min(
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
            _MAX_LOCAL_WORKERS,
        )
    head, colon, number = address.partition(":")
    if head == "local" and colon:
        if number.isdecimal() and len(number) < 4 and 0 < int(number) <= _MAX_LOCAL_WORKERS:
            return int(number)
        raise ClusterError(f"{address!r}: expected local:N with N from 1 to {_MAX_LOCAL_WORKERS}")
    if _ADDRESS.fullmatch(address) is None:
        raise ClusterError(f"{address!r} is not an address: expected HOST:PORT, tcp://HOST:PORT or local[:N]")
    return None


@contextlib.contextmanager
def workers_here(count: int) -> Iterator[str]:
    """Start local workers of one thread, yield the address of their scheduler, and stop them."""
    import dask
    from distributed import LocalCluster

    # The profiler of Dask is turned off, because it samples workers a hundred times a second.
    with (
        dask.config.set({"distributed.worker.profile.enabled": False}),
        temporary_folder("visa-lsp-cluster-") as folder,
    ):
        with _without_interrupts():
            cluster = LocalCluster(
                n_workers=count, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL, memory_limit=0, local_directory=str(folder),
            )  # fmt: skip
        try:
            yield cluster.scheduler_address
        finally:
            cluster.close(timeout=_CONNECT)


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block Ctrl-C until the end, and permanently in threads and processes that start meanwhile."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    # It would unblock interrupts in the thread that starts it.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _client(address: str) -> Iterator[Client]:
    client = _connect(address)
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=_CONNECT)


def _connect(address: str) -> Client:
    """Return a client of the scheduler, created in a thread, because Dask waits forever for a listener that never answers."""
    from distributed import Client

    answers: queue.SimpleQueue[Client | Exception] = queue.SimpleQueue()

    def connect() -> None:
        try:
            answers.put(Client(address, timeout=_CONNECT, set_as_default=False))
        except Exception as error:  # noqa: BLE001 - reported below
            answers.put(error)

    threading.Thread(target=connect, daemon=True).start()
    try:
        answer = answers.get(timeout=2 * _CONNECT)
    except queue.Empty:
        raise ClusterError(
            f"no scheduler answers at {address}: the connection was accepted, but no reply came"
        ) from None
    if isinstance(answer, Exception):
        why = " ".join(str(answer).split()) or type(answer).__name__
        raise ClusterError(f"no scheduler answers at {address}: {why}")
    return answer


class Crew:
    """The workers of a cluster. ``accepted`` maps usable workers to their numbers of concurrent tasks."""

    def __init__(self, client: Client, say: Callable[[str], None]) -> None:
        self.accepted: dict[str, int] = {}
        self._client = client
        self._say = say
        self._events: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._threads: dict[str, int] = {}  # number of concurrent tasks of each present worker
        self._probes: dict[str, tuple[str, Future]] = {}  # workers with a pending identity query, by key
        self._asked: set[str] = set()
        self._refused: set[str] = set()
        self._looked = 0.0
        self._manned = time.monotonic()  # time when there last was a usable worker

    def look(self) -> bool:
        """Update the workers at intervals and query the identity of new ones; return whether an update was due.

        Raises ClusterError if the scheduler has gone away or no worker is left.
        """
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return False
        self._looked = now
        try:
            self._threads = dict(self._client.nthreads())
        except (OSError, TimeoutError, RuntimeError, ValueError):
            raise ClusterError("lost the connection to the scheduler") from None
        self.accepted = {address: count for address, count in self.accepted.items() if address in self._threads}
        for address in self._threads.keys() - self._asked:
            self._asked.add(address)
            future = self.submit(address, identity)
            self._probes[future.key] = address, future
        if self.accepted:
            self._manned = now
        elif now - self._manned > (_REPLACE if self._refused else _JOIN):
            other = "other " if self._refused else ""
            raise ClusterError(f"no {other}worker for {now - self._manned:.0f} seconds")
        return True

    def submit(self, worker: str, function: Callable[..., Any], *args: Any) -> Future:
        """Submit a function call to a worker."""
        key = f"visa-lsp-{uuid.uuid4().hex}"
        future = self._client.submit(function, *args, key=key, workers=[worker], pure=False)
        future.add_done_callback(self._events.put)
        return future

    def wait_for_finished(self) -> Iterator[Future]:
        """Yield finished futures; wait briefly if there are none."""
        wait = _LOOK
        with contextlib.suppress(queue.Empty):
            while True:
                future = self._events.get(timeout=wait) if wait else self._events.get_nowait()
                wait = 0.0
                if future.key in self._probes:
                    self._meet(future)
                else:
                    yield future

    def cancel(self, futures: Iterable[Future]) -> None:
        """Cancel pending futures."""
        with contextlib.suppress(Exception):
            self._client.cancel(list(futures), force=True)

    def refuse(self, address: str, why: str) -> None:
        """Remove a worker from the usable ones."""
        self.accepted.pop(address, None)
        self._refused.add(address)
        self._say(f"{why}; it is not used")

    def _meet(self, future: Future) -> None:
        """Process the identity that a worker reported."""
        address, _ = self._probes.pop(future.key)
        try:
            said = value_of(future)
        except Gone:
            return
        except Exception as error:  # noqa: BLE001 - any error means that no worker answers
            why = " ".join(str(error).split()).partition(". ")[0]
            self.refuse(address, f"worker {address} or its scheduler has no compatible visa-lsp ({why})")
            return
        if said == identity():
            self.accepted[address] = max(self._threads.get(address, 1), 1)
        else:
            self.refuse(address, f"worker {address} has visa-lsp {said}, expected {identity()}")


class Gone(Exception):  # noqa: N818
    """The worker left, or the task was cancelled."""


def value_of(future: Future) -> Any:
    """Return the result of a finished task. Raises its exception, or ``Gone`` if its worker left."""
    from concurrent.futures import CancelledError

    try:
        return future.result(timeout=_FETCH)
    except (CancelledError, TimeoutError) as error:
        raise Gone from error
