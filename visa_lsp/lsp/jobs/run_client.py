"""The server's side of runs: sends jobs to a separate process, and returns its answers.

The process is ``lsp.jobs.run_process``, which loads libraries that the server does not need. Invariant: each job has an
answer, even if the process crashes, and a job that crashes it does not affect other jobs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Self

from visa_lsp.job_process import JobLost, JobProcess
from visa_lsp.lsp.jobs.model import Result, RunJob, Stop


def run_in_subprocess(text: str | None, path: str | None, options: dict[str, Any], stop: Stop) -> Result:
    """Run in another process and return its answer; ``stop`` ends it."""
    with RunProcess(stop) as process:
        return process.run(text, path, options)


def run_all_in_subprocess(jobs: Sequence[RunJob], stop: Stop, tell: Callable[[int, Result], None]) -> Result:
    """Run one job after another in one other process.

    ``tell`` is called with the number and the answer of each job; the answer names its ``process``. After an unfinished
    job the rest continue in a new process; once ``stop`` has ended a job, no other starts.
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
    """A process that does one job after another; a new process replaces it after a crash."""

    def __init__(self, stop: Stop, module: str = "visa_lsp.lsp.jobs.run_process") -> None:
        self.number = 0  # id of the process of the last job; 0 if none could be started
        self._module = module
        self._stop = stop
        self._child: JobProcess | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def run(self, text: str | None, path: str | None, options: dict[str, Any], seconds: float | None = None) -> Result:
        """Do one job and return its answer; end the process if that takes longer than the given seconds."""
        return self._result({"text": text, "path": path, "options": options}, seconds)

    def _result(self, job: dict[str, Any], seconds: float | None = None) -> Result:
        try:
            child = self._child = self._child or self._start()
        except OSError as error:
            self.number = 0
            return {"ok": False, "error": f"cannot start a process for the run: {error.strerror or error}"}
        self.number = child.number
        try:
            result: Result = json.loads(child.ask(json.dumps(job).encode(), seconds or math.inf))
        except JobLost as lost:
            self._end()
            return {"ok": False, "error": f"the run has no result: {lost}", "stopped": True}
        return result

    def _start(self) -> JobProcess:
        child = JobProcess(self._module)
        self._stop.by(child.kill)
        return child

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()


class ReadProcess(RunProcess):
    """The process that reads texts as pseudo-code; it stays, because it then reads only changed kernels."""

    def __init__(self) -> None:
        super().__init__(Stop(), "visa_lsp.lsp.jobs.pseudo_code")
        self._turn = Lock()

    def read(self, job: dict[str, Any]) -> Result:
        """Do one job of ``jobs.pseudo_code``, after all earlier ones."""
        with self._turn:
            return self._result(job)
