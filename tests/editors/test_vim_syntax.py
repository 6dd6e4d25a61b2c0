"""Vim and Neovim themselves colour texts by the syntax file of ``docs/editors/vim``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from editors import ROOT, neovims

FOLDER = ROOT / "docs" / "editors" / "vim"
QUIET = {"vim": ["-es", "-N", "-u", "NONE", "-i", "NONE"], "nvim": ["--headless", "--clean"]}
TEXT = """\
.version 4.1
.kernel "k"
.decl V33 v_type=G type=uw num_elts=16 align=GRF alias=<A, 0>
.input V33 offset=32 size=4
.kernel_attr Target="cm" // .decl
start:
    mad.sat (M1_NM, 16) V33(0,0)<1> (-)%r0(0,1)<0;1,0> 0x2:ud 1.5:f /// $4
    (!P1.any) goto (M1, 16) start
{ mov (M1, 1) add(0,0)<1> mov(0,0)<0;1,0> }
    lsc_load.ugm (M1, 16) V33:d32 flat[V34]:a64
ret (M1, 1) /* mov
mov (M1, 1) */ .decl
    FILE "a.cl"
    LOC 4
.loc 5
    lifetime.start V33
"""
# By line of the text, from 1: words in their order there, and the groups that they have.
SEEN: dict[int, list[tuple[str, str]]] = {
    1: [(".version", "Directive"), ("4.1", "Number")],
    2: [(".kernel", "Directive"), ('"k"', "String")],
    3: [
        (".decl", "Directive"), ("V33", "Variable"), ("v_type", "Attribute"), ("G", "Word"), ("type", "Attribute"),
        ("uw", "Word"), ("num_elts", "Attribute"), ("16", "Number"), ("GRF", "Word"), ("alias", "Attribute"),
    ],
    4: [(".input", "Directive"), ("offset", "Attribute"), ("32", "Number")],
    5: [(".kernel_attr", "Directive"), ('"cm"', "String"), ("// .decl", "Comment")],
    6: [("start:", "Label")],
    7: [
        ("mad", "Instruction"), (".sat", "Modifier"), ("M1_NM", "Mask"), ("<1>", "Region"), ("(-)", "SourceModifier"),
        ("%r0", "Register"), ("0x2", "Number"), ("ud", "Type"), ("1.5", "Number"), ("f", "Type"), ("/// $4", "Comment"),
    ],
    8: [("P1", "Variable"), (".any", "Modifier"), ("goto", "Control"), ("start", "Variable")],
    9: [("mov", "Instruction"), ("add", "Variable"), ("mov", "Variable")],
    10: [("lsc_load", "Instruction"), (".ugm", "Modifier"), ("V33", "Variable")],
    11: [("ret", "Control"), ("/* mov", "Comment")],
    12: [("mov (M1, 1) */", "Comment")],
    13: [("FILE", "Control"), ('"a.cl"', "String")],
    14: [("LOC", "Control"), ("4", "Number")],
    15: [(".loc", "Directive"), ("5", "Number")],
    16: [("lifetime", "Control"), (".start", "Modifier")],
}  # fmt: skip


def editors() -> list[str]:
    vim = shutil.which("vim")
    return [*([vim] if vim else []), *(found.program for found in neovims())]


def groups(program: str, path: Path, folder: Path) -> dict[str, object]:
    report = folder / "report.json"
    words = [f"set runtimepath^={FOLDER}", "filetype on", "syntax on"]
    name = "nvim" if "nvim" in Path(program).name else "vim"
    command = [program, *QUIET[name]]
    for word in words:
        command += ["--cmd", word]
    command += [str(path), "-S", str(Path(__file__).with_name("vim_groups.vim"))]
    environment = {**os.environ, "VISA_REPORT": str(report), "HOME": str(folder)}
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=90, check=False, env=environment)
    found: dict[str, object] = json.loads(report.read_text())
    return found


@pytest.mark.skipif(not editors(), reason="neither vim nor nvim on this machine (apt-get install vim)")
@pytest.mark.parametrize("program", editors(), ids=lambda p: Path(p).name)
def test_words_have_the_groups_that_their_shape_says(program: str, tmp_path: Path):
    path = tmp_path / "k.visaasm"
    path.write_text(TEXT)
    found = groups(program, path, tmp_path)
    assert found["filetype"] == "visa"
    by_line = found["groups"]
    assert isinstance(by_line, list)
    for number, words in SEEN.items():
        line, at = TEXT.splitlines()[number - 1], 0
        for word, group in words:
            start = line.index(word, at)
            at = start + len(word)
            assert set(by_line[number - 1][start:at]) == {f"visa{group}"}, (number, word)
    links = found["links"]
    assert isinstance(links, dict)
    assert [links[f"visa{group}"] for group in ("Instruction", "Directive", "Comment", "Type")] == [
        "Statement", "PreProc", "Comment", "Type",
    ]  # fmt: skip


@pytest.mark.skipif(not editors(), reason="neither vim nor nvim on this machine (apt-get install vim)")
@pytest.mark.parametrize("program", editors(), ids=lambda p: Path(p).name)
def test_every_mnemonic_of_the_examples_is_one(program: str, tmp_path: Path):
    for name in ("saxpy", "mandelbrot"):
        path = ROOT / "examples" / f"{name}.visaasm"
        by_line = groups(program, path, tmp_path)["groups"]
        assert isinstance(by_line, list)
        for text, seen in zip(path.read_text().splitlines(), by_line, strict=False):
            if text.startswith("    ") and not text.lstrip().startswith("//"):
                assert {"visaInstruction", "visaControl"} & set(seen), text
