"""``visa-lsp run --sweep``: rows, tables, statuses, processes and Ctrl+C. The kernel is the example saxpy."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from tiers import first

from visa_lsp.app.launch import sweep_table

EXAMPLES = Path(__file__).parents[2] / "examples"
LAUNCH = """\
file: saxpy.visaasm
groups: [ceil(n / 16), 1, 1]
local_size: [16]
sweep: {n: [1, 20, 40], k: [2, 3]}
args:
  x: {buffer: {dtype: float32, shape: [n], init: ones}}
  y: {buffer: {dtype: float32, shape: [n], init: ones}}
  a: {value: k}
  n: {value: n}
"""
# Holds at the first point only: there is one element, and k is 2.
EXPECT = "expect: [{arg: y, values: [3]}]\n"


@pytest.fixture
def run(here, run):
    shutil.copy(EXAMPLES / "saxpy.visaasm", here)
    (here / "s.launch.yaml").write_text(LAUNCH)
    return partial(run, "run")


def timeless(text):
    return re.sub(r"\s+[\d.e+-]+ m?s\b", " T", text)


def test_a_row_for_each_point_in_order_and_a_sum(run):
    status, out, err = run("--sweep", "s.launch.yaml", "--engine", "interp")
    assert (status, err) == (0, "")
    assert timeless(out).splitlines() == [
        "s.launch.yaml: 6 points of n, k",
        "  n   k  status  engine       time  first difference",
        "  1   2  ok      interp T",
        "  1   3  ok      interp T",
        "  20  2  ok      interp T",
        "  20  3  ok      interp T",
        "  40  2  ok      interp T",
        "  40  3  ok      interp T",
        "6 points: 6 passed, 0 failed",
    ]


def test_a_point_that_is_not_as_expected_is_told_with_its_first_element(run):
    Path("s.launch.yaml").write_text(LAUNCH + EXPECT)
    status, out, _ = run("--sweep", "s.launch.yaml", "--format", "json")
    found = json.loads(out)
    assert (status, found["ok"], found["passed"], found["failed"]) == (1, False, 1, 5)
    assert found["axes"] == {"n": [1, 20, 40], "k": [2, 3]}
    assert [(p["status"], p["difference"]) for p in found["points"][:3]] == [
        ("ok", ""),
        ("FAILED", "y: [0]: got 4.0, expected 3.0"),
        ("FAILED", "y: has 20 elements, 1 are expected"),
    ]


def test_a_point_that_cannot_be_run_costs_no_other_one(run):
    Path("s.launch.yaml").write_text(LAUNCH.replace("k: [2, 3]", "k: [2], local_size: [16, 70000]"))
    status, out, _ = run("--sweep", "s.launch.yaml", "--format", "json")
    found = json.loads(out)["points"]
    assert status == 2
    assert [p["status"] for p in found] == ["ok", "error"] * 3
    assert "work items" in found[1]["difference"]


def test_a_fault_is_told_and_fails(run):
    Path("s.launch.yaml").write_text(LAUNCH.replace("n: {value: n}", "n: {value: n + 1}"))
    status, out, _ = run("--sweep", "s.launch.yaml", "--format", "json")
    found = json.loads(out)["points"]
    assert status == 1
    assert {p["status"] for p in found} == {"fault"}
    assert "bytes" in found[0]["difference"]


@pytest.mark.parametrize("jobs", first(1, ["2", "1", "3"]))
def test_several_processes_print_what_one_does(printed, run, jobs):
    Path("s.launch.yaml").write_text(LAUNCH + EXPECT)
    _, alone, _ = run("--sweep", "s.launch.yaml", "--jobs", "1")
    out = printed("--sweep", "saxpy.visaasm", "--launch", "s.launch.yaml", "--jobs", jobs, status=1)
    assert timeless(out).splitlines()[1:] == timeless(alone).splitlines()[1:]


def test_csv_and_json_have_a_record_for_each_point(run):
    Path("s.launch.yaml").write_text(
        LAUNCH.replace("n: [1, 20, 40], k: [2, 3]", "n: [1], status: [2, 3], local_size: [[16, 1], 8]").replace(
            "value: k", "value: status"
        )
    )
    for name in ("t.csv", "t.json"):
        assert run("--sweep", "s.launch.yaml", "--table", name, "--engine", "interp")[0] == 0
    records = list(csv.DictReader(Path("t.csv").read_text().splitlines()))
    values = json.loads(Path("t.json").read_text())
    assert len(records) == len(values) == 4
    assert list(records[0])[:4] == ["n", "axis.status", "local_size", "status"]
    assert [r["local_size"] for r in records[:2]] == ["[16, 1]", "8"]
    assert values[1]["point"] == {"n": 1, "status": 2, "local_size": 8}


def test_no_cell_of_csv_is_a_formula(run):
    Path("=1+1.visaasm").write_text(Path("saxpy.visaasm").read_text())
    Path("s.launch.yaml").write_text(LAUNCH.replace("k: [2, 3]", 'k: [2], file: ["=1+1.visaasm"]'))
    assert run("--sweep", "s.launch.yaml", "--table", "t.csv")[0] == 0
    (record, *_) = csv.DictReader(Path("t.csv").read_text().splitlines())
    assert record["file"] == "'=1+1.visaasm"


def test_parquet_has_a_typed_column_for_each_axis(run):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed: pip install pyarrow")
    assert run("--sweep", "s.launch.yaml", "--table", "t.parquet")[0] == 0
    table = parquet.read_table("t.parquet")
    assert table.column("n").to_pylist() == [1, 1, 20, 20, 40, 40]
    assert str(table.schema.field("n").type) == "int64"
    assert table.column("ok").to_pylist() == [True] * 6


def test_parquet_without_its_library_is_refused_before_anything_runs(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(sweep_table.UserError, match="pip install pyarrow"):
        sweep_table.refuse_table("t.parquet")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--sweep", "saxpy.visaasm"], "--sweep needs a launch file with sweep:, saxpy.launch.yaml does not exist"),
        (["--sweep", "plain.launch.yaml"], "no sweep found"),
        (["--sweep", "wrong.launch.yaml"], "wrong.launch.yaml:1:10: unknown name 'm'"),
        (["--sweep", "gone.launch.yaml"], "gone.launch.yaml: no such file"),
        (["s.launch.yaml", "--table", "t.csv"], "--table needs --sweep"),
        (["s.launch.yaml", "--jobs", "2"], "--jobs needs --sweep"),
        (["--sweep", "s.launch.yaml", "--table", "t.xls"], "expected a file name ending in .csv, .json, .parquet"),
        (["--sweep", "s.launch.yaml", "--table", "link.csv"], "this is also the input"),
        (["--sweep", "s.launch.yaml", "--table", "no/t.csv"], "no/t.csv"),
        (["--sweep", "s.launch.yaml", "--out", "d"], "--out applies to one launch"),
        (["--sweep", "s.launch.yaml", "s.launch.yaml"], "--sweep takes one launch file"),
        (["--sweep", "k.cl"], "--sweep takes texts and objects"),
    ],
)
def test_what_cannot_be_swept_is_said_in_one_line(run, words, message):
    Path("plain.launch.yaml").write_text("groups: [1]\nfile: saxpy.visaasm\n")
    Path("wrong.launch.yaml").write_text("groups: [m]\nsweep: {n: [1]}\n")
    Path("link.csv").symlink_to("s.launch.yaml")
    status, _, err = run(*words)
    assert (status, len(err.splitlines())) == (2, 1), err
    assert message in err


def test_a_run_without_sweep_runs_the_first_point_and_says_so(printed):
    out = printed("s.launch.yaml")
    assert "6 points of its sweep: n = 1, k = 2; " in out


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="processes have no groups here")
@pytest.mark.full
def test_ctrl_c_ends_all_processes(run):
    Path("s.launch.yaml").write_text(LAUNCH.replace("k: [2, 3]", f"k: {list(range(1, 2000))}"))
    command = [sys.executable, "-m", "visa_lsp", "run", "--sweep", "s.launch.yaml", "--jobs", "2", "--engine", "interp"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, text=True
    ) as child:
        assert child.stdout is not None
        for _ in range(4):
            child.stdout.readline()
        os.killpg(child.pid, signal.SIGINT)
        _, err = child.communicate(timeout=60)
        assert child.returncode == 130
        assert "Traceback" not in err
    end = time.monotonic() + 30
    while time.monotonic() < end and _group_lives(child.pid):
        time.sleep(0.05)
    assert not _group_lives(child.pid)


def _group_lives(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
