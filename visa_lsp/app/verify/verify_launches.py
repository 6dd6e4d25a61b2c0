"""The launches of `verify`: those of launch files, else generated ones that let mistakes of machine code show.

Generated are the likeliest launch, those of other sizes, one with random values, two whose groups end inside of a thread, in either half
of its lanes, two with the values with which the text compares and with small counts, and one with groups of one work item.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.proposal import propose_run
from visa_lsp.app.launch.runner import TextProblems
from visa_lsp.app.launch.unit import LaunchJob, OpenedLaunch, open_job
from visa_lsp.app.verify.special_values import SpecialValues, listed, sizes_of
from visa_lsp.companions import launches_beside
from visa_lsp.sim.launch.config import LaunchError, ValueArg

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.app.launch.proposal import Proposal

_RAGGED: Final = 3  # work items less than a full group
_LAST_LANES: Final = 13  # of the last thread of a short group
_MISSING: Final = 14  # work items that a short count leaves out, at most a third
_FIRST_ITEM: Final = (5, 2, 1)  # global offset of single work items
_CM: Final = 0  # value of the attribute "Target"
_MAX_POINTS: Final = 8  # of a sweep


def launches_of(
    path: Path, launch: str | None, platform: str, kernel: str, data: bytes | None, *, tries: bool = True
) -> Iterator[OpenedLaunch]:
    """Yield the launches of a kernel: those of a launch file, else generated ones; ``tries`` fits buffers by trial runs.

    Raises UserError if there is none.
    """
    options = RunOptions(path, platform, checks="none")
    beside = beside_of(str(path), launch)
    job = LaunchJob(str(path), beside, options, data=data, named=bool(launch))
    try:
        opened = open_job(job, kernel=kernel) if tries else _open_untried(job, kernel)
        if opened.proposed is None:
            yield from _points(job, opened, kernel)
            for file in () if launch else launches_beside(path)[1:]:
                further = replace(job, launch=file)
                yield from _points(further, open_job(further, kernel=kernel), kernel)
            return
    except (LaunchError, TextProblems, UserError, FileNotFoundError) as error:
        words = (str(error).splitlines() or [type(error).__name__])[0]
        if not beside.is_file() and not launch:
            words = words.removeprefix(f"{beside}:1:1: ")  # of a generated launch, which has no file
        raise UserError(f"{path}: {words}") from None
    yield opened
    proposal, values = opened.proposed.proposal, SpecialValues(opened)
    for other in (proposal.even, proposal.uneven) if _may_end_inside(values) else ():
        if other is not None and other.written.text != proposal.written.text:
            sized = _with_proposal(opened, other, beside)
            yield (_alike(sized, beside, kernel) if other is proposal.uneven else None) or sized
    for makes in (
        ragged_sizes(values), _special_values(values), _special_scalars(values), _random_values(values), _single_items(values),
    ):  # fmt: skip
        for given in makes:
            further_launch = launch_with(opened, beside, {"kernel": kernel, **given})
            if further_launch is not None:
                yield further_launch
                break


def _alike(opened: OpenedLaunch, beside: Path, kernel: str) -> OpenedLaunch | None:
    """Return the launch in the sizes of another one whose buffers hold the same few values; None if the kernel refuses it."""
    given = {"kernel": kernel, **sizes_of(opened)}
    natural = launch_with(opened, beside, given)
    args = SpecialValues(natural).alike() if natural is not None else {}
    return launch_with(opened, beside, {**given, "args": listed(opened, args)}) if args else None


def beside_of(text: str, launch: str | None) -> Path:
    """Return the path of the launch file of a text, which may not exist."""
    return Path(launch) if launch else Path(text).with_suffix(".launch.yaml")


def launch_with(opened: OpenedLaunch, beside: Path, given: dict[str, Any]) -> OpenedLaunch | None:
    """Return a generated launch of the same program with given keys; None if the kernel refuses it, as it may require full groups."""
    try:
        proposed = propose_run(opened.data, opened.options, beside, given, tries=False)
        other = OpenedLaunch(proposed.proposal.read(beside), opened.options, opened.data, proposed)
        other.ready()
    except (LaunchError, UserError):
        return None
    return other


def _open_untried(job: LaunchJob, kernel: str) -> OpenedLaunch:
    """Open a job as ``open_job`` does, but without trial runs."""
    if job.launch.is_file():
        return open_job(job, kernel=kernel)
    assert job.data is not None
    proposed = propose_run(job.data, job.options, job.launch, {"kernel": kernel}, tries=False)
    return OpenedLaunch(proposed.proposal.read(job.launch), job.options, job.data, proposed)


def _points(job: LaunchJob, opened: OpenedLaunch, kernel: str) -> Iterator[OpenedLaunch]:
    sweep = opened.launch.sweep
    if sweep is None:
        yield opened
        return
    for _, point in zip(range(_MAX_POINTS), sweep.points(), strict=False):
        yield open_job(replace(job, point=point), kernel=kernel)


def _with_proposal(opened: OpenedLaunch, proposal: Proposal, path: Path) -> OpenedLaunch:
    assert opened.proposed is not None
    return replace(opened, launch=proposal.read(path), proposed=replace(opened.proposed, proposal=proposal))


def ragged_sizes(values: SpecialValues) -> Iterator[dict[str, Any]]:
    """Yield sizes that leave lanes of the last thread of a group without a work item."""
    config = values.config
    if config.local_size is None or not _may_end_inside(values):
        return
    x, y, z = config.local_size
    if x > _RAGGED:
        yield {"local_size": [x - _RAGGED, y, z], "groups": [min(count, 2) for count in config.groups]}


def _may_end_inside(values: SpecialValues) -> bool:
    """Return whether a group may end inside of a thread; threads of C for Metal have all lanes, and its finalizer relies on it."""
    is_cm = values.kernel.int_attribute("Target") == _CM
    return values.config.threads is None and not is_cm


def _special_values(values: SpecialValues) -> Iterator[dict[str, Any]]:
    """Yield arguments near the values with which the text compares: first in a short group, then in the sizes as they are."""
    config = values.config
    args = values.arguments(0)
    if config.local_size is not None and _may_end_inside(values):
        (x, y, z), width = config.local_size, values.kernel.int_attribute("SimdSize") or 16
        rest = _LAST_LANES if width > _LAST_LANES else width - _RAGGED
        short = [width + rest if x > width else min(x, rest), y, z]
        args |= _short_counts(values, short[0] * config.groups[0])
        yield {"local_size": short, "groups": list(config.groups), "args": listed(values.opened, args)}
    if args:
        yield {"args": listed(values.opened, args), **sizes_of(values.opened)}


def _special_scalars(values: SpecialValues) -> Iterator[dict[str, Any]]:
    """Yield arguments with other special values and with the smallest sizes."""
    args = values.arguments(1)
    if args:
        yield {"args": listed(values.opened, args), **sizes_of(values.opened)}


def _random_values(values: SpecialValues) -> Iterator[dict[str, Any]]:
    """Yield the arguments of a launch with random values in its buffers, over the whole range of integers, short counts, and distinct numbers.

    Buffers lie far apart, if the kernel allows it, and behind the start of their surfaces.
    """
    config, args = values.config, values.random()
    args |= values.distinct()
    if config.local_size is not None:
        args |= _short_counts(values, config.groups[0] * config.local_size[0])
    moved, memory = values.apart(args)
    for given in (
        {"args": listed(values.opened, moved), "memory": memory} if memory else {},
        {"args": listed(values.opened, args)} if args else {},
    ):
        yield from _in_two_threads(values, given)


def _in_two_threads(values: SpecialValues, given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield keys with sizes of two threads, because work in thread 0 hides mistakes in what depends on the number; then with the usual sizes."""
    config = values.config
    if config.local_size is not None and _may_end_inside(values):
        x, y, z = config.local_size
        if x > _RAGGED and x * y * z <= (values.kernel.int_attribute("SimdSize") or 16):
            yield {
                **given,
                "local_size": [2 * x - _RAGGED, y, z],
                "groups": [(config.groups[0] + 1) // 2, *config.groups[1:]],
            }
    if given:
        yield {**given, **sizes_of(values.opened)}


def _single_items(values: SpecialValues) -> Iterator[dict[str, Any]]:
    """Yield groups of one work item each, whose global ids begin at other numbers than 0."""
    if values.config.local_size is not None and _may_end_inside(values):
        args = values.arguments(0)
        sizes = {"local_size": [1, 1, 1], "groups": [2, 1, 1], "global_offset": list(_FIRST_ITEM)}
        yield {**({"args": listed(values.opened, args)} if args else {}), **sizes}


def _short_counts(values: SpecialValues, items: int) -> dict[Any, Any]:
    """Return the integers that count the work items, less some."""
    config = values.config
    assert config.local_size is not None
    sizes = {config.groups[0] * config.local_size[0], np.prod(config.groups) * np.prod(config.local_size)}
    return {
        key: {"value": max(1, items - min(_MISSING, items // 3)), "dtype": arg.array.dtype.name}
        for key, arg in config.by_key.items()
        if isinstance(arg, ValueArg)
        and arg.array.size == 1
        and arg.array.dtype.kind in "iu"
        and arg.array.item() in sizes
    }
