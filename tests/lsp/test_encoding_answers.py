"""Findings written as JSON text say what the library's converter says of them; a plain edit is read as it reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from lsprotocol.converters import get_converter

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.lsp.convert import diagnostic
from visa_lsp.lsp.encode import MOST, diagnostic_text, joined
from visa_lsp.lsp.transport.wire import changes_of

if TYPE_CHECKING:
    from visa_lsp.text import Encoding

TEXT = (
    '.version 4.1\n.kernel "k"\n.decl V40 v_type=G type=d num_elts=8 align=dword\n/* \U0001d11e é */ mov (M1, 8) V41(0,0)<1> 0x1:d\n'
    'mov (M1, 8) V41(0,0)<1> V41(0,0)<1;1,0> // "é"\nfoo (M1, 8) V40(0,0)<1>\n.decl V40 v_type=G type=d num_elts=8\n'
)
URI = 'file:///a "b" é.visaasm'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("related", [True, False])
def test_text_says_what_the_converter_says(encoding: Encoding, related: bool) -> None:
    analysis = Analysis.of(TEXT)
    document = analysis.document
    assert any(found.related for found in analysis.diagnostics)
    for found in analysis.diagnostics:
        expected = get_converter().unstructure(diagnostic(document, URI, found, encoding, related=related))
        assert json.loads(diagnostic_text(document, URI, found, encoding, related=related)) == expected


def test_findings_that_are_not_sent_are_counted() -> None:
    document = Analysis.of(TEXT).document
    assert json.loads(b"[" + joined([], 0, document) + b"]") == []
    (note,) = json.loads(b"[" + joined([], 7, document) + b"]")
    assert note["message"].startswith("7 more findings")
    assert MOST >= 1000


def test_plain_edit_is_read() -> None:
    span = {"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 3}}
    params = {
        "textDocument": {"uri": "file:///x", "version": 3},
        "contentChanges": [{"range": span, "rangeLength": 1, "text": "y"}, {"text": "z"}],
    }
    assert changes_of(params) == ("file:///x", 3, [((1, 2, 1, 3), "y"), (None, "z")])


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        {"textDocument": {"uri": "file:///x"}, "contentChanges": []},
        {"textDocument": {"uri": 1, "version": 1}, "contentChanges": []},
        {"textDocument": {"uri": "x", "version": True}, "contentChanges": []},
        {"textDocument": {"uri": "x", "version": 1}, "contentChanges": [{"text": 1}]},
        {"textDocument": {"uri": "x", "version": 1}, "contentChanges": [{"range": 5, "text": ""}]},
        {
            "textDocument": {"uri": "x", "version": 1},
            "contentChanges": [
                {"range": {"start": {"line": -1, "character": 0}, "end": {"line": 0, "character": 0}}, "text": ""}
            ],
        },
    ],
)
def test_any_other_edit_is_left_to_the_library(params: object) -> None:
    assert changes_of(params) is None
