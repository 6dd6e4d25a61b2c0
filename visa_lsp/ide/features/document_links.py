"""Document links: the files that a text, a launch file or a ze_info document names.

Returns the names as written; the caller finds the files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.index.text_index import index_of
from visa_lsp.isa.model import Mark
from visa_lsp.isa.table import TABLE
from visa_lsp.program.suffixes import TEXTS
from visa_lsp.syntax.memo import Key
from visa_lsp.text import Span, with_newlines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.ide.index.chunk_index import ChunkIndex
    from visa_lsp.syntax.document import Document


@dataclass(frozen=True, slots=True)
class Link:
    """A file named in ``line``. ``candidates`` are paths relative to the document, the best first."""

    line: int
    span: Span
    candidates: tuple[str, ...]
    tooltip: str


_MARKS: Final = TABLE.marks(Mark.FILE)
_FILE: Final = re.compile(rf'^[^\S\n]*(?:{"|".join(map(re.escape, _MARKS))})[^\S\n]+"([^"\n]+)"', re.MULTILINE)
_PATHS: Final = re.compile(
    r'^[^\S\n]*\.kernel_attr[^\S\n]+(?:AsmName|OutputAsmPath)[^\S\n]*=[^\S\n]*"([^"\n]+)"', re.MULTILINE
)
_YAML: Final = re.compile(
    r"^[^\S\n]*(?:-[^\S\n]+)?(?:file|ze_info|zebin)[^\S\n]*:[^\S\n]*[\"']?([^\s\"'#\[\]{},]+)"
    r"|\bnpy[^\S\n]*:[^\S\n]*[\"']?([^\s\"'#\[\]{},]+)",
    re.MULTILINE,
)
_LIST: Final = re.compile(r"^[^\S\n]*files[^\S\n]*:[^\S\n]*\[([^\]\n]*)\]", re.MULTILINE)
_NAME: Final = re.compile(r"^\s+-\s+name\s*:\s*[\"']?([A-Za-z0-9_.$-]+)", re.MULTILINE)
# The files that a chunk names, with lines from its first; cached with the chunk, because they depend on its text only.
_FILES: Final = Key[list[Link]]()


def document_links(analysis: Analysis) -> tuple[Link, ...]:
    """Return the links of a vISA text: the files that it names."""
    document = analysis.document
    links: list[Link] = []
    index = index_of(document)
    for number, part in enumerate(index.parts):
        base = document.line_of(number)
        named = part.memo.fact(_FILES, partial(_files, part))
        links.extend(Link(base + link.line, link.span, link.candidates, link.tooltip) for link in named)
    return tuple(sorted(links, key=lambda link: (link.line, link.span)))


def _files(part: ChunkIndex) -> list[Link]:
    """Return the files that a chunk names; lines count from its first."""
    text, links = part.chunk.text, list[Link]()
    if any(word in text for word in _MARKS) or ".kernel_attr" in text:
        for pattern, what in ((_FILE, "source file"), (_PATHS, "output of the compiler")):
            for match in pattern.finditer(text):
                line, span = _place(text, match, 1)
                names = (match.group(1), match.group(1).replace("\\", "/").rpartition("/")[2])
                links.append(Link(line, span, names, what))
    return links


def yaml_links(document: Document, stem: str) -> tuple[Link, ...]:
    """Return the links of a launch file or a ze_info document."""
    text = with_newlines(document.text)
    links = []
    for match in _YAML.finditer(text):
        number = 1 if match.group(1) is not None else 2
        line, span = _place(text, match, number)
        links.append(Link(line, span, (match.group(number),), "file"))
    for match in _LIST.finditer(text):
        for item in re.finditer(r"[^\s,\"']+", match.group(1)):
            line, span = _at(text, match.start(1) + item.start(), len(item.group()))
            links.append(Link(line, span, (item.group(),), "file"))
    if text.startswith(("---", "version", "kernels")) or "\nkernels" in text:
        links.extend(_kernel_names(text, stem))
    return tuple(sorted(links, key=lambda link: (link.line, link.span)))


def _kernel_names(text: str, stem: str) -> Iterator[Link]:
    for match in _NAME.finditer(text):
        names = tuple(f"{s}{end}" for s in dict.fromkeys((match.group(1), stem)) for end in TEXTS)
        line, span = _place(text, match, 1)
        yield Link(line, span, names, "text of the kernel")


def _place(text: str, match: re.Match[str], group: int) -> tuple[int, Span]:
    return _at(text, match.start(group), len(match.group(group)))


def _at(text: str, offset: int, length: int) -> tuple[int, Span]:
    start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset), Span(offset - start, offset - start + length)
