"""Pseudo-code as one HTML file: its lines beside those of the vISA, and of the source if there is one."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from visa_lsp.app.errors import printable
from visa_lsp.app.gen.columns import HUES, ColumnLine
from visa_lsp.app.gen.highlight import source_lines, visa_lines
from visa_lsp.app.gen.page import column, line_of, page_of
from visa_lsp.app.gen.sources import source_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.read.pseudo_code import ReadFile, ReadKernel


def page(files: Sequence[ReadFile], platform: str | None) -> str:
    """Return the page of files."""
    return page_of("pseudo-code", [(file.name, _file(file, platform or "")) for file in files])


def _file(file: ReadFile, platform: str) -> Iterator[str]:
    words = "\n".join(file.text)
    source = source_for(file.name, words, None)
    by_line = {line + 1: number for line, number in source.by_line.items()} if source is not None else {}
    lines = [line for kernel in file.kernels for line in kernel.lines]
    hues = {number: index % HUES for index, line in enumerate(lines) for number in line.visa}
    yield f'<header><h1>{_text(file.name)}</h1><ul class="figures">'
    yield from (f"<li><b>{_text(kernel.name)}</b>: {_figures(kernel)}</li>" for kernel in file.kernels)
    yield f'</ul></header><div class="columns{"" if source else " two"}">'
    if source is not None:
        shown = enumerate(source_lines(source.lines), 1)
        yield from column(
            "source", _text(source.name), (line_of(ColumnLine(str(index), p, s=index)) for index, p in shown)
        )
    visa = enumerate(visa_lines(words, platform), 1)
    yield from column(
        "visa",
        "vISA",
        (line_of(ColumnLine(str(index), p, index, by_line.get(index), hues.get(index))) for index, p in visa),
    )
    code = enumerate(zip(lines, source_lines(line.text for line in lines), strict=True), 1)
    yield from column(
        "code", "pseudo-code",
        (line_of(ColumnLine(str(index), p, hue=index % HUES if line.visa else None, parts_of=line.visa)) for index, (line, p) in code),
    )  # fmt: skip
    yield "</div>"


def _figures(kernel: ReadKernel) -> str:
    return f"{kernel.instructions} instructions in {len(kernel.lines)} lines"


def _text(words: str) -> str:
    return escape(printable(words))
