"""Functions that compiled code calls, recursive ones too: reports, counts and results are those of the interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import test_compiled_faults as faults
from compiled_engine import sample_first
from unjudged_run import run_unjudged

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.runner import RunOptions
from visa_lsp.sim.jit import activations, native, whole

REGISTERS = """.decl argument v_type=G type=d num_elts=32 align=GRF alias=<%arg, 0>
.decl result v_type=G type=d num_elts=16 align=GRF alias=<%retval, 0>
"""
# `more` adds n + (n - 1) + ... + 1 to its second argument; lanes return when their n is 0.
TEXT = (
    faults.HEAD
    + REGISTERS
    + ".decl P2 v_type=P num_elts=16\n"
    + faults.AT
    + """    and (M1, 16) argument(0,0)<1> value(0,0)<1;1,0> 0x7:d
    mov (M1, 16) argument(2,0)<1> value(0,0)<1;1,0>
    cmp.lt (M1, 16) P1 value(0,0)<1;1,0> 0xc:d
    fcall (M1, 16) more 4 2
    {behind}
    mov (M1, 16) value(0,0)<1> result(0,0)<1;1,0>
    mov (M1, 16) argument(0,0)<1> value(0,0)<1;1,0>
    (P1) fcall (M1, 16) other 2 2
    cmp.lt (M1, 16) P2 value(0,0)<1;1,0> 0x0:d
    (P2) fcall (M1, 16) other 2 2
    mov (M1, 16) value(0,0)<1> result(0,0)<1;1,0>
    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0
    {last}
    ret (M1, 1)
.global_function "more"
"""
    + REGISTERS
    + """.decl number v_type=G type=d num_elts=16 align=GRF
.decl sum v_type=G type=d num_elts=16 align=GRF
.decl never v_type=G type=d num_elts=16 align=GRF
.decl at v_type=G type=ud num_elts=16 align=GRF
.decl P1 v_type=P num_elts=16
.decl P2 v_type=P num_elts=16
.decl A0 v_type=A num_elts=1
.kernel_attr SimdSize=16
    mov (M1, 16) number(0,0)<1> argument(0,0)<1;1,0>
    mov (M1, 16) sum(0,0)<1> argument(2,0)<1;1,0>
    mov (M1, 16) at(0,0)<1> 0x0:ud
    cmp.eq (M1, 16) P1 number(0,0)<1;1,0> 0x0:d
    (P1) goto (M1, 16) ready
    add (M1, 16) argument(2,0)<1> sum(0,0)<1;1,0> number(0,0)<1;1,0>
    add (M1, 16) argument(0,0)<1> number(0,0)<1;1,0> 0xffffffff:d
    {in_more}
    fcall (M1, 16) more 4 2
    mov (M1, 16) sum(0,0)<1> result(0,0)<1;1,0>
ready:
    mov (M1, 16) result(0,0)<1> sum(0,0)<1;1,0>
    fret (M1, 16)
.global_function "other"
"""
    + REGISTERS
    + """.decl never v_type=G type=d num_elts=16 align=GRF
.decl at v_type=G type=ud num_elts=16 align=GRF
.decl P1 v_type=P num_elts=16
.decl P2 v_type=P num_elts=16
.kernel_attr SimdSize=16
    mov (M1, 16) at(0,0)<1> 0x0:ud
    {in_other}
    mul (M1, 16) result(0,0)<1> argument(0,0)<1;1,0> 0x3:d
    {end}
.global_function "meet"
.kernel_attr SimdSize=16
    barrier
    fret (M1, 16)
