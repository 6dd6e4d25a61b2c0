"""The comparison of ``diff``: pairs of files with the differences of their kernels.

Reads files. A text with errors is reported on standard error and counts as unreadable.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.app.assemble import problem_lines
from visa_lsp.app.clusters import Cluster, ClusterWork, InputFile, Said, attach_error, capture_output
from visa_lsp.app.diff.sides import Side, side_of
from visa_lsp.app.errors import UserError, complaint
from visa_lsp.app.folders import files_of, is_folder
from visa_lsp.app.inputs import STDIN, STDIN_NAME, read_bytes
from visa_lsp.compare.program_differences import compare_programs, counterparts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from visa_lsp.app.progress import ProgressLine
    from visa_lsp.compare.model import KernelDiff

_GUESS: Final = 0.05  # seconds for a pair


class FileDiff(Struct, frozen=True):
    """Two files; one of them is None if a folder has no counterpart."""

    a: Side | None
    b: Side | None
    kernels: Sequence[KernelDiff]

    @property
    def same(self) -> bool:
        """True if every kernel has an equal one."""
        return all(kernel.same for kernel in self.kernels)


class ProgramComparison(Struct, frozen=True):
    """All pairs of files; ``folders``: folders were compared; ``unreadable``: the number of unreadable files."""

    files: Sequence[FileDiff]
    folders: bool
    unreadable: int

    @property
    def same(self) -> bool:
        """True if nothing differs."""
        return all(file.same for file in self.files)


def compare_paths(
    a: str,
    b: str,
    platform: str | None,
    stdin_filename: str | None,
    progress: ProgressLine,
    cluster: Cluster | None,
    say: Callable[[str], None],
) -> ProgramComparison:
    """Compare two files or two folders, folders on a cluster if there is one. ``say`` prints error messages.

    Raises UserError if the inputs cannot be compared.
    """
    if is_folder(a) != is_folder(b):
        raise UserError(f"{a} and {b}: expected two files or two folders, got a file and a folder")
    if is_folder(a):
        return _folders(a, b, platform, progress, cluster, say)
    if a == b == STDIN:
        raise UserError("- cannot be both files: standard input is read only once")
    names = [(stdin_filename or STDIN_NAME) if path == STDIN else path for path in (a, b)]
    return compare_data([(name, read_bytes(path)) for name, path in zip(names, (a, b), strict=True)], platform, say)


def compare_data(
    files: Sequence[tuple[str, bytes]], platform: str | None, say: Callable[[str], None]
) -> ProgramComparison:
    """Compare two files, each with its name and bytes. Raises UserError if a file is neither a text nor an object."""
    sides = [_side(name, data, platform, say) for name, data in files]
    unreadable = sum(side is None for side in sides)
    return ProgramComparison([] if unreadable else [_diff(*sides)], folders=False, unreadable=unreadable)


class PairOfFiles(Struct, frozen=True):
    """Two files of one name."""

    a: InputFile
    b: InputFile

    def pack(self, *, whole: bool) -> PairOfFiles:
        """Return the pair for a worker, with the bytes that it cannot read."""
        return PairOfFiles(self.a.pack(whole=whole), self.b.pack(whole=whole))


def _folders(
    a: str, b: str, platform: str | None, progress: ProgressLine, cluster: Cluster | None, say: Callable[[str], None]
) -> ProgramComparison:
    ours, theirs = files_of(a), files_of(b)
    if not ours and not theirs:
        raise UserError(f"{a} and {b}: no texts or objects in these folders")
    pairs = _pair_by_name(ours, theirs)
    out: list[FileDiff] = []
    unreadable = 0
    for done, (name, outcome) in enumerate(
        zip(pairs, _pairs(ours, theirs, pairs, partial(_pair, platform), cluster), strict=True)
    ):
        if progress.is_due():
            progress.show(f"{done} of {len(pairs)} files, {name}")
        for line in outcome.said.splitlines():
            say(line)
        if isinstance(outcome.result, FileDiff):
            out.append(outcome.result)
        else:
            unreadable += outcome.result
    taken = set(pairs.values())
    left = [_read(InputFile(path, named=False), platform, say) for name, path in ours.items() if name not in pairs]
    others = [_read(InputFile(path, named=False), platform, say) for name, path in theirs.items() if name not in taken]
    unreadable += left.count(None) + others.count(None)
    out += _by_kernels([side for side in left if side], [side for side in others if side])
    return ProgramComparison(out, folders=True, unreadable=unreadable)


def _pair_by_name(a: Iterable[str], b: Iterable[str]) -> dict[str, str]:
    """Pair files with the same path inside their folders, then files with the same stem if it is unique in both."""
    ours, theirs = list(a), dict.fromkeys(b)
    pairs = {name: name for name in ours if name in theirs}
    taken = set(pairs.values())
    left = _stems(name for name in ours if name not in pairs)
    others = _stems(name for name in theirs if name not in taken)
    for stem, names in left.items():
        matches = others.get(stem, [])
        if len(names) == len(matches) == 1:
            pairs[names[0]] = matches[0]
    return pairs


def _stems(names: Iterable[str]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for name in names:
        out.setdefault(os.path.basename(name).rpartition(".")[0], []).append(name)  # noqa: PTH119 - text, unchanged
    return out


def _pairs(
    ours: Mapping[str, str],
    theirs: Mapping[str, str],
    pairs: Mapping[str, str],
    compare: Callable[[PairOfFiles], FileDiff | int],
    cluster: Cluster | None,
) -> Iterator[Said[FileDiff | int]]:
    """Yield the result of each pair of files."""
    todo = [
        PairOfFiles(InputFile(ours[name], named=False), InputFile(theirs[other], named=False))
        for name, other in pairs.items()
    ]
    if cluster is None:
        return (capture_output(compare, pair) for pair in todo)
    work = ClusterWork(partial(capture_output, compare), _report_lost, partial(PairOfFiles.pack, whole=cluster.sends))
    return cluster.results(work, todo, [_GUESS] * len(todo))


def _pair(platform: str | None, pair: PairOfFiles) -> FileDiff | int:
    """Return the differences of two files, or the number of unreadable ones; print the reasons to standard error."""
    say = partial(print, file=sys.stderr)
    own, its = _read(pair.a, platform, say), _read(pair.b, platform, say)
    return (own is None) + (its is None) if own is None or its is None else _diff(own, its)


def _report_lost(pair: PairOfFiles, why: str) -> Said[FileDiff | int]:
    return attach_error(2, f"{pair.a.path} and {pair.b.path}: {why}")


def _by_kernels(a: Sequence[Side], b: Sequence[Side]) -> Iterator[FileDiff]:
    """Yield pairs of files with different names, matched by their first kernels."""
    ours, theirs = [side for side in a if side.bodies], [side for side in b if side.bodies]
    pairs = counterparts([side.bodies[0] for side in ours], [side.bodies[0] for side in theirs])
    taken = set(pairs.values())
    for i, side in enumerate(ours):
        yield _diff(side, theirs[pairs[i]] if i in pairs else None)
    yield from (_diff(None, side) for j, side in enumerate(theirs) if j not in taken)


def _diff(a: Side | None, b: Side | None) -> FileDiff:
    kernels = compare_programs(a.bodies if a else (), b.bodies if b else (), a.end if a else 0, b.end if b else 0)
    return FileDiff(a, b, kernels)


def _read(file: InputFile, platform: str | None, say: Callable[[str], None]) -> Side | None:
    """Return one file of a folder; if it cannot be read, report it and return None."""
    try:
        return _side(file.path, file.read(), platform, say)
    except UserError as error:
        say(complaint(str(error)))
        return None


def _side(name: str, data: bytes, platform: str | None, say: Callable[[str], None]) -> Side | None:
    """Return the side of a file; for a text with errors, report them like ``asm`` and return None."""
    side = side_of(name, data, platform)
    if isinstance(side, Side):
        return side
    for line in problem_lines(name, side):
        say(line)
    return None
