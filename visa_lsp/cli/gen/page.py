"""One page to share: source, vISA and Gen side by side, with figures and findings, in one file that needs no network.

The page is whole without its script, which marks what belongs together. Everything that comes from a text is escaped, and the page
forbids itself to load anything.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from visa_lsp import __version__
from visa_lsp.cli.common import printable
from visa_lsp.cli.gen.document import own_findings
from visa_lsp.cli.gen.highlight import gen_line, living_in, source_lines, visa_lines
from visa_lsp.cli.gen.printing import figures
from visa_lsp.cli.gen.sources import source_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.cli.check.report import ReportedFinding
    from visa_lsp.cli.gen.document import GenDocument
    from visa_lsp.cli.gen.sources import TiedSource
    from visa_lsp.toolchain.finalize import FinalizedKernel

_HUES: Final = 6
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_HELP: Final = (
    "Up and down move the line, left and right the column; n and p go to the next and previous finding, "
    "t changes between light and dark."
)


def page(documents: Sequence[GenDocument], source: str | None = None) -> str:
    """The page of some texts. ``source`` is the file of the source, where the user names it; CliError where it cannot be read."""
    names = ", ".join(dict.fromkeys(document.source.name for document in documents))
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{_text(names)}: machine code</title>",
            f"<style>\n{_asset('page.css')}</style></head><body>",
            *_choice(documents),
            *(line for number, one in enumerate(documents) for line in _document(number, one, source)),
            f"<footer>{_text(_HELP)} Made by visa-lsp {_text(__version__)}.</footer>",
            f"<script>\n{_asset('page.js')}</script></body></html>",
            "",
        ]
    )  # fmt: skip


def _asset(name: str) -> str:
    return files("visa_lsp.cli.gen").joinpath(name).read_text(encoding="utf-8")


def _text(words: str) -> str:
    return escape(printable(words))


def _choice(documents: Sequence[GenDocument]) -> Iterator[str]:
    """What goes above all texts: the theme, and which text is shown."""
    yield '<div class="bar"><button type="button" id="theme">light / dark</button>'
    if len(documents) > 1:
        yield '<label>text <select id="which">'
        for number, document in enumerate(documents):
            yield f'<option value="{number}">{_text(document.source.name)}</option>'
        yield "</select></label>"
    yield "</div>"


def _document(number: int, document: GenDocument, named: str | None) -> Iterator[str]:
    made_from = document.source
    source = source_for(made_from.name, made_from.text, named)
    call = " ".join([document.tool, "-platform", made_from.platform, *document.options])
    yield f'<section class="document" data-number="{number}">'
    yield f"<header><h1>{_text(made_from.name)}</h1><p>{_text(made_from.platform)} <code>{_text(call)}</code></p>"
    yield '<ul class="figures">'
    for kernel in document.result.kernels:
        yield f"<li><b>{_text(kernel.body.name)}</b>: {_text(figures(kernel))}</li>"
    yield "</ul>"
    findings = (*document.findings, *own_findings(made_from))
    yield from _findings(findings, {id(f) for f in document.findings})
    yield f'</header><div class="columns{"" if source else " two"}">'
    hue = _hues(source, document)
    if source is not None:
        yield from _source_column(source, hue)
    yield from _visa_column(document, source, hue, findings)
    yield from _gen_column(document, source, hue)
    yield "</div></section>"


def _findings(findings: Sequence[ReportedFinding], theirs: set[int]) -> Iterator[str]:
    if not findings:
        return
    yield '<ol class="findings">'
    for finding in findings:
        who = "finalizer" if id(finding) in theirs else "visa-lsp"
        yield (
            f'<li class="{finding.severity.value}"><a href="#" data-line="{finding.place.line}">line {finding.place.line}</a> '
            f'<span class="who">{who}</span> {finding.severity.value} {finding.code}: {_text(finding.message)}</li>'
        )
    yield "</ol>"


def _hues(source: TiedSource | None, document: GenDocument) -> dict[int, int]:
    """A colour for each line of the text that has Gen: one for each line of the source, else one after another."""
    lines = sorted({one.line for kernel in document.result.kernels for one in kernel.lines if one.gen})
    if source is None:
        return {line: at % _HUES for at, line in enumerate(lines)}
    return {line: source.by_line[line] % _HUES for line in lines if line in source.by_line}


def _column(name: str, title: str) -> str:
    return f'<div class="column {name}"><h2>{title}</h2><div class="lines" role="listbox" tabindex="0" aria-label="{title}">'


def _line(number: str, code: str, hue: int | None, partner: str, more: str = "", classes: str = "") -> str:
    coloured = f" h{hue}" if hue is not None else ""
    return f'<div class="line{coloured}{classes}" role="option"{partner}><i>{number}</i>{more}<code>{code or " "}</code></div>'


def _source_column(source: TiedSource, hue: dict[int, int]) -> Iterator[str]:
    yield _column("source", _text(source.name))
    used = {number for line, number in source.by_line.items() if line in hue}
    for number, code in enumerate(source_lines(source.lines), 1):
        yield _line(str(number), code, number % _HUES if number in used else None, f' data-s="{number}"')
    yield "</div></div>"


def _visa_column(
    document: GenDocument, source: TiedSource | None, hue: dict[int, int], findings: Sequence[ReportedFinding]
) -> Iterator[str]:
    kernels = document.result.kernels
    pressure = {one.line: one.pressure for kernel in kernels for one in kernel.lines if one.pressure is not None}
    peak = max(pressure.values(), default=0) or 1
    registers = {name: where for kernel in kernels for name, where in kernel.listing.registers.items()}
    wrong = {finding.place.line - 1: finding for finding in reversed(findings)}
    yield _column("visa", "vISA")
    lines = visa_lines(document.source.text, document.source.platform, lambda name: registers.get(name, ""))
    for line, code in enumerate(lines):
        partner = f' data-v="{line + 1}"'
        if source is not None and line in source.by_line:
            partner += f' data-s="{source.by_line[line]}"'
        found = wrong.get(line)
        if found is not None:
            partner += f' title="{_text(found.message)}"'
        live = pressure.get(line)
        bar = f' style="--live:{100 * live // peak}%" title="{live} registers live"' if live is not None else ""
        more = f'<b class="live"{bar}>{"" if live is None else live}</b>'
        yield _line(str(line + 1), code, hue.get(line), partner, more, f" {found.severity.value}" if found else "")
    yield "</div></div>"


def _gen_column(document: GenDocument, source: TiedSource | None, hue: dict[int, int]) -> Iterator[str]:
    yield _column("gen", "Gen")
    if not document.result.kernels:
        yield '<div class="head">no machine code: the findings say why</div>'
    for kernel in document.result.kernels:
        yield f'<div class="head">{_text(kernel.body.name)}: {_text(figures(kernel))}</div>'
        yield from _gen_lines(kernel, document.source.platform, source, hue)
    yield "</div></div>"


def _gen_lines(kernel: FinalizedKernel, platform: str, source: TiedSource | None, hue: dict[int, int]) -> Iterator[str]:
    title = living_in(kernel, platform)
    number = 0
    for gen, line in kernel.placed():
        partner = f' data-v="{line + 1}"'
        if source is not None and line in source.by_line:
            partner += f' data-s="{source.by_line[line]}"'
        if gen.is_label:
            yield _line("", f'<span class="lab">{_text(gen.text)}</span>', None, partner)
            continue
        number += 1
        inserted = ' title="inserted by the finalizer"' if gen.number is None else ""
        yield _line(
            str(number),
            gen_line(gen.text, title),
            hue.get(line),
            partner + inserted,
            classes=" inserted" if inserted else "",
        )
