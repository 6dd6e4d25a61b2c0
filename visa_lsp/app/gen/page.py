"""An HTML page with source, vISA and Gen side by side, figures and findings, in one file without network access.

The page is complete without its script, which highlights linked lines. All text is escaped, and a content security policy
forbids loading anything.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from visa_lsp import __version__
from visa_lsp.app.errors import printable
from visa_lsp.app.gen.columns import Bar, ColumnLine, Columns, GenBlock
from visa_lsp.app.gen.gen_document import GenDocument, own_findings
from visa_lsp.app.gen.highlight import row_of
from visa_lsp.app.gen.printing import figures
from visa_lsp.app.gen.sources import source_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from visa_lsp.app.check.report import ReportedFinding

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_HELP: Final = (
    "Up and down select the line, left and right the column, n and p the next and previous finding; "
    "t toggles light and dark."
)


def page(documents: Sequence[GenDocument], source: str | None = None) -> str:
    """Return the page of texts. ``source`` is the source file that the user named. Raises UserError if it cannot be read."""
    return page_of("machine code", [(document.source.name, _document(document, source)) for document in documents])


def page_of(subject: str, sections: Sequence[tuple[str, Iterable[str]]]) -> str:
    """Return a page of sections, each a text with a name; one is shown at a time."""
    names = ", ".join(dict.fromkeys(name for name, _ in sections))
    out = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_text(names)}: {subject}</title>",
        f"<style>\n{_asset('page.css')}</style></head><body>",
        *_choice([name for name, _ in sections]),
    ]
    for number, (_, lines) in enumerate(sections):
        out += [f'<section class="document" data-number="{number}">', *lines, "</section>"]
    out += [
        f"<footer>{_text(_HELP)} Made by visa-lsp {_text(__version__)}.</footer>",
        f"<script>\n{_asset('page.js')}</script></body></html>",
        "",
    ]
    return "\n".join(out)


def _asset(name: str) -> str:
    return files("visa_lsp.app.gen").joinpath(name).read_text(encoding="utf-8")


def _text(words: str) -> str:
    return escape(printable(words))


def _choice(names: Sequence[str]) -> Iterator[str]:
    """Yield the bar with the theme button and the choice of the text."""
    yield '<div class="bar"><button type="button" id="theme">light / dark</button>'
    if len(names) > 1:
        yield '<label>text <select id="which">'
        for number, name in enumerate(names):
            yield f'<option value="{number}">{_text(name)}</option>'
        yield "</select></label>"
    yield "</div>"


def _document(document: GenDocument, named: str | None) -> Iterator[str]:
    made_from = document.source
    source = source_for(made_from.name, made_from.text, named or made_from.made_from)
    call = " ".join([document.tool, "-platform", made_from.platform, *document.options])
    yield f"<header><h1>{_text(made_from.name)}</h1><p>{_text(made_from.platform)} <code>{_text(call)}</code></p>"
    yield '<ul class="figures">'
    for kernel in document.result.kernels:
        yield f"<li><b>{_text(kernel.body.name)}</b>: {_text(figures(kernel))}</li>"
    yield "</ul>"
    findings = (*document.findings, *own_findings(made_from))
    yield from _findings(findings, {id(f) for f in document.findings})
    yield f'</header><div class="columns{"" if source else " two"}">'
    columns = Columns(document, source)
    if source is not None:
        yield from column("source", _text(source.name), map(line_of, columns.source()))
    yield from column("visa", "vISA", _visa(columns, findings))
    yield from column("gen", "Gen", _gen(columns))
    yield "</div>"


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


def column(name: str, title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield a column of lines."""
    yield f'<div class="column {name}"><h2>{title}</h2><div class="lines" role="listbox" tabindex="0" aria-label="{title}">'
    yield from lines
    yield "</div></div>"


def _visa(columns: Columns, findings: Sequence[ReportedFinding]) -> Iterator[str]:
    registers = columns.registers
    for line in columns.visa(findings):
        yield line_of(line, lambda kind, text: registers.get(text, "") if kind == "var" else "", _bar(line.bar))


def _gen(columns: Columns) -> Iterator[str]:
    blocks = list(columns.gen())
    if not blocks:
        yield '<div class="head">no machine code; see the findings</div>'
    for block in blocks:
        yield f'<div class="head">{_text(block.head)}</div>'
        timed = any(line.bar for line in block.lines)
        yield from (line_of(line, _titles(block), _bar(line.bar) if timed else "") for line in block.lines)


def _titles(block: GenBlock) -> Callable[[str, str], str]:
    def title(kind: str, text: str) -> str:
        row = row_of(text) if kind == "reg" else None
        return "" if row is None else block.living.get(row, "")

    return title


def line_of(line: ColumnLine, title: Callable[[str, str], str] = lambda _kind, _text: "", bar: str = "") -> str:
    """Return a line of a column; ``title`` returns the tooltip of a part, given its kind and text."""
    classes = f"{'' if line.hue is None else f' h{line.hue}'}{f' {line.kind}' if line.kind else ''}"
    own = () if line.v is None else (line.v,)
    ties = f' data-v="{" ".join(map(str, line.parts_of or own))}"' if line.parts_of or own else ""
    ties += f' data-s="{line.s}"' if line.s is not None else ""
    tooltip = f' title="{_text(line.title)}"' if line.title else ""
    code = "".join(_part(kind, text, title(kind, text)) for kind, text in line.parts) or " "
    return f'<div class="line{classes}" role="option"{ties}{tooltip}><i>{line.number}</i>{bar}<code>{code}</code></div>'


def _bar(bar: Bar | None) -> str:
    if bar is None:
        return '<b class="live"></b>'
    return f'<b class="live" style="--live:{bar.percent}%" title="{bar.title}">{bar.figure}</b>'


def _part(kind: str, text: str, title: str) -> str:
    tooltip = f' title="{_text(title)}"' if title else ""
    return f'<span class="{kind}"{tooltip}>{_text(text)}</span>' if kind else _text(text)
