"""The command `verify`: exit statuses and sentences; with finalizer and iga64 also real texts."""

import json
import os
import shutil
from types import SimpleNamespace

import pytest
from machine_fixtures import CASES, EXAMPLES

from visa_lsp.app.errors import UserError
from visa_lsp.app.gen.gen_document import read_input
from visa_lsp.app.verify.machine_source import CodeRequest, code_of_text
from visa_lsp.cli.main import main
from visa_lsp.isa.platforms import platform_named
from visa_lsp.toolchain.iga import disassemble, find_iga
from visa_lsp.toolchain.process import ToolError


def why_missing():
    """Return the reason why real machine code cannot be verified here; empty if it can."""
    if not shutil.which("GenX_IR"):
        return "GenX_IR is not installed: apt-get install libigc-tools"
    try:
        command = find_iga(None, (os.environ.get("VISA_LSP_TEST_OCLOC", ""),))
        disassemble(command, bytes(16), "TGLLP")
    except ToolError as error:
        return str(error)
    return ""


REASON = why_missing()
real = pytest.mark.skipif(bool(REASON), reason=REASON)


@pytest.fixture
def iga(tmp_path):
    """Write the command of iga64 as one program."""
    command = find_iga(None, (os.environ.get("VISA_LSP_TEST_OCLOC", ""),))
    path = tmp_path / "iga64"
    path.write_text(f'#!/bin/sh\nexec {" ".join(command)} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_a_missing_assembler_is_one_sentence(capsys):
    assert main(["verify", str(EXAMPLES / "saxpy.visaasm"), "--iga", "/nowhere/iga64"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert "iga64" in said.err


@pytest.mark.parametrize("name", ["CRI", "NVL"])
def test_a_platform_of_another_dialect_is_one_sentence(name):
    path, kernel = str(CASES / "bfnw.visaasm"), SimpleNamespace(name="bfnw", int_attribute=lambda _name: 16)
    with pytest.raises(
        UserError, match=f"does not know the messages .* of {name}'s machine code; it knows platforms up to PTL"
    ):
        code_of_text(read_input(path, None, "DG2"), path, kernel, platform_named(name), CodeRequest())


def test_a_truncated_zebin_is_one_sentence(refused, tmp_path):
    (tmp_path / "k.zebin").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(40))
    assert len(refused("verify", str(tmp_path / "k.zebin")).splitlines()) == 1


@pytest.mark.parametrize("words", [["--kernel", "other"], ["--options", "'"], ["--launch", "none.yaml"]])
def test_wrong_usage_is_refused(refused, words):
    assert refused("verify", str(EXAMPLES / "saxpy.visaasm"), *words)


def test_a_folder_without_texts_is_refused(printed, tmp_path):
    (row,) = json.loads(printed("verify", str(tmp_path), "--format", "json", status=2))
    assert "no text" in row["error"]


@real
def test_a_right_text_and_a_miscompiled_one(printed, iga):
    (row,) = json.loads(printed("verify", str(EXAMPLES / "saxpy.visaasm"), "--iga", iga, "--format", "json"))
    assert (row["answer"], row["hazards"], row["unmodelled"]) == ("equal", [], [])
    assert {"path", "kernel", "launches", "threads"} <= set(row)
    text = str(CASES / "bfnw.visaasm")
    assert "bfnw on DG2: different" in printed("verify", text, "--platform", "DG2", "--iga", iga, status=1)


@real
def test_hazards_and_slack_of_machine_code_alone(printed, iga):
    text = str(EXAMPLES / "average.visaasm")
    assert "no hazard at" in printed("verify", text, "--hazards", "--slack", "--platform", "DG2", "--iga", iga)


@real
def test_bytes_that_are_no_instructions_are_one_sentence():
    command = find_iga(None, (os.environ.get("VISA_LSP_TEST_OCLOC", ""),))
    with pytest.raises(ToolError, match=r"cannot read machine code of TGLLP: .*error decoding instruction"):
        disassemble(command, b"\xff" * 16, "TGLLP")
