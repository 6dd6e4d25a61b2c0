"""Colours and names in statements that continue in later lines, after a backslash or in a comment of several lines."""

from __future__ import annotations

import pytest

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.features.definition import definition
from visa_lsp.ide.features.semantic_tokens import semantic_tokens

_HEAD = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=d num_elts=16 align=GRF
"""
_PLAIN = "    mov (M1, 8) V32(0,0)<1> V32(0,2)<1;1,0>\n"


@pytest.mark.parametrize("between", ["\\\n    ", "/* first\n second */ "])
@pytest.mark.parametrize("lines", [1, 120])
def test_each_line_of_a_statement_has_its_own_words(between: str, lines: int):
    plain, continued = (_HEAD + _PLAIN.replace("V32(0,2)", gap + "V32(0,2)") * lines for gap in ("", between))
    for text in (plain, continued):
        words = _coloured_words(text)
        assert words[-4:] == ["V32", "0", "2", "<1;1,0>"]
        assert words == _coloured_words(plain)
    use = continued.rindex("V32")
    target = definition(Analysis.of(continued), use)
    assert target is not None
    assert target.name.start == continued.index("V32")


def _coloured_words(text: str) -> list[str]:
    split = text.split("\n")
    analysis = Analysis.of(text)
    tokens = list(semantic_tokens(analysis))
    by_line = [t for line in range(len(split)) for t in semantic_tokens(analysis, line, line)]
    assert by_line == tokens
    return [split[t.line][t.span.start : t.span.end] for t in tokens]
