"""The process that works for one thread of a Dask worker.

A separate process can be killed when it takes too long, may crash, has its own current folder, and shares no memory with
other work. A request is a pickled ``(folder, key, work, item)``. ``work`` is a pickled function, sent with the first
request of its key; ``item`` is its pickled argument; an empty folder means the current one. An answer is a pickled
``(True, pickled result)`` or ``(False, why)``.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from typing import Any, Final

from visa_lsp.job_process import answer_jobs

Request = tuple[str, str, bytes | None, bytes]
Answer = tuple[bool, bytes | str]
PROTOCOL: Final = 5


def main() -> None:
    """Answer requests until the other end of the pipe is closed."""
    works: dict[str, Callable[[Any], Any]] = {}
    answer_jobs(lambda job: pickle.dumps(_answer(pickle.loads(job), works), PROTOCOL))  # noqa: S301 - from the worker that has started this process


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
    except Exception as error:  # noqa: BLE001 - the error is sent to the caller, and the next item follows
        return False, f"internal error: {' '.join(f'{type(error).__name__}: {error}'.split())}"


if __name__ == "__main__":
    main()
