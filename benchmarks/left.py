"""The instructions that compiled code leaves to the interpreter, by kernel: ``python -m benchmarks.run --left`` prints the table.

Each kernel of the corpus runs with the launch that ``run --init`` proposes. Its share is that of the executed instructions that the
interpreter carries out: within compiled code, or because compiled code is left there. Barriers of whole groups are compiled.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.first import launch_of, short_texts
from benchmarks.measure import table
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.program import module_of_text
from visa_lsp.app.launch.runner import ReadyRun, ready
from visa_lsp.isa.platforms import platform_named
from visa_lsp.sim.jit import engine
from visa_lsp.sim.jit.code_cache import Making

_GROUPS: Final = 4
_STEPS: Final = 3_000_000
NOTABLE: Final = 0.05  # a share above which instructions are worth a compiled form


def instructions_left(run: ReadyRun) -> tuple[Counter[str], int]:
    """Return the interpreted executions of each opcode, and the number of all executed instructions."""
    making = Making()
    result = engine.run(run.dispatch(_STEPS), making=making, at_once=True)
    left = Counter[str]()
    for compiled in making.bodies.values():
        plan, counts = compiled.body, result.executions.get(compiled.code.kernel.name, ())
        for pc in (plan.called_out | plan.leaving) - plan.barriers:
            if pc < len(counts) and counts[pc]:
                left[plan.instructions[pc].row.mnemonic] += counts[pc]
    return left, result.steps


def print_left(platform: str) -> None:
    """Print the table of all kernels of the corpus for a platform."""
    rows: list[list[object]] = []
    notable = 0
    with TemporaryDirectory(prefix="visa-bench-") as name:
        for number, (kernel, path) in enumerate(short_texts(platform)):
            launch = launch_of(path, number, _GROUPS, Path(name))
            if isinstance(launch, str):
                rows.append([kernel, "", launch])
                continue
            options = RunOptions(platform=platform, path=path)
            module = module_of_text(path.read_text("utf-8"), path, platform_named(platform), [])
            left, steps = instructions_left(ready(module, parse_launch(launch.read_text("utf-8"), launch), options))
            share = left.total() / max(1, steps)
            notable += share > NOTABLE
            if left:
                words = ", ".join(f"{word} {100 * count / steps:.1f} %" for word, count in left.most_common(6))
                rows.append([kernel, 100 * share, words])
            else:
                rows.append([kernel, 0.0, ""])
    table(f"left to the interpreter, {platform}, {_GROUPS} groups", ["", "% of instructions", ""], rows)
    print(f"{notable} of {len(rows)} kernels leave more than {100 * NOTABLE:.0f} %")
