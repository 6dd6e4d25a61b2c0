"""The generated part of a page; the rest of the page is written by hand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_BEGIN: Final = "<!-- made by python -m visa_lsp.generate -->\n"
_END: Final = "<!-- end -->\n"


def with_part(root: Path, file: str, part: str) -> dict[str, str]:
    """Return a page with its current generated part. Raises ValueError unless the page has exactly one place for it."""
    text = (root / file).read_text(encoding="utf-8")
    found, times = re.subn(f"(?<={_BEGIN}).*?(?={_END})", lambda _: part, text, flags=re.DOTALL)
    if times != 1:
        raise ValueError(f"{file} has {times} places for what is made, not one")
    return {file: found}


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of Markdown."""
    names = [*head]
    lines = [names, ["---"] * len(names), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
