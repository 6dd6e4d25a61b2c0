"""Captures with files damaged, missing or exchanged: read and written as a launch, or refused in words.

Recorded enqueues, and one of SPIRVRunner with its zipped tensors. A program is compiled once, before the attack, so that
each case can reach the launch file; without ``ocloc`` captures are only read.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.attack.core import ROOT, Target, Wrong
from benchmarks.attack.launches import clear
from benchmarks.attack.objects import damage
from visa_lsp.app.captures import importing
from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.body_source import TextProblems
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.opencl import CompilerWords
from visa_lsp.sim.launch.config import LaunchError

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from visa_lsp.app.captures.program_files import ProgramFiles

Files = dict[str, bytes]

_WORDS: Final = (
    b"0", b"-1", b"4294967296", b"99999999999999999999", b"1e400", b"nan", b"", b"x" * 5000, b"\0", b"../..", b"/etc/passwd", b"[" * 3000,
    b'{"a": ' * 3000, b"\xff\xfe", b"1 " * 200, b"\r\n",
)  # fmt: skip
_STEP: Final = "program_files"  # the function of the import that compiles
_KINDS: Final = ("Enqueue_0_axpy", "Enqueue_6_smooth", "Enqueue_10_count", "runner")


class Captures(Target):
    """A capture of each kind, with a few of its files changed."""

    name = "captures"

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="visa-lsp-attack-"))
        self._compile: Callable[..., ProgramFiles] = getattr(importing, _STEP)
        with zipfile.ZipFile(ROOT / "tests/captures/captures.zip") as archive:
            archive.extractall(self._folder / "sound")
        _write_runner(self._folder / "sound/runner")
        self._bases = {kind: _files(self._folder / "sound" / kind) for kind in _KINDS}
        self._programs: dict[str, ProgramFiles] = {}
        for kind in _KINDS[:-1] if shutil.which("ocloc") is not None else ():
            capture = importing.read_capture(str(self._folder / "sound" / kind))
            self._programs[kind] = self._compile(capture, CompilerWords("", None, None), "TGLLP")
        if self._programs:  # the runner's kernel is the first one's
            self._programs["runner"] = self._programs[_KINDS[0]]

    def close(self) -> None:
        """Remove the folder."""
        setattr(importing, _STEP, self._compile)
        shutil.rmtree(self._folder, ignore_errors=True)

    def make(self, draw: random.Random) -> tuple[str, Files]:
        """Return the kind of capture, and its files."""
        kind = draw.choice(_KINDS)
        files = dict(self._bases[kind])
        for _ in range(draw.choice((0, 1, 1, 1, 2, 4))):
            name = draw.choice(sorted(files))
            match draw.randrange(8):
                case 0:
                    del files[name]
                case 1:
                    files[name] = draw.choice(_WORDS)
                case 2:
                    files[name] = files[draw.choice(sorted(files))]
                case 3:
                    files[name.replace("0", draw.choice(("1", "9" * 30, "-1", "x")), 1)] = files.pop(name)
                case 4:
                    words = files[name].split(b" ")
                    words[draw.randrange(len(words))] = draw.choice(_WORDS)
                    files[name] = b" ".join(words)
                case _:
                    data = bytearray(files[name])
                    damage(draw, data, files[name] or b"0")
                    files[name] = bytes(data)
        return kind, files

    def attempt(self, case: tuple[str, Files], draw: random.Random) -> str:
        """Write the files, some as a link, a pipe or a folder; read the capture and write its launch."""
        kind, files = case
        folder, output = self._folder / "case", self._folder / "output"
        for made in (folder, output):
            shutil.rmtree(made, ignore_errors=True)
        for name, data in files.items():
            path = folder / name[:200]
            path.parent.mkdir(parents=True, exist_ok=True)
            match draw.randrange(200):
                case 0:
                    path.symlink_to(draw.choice(("/etc/passwd", "/dev/zero", "case", "/proc/self/mem")))
                case 1:
                    os.mkfifo(path)
                case 2:
                    path.mkdir()
                case _:
                    path.write_bytes(data)
        folder.mkdir(exist_ok=True)
        program = self._programs.get(kind)
        setattr(importing, _STEP, lambda *_: program)
        try:
            capture = importing.read_capture(str(folder))
            if program is None:
                return "read"
            done = importing.import_capture(capture, output, CompilerWords("", None, None), None)
        except (UserError, TextProblems) as error:
            clear(str(error))
            if output.exists():
                raise Wrong(f"refused, but wrote {sorted(path.name for path in output.iterdir())}") from None
            return "refused"
        try:
            parse_launch(done.launch.read_text("utf-8"), done.launch)
        except LaunchError as error:
            raise Wrong(f"the written launch is refused: {error}") from None
        return "written"

    def to_bytes(self, case: tuple[str, Files]) -> bytes:
        """Return the names and contents of the files."""
        return repr(case).encode()


def _files(folder: Path) -> Files:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _write_runner(folder: Path) -> None:
    """Write a capture of SPIRVRunner, by the tests' own writer."""
    sys.path.insert(0, str(ROOT / "tests/captures"))
    write = importlib.import_module("capture_files").write_runner
    write(folder, b"\x03\x02\x23\x07" + bytes(64))
