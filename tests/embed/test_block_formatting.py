"""Formatting of blocks: only blanks between words change, the strings stay as they are written, and so do the bytes."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from cursor import apply_edits
from tiers import first

from visa_lsp.app.assemble import assemble_text
from visa_lsp.embed.formatting import block_around, format_blocks
from visa_lsp.embed.host_text import HostText
from visa_lsp.embed.languages import Host, host_of
from visa_lsp.text import Span

SOURCES = sorted((Path(__file__).parent / "sources").glob("*.*"))
# The longest takes half of the time, and shares its kinds of blocks with the others.
LONGEST_IN_FULL = first(len(SOURCES) - 1, sorted(SOURCES, key=lambda path: path.stat().st_size))
CASES = {
    "strings beside each other": (
        '"  mov  (M1,16)\\t%0(0,0)<1>   0x1:d  // two  blanks \\n"\n    "add (M1, 16) %0(0,0)<1>  %0(0,0)<1;1,0> 0x1:w  \\n"',
        '"  mov (M1, 16) %0(0,0)<1> 0x1:d  // two  blanks\\n"\n    "add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> 0x1:w\\n"',
    ),
    "a raw string": (
        'R"(\n    mov   (M1, 16) %0(0,0)<1>  0x1:d   \n\t\n   )"',
        'R"(\n    mov (M1, 16) %0(0,0)<1> 0x1:d\n\n   )"',
    ),
    "blanks that two strings share": ('"mov (M1, 16)  " " %0(0,0)<1>  0x1:d"', '"mov (M1, 16)  " " %0(0,0)<1> 0x1:d"'),
    "a line splice": ('"mov (M1, 16) \\\n      %0(0,0)<1>  0x1:d"', '"mov (M1, 16) \\\n      %0(0,0)<1> 0x1:d"'),
    "an instruction that is broken": ('"mov  (M1, 16) %0(0,0)<1  0x1:d"', '"mov  (M1, 16) %0(0,0)<1  0x1:d"'),
    "what a macro says": ('"mov (M1,  " LANES ")  %0(0,0)<1> 0x1:d"', '"mov (M1, " LANES ") %0(0,0)<1> 0x1:d"'),
    "escapes that are no blanks": (
        '"//  \\"a\\"  \\x41 \\n" "mov  (M1, 1) %%a0(0)<1>  0x1:uw\\n"',
        '"//  \\"a\\"  \\x41\\n" "mov (M1, 1) %%a0(0)<1> 0x1:uw\\n"',
    ),
}


def host(block):
    return f'#define LANES "16"\nvoid f() {{ int x;\n  asm({block} : "+rw"(x));  int   y; }}\n'


def formatted(text, kind=Host.OPENCL):
    return apply_edits(text, format_blocks(HostText.of(text, kind), Span(0, len(text))))


def units_of(text, kind):
    return [".version 4.2\n" + unit.text for unit in HostText.of(text, kind).units]


@pytest.mark.parametrize("case", CASES)
def test_a_block_keeps_the_form_of_its_strings(case):
    before, after = CASES[case]
    assert formatted(host(before)) == host(after)
    assert formatted(host(after)) == host(after)


def test_only_what_lies_in_the_range_is_formatted():
    text = host(CASES["strings beside each other"][0])
    first = Span(text.index('"  mov'), text.index("\n    "))
    edits = format_blocks(HostText.of(text, Host.OPENCL), first)
    assert edits
    assert all(e.span.end <= first.end for e in edits)
    assert text.find("add", edits[-1].span.end) > 0


def test_a_block_is_found_from_any_place_in_it():
    text = host('"mov (M1, 16) %0(0,0)<1> 0x1:d"')
    source = HostText.of(text, Host.OPENCL)
    inside = block_around(source, Span(text.index("+rw"), text.index("+rw")))
    assert text[inside.start : inside.end].startswith("asm(")
    assert block_around(source, Span(text.index("int   y"), text.index("int   y"))) is None


def respaced(text, kind, seed):
    """Return the same text with other blanks between the words of its vISA."""
    rng = random.Random(seed)
    source = HostText.of(text, kind)
    places = []
    for number, unit in enumerate(source.units):
        for hit in re.finditer(r"(?<=\S) (?=[\w(.])", unit.text):
            span = source.host_span(Span(hit.start(), hit.end()).shift(source.start_of(number)))
            line = unit.text[unit.text.rfind("\n", 0, hit.start()) + 1 : hit.start()]
            # Comments keep their inside, and so do lines with block comments.
            if span is not None and "//" not in line and "/*" not in line and text[span.start : span.end] == " ":
                places.append(span)
    for span in sorted(places, reverse=True):
        text = text[: span.start] + rng.choice((" ", "  ", "    ")) + text[span.end :]
    return text, len(places)


@pytest.mark.parametrize("path", LONGEST_IN_FULL, ids=lambda p: p.name)
def test_formatting_twice_is_formatting_once_and_the_bytes_stay(path):
    text, kind = path.read_text(encoding="utf-8"), host_of(path.name)
    assembled = 0
    for seed in range(4):
        other, blanks = respaced(text, kind, seed)
        assert blanks
        assert other != text
        once = formatted(other, kind)
        assert once == formatted(text, kind) == formatted(once, kind)
        for before, after in zip(units_of(other, kind), units_of(once, kind), strict=True):
            data = assemble_text(before, "PVC").data
            assert assemble_text(after, "PVC").data == data
            assembled += data is not None
    assert assembled >= 4