"""
)
SHARE = "scatter4_scaled.R (M1, 16) %slm 0x0:ud at.0 value.0"
READ = "xor (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x40:ud\n    gather4_scaled.R (M1, 16) %slm 0x0:ud at.0 never.0\n    xor (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x40:ud"
SHARE_X, READ_X = (words.replace("%slm", "x") for words in (SHARE, READ))
STORE = "scatter4_scaled.R (M1, 16) x 0x0:ud at.0 {}.0"
DEFAULTS = {"behind": "", "last": "", "in_more": "", "in_other": "", "end": "fret (M1, 16)"}
PLACES = {
    "clean": {},
    "a barrier in a function": {"behind": f"{SHARE}\n    fcall (M1, 16) meet 1 1\n    {READ}"},
    "no barrier in a function": {"behind": f"{SHARE}\n    fcall (M1, 16) more 4 2\n    {READ}"},
    "a barrier in a function without a fence": {"behind": f"{SHARE_X}\n    fcall (M1, 16) meet 1 1\n    {READ_X}"},
    "end without a return": {"end": ""},
    "argument after a call": {"behind": STORE.format("argument")},
    "register of the kernel": {"last": STORE.format("never")},
    "undefined argument": {"behind": "mov (M1, 16) argument(0,0)<1> never(0,0)<1;1,0>\n    fcall (M1, 16) more 4 2"},
    "undefined result": {"in_other": "mov (M1, 16) argument(0,0)<1> never(0,0)<1;1,0>"},
    "register of an earlier activation": {"in_more": "cmp.eq (M1, 16) P2 never(0,0)<1;1,0> 0x0:d\n    (P2) goto (M1, 16) ready\n    mov (M1, 16) never(0,0)<1> 0x1:d"},
    "divided by zero": {"in_more": "add (M1, 16) at(0,0)<1> argument(0,0)<1;1,0> 0xfffffffe:d\n    div (M1, 16) never(0,0)<1> at(0,0)<1;1,0> at(0,0)<1;1,0>"},
    "outside of memory": {"in_other": "mov (M1, 16) at(0,0)<1> 0x400:ud\n    svm_gather.4.1 (M1, 16) at.0 never.0"},
    "barrier of some lanes": {"in_more": "barrier"},
    "endless loop": {"in_more": "\ninside:\n    jmp (M1, 1) inside"},
    "endless recursion": {"in_more": "mov (M1, 16) argument(0,0)<1> 0x1:d"},
    "no such function": {"in_other": "fcall (M1, 16) nowhere 1 1"},
    "modes of floats": {"in_other": "or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x10:ud"},
    "function that calls another one": {"in_other": "\n    fcall (M1, 16) more 4 2\n    mov (M1, 16) argument(0,0)<1> 0x2:d"},
}  # fmt: skip
COMPILED = {"clean", "end without a return", "endless loop", "function that calls another one"}


@pytest.fixture(autouse=True)
def _cheap(monkeypatch, at_once):
    monkeypatch.setattr(native, "LEVEL", 0)


def ran(what, engine, checks="all", **launch):
    text = TEXT.format(**DEFAULTS | PLACES[what])
    shape = {"groups": 2, "local": 16, "more": "", "init": "arange"} | launch
    file = parse_launch(faults.LAUNCH.format(**shape), Path("k.launch.yaml"))
    return run_unjudged(text, file, RunOptions(platform="TGLLP", engine=engine, checks=checks, budget=200_000))


def check(what, checks="all", **launch):
    expected, report = (ran(what, engine, checks, **launch) for engine in ("interp", "jit"))
    assert faults.told(report) == faults.told(expected)
    results = [(r.result.executions, r.result.steps, r.result.groups, r.result.barriers) for r in (report, expected)]
    assert results[0] == results[1]
    assert (report.buffers[0].array == expected.buffers[0].array).all()
    return report


@pytest.mark.parametrize("what", PLACES)
def test_functions_do_the_same_compiled(what):
    assert check(what).engine == ("jit" if what in COMPILED else "interp")


@pytest.mark.parametrize("what", PLACES)
def test_functions_do_the_same_compiled_without_checks(what):
    check(what, "none")


@pytest.mark.parametrize("checks", ["all", "none"])
@pytest.mark.parametrize("what", [what for what in PLACES if "barrier" in what])
def test_threads_that_meet_in_a_function_do_the_same(what, checks):
    report = check(what, checks, groups=1, local=32)
    assert checks == "none" or report.engine == ("jit" if what == "a barrier in a function" else "interp")


@pytest.mark.parametrize("checks", ["all", "none"])
def test_functions_without_memory_for_their_activations_do_the_same(checks, monkeypatch):
    monkeypatch.setattr(activations, "_MAX_BYTES", 30_000)
    check("clean", checks)
    check("outside of memory", checks)


@pytest.mark.parametrize("what", PLACES)
def test_functions_that_are_compiled_on_their_way_do_the_same(what, monkeypatch):
    sample_first(monkeypatch, 1)
    check(what, "none", groups=8)


@pytest.mark.parametrize("what", ["clean", "a barrier in a function", "endless recursion"])
@pytest.mark.parametrize("checks", ["none", "all"])
def test_groups_go_on_within_a_function(what, checks, monkeypatch):
    monkeypatch.setattr(whole, "MAX_SLICE_STEPS", 10)
    check(what, checks, groups=3, local=64)
