"""The first stop at a fault stands on the instruction that the run's first fault names, in its thread, before its effect."""

from __future__ import annotations

import json

import pytest
from debugging import LAUNCH, TEXT, open_debugger, write_shift

from visa_lsp.cli.main import main
from visa_lsp.debug.goals import Goal
from visa_lsp.debug.stops import FILTERS

BARRIER = "    barrier\n"
# What is wrong: what is put in the place of what, and the kind of the fault.
WRONG = {
    "a variable that is never written": (
        "    mov (M1, 8) value(0,0)<1> local_id_x(0,0)<1;1,0>\n",
        "",
        "uninitialised-read",
    ),
    "behind the end of a buffer": ("out 0x0:ud", "out 0x20:ud", "out-of-bounds"),
    "no barrier": (BARRIER, "", "data-race"),
    "an odd address": ("0x3c:ud", "0x3d:ud", "misaligned-access"),
    "a barrier without some lanes": (BARRIER, f"    (P1) goto (M1, 8) over\n{BARRIER}over:\n", "barrier-divergence"),
    "a barrier without some threads": (BARRIER, f"    (P1) jmp (M1, 1) over\n{BARRIER}over:\n", "data-race"),
    "a subroutine that calls itself": ("    add (M1, 8)", "    call (M1, 8) twice\n    add (M1, 8)", "bad-call"),
}


@pytest.fixture
def program(tmp_path):
    return write_shift(tmp_path)


def first_fault(program, capsys):
    status = main(["run", str(program), "--engine", "interp", "--format", "json"])
    return status, json.loads(capsys.readouterr().out)["faults"][0]


@pytest.mark.parametrize("wrong", WRONG)
def test_the_first_stop_is_at_the_first_fault_and_the_end_is_that_of_the_run(program, capsys, wrong):
    old, new, kind = WRONG[wrong]
    assert old in TEXT
    program.write_text(TEXT.replace(old, new, 1))
    status, fault = first_fault(program, capsys)
    assert (status, fault["kind"]) == (1, kind)
    launched, _ = open_debugger(program)
    debugger = launched.debugger
    debugger.filters = set(FILTERS)
    stop = debugger.go(Goal())
    assert stop.reason == "exception"
    place = debugger.place(stop.thread)
    assert (place.pc, place.line + 1) == (fault["instruction"], fault["line"])
    assert (list(stop.thread.group.id), stop.thread.number) == (fault["group"], fault["thread"])
    assert fault["message"] in stop.text
    for _ in range(20):
        if stop.reason == "end":
            break
        stop = debugger.go(Goal())
    printed = launched.finish()
    assert printed[0] == 1
    assert any(fault["message"] in line for line in printed[1])


def test_a_fault_is_stopped_at_again_when_the_run_comes_from_its_past(program):
    program.write_text(TEXT.replace("out 0x0:ud", "out 0x20:ud"))
    debugger = open_debugger(program)[0].debugger
    debugger.filters = {"bounds"}
    first = debugger.go(Goal())
    time = debugger.time
    for back in (1, time // 2, time):
        debugger.to_time(time - back)
        again = debugger.go(Goal())
        assert (again.reason, again.text, debugger.time) == ("exception", first.text, time)


def test_a_finding_of_the_end_takes_the_run_back_to_where_it_belongs(program, capsys):
    """What is loaded from a ``writeonly`` buffer is wrong only when it has not been put back."""
    program.with_suffix(".launch.yaml").write_text(LAUNCH.replace("init: zeros}", "init: zeros}, access: writeonly"))
    program.write_text(
        TEXT.replace(
            "gather4_scaled.R (M1, 8) %slm 0x0:ud there.0 value.0",
            "gather4_scaled.R (M1, 8) out 0x0:ud there.0 value.0",
        )
        .replace("    call (M1, 8) twice\n", "")
        .replace("out 0x0:ud there.0 value.0\n    ret", "%slm 0x0:ud there.0 value.0\n    ret")
    )
    _, fault = first_fault(program, capsys)
    debugger = open_debugger(program)[0].debugger
    debugger.filters = {"access"}
    stop = debugger.go(Goal())
    assert (stop.reason, debugger.place(stop.thread).pc) == ("exception", fault["instruction"])
