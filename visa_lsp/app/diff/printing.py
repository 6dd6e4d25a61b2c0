"""A comparison as text for a terminal: figures side by side, then a line per difference."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from visa_lsp.app.errors import printable
from visa_lsp.app.visible_text import paint as with_style
from visa_lsp.compare.body_differences import figures_of
from visa_lsp.compare.difference_words import arrow
from visa_lsp.compare.model import ChangeKind, Difference, KernelDiff, Lines
from visa_lsp.flow.register_use import registers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from visa_lsp.app.diff.comparison import FileDiff, ProgramComparison
    from visa_lsp.compare.model import ComparedBody

_SIGNS: Final = {
    ChangeKind.INSERT: ("+", "32"),
    ChangeKind.DELETE: ("-", "31"),
    ChangeKind.CHANGE: ("~", "33"),
    ChangeKind.MOVE: (">", "36"),
}
_MAX_LISTED_INSTRUCTIONS: Final = 12  # of one difference
_HEAD: Final = "1"
_OFFSET: Final = re.compile(r"^offset \d+ -> \d+$")
_FIGURES: Final = {"simd": "SIMD width", "pressure": "GRF rows", "grf_bytes": "bytes per row"}


def comparison_text(comparison: ProgramComparison, *, colour: bool) -> Iterator[str]:
    """Yield the report line by line. For folders it has only the differences and the number of equal kernels."""

    def paint(text: str, style: str) -> str:
        return with_style(text, style) if colour else text

    for file in comparison.files:
        if not (comparison.folders and file.same):
            yield from _file(file, paint)
    kernels = [kernel for file in comparison.files for kernel in file.kernels]
    if comparison.folders:
        same = sum(kernel.same for kernel in kernels)
        yield f"{len(kernels)} kernels and functions in {len(comparison.files)} pairs of files, {same} the same"


def _file(file: FileDiff, paint: Callable[[str, str], str]) -> Iterator[str]:
    for side, letter in ((file.a, "a"), (file.b, "b")):
        yield paint(f"{letter}: {printable(side.name) if side else 'no such file'}", _HEAD)
    if not file.kernels:
        yield "  no kernels or functions in either"
    for diff in file.kernels:
        yield paint(f"  {title(diff)}", _HEAD)
        for row in figure_rows(diff):
            yield "    " + "  ".join(row)
        # The code first, because most differences above it follow from it.
        for change in diff.changes:
            if change.in_code:
                yield from _change(change, paint)
        for alike in _alike(change for change in diff.changes if not change.in_code):
            yield from _change(alike[0], paint) if len(alike) == 1 else _together(alike, paint)
    yield ""


def title(diff: KernelDiff) -> str:
    """Return the heading of a body: its kind, its name, whether it differs."""
    body = diff.a or diff.b
    word = "kernel" if body is None or body.kernel.is_kernel else "function"
    renamed = f", {diff.renamed} names differ" if diff.renamed else ""
    if diff.same:
        return f"{word} {printable(diff.name)}: same{renamed}"
    count = len(diff.changes)
    return f"{word} {printable(diff.name)}: {count} difference{'s' * (count != 1)}{renamed}"


def figure_rows(diff: KernelDiff) -> list[tuple[str, str]]:
    """Return the names and values of the figures of both bodies; empty for equal bodies and bodies without counterpart."""
    if diff.same or diff.a is None or diff.b is None:
        return []
    ours, theirs = _figures(diff.a), _figures(diff.b)
    if ours["grf_bytes"] == theirs["grf_bytes"]:
        del ours["grf_bytes"]
    rows = [(_FIGURES.get(key, key), a, theirs[key]) for key, a in ours.items() if (a, theirs[key]) != (None, None)]
    return [(f"{name:<12}", arrow(a, b) if a != b else str(a)) for name, a, b in rows]


def _figures(body: ComparedBody) -> dict[str, int | None]:
    figures = figures_of(body.kernel)
    return {
        "instructions": figures.instructions,
        "sends": figures.sends,
        "variables": figures.variables,
        "simd": figures.simd,
        "pressure": max(registers_of(body.kernel, body.grf_bytes).grf_rows, default=0),
        "grf_bytes": body.grf_bytes,
    }


def _alike(changes: Iterable[Difference]) -> Iterable[list[Difference]]:
    """Group the changes above the code: declarations with the same difference, and inputs with only another offset."""
    groups: dict[object, list[Difference]] = {}
    for number, change in enumerate(changes):
        subject, _, what = change.what.partition(": ")
        key: object = (subject.partition(" ")[0], _OFFSET.sub("", what))
        groups.setdefault(key if change.kind is ChangeKind.CHANGE and what else number, []).append(change)
    return groups.values()


def _together(changes: Sequence[Difference], paint: Callable[[str, str], str]) -> Iterator[str]:
    """Yield the changes of one group as a line: their common difference, or the offset of each."""
    sign, style = _SIGNS[ChangeKind.CHANGE]
    split = [change.what.partition(": ") for change in changes]
    word = split[0][0].partition(" ")[0]
    names = [subject.partition(" ")[2] for subject, _, _ in split]
    if len({what for _, _, what in split}) == 1:
        said = f"{', '.join(names)}: {split[0][2]}"
    else:
        said = ", ".join(f"{name} {what}" for name, (_, _, what) in zip(names, split, strict=True))
    places = f"a {_lines(changes[0].a)} ...".ljust(14) + f"b {_lines(changes[0].b)} ...".ljust(14)
    yield paint(f"  {sign} {places}", style) + printable(f"{len(changes)} {word}s: {said}")


def _change(change: Difference, paint: Callable[[str, str], str]) -> Iterator[str]:
    sign, style = _SIGNS[change.kind]
    places = f"a {_lines(change.a)}".ljust(14) + f"b {_lines(change.b)}".ljust(14)
    yield paint(f"  {sign} {places}", style) + printable(change.what)
    for line in change.listing[:_MAX_LISTED_INSTRUCTIONS]:
        yield paint(f"      {sign} {printable(line)}", style)
    if len(change.listing) > _MAX_LISTED_INSTRUCTIONS:
        yield f"        and {len(change.listing) - _MAX_LISTED_INSTRUCTIONS} more"


def _lines(lines: Lines) -> str:
    return str(lines.first + 1) if lines.first == lines.last else f"{lines.first + 1}-{lines.last + 1}"
