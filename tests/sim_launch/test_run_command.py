"""``visa-lsp run``: reports, files, exit status. The programs are the examples."""

import io
import json
import re
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from visa_lsp.isa.glossary import FAULTS, GROUPS
from visa_lsp.sim.faults import FaultKind

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def run(here, run):
    shutil.copytree(EXAMPLES, here, dirs_exist_ok=True)
    edit("average.launch.yaml", "expect_faults: [out-of-bounds, data-race]\n", "")
    return partial(run, "run")


def edit(name, old, new):
    path = Path(name)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_text_runs_with_its_sibling_launch_file(printed):
    assert printed("saxpy.visaasm").splitlines() == [
        "saxpy.visaasm: kernel saxpy on TGLLP, interp: 7 groups, 7 threads, 77 instructions",
        "  opcodes: add 14, gather4_scaled 14, cmp 7, goto 7, mad 7, mul 7, ret 7, scatter4_scaled 7, shl 7",
        "  memory: 800 bytes read, 400 bytes written",
        "  arg x: float32 100: 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, ...",
        "  arg y: float32 100: 1.0, 3.5, 6.0, 8.5, 11.0, 13.5, 16.0, 18.5, ...",
        "  values: a = 2.5, n = 100",
        "  expect arg y: holds",
        "  ok",
    ]


def test_launch_files_run_like_tests(run):
    edit("saxpy.launch.yaml", "      1, 3.5,", "      1, 3.25,")
    status, out, err = run("saxpy.launch.yaml", "mandelbrot.launch.yaml", "gone.launch.yaml")
    assert status == 2
    assert "expect arg y: FAILED, 1 of 100 elements differ: [1] is 3.5, expected 3.25" in out
    assert out.splitlines()[-1] == "3 launches: 1 passed, 2 failed"
    assert err.startswith("gone.launch.yaml: ")


def test_the_buffer_that_is_not_as_expected_comes_first_and_is_marked(printed):
    edit("saxpy.launch.yaml", "      1, 3.5, 6,", "      1.5, 3.5, 7,")
    lines = printed("saxpy.visaasm", status=1).splitlines()
    assert lines[3:8] == [
        "! arg y: float32 100: 1.0, 3.5, 6.0, 8.5, 11.0, 13.5, 16.0, 18.5, ...",
        "    expected:         1.5, 3.5, 7.0, 8.5, 11.0, 13.5, 16.0, 18.5, ...",
        "    2 of 100 elements differ; largest error: 1 absolute at [2], 0.3333 relative at [0], 4194304 ulp at [0]",
        "    [0]: got 1.0, expected 1.5",
        "    [2]: got 6.0, expected 7.0",
    ]
    assert lines[8].startswith("  arg x: ")


def test_an_array_of_another_size_is_said_below_its_buffer(printed):
    edit("saxpy.launch.yaml", "      1, 3.5, 6,", "      1, 3.5, 6, 7,")
    lines = printed("saxpy.visaasm", status=1).splitlines()
    assert lines[4:6] == [
        "    expected:         1.0, 3.5, 6.0, 7.0, 8.5, 11.0, 13.5, 16.0, ...",
        "    has 100 elements, 101 are expected",
    ]
    (expectation,) = json.loads(printed("saxpy.visaasm", "--format", "json", status=1))["expectations"]
    assert (expectation["expected"]["shape"], expectation["differences"]) == ([101], None)


def test_arguments_are_named_as_the_source_names_them(printed):
    edit("mandelbrot.launch.yaml", "{arg: 0, npy: mandelbrot.npy}", "{arg: 0, values: [1]}")
    out = printed("mandelbrot.visaasm", status=1)
    assert "! arg img (argument 0): uint8 20x36x4: 6, 3, " in out
    assert "  expect arg img (argument 0): FAILED, " in out


def test_a_fault_names_the_argument(printed):
    edit("mandelbrot.launch.yaml", "shape: [20, 36, 4]", "shape: [19, 36, 4]")
    edit("mandelbrot.launch.yaml", "expect:\n  - {arg: 0, npy: mandelbrot.npy}\n", "")
    out = printed("mandelbrot.visaasm", status=1)
    assert "elements [19, 0, 0] to [19, 0, 3] of `img`, which has 2736 bytes (19x36x4 elements)" in out


