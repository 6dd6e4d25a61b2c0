"""Scopes that begin or end on the line of a statement, as inline assembly writes them."""

from __future__ import annotations

import random
import shutil
import subprocess

import pytest
from cursor import apply_edits
from edits import random_edit
from tiers import first

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.checks.run import rule_named
from visa_lsp.codec.encode import encode
from visa_lsp.generate.textmate import grammar
from visa_lsp.ide.features.completion import offers
from visa_lsp.ide.features.definition import definition
from visa_lsp.ide.features.folding import folding_ranges
from visa_lsp.ide.features.formatting import format_text
from visa_lsp.ide.features.references import references
from visa_lsp.ide.features.rename import rename
from visa_lsp.ide.features.semantic_tokens import semantic_tokens
from visa_lsp.sema.lower import resolve_text

HEAD = """.version 4.1
.kernel "k"
.kernel_attr OutputAsmPath="k.asm"
.kernel_attr Target="cm"
.decl A v_type=G type=d num_elts=32 align=GRF
.decl P1 v_type=P num_elts=8
"""
MOV = "mov (M1, 8) A(0,0)<1> 0x1:d"
TEMP = ".decl T v_type=G type=d num_elts=8"
USE = "mov (M1, 8) T(0,0)<1> 0x1:d"
# Each with the same text, every brace on a line of its own.
TAKEN = [
    ("{\n    MOV}", "{\n    MOV\n}"),
    ("{\n    MOV }", "{\n    MOV\n}"),
    ("{ MOV\n}", "{\n    MOV\n}"),
    ("{ MOV }", "{\n    MOV\n}"),
    ("{MOV}", "{\n    MOV\n}"),
    ("{ TEMP\n    USE }", "{\nTEMP\n    USE\n}"),
    ("{\nTEMP }\n    MOV", "{\nTEMP\n}\n    MOV"),
    ("{ TEMP }\n{ TEMP\n    USE}", "{\nTEMP\n}\n{\nTEMP\n    USE\n}"),
    ("{\n{\n    MOV}}", "{\n{\n    MOV\n}\n}"),
    ("{\n{\n    MOV } }", "{\n{\n    MOV\n}\n}"),
    ("{{{ MOV }}}", "{\n{\n{\n    MOV\n}\n}\n}"),
    ("{}", "{\n}"),
    ("{ }", "{\n}"),
    ("{{}}", "{\n{\n}\n}"),
    ("{{\n    MOV\n}}", "{\n{\n    MOV\n}\n}"),
    ("{\nL: }", "{\nL:\n}"),
    ("{\nL:}", "{\nL:\n}"),
    ("{\n    goto (M1, 8) L}\nL:", "{\n    goto (M1, 8) L\n}\nL:"),
    ("{ (P1) MOV }", "{\n    (P1) MOV\n}"),
    ("{ /* { */ MOV /* } */ } // }", "{\n    MOV\n}"),
    (
        "{ .decl Q v_type=G type=d num_elts=8 attrs={Output} }",
        "{\n.decl Q v_type=G type=d num_elts=8 attrs={Output}\n}",
    ),
    ("{ .decl Q v_type=G type=d num_elts=8 attrs={Output}}", "{\n.decl Q v_type=G type=d num_elts=8 attrs={Output}\n}"),
    ("{ .decl Q v_type=G type=d num_elts=8 alias=<A,0>}", "{\n.decl Q v_type=G type=d num_elts=8 alias=<A,0>\n}"),
    ('{ FILE "a}b" }', '{\n    FILE "a}b"\n}'),
    ("{ LOC 3 }", "{\n    LOC 3\n}"),
]
REFUSED = [
    "} MOV", "MOV {\n}", "{\n} {\n}", "{\n}{\n}", "{ L:\n}", "{L:}", "L: {\n}", "{} MOV", "{}{}", "{ MOV", "MOV }", "MOV}", "}", "{",
    "{ MOV } MOV", "{ TEMP }\n    USE", "{ TEMP\n    USE }\n    USE", "{ .kernel_attr }{",
]  # fmt: skip


