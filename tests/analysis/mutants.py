"""Texts to compare on: real ones or generated ones, damaged in every way that editing damages a text."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from corpus import files

from benchmarks.inputs import generate
from visa_lsp.analysis import verdicts

if TYPE_CHECKING:
    import random

# What no promise is about is gone through at length in continuous integration; a developer's run takes a sample.
FACTOR = 20 if os.environ.get("CI") else 1

LINES = (
    '.function "foo"', "foo:", "{", "}", "/*", "*/", '.kernel "b"', "ret (M1, 1)", "jmp (M1, 1) foo", "call (M1, 1) foo",
    ".decl foo v_type=G type=d num_elts=8", "  x1:", ".input V32 offset=64 size=32", ".kernel_attr SLMSize=0", ".loc 12345",
    "add (M1, 8) foo(0,0)<1> foo(0,0)<1;1,0> 0x12345:d", ".version 4.2", "_x1:", "goto (M1, 8) _x1",
    ".decl V900 v_type=G type=f num_elts=16 align=hword alias=<V33, 0>",
)  # fmt: skip
# What changes the meaning of other lines: scopes, comments across lines, dialects, declarations that come late.
BLOCKS = (
    "{\n", "}\n", "{\n.decl V32 v_type=G type=f num_elts=16 align=hword\n}\n", "/*", "*/", "/* note\n", "end */\n",
    "{\n.decl Q1 v_type=G type=d num_elts=8 align=dword\n", ".decl Q1 v_type=G type=w num_elts=8 align=dword\n",
    ".decl Q2 v_type=G type=d num_elts=8 align=dword alias=<Q1, 0>\n", "mov (M1, 8) Q1(0,0)<1> Q2(0,0)<1;1,0>\r\n",
    "\tmov (M1, 8) V32(0,0)<1> Q1(0,0)<1;1,0>\n", "// é visa: ignore\n", "    mov (M1, 8) Q2(0,0)<1> Q1(0,0)<1;1,0>\n",
)  # fmt: skip
VERSIONS = ("4.2", "4.1", "4.", "4", "3.6", "", "4.10")
PIECES = (
    "V32", "V33", "V1", "P1", "0", "x", "\n", "\n\n", "/*", "*/", "//", '"', "(", ")", ",", " ", "\t", "\r\n", "é", "// é\n",
    "%", "$", "decl", ".", "%r0", "-", ":",
)  # fmt: skip


def forget_verdicts() -> None:
    """Have this process know nothing of any text, as one that was just started."""
    verdicts._verdicts.clear()


def sources(most_lines: int) -> list[str]:
    """Texts to start from."""
    texts = [path.read_text(encoding="utf-8") for path in files("dev*/*/*.visaasm", "errors/*.visaasm")]
    texts = [text for text in texts if text.count("\n") <= most_lines]
    return texts + [generate(seed, min(most_lines, 250)) for seed in range(20)]


def damaged(pick: random.Random, text: str) -> str:
    """Return a text with a few of its lines damaged."""
    lines = text.split("\n")
    for _ in range(pick.choice((0, 1, 1, 2, 5))):
        at = pick.randrange(len(lines))
        line = lines[at]
        words = line.split(" ")
        column = pick.randrange(len(line) + 1)
        match pick.randrange(11):
            case 0:
                words[pick.randrange(len(words))] = ""
                lines[at] = " ".join(words)
            case 1:
                words[pick.randrange(len(words))] = pick.choice(pick.choice(lines).split(" "))
                lines[at] = " ".join(words)
            case 2 if len(lines) > 1:
                del lines[at]
            case 3:
                lines.insert(pick.randrange(len(lines)), line)
            case 4:
                other = pick.randrange(len(lines))
                lines[at], lines[other] = lines[other], line
            case 5:
                lines[at] = line[:column] + pick.choice('V0x1(,)<>:;."/*%MP \t$') + line[column + pick.randrange(2) :]
            case 6:
                lines[at] = line[:column] + line[column + 1 :]
            case 7:
                lines[at] = line.replace("num_elts=8", "num_elts=2").replace("type=d", "type=w")
            case 8:
                step = pick.choice((0, 1, 40))
                lines[at] = re.sub(r"V([0-9]+)", lambda m, step=step: f"V{int(m.group(1)) + step}", line)
            case 9:
                lines.insert(at, pick.choice(LINES))
            case _:
                lines[at] = line + pick.choice((" // note", " /* x */", " junk", "\r"))
    return "\n".join(lines)


def edit(pick: random.Random, text: str) -> tuple[int, int, str]:
    """Return a random edit: (start, end, new text)."""
    at = pick.randrange(len(text) + 1)
    line = text.rfind("\n", 0, at) + 1
    version = text.find(".version ") + 9
    if version >= 9 and pick.random() < 0.05:
        end = text.find("\n", version)
        return version, end if end >= 0 else len(text), pick.choice(VERSIONS)
    match pick.randrange(8):
        case 0:
            return at, at, pick.choice(PIECES)
        case 1:
            return at, min(len(text), at + pick.choice((1, 1, 2, 10))), ""
        case 2:
            end = line
            for _ in range(pick.choice((1, 1, 2, 20))):
                end = text.find("\n", end) + 1 or len(text)
            return line, max(line, end), ""
        case 3:
            end = text.find("\n", at) + 1 or len(text)
            start = text.rfind("\n", 0, pick.randrange(len(text) + 1)) + 1
            return start, start, text[line:end]
        case 4:
            return line, line, pick.choice(LINES) + "\n"
        case 5:
            return at, min(len(text), at + pick.choice((0, 1, 30))), pick.choice(PIECES)
        case _:
            return line, line, pick.choice(BLOCKS)
