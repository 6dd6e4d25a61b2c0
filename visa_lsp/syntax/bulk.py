"""Reads a block of lines in bulk: a few regular expressions over the whole block instead of work per line.

Returns the facts of a block that do not depend on other blocks: its directives, declarations, labels, names. Knows no
instructions and checks nothing; only the grammar defines the meaning of a line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from sys import intern
from typing import Final

from msgspec import Struct

from visa_lsp.syntax.comments import is_continued, join_lines
from visa_lsp.syntax.tree import FILE_MARK, LINE_MARK

_LINE_COMMENT: Final = re.compile(r"//[^\n]*")
_QUOTE_FIRST: Final = re.compile(r'"[^\n]*//')
_QUOTED_OR_COMMENT: Final = re.compile(r'("(?:\\[^\n]|[^"\\\n])*"?)|//[^\n]*')
# A blank of the grammar, which allows fewer characters than ``\s``.
_BLANK: Final = r"[^\S\n\x1c-\x1f]"
# Every line is preceded by a newline here, so that the search runs from newline to newline.
_MARK: Final = f"(?:{FILE_MARK[1:]}|{LINE_MARK[1:]})(?![A-Za-z0-9_])"  # after the dot
_DIRECTIVE: Final = re.compile(rf"\n{_BLANK}*+(?:\.(?!{_MARK})|[{{}}])[^\n]*")
_DECL: Final = re.compile(
    rf"\n{_BLANK}*+(?:\{{{_BLANK}*+)*+\.decl{_BLANK}++([%A-Za-z_$@?][A-Za-z0-9_$@?-]*+)[^\S\n]++([^\n]*)"
)
# A directive that is not a declaration.
_SPECIAL: Final = re.compile(
    rf"\n{_BLANK}*+(?:\.(?!{_MARK}|decl{_BLANK}++[%A-Za-z_$@?][A-Za-z0-9_$@?-]*+[^\S\n])|[{{}}])[^\n]*"
)
# Includes labels outside of the first column, which are wrong there but still define their names.
_LABEL: Final = re.compile(rf"\n{_BLANK}*+([A-Za-z_$@?][A-Za-z0-9_$@?-]*+){_BLANK}*+:[^\S\n]*+(?:\}}[^\S\n]*+)*+(?=\n)")
# A brace on the line of a statement, or several braces on a line; finds all of these, and possibly other lines.
_BRACED: Final = re.compile(
    r"\n(?:[^\S\n]*(?:\{[^\S\n]*[^\s]|\}[^\S\n]*\S)|[^\S\n]*[^\s{}][^\n{}]*\}|[^\n]*\}[^\n{}]*\})"
)
_BODY: Final = re.compile(rf"{_BLANK}*\.(?:kernel|global_function)(?![A-Za-z0-9_])")
_BODY_LINE: Final = re.compile(rf"\n{_BODY.pattern}")
_BODY_LINE_AFTER_COMMENT: Final = re.compile(rf"\n(?:[^\n]*\*/)?{_BODY.pattern}")
# The first character of a relevant name or number, after an ASCII blank or any sign except a dot, a colon and `%`. In
# this order, because a pattern that begins with a set of characters is searched quickly.
_FIRST: Final = r"[A-Za-z_0-9](?<=[\x00-\x20!\"#&'()*+,/;<=>?@\[\\\]^`{|}~$\-].)"
_VALUE: Final = rf"(?<=0)[xX][0-9a-fA-F]{{3,}}+(?=:)|(?<={re.escape(LINE_MARK)} [0-9])[0-9]*+"
# Group 1 is the text that `classes` replaces: names with a digit, or every name; and immediates of three or more digits.
TOKEN: Final = re.compile(f"({_FIRST}(?:(?<=[A-Za-z_])[A-Za-z_]*+[0-9][A-Za-z0-9_]*+|{_VALUE}))")
LETTERS_TOKEN: Final = re.compile(f"({_FIRST}(?:(?<=[A-Za-z_])[A-Za-z0-9_]*+|{_VALUE}))")
# Every name and number, as group 1.
WORD: Final = re.compile(r"(%?[A-Za-z_$@?][A-Za-z0-9_$@?]*|[0-9][A-Za-z0-9_]*)")
NARROW_NAME: Final = re.compile(r"[A-Za-z_]+[0-9][A-Za-z0-9_]*")
PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONTROL: Final = re.compile(r"[^\t\n\r -~]")
_PLAIN: Final = bytes(range(0x20, 0x7F)) + b"\n"
# Longer lines are not read in bulk, because the parser refuses the longest ones by their length.
_MAX_BULK_LINE_CHARS: Final = 4000


def code_of(text: str, in_block: bool) -> str:
    """Return the lines of a block without comments and line ends, each with a newline before it.

    A statement of several lines is one line, followed by blank lines.
    """
    if in_block or "/*" in text or is_continued(text):
        return "\n" + "\n".join(join_lines(text, in_block).codes)
    if "//" in text:
        quoted = '"' in text and _QUOTE_FIRST.search(text) is not None
        text = _QUOTED_OR_COMMENT.sub(r"\1", text) if quoted else _LINE_COMMENT.sub("", text)
    return "\n" + text


def declares(code: str) -> bool:
    """Return whether a line without its comment is a declaration listed in ``Facts``; others are left to the grammar."""
    return _DECL.match("\n" + code) is not None


class Facts(Struct):
    """The facts of a single block.

    ``decls`` and ``properties`` are parallel; ``specials`` are all other directives. ``braced`` blocks may have braces
    on the lines of statements, about which the facts say nothing. ``strange`` blocks have characters or line lengths
    that bulk reading does not support, so that their lines are judged alone.
    """

    decls: tuple[str, ...]
    properties: tuple[str, ...]
    specials: tuple[tuple[int, str], ...]
    labels: tuple[str, ...]
    has_code: bool
    mixed: bool
    strange: bool
    scopes: bool
    narrow: bool
    opens_body: bool
    braced: bool = False


def facts_of(code: str) -> Facts:
    """Return the facts of a block; equal texts in the facts of all blocks are one object."""
    braced = ("{" in code or "}" in code) and _BRACED.search(code) is not None
    plain = code.isascii() and not code.encode("ascii").translate(None, _PLAIN)
    pairs = _DECL.findall(code)
    specials: list[tuple[int, str]] = []
    scopes = mixed = False
    offset = line = 0
    for match in _SPECIAL.finditer(code):
        text = match.group()
        line += code.count("\n", offset, match.start())
        offset = match.start()
        specials.append((line, text[1:].rstrip()))
        scopes = scopes or text.lstrip()[0] in "{}"
    labels = tuple(_LABEL.findall(code + "\n")) if ":" in code else ()
    decls = tuple([intern(name) for name, _ in pairs])
    properties = tuple([intern(r) for r in [rest.rstrip() for _, rest in pairs]])
    rest = _DIRECTIVE.sub("\n", code) if pairs or specials else code
    has_code = bool(rest) and not rest.isspace()
    if has_code and decls:
        first_sign = re.compile(r"\S").search(rest)
        assert first_sign is not None
        # Directives are removed from ``rest``, so that only a declaration after its first line of code is out of order.
        mixed = _DECL.search(code, nth_line(code, rest.count("\n", 0, first_sign.start()))) is not None
    narrow = all(map(NARROW_NAME.fullmatch, decls)) and all(map(NARROW_NAME.fullmatch, labels))
    strange = not plain and _CONTROL.search(code) is not None
    strange = strange or (len(code) > _MAX_BULK_LINE_CHARS and max(map(len, code.split("\n"))) > _MAX_BULK_LINE_CHARS)
    opens = opens_body(specials)
    scopes = scopes or braced
    return Facts(
        decls, properties, tuple(specials), labels, has_code, mixed, strange, scopes, narrow, opens, braced=braced
    )


def opens_body(specials: Sequence[tuple[int, str]]) -> bool:
    """Return whether the first line of a block with these directives opens a kernel or function."""
    return bool(specials) and specials[0][0] == 0 and _BODY.match(specials[0][1]) is not None


def nth_line(code: str, number: int, offset: int = 0) -> int:
    """Return the start of a line of ``code``, counted from the line at ``offset``, without splitting the text into lines."""
    for _ in range(number):
        offset = code.find("\n", offset) + 1
    return offset


def bodies_of(text: str) -> list[int]:
    """Return the starts of lines that look like the head of a kernel or function, without the first line."""
    pattern = _BODY_LINE_AFTER_COMMENT if "*/" in text else _BODY_LINE
    return [match.start() + 1 for match in pattern.finditer(text)]


def instructions_of(code: str, facts: Facts) -> str:
    """Return the block with its directives blanked; the number of lines stays."""
    return _DIRECTIVE.sub("\n", code) if facts.decls or facts.specials else code


def instruction_of(code: str) -> str:
    """Return a line, blank if it is a directive."""
    return "" if _DIRECTIVE.match("\n" + code) else code


def classes(code: str, tokens: Mapping[str, str], pattern: re.Pattern[str] = WORD) -> list[str]:
    """Return the lines of a block with a token in place of each word; lines of one class are then equal."""
    return list(map(str.rstrip, replace_words(pattern.split(code), tokens).split("\n")[1:]))


def replace_words(pieces: list[str], tokens: Mapping[str, str]) -> str:
    """Return the text of pieces, alternately a word and the text between, with tokens for words; consumes the pieces."""
    pieces[1::2] = map(tokens.__getitem__, pieces[1::2])
    return "".join(pieces)


def decl_offsets(code: str) -> list[int]:
    """Return the line of each declaration of a block, in the order of ``Facts.decls``."""
    offsets, position, line = [], 0, -1
    for match in _DECL.finditer(code):
        line += code.count("\n", position, match.start() + 1)
        position = match.start() + 1
        offsets.append(line)
    return offsets


def label_offsets(code: str) -> list[tuple[int, str]]:
    """Return (line, name) of each label of a block."""
    labels, position, line = [], 0, -1
    for match in _LABEL.finditer(code + "\n"):
        line += code.count("\n", position, match.start() + 1)
        position = match.start() + 1
        labels.append((line, match.group(1)))
    return labels
