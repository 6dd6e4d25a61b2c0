"""Runs pieces of work in processes of this machine, with results in order.

The function, its arguments and its results must be picklable. Invariant: when the caller is interrupted or stops iterating,
the processes end.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Final, TypeVar

from visa_lsp.app.errors import UserError
from visa_lsp.children import end_with_parent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Piece = TypeVar("Piece")
    Done = TypeVar("Done")

MAX_PROCESSES: Final = 64


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_processes(work: Callable[[Piece], Done], pieces: Sequence[Piece], count: int) -> Iterator[Done]:
    """Apply ``work`` to each piece in ``count`` processes; one piece or process runs here.

    Raises UserError if a process ends unexpectedly.
    """
    count = min(count, len(pieces), MAX_PROCESSES)
    if count <= 1:
        yield from map(work, pieces)
        return
    # Imported here because one process does not need it.
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import active_children, get_context
    from threading import active_count

    # A fork is fast, but must not copy a process with threads.
    context = get_context("fork" if sys.platform == "linux" and active_count() == 1 else "spawn")
    share = max(1, min(8, len(pieces) // (count * 4)))
    shares = [pieces[start : start + share] for start in range(0, len(pieces), share)]
    before = set(active_children())
    with ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(os.getpid(),)) as pool:
        try:
            # Not ``pool.map``, because it cancels futures, and a pool whose processes end fails on cancelled futures.
            for future in [pool.submit(_share, work, part) for part in shares]:
                yield from future.result()
        except BrokenProcessPool:
            raise UserError("a worker process ended unexpectedly; --jobs 1 uses one process only") from None
        except BaseException:
            for child in set(active_children()) - before:
                child.terminate()
            raise


def _share(work: Callable[[Piece], Done], pieces: Sequence[Piece]) -> list[Done]:
    return [work(piece) for piece in pieces]


def _begin(parent: int) -> None:
    end_with_parent(parent)
    # Ctrl-C reaches every process of the group; the parent handles it, the others end without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
