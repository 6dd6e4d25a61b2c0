"""The command ``gen``: what it prints, how it ends, what it writes, without and with the real finalizer."""

import json
import re
import shutil
from pathlib import Path

import pytest
from fake_tools import fake_tool

from visa_lsp.lsp.jobs.machine_code import machine_code
from visa_lsp.lsp.jobs.model import Stop

EXAMPLES = Path(__file__).parents[2] / "examples"
needs_finalizer = pytest.mark.skipif(
    shutil.which("GenX_IR") is None, reason="GenX_IR is not installed: apt-get install libigc-tools"
)
TEXT = '.version 4.1\n.kernel "k"\n.decl V1 v_type=G type=d num_elts=8 align=GRF\n\n    mov (M1, 8) V1(0,0)<1> 0x1:d\n'


@pytest.fixture
def folder(here):
    (here / "k.visaasm").write_text(TEXT)
    return here


@pytest.fixture
def tool(folder):
    return fake_tool(folder / "bin", "write_listing()", "GenX_IR")


def test_json_has_the_keys_of_the_contract_and_no_others(run, folder, tool):
    status, out, err = run("gen", "k.visaasm", "--tool", tool, "--platform", "dg2", "--format", "json")
    assert (status, err) == (0, "")
    assert json.loads(out) == {
        "platform": "DG2",
        "tool": tool,
        "kernels": [
            {
                "name": "k", "gen_instructions": 1, "spill_bytes": 0, "bank_conflicts": None, "max_pressure": None,
                "registers": {"V0033": "r3.0"},
                "lines": [{
                    "line": 5, "pressure": None,
                    "gen": ["        mov (8|M0)               r3.0<1>:d     r1.0<8;8,1>:d                    {Compacted}          // $0"],
                }],
            }
        ],
    }  # fmt: skip


SCHEDULE = """
write_listing()
if "-dumpSchedule" in sys.argv:
    open("0.bb0.schedule", "w").write(
        "   0      [0]I0L1E0P2 _k_0:, \\n"
        "+++++++++++ 8 empty cycles 1-9 +++++++++++\\n"
        "   9   mov[1]I1L1E9P1     mov (8)  r3.0<1>:d  r1.0<1;1,0>:d // $0:&1:, \\n"
    )
    open("0.bb0.dag.dot", "w").write('0->1[label="9",color="black"];')
"""


def test_the_schedule_is_that_of_the_finalizer(printed, run, folder):
    tool = fake_tool(folder / "bin", SCHEDULE)
    out = printed("gen", "k.visaasm", "--tool", tool, "--schedule", "--format", "json")
    [kernel] = json.loads(out)["kernels"]
    [line] = kernel["lines"]
    assert (line["line"], line["cycles"], line["stall"]) == (5, 9, 8)
    assert line["issue"] == [{"block": 0, "cycle": 9, "cycles": 1, "stall": 8, "waits_for": None}]
    assert [(row["cycle"], row["cycles"], row["stall"], row["line"]) for row in kernel["schedule"]] == [
        (0, 1, 0, None), (9, 1, 8, 5),
    ]  # fmt: skip
    _, out, _ = run("gen", "k.visaasm", "--tool", tool, "--schedule")
    assert "scheduled for 10 cycles, 8 of them stalls" in out
    assert re.search(r"^     5 +9 +8 mov \(M1", out, re.MULTILINE)
    assert re.search(r"^ +9 +8 +mov \(8\|M0\)", out, re.MULTILINE)
    assert run("gen", "k.visaasm", "--tool", tool, "--schedule", "--html", "k.html")[0] == 0
    title = "cycle 9 of block 0, 8 cycles of waiting"
    assert f'<b class="live" style="--live:100%" title="{title}">9</b>' in (folder / "k.html").read_text()


def test_the_server_gives_the_schedule_with_the_columns(folder):
    tool = fake_tool(folder / "bin", SCHEDULE)
    answer = machine_code(TEXT, None, {"tool": tool, "platform": "TGLLP", "schedule": "yes", "columns": "yes"}, Stop())
    assert answer["kernels"][0]["lines"][0]["cycles"] == 9
    *_, line = answer["columns"]["gen"][0]["lines"]
    assert line["bar"] == {"figure": 9, "percent": 100, "title": "cycle 9 of block 0, 8 cycles of waiting"}