def test_floats_have_the_digits_of_their_type(printed):
    edit("saxpy.launch.yaml", "dtype: float32, shape: [100], init: arange", "dtype: float16, shape: [200], npy: x.npy")
    np.save("x.npy", np.full(200, 0.1, np.float16))
    edit("saxpy.launch.yaml", "a: {value: 2.5}", "a: {value: 0.1}")
    out = printed("saxpy.visaasm", status=1)
    assert "arg x: float16 200: 0.1, 0.1," in out
    edit("saxpy.launch.yaml", "dtype: float16, shape: [200], npy: x.npy", "dtype: float32, shape: [100], init: arange")
    y = json.loads(printed("saxpy.visaasm", "--format", "json", status=1))["buffers"][1]
    assert y["head"][:4] == [1.0, 1.1, 1.2, 1.3]


def test_json_says_what_was_written_and_what_differs(printed):
    edit("saxpy.launch.yaml", "      1, 3.5, 6,", "      1, 3.25, 7,")
    report = json.loads(printed("saxpy.visaasm", "--format", "json", status=1))
    x, y = report["buffers"]
    assert [(b["title"], b["written"], b["changed"], b["image"]) for b in (x, y)] == [
        ("x", False, False, None),
        ("y", True, True, None),
    ]
    (expectation,) = report["expectations"]
    assert (expectation["expected"]["dtype"], expectation["expected"]["head"][:3]) == ("float32", [1.0, 3.25, 7.0])
    differences = expectation["differences"]
    assert (differences["count"], differences["of"], differences["unordered"]) == (2, 100, 0)
    assert differences["largest"]["absolute"] == {"value": 1.0, "at": [2]}
    assert differences["first"][0] == {"at": [1], "got": 3.5, "expected": 3.25}
    assert "elements" not in differences


def test_a_buffer_can_be_written_without_a_change(printed):
    edit("saxpy.launch.yaml", "a: {value: 2.5}", "a: {value: 0}")
    y = json.loads(printed("saxpy.visaasm", "--format", "json", status=1))["buffers"][1]
    assert (y["written"], y["changed"]) == (True, False)


def test_json_report(printed):
    report = json.loads(printed("mandelbrot.visaasm", "--format", "json", "--out", "out"))
    assert (report["kernel"], report["platform"], report["engine"], report["ok"]) == ("mandel", "TGLLP", "interp", True)
    assert (report["groups"], report["threads"]) == (15, 60)
    assert report["expectations"] == [{"arg": 0, "ok": True, "message": "holds"}]
    (buffer,) = report["buffers"]
    assert (buffer["name"], buffer["dtype"], buffer["shape"]) == ("img", "uint8", [20, 36, 4])
    assert np.array_equal(np.load(buffer["path"]), np.load("mandelbrot.npy"))
    assert sorted(path.name for path in Path("out").iterdir()) == ["arg0.npy"]


def test_a_fault_is_reported_with_its_line(printed, run):
    edit("saxpy.launch.yaml", "n: {value: 100}", "n: {value: 112}")
    report = json.loads(printed("saxpy.visaasm", "--format", "json", status=1))
    fault = report["faults"][0]
    assert fault["kind"] == "out-of-bounds"
    assert "gather4_scaled" in Path("saxpy.visaasm").read_text().splitlines()[fault["line"] - 1]
    assert run("saxpy.visaasm", "--checks", "none")[0] == 0


