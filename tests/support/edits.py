"""Random edits of a long text, as a user makes them and as no user would."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

NAME = re.compile(r"(?<![\w.:%])(?:[VPAT][0-9]+|_[A-Za-z0-9_]+)\b")
_SCRAPS = (
    " ", "\n", "x", "//", "/* ", " */", '"', ",", "V", "r[A0(0)]<1;1,0>:d", "\t", "é", "\U0001f600", "0x1ff:ud",
    "\r\n", "  // visa: ignore\n", ":", "\n_label:\n", "\x01", "%null", "abs",
)  # fmt: skip
_LINES = (
    ".decl V7001 v_type=G type=d num_elts=8 align=GRF",
    ".decl V7002 v_type=G type=f num_elts=16 alias=<V7001, 0>",
    ".decl P7003 v_type=P num_elts=16",
    ".decl abs v_type=A num_elts=2",
    "    mov (M1, 8) V7001(0,0)<1> V7002(0,0)<1;1,0>",
    "    add  (M1,8)   V7001(0,0)<1> V7001(0,0)<1;1,0> 0x1ff:d   // sum",
    "    (P7003) goto (M1, 8) _there",
    "_there:",
    '.function "sub"',
    "sub:",
    "    ret (M1, 1)",
    '.kernel "other"',
    ".input V7001 offset=32 size=32",
    "",
    "// a comment of its own",
    ".version 3.6",
)


def random_edit(text: str, draw: random.Random) -> tuple[int, int, str]:
    """(start, end, new text) of one edit."""
    at = draw.randrange(len(text) + 1)
    kind = draw.random()
    if kind < 0.3:
        return at, at, draw.choice(_SCRAPS)
    if kind < 0.31:
        # Scopes make every question one about the whole text: seldom, so that the rest is met too.
        return at, at, draw.choice("{}")
    if kind < 0.45:
        return at, min(len(text), at + draw.choice((1, 1, 3, 40))), ""
    line = text.rfind("\n", 0, at) + 1
    behind = text.find("\n", at) + 1 or len(text)
    if kind < 0.6:
        return line, line, draw.choice(_LINES) + "\n"
    if kind < 0.7:
        return line, behind, ""
    if kind < 0.75:
        return line, line, text[line : line + draw.choice((200, 3000, 9000))]
    if kind < 0.78:
        return at, min(len(text), at + draw.choice((500, 8000))), ""
    names = list(NAME.finditer(text, line, behind))
    if not names:
        return at, at, "x"
    name = draw.choice(names)
    return name.start(), name.end(), draw.choice((name.group() + "7", "V7001", "abs", "_there", "%r0", "P7003"))
