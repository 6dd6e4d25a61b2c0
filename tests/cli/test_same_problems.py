"""All doors report the same problems of a broken text: ``asm``, ``run``, ``gen``, ``stats``, ``diff``, ``check``, ``dap`` and Python."""

import json
import re
from pathlib import Path

import pytest
from each_case import check_each
from fake_tools import fake_tool
from text_mutants import text_mutants

import visa_lsp
from visa_lsp.app.assemble import program_of_text
from visa_lsp.dap.open_launch import LaunchRefused, open_launch
from visa_lsp.diagnostics import Severity

EXAMPLES = Path(__file__).parents[2] / "examples"
_LINE = re.compile(r"^[^:\n]*:(\d+):\d+: error (V\d+) [\w-]+: (.*)$", re.MULTILINE)
_SUPPRESSED = "(suppressed by a comment, but the text cannot be assembled)"
_SEED = 20_437


def broken_texts(count):
    """Return so many mutants of vISA texts that have errors and are texts of ours at all."""
    found = []
    for mutant in text_mutants(count * 4, _SEED):
        if mutant.kind == "visa" and ".kernel" in mutant.text and len(found) < count:
            made = program_of_text(mutant.text)
            if any(d.severity is Severity.ERROR for d in made.diagnostics):
                found.append(mutant)
    return found


def in_words(words):
    return [(code, int(line), message) for line, code, message in _LINE.findall(words)]


def in_findings(findings):
    return [(f["code"], f["line"], f["message"]) for f in findings if f["severity"] == "error"]


def in_python(findings):
    return [(f.code, f.line, f.message) for f in findings if f.severity == "error"]


def of_python(call, text):
    with pytest.raises(visa_lsp.TextError) as caught:
        call(text)
    assert in_words(str(caught.value)) == in_python(caught.value.findings)
    return in_python(caught.value.findings)


def of_debugger(name):
    with pytest.raises(LaunchRefused) as caught:
        open_launch({"program": name}, print)
    return in_words(str(caught.value))


def check_doors(run, tool, mutant, platform):
    Path("t.visaasm").write_bytes(mutant.text.encode("utf-8", "surrogateescape"))
    more = ["--platform", platform] if platform else []
    out = {name: run(name, "t.visaasm", *more, "--format", "json") for name in ("asm", "run", "stats", "check")}
    expected = in_findings(json.loads(out["asm"][1])[0]["findings"])
    assert expected
    found = {
        "asm as text": in_words(run("asm", "t.visaasm", *more)[2]),
        "run": in_words(json.loads(out["run"][1])["error"]),
        "run as text": in_words(run("run", "t.visaasm", *more)[2]),
        "stats": in_words(json.loads(out["stats"][1])["errors"][0]["error"]),
        "gen": in_findings(
            f
            for f in json.loads(run("gen", "t.visaasm", *more, "--tool", tool, "--format", "json")[1])["findings"]
            if f["source"] == "visa-lsp"
        ),
        "Python, assemble": of_python(lambda text: visa_lsp.assemble(text, platform), mutant.text + "\n"),
        "Python, load": of_python(lambda text: visa_lsp.load(text, platform=platform), mutant.text + "\n"),
    }
    if not platform:
        found["dap"] = of_debugger("t.visaasm")
    assert {name: one for name, one in found.items() if one != expected} == {}, expected
    shown = [one for one in expected if _SUPPRESSED not in one[2]]
    assert in_findings(json.loads(out["check"][1])) == shown
    assert in_python(visa_lsp.check(mutant.text + "\n", platform)) == shown
    assert [out[name][0] for name in ("asm", "run", "stats")] == [1, 1, 1]


@pytest.mark.parametrize(
    ("count", "platform"),
    [(4, None), pytest.param(200, None, marks=pytest.mark.full), pytest.param(60, "DG2", marks=pytest.mark.full)],
)
def test_all_doors_report_the_same_problems(run, here, count, platform):
    tool = fake_tool(here / "bin", "sys.exit(1)", "GenX_IR")
    mutants = broken_texts(count)
    assert len(mutants) == count
    check_each(mutants, lambda mutant: check_doors(run, tool, mutant, platform), lambda mutant: mutant.origin)


TEXT = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=d num_elts=8 align=GRF
LINE
ret (M1, 1)
"""


def test_a_suppressed_error_is_reported_by_all_that_need_a_program(run, here):
    tool = fake_tool(here / "bin", "sys.exit(1)", "GenX_IR")
    line = "mov (M1, 8) V32(0,0)<1> V99(0,0)<1;1,0> // visa: ignore"
    mutant = text_mutants(1, 1)[0]._replace(kind="visa", text=TEXT.replace("LINE", line))
    check_doors(run, tool, mutant, None)
    assert _SUPPRESSED in run("run", "t.visaasm")[2]
    assert run("check", "t.visaasm")[:2] == (0, "")


READERS = {
    "run": [], "read": [], "stats": [], "gen": ["--tool", "TOOL"], "prove": ["--property", "divergence"], "why": ["--value", "y[37]"],
}  # fmt: skip


def readers(tmp_path):
    tool = fake_tool(tmp_path / "bin", "sys.exit(1)", "GenX_IR")
    return [(name, [tool if word == "TOOL" else word for word in more]) for name, more in READERS.items()]


@pytest.mark.parametrize("name", ["noise.isa", "noise.asm", "noise.visaasm", "-"])
def test_bytes_that_are_no_program_give_one_error(run, here, name):
    data = bytes(range(1, 256)) * 3 + b"\n" * 40
    Path("noise" if name == "-" else name).write_bytes(data)
    for command, more in readers(here):
        status, _, err = run(command, name, *more, stdin=data)
        assert (status in (1, 2), len(err.splitlines())) == (True, 1), (command, err)


@pytest.mark.full
def test_a_comment_that_is_not_utf_8_is_a_comment_everywhere(run, here):
    """Standard input, which ``why`` reads as well, is the same text."""
    data = b"// caf\xe9\n" + (EXAMPLES / "saxpy.visaasm").read_bytes()
    Path("saxpy.visaasm").write_bytes(data)
    Path("saxpy.launch.yaml").write_bytes((EXAMPLES / "saxpy.launch.yaml").read_bytes())
    for command, more in readers(here):
        said = []
        for given in (["saxpy.visaasm"], ["-", "--stdin-filename", "saxpy.visaasm"]):
            status, out, err = run(command, *given, *more, stdin=data)
            assert status == (1 if command == "gen" else 0), (command, err)
            said.append(out)
        assert said[0] == said[1] or command in ("stats", "run"), command
