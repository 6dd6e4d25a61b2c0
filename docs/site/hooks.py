"""What MkDocs asks of this repository: pages that follow from the code, and links that lead out of the folder `docs`.

The pages are made by `visa_lsp.generate.site`; nothing is written to the folder of the documents.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mkdocs.structure.files import File

from visa_lsp.cli.help_texts import help_texts
from visa_lsp.generate.site.pages import pages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).resolve().parents[2]
# Documents elsewhere in the repository that are pages of the site, by their path there.
ELSEWHERE: Final = {"vscode-extension/README.md": "editors/vscode.md", "CHANGELOG.md": "changelog.md"}
_ITEM: Final = re.compile(r"(?:[*-]|\d+\.) ")
_SHALLOW: Final = re.compile(r"^ {2,3}(?=\S)")
_CODE: Final = re.compile(r"(<pre\b[\s\S]*?</pre>|<textarea\b[\s\S]*?</textarea>|<script\b[\s\S]*?</script>)")
_BLANKS: Final = re.compile(r"\s*\n\s*")
_LINK: Final = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are no files of the folder; `nav` names a folder of pages by a slash at its end."""
    found = pages(ROOT, help_texts())
    found |= {target: (ROOT / source).read_text(encoding="utf-8") for source, target in ELSEWHERE.items()}
    for name, text in found.items():
        files.append(File.generated(config, name, content=text))
    names = [file.src_uri for file in files if file.is_documentation_page() and not file.inclusion.is_excluded()]
    for part in config.nav or []:
        for entries in part.values():
            if isinstance(entries, list):
                _fill(entries, names)
    _add_guides(config.nav or [], names)
    return files


def _add_guides(nav: list[Any], names: list[str]) -> None:
    """Put pages of the folder itself that `nav` does not name behind the guides, so that a new page needs no line of it."""
    named = str(nav)
    guides = next(part["Guides"] for part in nav if "Guides" in part)
    guides += sorted(name for name in names if "/" not in name and f"'{name}'" not in named)


def _fill(entries: list[Any], names: list[str]) -> None:
    """Put the index of a folder in the place of its name: its pages are found by the index and the search.

    A list of hundreds of pages in the navigation of each of them made 40 of 55 MB of the site.
    """
    for entry in entries:
        if isinstance(entry, dict):
            ((title, target),) = entry.items()
            if isinstance(target, str) and target.endswith("/"):
                inside = [name for name in names if name.startswith(target)]
                entry[title] = min(inside, key=lambda name: (Path(name).stem not in {"index", "README"}, name))


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Let links to files beside `docs` lead to their pages in the site; the name of one that has none stands there as it is."""
    source = {target: name for name, target in ELSEWHERE.items()}.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    up = "../" * page.file.src_uri.count("/")

    def moved(found: re.Match[str]) -> str:
        mark, text, target, anchor = found[1], found[2], found[3], found[4] or ""
        if "://" in target or target.startswith(("mailto:", "data:")):
            return found[0]
        path = (ROOT / source).parent.joinpath(target).resolve()
        if not path.is_relative_to(ROOT):
            return found[0]
        name = path.relative_to(ROOT).as_posix()
        if name.startswith("docs/"):
            return (
                found[0] if source.startswith("docs/") else f"{mark}[{text}]({up}{name.removeprefix('docs/')}{anchor})"
            )
        if name in ELSEWHERE:
            return f"{mark}[{text}]({up}{ELSEWHERE[name]}{anchor})"
        return f"`{name}`" if name.endswith(text.strip("`")) else f"{text} (`{name}`)"

    return _LINK.sub(moved, "\n".join(_with_deep_lists(markdown.split("\n"))))


def on_post_page(output: str, **_: Any) -> str:
    """Remove the blank lines of templates, which are half of a page; code keeps its own."""
    parts = _CODE.split(output)
    parts[::2] = [_BLANKS.sub("\n", part) for part in parts[::2]]
    return "".join(parts)


def on_post_build(config: MkDocsConfig) -> None:
    """Remove what the theme brings and this site does not use: maps of its sources, words of other languages."""
    assets = Path(config.site_dir) / "assets"
    for path in (*assets.rglob("*.map"), *(assets / "javascripts" / "lunr").rglob("*.js")):
        path.unlink()


def _with_deep_lists(lines: list[str]) -> Iterator[str]:
    """Lines with what belongs to an item four blanks deep: two or three are enough on GitHub, and not for MkDocs."""
    inside = fenced = False
    for line in lines:
        fenced ^= line.startswith("```")
        if line and not line.startswith(" "):
            inside = bool(_ITEM.match(line))
        yield _SHALLOW.sub("    ", line) if inside and not fenced else line
