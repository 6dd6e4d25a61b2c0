"""Commands that are ended at any moment, by any signal or by a reader who leaves: nothing of them stays behind.

Linux only: processes are found by a word in their environment.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.attack.core import EXAMPLES, Target, Wrong, patiently

if TYPE_CHECKING:
    import random

COMMANDS: Final = (
    "check many --jobs 2", "check many --watch", "check saxpy.visaasm", "check many --format json --fix", "asm saxpy.visaasm",
    "dis saxpy.isa", "stats many", "diff many other", "explain mad", "zeinfo check mandelbrot.zeinfo.yaml",
    "run saxpy.visaasm --engine interp", "run mandelbrot.visaasm --engine jit", "run average.visaasm --format json",
    "run saxpy_sizes.launch.yaml --sweep --jobs 2", "run saxpy.visaasm --trace", "compare-runs saxpy.visaasm again.visaasm",
    "", "dap", "mcp", "prove saxpy.visaasm", "prove mandelbrot.visaasm", "why saxpy.visaasm --value y[37]", "read mandelbrot.visaasm",
)  # fmt: skip
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
_READER_LEAVES: Final = 0  # in the place of a signal: standard output is closed
_LATEST: Final = 1.5  # seconds from the start to the signal
_END: Final = 30.0  # seconds that a command may take to end; its children get as many
_PROGRAM: Final = (sys.executable, "-m", "visa_lsp")
_MARK: Final = "VISA_LSP_ATTACKED"


@dataclass(frozen=True, slots=True)
class Ended:
    """A command, and how it is ended: a signal after so many seconds, to the process alone or to its group."""

    command: str
    number: int
    seconds: float
    is_for_group: bool

    def __str__(self) -> str:
        how = signal.Signals(self.number).name if self.number else "a reader who leaves"
        return f"visa-lsp {self.command}: {how} after {self.seconds:.3f} s{' to the group' * self.is_for_group}"


class Processes(Target):
    """Every command, ended at random moments."""

    name = "processes"

    def __init__(self) -> None:
        # A shell has jobs in the background ignore Ctrl-C, and they hand that on to what they start.
        self._handlers = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGHUP)}
        self._folder = Path(tempfile.mkdtemp(prefix="visa-lsp-attack-"))
        self._work = self._folder / "work"
        shutil.copytree(EXAMPLES, self._work)
        text = (EXAMPLES / "saxpy.visaasm").read_text("utf-8")
        (self._work / "again.visaasm").write_text(text, "utf-8")
        for folder in ("many", "other"):
            (self._work / folder).mkdir()
            for number in range(60):
                (self._work / folder / f"{number}.visaasm").write_text(f"{text}// {number}\n", "utf-8")
        subprocess.run([*_PROGRAM, "asm", "saxpy.visaasm"], cwd=self._work, env=_environment({}), check=True)
        self._before = _files(self._work)

    def close(self) -> None:
        """Remove the folder."""
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        shutil.rmtree(self._folder, ignore_errors=True)

    def make(self, draw: random.Random) -> Ended:
        """Choose a command and a moment; the first tenths of a second are the most likely."""
        number = draw.choice((*SIGNALS, _READER_LEAVES))
        return Ended(draw.choice(COMMANDS), number, _LATEST * draw.random() ** 2, draw.random() < 0.5)

    def attempt(self, case: Ended, draw: random.Random) -> str:
        """Start the command, end it, and look for what it left."""
        del draw
        mark = secrets.token_hex(8)
        temporary = self._folder / mark
        temporary.mkdir()
        places = {_MARK: mark, "TMPDIR": str(temporary), "VISA_LSP_CACHE": str(self._folder / "cache")}
        said = temporary.with_suffix(".said")
        with said.open("wb") as errors:
            process = subprocess.Popen(
                [*_PROGRAM, *case.command.split()], cwd=self._work, env=_environment(places),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, start_new_session=True,
            )  # fmt: skip
        try:
            time.sleep(case.seconds)
            if case.number == _READER_LEAVES:
                assert process.stdout is not None
                process.stdout.close()
                process.stdout = None
                if "--watch" in case.command:  # nothing is printed again before a text changes
                    process.terminate()
            elif process.poll() is None:
                (os.killpg if case.is_for_group else os.kill)(process.pid, case.number)
            return self._check_exit(case, process, temporary, said, mark)
        finally:
            for number in _find_marked(mark):
                os.kill(number, signal.SIGKILL)
            process.communicate()

    def _check_exit(self, case: Ended, process: subprocess.Popen[bytes], temporary: Path, said: Path, mark: str) -> str:
        """Return the exit of the command. Raises Wrong where anything of it is left."""
        try:
            printed = process.communicate(timeout=_END)[0] or b""
        except subprocess.TimeoutExpired:
            raise Wrong(f"{case}: still runs") from None
        words = said.read_bytes() + printed
        if b"KeyboardInterrupt" in words and b"visa_lsp" not in words:
            return "interrupted in the start of Python"  # before the first line of ours
        if b"Traceback" in words or b"internal error" in words:
            raise Wrong(f"{case}: {words.decode('utf-8', 'replace')[-300:]!r}")
        if not patiently(lambda: not _find_marked(mark)):
            raise Wrong(f"{case}: {len(_find_marked(mark))} processes are left")
        if not patiently(lambda: not list(temporary.iterdir())):
            raise Wrong(f"{case}: left {sorted(path.name for path in temporary.iterdir())}")
        if new := _files(self._work) - self._before:
            raise Wrong(f"{case}: left {sorted(new)}")
        status = process.returncode
        return "killed" if status < 0 else f"status {status}"


def _environment(more: dict[str, str]) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(EXAMPLES.parent), **more}


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _find_marked(mark: str) -> list[int]:
    """Return the processes that have a mark in their environment."""
    word = f"{_MARK}={mark}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if word in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:  # it has ended, or is another user's
            continue
    return found
