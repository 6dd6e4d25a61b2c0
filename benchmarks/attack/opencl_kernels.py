"""Random OpenCL kernels on both engines with all checks: what they leave in memory, count and report has to be the same.

Each kernel is compiled by ``ocloc`` and gets the launch that ``run --init`` proposes, or one with smaller buffers, which faults.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import yaml

from benchmarks.attack.core import Target
from benchmarks.attack.programs import compare
from benchmarks.random_kernels import random_kernel, random_source
from visa_lsp.app.compile.build import build_source, read_source
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.program import module_of_text, sources_of
from visa_lsp.app.launch.proposal import propose_run
from visa_lsp.app.launch.ready_run import run_ready
from visa_lsp.app.launch.runner import ready
from visa_lsp.isa.platforms import platform_named

if TYPE_CHECKING:
    import random

    from visa_lsp.app.launch.report import RunReport

_DEVICE: Final = "tgllp"
_STEPS: Final = 300_000
_SMALLER: Final = 0.3  # of all launches have a buffer that may be too small


class OpenclKernels(Target):
    """Kernels of OpenCL C whose runs are compared."""

    name = "kernels"
    suffix = ".cl"

    def make(self, draw: random.Random) -> str:
        """Return a source of one kernel."""
        return random_source([random_kernel(draw, "k")])

    def attempt(self, case: Any, draw: random.Random) -> str:
        """Compile and run it."""
        with TemporaryDirectory(prefix="visa-bench-") as name:
            source, path = Path(name, "k.cl"), Path(name, "k.visaasm")
            source.write_text(case, "utf-8")
            build = build_source(read_source(str(source)), _DEVICE)
            texts = [text.text for text in build.texts if text.name == "k"]
            if not texts or build.program is None:
                return "refused by the compiler"
            path.write_text(texts[0], "utf-8")
            path.with_suffix(".zebin").write_bytes(build.program)
            launch = path.with_suffix(".launch.yaml")
            options = RunOptions(platform=build.platform, path=path)
            groups = {"groups": [draw.randrange(1, 5), 1, 1]}
            proposal = propose_run(texts[0], options, launch, groups).proposal
            keys = yaml.safe_load((proposal.even or proposal).written.text)
            if draw.random() < _SMALLER:
                _make_smaller(keys, draw)
            launch.write_text(yaml.safe_dump(keys), "utf-8")
            one, other = (_run(texts[0], path, launch, build.platform, engine) for engine in ("interp", "jit"))
        compare(one, other, "checks all")
        return "a finding in both" if one.faults or one.findings else f"the same, {other.engine}"


def _run(text: str, path: Path, launch: Path, platform: str, engine: str) -> RunReport:
    options = RunOptions(platform=platform, path=path, engine=engine, checks="all", budget=_STEPS)
    module = module_of_text(text, path, platform_named(platform), [], judged=False)
    sources = sources_of(module, text, path, judged=False)
    return run_ready(ready(module, parse_launch(launch.read_text("utf-8"), launch), options, (), sources))


def _make_smaller(keys: dict[str, Any], draw: random.Random) -> None:
    """Make a buffer of a launch smaller."""
    args = keys.get("args") or {}
    every = args.values() if isinstance(args, dict) else args
    shapes = [
        arg["buffer"]["shape"] for arg in every if isinstance(arg, dict) and (arg.get("buffer") or {}).get("shape")
    ]
    if shapes:
        shape = draw.choice(shapes)
        shape[-1] = max(1, shape[-1] - draw.choice((1, shape[-1] // 2)))
