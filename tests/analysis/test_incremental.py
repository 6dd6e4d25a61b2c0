"""The incremental path gives what the full one gives: on real and damaged texts, and after any edits."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from mutants import FACTOR, damaged, edit, sources
from tiers import first

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.syntax import document

if TYPE_CHECKING:
    from visa_lsp.diagnostics import Diagnostic

PLATFORMS = (None, None, "TGLLP", "PVC")
EDITS = 20_160  # at least 20,000 are promised
_SEEDS = 40  # parametrised, so that a failure names its seed


def check_same(found: tuple[Diagnostic, ...], full: tuple[Diagnostic, ...], seed: int, what: str) -> None:
    if found != full:
        missing = [f"{d.code} {d.span} {d.message}" for d in full if d not in found]
        extra = [f"{d.code} {d.span} {d.message}" for d in found if d not in full]
        pytest.fail(f"seed {seed}, {what}: missing {missing}, extra {extra}")


@pytest.mark.parametrize("seed", first(2, range(8)))
def test_incremental_equals_full(seed: int) -> None:
    pick = random.Random(seed)
    texts = sources(700)
    lines = 0
    while lines < 700 * FACTOR:
        text = damaged(pick, pick.choice(texts))
        lines += text.count("\n") + 1
        analysis = Analysis.of(text, pick.choice(PLATFORMS))
        check_same(analysis.incremental_diagnostics(), analysis.full_diagnostics, seed, f"after {lines} lines")
    print(f"seed {seed}: {lines} lines")


def several(pick: random.Random, texts: list[str]) -> str:
    """Return a text of one kernel, or of a few."""
    chosen = pick.sample(texts, pick.choice((1, 1, 1, 3)))
    return "".join(
        [text if not number else text.replace(".version", "//.version") for number, text in enumerate(chosen)]
    )


@pytest.mark.parametrize("seed", first(1, range(_SEEDS)))
def test_edited_state_equals_fresh_state(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "CHUNK_LINES", 8 + 2 * (seed % 8))
    pick = random.Random(seed)
    texts = sources(90)
    edits = looks = 0
    while edits < EDITS // _SEEDS:
        text = several(pick, texts)
        platform = pick.choice(PLATFORMS)
        analysis = Analysis.of(text, platform)
        analysis.incremental_diagnostics()
        undo: list[tuple[int, int, str]] = []
        for step in range(120):
            start, end, new = undo.pop() if undo and pick.random() < 0.4 else edit(pick, text)
            if len(text) + len(new) > 15_000:
                new = ""
            undo.append((start, start + len(new), text[start:end]))
            if len(undo) > 10:
                undo.clear()
            text = text[:start] + new + text[end:]
            analysis = analysis.edit(start, end, new)
            edits += 1
            if step % 40 == 39:
                fresh = Analysis.of(text, platform)
                check_same(analysis.incremental_diagnostics(), fresh.full_diagnostics, seed, f"after edit {edits}")
                assert analysis.document.text == text
                looks += 1
            elif pick.random() < 0.6:
                analysis.incremental_diagnostics()
    print(f"seed {seed}: {edits} edits, compared with a fresh open {looks} times")


def test_use_before_declaration() -> None:
    head = '.version 4.1\n.kernel "k"\n.kernel_attr SimdSize=8\n'
    decl = ".decl V{0} v_type=G type=d num_elts=8 align=dword\n"
    use = "    mov (M1, 8) V{0}(0,0)<1> V{0}(0,0)<1;1,0>\n"
    analysis = Analysis.of(
        head + decl.format(40) + use.format(40) + use.format(41) + decl.format(41) + "    ret (M1, 1)\n"
    )
    found = analysis.incremental_diagnostics()
    assert [d.code for d in analysis.full_diagnostics] == ["V101"]
    assert found == analysis.full_diagnostics


def test_an_alias_that_is_declared_again_in_its_chunk() -> None:
    head = '.version 4.2\n.kernel "k"\n.decl V0 v_type=G type=d num_elts=8\n'
    alias = ".decl V1 v_type=G type=d num_elts=8 alias=<V0, 0>\n"
    analysis = Analysis.of(head + alias)
    analysis.incremental_diagnostics()
    for line in (alias, ".decl V1 v_type=G type=d num_elts=8\n"):
        found = analysis.edit(len(head), len(head), line).incremental_diagnostics()
        assert "V102" in {d.code for d in found}
        assert found == Analysis.of(head + line + alias).full_diagnostics


def test_most_used_declaration_comes_and_goes() -> None:
    head = '.version 4.1\n.kernel "k"\n'
    decls = "".join(f".decl V{n} v_type=G type=d num_elts=8 align=dword\n" for n in range(40, 80))
    uses = "".join(f"    add (M1, 8) V{n}(0,0)<1> V40(0,0)<1;1,0> V40(0,0)<1;1,0>\n" for n in range(40, 80)) * 20
    text = head + decls + uses + "    ret (M1, 1)\n"
    analysis = Analysis.of(text)
    assert analysis.incremental_diagnostics() == ()
    start, end = len(head), text.index(".decl V41")
    without = analysis.edit(start, end, "")
    assert without.incremental_diagnostics() == without.full_diagnostics != ()
    again = without.edit(start, start, text[start:end])
    assert again.incremental_diagnostics() == ()
    # The state goes back as well as forth.
    assert without.incremental_diagnostics() == without.full_diagnostics


def test_dialect_follows_the_version_line() -> None:
    text = '.version 4.1\n.kernel "k"\n' + ".decl V40 v_type=G type=d num_elts=8 align=dword\n" * 1
    text += "    mov (M1, 8) V40(0,0)<1> 0x1234:d\n" * 300 + "    ret (M1, 1)\n"
    analysis = Analysis.of(text)
    for version in ("4.2", "3.6", "4.", "4.1"):
        start = len(".version ")
        end = analysis.document.text.index("\n")
        analysis = analysis.edit(start, end, version)
        assert analysis.incremental_diagnostics() == analysis.full_diagnostics


def test_a_line_that_came_with_another_kind_of_body_is_known_in_the_first_kind() -> None:
    head = '.version 4.1\n.kernel "k"\n.decl V40 v_type=G type=d num_elts=8 align=dword\n'
    other = ".kernel_attr SimdSize=16\n"
    code = "    mov (M1, 8) V40(0,0)<1> V40(0,0)<1;1,0>\n"
    wrong = "    mov (M1, 8) V40(0,0)<1> V40(0,0)<3;1,0>\n"
    analysis = Analysis.of(head + code * 700 + "    ret (M1, 1)\n")
    assert analysis.incremental_diagnostics() == ()
    at, there = len(head + code * 600), len(head + code * 50)
    both = analysis.edit(at, at, other).edit(there, there, wrong)
    assert both.incremental_diagnostics() == both.full_diagnostics != ()
    at += len(wrong)
    left = both.edit(at, at + len(other), "")
    assert left.incremental_diagnostics() == left.full_diagnostics != ()


@pytest.mark.parametrize(
    ("braced", "changed"), [(0, 1), *(pytest.param(*both, marks=pytest.mark.full) for both in ((1, 0), (0, 0), (1, 1)))]
)
def test_the_first_brace_of_a_text(braced: int, changed: int) -> None:
    """Which names a scope takes out of sight is asked from the first brace on, in each of the bodies."""
    decl = ".decl V{0} v_type=G type=d num_elts=8 align=dword\n"
    head, decls = '.kernel "{0}"\n', "".join(decl.format(n) for n in range(40, 100))
    code = "".join(f"    mov (M1, 8) V{n}(0,0)<1> V{n + 1}(0,0)<1;1,0>\n" for n in range(40, 99))
    body = head + decls + code * 8 + "    ret (M1, 1)\n"
    text = ".version 4.1\n" + body.format("a") + body.format("b")
    analysis = Analysis.of(text, "TGLLP")
    assert [d.name for d in analysis.incremental_diagnostics()] == [d.name for d in analysis.full_diagnostics]
    for where, piece, new in (
        (braced, "    mov (M1, 8) V40(0,0)", "{\n}\n    mov (M1, 8) V40(0,0)"),
        (changed, decl.format(70), ""),
        (changed, "    mov (M1, 8) V41(0,0)", "{\n" + decl.format(98) + "}\n    mov (M1, 8) V41(0,0)"),
        (changed, decl.format(60), decl.format(60).replace("type=d", "type=f")),
    ):
        at = text.index(piece, text.index(f'.kernel "{"ab"[where]}"'))
        text = text[:at] + new + text[at + len(piece) :]
        analysis = analysis.edit(at, at + len(piece), new)
        fresh = Analysis.of(text, "TGLLP").full_diagnostics
        check_same(analysis.incremental_diagnostics(), fresh, 0, f"brace in {braced}, {new!r} in {changed}")
    assert fresh
