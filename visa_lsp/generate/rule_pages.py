"""Generates ``docs/rules``: the list of rules and a page for each, with the text of ``explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.app.rule_registry import OFF, list_rules, page
from visa_lsp.checks.support.rule_page import index_page

if TYPE_CHECKING:
    from pathlib import Path

FOLDER: Final = "docs/rules"


def generate_files(root: Path) -> dict[str, str | None]:
    """Return the pages; none for a former rule."""
    pages: dict[str, str | None] = {f"{FOLDER}/{path.name}": None for path in sorted((root / FOLDER).glob("*.md"))}
    pages[f"{FOLDER}/README.md"] = index_page(list_rules(), OFF)
    for rule in list_rules():
        pages[f"{FOLDER}/{rule.name}.md"] = page(rule)
    return pages
