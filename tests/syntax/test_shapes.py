"""A line filled from a known shape equals the line parsed in full: real lines, damaged lines, random lines."""

from __future__ import annotations

import random

import pytest
from corpus import files, read
from hypothesis import example, given, settings
from hypothesis import strategies as st

from visa_lsp.syntax.comments import strip
from visa_lsp.syntax.parse import Parser

SEED = 20240611
PIECES = (
    "add", "(M1, 16)", "(M5_NM,8)", "V32", "V32(0,0)<1>", "V33(0,1)<8;8,1>", "r[A0(0),4]<1>:ud", "&V21[4]", "&V21+0",
    "0x1:d", "1.5:f", "-1", "(1+2)", "(P1)", "(!P1.any)", ".sat", ".decl", "v_type=G", "num_elts=8", "alias=<V1, 0>",
    ":", ",", "<", ">", "(", ")", "[", "]", "{", "}", "{NoMask}", "%null.0", "%sizeof(GRF)", "flat[V1+4]:a64", "[V1]", "/128",
    "bti(0x4)", "V1:d32x2t", '"a b"', '"', "\\", "L1:", "$x", "\u00e9", "\x00", " ", "\t", "r", "not", "M1", "NoMask", "type=ud",
    ":d.", ": ud", ":.5", "?1:2", "\x06", "\x07",
)  # fmt: skip


def check(parser: Parser, line: str) -> None:
    code, _ = strip(line, False)
    code = code.rstrip()
    if not code or code.isspace():
        assert parser.line(code) is None
        return
    assert parser.line(code) == parser.full(code), code


def real_lines() -> list[str]:
    texts = files("dev/[A-Z]*/*.visaasm", "dev42/*/*.visaasm")
    chooser = random.Random(SEED)
    lines: dict[str, None] = {}
    for path in chooser.sample(texts, 60):
        for line in read(path).splitlines():
            lines[line] = None
    return chooser.sample(list(lines), min(3000, len(lines)))


def damaged(line: str, chooser: random.Random) -> str:
    at = chooser.randrange(len(line) + 1)
    match chooser.randrange(4):
        case 0:
            return line[:at] + line[at + 1 :]
        case 1:
            return line[:at] + chooser.choice(PIECES) + line[at:]
        case 2:
            return line[:at]
        case _:
            return line[:at] + chooser.choice('()<>[]{},;:.&!%0aZ_ "') + line[at + 1 :]


# Not all of Unicode: to list it takes Hypothesis 200 MB.
CHARACTERS = [*map(chr, range(1, 0x250)), *"\u2028\u202e\ufeff\ud800漢😀"]


@pytest.mark.full
@settings(deadline=None, max_examples=300, print_blob=True)
@given(
    st.lists(st.sampled_from(PIECES) | st.text(st.sampled_from(CHARACTERS), max_size=4), max_size=9),
    st.sampled_from(["", " ", "  "]),
)
@example(["{NoMask}", "{NoMask}"], " ")
@example(["[", "V1", "]", "flat"], "")
def test_random_lines_are_read_alike(pieces: list[str], gap: str):
    line = gap.join(pieces).replace("\n", " ").replace("\r", " ")
    parser = Parser()
    check(parser, line)
    check(parser, line.replace("V32", "V7").replace("0x1", "0xff"))
    check(parser, line)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("add (M1, 16) V1(0,0)<1> V2(0,0)<1;1,0> 0x1:d", "add (M1, 8) V100(2,3)<2> V7(0,0)<8;8,1> 0xffff:d"),
        ("raw_sendg.ugm (M1, 16) V1.0/128 V2.0/64 V3.0/0 0x0:ud 0x0:ud 0x1", "raw_sendg.ugm (M1, 1) V10.0/1 V2.64/64 V3.0/8 0x0:ud 0x0:ud 0x7"),
        ("lsc_load_block2d.ugm (M1, 1) V1:d8.8x8nn flat[V2+(0,4)]", "lsc_load_block2d.ugm (M1, 1) V11:d8.8x8nn flat[V22+(10,40)]"),
        ("lsc_load.ugm (M1, 1) V1:d32 [V2]:a64", "lsc_load.ugm (M1, 16) V100:d32 [V200]:a64"),
        ("lsc_load.ugm (M1, 1) V1:d32 [V2]:a64", "lsc_load.ugm (M5_NM, 16) V100:d8c32 [V200]:a32"),
        ("mov (M1, 1) V1(0,0)<1> 0x1:d", "mov (NoMask, 8) V1(0,0)<1> 0xffff:uq"),
    ],
)  # fmt: skip
def test_a_third_line_of_a_shape_is_not_parsed_again(first: str, second: str):
    parser = Parser()
    parser.line(first)
    assert parser.full_parses == 1
    parser.line(second)
    assert parser.full_parses == 2
    found = parser.line(first)
    assert parser.line(second) == parser.line(second)
    assert parser.full_parses == 2
    assert found == parser.full(first)


