import re

import pytest
from cursor import DECLARATIONS, analyse_at_cursor
from each_case import each_of

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.features.hover import hover
from visa_lsp.ide.prose.markdown import block, code, strong
from visa_lsp.isa.table import TABLE


def check_hover(source: str, *expected: str, declarations: str = DECLARATIONS) -> str:
    analysis, offset = analyse_at_cursor(source, declarations)
    result = hover(analysis, offset)
    assert result is not None, source
    for piece in expected:
        assert piece in result.markdown, result.markdown
    return analysis.document.slice(result.span)


@pytest.mark.parametrize(
    ("source", "token", "expected"),
    [
        ("^mad (M1, 8) A(0,0)<1> A(0,0)<1;1,0> A(0,0)<1;1,0> A(0,0)<1;1,0>", "mad", ["Multiply, then add", "`src2`", "0x0c"]),
        ("m^ad.sat (M1, 8) A(0,0)<1>", "mad", ["[.sat]"]),
        ("gath^er4_scaled.RG (M1, 8) T6 0x0:ud B.0 A.0", "gather4_scaled", ["`off` counts bytes", "This message reads 2 x 4 bytes", "in each of 8 lanes", "64 bytes of `dst`"]),
        ("mad.s^at (M1, 8) A(0,0)<1>", "sat", ["modifier of `mad`", "clamp"]),
        ("mov (^M5, 16) A(0,0)<1> A(0,0)<1;1,0>", "M5", ["lanes from 16 on"]),
        ("mov (^M2_NM, 4) A(0,0)<1> A(0,0)<1;1,0>", "M2_NM", ["no mask", "lane 4"]),
        ("mov (M5, 1^6) A(0,0)<1> A(0,0)<1;1,0>", "16", ["16 lanes: 16 to 31"]),
        ("(P1.a^ny) goto (M1, 16) L", "any", ["true in any lane"]),
        ("mov (M1, 8) ^%r0(0,0)<1> A(0,0)<1;1,0>", "%r0", ["payload header", "8 × ud, 32 bytes", "`V7`", "not writable"]),
        ("mov (M1, 8) ^V7(0,0)<1> A(0,0)<1;1,0>", "V7", ["payload header"]),
        ("mov (M1, 8) A(0,0)<1> ^B(0,0)<1;1,0>", "B", ["alias of `A` at byte 0", "aliased by `W`", "no writes, 1 read"]),
        ("mov (M1, 8) A(0,0)<1> ^W(0,0)<1;1,0>", "W", ["that is byte 32 of `A`", "bytes 32 to 47 of `A`"]),
        ("mov (M1, 1) A(0,0)<1> ^X(0,0)<0;1,0>", "X", ["payload bytes 32 to 35", "in the payload: bytes 32 to 35"]),
        ("(^P1) goto (M1, 16) L", "P1", ["predicate variable, 16 bits"]),
        ("mov (M1, 8) A(0,0)<1> A(1,0)<^8;8,1>", "<8;8,1>", ["rows of 8", "reads bytes 32 to 63 of `A`", "row 1"]),
        ("mov (M1, 16) A(0,0)<1> A(1,0)<^8;8,1>", "<8;8,1>", ["**leaves the variable**"]),
        ("mov (M1, 8) A(^1,0)<1> A(0,0)<1;1,0>", "1", ["rows are GRF registers of 32 bytes", "writes bytes 32 to 63"]),
        ("mov (M1, 8) A(0,0)<1> ^(-)A(0,0)<1;1,0>", "(-)", ["negates the source"]),
        ("mov (M1, 8) A(0,0)<1> ^0x3f800000:f", "0x3f800000", ["**1**", "0x3f800000"]),
        ("mov (M1, 8) A(0,0)<1> ^2.5:f", "2.5", ["`2.5`", "0x40200000"]),
        ("mov (M1, 8) B(0,0)<1> ^-1:w", "-1", ["-1 (unsigned 65535)", "0xffff"]),
        ("mov (M1, 8) W(0,0)<1> ^0x76543210:v", "0x76543210", ["packed vector", "0, 1, 2, 3, 4, 5, 6, 7"]),
        ("mov (M1, 4) A(0,0)<1> ^0x40302000:vf", "0x40302000", ["packed vector", "0, 0.5, 1, 2"]),
        ("mov (M1, 8) B(0,0)<1> 1:^w", "w", ["signed word, 16 bits"]),
        (".decl ^Y v_type=G type=ud num_elts=8", "Y", ["8 × ud", "never read or written"]),
        (".^decl Y v_type=G type=ud num_elts=8", ".decl", ["Declares a variable"]),
        (".decl Y v_type=^A num_elts=8", "A", ["address variable"]),
        (".decl Y v_type=G type=^uq num_elts=8", "uq", ["64 bits"]),
        (".decl Y v_type=G type=ud num_elts=8 align=^GRF", "GRF", ["multiple of 32 bytes"]),
        (".decl Y v_type=G type=ud num_elts=8 attrs={^Output}", "Output", ["stays live"]),
        (".kernel_attr ^SimdSize=16", "SimdSize", ["SIMD width"]),
        ('.kernel_attr Target="^cm"', '"cm"', ["The software"]),
        ("goto (M1, 1) ^L\nL:\nret (M1, 1)", "L", ["1 incoming branch", "defined in line 12"]),
        ("goto (M1, 1) L\n^L:\nret (M1, 1)", "L", ["`goto (M1, 1) L`"]),
        ("goto (M1, 1) ^NOWHERE", "NOWHERE", ["**not defined**"]),
    ],
)  # fmt: skip
def test_hover_explains(source, token, expected):
    assert token == check_hover(source, *expected)