def test_a_finalizer_without_a_schedule_still_gives_machine_code(run, folder, tool):
    status, out, err = run("gen", "k.visaasm", "--tool", tool, "--schedule")
    assert status == 0
    assert "1 Gen instruction" in out
    assert "V923 finalizer-remark: the finalizer writes no schedule of 'k'" in err


def test_several_inputs_are_an_array_and_text_has_a_title_each(run, folder, tool):
    (folder / "two.visaasm").write_text(TEXT.replace('"k"', '"two"'))
    _, out, _ = run("gen", "k.visaasm", "two.visaasm", "--tool", tool, "--format", "json")
    assert [value["kernels"][0]["name"] for value in json.loads(out)] == ["k", "two"]
    _, out, _ = run("gen", "k.visaasm", "two.visaasm", "--tool", tool)
    assert re.findall("== .* ==", out) == ["== k.visaasm ==", "== two.visaasm =="]


def test_without_the_tool_the_way_to_get_it_is_told(run, folder, monkeypatch):
    monkeypatch.setenv("PATH", str(folder))
    status, out, err = run("gen", "k.visaasm")
    assert (status, out) == (2, "")
    assert "apt-get install libigc-tools" in err


def test_the_tool_is_that_of_the_option_else_of_the_settings_else_of_path(refused, run, folder, tool, monkeypatch):
    other = fake_tool(folder / "other", "write_listing()")
    monkeypatch.setenv("PATH", str(folder / "bin"))

    def used(*options):
        return json.loads(run("gen", "k.visaasm", "--format", "json", *options)[1])["tool"]

    assert used() == tool
    (folder / "visa-lsp.toml").write_text('finalizer = "other/tool"\n')
    assert used() == other
    assert used("--tool", "GenX_IR") == tool
    (folder / "visa-lsp.toml").write_text('finalizer = "nowhere/tool"\n')
    err = refused("gen", "k.visaasm")
    assert "visa-lsp.toml" in err
    assert "nowhere/tool" in err


def test_findings_go_to_standard_error_and_end_with_1(run, folder):
    tool = fake_tool(folder / "bin", "print('near line 6: syntax error, unexpected IDENT'); sys.exit(1)")
    (folder / "k.visaasm").write_text(TEXT.replace("V1", "V40") + "    ret (M1, 1)\n")
    status, out, err = run("gen", "k.visaasm", "--tool", tool, "--format", "json")
    assert status == 1
    assert err == "k.visaasm:5:5: error V920 finalizer-error: syntax error, unexpected IDENT\n"
    value = json.loads(out)
    assert value["kernels"] == []
    (finding,) = value["findings"]
    assert (finding["line"], finding["source"], finding["code"]) == (5, "finalizer", "V920")
    (folder / "k.visaasm").write_text(TEXT.replace("V1", "V40").replace("mov", "mvo") + "    ret (M1, 1)\n")
    status, out, err = run("gen", "k.visaasm", "--tool", tool, "--format", "json")
    assert (status, len(err.splitlines())) == (1, 2)
    assert {f["source"] for f in json.loads(out)["findings"]} == {"visa-lsp", "finalizer"}


def test_a_doubt_without_a_place_leaves_the_exit_status(refused, run, folder):
    tool = fake_tool(folder / "bin", "write_listing(); print('WARNING: an access may leave its variable')")
    status, _, err = run("gen", "k.visaasm", "--tool", tool)
    assert status == 0
    assert err == "k.visaasm:2:1: information V923 finalizer-remark: an access may leave its variable\n"
    tool = fake_tool(folder / "bin", "write_listing(); print('near line 6: saturation is not supported')")
    err = refused("gen", "k.visaasm", "--tool", tool, status=1)
    assert err == "k.visaasm:5:5: warning V921 finalizer-warning: saturation is not supported\n"


