"""Launch files: odd ones end in a clear refusal, or in a run that its budget of steps bounds."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.attack.core import EXAMPLES, Target, Wrong
from benchmarks.attack.documents import VALUES, change, document, odd_text
from visa_lsp.app.launch.file import read_launch_file
from visa_lsp.app.launch.runner import LaunchError, RunOptions, TextProblems, run_text
from visa_lsp.program.elements import DTYPES

if TYPE_CHECKING:
    import random

_STEPS: Final = 3000
_WORDS: Final = 5000  # characters that a message has at most
_DTYPES: Final = (*DTYPES, "bf")  # and one that a launch file must refuse
_INITS: Final = (
    "zeros",
    "ones",
    "arange",
    {"random": 3},
    {"values": [1, 2]},
    {"npy": "x.npy"},
    {"npy": "mandelbrot.npy"},
)


def launch(draw: random.Random) -> dict[str, Any]:
    """Return a launch of one of the examples; each key as it is usually, or another way."""
    if draw.random() < 0.3:
        return {
            "kernel": "mandel", "file": "mandelbrot.visaasm", "ze_info": "mandelbrot.zeinfo.yaml", "platform": "TGLLP",
            "groups": [draw.choice((1, 3)), 1, 1], "local_size": [16, 4, 1],
            "args": [
                {"buffer": {"dtype": "uint8", "shape": [20, 36, 4], "init": "zeros"}}, {"value": 36}, {"value": 20},
                {"value": -2.25}, {"value": -1.25}, {"value": 0.0903}, {"value": 2},
            ],
        }  # fmt: skip
    shape = draw.choice(([100], [10, 10], [1], [0], [100, 1], 100))
    return {
        "kernel": "saxpy", "platform": draw.choice(("TGLLP", "TGLLP", "DG2", "PVC", "SKL", "zz")), "file": "saxpy.visaasm",
        "groups": draw.choice(([7, 1, 1], [1, 1, 1], [2, 3], [1], 2)), "local_size": draw.choice(([16, 1, 1], [16], [4, 4, 1], [1, 1, 1])),
        "args": {
            "x": {"buffer": {"dtype": draw.choice(("float32", "float32", *_DTYPES)), "shape": shape, "init": draw.choice(_INITS)}},
            "y": {"buffer": {"dtype": "float32", "shape": [100], "init": draw.choice(("ones", "zeros"))}},
            "a": {"value": draw.choice((2.5, 2, -0.0, float("nan"), [1, 2]))},
            "n": {"value": draw.choice((100, 0, -1, 2**31, 2.5))},
        },
        "expect": [{"arg": "y", "values": [1.0] * draw.choice((1, 100))}],
    }  # fmt: skip


class Launches(Target):
    """Launch files of the examples, changed as values and as text; run in this process."""

    name = "launches"
    suffix = ".launch.yaml"

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="attack-"))
        for path in filter(Path.is_file, EXAMPLES.iterdir()):
            shutil.copy(path, self.folder)
        np.save(self.folder / "x.npy", np.arange(100, dtype=np.float32))
        self.text = (EXAMPLES / "saxpy.visaasm").read_text("utf-8")

    def make(self, draw: random.Random) -> str:
        """Return the text of a launch file."""
        value: Any = launch(draw)
        for _ in range(draw.choice((0, 1, 1, 1, 2, 4))):
            value = change(draw, value, (*VALUES, *_DTYPES, *_INITS))
        if isinstance(value, dict) and draw.random() < 0.02:
            value["args"] = [{"value": 1}] * draw.choice((1000, 5000))
        text = document(draw, value)
        return odd_text(draw, text) if draw.random() < 0.4 else text

    def attempt(self, case: str, draw: random.Random) -> str:
        """Read the file and run what it says."""
        path = self.folder / "case.launch.yaml"
        path.write_bytes(case.encode("utf-8", "surrogatepass"))
        checks = draw.choice(("all", "none", "bounds,races"))
        try:
            found = read_launch_file(path)
            program = found.file or self.folder / "saxpy.visaasm"
            text = program.read_text("utf-8", "surrogateescape") if program.suffix == ".visaasm" else self.text
            report = run_text(text, found, RunOptions(program, None, "interp", checks, budget=_STEPS))
        except LaunchError as error:
            clear(str(error))
            if not error.place:
                raise Wrong(f"a refusal without a place: {error}") from None
            return "refused"
        except MemoryError:
            return "not enough memory"
        except TextProblems as problems:
            clear(str(problems))
            return "the text refused"
        if report.instructions > 2 * _STEPS:
            raise Wrong(f"{report.instructions} instructions with a budget of {_STEPS}")
        for fault in report.faults:
            clear(str(fault))
        return "ran" if report.ok else "ran, with findings"

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


def clear(message: str) -> None:
    """Check that a message is not empty, and ends."""
    if not message.strip() or len(message) > _WORDS or "Traceback" in message or "internal" in message:
        raise Wrong(f"an unclear message of {len(message)} characters: {message[:200]!r}")
