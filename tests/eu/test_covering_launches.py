"""Launches that are chosen by the lines of the text that they reach."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from visa_lsp.app.verify import covering_launches
from visa_lsp.app.verify.covering_launches import reached_instructions, text_runs
from visa_lsp.app.verify.verify_launches import beside_of, launches_of
from visa_lsp.eu.thread_start import thread_starts
from visa_lsp.isa.platforms import platform_named
from visa_lsp.sim.faults import FaultKind

TEXT = """.version 4.1
.kernel "k"
.decl local_id_x v_type=G type=uw num_elts=16 align=GRF
.decl n v_type=G type=d num_elts=1 align=dword
.decl y v_type=T num_elts=1
.decl offset v_type=G type=ud num_elts=16 align=GRF
.decl result v_type=G type=d num_elts=16 align=GRF
.decl P1 v_type=P num_elts=16
.input local_id_x offset=32 size=32
.input y offset=64 size=4
.input n offset=68 size=4
.kernel_attr Target="3d"
.kernel_attr SimdSize=16
    shl (M1, 16) offset(0,0)<1> local_id_x(0,0)<1;1,0> 0x2:ud
    mov (M1, 16) result(0,0)<1> n(0,0)<0;1,0>
    cmp.ne (M1, 16) P1 n(0,0)<0;1,0> GUARD:d
    (P1) goto (M1, 16) done
    add (M1, 16) result(0,0)<1> result(0,0)<1;1,0> 0x5:d
done:
    scatter4_scaled.R (M1, 16) y 0x0:ud offset.0 result.0
    ret (M1, 1)
"""


def runs_of(tmp_path, text):
    path = tmp_path / "k.visaasm"
    path.write_text(text, encoding="utf-8")
    launches = list(launches_of(path, None, "TGLLP", "k", path.read_bytes(), tries=False))
    return launches, list(text_runs(launches, beside_of(str(path), None)))


@pytest.mark.parametrize("number", ["0x4d3", "0xffffffff"])
def test_lines_behind_a_number_are_reached(tmp_path, number):
    launches, runs = runs_of(tmp_path, TEXT.replace("GUARD", number))
    last = len(runs[0].ready.prepared.dispatch.kernel.instructions)
    assert not any(len(reached_instructions(run)) == last for run in runs[: len(launches)])
    assert len(reached_instructions(runs[-1])) == last
    assert f"{int(number, 16) - (1 << 32 if number == '0xffffffff' else 0)}" in runs[-1].opened.text


def test_no_launch_is_added_for_lines_that_none_reaches(tmp_path):
    never = TEXT.replace("GUARD", "0x1").replace("    cmp.ne", "    mov (M1, 1) n(0,0)<1> 0x2:d\n    cmp.ne")
    launches, runs = runs_of(tmp_path, never)
    assert len(runs) == len(launches) + 2  # those of groups far away


def test_launches_that_do_not_end_give_later_ones_no_more_steps(tmp_path, monkeypatch):
    limits = list[int]()
    launches, runs = runs_of(tmp_path, TEXT.replace("GUARD", "0x1"))
    endless = SimpleNamespace(kind=FaultKind.BUDGET, is_note=False)
    ends = [
        replace(runs[0].result, steps=steps, faults=faults)
        for steps, faults in ((9, ()), (90_000, (endless,)), (200_000, ()))
    ]

    def run_text(_opened, steps=0):
        limits.append(steps)
        return replace(runs[0], result=ends[min(len(limits), 3) - 1], opened=SimpleNamespace(proposed=None))

    monkeypatch.setattr(covering_launches, "run_text", run_text)
    assert len(list(text_runs(launches[:4], tmp_path / "k.launch.yaml"))) == 4
    assert limits == [0, 100_000, 100_000, 300_000]


def test_launches_of_files_are_not_extended(tmp_path):
    (tmp_path / "k.launch.yaml").write_text(
        "kernel: k\ngroups: [1, 1, 1]\nlocal_size: [16, 1, 1]\nargs:\n"
        "  y: {buffer: {dtype: int32, shape: [16]}}\n  n: {value: 3, dtype: int32}\n",
        encoding="utf-8",
    )
    launches, runs = runs_of(tmp_path, TEXT.replace("GUARD", "0x4d3"))
    assert len(launches) == len(runs) == 1


def test_r0_has_the_number_of_the_hardware_thread_beside_its_scratch_address(tmp_path):
    launches, _ = runs_of(tmp_path, TEXT.replace("GUARD", "0x1"))
    prepared = max((opened.ready().prepared for opened in launches), key=lambda p: p.dispatch.threads_per_group)
    starts = thread_starts(prepared, None, platform_named("TGLLP"))
    words = [int.from_bytes(starts((0, 0, 0), thread).registers[20:24], "little") for thread in (0, 1)]
    assert [word & 0x3FF for word in words] == [0, 1]
    assert words[0] >> 10 != words[1] >> 10
