"""What is told of two kernels that differ in one thing."""

import pytest
from kernels import CODE, HEAD, TEXT, changes, diffs, line_of

ADD = "    add (M1, 16) A3(0,0)<1> A2(0,0)<1;1,0> 0x1:d\n"
MUL = "    mul (M1, 16) A4(0,0)<1> A3(0,0)<1;1,0> A2(0,0)<1;1,0>\n"
SHL = "    shl (M1, 16) A4(0,0)<1> A4(0,0)<1;1,0> 0x2:d\n"


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("0x1:d", "0x2:d", "add: src1 0x1:d -> 0x2:d"),
        ("A3(0,0)<1;1,0> A2(0,0)<1;1,0>\n    cmp", "A3(0,0)<1;1,0> A1(0,0)<1;1,0>\n    cmp", "mul: src1 A2(0,0)<1;1,0> -> A1(0,0)<1;1,0>"),
        ("shl (M1, 16)", "shr (M1, 16)", "shl: opcode shl -> shr"),
        ("shl (M1, 16)", "shl.sat (M1, 16)", "shl: modifier none -> .sat"),
        ("shl (M1, 16)", "shl (M1, 8)", "execution size 16 -> 8"),
        ("shl (M1, 16)", "shl (M1_NM, 16)", "execution mask M1 -> M1_NM"),
        ("    shl (M1", "    (!P1) shl (M1", "shl: predicate none -> (!P1)"),
        ("(P1) goto", "(!P1) goto", "goto: predicate (P1) -> (!P1)"),
        ("cmp.lt", "cmp.ge", "cmp: modifier .lt -> .ge"),
        ("A4(0,0)<1;1,0> 0x2:d", "A4(0,0)<2;1,0> 0x2:d", "shl: src0 A4(0,0)<1;1,0> -> A4(0,0)<2;1,0>"),
    ],
)  # fmt: skip
def test_a_changed_instruction_is_told_operand_by_operand(before, after, what):
    b = TEXT.replace(before, after, 1)
    assert b != TEXT
    ((kind, in_a, in_b, said),) = changes(TEXT, b)
    line = next(n for n, (x, y) in enumerate(zip(TEXT.splitlines(), b.splitlines(), strict=True), 1) if x != y)
    assert (kind, in_a, in_b, said) == ("change", (line, line), (line, line), what)


def test_an_inserted_instruction_stands_in_the_first_text_before_the_line_that_follows_it():
    extra = "    not (M1, 16) A4(0,0)<1> A1(0,0)<1;1,0>\n"
    b = TEXT.replace(MUL, extra + MUL)
    at = line_of(b, "not (M1")
    assert changes(TEXT, b) == [("insert", (at, at), (at, at), f"inserted {extra.strip()}")]


def test_a_deleted_stretch_is_one_difference():
    b = TEXT.replace(ADD + MUL, "")
    at = line_of(TEXT, "add (M1")
    assert changes(TEXT, b) == [("delete", (at, at + 1), (at, at), "deleted 2 instructions: add, mul")]


def test_a_moved_block_is_recognised():
    block = SHL + "    xor (M1, 16) A2(0,0)<1> U1(0,0)<1;1,0> A4(0,0)<1;1,0>\n"
    b = TEXT.replace(block, "").replace(ADD, block + ADD)
    first, there = line_of(TEXT, "shl (M1"), line_of(b, "shl (M1")
    assert changes(TEXT, b) == [("move", (first, first + 1), (there, there + 1), "moved 2 instructions: shl, xor")]


