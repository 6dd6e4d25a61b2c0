"""With ``--format json`` every command reports its errors as JSON on standard output, and its exit status stays the same."""

import json
from pathlib import Path

import pytest
from each_case import check_each
from tiers import first

from visa_lsp.cli.main import COMMANDS

GOOD = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=d num_elts=8 align=GRF
mov (M1, 8) V32(0,0)<1> 0x1:d
ret (M1, 1)
"""
LINES = {
    "check": [["check", "IN"], ["zeinfo", "check", "IN"]],
    "asm": [["asm", "IN"]],
    "dis": [["dis", "IN"]],
    "diff": [["diff", "IN", "good.visaasm"], ["diff", "good.visaasm", "IN"]],
    "run": [["run", "IN"], ["run", "good.visaasm", "--launch", "IN"]],
    "compare-runs": [["compare-runs", "IN", "good.visaasm"]],
    "gen": [["gen", "IN"]],
    "compile": [["compile", "IN"]],
    "import": [["import", "IN", "-o", "imported"]],
    "stats": [["stats", "IN"]],
    "prove": [["prove", "IN"]],
    "read": [["read", "IN"]],
    "explain": [["explain", "IN"]],
    "why": [["why", "IN", "--value", "y[0]"]],
    "verify": [["verify", "IN"]],
}
SEVERAL = ("check", "asm", "dis", "run", "gen", "compile", "read", "explain")
INPUTS = (
    "missing", "folder", "garbage.visaasm", "cut.isa", "bad.visaasm",
    "missing.cl", "garbage.isa", "garbage.cl", "garbage.yaml", "garbage", "",
)  # fmt: skip


@pytest.fixture
def folder(here, monkeypatch):
    monkeypatch.setenv("PATH", str(here))
    garbage = bytes(range(256)) * 9
    Path("folder").mkdir()
    for name in ("garbage.visaasm", "garbage.isa", "garbage.cl", "garbage.yaml", "garbage"):
        Path(name).write_bytes(garbage)
    Path("cut.isa").write_bytes(b"CISA\x04\x01" + garbage)
    Path("good.visaasm").write_text(GOOD)
    Path("bad.visaasm").write_text(GOOD.replace("mov", "mvo"))
    Path("good.cl").write_text("kernel void k(global int *p) { *p = 1; }\n")
    return here


def errors_in(value):
    """Yield the words of every error in a JSON value."""
    if isinstance(value, list):
        for one in value:
            yield from errors_in(one)
    elif isinstance(value, dict):
        yield from [value["error"]] if "error" in value else errors_in(value.get("errors"))


def check_line(run, line):
    """Check that a line has the same exit status with JSON, and that what ends it is in the JSON."""
    status = run(*line)[0]
    with_json, out, _ = run(*line, "--format", "json")
    value = json.loads(out)
    assert with_json == status != 70, (status, with_json)
    assert status != 2 or list(errors_in(value)), out
    assert status == 0 or value, out
    return value


@pytest.mark.parametrize("names", first(1, [INPUTS[:5], INPUTS]), ids=["some", "all"])
def test_every_command_reports_unreadable_inputs_as_json(run, folder, names):
    assert set(LINES) == set(COMMANDS) - {"dap", "mcp", "exec", "zeinfo", "help", "completions"}
    cases = [[name if word == "IN" else word for word in line] for lines in LINES.values() for line in lines for name in names]  # fmt: skip
    check_each(cases, lambda line: check_line(run, line))


def test_a_command_with_several_inputs_keeps_its_array(run, folder):
    def check(command):
        status, out, _ = run(command, "missing", "missing.cl", "--format", "json")
        value = json.loads(out)
        assert (status, len(value)) == (2, 2)
        assert all(one["error"] for one in value)

    check_each(SEVERAL, check)
    assert len(list(errors_in(json.loads(run("stats", "missing", "missing.cl", "--format", "json")[1])))) == 2


def test_lines_of_jsonl_hold_errors_too(run, folder):
    status, out, _ = run("check", "missing", "bad.visaasm", "--format=jsonl")
    found = [json.loads(line) for line in out.splitlines()]
    assert status == 2
    assert found[-1]["path"] == "missing"
    assert found[-1]["error"]
    assert found[0]["code"]


def test_an_internal_error_is_json_too(run, folder, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("one\ntwo")

    monkeypatch.delenv("VISA_LSP_DEBUG", raising=False)
    monkeypatch.setattr("visa_lsp.cli.explain.explain_text", fail)
    status, out, _ = run("explain", "mov", "--format", "json")
    assert (status, json.loads(out)["exit"]) == (70, 70)
    assert "ZeroDivisionError: one two" in json.loads(out)["error"]


def test_the_last_format_counts_and_text_stays_text(run, folder):
    assert run("asm", "missing", "--format", "json", "--format", "text")[1] == ""
    Path("words").write_text("check\n--format\njson\n")
    assert json.loads(run("@words")[1])["exit"] == 2