def test_hover_of_a_kernel_name_counts_its_parts():
    analysis = Analysis.of('.version 4.1\n.kernel "k"\n.decl A v_type=G type=f num_elts=8\nret (M1, 1)\n')
    result = hover(analysis, analysis.document.text.index('k"'))
    assert result is not None
    assert "1 instruction, 1 declared variables" in result.markdown


@pytest.mark.parametrize(
    "source", ["// a ^comment", "mov  ^  (M1, 8)", "/* mov ^ */", "^", "bo^gus (M1, 8)", "mov (M1, 8) ^NONE(0,0)<1>"]
)
def test_hover_says_nothing_where_nothing_is_known(source):
    analysis, offset = analyse_at_cursor(source)
    assert hover(analysis, offset) is None


@each_of([row for row in TABLE.rows if not row.opens_label], lambda row: str(row.key))
def test_every_row_has_a_page(row):
    assert row.mnemonic == check_hover(f"^{row.mnemonic} (M1, 1)", row.summary.split(".")[0][:20])


def test_hover_never_fails_on_any_offset():
    source = (
        DECLARATIONS
        + "(!P1.any) add.sat (M1, 8) A(0,0)<2> (-)B(0,1)<0;1,0> r[AD(0),4]<8;8,1>:d\nlsc_load.ugm (M1, 16) A:d32x2t flat[B+4]:a64\n\tbad ((< 0x:\n"
    )
    analysis = Analysis.of(source)
    for offset in range(-1, len(source) + 2):
        hover(analysis, offset)


ALIASED = """\
    mov (M1, 16) A(0,0)<1> 0x0:f
    mov (M1, 8) B(0,0)<1> 0x1:d
    add (M1, 8) W(0,0)<1> W(0,0)<1;1,0> X(0,0)<0;1,0>
    mov (M1, 8) B(0,0)<1> A(0,0)<1;1,0>
"""


