"""Source, vISA and Gen as columns of linked lines, for the HTML page and the views of editors.

Invariant: two lines belong together if both have the same ``v``, the line of the text, or one of them is a source line and
both have the same ``s``, the line of the source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.app.gen.allocation import spills_of
from visa_lsp.app.gen.highlight import Part, gen_line, living_in, source_lines, visa_lines
from visa_lsp.app.gen.printing import figures
from visa_lsp.app.gen.wait_words import wait_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.check.report import ReportedFinding
    from visa_lsp.app.gen.gen_document import GenDocument
    from visa_lsp.app.gen.sources import TiedSource
    from visa_lsp.toolchain.finalize import FinalizedKernel
    from visa_lsp.toolchain.listing import Issue

HUES: Final = 6


class Bar(Struct, frozen=True):
    """A figure beside a line, its length in percent, and its tooltip."""

    figure: int
    percent: int
    title: str


class ColumnLine(Struct, frozen=True, omit_defaults=True):
    """A line of a column. ``number`` is shown before it; ``v`` and ``s`` count from 1; ``hue`` is one of six colours.

    ``kind`` is a CSS class (``error``, ``inserted``), ``title`` the tooltip of the line. ``bar`` is the register
    pressure at a line of the text, the issue cycle of a line of Gen. ``parts_of`` are the lines of the text that it
    stands for, instead of ``v``.
    """

    number: str
    parts: list[Part]
    v: int | None = None
    s: int | None = None
    hue: int | None = None
    kind: str = ""
    title: str = ""
    bar: Bar | None = None
    parts_of: tuple[int, ...] = ()


class GenBlock(Struct, frozen=True):
    """The machine code of a kernel: its figures, its lines, and the variables in each GRF register."""

    head: str
    living: dict[int, str]
    lines: list[ColumnLine]


class Columns:
    """The columns of a text with its machine code, and its source if there is one."""

    def __init__(self, document: GenDocument, source: TiedSource | None) -> None:
        self._document = document
        self._source = source
        self._kernels = document.result.kernels
        self._by_line = source.by_line if source is not None else {}
        self._hue = self._hues()

    def _hues(self) -> dict[int, int]:
        """Return a colour for each line of the text with Gen: one per line of the source, else in turn."""
        lines = sorted({under_line.line for kernel in self._kernels for under_line in kernel.lines if under_line.gen})
        if self._source is None:
            return {line: index % HUES for index, line in enumerate(lines)}
        return {line: self._by_line[line] % HUES for line in lines if line in self._by_line}

    @property
    def registers(self) -> dict[str, str]:
        """The register of each variable of the text, with its spills."""
        places = {name: where for kernel in self._kernels for name, where in kernel.listing.registers.items()}
        for kernel in self._kernels:
            for name, spills in spills_of(kernel).items():
                if name in places:
                    places[name] += f"; {spills}"
        return places

    def source(self) -> Iterator[ColumnLine]:
        """Yield the lines of the source, if there is one."""
        used = {number for line, number in self._by_line.items() if line in self._hue}
        for number, parts in enumerate(source_lines(self._source.lines if self._source else ()), 1):
            yield ColumnLine(str(number), parts, s=number, hue=number % HUES if number in used else None)

    def visa(self, findings: Sequence[ReportedFinding]) -> Iterator[ColumnLine]:
        """Yield the lines of the text, with the first finding of each."""
        pressure = {
            under_line.line: under_line.pressure
            for kernel in self._kernels
            for under_line in kernel.lines
            if under_line.pressure is not None
        }
        peak = max(pressure.values(), default=0) or 1
        wrong = {finding.place.line - 1: finding for finding in reversed(findings)}
        made_from = self._document.source
        for line, parts in enumerate(visa_lines(made_from.text, made_from.platform)):
            finding = wrong.get(line)
            live = pressure.get(line)
            bar = None if live is None else Bar(live, 100 * live // peak, f"{live} registers live")
            yield ColumnLine(
                str(line + 1), parts, line + 1, self._by_line.get(line), self._hue.get(line),
                finding.severity.value if finding else "", finding.message if finding else "", bar,
            )  # fmt: skip

    def gen(self) -> Iterator[GenBlock]:
        """Yield the machine code of each kernel."""
        for kernel in self._kernels:
            living = living_in(kernel, self._document.source.platform)
            yield GenBlock(f"{kernel.body.name}: {figures(kernel)}", living, list(self._gen_lines(kernel)))

    def _gen_lines(self, kernel: FinalizedKernel) -> Iterator[ColumnLine]:
        number = 0
        places = [line for _, line in kernel.place_lines()]
        longest = max((gen.issue.stall for gen in kernel.listing.lines if gen.issue), default=0) or 1
        for (gen, line), waits in zip(kernel.place_lines(), wait_words(kernel.place_lines()), strict=True):
            v, s = line + 1, self._by_line.get(line)
            if gen.is_label:
                yield ColumnLine("", [("lab", gen.text)], v, s)
                continue
            number += 1
            added = gen.number is None
            title = "; ".join(filter(None, ("inserted by the finalizer" if added else "", waits)))
            yield ColumnLine(
                str(number), gen_line(gen.text), v, s, self._hue.get(line),
                "inserted" if added else "", title, _issue_bar(gen.issue, places, longest),
            )  # fmt: skip


def _issue_bar(issue: Issue | None, places: list[int], longest: int) -> Bar | None:
    """Return the issue cycle of a line of Gen; its bar is the wait before it in proportion to the longest wait."""
    if issue is None or issue.cycle is None:
        return None
    wait = "" if issue.waits_for is None else f" for line {places[issue.waits_for] + 1}"
    words = f"cycle {issue.cycle} of block {issue.block}, {issue.stall} cycles of waiting{wait}"
    return Bar(issue.cycle, 100 * issue.stall // longest, words)
