"""Findings as JSON values are what the library reads and writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from lsprotocol import types
from lsprotocol.converters import get_converter

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.lsp.convert import SEVERITY, range_of
from visa_lsp.lsp.encode import MAX_FINDINGS, count_value, encode_json, finding_value

if TYPE_CHECKING:
    from visa_lsp.text import Encoding

TEXT = (
    '.version 4.1\n.kernel "k"\n.decl V40 v_type=G type=d num_elts=8 align=dword\n/* \U0001d11e é */ mov (M1, 8) V41(0,0)<1> 0x1:d\n'
    'mov (M1, 8) V41(0,0)<1> V41(0,0)<1;1,0> // "é"\nfoo (M1, 8) V40(0,0)<1>\n.decl V40 v_type=G type=d num_elts=8\n'
)
URI = 'file:///a "b" é.visaasm'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("related", [True, False])
def test_values_are_those_of_the_librarys_types(encoding: Encoding, related: bool) -> None:
    analysis = Analysis.of(TEXT)
    document, converter = analysis.document, get_converter()
    assert any(found.related for found in analysis.diagnostics)
    for found in analysis.diagnostics:
        value = json.loads(encode_json(finding_value(document, URI, found, encoding, related=related)))
        read = converter.structure(value, types.Diagnostic)
        assert converter.unstructure(read) == value
        assert read.range == range_of(document, found.span, encoding)
        places = read.related_information or []
        assert [p.location.range for p in places] == [
            range_of(document, r.span, encoding) for r in found.related if related
        ]
        assert (read.message, read.severity, read.code) == (found.message, SEVERITY[found.severity], found.code)


def test_findings_that_are_not_sent_are_counted() -> None:
    note = count_value(Analysis.of(TEXT).document, 7)
    assert note["message"].startswith("7 more findings")
    assert MAX_FINDINGS >= 1000


def test_halves_of_characters_are_escaped() -> None:
    assert json.loads(encode_json({"message": "`\ud834` is no name"})) == {"message": "`\ud834` is no name"}
