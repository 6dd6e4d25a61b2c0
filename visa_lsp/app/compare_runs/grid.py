"""The launches for a comparison of two programs: those of a launch file, or a generated grid for the first program.

Knows launch files as text. Invariant: a generated launch file is complete and is read like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.errors import UserError
from visa_lsp.app.launch import forms, runner
from visa_lsp.app.launch.defaults import FACTOR
from visa_lsp.app.launch.file import launch_file_text, parse_launch
from visa_lsp.app.launch.program_info import platform_told
from visa_lsp.app.launch.proposal import propose_run
from visa_lsp.companions import launches_beside
from visa_lsp.launchfile.source import launch_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.app.compare_runs.programs import ComparedProgram
    from visa_lsp.app.launch.options import RunOptions
    from visa_lsp.app.launch.proposal import Proposal
    from visa_lsp.launchfile.values import Sweep, SweepPoint

# The largest first, because it shows most differences and is shrunk afterwards.
_GROUPS: Final = [[5, 1, 1], [2, 1, 1], [1, 1, 1]]
_SEEDS: Final = [1, 2]
_SCALARS: Final = [3, 1]
_SCALAR: Final = "scalar"


@dataclass(frozen=True, slots=True)
class GridLaunch:
    """The text of a launch file, its name and path, and its points; without a sweep there is one point without axes."""

    name: str
    text: str
    path: Path
    sweep: Sweep | None
    points: tuple[SweepPoint, ...]


def launches_for(programs: Sequence[ComparedProgram], launch: str | None, options: RunOptions) -> list[GridLaunch]:
    """Return the named launch file, else all siblings of the first program, else a grid; each with its points.

    A grid names no platform if the zebin of each program names its own. Raises UserError if the file cannot be read or is wrong,
    or no launch can be generated, and TextProblems for a text with errors.
    """
    path = Path(launch) if launch else programs[0].path.with_suffix(".launch.yaml")
    try:
        if paths := [path] if launch else launches_beside(programs[0].path):
            return [_read(str(path), launch_file_text(path, named=bool(launch)), path) for path in paths]
        return [_read("the default grid", text, path) for text in _propose_launches(programs, path, options)]
    except runner.LaunchError as error:
        raise UserError(str(error)) from None


def _read(name: str, text: str, path: Path) -> GridLaunch:
    sweep = parse_launch(text, path).sweep
    return GridLaunch(name, text, path, sweep, tuple(sweep.points()) if sweep is not None else ((),))


def _propose_launches(programs: Sequence[ComparedProgram], path: Path, options: RunOptions) -> list[str]:
    """Return launch files: counting buffers with several numbers of groups, random buffers with varied values, the defaults."""
    a = programs[0]
    options = replace(options, path=a.path)
    # Buffers are as long as the largest number of groups needs.
    quick = {"groups": _GROUPS[0]}
    proposal = propose_run(a.data, options, path, quick).proposal
    launch = _plain(proposal.even or proposal)
    unsaid, kernel = parse_launch("groups: [1, 1, 1]\n", path), [launch.get("kernel", "")]
    has_platforms = not options.platform and all(
        platform_told(unsaid, replace(options, path=p.path), kernel) for p in programs
    )
    default = propose_run(a.data, options, path).proposal
    # Two more points, because work items beyond a count and planes that are not square show most differences of guards.
    defaults = [_plain(each) for each in (default.uneven, default.even) if each is not None]
    for each in (launch, *defaults) if has_platforms else ():
        each.pop("platform", None)
    counting = {**launch, "sweep": {"groups": _GROUPS}}
    axes: dict[str, Any] = {"groups": _GROUPS[:2]}
    args = launch.get("args") or []
    keyed = args.items() if isinstance(args, dict) else enumerate(args)
    changed = {key: _vary_argument(arg, axes) for key, arg in keyed}
    random = {**launch, "args": changed if isinstance(args, dict) else list(changed.values()), "sweep": axes}
    return [_text(each) for each in (counting, random, *defaults)]


def _plain(proposal: Proposal) -> dict[str, Any]:
    """Return a proposed launch file as an object."""
    root = launch_source(proposal.written.text).root
    launch: Any = root.plain() if root is not None else None
    assert isinstance(launch, dict)
    return launch


def _vary_argument(arg: Any, axes: dict[str, Any]) -> Any:
    """Return an argument with random contents or a number of the sweep; add the axis that it needs."""
    for kind in ("buffer", "image"):
        if isinstance(arg.get(kind), dict):
            axes["seed"] = _SEEDS
            return {**arg, kind: {**arg[kind], "init": "random"}}
    if arg.get("value") in (1, FACTOR):
        axes[_SCALAR] = _SCALARS
        return {**arg, "value": _SCALAR}
    return arg


def _text(launch: dict[str, Any]) -> str:
    """Return the text of a launch file, with arguments by name if they have names."""
    return "".join(f"{forms.flow(key)}: {forms.flow(value)}\n" for key, value in launch.items())
