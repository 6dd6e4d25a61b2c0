"""The explicit list of generated files; compares and writes them.

Each function of the list returns the texts of its files by their names in the
repository. If only a part of a file is generated, the file is read first, and the rest stays. The text None means that
the file should not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from visa_lsp.app.output_files import replace_file
from visa_lsp.generate import (
    glossary_page,
    launch_page,
    launch_schema,
    lsp_methods,
    page_parts,
    snippets,
    support_table,
    textmate,
    vim_syntax,
)

ROOT: Final = Path(__file__).parents[2]
# A new kind of file is one line here.
MAKERS: Final[tuple[Callable[[Path], Mapping[str, str | None]], ...]] = (
    support_table.generate_files,
    page_parts.rule_pages,
    glossary_page.generate_files,
    launch_page.generate_files,
    launch_schema.generate_files,
    page_parts.check_formats,
    page_parts.agent_tools,
    lsp_methods.generate_files,
    page_parts.opencl_calls,
    snippets.generate_files,
    textmate.generate_files,
    vim_syntax.generate_files,
    page_parts.extension_settings,
)


def generate_files(root: Path = ROOT) -> dict[str, str | None]:
    """Return all generated files, by their names in the repository."""
    return {name: text for maker in MAKERS for name, text in maker(root).items()}


def stale(root: Path = ROOT) -> dict[str, str | None]:
    """Return the stale ones among the files."""
    return {name: text for name, text in generate_files(root).items() if _read_stored(root / name) != text}


def _read_stored(path: Path) -> str | None:
    return path.read_bytes().decode("utf-8", "replace") if path.exists() else None


def write(path: Path, text: str | None) -> None:
    """Replace a file by a text, atomically; remove it if the text is None."""
    if text is None:
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_file(path) as stream:
        stream.write(text.encode("utf-8"))