def test_the_example_that_is_wrong_is_found_out_with_both_parties(printed):
    lines = printed("average.visaasm", status=1).splitlines()
    text = Path("average.visaasm").read_text().splitlines()
    read, write = (n for n, line in enumerate(text, 1) if "x_next.0" in line or line.startswith("    scatter4"))
    faults = [line for line in lines if line.startswith("  fault: ")]
    assert [fault.partition(" (")[0] for fault in faults] == [
        "  fault: out-of-bounds: reads bytes 128-131, element 32 of `x`, which has 128 bytes",
        "  fault: data-race: writes bytes read by a thread of another group: bytes 64-67, element 16 of `x`",
    ]
    assert f"group (1, 0, 0), thread 0, lane 15, instruction 5, line {read})" in faults[0]
    assert f"group (1, 0, 0), thread 0, lane 0, instruction 8, line {write})" in faults[1]
    assert faults[1].endswith(f"other party: group (0, 0, 0), thread 0, instruction 5, line {read}")
    assert lines[-3:-1] == [f"    average.visaasm:{n}: {text[n - 1].strip()}" for n in (write, read)]


def test_max_errors_lists_so_many_faults_and_counts_the_others(printed):
    out = printed("average.visaasm", "--max-errors", "1", status=1)
    assert "fault: out-of-bounds" in out
    assert "fault: data-race" not in out
    assert "\n  1 more fault: a larger --max-errors prints more\n" in out
    assert "more fault" not in printed("average.visaasm", "--max-errors", "2", status=1)
    report = json.loads(printed("average.visaasm", "--max-errors", "1", "--format", "json", status=1))
    assert ([fault["kind"] for fault in report["faults"]], report["more_faults"]) == (["out-of-bounds"], 1)


def test_the_first_fault_ends_the_run(printed, run):
    edit("average.launch.yaml", "groups: [2,", "groups: [3,")
    whole = json.loads(printed("average.visaasm", "--format", "json", status=1))
    with Path("average.launch.yaml").open("a") as launch:
        launch.write(f"expect: [{{arg: x, values: {[0] * 32}}}]\n")
    report = json.loads(printed("average.visaasm", "--first-fault", "--format", "json", status=1))
    assert (len(whole["faults"]), len(report["faults"])) == (4, 1)
    assert report["faults"] == whole["faults"][:1]
    assert report["instructions"] < whole["instructions"]
    assert report["expectations"] == []
    assert report["notes"] == ["the run stopped at its first fault, in group 2 of 3; nothing is compared"]
    assert run("saxpy.visaasm", "--first-fault")[0] == 0


def test_a_fault_that_is_complete_at_the_end_of_a_group_ends_the_run(printed):
    edit("saxpy.launch.yaml", "init: arange", "init: arange, access: writeonly")
    report = json.loads(printed("saxpy.visaasm", "--first-fault", "--format", "json", status=1))
    assert report["notes"] == ["the run stopped at its first fault, in group 2 of 7; nothing is compared"]


def test_more_faults_than_are_kept_are_told_of(printed):
    line = "    gather4_scaled.R (M1, 16) x 0x0:ud next.0 x_next.0\n"
    edit("average.visaasm", line, line * 250)
    report = json.loads(printed("average.visaasm", "--max-errors", "3", "--format", "json", status=1))
    assert (len(report["faults"]), report["more_faults"]) == (3, 197)
    assert report["notes"] == ["only the first 200 faults and notes of the run are kept"]


def test_a_fault_that_stops_a_thread_is_the_first_one_too(printed):
    edit("average.launch.yaml", "groups: [2,", "groups: [1,")
    report = json.loads(printed("average.visaasm", "--budget", "5", "--first-fault", "--format", "json", status=1))
    assert [fault["kind"] for fault in report["faults"]] == ["step-budget"]


def test_a_text_from_standard_input(printed, monkeypatch):
    class Stdin:
        buffer = io.BytesIO(Path("saxpy.visaasm").read_bytes())

    monkeypatch.setattr("sys.stdin", Stdin)
    assert printed("-", "--launch", "saxpy.launch.yaml").startswith("-: kernel saxpy")


