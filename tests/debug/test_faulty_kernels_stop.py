"""Compiled kernels with one fault each: the first stop stands where the first fault of ``run`` is, and the end is that of ``run``."""

from __future__ import annotations

import json

import pytest
from debugging import open_debugger
from test_faulty_kernels import BUDGET, KERNELS, compiled, pytestmark  # noqa: F401 - why it is skipped
from tiers import one_of_each

from visa_lsp.cli.main import main
from visa_lsp.debug.goals import Goal
from visa_lsp.debug.stops import FILTERS

FAULTY = [name for name, (_, kinds, *_) in KERNELS.items() if kinds and BUDGET not in kinds]
ONE_OF_EACH = one_of_each(FAULTY, lambda name: frozenset(KERNELS[name][1]))  # kind of report


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_the_first_stop_stands_on_the_first_fault(name, tmp_path, capsys):
    args, _, _, local = KERNELS[name]
    texts, zebin = compiled()
    launch = tmp_path / "faulty.launch.yaml"
    launch.write_text(
        f"kernel: {name}\nfile: {texts[name]}\nzebin: {zebin}\nplatform: TGLLP\ngroups: [2]\nlocal_size: [{local}]\nargs:\n"
        + "".join(f"  - {arg}\n" for arg in args)
    )
    status = main(["run", str(launch), "--engine", "interp", "--format", "json"])
    told = json.loads(capsys.readouterr().out)
    fault = (told["faults"] or told["findings"])[0]
    launched, _ = open_debugger(launch)
    debugger = launched.debugger
    debugger.filters = set(FILTERS)
    stop = debugger.go(Goal())
    assert stop.reason == "exception"
    place, thread = debugger.place(stop.thread), stop.thread
    assert (place.body, place.pc, list(thread.group.id), thread.number) == (
        fault["kernel"], fault["instruction"], fault["group"], fault["thread"],
    ), stop.text  # fmt: skip
    debugger.filters = set()
    while stop.reason != "end":
        stop = debugger.go(Goal())
    assert launched.finish()[0] == status
