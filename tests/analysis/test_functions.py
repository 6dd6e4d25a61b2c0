"""Bodies with functions and calls: kept findings are those of a fresh look, and a keystroke elsewhere asks for no look."""

from __future__ import annotations

import random

import pytest

from visa_lsp.analysis import judge
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.syntax import document

HEAD = """.version 4.1
.kernel "k"
.decl V40 v_type=G type=d num_elts=16 align=hword
.decl V41 v_type=G type=d num_elts=16 align=hword
.decl P1 v_type=P num_elts=16
.decl V42 v_type=G type=uq num_elts=4
.kernel_attr SimdSize=16
"""
ADD = "    add (M1, 16) V40(0,0)<1> V40(0,0)<1;1,0> V41(0,0)<1;1,0>"
LINES = (
    '.function "f"', '.function "g"', '.function "_main_0"', ".function f", '    .function "g"', '.function "f" // L1',
    "f:", "g:", "_main_0:", "L1:", "L2:",
    "    goto (M1, 16) L1", "    (P1) goto (M1, 16) L2", "    goto (M1, 16) f", "    jmp (M1, 1) L1",
    "    call (M1, 16) f", "    call (M1, 16) g", "    (P1) call (M1, 16) f", "    faddr f V42(0,0)<1>",
    "    ret (M1, 1)", "    fret (M1, 1)", "    subroutine",
    ADD, "    mov (M1, 16) V40(0,0)<1> V99(0,0)<1;1,0>", "", "// x", '.kernel "k2"', '.global_function "h"',
)  # fmt: skip
REAL = f'{HEAD}.function "_main_0"\n\n_main_0:\n{ADD}\n    call (M1, 16) f\n{ADD}\n    ret (M1, 1)\n.function "f"\nf:\n{ADD}\n    ret (M1, 1)\n'


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1, 21))
def test_findings_after_edits_are_those_of_a_fresh_look(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "CHUNK_LINES", 4 + seed % 7)
    pick = random.Random(seed)
    for _ in range(6):
        lines = [*HEAD.split("\n")[:-1], *[pick.choice(LINES) for _ in range(pick.randrange(4, 40))], ""]
        analysis = Analysis.of("\n".join(lines))
        analysis.incremental_diagnostics()
        for _ in range(25):
            at = pick.randrange(7, len(lines))
            what = pick.random()
            start = sum(len(line) + 1 for line in lines[:at])
            if what < 0.5 or at == len(lines) - 1:
                new = pick.choice(LINES)
                lines.insert(at, new)
                analysis = analysis.edit(start, start, new + "\n")
            else:
                gone = lines.pop(at)
                new = pick.choice(LINES) if what < 0.75 else None
                if new is not None:
                    lines.insert(at, new)
                analysis = analysis.edit(start, start + len(gone) + 1, "" if new is None else new + "\n")
            text = "\n".join(lines)
            assert analysis.document.text == text
            assert analysis.incremental_diagnostics() == Analysis.of(text).full_diagnostics, text


def test_a_comment_in_a_body_with_calls_asks_for_no_look(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    original = judge.judge
    monkeypatch.setattr(judge, "judge", lambda *args: looks.append(1) or original(*args))
    analysis = Analysis.of(REAL)
    assert analysis.incremental_diagnostics() == ()
    assert looks
    looks.clear()
    at = REAL.index(ADD) + len(ADD)
    analysis = analysis.edit(at, at, "  // a note")
    assert analysis.incremental_diagnostics() == ()
    assert not looks


def test_who_calls_whom_is_looked_at_again_when_a_call_comes() -> None:
    analysis = Analysis.of(REAL)
    assert analysis.incremental_diagnostics() == ()
    at = REAL.rindex(ADD)
    analysis = analysis.edit(at, at, "    call (M1, 16) f\n")
    assert [d.name for d in analysis.incremental_diagnostics()] == ["recursion"]
    assert analysis.incremental_diagnostics() == analysis.full_diagnostics


def test_a_missing_label_is_to_be_added_behind_all_code_of_a_clean_body() -> None:
    text = (
        f'{HEAD}.function "_main_0"\n_main_0:\n{ADD}\n    goto (M1, 16) next1\n{ADD}\nnext1:\n{ADD}\n    ret (M1, 1)\n'
    )
    analysis = Analysis.of(text)
    assert analysis.incremental_diagnostics() == ()
    at = text.index("next1\n")
    analysis = analysis.edit(at, at + 5, "elsewhere")
    (finding,) = analysis.incremental_diagnostics()
    assert finding.name == "missing-label"
    assert finding in analysis.full_diagnostics
    assert analysis.incremental_diagnostics() == analysis.full_diagnostics
