"""Findings as JSON text, made in one pass: what is sent after every keystroke passes by the library's converter.

The text says what ``convert.diagnostic`` says, which the tests compare. Invariant: the fields are those of the protocol.
"""

from __future__ import annotations

from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Final

from visa_lsp.lsp.convert import SEVERITY, SOURCE
from visa_lsp.text import units

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.diagnostics import Diagnostic, Rule, Severity
    from visa_lsp.lsp.convert import Text
    from visa_lsp.text import Encoding, Span

# No editor shows more, and sending all findings of a text that is nothing but mistakes would take longer than to make them.
MOST: Final = 5000


def _place(document: Text, offset: int, encoding: Encoding) -> str:
    line, column = document.position(offset)
    if encoding != "utf-32":
        text = document.line_text(line)
        if not text.isascii():
            column = units(text[:column], encoding)
    return f'{{"line":{line},"character":{column}}}'


def _range(document: Text, span: Span, encoding: Encoding) -> str:
    return f'{{"start":{_place(document, span.start, encoding)},"end":{_place(document, span.end, encoding)}}}'


@lru_cache(maxsize=512)
def fixed_part(rule: Rule, severity: Severity) -> str:
    """What is the same in all findings of a rule."""
    name, code = encode_basestring_ascii(rule.name), encode_basestring_ascii(rule.code)
    return f'"severity":{SEVERITY[severity].value},"code":{code},"source":"{SOURCE}","data":{{"name":{name}}}'


def diagnostic_text(
    document: Text,
    uri: str,
    found: Diagnostic,
    encoding: Encoding,
    *,
    related: bool = True,
    other: Callable[[str], Text | None] = lambda _path: None,
) -> str:
    """The JSON text of a finding; the arguments are those of ``convert.diagnostic``."""
    places = []
    for place in found.related if related else ():
        text = document if place.path is None else other(place.path)
        if text is not None:
            where = encode_basestring_ascii(place.path or uri)
            what = encode_basestring_ascii(place.message)
            span = _range(text, place.span, encoding)
            places.append(f'{{"location":{{"uri":{where},"range":{span}}},"message":{what}}}')
    more = f',"relatedInformation":[{",".join(places)}]' if places else ""
    message = encode_basestring_ascii(found.message)
    return (
        f'{{"range":{_range(document, found.span, encoding)},"message":{message},'
        f"{fixed_part(found.rule, found.severity)}{more}}}"
    )


def last_note(document: Text, left: int) -> str:
    """What stands for the findings that are not sent, at the start of the text."""
    line = _place(document, 0, "utf-32")
    message = encode_basestring_ascii(f"{left} more findings are not shown; `visa-lsp check` lists all of them")
    return f'{{"range":{{"start":{line},"end":{line}}},"message":{message},"severity":3,"source":"{SOURCE}"}}'


def joined(items: Sequence[str], left: int, document: Text) -> bytes:
    """Findings as the members of a JSON array; ``left`` more are only counted."""
    return ",".join([*items, last_note(document, left)] if left else items).encode("ascii")
