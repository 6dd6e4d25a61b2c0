"""The tokens of C-like texts, read one by one so that a mistake has only a local effect.

Invariant: of a conditional, only the tokens of its first possible branch are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from visa_lsp.embed.literals import C_RAW, C_STRING

_TOKEN: Final = re.compile(
    rf"(?P<blank>(?:\s|\\\r?\n)+|//(?:[^\\\n]|\\\r?\n|\\.)*|/\*[\s\S]*?(?:\*/|\Z))|(?P<raw>{C_RAW})|(?P<string>{C_STRING})"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<other>'(?:[^'\\\n]|\\.)*'?|\d[\w.]*|[\s\S])"
)
_DIRECTIVE: Final = re.compile(r"#[ \t]*(?P<word>\w*)(?P<rest>(?:[^\\\n]|\\\r?\n|\\.)*)")


QUALIFIERS: Final = frozenset(
    {"volatile", "__volatile__", "__volatile", "inline", "__inline", "__inline__", "goto", "const"}
)


class HostToken(NamedTuple):
    """A token: its kind (``raw``, ``string``, ``word``, ``other``) and its place."""

    kind: str
    start: int
    end: int


def tokens_in(text: str, start: int, end: int, *, directives: bool) -> Iterator[HostToken]:
    """Yield the tokens of a part of the text; of a conditional, only those of its first possible branch."""
    offset = start
    branches: list[tuple[bool, bool]] = []  # for each open conditional: was a branch taken, is the current one read
    fresh = False  # whether only blanks precede this token in its line
    while offset < end:
        hit = _TOKEN.match(text, offset, end)
        if hit is None:
            return
        kind = hit.lastgroup or "other"
        if directives and fresh and text[offset] == "#":
            directive = _DIRECTIVE.match(text, offset, end)
            assert directive is not None
            _branch(branches, directive["word"], is_false=directive["rest"].strip() == "0")
            offset = directive.end()
            continue
        if kind == "blank":
            fresh = "\n" in hit[0]
        else:
            fresh = False
            if all(read for _, read in branches):
                yield HostToken("raw" if kind == "delimiter" else kind, hit.start(), hit.end())
        offset = hit.end()


def _branch(branches: list[tuple[bool, bool]], word: str, *, is_false: bool) -> None:
    """Update the open conditionals by a directive: only the first possible branch of a conditional is read."""
    if word.startswith("if"):
        read = word != "if" or not is_false
        branches.append((read, read))
    elif word.startswith("el") and branches:
        taken = branches[-1][0]
        read = not taken and not is_false
        branches[-1] = taken or read, read
    elif word == "endif" and branches:
        branches.pop()