@pytest.mark.parametrize("padding", [0, 400], ids=["bound whole", "looked up"])
@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("A", "1 write (line {0}), 1 read (line {3})"),
        ("B", "2 writes (line {1}, {3}), no reads"),
        ("W", "1 write (line {2}), 1 read (line {2})"),
    ],
)
def test_accesses_are_counted_by_the_name_and_by_every_alias(name: str, own: str, padding: int):
    text = DECLARATIONS + "    mov (M1, 1) X(0,0)<1> 0x0:ud\n" * padding + ALIASED
    first = text.count("\n") - 3
    result = hover(Analysis.of(text), text.index(f".decl {name} ") + 6)
    assert result is not None
    lines = [first, first + 1, first + 2, first + 3]
    assert f"by this name: {own.format(*lines)}  \n" in result.markdown, result.markdown
    every = "4 writes (line {0}, {1}, {2}, {3}), 2 reads (line {2}, {3})".format(*lines)
    by = "`A` written 1×, read 1×, `B` written 2×, `W` written 1×, read 1×"
    assert f"by all names for bytes of `A`: {every} — {by}" in result.markdown, result.markdown


def test_a_name_without_aliases_is_counted_once():
    analysis, offset = analyse_at_cursor("mov (M1, 1) X(0,0)<1> ^X(0,0)<0;1,0>")
    result = hover(analysis, offset)
    assert "by all names" not in result.markdown
    assert "by this name" not in result.markdown


def test_accesses_by_too_many_aliases_are_said_to_be_cut():
    """The name's own lines are all counted, though those of its aliases come first and are too many."""
    aliases = "".join(f".decl V{n} v_type=G type=d num_elts=8 alias=<V70, 0>\n" for n in range(100, 900))
    uses = "".join(f"    mov (M1, 8) V{n}(0,0)<1> 0x1:d\n" for n in range(100, 900))
    own = "    mov (M1, 8) V70(0,0)<1> 0x1:d\n" * 3
    text = f'.version 4.1\n.kernel "k"\n.decl V70 v_type=G type=d num_elts=8 align=GRF\n{aliases}{uses}{own}'
    result = hover(Analysis.of(text), text.index("V70"))
    assert "by this name: 3 writes" in result.markdown
    assert re.search(r"by all names for bytes of `V70`: \d+ writes .*; more further down — ", result.markdown)


@pytest.mark.parametrize(("operand", "does"), [("A(^0,0)<1>", "writes"), ("A(0,0)<1> A(0,0)<^1;1,0>", "reads")])
def test_the_picture_of_a_region_says_what_its_marks_mean(operand: str, does: str):
    analysis, offset = analyse_at_cursor(f"mov (M1, 8) {operand}")
    result = hover(analysis, offset)
    picture, _, legend = result.markdown.rpartition("```\n\n")
    assert "row 0" in picture
    assert f"the lane that {does} the element" in legend
    assert "`·` is none; a row is a register of 32 bytes" in legend
    assert "\n" not in legend.strip()


def test_uses_of_a_very_busy_name_are_said_to_be_cut():
    line = "    add (M1, 8) V70(0,0)<1> V70(0,0)<1;1,0> 0x1:d\n"
    text = '.version 4.1\n.kernel "k"\n.decl V70 v_type=G type=d num_elts=8 align=GRF\n'
    some, many = (hover(Analysis.of(text + line * count), text.index("V70")) for count in (400, 900))
    assert "400 writes" in some.markdown
    assert "further down" not in some.markdown
    assert "; more further down  \n" in many.markdown


ODD = "[x](command:workbench.action.quit) ![p](http://127.0.0.1/p) <img src=x> `` ` **b**"
# What makes a link, an image, HTML or emphasis where it does not stand inside of a code span.
_LIVE = ("[x](", "![p](", "<img", "**b**")


def spans_removed(markdown: str) -> str:
    """Markdown without its code: fenced blocks, and spans by the rule that a run of ticks ends at the next as long."""
    markdown = re.sub(r"(?ms)^(`{3,})[^`\n]*\n.*?^\1`*$", "", markdown)
    return re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", markdown)


