"""Odd texts: damage by token, line and character, and lines that no compiler prints.

Each oddity takes a text and gives another. Judges nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

_TOKEN: Final = re.compile(r"\s+|[A-Za-z_%.$@][\w.]*|0x[0-9a-fA-F]+|\d+|.", re.DOTALL)
_NAME: Final = re.compile(r"(?<![\w.:%])[VPATSL]\d+\b")
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?!\w)")
TOKENS: Final = (
    "(", ")", "<", ">", "[", "]", ",", ";", ":", ".", "{", "}", '"', "'", "!", "&", "~", "-", "+", "*", "/", "=", "|", "^",
    "0", "1", "16", "32", "33", "-1", "4096", "65536", "4294967295", "4294967296", "18446744073709551616", "0x", "0xg",
    "0x" + "f" * 17, "1e400", "0.5", "1.", ".5", "nan", "inf", "(M1, 16)", "(M9, 3)", "(16)", "()", "<1;1,0>", "<1>",
    "<0;0,0>", "<;,>", "<4;3,2>", ":d", ":zz", ":bool", ":f", ":vf", ":df", "(-)", "(abs)", "(~)", "(-abs)", ".sat", ".lt",
    "V32", "V32(0,0)<1>", "V999999", "V0", "V", "%null", "%null(0,0)<1>", "%r0", "%sr0(0,0)<0;1,0>", "%undefined", "P0",
    "P1", "A0", "A0(0)<1>", "r[A0(0)]<1>:d", "r[A0(0),-600]<1>:d", "&V32", "&V32[999]", "T6", "T999", "S0", "S31", "L0",
    "L0:", "//", "/*", "*/", "// visa: ignore", "\\", "\t", " ", "\u00a0", "\u00e9", "\U0001f600", "\u2028", "\x00", "\x0b",
    "\x0c", "\x85", "\x7f", "\ufeff", "add", "mov", "goto", "ret", ".decl", ".input", ".kernel", ".function", ".version",
    ".kernel_attr", ".parameter", "alias=<V32, 0>", "alias=<V33, -4>", "num_elts=0", "num_elts=99999999999", "type=d",
    "v_type=G", "align=x", "v_name=a", "offset=32", "size=4", "true", "lsc_load.ugm", "flat[V32]:a64",
)  # fmt: skip
_LINES: Final = (
    "{", "}", "{ }", "{}", "}}", "{ {", "{ mov (M1, 8) V32(0,0)<1> 0x1:d", "{ mov (M1, 8) V32(0,0)<1> 0x1:d }",
    "    mov (M1, 8) V32(0,0)<1> 0x8:d}", "    mov (M1, 8) V32(0,0)<1> 0x8:d }", "{ .decl V90 v_type=G type=d num_elts=8",
    ".decl V32 v_type=G type=d num_elts=8 alias=<V32, 0>", ".decl V91 v_type=G type=d num_elts=8 alias=<V92, 0>",
    ".decl V92 v_type=G type=d num_elts=8 alias=<V91, 0>", ".decl", ".decl V32", ".decl V93 v_type=G",
    ".decl V00000000000000000000000000000000032 v_type=G type=d num_elts=8", "    mov (M1, 8) V000032(0,0)<1> 0x1:d",
    '.kernel ""', ".kernel", '.kernel "k', ".kernel k", '.function "f"', ".funcdecl f", '.global_function "g"',
    '.kernel "[x](command:y) ![p](http://z)"', ".version 4.1", ".version", ".version 4.", ".version 9.9", ".version 4 . 1",
    ".version 4.          1", ".version 4.\t\t\t\t\t\t\t\t\t\t1", ".version 99999999999999999999.1", ".version -1.-1",
    ".input V32 offset=0 size=0", ".input V32 offset=-1 size=-1", ".input V32 offset=99999999 size=99999999",
    ".input P1 offset=32 size=2", ".implicit_LOCAL_ID V33 offset=64 size=4", ".implicit_UNDEFINED_1 V33 offset=64 size=4",
    ".kernel_attr", ".kernel_attr X", '.kernel_attr OutputAsmPath="/x"', ".kernel_attr SimdSize=-1", ".kernel_attr SLMSize=255",
    ".kernel_attr SimdSize=99999999999999999999", '.kernel_attr SimdSize="16"', "L0: mov (M1, 8) V32(0,0)<1> 0x1:d", "L0:L1:",
    "  L0:", "L0 :", ":", "(", "(P1)", "(P1) (P2) add", "    goto", "    goto (M1, 16) ", "    call (M1, 1) L0", "    fcall (M1, 1) f 1 1",
    "    switchjmp (M1, 1) V32(0,0)<0;1,0> ()", "    faddr f V32(0,0)<1>", 'FILE "x.cl"', "LOC 1", "LOC", "FILE", "    lifetime.start V32",
    ".parameter p uint", "    add (M1, 16) V32(0,0)<1> V32(0,0)<1;1,0>:f 0x1:d", "    mov (M1, 1) V32(0,0)<1> 0x1:bool", "    .sat",
    "// visa: ignore[V101]", "// visa: ignore-file", "// visa: ignore-file[*", "// visa: ignore[" + "V1," * 50, "#include <x>", "__kernel void f() {}",
)  # fmt: skip
_RUNS: Final = (
    "-", "(", ")", "<", "{", "}", '"', "'", "/", "*", "\\", ".", ",", ";", ":", "0", "9", "f", "a", "_", " ", "\t", "V32(0,0)<",
    "V32(0,0)<1> ", "((", "()", "<1;1,0>", "(-)", "!", "~", "&V", "[", "]", "r[A0(0)", "0x", "1e", ".sat", "(M1, 16)", "/*", "*/",
    "//", "x=", "alias=<", "\u00e9", "\x00", "\U0001f600", "L0:", "{}", "{ ", " }", "\r", '""', "%",
)  # fmt: skip
_HEADS: Final = (
    "", "    ", "add ", "    mov (M1, 16) ", "    mov (M1, 16) V32(0,0)<1> ", ".decl ", ".decl V90 ", ".decl V90 v_type=", ".kernel ",
    '.kernel "', ".version ", ".version 4.", ".input ", ".kernel_attr ", ".kernel_attr SimdSize=", "(", "(P1", "    goto (M1, 16) ", "num_elts",
    "    lsc_load.ugm (M1, 16) V32:d32 flat[", "    add.", "// visa: ignore[", '.function "', '.funcdecl "', "FILE ", '    printf "',
    "    mov (M1, 16) V32(0,0)<1> 0x", "    mov (M1, 16) V32(0,0)<1> 1.", "    mov (M1, 16) V32(", ".decl V90 v_type=G type=d num_elts=",
)  # fmt: skip


def tokens(pick: random.Random, text: str) -> str:
    """Return the text with a few tokens dropped, doubled, swapped or replaced."""
    pieces = _TOKEN.findall(text)
    for _ in range(pick.choice((1, 1, 1, 2, 4))):
        if not pieces:
            return pick.choice(TOKENS)
        at = pick.randrange(len(pieces))
        match pick.randrange(5):
            case 0:
                del pieces[at]
            case 1:
                pieces.insert(at, pieces[at])
            case 2:
                other = pick.randrange(len(pieces))
                pieces[at], pieces[other] = pieces[other], pieces[at]
            case 3:
                pieces[at] = pick.choice(TOKENS)
            case _:
                pieces.insert(at, pick.choice(TOKENS))
    return "".join(pieces)


def lines(pick: random.Random, text: str) -> str:
    """Return the text with lines dropped, doubled, moved or added."""
    parts = text.split("\n")
    for _ in range(pick.choice((1, 1, 2, 3, 8))):
        at = pick.randrange(len(parts) + 1)
        match pick.randrange(6):
            case 0:
                del parts[at : at + pick.choice((1, 1, 3))]
            case 1 if parts:
                parts.insert(at, pick.choice(parts))
            case 2 if parts:
                parts.insert(at, parts.pop(pick.randrange(len(parts))))
            case _:
                parts.insert(at, pick.choice(_LINES))
    return "\n".join(parts)


def run(pick: random.Random, text: str) -> str:
    """Return a line with something very often in it, and perhaps some of them."""
    parts = text.split("\n")
    size = pick.choice((3, 9, 61, 90, 300, 1000, 3000))
    line = (
        pick.choice(_HEADS)
        + (pick.choice(_RUNS) * size)[:20_000]
        + pick.choice(("", "", "1", ")", "}", ">", '"', " x"))
    )
    for _ in range(pick.choice((1, 1, 1, 3, 30))):
        parts.insert(pick.randrange(len(parts) + 1), line)
    return "\n".join(parts)


def characters(pick: random.Random, text: str) -> str:
    """Characters flipped, put in, taken out."""
    for _ in range(pick.choice((1, 2, 5))):
        at = pick.randrange(len(text) + 1)
        new = chr(pick.choice((pick.randrange(128), pick.randrange(0x2FFF), pick.randrange(0x10000, 0x10FFFF), 0xDC80)))
        text = text[:at] + pick.choice(("", new, new * 2)) + text[at + pick.choice((0, 0, 1)) :]
    return text


def ends(pick: random.Random, text: str) -> str:
    """Other ends of lines, all or some."""
    if pick.random() < 0.4:
        return text.replace("\n", pick.choice(("\r\n", "\r")))
    return "".join(
        [pick.choice(("\r\n", "\r", "\n\r", "\n")) if c == "\n" and pick.random() < 0.3 else c for c in text]
    )


def names(pick: random.Random, text: str) -> str:
    """Return a name written otherwise: zeros in front, very long, with what Markdown would read."""
    found = list(_NAME.finditer(text))
    if not found:
        return text
    old = pick.choice(found).group()
    new = pick.choice(
        (
            old[0] + "0" * pick.choice((1, 20, 100)) + old[1:], old.lower(), old + "_" * 300, old[0] * 2000, old[0] + "9" * 40,
            f"{old}.x", f"{old}-1", f"_{old}", f"%{old}", f"{old}\u0301", pick.choice(found).group(),
        )
    )  # fmt: skip
    if pick.random() < 0.5:
        return re.sub(rf"(?<![\w.:%]){old}\b", new, text)
    at = pick.choice(found)
    return text[: at.start()] + new + text[at.end() :]


def numbers(pick: random.Random, text: str) -> str:
    """Return a number at an edge, or beyond one."""
    found = list(_NUMBER.finditer(text))
    for at in sorted(pick.sample(found, min(len(found), pick.choice((1, 1, 3)))), key=lambda m: -m.start()):
        new = pick.choice(
            ("0", "1", "3", "-1", "17", "64", "255", "256", "4097", "65535", "65536", "2147483648", "4294967296", "9" * 30,
             "9" * 5000, "0x10", "0b1", "1_0", "1.5", "", "00016")
        )  # fmt: skip
        text = text[: at.start()] + new + text[at.end() :]
    return text


def cut(pick: random.Random, text: str) -> str:
    """Return only a part of the text."""
    at = pick.randrange(len(text) + 1)
    return text[:at] if pick.random() < 0.5 else text[at:]


ODDITIES: Final[tuple[Callable[[random.Random, str], str], ...]] = (
    tokens, tokens, lines, lines, run, characters, ends, names, numbers, cut,
)  # fmt: skip


def odd(pick: random.Random, text: str) -> str:
    """Return a text with one oddity or a few."""
    for _ in range(pick.choice((1, 1, 1, 2, 3))):
        text = pick.choice(ODDITIES)(pick, text)
    return text


def edit(pick: random.Random, text: str) -> tuple[int, int, str]:
    """(start, end, new text) of one edit, as a user makes it and as no user would."""
    start = pick.randrange(len(text) + 1)
    match pick.randrange(6):
        case 0:
            return start, min(len(text), start + pick.choice((1, 2, 9, 200))), ""
        case 1:
            return start, start, pick.choice(TOKENS)
        case 2:
            start = text.rfind("\n", 0, start) + 1
            return start, start, pick.choice(_LINES) + "\n"
        case 3:
            start = text.rfind("\n", 0, start) + 1
            return start, text.find("\n", start) + 1 or len(text), pick.choice(("", pick.choice(_LINES) + "\n"))
        case 4:
            return start, start, pick.choice(("\r", "\n", "\r\n", "{", "}", "/*", "*/", '"'))
    return start, min(len(text), start + pick.choice((0, 1, 5))), pick.choice(TOKENS)