def text_of(lines: str, padding: int = 0) -> str:
    lines = lines.replace("MOV", MOV).replace("TEMP", TEMP).replace("USE", USE)
    return f"{HEAD}{lines}\n" + f"    {MOV}\n" * padding + "    ret (M1, 1)\n"


def errors(text: str) -> list[str]:
    return [d.code for d in Analysis.of(text).diagnostics if d.severity.value == "error"]


@pytest.mark.parametrize("padding", first(1, [70, 0]))
@pytest.mark.parametrize(("lines", "split"), TAKEN, ids=[lines for lines, _ in TAKEN])
def test_object_is_that_of_the_text_with_every_brace_on_its_line(lines: str, split: str, padding: int):
    assert errors(text_of(lines, padding)) == errors(text_of(split, padding)) == []
    ours, plain = resolve_text(text_of(lines, padding)).module, resolve_text(text_of(split, padding)).module
    assert ours is not None
    assert plain is not None
    assert encode(ours) == encode(plain)


@pytest.mark.parametrize("padding", first(1, [70, 0]))
@pytest.mark.parametrize("lines", REFUSED)
def test_other_places_of_braces_are_errors(lines: str, padding: int):
    assert errors(text_of(lines, padding))


@pytest.mark.skipif(not shutil.which("GenX_IR"), reason="GenX_IR is not installed: apt-get install libigc-tools")
@pytest.mark.parametrize("lines", [*[lines for lines, _ in TAKEN], *REFUSED])
def test_the_finalizer_takes_what_is_taken_here(lines: str, tmp_path):
    (tmp_path / "x.visaasm").write_text(text_of(lines))
    words = [
        "GenX_IR",
        "x.visaasm",
        "-platform",
        "TGLLP",
        "-dumpvisa",
        "-stopafter",
        "CFG",
        "-outputCisaBinaryName",
        "x.isa",
    ]
    run = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert (run.returncode == 0) == (not errors(text_of(lines)))


@pytest.mark.parametrize("padding", first(1, [70, 0]))
@pytest.mark.parametrize("lines", [*[lines for lines, _ in TAKEN], *REFUSED])
def test_both_ways_of_checking_agree_after_every_few_characters(lines: str, padding: int):
    whole = text_of(lines, padding)
    start = len(HEAD)
    typed = lines.replace("MOV", MOV).replace("TEMP", TEMP).replace("USE", USE)
    analysis = Analysis.of(whole[:start] + whole[start + len(typed) :])
    analysis.incremental_diagnostics()
    step = 21 if padding else 7
    for at in range(0, len(typed), step):
        analysis = analysis.edit(start + at, start + at, typed[at : at + step])
        text = analysis.document.text
        assert analysis.incremental_diagnostics() == Analysis.of(text).full_diagnostics
    assert analysis.document.text == whole


@pytest.mark.full
@pytest.mark.parametrize("seed", [5, 6])
def test_random_edits_among_braces_give_what_a_fresh_text_gives(seed: int):
    draw = random.Random(seed)
    text = (
        HEAD
        + "".join([text_of(lines)[len(HEAD) : -16] for lines, _ in TAKEN])
        + f"    {MOV}\n" * 40
        + "    ret (M1, 1)\n"
    )
    analysis = Analysis.of(text)
    for _ in range(60):
        start, end, new = random_edit(text, draw)
        if draw.random() < 0.4:
            at = draw.randrange(len(text))
            start, end, new = at, at + draw.choice((0, 1)), draw.choice(("{", "}", " }", "{ ", "\n", ""))
        text = text[:start] + new + text[end:]
        analysis = analysis.edit(start, end, new)
        assert analysis.incremental_diagnostics() == Analysis.of(text).full_diagnostics


SCOPED = HEAD + "{ TEMP\n    USE }\n{{ TEMP\n{ USE }\n}\n    MOV }\n".replace("TEMP", TEMP).replace("USE", USE).replace(
    "MOV", MOV
)