@pytest.mark.parametrize("word", [".kernel", ".function", ".global_function"])
def test_a_name_makes_no_markdown(word: str):
    quoted_name = ODD.replace('"', '\\"')
    text = f'.version 4.1\n.kernel "k"\n{word} "{quoted_name}"\n    ret (M1, 1)\n'
    analysis = Analysis.of(text)
    result = hover(analysis, text.index("command:"))
    assert result is not None
    assert "command:" in result.markdown, "the name is shown"
    assert not any(piece in spans_removed(result.markdown) for piece in _LIVE), result.markdown


def test_a_called_name_and_a_line_with_ticks_make_no_markdown():
    text = (
        '.version 4.1\n.kernel "k"\n'
        ".decl V32 v_type=G type=ud num_elts=1 // ``` [x](command:a)\n"
        "L:\n    goto (M1, 1) L // ` [x](command:a) ![p](http://h) <img>\n"
        f'    fcall (M1, 1) "{ODD}" 0x0:ud 0x0:ud\n    mov (M1, 1) V32(0,0)<1> 0x0:ud\n    ret (M1, 1)\n'
    )
    analysis = Analysis.of(text)
    for needle in ("L:", "workbench", "V32(0"):
        result = hover(analysis, text.index(needle))
        assert result is not None, needle
        assert not any(piece in spans_removed(result.markdown) for piece in _LIVE), result.markdown


@pytest.mark.parametrize(
    "text", ["", " ", "`", "``", "a`b", "`a", "a`", "a\nb", "a\r\rb\x00\u2028c", "```\n[x](y)", "a" * 5000, ODD]
)
def test_any_text_is_one_code_span_and_one_block(text: str):
    for shown in (code(text), strong(text).strip("*")):
        assert spans_removed(shown).strip() in ("", shown if re.fullmatch(r"\w+", shown) else "")
        assert not set("\n\r\x00\u2028") & set(shown)
        assert len(shown) < 400
    assert spans_removed(block(text)).strip() == ""


@pytest.mark.parametrize("name", ["V32", "%r0", "L_1", "k", "saxpy_kernel", "a.b", "@x?", "BB-1"])
def test_a_plain_name_is_only_bold(name: str):
    assert strong(name) == f"**{name}**"


@pytest.mark.parametrize("name", ["_x_", "x_", "a b", "*", "[x]", "a__b", "<b>"])
def test_a_name_that_could_be_markdown_is_code(name: str):
    assert strong(name) == f"**`{name}`**"


LIVES = "mov (M1, 8) A(0,0)<1> 1:d\nmov (M1, 8) Y(0,0)<1> 2:d\nadd (M1, 8) A(0,0)<1> A(0,0)<1;1,0> Y(0,0)<1;1,0>\nret (M1, 1)"


def test_a_declaration_tells_where_its_variable_is_live():
    declared = ".decl ^Y v_type=G type=d num_elts=8 align=GRF\n"
    analysis, offset = analyse_at_cursor(declared + LIVES)
    result = hover(analysis, offset)
    line = analysis.document.text.split("\n").index("mov (M1, 8) Y(0,0)<1> 2:d") + 1
    assert result is not None
    assert result.markdown.endswith(f"live in line {line}; part of the peak of 4 GRF rows at line {line}")


@pytest.mark.parametrize("more", ["\nmov (M1, 8) NOWHERE(0,0)<1> 1:d", "\n" * 1_000], ids=["errors", "long"])
def test_where_a_variable_is_live_is_not_told_of_broken_and_long_texts(more):
    analysis, offset = analyse_at_cursor(".decl ^Y v_type=G type=d num_elts=8 align=GRF\n" + LIVES + more)
    result = hover(analysis, offset)
    assert result is not None
    assert "live in" not in result.markdown


def test_a_variable_that_is_never_live_says_nothing_of_it():
    analysis, offset = analyse_at_cursor(".decl ^Y v_type=G type=d num_elts=8\nret (M1, 1)")
    result = hover(analysis, offset)
    assert result is not None
    assert "live in" not in result.markdown
