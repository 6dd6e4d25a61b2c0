"""Hosts that want to hurt: broken, binary, huge. Nothing is raised, and the work grows with the text and not faster."""

from __future__ import annotations

import random

import pytest
from tiers import first
from work import calls_of

from visa_lsp.embed import nodes
from visa_lsp.embed.host_findings import findings
from visa_lsp.embed.host_text import HostText
from visa_lsp.embed.languages import Host

BLOCK = 'asm("add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> 0x1:w\\n" : "+rw"(x));\n'
GROWING = {
    "blocks of one function": lambda n: "void f() { int x;\n" + BLOCK * n + "}",
    "blocks of many functions": lambda n: "".join(f"void f{i}() {{ int x; {BLOCK} }}\n" for i in range(n)),
    "blocks of no function": lambda n: BLOCK * n,
    "one long line": lambda n: BLOCK.replace("\n", " ") * n,
    "one long string": lambda n: 'asm("' + "mov (M1, 16) a b\\n" * n + '" :: "rw"(x));',
    "many strings": lambda n: "asm(" + '"mov (M1, 16) a b\\n" ' * n + ' : "=rw"(x));',
    "operands": lambda n: 'asm("(M1, 1) %0"' + ' : "=rw"(x)' + ', "rw"(x)' * n + ");",
    "statements that are not closed": lambda n: 'asm("(M1, 1)" ' * n,
    "open brackets": lambda n: 'asm("(M1, 1)" : "rw"(' + "(" * n,
    "hashes": lambda n: 'asm("(M1, 1)"' + "#" * n,
    "directives": lambda n: 'asm("(M1, 1)"\n' + "#if 1\n" * n + ");",
    "quotes": lambda n: 'asm("' + '"' * n,
    "backslashes": lambda n: 'asm("(M1, 1)' + "\\" * n,
    "raw strings": lambda n: 'asm(R"x((M1, 1)' * n,
    "comments": lambda n: BLOCK + "/* visa: ignore[V101] " * n,
    "suppressions": lambda n: BLOCK + "// visa: ignore[V101]\n" * n,
    "marks": lambda n: "// visa: asm\n" * n + '"x"',
    "declarations of one name": lambda n: "void f() { " + "int x; " * n + BLOCK * n + "}",
    "types of types": lambda n: "typedef int t0;" + "".join(f"typedef t{i} t{i + 1};" for i in range(n)) + f"void f(t{n} x) {{ {BLOCK} }}",
    "macros": lambda n: "".join(f'#define M{i} "(M1, 1)" M{i + 1}\n' for i in range(n)) + "void f() { asm(M0); }",
    "widths": lambda n: "void f() { " + ("reqd_sub_group_size(16) " + BLOCK) * n + "}",
    "calls of one function": lambda n: 'void f() { std::string s = "mov (M1, 16) $0 $1"; ' + 'g(s, "=rw,rw"); ' * n + "}",
    "calls of many functions": lambda n: 'auto s = "mov (M1, 16) $0 $1";' + "".join(f'void f{i}() {{ s += "x"; g(s, "=rw,rw"); }}' for i in range(n)),
    "percents": lambda n: 'asm("(M1, 1)' + "%0" * n + '" : "=rw"(x));',
}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("size", [100, 200])
@pytest.mark.parametrize("kind", GROWING)
def test_twice_the_text_is_about_twice_the_work(kind, size):
    def work(n):
        text, host = GROWING[kind](n), Host.CPP if kind.startswith("calls") else Host.OPENCL
        return calls_of(lambda: findings(HostText.of(text, host)))

    work(2 * size)  # what is made once is made now
    assert work(2 * size) < 3 * work(size) + 2000


