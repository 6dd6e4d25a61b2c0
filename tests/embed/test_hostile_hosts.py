"""Hosts that want to hurt: broken, binary, huge. Nothing is raised, and the work grows with the text and not faster."""

from __future__ import annotations

import random

import pytest
from work import calls_of

from visa_lsp.embed.findings import findings
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
    "percents": lambda n: 'asm("(M1, 1)' + "%0" * n + '" : "=rw"(x));',
}  # fmt: skip


@pytest.mark.parametrize("kind", GROWING)
def test_twice_the_text_is_about_twice_the_work(kind):
    def work(n):
        text = GROWING[kind](n)
        return calls_of(lambda: findings(HostText.of(text, Host.OPENCL)))

    work(20)  # what is made once is made now
    assert work(400) < 3 * work(200) + 2000


@pytest.mark.parametrize("host", Host)
@pytest.mark.parametrize("seed", range(12))
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
