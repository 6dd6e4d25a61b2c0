"""What a report says of those it is about: lanes as the thread counts them, work items by global and local id."""

from __future__ import annotations

from pathlib import Path

from tests.sim.case_files import read_case
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.printing import Outcome, report_values
from visa_lsp.app.launch.runner import RunOptions, run_text
from visa_lsp.cli.run import print_text

FEW = "{out: {buffer: {dtype: uint32, shape: [3]}}}"


def run(name, **changes):
    path, text, launch = read_case(name)
    for old, new in changes.items():
        assert f"{old}:" in launch
        launch = "\n".join(f"{old}: {new}" if line.startswith(f"{old}:") else line for line in launch.splitlines())
    return run_text(text, parse_launch(launch, path), RunOptions(path, budget=10_000))


def test_every_lane_in_question_is_named_with_its_work_item():
    report = run("bounds_half")
    (fault,) = report_values(report)["faults"]
    assert fault["lane"] == 20
    assert [item["lane"] for item in fault["items"]] == list(range(20, 32))
    assert fault["items"][0] == {"lane": 20, "global": [20, 0, 0], "local": [20, 0, 0]}


def test_ids_are_those_of_all_dimensions_with_the_offset():
    report = run("bounds_half", local_size="[4, 4, 2]", groups="[1, 1, 1]\nglobal_offset: [100, 0, 8]", args=FEW)
    (fault,) = report.faults
    assert [(item.lane, item.global_id, item.local_id) for item in fault.items] == [
        (lane, (103, y, 9), (3, y, 1)) for y, lane in enumerate((19, 23, 27, 31))
    ]


def test_a_block_is_the_whole_threads(capsys):
    report = run("bounds_block")
    (fault,) = report.faults
    assert fault.lane is None
    assert [item.local_id for item in fault.items] == [(n, 0, 0) for n in range(16)]
    print_text(Outcome("x", report, (None,)))
    assert "    work items: lanes 0 to 15: global (0..15, 0, 0), local (0..15, 0, 0)\n" in capsys.readouterr().out


def test_lanes_that_miss_a_barrier_have_their_work_items():
    report = run("barrier_left")
    (fault,) = report.faults
    assert fault.lane is None
    assert [item.local_id[0] for item in fault.other_items] == [0, 1, 2]
    assert [item.local_id[0] for item in fault.items] == list(range(3, 16))


SHARED = """.version 4.1
.kernel "k"
.decl local_id_x v_type=G type=uw num_elts=16 align=GRF
.decl at v_type=G type=ud num_elts=16 align=GRF
.decl other v_type=G type=ud num_elts=16 align=GRF
.decl value v_type=G type=ud num_elts=16 align=GRF
.decl out v_type=T num_elts=1
.input local_id_x offset=32 size=32
.input out offset=64 size=4
.kernel_attr Target="cm"
.kernel_attr SimdSize=16
    mov (M1, 16) at(0,0)<1> local_id_x(0,0)<1;1,0>
    shl (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x2:ud
    xor (M1, 16) other(0,0)<1> at(0,0)<1;1,0> 0x40:ud
    scatter4_scaled.R (M1, 16) %slm 0x0:ud at.0 at.0
    gather4_scaled.R (M1, 16) %slm 0x0:ud other.0 value.0
    scatter4_scaled.R (M1, 16) out 0x0:ud at.0 value.0
    ret (M1, 1)
"""


def test_a_race_is_told_before_the_reads_of_nothing_that_follow_from_it():
    launch = "groups: [1, 1, 1]\nlocal_size: [32, 1, 1]\nargs: {out: {buffer: {dtype: uint32, shape: [32]}}}"
    path = Path("k.visaasm")
    report = run_text(SHARED, parse_launch(launch, path), RunOptions(path))
    kinds = [fault.kind.value for fault in report.faults]
    assert set(kinds) == {"data-race", "uninitialised-read"}
    assert kinds == sorted(kinds)