def test_options_of_the_finalizer_may_begin_with_a_dash(run, folder, monkeypatch):
    tool = fake_tool(folder / "bin", "write_listing(); open(os.environ['SAID'], 'a').write(repr(sys.argv[4:]) + '\\n')")
    monkeypatch.setenv("SAID", str(folder / "said"))
    assert run("gen", "k.visaasm", "--tool", tool, "--options", "-noschedule -x 'a b'")[0] == 0
    assert run("gen", "k.visaasm", "--tool", tool, "--options", "-noschedule")[0] == 0
    said = (folder / "said").read_text().splitlines()
    assert {
        "['-output', '-printregusage', '-noschedule', '-x', 'a b']",
        "['-output', '-printregusage', '-noschedule']",
    } <= {*said}
    assert "['-output', '-dumpRPE', '-nolocalra', '-noschedule', '-x', 'a b']" in said


def test_spills_fills_and_copies_are_counted(run, folder):
    lines = (
        "send (16|M0) null r0 r12 0x80 0x0 // scratch space spill: SP_GRF_V7_0 from offset[0x32]; $1",
        "send (16|M0) r9 r0 null 0x0 0x0 // scratch space fill: FL_Send_V7_1 from offset[0x32]; $2",
        "send (16|M0) r9 r0 null 0x0 0x0 // scratch space fill:  from offset[0x32]; $3",  # of no variable by name
        "send (16|M0) r9 r0 null 0x0 0x0 // fill from FP[1*32] of V7",
        "mov (8|M0) r4.0<1>:d r1.0<8;8,1>:d",
    )
    text = "".join(f"    {line}\n" for line in lines)
    tool = fake_tool(folder / "bin", f"write_listing(); open(names[0], 'a').write({text!r})")
    _, out, _ = run("gen", "k.visaasm", "--tool", tool)
    assert "1 spill, 3 fills, 1 copy between registers added" in out.splitlines()[0]


def test_two_results_are_compared_in_sum_and_by_line(printed, run, folder, tool):
    other = fake_tool(
        folder / "other",
        "write_listing(); open(names[0], 'a').write('    mov (8|M0) r4.0<1>:d r1.0<8;8,1>:d // $0\\n//.spill size 32\\n')",
    )
    out = printed("gen", "k.visaasm", "--tool", tool, "--tool", other)
    assert re.search(r"bytes spilled +0 +32 +\+32", out)
    assert "     5    1 -> 2    mov" in out
    assert "0 of 1 lines have the same number of Gen instructions on both sides" in out
    _, out, _ = run("gen", "k.visaasm", "--compare-options", "", "-noschedule", "--tool", tool, "--format", "json")
    value = json.loads(out)
    assert [call["options"] for call in value["calls"]] == [[], ["-noschedule"]]
    (kernel,) = value["kernels"]
    assert kernel["gen_instructions"] == [1, 1]
    assert [[len(side) for side in line["gen"]] for line in kernel["lines"]] == [[1, 1]]


@needs_finalizer
def test_a_text_and_its_object_have_the_same_machine_code(run, folder):
    shutil.copy(EXAMPLES / "saxpy.visaasm", folder)
    assert run("asm", "saxpy.visaasm")[0] == 0

    def code(name):
        status, out, err = run("gen", name, "--format", "json")
        assert (status, err) == (0, "")
        (kernel,) = json.loads(out)["kernels"]
        return [gen for line in kernel["lines"] for gen in line["gen"]], kernel["registers"]["index"]

    assert code("saxpy.visaasm") == code("saxpy.isa")


@needs_finalizer
def test_the_platform_is_what_a_text_shows_where_nothing_tells_it(run, folder):
    text = (EXAMPLES / "saxpy.visaasm").read_text()
    (folder / "long.visaasm").write_text("// GRF size: 64 bytes (said)\n" + text)
    (folder / "short.visaasm").write_text(text)
    platforms = [
        json.loads(run("gen", name, "--format", "json")[1])["platform"] for name in ("long.visaasm", "short.visaasm")
    ]
    assert platforms == ["PVCXT", "TGLLP"]


@needs_finalizer
def test_standard_output_and_a_file_have_the_same_report(run, folder):
    shutil.copy(EXAMPLES / "saxpy.visaasm", folder)
    _, out, _ = run("gen", "saxpy.visaasm")
    assert out.startswith("kernel saxpy on TGLLP: 18 Gen instructions, 15 of 128 GRF, no spill")
    run("gen", "saxpy.visaasm", "-o", "out.txt")
    assert (folder / "out.txt").read_text() == out
