"""A comparison as one HTML page: two columns, with the names of the first text in both. The page loads nothing.

Invariant: every text of a user is escaped; the page has one script and one style, both fixed.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final

from visa_lsp.app.diff.page_style import LOOK, SCRIPT
from visa_lsp.app.diff.printing import figure_rows, title
from visa_lsp.app.errors import printable
from visa_lsp.compare.model import ChangeKind, KernelDiff
from visa_lsp.compare.rows import AlignedLines, rewritten, rows_of
from visa_lsp.compare.sequences import common

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.diff.comparison import FileDiff, ProgramComparison

_NEAR: Final = 3  # equal rows shown around a difference
_TOKEN: Final = re.compile(r"\w+|\s+|.")
_SIGNS: Final = {
    ChangeKind.INSERT: "+",
    ChangeKind.DELETE: "\N{MINUS SIGN}",
    ChangeKind.CHANGE: "~",
    ChangeKind.MOVE: "\N{RIGHTWARDS ARROW}",
}


def comparison_page(comparison: ProgramComparison) -> str:
    """Return the page."""
    shown = [file for file in comparison.files if not (comparison.folders and file.same)]
    body = "".join("".join(_file(file, several=comparison.folders)) for file in shown)
    kernels = [kernel for file in comparison.files for kernel in file.kernels]
    same = sum(kernel.same for kernel in kernels)
    names = {_name(file) for file in comparison.files}
    heading = names.pop() if len(names) == 1 else f"{len(comparison.files)} pairs of files"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>visa-lsp diff: {heading}</title><style>{LOOK}</style></head><body>"
        f"<header><h1>{heading}</h1><p>Kernels and functions: {len(kernels)}, the same: {same}. "
        "<kbd>j</kbd> next difference, <kbd>k</kbd> previous difference, <kbd>u</kbd> show or hide equal lines</p></header>"
        f"<main>{body}</main><script>{SCRIPT}</script></body></html>\n"
    )


def _name(file: FileDiff) -> str:
    a, b = (_text(side.name) if side else "no such file" for side in (file.a, file.b))
    return f"{a} and {b}"


def _text(text: str) -> str:
    return escape(printable(text))


def _file(file: FileDiff, *, several: bool) -> Iterator[str]:
    lines_a = file.a.lines if file.a else ()
    lines_b = file.b.lines if file.b else ()
    for diff in file.kernels:
        yield f"<section><h2>{_text(title(diff))}</h2>" + f"<p>{_name(file)}</p>" * several
        yield from _figures(diff)
        if not diff.same:
            yield from _changes(diff)
            yield from _columns(rows_of(diff, lines_a, lines_b), lines_a, rewritten(diff, lines_b))
        yield "</section>"


def _figures(diff: KernelDiff) -> Iterator[str]:
    rows = figure_rows(diff)
    if rows:
        cells = "".join(f"<dt>{escape(name.strip())}</dt><dd>{escape(value)}</dd>" for name, value in rows)
        yield f"<dl>{cells}</dl>"


def _changes(diff: KernelDiff) -> Iterator[str]:
    yield f"<details open><summary>{len(diff.changes)} differences, code first</summary><ol>"
    for change in sorted(diff.changes, key=lambda change: not change.in_code):
        sign = _SIGNS[change.kind]
        places = f"{change.a.first + 1} | {change.b.first + 1}"
        yield f'<li class="{change.kind.value}"><b>{sign}</b> <i>{places}</i> <code>{_text(change.what)}</code></li>'
    yield "</ol></details>"


def _columns(rows: Sequence[AlignedLines], lines_a: Sequence[str], lines_b: Sequence[str]) -> Iterator[str]:
    near = _near(rows)
    yield '<table><colgroup><col class="n"><col><col class="n"><col></colgroup><tbody>'
    hidden = 0
    last: ChangeKind | None = None
    for place, row in enumerate(rows):
        if place not in near:
            hidden += 1
        elif hidden:
            yield _gap(hidden)
            hidden = 0
        a = lines_a[row.a] if row.a is not None else ""
        b = lines_b[row.b] if row.b is not None else ""
        stops = row.kind is not None and row.kind is not last
        last = row.kind
        names = [row.kind.value if row.kind else "", "far" * (place not in near), "stop" * stops]
        left, right = _mark_differences(a, b) if row.kind is ChangeKind.CHANGE and a and b else (_text(a), _text(b))
        opening = f'<tr class="{" ".join(filter(None, names))}"' + ' tabindex="-1"' * stops
        yield f"{opening}><td>{_number(row.a)}</td><td>{left}</td><td>{_number(row.b)}</td><td>{right}</td></tr>"
    if hidden:
        yield _gap(hidden)
    yield "</tbody></table>"


def _gap(hidden: int) -> str:
    return f'<tr class="gap"><td colspan="4">{hidden} equal line{"s" * (hidden != 1)}</td></tr>'


def _number(line: int | None) -> str:
    return "" if line is None else str(line + 1)


def _near(rows: Sequence[AlignedLines]) -> set[int]:
    """Return the rows of differences and the rows around them."""
    return {
        near
        for place, row in enumerate(rows)
        if row.kind is not None
        for near in range(max(place - _NEAR, 0), min(place + _NEAR + 1, len(rows)))
    }


def _mark_differences(a: str, b: str) -> tuple[str, str]:
    """Return two lines with the different words marked."""
    words_a, words_b = _TOKEN.findall(a), _TOKEN.findall(b)
    numbers: dict[str, int] = {}
    pairs = common(*[[numbers.setdefault(word, len(numbers)) for word in words] for words in (words_a, words_b)])
    kept_a, kept_b = {i for i, _ in pairs}, {j for _, j in pairs}
    return _with_marks(words_a, kept_a), _with_marks(words_b, kept_b)


def _with_marks(words: Sequence[str], kept: set[int]) -> str:
    out = []
    for n, word in enumerate(words):
        plain = n in kept or not word.strip()
        out.append(_text(word) if plain else f"<mark>{_text(word)}</mark>")
    return "".join(out).replace("</mark><mark>", "")
