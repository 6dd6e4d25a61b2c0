"""A block as a text of its own, and its changes written back into the strings of the host as they are."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from cursor import apply_edits
from tiers import first

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.diagnostics import has_errors
from visa_lsp.embed.block_text import BEGINS, ENDS, BlockRefused, block_text, blocks_of
from visa_lsp.embed.host_text import HostText
from visa_lsp.embed.languages import Host, host_of
from visa_lsp.embed.write_back import edits_of

SOURCES = sorted((Path(__file__).parent / "sources").glob("*.*"))
# The longest takes half of the time, and shares its kinds of blocks with the others.
LONGEST_IN_FULL = first(len(SOURCES) - 1, sorted(SOURCES, key=lambda path: path.stat().st_size))
HEAD = '#define LANES "16"\nvoid f() { int x, y;\n  asm('
TAIL = ' : [sum] "+rw"(x) : "rw"(y), "i"(5));\n}\n'
IN_LINES = '"{\\n"\n      "add (M1, 16) %[sum](0,0)<1> %1(0,0)<1;1,0> %2\\n"\n      "}\\n"'
RAW = 'R"({\n    add (M1, 16) %[sum](0,0)<1> %1(0,0)<1;1,0> %2\n  })"'
ONE = '"add (M1, 16) %[sum](0,0)<1> %1(0,0)<1;1,0> %2"'
BODY = "add (M1, 16) sum(0,0)<1> y(0,0)<1;1,0> 0x5:d"


def changed(block, old, new):
    """Return the host's block after a change of the text that it makes."""
    text = HEAD + block + TAIL
    host = HostText.of(text, Host.OPENCL)
    shown = block_text(host, 0, "k.cl").text
    assert old in shown
    after = apply_edits(text, edits_of(host, 0, "k.cl", shown, shown.replace(old, new, 1)))
    assert after.startswith(HEAD)
    assert after.endswith(TAIL)
    return after[len(HEAD) : -len(TAIL)]


def test_a_block_is_a_text_without_mistakes_that_tells_its_operands():
    shown = block_text(HostText.of(HEAD + IN_LINES + TAIL, Host.OPENCL), 0, "k.cl").text
    assert BEGINS + "{\n" + BODY + "\n}\n" + ENDS in shown
    assert '.decl sum v_type=G type=d num_elts=32 align=GRF  // %[sum] "+rw"(x)' in shown
    assert "// k.cl, line 3" in shown
    assert not has_errors(Analysis.of(shown).diagnostics)


@pytest.mark.parametrize(
    ("block", "old", "new", "expected"),
    [
        (IN_LINES, "add (M1", "mul (M1", IN_LINES.replace("add", "mul")),
        (IN_LINES, "y(0,0)", "sum(0,0)", IN_LINES.replace("%1", "%[sum]")),
        (IN_LINES, "0x5:d", "0x6:d", IN_LINES.replace("%2", "0x6:d")),
        (IN_LINES, BODY, BODY + '\n// 100% of "it"', IN_LINES.replace('%2\\n"', '%2\\n"\n      "// 100%% of \\"it\\"\\n"')),
        (IN_LINES, BODY, "mov (M1_NM, 1) sum(0,0)<1> %r0(0,0)<0;1,0>", IN_LINES.replace("add (M1, 16) %[sum](0,0)<1> %1(0,0)<1;1,0> %2", "mov (M1_NM, 1) %[sum](0,0)<1> %%r0(0,0)<0;1,0>")),
        (IN_LINES, BODY + "\n", "", '"{\\n"\n      "}\\n"'),
        (IN_LINES, BEGINS, BEGINS + "// first\n", '"// first\\n"\n      ' + IN_LINES),
        (RAW, "    " + BODY, "    " + BODY + '\n    // "more"', RAW.replace("%2", '%2\n    // "more"')),
        (RAW, "    " + BODY + "\n", "", 'R"({\n  })"'),
        (ONE, BODY, BODY + "\n" + BODY, ONE[:-1] + "\\nadd (M1, 16) %[sum](0,0)<1> %1(0,0)<1;1,0> 0x5:d" + '"'),
        ('"add (M1, " LANES ") %0(0,0)<1> %1(0,0)<1;1,0> 0x1:d"', "0x1:d", "0x2:d", '"add (M1, " LANES ") %0(0,0)<1> %1(0,0)<1;1,0> 0x2:d"'),
        ('"add (M1, 1" "6) %0(0,0)<1> 0x1:d 0x1:d"', "(M1, 16)", "(M5, 8)", '"add (M5, 8" ") %0(0,0)<1> 0x1:d 0x1:d"'),
    ],
)  # fmt: skip
def test_a_change_is_written_as_the_string_has_it(block, old, new, expected):
    assert changed(block, old, new) == expected


