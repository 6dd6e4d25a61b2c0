"""The process that does the work of one thread of a Dask worker: reads requests, answers each.

A process of its own can be ended when it takes too long, may crash, stands in the folder of whoever asks, and shares its
memory with nobody else's work. A request is a pickled ``(folder, key, work, item)``: ``work`` is a pickled function, sent
with the first request of its key, ``item`` its pickled argument; without a folder it stays where it is. An answer is ``(True, pickled result)`` or
``(False, why)``. Invariant: nothing but answers is written to the pipe, whatever the work prints.
"""

from __future__ import annotations

import os
import pickle
import queue
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.children import end_with_parent

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

Request = tuple[str, str, bytes | None, bytes]
Answer = tuple[bool, bytes | str]
PROTOCOL: Final = 5
_TO_END: Final = 1.0  # seconds that work may go on when nobody waits for it


def main() -> None:
    """Answer until the other end of the pipe is closed."""
    end_with_parent()
    source, sink = _pipes()
    requests: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(source, requests), daemon=True).start()
    works: dict[str, Callable[[Any], Any]] = {}
    while (request := requests.get()) is not None:
        pickle.dump(_answer(request, works), sink, PROTOCOL)
        sink.flush()


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipe's two ends; what the work reads and prints comes from and goes to nowhere."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    return source, sink


def _listen(source: BinaryIO, requests: queue.SimpleQueue[Request | None]) -> None:
    try:
        while True:
            requests.put(pickle.load(source))  # noqa: S301 - from the worker that has started this process
    except (EOFError, OSError, pickle.UnpicklingError):
        requests.put(None)
        time.sleep(_TO_END)
        os._exit(1)


def _answer(request: Request, works: dict[str, Callable[[Any], Any]]) -> Answer:
    folder, key, work, item = request
    try:
        if folder:
            os.chdir(folder)
        if work is not None:
            works.clear()
            works[key] = pickle.loads(work)  # noqa: S301 - as above
        return True, pickle.dumps(works[key](pickle.loads(item)), PROTOCOL)  # noqa: S301 - as above
    except OSError as error:
        return False, f"{error.filename or folder}: {error.strerror or error} (on the worker)"
    except Exception as error:  # noqa: BLE001 - whoever asked is told, and the next item has its turn
        return False, f"internal error: {' '.join(f'{type(error).__name__}: {error}'.split())}"


if __name__ == "__main__":
    main()
    sys.exit()
