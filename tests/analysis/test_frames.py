"""Frames that are known to be clean: by the places of declarations in one text, and from one text to the next."""

from __future__ import annotations

import pytest

from visa_lsp.analysis.analysis import Analysis

HEAD = '.version 4.1\n.kernel "k"\n'
DECLS = (
    ".decl V32 v_type=G type=ud num_elts=8 align=GRF\n",
    ".decl V33 v_type=G type=ud num_elts=8 align=GRF\n",
)
INPUT = ".input V32 offset=32 size=32\n"
CODE = "    mov (M1, 8) V33(0,0)<1> V32(0,0)<1;1,0>\n    ret (M1, 1)\n"


def codes(analysis: Analysis) -> list[str]:
    return [d.code for d in analysis.incremental_diagnostics()]


def test_a_declaration_that_moves_behind_its_input_is_told():
    texts = {
        HEAD + DECLS[0] + DECLS[1] + INPUT + CODE: [],
        HEAD + DECLS[1] + INPUT + DECLS[0] + CODE: ["V101"],
        HEAD + INPUT + DECLS[0] + DECLS[1] + CODE: ["V101"],
    }
    for before, was in texts.items():
        for after, now in texts.items():
            analysis = Analysis.of(before)
            assert codes(analysis) == was
            assert codes(analysis.edit(0, len(before), after)) == now


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"k"', "k"),
        ("offset=32", "offset=33"),
        ("offset=32 size=32", "offset=32 size=16"),
        (".input V32", ".input V34"),
        (".input V32", ".input V31"),
        ("    ret (M1, 1)\n", ""),
        ("type=ud num_elts=8 align=GRF\n.input", "type=ud num_elts=4 align=GRF\n.input"),
        (INPUT, INPUT + INPUT),
        (DECLS[0] + INPUT, INPUT + DECLS[0]),
        ("<1> V32", "<1> V99"),
    ],
)
def test_a_frame_like_one_that_was_clean_is_told_apart(old: str, new: str):
    clean = HEAD.replace('"k"', '"m"') + DECLS[1] + DECLS[0] + INPUT + CODE
    text = clean.replace("V3", "V7").replace('"m"', '"k"')
    assert codes(Analysis.of(clean)) == codes(Analysis.of(text)) == []
    other = clean.replace('"m"', '"k"').replace(old, new)
    assert other != clean
    analysis = Analysis.of(other)
    assert analysis.incremental_diagnostics() == analysis.full_diagnostics


def test_an_input_of_another_place_leaves_its_lines_as_they_were():
    text = HEAD + DECLS[0] + DECLS[1] + INPUT + "    mov (M1, 8) V32(0,0)<1> V33(0,0)<1;1,0>\n    ret (M1, 1)\n"
    analysis = Analysis.of(text)
    for where in (
        "offset=32 size=32",
        "offset=64 size=32",
        "offset=x size=32",
        "offset=64 size=99999",
        "offset=32 size=32",
    ):
        old = analysis.document.text
        at = old.index("offset=")
        end = old.index("\n", at)
        analysis = analysis.edit(at, end, where)
        assert analysis.incremental_diagnostics() == Analysis.of(analysis.document.text).full_diagnostics, where


def test_what_a_broken_declaration_declares_tells_nothing_about_other_texts():
    broken = ".decl V32( v_type=G type=ud num_elts=8 align=GRF\n"
    code = (
        "    mov (M1, 8) V33(0,0)<1> 0x1:ud\n    lsc_load.ugm (M1, 8) V32:d32 flat[V33]:a32\n"
        "    mov (M1, 8) V33(0,0)<1> 0x1:ud\n    ret (M1, 1)\n"
    )
    assert codes(Analysis.of(HEAD + DECLS[1] + broken + code)) == ["V001"]
    assert codes(Analysis.of(HEAD + DECLS[1] + code)) == ["V101"]


def test_nor_does_it_about_its_aliases():
    broken = ".decl V34( v_type=G type=ud num_elts=8 align=GRF\n"
    aliases = (
        ".decl V35 v_type=G type=uw num_elts=16 align=GRF alias=<V34, 0>\n"
        ".decl V36 v_type=G type=ub num_elts=32 align=GRF alias=<V35, 0>\n"
    )
    use = "    mov (M1, 8) V33(0,0)<1> 0x1:ud\n"
    for lines in (broken + aliases, aliases, broken + aliases, aliases.replace("V35", "V37")):
        analysis = Analysis.of(HEAD + lines + DECLS[1] + use + use.replace("V33", "V34") + use + "    ret (M1, 1)\n")
        assert analysis.incremental_diagnostics() == analysis.full_diagnostics, lines
