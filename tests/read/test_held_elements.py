"""Stores of values that an element of a private array holds already."""

from __future__ import annotations

from visa_lsp.app.read.code_lines import Body, Node, walk
from visa_lsp.app.read.held_elements import HeldElements


def left(*lines):
    """Return the lines that are left of some; a list has those inside of the line before it."""
    code = []
    for line in lines:
        if isinstance(line, list):
            code[-1].inner = [Node(inner) for inner in line]
        else:
            code.append(Node(line))
    types = {"t": "int t[4]", "v": "int v", "w": "int w"}
    HeldElements(Body(code, types, {}, {}, {}, (), frozenset())).run()
    return [node.text for node in walk(code)]


def test_a_store_of_what_an_element_holds_is_dropped():
    assert left("v = t[1];", "if (c) {", ["w = 0;", "t[1] = v;"]) == ["v = t[1];", "if (c) {", "w = 0;"]
    assert left("t[1] = v;", "t[1] = v;") == ["t[1] = v;"]


def test_a_store_stays_where_the_element_may_hold_another_value():
    for between in (["t[1] = w;"], ["v = w;"], ["t[w] = 0;"], ["L1:;"], ["if (c) {", ["t[1] = w;"]],
                    ["if (c) {", ["t[1] = w;", "if (d) break;"]], ["for (;;) {", ["t[1] = w;"]]):  # fmt: skip
        assert left("v = t[1];", *between, "t[1] = v;")[-1] == "t[1] = v;"


def test_a_branch_that_leaves_changes_nothing_behind_it():
    assert left("v = t[1];", "if (c) {", ["t[1] = w;", "break;"], "t[1] = v;")[-1] == "break;"
