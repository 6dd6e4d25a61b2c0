"""Edits that reach beyond their line, in hosts of every language: what is kept equals what a fresh reading says."""

from __future__ import annotations

import random

import pytest
from tiers import first
from work import calls_of

from visa_lsp.embed import host_tree
from visa_lsp.embed.host_findings import findings
from visa_lsp.embed.host_text import HostText
from visa_lsp.embed.languages import Host, parse, readable

FUNCTION = """
// function {n}, "quoted" and 'marked'
void kernel{n}(int *d, float factor) {{
  int total = d[{n}]; number other = 1.5f;
  __asm__ volatile("{{\\n"
          ".decl v{n} v_type=G type=d num_elts=16 align=GRF\\n"
          "mov (M1, 16) v{n}(0,0)<1> %0(0,0)<1;1,0>\\n"
          "add (M1, 16) %0(0,0)<1> nope{n}(0,0)<1;1,0> " LATE ":w\\n"
          "mul (M1, 16) %[o](0,0)<1> %[o](0,0)<1;1,0> %2(0,0)<1;1,0>\\n"
          "}}\\n"
          : "+rw"(total), [o] "+rw"(other) : "rw"(factor));
  d[0] = total;
}}
const char name{n}[] = "a \\"name\\" (";  /* a 'remark' */
int plain{n}(int a) {{ if (a > {n}) {{ return f("s", 'c') + a; }} return 0; }}
"""
C_LIKE = '#define LATE "0x1"\ntypedef float number;\n' + "".join(FUNCTION.format(n=n) for n in range(4))
PYTHON = "".join(
    f"""
def kernel{n}(d, factor):
    "Says {{something}}."
    f(\"\"\"mov (M1, 16) $0(0,0)<1> nope{n}(0,0)<1;1,0>
    add (M1, 16) $0(0,0)<1> $1(0,0)<1;1,0> 0x1:w\"\"\", "=rw,rw", (d, factor))
    # visa: asm
    late{n} = 'mov (M1, 16) V{n}(0,0)<1> 0x1:w'  # a 'remark'
    return [late{n}, "x" + 'y', {{"a": (1, 2)}}]
"""
    for n in range(4)
)
TEXTS = {Host.OPENCL: C_LIKE.replace("void kernel", "kernel void kernel"), Host.CPP: C_LIKE, Host.C: C_LIKE, Host.CM: C_LIKE, Host.PYTHON: PYTHON}  # fmt: skip
# What is put at one place, and at a later one; each half is an edit of its own.
PAIRS = [
    ("/*", "*/"), ("{", "}"), ("(", ")"), ('"', '"'), ("'", "'"), ("#if 0\n", "\n#endif\n"), ("\nnamespace n {\n", "\n}\n"), ("asm(", ");"),
    ('"""', '"""'), ("[", "]"), ('R"(', ')"'), ("\nif x:\n", "\n"), ('\nasm("', '" : "+rw"(total));\n'), ("\nstruct S {\n", "\n};\n"),
]  # fmt: skip
ALONE = [
    "\n", "x", "//", "\\\n", "\ntypedef int number;\n", '\n#define LATE "0x2"\n', "\n#define OTHER\n", "/* x */", '""', "{}", "// visa: asm\n",
    "// visa: ignore\n", "# visa: asm\n", "\r", "\r\n", "é😀", "global", " kernel ", "\nusing number = double;\n", FUNCTION.format(n=9),
    "%0", "int total; ", "asm", "\\", "\0",
]  # fmt: skip
INSIDE = ["x", "", "M1", " ", "0", "1, 16", "(", "V1(0,0)<1>", "//", "%", "%0", "*", "\\", "n", "[o]", ":"]