@pytest.mark.parametrize("host", Host)
@pytest.mark.parametrize("seed", first(1, range(12)))
def test_no_damage_is_too_much(host, seed):
    rng = random.Random(seed)
    text = 'x = "asm" # visa: asm\n// visa: asm\n' + BLOCK * 3 + 'R"(x)" """asm {0}""" f"{x}" \'c\' /* */ #if\n'
    for _ in range(40):
        at, size = rng.randrange(len(text)), rng.randrange(12)
        new = rng.choice(
            ("", '"', "\\", "(", ")", "\n", "\0", "\ud800", "😀", 'R"', "/*", "%[", "#", "'''", "asm(", "\r", "{", "}")
        )
        text = text[:at] + new + text[at + size :]
        for finding in findings(HostText.of(text, host)):
            assert 0 <= finding.span.start <= finding.span.end <= len(text)


@pytest.mark.parametrize("host", Host)
def test_any_bytes_are_a_host(host):
    rng = random.Random(1)
    for _ in range(20):
        data = b"asm(" + rng.randbytes(400) + b'asm("mov (M1, 16)")'
        assert findings(HostText.of(data.decode("utf-8", "surrogateescape"), host)) is not None


MARKED = '# visa: asm\nx = "mov (M1, 16) broken"\n'
ENDLESS = {
    "nested parentheses": (Host.CPP, lambda n: BLOCK + "int x = " + "(" * n + "1" + ")" * n + ";"),
    "parentheses in an operand": (Host.OPENCL, lambda n: BLOCK + 'asm("(M1, 1)" : "rw"(' + "(" * n),
    "open brackets": (Host.C, lambda n: BLOCK + "x[" * n),
    "open braces": (Host.CPP, lambda n: BLOCK + "void f() {" * n),
    "an unclosed string": (Host.CPP, lambda n: BLOCK + '"' + "x" * n),
    "strings that end with their lines": (Host.CPP, lambda n: BLOCK + '"x\n' * n),
    "an unclosed raw string": (Host.CPP, lambda n: BLOCK + 'R"x(' + ')y"' * n),
    "an unclosed comment": (Host.OPENCL, lambda n: BLOCK + "/* x\n" * n),
    "open templates": (Host.CPP, lambda n: BLOCK + "template<" * n),
    "line splices": (Host.CPP, lambda n: BLOCK + "x\\\n" * n),
    "line splices of Python": (Host.PYTHON, lambda n: MARKED + "\\\n" * n),
    "words and line splices of Python": (Host.PYTHON, lambda n: MARKED + "a\\\n" * n),
    "open parentheses of Python": (Host.PYTHON, lambda n: MARKED + "(\n" * n),
    "an unclosed string of Python": (Host.PYTHON, lambda n: MARKED + '"""' + "x\n" * n),
}


@pytest.mark.parametrize("size", first(1, [20_000, 100_000]))
@pytest.mark.parametrize("kind", ENDLESS)
def test_what_never_closes_is_read_to_its_end_and_the_visa_before_it_is_found(kind, size):
    host, made = ENDLESS[kind]
    text = made(size)
    source = HostText.of(text, host)
    assert len(source.document) == len(text)
    assert [b.span.start for u in source.units for b in u.source.blocks][:1] == [
        text.index('"mov' if host is Host.PYTHON else "asm")
    ]
    findings(source)


def test_a_long_chain_of_lines_is_read_as_the_same_text():
    lines = "".join(f"a{n} + \\\n" for n in range(200))
    text = f"y = {lines}0\n{MARKED}"
    source = HostText.of(text, Host.PYTHON)
    (block,) = source.units[0].source.blocks
    assert text[block.span.start : block.span.end] == '"mov (M1, 16) broken"'


@pytest.mark.parametrize("host", [h for h in Host if h not in (Host.LLVM, Host.MLIR)])  # those are read without a tree
def test_a_walk_through_a_tree_finds_what_a_query_does(host, monkeypatch):
    text = (
        MARKED
        + "typedef int t; void f(int y) { for (;;) { int x; "
        + BLOCK * 3
        + '} }\n#define M(x) "a"\n// (\'c\', R"(x)")\n'
    )
    by_query = HostText.of(text, host)
    monkeypatch.setattr(nodes, "is_hard", lambda _: True)
    by_walk = HostText.of(text, host)
    assert by_query.units
    assert by_walk.visa_text == by_query.visa_text
    assert by_walk.comments == by_query.comments
