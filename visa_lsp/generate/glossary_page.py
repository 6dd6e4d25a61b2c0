"""Generates ``docs/glossary.md`` from the table that hover and ``explain`` also use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.isa.glossary import GROUPS, Term

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "docs/glossary.md"
_HEAD: Final = """# Glossary

Made from `visa_lsp/isa/glossary.py` by `python -m visa_lsp.generate`; do not edit. `visa-lsp explain 'WORD'` prints an entry.
Hover, `explain`, messages and documents use one word for one thing; *Elsewhere* lists its other names.
"""


def page() -> str:
    """Return the page."""
    parts = [_HEAD]
    for heading, terms in GROUPS.items():
        parts += [f"\n## {heading}\n", *(f"\n### {term.name}\n\n{_entry(term)}\n" for term in terms)]
    return "".join(parts)


def _entry(term: Term) -> str:
    others = f" *Elsewhere: {', '.join(term.also)}.*" if term.also else ""
    links = f" See {', '.join(f'[{name}](#{_slug(name)})' for name in term.see)}." if term.see else ""
    return f"{term.doc}{others}{links}"


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-")


def generate_files(_root: Path) -> dict[str, str]:
    """Return the page by its path."""
    return {FILE: page()}
