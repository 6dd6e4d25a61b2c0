"""What is shown quickly, or kept from stop to stop, is what each value shows by itself."""

from __future__ import annotations

import itertools

import numpy as np
from debugging import EXAMPLES, TEXT, open_debugger, write_shift
from each_case import check_each

from visa_lsp.debug.cells import TYPES, format_number, text_of, texts_of
from visa_lsp.debug.goals import StepGoal
from visa_lsp.debug.lane_expressions import read
from visa_lsp.debug.scopes import elements, rows_of


def test_many_values_are_shown_as_each_of_them():
    def check(case):
        type_, style = case
        values = np.frombuffer(np.random.default_rng(3).bytes(64 * 8), np.uint8).view(TYPES[type_])
        assert texts_of(values, style) == [format_number(value, style) for value in values]

    check_each(itertools.product(TYPES, ["", "x", "d", "u", "f"]), check, " in style ".join)


def test_a_scope_shows_at_every_stop_what_expressions_give():
    debugger = open_debugger(EXAMPLES / "saxpy.visaasm")[0].debugger
    changed = set()
    for _ in range(24):
        thread = debugger.stepper.current
        at = debugger.stack(thread)[0]
        cells = debugger.cells(at)
        for style in ("", "x"):
            rows = rows_of(debugger, at, "Variables", style)
            assert {row.name for row in rows} == {cells.names.general[n] for n in cells.body.declared}
            for row in rows:
                found = cells.cells(row.expression)
                assert row.value == (text_of(found.values()[0] if found.data.size == 1 else found.values(), style))
                assert [e.value for e in elements(row, 0, 0, style)] == (
                    texts_of(found.values(), style) if row.count else []
                )
                changed |= {row.name} if row.changed else set()
        assert read("index[3] + n").get(cells) == int(cells.find("index").data[3]) + int(cells.find("n").data[0])
        debugger.go(StepGoal(thread))
    assert {"index", "offset", "x_value"} <= changed


def test_a_predicate_of_one_lane_is_shown_as_its_lanes_wherever_it_is_shown(tmp_path):
    text = TEXT.replace(".decl there", ".decl P2 v_type=P num_elts=1\n.decl there")
    debugger = open_debugger(write_shift(tmp_path, text))[0].debugger
    at = debugger.stack(debugger.stepper.current)[0]
    cells = debugger.cells(at)
    rows = {row.name: row for row in rows_of(debugger, at, "Predicates")}
    for name, lanes in (("P1", 8), ("P2", 1)):
        assert rows[name].value == text_of(read(name).get(cells)) == f"[{', '.join(['0'] * lanes)}]"
        assert rows[name].count == len(elements(rows[name], 0, 0)) == lanes
