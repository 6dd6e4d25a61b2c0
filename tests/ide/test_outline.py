"""The outline: what stands in which group, and that every line of code leads to its block."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from corpus import place, read
from cursor import DECLARATIONS
from edits import random_edit

from benchmarks.inputs import generate, kernel
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.features.outline import ENTRY, leaves, outline

if TYPE_CHECKING:
    from visa_lsp.ide.features.symbols import OutlineEntry

MOVE = "    mov (M1, 8) A(0,0)<1> X(0,0)<0;1,0>\n"
SOURCE = DECLARATIONS + MOVE + "L1:\n" + MOVE + '\n.function "S"\nS:\n' + MOVE + "L2:\n    ret (M1, 1)\n// end\n"


def tree(text: str, **more) -> dict[str, list[str]]:
    """Return groups of the only body, each with its detail, and the names that they hold."""
    [body] = outline(Analysis.of(text), **more)
    return {f"{group.name} {group.detail}": [child.name for child in group.children] for group in body.children}


def at(entries: tuple[OutlineEntry, ...], line: int) -> list[str]:
    """Return the names from the kernel to the innermost entry of a line, the first that fits, as editors choose."""
    found = next((e for e in entries if e.first_line <= line <= e.last_line), None)
    return [] if found is None else [found.name, *at(found.children, line)]


def test_a_kernel_has_four_groups():
    assert tree(SOURCE) == {
        "Inputs 1": ["X"],
        "Blocks 2": [ENTRY, "L1"],
        "Subroutines 1": ["S"],
        "Variables 7": ["A", "B", "W", "X", "P1", "AD", "T6"],
    }
    [body] = outline(Analysis.of(SOURCE))
    inputs, _, subroutines, variables = body.children
    assert (body.name, body.kind.value) == ("k", "kernel")
    assert inputs.children[0].detail == "bytes 32 to 35"
    assert variables.children[1].detail == "16 × d = A+0"
    [called] = subroutines.children
    assert ([block.name for block in called.children], called.detail) == (["L2"], "2 blocks")


def test_what_a_body_does_not_have_is_no_group():
    assert tree('.version 4.1\n.kernel "k"\n    ret (M1, 1)\n') == {"Blocks 1": [ENTRY]}
    assert tree('.version 4.1\n.kernel "k"\n') == {}


def test_the_main_part_of_a_dump_is_blocks_and_no_subroutine():
    [body] = outline(Analysis.of(read(place("run/TGLLP/axpy/saxpy.visaasm"))))
    assert [group.name for group in body.children] == ["Inputs", "Blocks", "Variables"]
    assert [block.name for block in body.children[1].children] == ["_main_0", "_0_005", "_0_004"]


def test_kernels_and_functions_have_groups_of_their_own():
    text = SOURCE + '.kernel "other"\n.decl V40 v_type=G type=d num_elts=8\nL1:\n    ret (M1, 1)\n'
    text += '.global_function "f"\nL9:\n    fret (M1, 1)\n'
    bodies = outline(Analysis.of(text))
    assert [(body.name, body.kind.value) for body in bodies] == [
        ("k", "kernel"),
        ("other", "kernel"),
        ("f", "function"),
    ]
    assert [[group.name for group in body.children] for body in bodies[1:]] == [["Blocks", "Variables"], ["Blocks"]]


@pytest.mark.parametrize(
    ("needle", "path"),
    [
        (".decl W", ["k", "Variables", "W"]),
        (".input", ["k", "Inputs", "X"]),
        (MOVE, ["k", "Blocks", ENTRY]),
        ("L1:", ["k", "Blocks", "L1"]),
        ("\n.function", ["k", "Blocks", "L1"]),
        ("S:", ["k", "Subroutines", "S"]),
        ("// end", ["k", "Subroutines", "S", "L2"]),
    ],
)
def test_a_line_leads_to_its_block_or_declaration(needle: str, path: list[str]):
    line = SOURCE.count("\n", 0, SOURCE.index(needle))
    assert at(outline(Analysis.of(SOURCE)), line) == path


def test_declarations_and_scopes_among_the_code_do_not_hide_its_blocks():
    late = ".decl V90 v_type=G type=d num_elts=8\n.input A offset=64 size=32\n"
    text = DECLARATIONS + "L1:\n" + MOVE + late + "{\n.decl V91 v_type=G type=d num_elts=8\nL2:\n" + MOVE + "}\n"
    body = outline(Analysis.of(text))
    groups = {group.name: [child.name for child in group.children] for group in body[0].children}
    assert groups["Variables"][-2:] == ["V90", "V91"]
    assert groups["Inputs"] == ["X", "A"]
    lines = text.split("\n")
    for line in range(lines.index("L1:"), len(lines)):
        assert at(body, line)[:3] == ["k", "Blocks", "L2" if line >= lines.index("L2:") else "L1"]


def test_what_an_argument_is_stands_beside_its_input():
    [body] = outline(Analysis.of(SOURCE), {"k": {"X": "n: int"}}.__getitem__)
    assert body.children[0].children[0].detail == "n: int, bytes 32 to 35"


def test_groups_of_a_long_text_say_how_many_there_are():
    decls = "".join(f".decl V{n} v_type=G type=d num_elts=8\n" for n in range(40, 80))
    labels = "".join(f"L{n}:\n{MOVE}" for n in range(20))
    found = tree(DECLARATIONS + decls + labels, most=30)
    assert [(name, len(held)) for name, held in found.items()] == [
        ("Inputs 1", 1),
        ("Blocks 20", 20),
        ("Variables the first 9 of 47", 9),
    ]
    assert [(name, len(held)) for name, held in tree(DECLARATIONS + decls + labels, most=11).items()] == [
        ("Inputs 1", 1),
        ("Blocks the first 10 of 20", 10),
    ]


def test_a_list_for_clients_without_trees_has_every_name_once():
    [body] = outline(Analysis.of(SOURCE))
    names = [entry.name for entry in leaves(body)]
    assert sorted(names) == sorted(["A", "B", "W", "X", "P1", "AD", "T6", ENTRY, "L1", "S", "L2"])


def check_nesting(analysis: Analysis, entries: tuple[OutlineEntry, ...], first: int, last: int) -> None:
    """Every entry lies in its parent, and its name in its own lines."""
    for entry in entries:
        assert entry.name
        assert first <= entry.first_line <= entry.line <= entry.last_line <= last
        text = analysis.document.line_text(entry.line)
        assert 0 <= entry.name_span.start <= entry.name_span.end <= len(text)
        check_nesting(analysis, entry.children, entry.first_line, entry.last_line)


@pytest.mark.parametrize("seed", range(6))
def test_entries_lie_in_their_parents_whatever_is_edited(seed: int):
    draw = random.Random(seed)
    text = kernel(400, seed) if seed % 2 else generate(seed, 300)
    analysis = Analysis.of(text)
    for _ in range(40):
        start, end, new = random_edit(text, draw)
        if draw.random() < 0.2:
            new += draw.choice(
                (DECLARATIONS, SOURCE, "\n}\n{\n", "  L7:\n", '.function "S"\n', ".input A offset=1 size=2\n")
            )
        text = text[:start] + new + text[end:]
        analysis = analysis.edit(start, end, new)
        check_nesting(analysis, outline(analysis, most=draw.choice((5, 50, 3000))), 0, analysis.document.line_count - 1)