def test_a_deep_expression_serves_itself_alone():
    parser = Parser()
    for depth in (10, 59, 10, 59, 59):
        for line in (
            f"mov (M1, 1) V1(0,0)<1> {'~' * depth}1:d",
            f"add (M1, 1) V1({'*'.join('2' * 10 * depth)},0)<1> 1:d",
        ):
            check(parser, line)
            check(parser, line.replace("V1", "V22"))


def test_a_line_of_many_words_serves_itself_alone():
    parser = Parser()
    for count in (50, 150, 250, 250, 250, 2000, 2000):
        check(parser, f"switchjmp (M1, 1) V1(0,0)<0;1,0> ({', '.join(f'L{i}' for i in range(count))})")


def test_lines_that_differ_in_constant_parts_share_no_statement():
    parser = Parser()
    lines = [
        "add (M1, 16) V1(0,0)<1>",
        "mul (M1, 16) V1(0,0)<1>",
        "  add (M1, 16) V1(0,0)<1>",
        "add.sat (M1, 16) V1(0,0)<1>",
    ]
    for line in (*lines, *lines, *lines):
        check(parser, line)
    assert parser.full_parses == 2 * len(lines) + 3 * len(lines), "each line was read twice, and by the check itself"


def test_a_line_with_a_mark_of_shapes_in_it_has_no_shape():
    parser = Parser()
    for line in ("L1:", "ret (M1, 1)", "mov (M1, 1) V1(0,0)<1> 0x1:d"):
        for _ in range(4):
            check(parser, line)
    for line in ("\x01:", "ret (\x06, \x04)", "ret (\x06, 1)", "mov (M1, 1) V1(0,0)<1> \x03:\x07"):
        check(parser, line)


def test_declarations_differ_in_their_names_alone():
    parser = Parser()
    for line in (
        ".decl V32 v_type=G type=ud num_elts=8",
        ".decl V33 v_type=G type=ud num_elts=8",
        ".decl M1_ v_type=G type=ud num_elts=8",
        ".decl V33  v_type=G type=ud num_elts=8",
        "  .decl V33 v_type=G type=ud num_elts=8",
        ".input V32 offset=32 size=32",
        ".input V33 offset=32 size=32",
        ".input  V3 offset=32 size=32",
        ".decl V32 v_type=G type=ud num_elts=8)",
    ):
        check(parser, line)
        check(parser, line)


@pytest.mark.parametrize(
    "line",
    [
        "%_l{}:",
        ".kernel %k{}",
        ".function %f{}",
        ".global_function %f{}",
        ".kernel_attr %A{}=1",
        ".decl %V{} v_type=G type=d num_elts=8",
        ".input %V{} offset=32 size=32",
        "goto (M1, 16) %l{}",
        "switchjmp (M1, 1) V1(0,0)<0;1,0> (%l{}, L2)",
        "(%P{}) mov (M1, 16) V1(0,0)<1> V2(0,0)<1;1,0>",
        "mov (M1, 16) %V{}(0,0)<1> V2(0,0)<1;1,0>",
    ],
)
def test_a_name_with_a_percent_sign_is_not_read_like_one_without(line: str):
    plain = line.replace("%", "")
    for first, second in ((plain, line), (line, plain)):
        parser = Parser()
        for number in range(4):
            check(parser, first.format(number))
        for number in range(4):
            check(parser, second.format(number))
