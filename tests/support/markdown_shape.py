"""Mistakes of Markdown that only show when it is rendered: what opens and does not close, and what counts as markup by accident."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_TICKS: Final = re.compile(r"`+")
_HTML: Final = re.compile(r"<(?:[A-Za-z][A-Za-z0-9-]*(?=[\s/>])|/|!|\?|[A-Za-z][A-Za-z0-9+.-]+:)")
_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-+)\s*$")
_PIPE: Final = re.compile(r"(?<!\\)\|")
_LINK: Final = re.compile(r"\[[^\]]*\]\(([^)]*)\)")


def mistakes(markdown: str, *, headings: bool = False, folder: Path | None = None) -> Iterator[str]:
    """Yield the mistakes of a Markdown text; ``headings`` allows headings. Links lead to files of ``folder``."""
    fence, before, pipes = "", "", None
    for line in markdown.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence, before = "", ""
            continue
        if mark:
            fence = mark[1]
            continue
        text = _without_code(line)
        if text is None:
            yield f"a code span is not closed: {line}"
            text = line
        if _HTML.search(text):
            yield f"HTML: {line}"
        if _HEADING.match(line) and not headings:
            yield f"a heading: {line}"
        if _UNDERLINE.match(line) and before.strip():
            yield f"a heading of two lines: {before} / {line}"
        count = len(_PIPE.findall(line)) if line.lstrip().startswith("|") else None
        if count is not None and pipes is not None and count != pipes:
            yield f"a row of {count} bars, that above has {pipes}: {line}"
        for target in _LINK.findall(text):
            if folder is None or not (folder / target.partition("#")[0]).is_file():
                yield f"a link to nowhere: {target}"
        before, pipes = line, count
    if fence:
        yield "a fence is not closed"


def _without_code(line: str) -> str | None:
    """Return a line without its code spans; None where one is not closed."""
    parts, at = [], 0
    while ticks := _TICKS.search(line, at):
        end = next((other for other in _TICKS.finditer(line, ticks.end()) if other[0] == ticks[0]), None)
        if end is None:
            return None
        parts.append(line[at : ticks.start()])
        at = end.end()
    return "".join(parts) + line[at:]
