"""A child process that runs a sequence of jobs: ``JobProcess`` is the parent's side, ``answer_jobs`` the child's.

Jobs and answers are byte strings. Invariant: each job has an answer or a ``JobLost`` with the reason, output of the
child does not mix with answers, and the child ends when its parent does.
"""

from __future__ import annotations

import math
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from typing import IO, BinaryIO, Final, NoReturn, Self

from visa_lsp.children import command_of, end_with_parent

_LOOK_SECONDS: Final = 0.2  # between two polls of ``is_wanted``
_LENGTH_BYTES: Final = 8


class JobLost(Exception):  # noqa: N818
    """The process ended before its answer."""


class JobProcess:
    """A process that runs ``module``, whose main function calls ``answer_jobs``. Raises OSError if it cannot be started."""

    def __init__(self, module: str, environment: Mapping[str, str] | None = None) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._answers: SimpleQueue[bytes | None] = SimpleQueue()
        # In a separate session, because Ctrl-C must only reach the parent.
        self._child = subprocess.Popen(
            command_of(module), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=environment,
            start_new_session=True,
        )  # fmt: skip
        self.number = self._child.pid
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def ask(self, job: bytes, seconds: float = math.inf, is_wanted: Callable[[], bool] = lambda: True) -> bytes:
        """Return the answer to a job. If there is none within ``seconds``, ends the process and raises JobLost."""
        end = time.monotonic() + seconds
        try:
            assert self._child.stdin is not None
            _write(self._child.stdin, job)
            while (left := end - time.monotonic()) > 0 and is_wanted():
                try:
                    answer = self._answers.get(timeout=min(_LOOK_SECONDS, left))
                except Empty:
                    continue
                if answer is not None:
                    return answer
                break
            else:
                why = "it is wanted no more" if left > 0 else f"it took longer than {seconds:g} seconds and was ended"
                self._child.kill()
                raise JobLost(why)
        except OSError:  # the process has ended
            pass
        raise JobLost(self._last_words())

    def kill(self) -> None:
        """End the process from any thread; its current job is lost."""
        self._child.kill()

    def end(self) -> None:
        """End the process and free its resources."""
        self._child.kill()
        self._child.wait()
        self._errors.close()

    def _listen(self) -> None:
        assert self._child.stdout is not None
        with self._child.stdout as answers:
            while (answer := _read(answers)) is not None:
                self._answers.put(answer)
        self._answers.put(None)

    def _last_words(self) -> str:
        status = self._child.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"the process ended with status {status}"


def answer_jobs(answer: Callable[[bytes], bytes]) -> NoReturn:
    """Answer each job on standard input, until it or the parent ends. Output of ``answer`` is discarded."""
    end_with_parent()
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    jobs: SimpleQueue[bytes] = SimpleQueue()
    # A thread reads, so that the process ends at once when the parent has ended.
    threading.Thread(target=_take_jobs, args=(source, jobs), daemon=True).start()
    while True:
        _write(sink, answer(jobs.get()))


def _take_jobs(source: BinaryIO, jobs: SimpleQueue[bytes]) -> None:
    while (job := _read(source)) is not None:
        jobs.put(job)
    os._exit(0)


def _write(stream: IO[bytes], data: bytes) -> None:
    stream.write(len(data).to_bytes(_LENGTH_BYTES, "little"))
    stream.write(data)
    stream.flush()


def _read(stream: IO[bytes]) -> bytes | None:
    """Return the next byte string of a pipe; None if the pipe ends before."""
    length = stream.read(_LENGTH_BYTES)
    if len(length) < _LENGTH_BYTES:
        return None
    size = int.from_bytes(length, "little")
    data = stream.read(size)
    return data if len(data) == size else None