def test_a_text_with_errors_is_told_with_place(refused):
    edit("saxpy.visaasm", "add (M1, 16) index(0,0)", "add (M1, 16) indx(0,0)")
    assert refused("saxpy.visaasm", status=1).startswith("saxpy.visaasm:42:18: error")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("gone.visaasm",), "gone.visaasm: no such file"),
        ((".",), ".: is a directory"),
        (("saxpy.visaasm", "--launch", "gone.yaml"), "gone.yaml: no such file"),
        (("saxpy.visaasm", "--platform", "nope"), "unknown platform 'nope'"),
        (("saxpy.visaasm", "--out", "saxpy.visaasm"), "saxpy.visaasm: cannot write"),
        (("broken.isa", "--launch", "saxpy.launch.yaml"), "broken.isa: cannot read the vISA object"),
        (
            ("saxpy.launch.yaml", "mandelbrot.visaasm", "--launch", "saxpy.launch.yaml"),
            "--launch takes the files of one",
        ),
        (("saxpy.visaasm", "saxpy.visaasm", "--launch", "saxpy.launch.yaml"), "defined in two files of the program"),
        (("wrong.launch.yaml",), "wrong.launch.yaml:5:4: .input a has 4 bytes; the address of a buffer needs 8"),
        (("zebin.launch.yaml",), "cannot read the zebin"),
    ],
)
def test_usage_mistakes_end_in_status_2(run, words, message):
    Path("broken.isa").write_bytes(b"CISA\x04")
    args = "n: {value: 1}, x: {buffer: {dtype: int8, shape: [4]}}, y: {buffer: {dtype: int8, shape: [4]}}"
    launch = f"file: saxpy.visaasm\ngroups: [1]\nlocal_size: [16]\nargs: {{ {args},\n   a: {{buffer: {{dtype: int8, shape: [4]}}}}}}\n"
    Path("wrong.launch.yaml").write_text(launch)
    Path("zebin.launch.yaml").write_text("file: saxpy.visaasm\nzebin: saxpy.visaasm\ngroups: [1]\nlocal_size: [16]\n")
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert message in err


def test_a_repeated_run_starts_from_the_same_memory_and_tells_each_time(printed):
    report = json.loads(printed("saxpy.visaasm", "--repeat", "3", "--format", "json"))
    assert report["instructions"] == 77
    assert report["expectations"][0]["ok"]
    assert len(report["time"]["run"]) == 3
    assert all(seconds > 0 for seconds in (report["time"]["load"], *report["time"]["run"]))
    assert report["time"]["compile"] >= 0
    assert report["replayed_groups"] == 0


def test_the_text_report_tells_times_where_they_are_asked_for(printed):
    duration = r"\d[\d.e-]* m?s"
    for more, words in (
        ((), rf"^  time: load {duration}, compile {duration}, run {duration}$"),
        (("--repeat", "2"), rf"run {duration} \(median of 2, {duration} to {duration}\)$"),
    ):
        assert re.search(words, printed("saxpy.visaasm", "--time", *more), re.MULTILINE)


@pytest.mark.parametrize("count", ["0", "-1", "x", "1.5", "9" * 400])
def test_a_count_of_runs_is_a_number(refused, count):
    assert "--repeat" in refused("saxpy.visaasm", "--repeat", count)


@pytest.mark.parametrize(
    ("kinds", "checks", "status", "last"),
    [
        ("out-of-bounds, data-race", "all", 0, "ok"),
        ("out-of-bounds", "all", 1, "FAILED"),
        ("out-of-bounds, data-race, bad-call", "all", 1, "FAILED"),
        ("out-of-bounds, data-race", "none", 0, "ran, nothing was checked; no result was compared"),
        ("out-of-bounds, data-race", "bounds", 0, "ok"),
    ],
)
def test_faults_that_are_expected_fail_nothing(printed, kinds, checks, status, last):
    with Path("average.launch.yaml").open("a") as launch:
        launch.write(f"expect_faults: [{kinds}]\n")
    lines = printed("average.visaasm", "--checks", checks, status=status).splitlines()
    assert lines[-1] == f"  {last}"
    assert ("  expect fault bad-call: FAILED, none was found" in lines) == ("bad-call" in kinds)
    assert any(line.startswith("  expected fault: out-of-bounds: ") for line in lines) == (checks != "none")


def test_kinds_of_fault_in_launch_files_are_those_of_the_simulator():
    assert {term.name for term in GROUPS[FAULTS]} == {kind.value for kind in FaultKind}
