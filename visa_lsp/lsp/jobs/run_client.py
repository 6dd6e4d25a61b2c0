"""The server's side of runs: a process for them, jobs to that process, its answers.

The other side, the process, is ``lsp.jobs.run_process``: it needs what the server does not load. Invariant: whatever becomes
of the process, there is an answer to each job, and a job that ends the process costs no other one.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
from typing import IO, TYPE_CHECKING, Any, Self

from visa_lsp.children import command_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.lsp.jobs.model import Result, RunJob, Stop


def run_in_subprocess(text: str | None, path: str | None, options: dict[str, Any], stop: Stop) -> Result:
    """Run in another process and give its answer; ``stop`` ends it."""
    with RunProcess(stop) as process:
        return process.run(text, path, options)


def stats_in_subprocess(text: str | None, path: str | None, options: dict[str, Any], stop: Stop) -> Result:
    """Count in another process, which takes its time for a long text; ``stop`` ends it."""
    return run_in_subprocess(text, path, {"stats": options}, stop)


def run_all_in_subprocess(jobs: Sequence[RunJob], stop: Stop, tell: Callable[[int, Result], None]) -> Result:
    """Run one job after another in one other process; ``tell`` hears each answer, which has the ``process``, with its number.

    After a job that did not come to its end the rest go on in a new process; once ``stop`` has ended one, none is begun.
    """
    processes: list[int] = []
    with RunProcess(stop) as process:
        for number, (text, path, options, seconds) in enumerate(jobs):
            answer = process.run(text, path, options, seconds)
            if stop.asked:
                break
            if process.number and process.number not in processes:
                processes.append(process.number)
            tell(number, {**answer, "process": process.number})
    return {"ok": True, "processes": processes}


class RunProcess:
    """A process that does one job after another; after one that it did not survive there is a new one."""

    def __init__(self, stop: Stop) -> None:
        self.number = 0  # of the process that did the last job; 0 where none could be started
        self._stop = stop
        self._child: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._lock = threading.Lock()
        self._jobs = 0
        self._late = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        self._said.close()

    def run(self, text: str | None, path: str | None, options: dict[str, Any], seconds: float | None = None) -> Result:
        """Do one job and give its answer; the process is ended where that takes longer than so many seconds."""
        try:
            child = self._child = self._child or self._started()
        except OSError as error:
            self.number = 0
            return {"ok": False, "error": f"a process for the run cannot be started: {error.strerror or error}"}
        self.number = child.pid
        job = json.dumps({"text": text, "path": path, "options": options}).encode()
        timer = threading.Timer(seconds, self._expire, (child, self._jobs)) if seconds else None
        if timer is not None:
            timer.daemon = True
            timer.start()
        answer = _answer(child, job)
        with self._lock:  # a timer that fires from here on is that of a job which is over
            self._jobs += 1
            late, self._late = self._late, False
        if timer is not None:
            timer.cancel()
        if answer.endswith(b"\n") and not late:
            result: Result = json.loads(answer)
            return result
        self._end()
        reason = f"it took longer than {seconds:g} seconds and was ended" if late else self._reason(child.returncode)
        return {"ok": False, "error": f"the run has no result: {reason}", "stopped": True}

    def _started(self) -> subprocess.Popen[bytes]:
        self._said.seek(0)
        self._said.truncate()
        command = command_of("visa_lsp.lsp.jobs.run_process")
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said)
        self._stop.by(child.kill)
        return child

    def _expire(self, child: subprocess.Popen[bytes], job: int) -> None:
        with self._lock:
            if job == self._jobs:
                self._late = True
                child.kill()

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            with child:  # closes its pipes, at which it ends, and waits for it
                pass

    def _reason(self, status: int) -> str:
        """The last thing that the process has said."""
        self._said.seek(0)
        words = self._said.read().decode(errors="replace").strip().splitlines()
        return words[-1] if words else f"its process ended with status {status}"


def _answer(child: subprocess.Popen[bytes], job: bytes) -> bytes:
    """The line that a process answers; less than a line where it has ended."""
    if child.stdin is None or child.stdout is None:
        raise AssertionError("both are pipes")
    try:
        child.stdin.write(job + b"\n")
        child.stdin.flush()
        return child.stdout.readline()
    except BrokenPipeError:  # stopped, or ended by the system
        return b""
