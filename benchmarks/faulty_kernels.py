"""Do both engines report the same faults? One fault is planted in a real kernel or its launch, and all checks are on.

Each kernel of the corpora gets the launch that ``run --init`` proposes and one fault of each kind that fits. A case counts where the
interpreter reports something. Faults, findings, their counts and what is left in memory have to be the same.
Usage: python -m benchmarks.faulty_kernels [COUNT] [--platform NAME] [--seed N]; exit status 1 where a report differs.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import yaml

from benchmarks.first import launch_of, short_texts
from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.body_source import TextProblems
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.program import module_of_text, sources_of
from visa_lsp.app.launch.ready_run import run_ready
from visa_lsp.app.launch.runner import LaunchError, ready
from visa_lsp.isa.platforms import platform_named

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.app.launch.report import RunReport

_GROUPS: Final = 3
_STEPS: Final = 300_000
_CODE: Final = re.compile(r"^\s+(?:\([^)]*\)\s+)?(\w[\w.]*)\s+\(")
_MESSAGE: Final = re.compile(r"^\s+(?:\([^)]*\)\s+)?(?:\w*scatter|lsc_store|oword_st|\w*atomic)")
_VALUE: Final = re.compile(r"^\s+(?:\([^)]*\)\s+)?(?:mov|add|mul|shl|mad|and)\s")


def _chosen(draw: random.Random, text: str, wanted: re.Pattern[str]) -> tuple[list[str], int] | None:
    """Return the lines and the number of a random one that matches; None without one."""
    lines = text.splitlines()
    numbers = [number for number, line in enumerate(lines) if wanted.match(line)]
    return (lines, draw.choice(numbers)) if numbers else None


def _without(draw: random.Random, text: str, wanted: re.Pattern[str]) -> str | None:
    chosen = _chosen(draw, text, wanted)
    return None if chosen is None else "\n".join((*chosen[0][: chosen[1]], *chosen[0][chosen[1] + 1 :], ""))


def _replaced(draw: random.Random, text: str, wanted: re.Pattern[str], old: str, new: str) -> str | None:
    chosen = _chosen(draw, text, wanted)
    if chosen is None or not re.search(old, chosen[0][chosen[1]]):
        return None
    lines, number = chosen
    lines[number] = re.sub(old, new, lines[number], count=1)
    return "\n".join((*lines, ""))


# Kinds of fault in the text: a function that returns the changed text, or None where the kind does not fit.
TEXT_FAULTS: Final[dict[str, Callable[[random.Random, str], str | None]]] = {
    "barrier left out": lambda draw, text: _without(draw, text, re.compile(r"^\s+barrier")),
    "value never computed": lambda draw, text: _without(draw, text, _VALUE),
    "wrong factor": lambda draw, text: _replaced(
        draw, text, re.compile(r"^\s+(?:\([^)]*\)\s+)?shl .*0x\d:"), r"0x\d:", "0x1:"
    ),
    "store by all lanes": lambda draw, text: _replaced(draw, text, _MESSAGE, r"\((M\d), ", r"(\1_NM, "),
    "other lanes": lambda draw, text: _replaced(draw, text, _CODE, r"\(M1, 16\)", "(M1, 8)"),
    "predicate left out": lambda draw, text: _replaced(draw, text, _MESSAGE, r"\([!P]\w*\)\s+", ""),
    "condition turned": lambda draw, text: _replaced(draw, text, re.compile(r"^\s+cmp\.(lt|ge)"), r"cmp\.(lt|ge)", "cmp.le"),
}  # fmt: skip


def _buffers(launch: dict[str, Any]) -> list[dict[str, Any]]:
    args = launch.get("args") or {}
    every = args.values() if isinstance(args, dict) else args
    return [arg for arg in every if isinstance(arg, dict) and isinstance(arg.get("buffer"), dict)]


def _smaller(draw: random.Random, launch: dict[str, Any]) -> bool:
    buffers = [arg["buffer"] for arg in _buffers(launch) if arg["buffer"].get("shape")]
    if not buffers:
        return False
    shape = draw.choice(buffers)["shape"]
    shape[-1] = max(1, shape[-1] - draw.choice((1, shape[-1] // 2)))
    return True


def _readonly(draw: random.Random, launch: dict[str, Any]) -> bool:
    buffers = _buffers(launch)
    if buffers:
        draw.choice(buffers)["access"] = draw.choice(("readonly", "writeonly"))
    return bool(buffers)


def _unwritten(draw: random.Random, launch: dict[str, Any]) -> bool:
    buffers = [arg["buffer"] for arg in _buffers(launch)]
    if buffers:
        chosen = draw.choice(buffers)
        for key in ("values", "npy", "init", "file"):
            chosen.pop(key, None)
        chosen["init"] = "undefined"
    return bool(buffers)


# Kinds of fault in the launch: a function that changes it, and returns False where the kind does not fit.
LAUNCH_FAULTS: Final[dict[str, Callable[[random.Random, dict[str, Any]], bool]]] = {
    "buffer too small": _smaller,
    "wrong access": _readonly,
    "buffer never written": _unwritten,
}


def _report(text: str, path: Path, launch: Path, platform: str, engine: str) -> RunReport:
    options = RunOptions(platform=platform, path=path, engine=engine, budget=_STEPS)
    module = module_of_text(text, path, platform_named(platform), [], judged=False)
    sources = sources_of(module, text, path, judged=False)
    return run_ready(ready(module, parse_launch(launch.read_text("utf-8"), launch), options, (), sources))


def _told(report: RunReport) -> list[str]:
    buffers = [repr(buffer.array.tobytes()) for buffer in report.buffers]
    return [*map(str, (*report.faults, *report.findings)), *buffers]


def main() -> None:
    """Run the benchmark of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faulty_kernels", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("count", nargs="?", type=int, default=300)
    parser.add_argument("--platform", default="TGLLP")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    draw = random.Random(asked.seed)
    faulty, different, compiled = Counter[str](), list[str](), 0
    texts = list(short_texts(asked.platform, "run*"))
    draw.shuffle(texts)
    with TemporaryDirectory(prefix="visa-bench-") as name:
        for number, (kernel, path) in enumerate(texts):
            launch = launch_of(path, number, _GROUPS, Path(name))
            if isinstance(launch, str):
                continue
            original = path.read_text("utf-8")
            for kind in (*TEXT_FAULTS, *LAUNCH_FAULTS):
                text: str | None = original
                own = launch
                if kind in TEXT_FAULTS:
                    text = TEXT_FAULTS[kind](draw, original)
                else:
                    keys = yaml.safe_load(launch.read_text("utf-8"))
                    text = original if LAUNCH_FAULTS[kind](draw, keys) else None
                    own = launch.with_name(f"planted-{launch.name}")
                    own.write_text(yaml.safe_dump(keys), "utf-8")
                if text is None or sum(faulty.values()) >= asked.count:
                    continue
                try:
                    expected = _report(text, path, own, asked.platform, "interp")
                except (LaunchError, TextProblems, UserError):
                    continue
                if not (expected.faults or expected.findings):
                    continue
                faulty[kind] += 1
                report = _report(text, path, own, asked.platform, "jit")
                compiled += report.result.replayed_groups < report.result.groups
                if _told(report) != _told(expected):
                    different.append(f"{path.parts[-4]} {kernel}: {kind}")
    for kind, count in faulty.most_common():
        print(f"{count:4} {kind}")
    print(
        f"{sum(faulty.values())} faulty kernels, {compiled} with groups in compiled code, {len(different)} reports differ"
    )
    print(*different, sep="\n")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
