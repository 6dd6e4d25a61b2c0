"""Edits after which the incremental path once found something else than the full one, each at its smallest."""

from __future__ import annotations

import pytest

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.syntax import document

HEAD = '.version 4.1\n.kernel "k"\n'
DECLS = "".join(f".decl V{n} v_type=G type=d num_elts=8 align=GRF\n" for n in range(40, 48))
WORDS = "".join(f".decl V{n} v_type=G type=uw num_elts=32 align=GRF\n" for n in (50, 51))
CODE = "    mov (M1, 8) V40(0,0)<1> V41(0,0)<1;1,0>\n" * 12
LOAD = "    oword_ld (2) V40 0x0:ud V41.0\n"
RET = "    ret (M1, 1)\n"
TWO = """.decl V32 v_type=G type=f num_elts=8 align=GRF
{
.decl V50 v_type=G type=f num_elts=8 align=GRF
}
.decl V33 v_type=G type=d num_elts=8 align=GRF
.input V32 offset=32 size=32
.input V33 offset=64 size=32
"""
# A text, what of it is replaced (its first place), and by what.
EDITS = {
    "another declaration of an input's variable": (
        HEAD + TWO + CODE + RET,
        "{\n.decl V50",
        ".decl V32 v_type=G type=f num_elts=16 align=GRF\n{\n.decl V50",
    ),
    "the base of a broken declaration is missing": (
        HEAD + DECLS + ".decl Q2 v_type=G tye=d num_elts=8 align=GRF alias=<Q1, 0>\n" + CODE + RET,
        ".version 4.1",
        ".version 4",
    ),
    "an instruction before all declarations, beside what only looks like code": (
        ".version 4.1\n// a\nlooks like code\n// b\n" + '.kernel "k"\n' + "what is this\n" * 9 + DECLS
        + CODE.replace("V41", "Q9") + RET,
        "what is this\n",
        "    mov (M1, 8) V40(0,0)<1> V41(0,0)<1;1,0>\nwhat is this\n",
    ),
    "an input directive that runs into its name": (
        HEAD + DECLS + ".input V40 offset=32 size=32\n" + CODE + RET,
        ".input V40",
        ".input%undefined V40",
    ),
    "a declaration becomes broken, behind which new ones are put": (
        HEAD + ".decl V39 v_type=G type=d num_elts=8 align=GRF\n" + CODE.replace("V41", "Q9") + RET,
        ".decl V39 v_type=G type=d num_elts=8 align=GRF\n",
        ".decl V40 v_type=G type=d num_elts=8 align=GRF\n.decl V39\n",
    ),
    "the last declaration is a second one no more": (
        HEAD + ".decl V50 v_type=G type=d num_elts=8 align=GRF\n" * 2 + DECLS
        + ".decl V50 v_type=G type=d num_elts=8 align=GRF\n" + CODE.replace("V41", "Q9") + RET,
        ".decl V50 v_type=G type=d num_elts=8 align=GRF\n" * 2,
        "",
    ),
    "a scope that begins before the declaration of what no declaration may name": (
        HEAD + DECLS + ".decl %V60 v_type=G type=d num_elts=8 align=GRF\n" + CODE.replace("V41", "%V60") + RET,
        ".decl V45",
        "{\n.decl V45",
    ),
    "an input is said to be one before it is declared, and then behind that": (
        HEAD + DECLS + ".input V50 offset=32 size=64\n" + WORDS + CODE.replace("V40", "V50") + RET,
        ".input V50 offset=32 size=64\n" + WORDS,
        WORDS + ".input V50 offset=32 size=64\n",
    ),
    "a broken declaration of what another one is an alias of": (
        HEAD + DECLS + ".decl V60 v_type=G type=d num_elts=8 align=GRF alias=<V59, 4>\n" + CODE
        + "    oword_ld (2) T6 0x0:ud V60.0\n" + RET,
        ".decl V40",
        ".decl V59\n.decl V40",
    ),
    "a scope that begins before an alias of itself": (
        HEAD + DECLS + ".decl V60 v_type=G type=d num_elts=8 align=GRF alias=<V60, 4>\n" + CODE + RET,
        ".decl V45",
        "{\n.decl V45",
    ),
    "the version comes to stand below the lines that it is about": (
        HEAD.replace("4.1", "4.2") + DECLS + LOAD + CODE + RET,
        HEAD.replace("4.1", "4.2") + DECLS + LOAD,
        '.kernel "k"\n' + DECLS + LOAD + ".version 4.2\n",
    ),
    "a declaration that is nested too deeply to be read, behind which new ones are not put": (
        HEAD + DECLS + ".decl r" + "[A0(0)r" * 300 + "\n" + CODE + RET,
        "    mov",
        ".input V50 offset=32 size=32\n    mov",
    ),
    "a base in another chunk becomes smaller than its alias": (
        HEAD + DECLS + ".decl V60 v_type=G type=d num_elts=8 align=GRF alias=<V40, 0>\n" + CODE.replace("V40", "V60") + RET,
        ".decl V40 v_type=G type=d",
        ".decl V40 v_type=G type=b",
    ),
    "a predicate is declared a second time, as a variable": (
        HEAD + ".decl Q5 v_type=P num_elts=8\n" + DECLS + CODE + CODE.replace("V40", "Q5") + RET,
        "    mov",
        ".decl Q5 v_type=G type=d num_elts=8 align=GRF\n    mov",
    ),
    "a label that has no name yet": (HEAD + DECLS + CODE + '    goto (M1, 8) "x"\n' + RET, '"x"', '""'),
}  # fmt: skip
# Texts of which a first look, or the second one in a process, was wrong.
TEXTS = {
    "a subroutine without a name": HEAD + DECLS + CODE + '.function ""\n' + CODE,
    "an input whose name goes on with another sign": (
        HEAD + DECLS + "{\n}\n.input V40$ offset=32 size=32\n" + CODE + '.function "f"\n' + RET
    ),
    "an input whose second declaration is an alias": (
        HEAD + DECLS + WORDS + "{\n.decl V40 v_type=G type=d num_elts=8 align=GRF alias=<V50, 0>\n.input V40 offset=32 size=32\n"
        + CODE + "}\n" + RET
    ),
    "control characters in a declaration": HEAD + DECLS.replace("V41 ", "V41\x1d\x1d ") + CODE + RET,
    "an alias of what may not be declared": (
        HEAD + ".decl %V44 v_type=G type=d num_elts=8 align=GRF\n" + DECLS
        + ".decl V50 v_type=G type=d num_elts=8 align=GRF alias=<%V44, 0>\n.input %V44 offset=32 size=32\n" + CODE + RET
    ),
    "numbers that are alike but for the bits of a negative one": (
        HEAD + DECLS + CODE + "".join(f"    mov (M1, 8) V40(0,0)<1> 0x{value:x}:b\n" for value in (0xFFFFFF80, 0xFFFFEF7F)) + RET
    ),
}  # fmt: skip


@pytest.mark.parametrize("lines", [8, 256])
@pytest.mark.parametrize("what", EDITS)
def test_an_edit(what: str, lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "CHUNK_LINES", lines)
    text, old, new = EDITS[what]
    at = text.index(old)
    before = Analysis.of(text, "TGLLP")
    assert before.incremental_diagnostics() == before.full_diagnostics
    after = before.edit(at, at + len(old), new)
    assert after.incremental_diagnostics() == Analysis.of(after.document.text, "TGLLP").full_diagnostics != ()
    back = after.edit(at, at + len(new), old)
    assert back.incremental_diagnostics() == before.full_diagnostics


@pytest.mark.parametrize("lines", [8, 256])
@pytest.mark.parametrize("what", TEXTS)
def test_a_text(what: str, lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "CHUNK_LINES", lines)
    for _ in range(3):
        looked = Analysis.of(TEXTS[what], "TGLLP")
        assert looked.incremental_diagnostics() == Analysis.of(TEXTS[what], "TGLLP").full_diagnostics != ()