def test_neighbours_of_which_the_same_is_said_are_one_difference():
    b = TEXT.replace("shl (M1, 16)", "shl (M1, 8)").replace("xor (M1, 16)", "xor (M1, 8)")
    at = line_of(TEXT, "shl (M1")
    assert changes(TEXT, b) == [("change", (at, at + 1), (at, at + 1), "execution size 16 -> 8 (2 lines)")]


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        (".decl A3 v_type=G type=d num_elts=16", ".decl A3 v_type=G type=d num_elts=32", "declaration A3: num_elts 16 -> 32"),
        (".decl A3 v_type=G type=d num_elts=16 align=GRF", ".decl A3 v_type=G type=f num_elts=16 align=dword", "declaration A3: type d -> f, align GRF -> dword"),
        ("alias=<A1, 0>", "alias=<A2, 0>", "declaration U1: alias <A1, 0> -> <A2, 0>"),
        ("alias=<A1, 0>", "", "declaration U1: alias <A1, 0> -> none"),
        (".decl P1 v_type=P num_elts=16", ".decl P1 v_type=P num_elts=8", "declaration P1: num_elts 16 -> 8"),
        ("offset=64 size=64", "offset=32 size=64", "input A1: offset 64 -> 32"),
        ("SimdSize=16", "SimdSize=8", "attribute SimdSize: 16 -> 8"),
    ],
)  # fmt: skip
def test_what_stands_above_the_code_is_told_at_its_line(before, after, what):
    b = TEXT.replace(before, after, 1)
    line = next(n for n, (x, y) in enumerate(zip(TEXT.splitlines(), b.splitlines(), strict=True), 1) if x != y)
    assert changes(TEXT, b) == [("change", (line, line), (line, line), what)]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (".decl W9 v_type=G type=f num_elts=8 align=dword\n", "declaration W9: type=f num_elts=8 align=dword"),
        (".input A2 offset=128 size=64\n", "input A2: offset=128 size=64"),
        (".kernel_attr SLMSize=4\n", "attribute SLMSize: 4"),
        (".decl T7 v_type=T num_elts=2\n", "declaration T7: v_type=T num_elts=2"),
    ],
)
def test_what_one_text_declares_and_the_other_does_not(line, what):
    # Where the line stands among its likes does not matter.
    b = TEXT.replace(".input A1", line + ".input A1") if "attr" not in line else TEXT.replace(CODE, line + CODE)
    at = line_of(b, line.strip())
    assert changes(TEXT, b) == [("insert", (at, at), (at, at), f"inserted {what}")]
    assert changes(b, TEXT) == [("delete", (at, at), (at, at), f"deleted {what}")]


def test_several_declarations_together_are_one_difference():
    lines = [f".decl V{n} v_type=G type=f num_elts=8 align=dword" for n in (90, 91, 92)]
    b = TEXT.replace(".decl P1", "\n".join([*lines, ".decl P1"]))
    at = line_of(b, lines[0])
    (diff,) = diffs(TEXT, b)
    (change,) = diff.changes
    assert (change.b.first + 1, change.b.last + 1) == (at, at + 2)
    assert change.what == "inserted 3 declarations: V90, V91, V92"
    assert change.listing[0] == "V90: type=f num_elts=8 align=dword"


def test_a_name_that_is_not_used_the_same_way_everywhere_is_a_changed_operand():
    """``A2`` is another variable's name in the second text, but for one place."""
    b = TEXT.replace("A2", "B2").replace(".decl A3", ".decl X v_type=G type=d num_elts=16 align=GRF\n.decl A3")
    b = b.replace("or (M1, 16) A3(0,0)<1> A3(0,0)<1;1,0> B2", "or (M1, 16) A3(0,0)<1> A3(0,0)<1;1,0> X")
    kinds = {kind: what for kind, _, _, what in changes(TEXT, b)}
    assert kinds == {
        "insert": "inserted declaration X: type=d num_elts=16 align=GRF",
        "change": "or: src1 A2(0,0)<1;1,0> -> X(0,0)<1;1,0>",
    }


def test_a_name_of_the_second_text_that_the_first_uses_otherwise_is_marked():
    b = TEXT.replace("A2", "B2").replace(".decl A3", ".decl A2 v_type=G type=f num_elts=4 align=dword\n.decl A3")
    assert [what for _, _, _, what in changes(TEXT, b)] == ["inserted declaration A2': type=f num_elts=4 align=dword"]


def test_bodies_are_matched_by_name_and_then_by_content():
    one = HEAD.replace('"k"', '"one"') + CODE
    two = (HEAD.replace('"k"', '"two"') + CODE.replace("shl", "shr")).partition("\n")[2]
    other = two.replace('"two"', '"deux"')
    ours, theirs = one + two, one.replace('"one"', '"zero"').replace('"zero"', '"one"') + other
    found = diffs(ours, theirs)
    assert [(d.name, [c.what for c in d.changes]) for d in found] == [("one", []), ("two", ["name two -> deux"])]


def test_a_kernel_that_only_one_has_is_one_difference_with_its_whole_range():
    second = '.kernel "alone"\n.kernel_attr SimdSize=8\n    fence_local\n    barrier\n    ret (M1, 1)\n'
    found = diffs(TEXT, TEXT + second)
    lines, end = len(TEXT.splitlines()), len(TEXT.splitlines()) + 5
    assert [d.name for d in found] == ["k", "alone"]
    (change,) = found[1].changes
    assert (change.kind.value, change.b.first, change.b.last, change.a.first) == ("insert", lines, end - 1, lines)


def test_source_marks_and_the_dialect_are_not_compared():
    b = TEXT.replace("    add", '    FILE "x.cl"\n    LOC 7\n    add')
    assert changes(TEXT, b) == []


def test_an_immediate_counts_with_the_bits_of_its_type():
    a, b = TEXT.replace("0x1:d", "0xffff:w"), TEXT.replace("0x1:d", "-1:w")
    assert changes(a, b) == []
