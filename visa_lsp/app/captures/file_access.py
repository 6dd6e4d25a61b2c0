"""Refuses sources of captures that would make the compiler open other files than those of the capture.

The text is read as a compiler reads it: trigraphs, line splices, comments, then tokens; directives are those lines that
begin with ``#``, ``%:`` or ``??=``. Invariant: a directive that is not known to open no file is refused, whatever condition it
is under, because the macros of the compiler are not known here.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.app.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SPLICE: Final = re.compile(r"\\[ \t\f\v]*(?:\r\n|\n\r|\n|\r)")
_TOKEN: Final = re.compile(
    r"(?P<newline>\r\n|\n\r|\n|\r)|(?P<blank>(?:[^\S\r\n])+|//[^\r\n]*|/\*[\s\S]*?(?:\*/|\Z))"
    r'|(?P<string>"(?:[^"\\\r\n]|\\.)*"?|\'(?:[^\'\\\r\n]|\\.)*\'?)|(?P<word>[^\W\d][\w$]*)|(?P<hash>#|%:)|(?P<other>[\s\S])'
)
_RAW: Final = frozenset({"R", "u8R", "uR", "UR", "LR"})
_INCLUDES: Final = frozenset({"include", "include_next", "import", "embed"})
_CONDITIONS: Final = frozenset({"if", "elif"})
_HARMLESS: Final = frozenset(
    {"define", "undef", "ifdef", "ifndef", "elifdef", "elifndef", "else", "endif", "line", "error", "warning", "pragma", "ident"}
)  # fmt: skip
_NAME: Final = re.compile(r'"[\w+ -][\w./+ -]*"|<[\w+-][\w./+-]*>')
_PROBES: Final = ("__has_include", "__has_embed")
# Pragmas of the compiler that name a file, or load one.
_PRAGMAS: Final = ("dependency", "include_alias", "module", "__debug")
_DEFINITION: Final = re.compile(r"-D\s*([^\s=]+)=?(.*?)(?=\s-\w|$)", re.MULTILINE)


class _Token(NamedTuple):
    kind: str
    text: str


def refuse_file_access(name: str, text: str, options: str = "") -> None:
    """Raise UserError if a source, compiled with the definitions of ``options``, may open a file outside of the capture."""
    defined = "".join(f"#define {word} {value}\n" for word, value in _DEFINITION.findall(options.replace('"', " ")))
    # Whether trigraphs count depends on the options of the compiler.
    for variant in dict.fromkeys((text, text.replace("??=", "#").replace("??/", "\\"))):
        problem = _Directives(defined + variant).problem()
        if problem:
            raise UserError(f"{name}: {problem}")


class _Directives:
    """The directives of a text, each with its tokens without blanks, and what they define."""

    def __init__(self, text: str) -> None:
        tokens = [_Token(hit.lastgroup or "", hit[0]) for hit in _TOKEN.finditer(_SPLICE.sub("", text))]
        self._is_raw = any(a.text in _RAW and b.text[:1] == '"' for a, b in pairwise(tokens))
        self._lines = list(_directives(tokens))
        self._words = {token.text for token in tokens if token.kind == "word"}
        self._strings = "".join(token.text for token in tokens if token.kind == "string")

    def problem(self) -> str:
        """Return a message about the first refused directive; empty if there is none."""
        if self._is_raw:
            return "has a raw string, whose end depends on the language of the source"
        if "_Pragma" in self._words and any(word in self._strings or word in self._words for word in _PRAGMAS):
            return "has a pragma that opens a file outside of the capture"
        pasting = self._list_pasting()
        return next(filter(None, (_problem_of(line, pasting) for line in self._lines)), "")

    def _list_pasting(self) -> set[str]:
        """Return the macros that paste tokens, themselves or by macros in them."""
        bodies = {line[1].text: line[2:] for line in self._lines if line[0].text == "define" and len(line) > 1}
        pasting: set[str] = set()
        while True:
            added = {
                name
                for name, body in bodies.items()
                if name not in pasting
                and (
                    any(a.kind == b.kind == "hash" for a, b in pairwise(body))
                    or any(token.text in pasting for token in body)
                )
            }
            if not added:
                return pasting
            pasting |= added


def _directives(tokens: Sequence[_Token]) -> Iterator[list[_Token]]:
    """Yield the tokens of each directive after its sign."""
    line: list[_Token] = []
    for token in (*tokens, _Token("newline", "\n")):
        if token.kind == "newline":
            if line and line[0].kind == "hash":
                yield line[1:] or [_Token("blank", "")]
            line = []
        elif token.kind != "blank":
            line.append(token)


def _problem_of(line: Sequence[_Token], pasting: set[str]) -> str:
    """Return a message about a directive that may open a file outside of the capture; empty for any other."""
    word, rest = line[0].text, line[1:]
    if word in _INCLUDES:
        return "" if _is_plain(rest) else "includes a file outside of the capture, or one that a macro names"
    if word == "pragma":
        names = {token.text for token in rest[:2]}
        return "has a pragma that opens a file outside of the capture" if names & set(_PRAGMAS) else ""
    if word not in _HARMLESS | _CONDITIONS and word and not word.isdigit():
        return f"has an unknown directive: #{word}"
    if word in _CONDITIONS and any(token.text in pasting for token in rest):
        return "has a condition that pastes tokens, which may test for a file outside of the capture"
    for index, token in enumerate(rest):
        if token.text.startswith(_PROBES):
            before = [previous.text for previous in rest[max(0, index - 2) : index]]
            is_named_only = word in ("ifdef", "ifndef") or before[-1:] == ["defined"] or before == ["defined", "("]
            close = next((n for n in range(index, len(rest)) if rest[n].text == ")"), len(rest))
            if not is_named_only and not (
                rest[index + 1 : index + 2] == [_Token("other", "(")] and _is_plain(rest[index + 2 : close])
            ):
                return "tests for a file outside of the capture, or one that a macro names"
    return ""


def _is_plain(tokens: Sequence[_Token]) -> bool:
    """Return whether tokens are the name of a file below the folder of the source."""
    name = "".join(token.text for token in tokens)
    return _NAME.fullmatch(name) is not None and ".." not in name
