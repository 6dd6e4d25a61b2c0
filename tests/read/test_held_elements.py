"""Private arrays that are copies of others, and stores of values that an element holds already."""

from __future__ import annotations

from visa_lsp.app.read.code_lines import Body, Line, Node, walk
from visa_lsp.app.read.held_elements import HeldElements, unite_arrays


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


def united(*lines):
    """Return the lines that are left of copies of arrays `t` and `u`, by `for` lines with one inside."""
    code = [
        Node("for (k = 0; k < 4; k++) {", inner=[Node(line)], tail=Line("}")) if "[k]" in line else Node(line)
        for line in lines
    ]
    unite_arrays(
        Body(code, {"t": "int t[4]", "u": "int u[4]", "v": "int v", "k": "int k"}, {}, {}, {}, (), frozenset())
    )
    return [node.text for node in walk(code)]


def test_an_array_and_its_copy_are_one():
    assert united("t[0] = 1;", "u[k] = t[k];", "v = u[v];") == ["u[0] = 1;", "v = u[v];"]


def test_an_array_that_is_needed_beside_its_copy_stays():
    lines = ["t[0] = 1;", "u[k] = t[k];", "u[1] = 2;", "v = u[v] + t[v];", "*p = v;"]
    head = "for (k = 0; k < 4; k++) {"
    assert united(*lines) == [lines[0], head, *lines[1:]]
