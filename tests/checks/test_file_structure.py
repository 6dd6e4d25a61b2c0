"""What a file has to have: a version, a kernel, closed scopes; short texts and long ones are told the same."""

from __future__ import annotations

import pytest
from each_case import check_each

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.cli.main import main

KERNEL = '.kernel "k"\n.kernel_attr Target="cm"\n'
CODE = "    ret (M1, 1)\n"
LONG = ".decl V1 v_type=G type=d num_elts=8\n" + "    mov (M1, 8) V1(0,0)<1> 0x1:d\n" * 70
SHAPES = {
    "": ["V003"],
    "\n": ["V003"],
    "// only a comment\n": ["V003"],
    ".version 4.1": ["V010"],
    ".version 4.1\n": ["V010"],
    '.version 4.1\n.funcdecl "f"\n': ["V010"],
    f".version 4.1\n{CODE}": ["V010"],
    ".version 4.1\nL:\n": ["V010"],
    f".version 4.1\n{LONG}{CODE}": ["V010"],
    f'.version 4.1\n.function "f"\n{CODE}': ["V010"],
    f".version 4.1\n{CODE}{KERNEL}{CODE}": ["V010"],
    f".version 4.1\n{{\n}}\n{KERNEL}{CODE}": ["V010"],
    f".version 4.1\n{KERNEL}{CODE}.version 4.1\n": ["V003"],
    f".version 4.1\n{KERNEL}{{\n{CODE}": ["V004"],
    f".version 4.1\n{KERNEL}{LONG}{{\n{CODE}": ["V004"],
    f".version 4.1\n{KERNEL}{LONG}{CODE}}}\n": ["V004"],
    f".version 4.1\n{KERNEL}{CODE}}}\n": ["V004"],
    f".version 9.9\n{KERNEL}{CODE}": ["V003"],
    f".version 9.9\n{KERNEL}{LONG}{CODE}": ["V003"],
    f".version 4.{'9' * 5000}\n{KERNEL}{CODE}": ["V003"],
    f".version 4.1\n{KERNEL}{CODE}": [],
    f'.version 4.1\n.global_function "f"\n    fret (M1, 1)\n{KERNEL}{CODE}': [],
    f"{CODE}{LONG}": ["V003"],
    "x": ["V003"],
}
STRUCTURE = {"V003", "V004", "V010"}


def _shape(text: str) -> str:
    return repr(text[:50])


def test_structure_is_told_once_and_the_same_by_both_ways():
    check_each(SHAPES, _told_once, _shape)


def _told_once(text: str):
    analysis = Analysis.of(text)
    full = analysis.full_diagnostics
    assert analysis.incremental_diagnostics() == full
    assert sorted({d.code for d in full} & STRUCTURE) == SHAPES[text]
    assert len([d for d in full if d.code in STRUCTURE]) == len(SHAPES[text])


def test_a_text_typed_line_by_line_is_told_what_a_fresh_one_is():
    check_each(SHAPES, _told_as_it_is_typed, _shape)


def _told_as_it_is_typed(text: str):
    lines = text.splitlines(keepends=True)
    analysis = Analysis.of("")
    for at, line in enumerate(lines):
        end = len(analysis.document)
        analysis = analysis.edit(end, end, line)
        if at < 12 or at > len(lines) - 4:
            assert analysis.incremental_diagnostics() == Analysis.of("".join(lines[: at + 1])).full_diagnostics


@pytest.mark.parametrize(
    "text", [t for t, codes in SHAPES.items() if codes and "9" not in t], ids=lambda t: repr(t[:50])
)
def test_asm_writes_nothing_for_a_text_without_kernel_or_with_open_scopes(text: str, tmp_path, capsys):
    source, made = tmp_path / "x.visaasm", tmp_path / "x.isa"
    source.write_text(text)
    assert main(["asm", str(source), "-o", str(made)]) == 1
    assert "error V0" in capsys.readouterr().err
    assert not made.exists()