@pytest.mark.parametrize(
    ("block", "old", "new", "words"),
    [
        (RAW, "add (M1", 'add )" (M1', "cannot be expressed in the strings of k.cl"),
        ('"add (M1, " LANES ") %0(0,0)<1> 0x1:d 0x1:d"', "(M1, 16)", "(M1, 8)", "`LANES`"),
        ('"mov (M1, 16) %0(0,0)<1> " #x "\\n" "// a\\n"', BEGINS + "\n", BEGINS + "mov\n", "change it in the host"),
        (IN_LINES, BEGINS, "", "mark the block were deleted"),
    ],
)  # fmt: skip
def test_a_change_that_the_string_cannot_say_is_refused_in_words(block, old, new, words):
    with pytest.raises(BlockRefused, match=words):
        changed(block, old, new)


def test_a_block_that_changed_in_the_host_is_not_written_over():
    text = HEAD + IN_LINES + TAIL
    shown = block_text(HostText.of(text, Host.OPENCL), 0, "k.cl").text
    now = HostText.of(text.replace("add", "sub"), Host.OPENCL)
    with pytest.raises(BlockRefused, match="the block has changed"):
        edits_of(now, 0, "k.cl", shown, shown.replace("add", "mul"))
    moved = 'void g() { int z; asm("// other" : "+rw"(z)); }\n' + text
    edits = edits_of(HostText.of(moved, Host.OPENCL), 0, "k.cl", shown, shown.replace("add", "mul"))
    assert apply_edits(moved, edits) == moved.replace("add", "mul")
    with pytest.raises(
        BlockRefused, match="the block has changed"
    ):  # either of its twins could be the one that was opened
        edits_of(HostText.of(f"{text}\n{moved}\n{text}", Host.OPENCL), 1, "k.cl", shown, shown.replace("add", "mul"))


def test_declarations_of_other_blocks_are_there_where_they_are_used():
    head = 'kernel void k() { int y; asm(".decl T v_type=G type=d num_elts=16 align=GRF"); '
    text = (
        head
        + 'asm("mov (M1, 16) %0(0,0)<1> T(0,0)<1;1,0>" : "=rw"(y)); asm("mov (M1, 16) %0(0,0)<1> 0x1:d" : "=rw"(y)); }\n'
    )
    host = HostText.of(text, Host.OPENCL)
    shown = [
        block_text(host, number, "k.cl").text.count(".decl T v_type=G type=d num_elts=16 align=GRF")
        for number in (1, 2)
    ]
    assert shown == [1, 0]


LINES = (
    '// 50% "quoted" \\ and more',
    "mov (M1, 16) V1(0,0)<1> 0x1:d",
    "",
    "    add.sat (M1, 8) A(0,0)<1> B(0,0)<1;1,0> 0x2:d",
)


@pytest.mark.parametrize("path", LONGEST_IN_FULL, ids=lambda p: p.name)
def test_whatever_is_written_reads_as_the_user_has_it_and_nothing_else_changes(path):
    text, kind = path.read_text(encoding="utf-8"), host_of(path.name)
    host = HostText.of(text, kind)
    rng = random.Random(5)
    count = len(blocks_of(host))
    written = tried = 0
    for number in [rng.randrange(count) for _ in range(25)]:
        shown = block_text(host, number, path.name)
        lines = shown.lines.split("\n")[:-1]
        for _ in range(rng.choice((1, 1, 2, 3))):
            at = rng.randrange(len(lines) + 1)
            what = rng.randrange(4)
            if what == 0 or not lines:
                lines.insert(at, rng.choice(LINES))
            elif what == 1:
                del lines[at - 1]
            elif what == 2:
                lines[at - 1] = re.sub(r"\d+", lambda _: str(rng.randrange(40)), lines[at - 1])
            else:
                lines[at - 1] = rng.choice(LINES)
        wanted = "".join(line + "\n" for line in lines)
        new = shown.text[: shown.body.start] + wanted + shown.text[shown.body.end :]
        tried += 1
        try:
            edits = edits_of(host, number, path.name, shown.text, new)
        except BlockRefused:
            continue
        written += 1
        assert all(shown.span.start < e.span.start and e.span.end < shown.span.end + 1 for e in edits)
        after = HostText.of(apply_edits(text, edits), kind)
        assert block_text(after, number, path.name).lines == wanted
        assert len(blocks_of(after)) == count
        for other in range(count):
            if other != number:
                assert block_text(after, other, path.name).block.text == block_text(host, other, path.name).block.text
    assert written > tried / 3
