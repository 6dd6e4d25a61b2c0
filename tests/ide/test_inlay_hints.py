"""Inlay hints by their features: the types of operands of every form, and what the settings say of them."""

from __future__ import annotations

import pytest
from corpus import files, read
from cursor import DECLARATIONS, analyse_at_cursor

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.features.inlay_hints import HintKind, inlay_hints
from visa_lsp.ide.index.token_at import line_tokens
from visa_lsp.ide.index.tokens import TokenKind
from visa_lsp.ide.workspace import UserSettings, read_settings
from visa_lsp.sema.model import SymbolKind
from visa_lsp.syntax import tree


def typed(line: str) -> str:
    """Return a line with its hints in square brackets."""
    analysis, offset = analyse_at_cursor("^" + line + "\nL:\n")
    at = analysis.document.position(offset)[0]
    for hint in reversed(inlay_hints(analysis, at, at, (HintKind.TYPE,))):
        line = f"{line[: hint.column]}‹{hint.text}›{line[hint.column :]}"
    return line


@pytest.mark.parametrize(
    "line",
    [
        "mov (M1, 8) A‹:f›(0,0)<1> B‹:d›(0,0)<8;8,1>",
        "mov (M1, 8) A‹:f›(0,0)<1> (-)A‹:f›(0,0)<1;1,0>",
        "mov (M1, 8) A‹:f›(0,0)<1> (-abs)A‹:f›(0,0)<1;1,0>",
        "and (M1, 8) B‹:d›(0,0)<1> (~)B‹:d›(0,0)<1;1,0> 0x1:d",
        "(P1) sel (M1_NM, 8) B‹:d›(0,0)<1> W‹:w›(0,0)<1;1,0> X‹:ud›(0,0)<0;1,0>",
        "mov (M1, 8) A‹:f›(0,0)<1> r[AD(0),16]<8;8,1>:d",
        "addr_add (M1, 1) AD(0)<1> &A‹:f› X‹:ud›(0,0)<0;1,0>",
        "gather4_scaled.R (M1, 16) T6 0x0:ud B‹:d›.0 A‹:f›.0",
        "lsc_load.ugm.ca.ca (M1, 16) B‹:d›:d32 flat[A‹:f›]:a64",
        "lsc_load.ugm (M1, 16) B‹:d›:d32x2 flat[A‹:f›+0x40]:a64",
        "lsc_load.ugm (M1, 16) B‹:d›:d32 surf(X‹:ud›)[A‹:f›]:a32",
        "lsc_load.ugm (M1, 16) B‹:d›:d32 flat(X‹:ud›)[0x4*A‹:f›]:a64",
        "lsc_load_block2d.ugm (M1, 1) B‹:d›:d16.16x8nn flat[A‹:f›,0x3f,0x7,0x3f,X‹:ud›,W‹:w›]",
        "lsc_atomic_iadd.ugm (M1, 16) %null:d32 flat[A‹:f›]:a64 B‹:d› %null",
        "mov (M1, 1) X‹:ud›(0,0)<1> %r0‹:ud›(0,1)<0;1,0>",
        "faddr A X‹:ud›(0,0)<1>",
        "fcall (M1, 1) A 1 1",
        "goto (M1, 1) L // A(0,0)",
        ".decl Y v_type=G type=d num_elts=8 alias=<A, 0>",
    ],
)
def test_types_stand_beside_operands_of_every_form(line: str):
    bare = line
    while "‹" in bare:
        bare = bare[: bare.index("‹")] + bare[bare.index("›") + 1 :]
    assert typed(bare) == line


@pytest.mark.parametrize("platform", ["TGLLP", "DG2", "PVCXT"])
def test_every_general_variable_of_a_dump_has_its_type(platform: str):
    found, expected = set(), set()
    for number, path in enumerate(files(f"run/{platform}/*/*.visaasm")[::4]):
        analysis = Analysis.of(read(path))
        expected |= {(number, *place) for place in general_variables(analysis)}
        for first in range(0, analysis.document.line_count, 100):
            hints = inlay_hints(analysis, first, first + 99, (HintKind.TYPE,))
            found |= {(number, hint.line, hint.column) for hint in hints}
    assert expected
    assert found == expected


def general_variables(analysis: Analysis) -> set[tuple[int, int]]:
    """Line and end of each name of a general variable in an instruction, by the binding; %null holds nothing."""
    return {
        (line, token.span.end)
        for line in range(analysis.document.line_count)
        if isinstance(analysis.document.statement(line), tree.Instruction)
        for token in line_tokens(analysis, line)
        if token.kind is TokenKind.VARIABLE and token.text != "%null"
        for body in [analysis.bound.body_at(line)]
        if body is not None
        for symbol in [body.find(token.text, line)]
        if symbol is not None and symbol.kind is SymbolKind.GENERAL
    }


CALM = frozenset(HintKind) - {HintKind.TYPE}


@pytest.mark.parametrize(
    ("value", "hints", "at_cursor"),
    [
        ({}, CALM, False),
        ({"types": "off"}, CALM, False),
        ({"types": False}, CALM, False),
        ({"types": "on"}, frozenset(HintKind), False),
        ({"types": True}, frozenset(HintKind), False),
        ({"types": "cursorLine"}, frozenset(HintKind), True),
        ({"types": "on", "lines": False}, frozenset(HintKind) - {HintKind.LINE}, False),
        (True, frozenset(HintKind), False),
        (False, frozenset(), False),
    ],
)
def test_settings_of_hints(value, hints, at_cursor):
    found, problems = read_settings({"visa": {"inlayHints": value}}, UserSettings(type_hints_at_cursor=True))
    assert (found.hints, found.type_hints_at_cursor, problems) == (hints, at_cursor, ())


def test_without_settings_types_are_not_shown():
    assert (UserSettings().hints, UserSettings().type_hints_at_cursor) == (CALM, False)
    assert not inlay_hints(Analysis.of(DECLARATIONS), 0, 20, ())


@pytest.mark.parametrize("value", ["always", 1, [], {}])
def test_a_wrong_setting_of_types_is_explained(value):
    found, problems = read_settings({"inlayHints": {"types": value}})
    assert found.hints == CALM
    [problem] = problems
    assert "off, cursorLine or on" in problem
