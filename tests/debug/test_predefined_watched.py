"""What every body has without a declaration is watched and traced as any variable, and a trace has the names of the text."""

from __future__ import annotations

import pytest
from debugging import TEXT, open_debugger, write_shift

from visa_lsp.cli.main import main
from visa_lsp.debug.breakpoints import Wish
from visa_lsp.debug.goals import Goal

WRITES = "    or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x4c0:ud\n"
PLACE = 3  # of that line in the body


@pytest.fixture
def program(tmp_path):
    store = "    scatter4_scaled.R (M1, 8) %slm"
    return write_shift(tmp_path, TEXT.replace(store, WRITES + store))


@pytest.mark.parametrize(("access", "at"), [("write", PLACE), ("read", PLACE), ("change", PLACE + 1)])
def test_a_watch_on_the_control_register_stops_at_who_touches_it_on_both_ways(program, access, at):
    debugger = open_debugger(program)[0].debugger
    cells = debugger.cells(debugger.stack(debugger.stepper.current)[0])
    debugger.watch(cells.cells("%cr0").element(0), cells, access, Wish())
    debugger.apply()
    stop = debugger.go(Goal())
    assert (stop.reason, debugger.place(stop.thread).pc) == ("data", at)
    debugger.watches.clear()
    debugger.apply()
    debugger.go(Goal(alone=stop.thread))  # to its barrier
    cells = debugger.cells(debugger.stack(stop.thread)[0])
    assert debugger.back_to_writer(cells.cells("%cr0").element(0), cells).reason == "data"
    assert debugger.place(stop.thread).pc == PLACE


def test_a_trace_says_what_the_control_register_holds(program, capsys):
    assert main(["run", str(program), "--trace", "0,0"]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if WRITES.strip() in line)
    assert line.endswith("// %cr0 = 1216")


def test_a_trace_says_predicates_by_the_names_of_the_text(program, capsys):
    program.write_text(program.read_text().replace("P1", "less"))
    assert main(["run", str(program), "--trace", "0,0"]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "cmp.lt" in line)
    assert line.endswith("// less = 0x7")