def edits(draw, text):
    """One edit, or the two halves of one: place, characters that go, characters that come."""
    at = draw.randrange(len(text) + 1)
    if draw.random() < 0.25:  # inside of a string
        at = text.index("(0,0)", draw.randrange(len(text) // 2)) + draw.randrange(-30, 10)
        return [(at, draw.choice((0, 0, 1, 2, 4)), draw.choice(INSIDE))]
    kind = draw.random()
    if kind < 0.45:
        first, second = draw.choice(PAIRS)
        behind = draw.randrange(at, min(len(text), at + draw.choice((40, 400, 4000))) + 1)
        return [(at, 0, first), (behind + len(first), 0, second)]
    if kind < 0.8:
        return [(at, draw.choice((0, 0, 3)), draw.choice(ALONE))]
    if kind < 0.9:  # lines go
        lines = text[at:].split("\n")[: draw.randrange(1, 12)]
        return [(at, len("\n".join(lines)), "")]
    return [(at, draw.randrange(200), text[draw.randrange(len(text) + 1) :][: draw.randrange(400)])]


def replay(seed, language, rounds):
    """Edits of a text, taken back one by one at the end of a round; the number of states without mistakes, and of all."""
    draw = random.Random(seed)
    text = TEXTS[language]
    host = HostText.of(text, language)
    whole = states = 0
    for _ in range(rounds):
        todo = [edit for _ in range(draw.choice((1, 1, 2))) for edit in edits(draw, text)]
        undone = []
        for number in range(2 * len(todo)):
            place, most, new = todo[number] if number < len(todo) else undone.pop()
            at = min(place, len(text))
            gone = text[at : at + most]
            if number < len(todo):
                undone.append((at, len(new), gone))
            host, text = edited(host, at, len(gone), new), text[:at] + new + text[at + len(gone) :]
            whole += compared(host, text, seed)
            states += 1
        assert text == TEXTS[language]
    return whole, states


def edited(host, at, gone, new):
    return host.edit(host.document.edit(at, at + gone, new))


def compared(host, text, seed):
    """Whether the text has no mistake; if so, the snapshot says what a fresh one says."""
    assert host.document.text == text
    assert host.visa_text == host.analysis.document.text
    if len(text) > host_tree.MAX_REPARSED_CHARS and parse(readable(text, host.host)).root_node.has_error:
        for finding in findings(host):
            assert 0 <= finding.span.start <= finding.span.end <= len(text), seed
        return False
    fresh = HostText.of(text, host.host)
    assert host.visa_text == fresh.visa_text, seed
    assert findings(host) == findings(fresh), seed
    assert zones(host) == zones(fresh), seed
    assert places(host) == places(fresh), seed
    assert sorted(host.comments) == sorted(fresh.comments), seed
    return True


def zones(host):
    """Where each body is, and what it depends on."""
    return [(p.base, p.unit.length, p.zone, p.is_alone) for p in host.placed]


def places(host):
    """Where every block, string and operand is, what stands in them, what is known, and where each C variable is declared."""
    return [
        (
            block.span.shift(placed.base - unit.base),
            [(p.text, p.host.shift(placed.base - unit.base), p.exact) for p in block.pieces],
            [lit.span.shift(placed.base - unit.base) for lit in block.literals],
            [(o.name, o.constraint, o.expression, o.span.shift(placed.base - unit.base)) for o in block.operands],
            [host.declaration(unit, o.expression, o.span.start) for o in block.operands],
            unit.source.facts,
            unit.map.segments,
        )
        for placed in host.placed
        for unit in [placed.unit]
        for block in unit.source.blocks
    ]


@pytest.mark.parametrize("host", TEXTS)
@pytest.mark.parametrize(
    "case", first(2, [(0, 8, 0), (5, 2, None), *((seed, 12, 0) for seed in range(1, 5)), (6, 12, None)])
)
def test_what_is_kept_over_edits_of_any_reach_is_what_a_fresh_reading_says(case, host, monkeypatch):
    """A short text is read again as a whole, so that its mistakes do not matter either."""
    seed, rounds, most = case
    if most is not None:
        monkeypatch.setattr(host_tree, "MAX_REPARSED_CHARS", most)
    whole, states = replay(seed, host, rounds)
    assert whole * 5 > states if most == 0 else whole == states


def test_a_comment_that_is_opened_and_closed_reads_only_what_it_touched(monkeypatch):
    monkeypatch.setattr(host_tree, "MAX_REPARSED_CHARS", 0)
    text = C_LIKE + "".join(FUNCTION.format(n=n) for n in range(10, 60))
    host = HostText.of(text, Host.CPP)
    at = text.index("return f(")
    whole = calls_of(lambda: HostText.of(text, Host.CPP))
    made = []
    assert calls_of(lambda: made.append(edited(host, at, 0, "/* x */"))) < whole / 3
    assert [p.unit for p in made[0].placed] == [p.unit for p in host.placed]
    assert all(new.unit is old.unit for new, old in zip(made[0].placed, host.placed, strict=True))