@pytest.mark.parametrize("padding", [0, 250])
def test_names_belong_to_the_scope_on_whose_line_they_stand(padding: int):
    text = SCOPED + f"    {MOV}\n" * padding + "    ret (M1, 1)\n"
    assert errors(text) == []
    analysis = Analysis.of(text)
    declared = [at for at in range(len(text)) if text.startswith("T v_type", at)]
    used = [at for at in range(len(text)) if text.startswith("T(0,0)", at)]
    assert len(declared) == len(used) == 2
    for decl, use in zip(declared, used, strict=True):
        found = definition(analysis, use)
        assert found is not None
        assert found.name.start == decl
        assert sorted(o.span.start for o in references(analysis, use, declarations=True)) == [decl, use]
        renamed = apply_edits(text, rename(analysis, use, "Other"))
        assert renamed.count("Other") == 2
        assert renamed.index("Other") == decl


def test_a_name_is_gone_behind_the_brace_on_its_line():
    text = text_of("{ TEMP }\n    USE")
    (finding,) = [d for d in Analysis.of(text).diagnostics if d.code == "V101"]
    assert "scope that has ended" in finding.message
    again = text_of("{ TEMP\n    TEMP }")
    assert errors(again) == ["V102"]
    assert errors(text_of("{ TEMP\n{ TEMP }\n    USE }")) == []


@pytest.mark.parametrize("padding", [0, 250])
def test_scopes_fold_from_brace_to_brace(padding: int):
    text = text_of("{ MOV\n    MOV\n    MOV }\n{ MOV }\n{{\n    MOV\n}}", padding)
    folds = {(fold.first_line, fold.last_line) for fold in folding_ranges(Analysis.of(text))}
    assert (6, 8) in folds
    assert (10, 12) in folds
    assert not any(first == last == 9 for first, last in folds)


def test_layout_changes_blanks_only_and_colours_stay():
    text = text_of("{   mov  (M1,  8) A(0,0)<1>  0x1:d}\n{\nL:   }")
    shaped = apply_edits(text, format_text(Analysis.of(text)))
    assert "{ mov (M1, 8) A(0,0)<1> 0x1:d}\n" in shaped
    assert "\nL: }\n" in shaped
    assert resolve_text(shaped).module == resolve_text(text).module or errors(shaped) == errors(text)
    tokens = list(semantic_tokens(Analysis.of(text_of("{ MOV }")), 6, 6))
    plain = semantic_tokens(Analysis.of(text_of("MOV")), 6, 6)
    assert [t.span.start for t in tokens] == [t.span.start + 2 for t in plain]


@pytest.mark.parametrize(("line", "wanted"), [("{ mo", "mov"), ("{{ mov (M1, 8) ", "A"), ("{ .de", ".decl")])
def test_completion_behind_a_brace_is_that_of_the_line_without_it(line: str, wanted: str):
    text = HEAD + line
    labels = {item.label for item in offers(Analysis.of(text), len(text))[0]}
    assert wanted in labels
    closed = f"{HEAD}{{\n    {MOV} }} "
    assert not offers(Analysis.of(closed), len(closed))[0]


def test_removing_an_unused_declaration_keeps_the_brace_on_its_line():
    text = text_of("{ TEMP\n    MOV }")
    analysis = Analysis.of(text)
    from visa_lsp.checks.run import run_checks
    from visa_lsp.checks.support.context import CheckContext

    assert rule_named("unused-variable") is not None
    found = run_checks(CheckContext(analysis.document, analysis.bound, None, analysis.dialect), ("unused-variable",))
    fix = next(d for d in found if d.name == "unused-variable" and "`T`" in d.message).fixes[0]
    assert errors(apply_edits(text, fix.edits)) == []


def test_the_extension_colours_statements_behind_braces():
    import re

    repository = grammar()["repository"]
    instructions = [re.compile(p["match"]) for p in repository["instructions"]["patterns"]]
    assert any((m := p.match("{ {mov (M1, 8)")) and m.group(1) == "mov" for p in instructions)
    assert re.match(repository["labels"]["match"], "L: }")
