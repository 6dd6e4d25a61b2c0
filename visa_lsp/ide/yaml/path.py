"""Finds the keys and list entries around an offset of an incomplete YAML text.

Uses indentation and open brackets, because an incomplete text is seldom valid YAML. Knows no key of any format.
Invariant: never raises, and an unclosed bracket has no effect after the next line that begins outside of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from visa_lsp.text import Span, with_newlines

Step = str | int

_NAME: Final = r"(?:[^\W\d]|\d)[\w.$-]*"
_LINE: Final = re.compile(rf"( *)((?:-(?: +|$))*)(?:({_NAME}|'[^'\n]*'|\"[^\"\n]*\") *:(?=\s|$))?")
_TOKEN: Final = re.compile(
    rf"(?P<quoted>'(?:[^'\n]|'')*'|\"(?:[^\"\\\n]|\\.)*\")(?P<colon> *:(?=\s|$))?"
    rf"|(?P<key>{_NAME}) *:(?=\s|$)|(?P<word>[^\s\[\]{{}},#'\"]+)|(?P<open>[\[{{])|(?P<close>[\]}}])|(?P<comma>,)"
    r"|(?P<line>\n *)|(?P<comment>(?<=[ \t\n])#[^\n]*)|(?P<other>.)"
)
_BEGIN: Final = re.compile(r"[^\W\d]|- ")
_WORD: Final = re.compile(r"(?:\w[\w./-]*)?$")
_REST: Final = re.compile(r"[\w./-]*")
_COMMENT: Final = re.compile(r"(?:^|\s)#")


@dataclass(frozen=True, slots=True)
class YamlPath:
    """A place: ``steps`` lead to the map or list around it, keys and numbers of entries from 0.

    ``key`` is the key, or the number of the entry, whose value is there; None at a key. ``keys`` are the other keys of the
    map, ``word`` is the word at the offset.
    """

    steps: tuple[Step, ...]
    key: Step | None
    keys: frozenset[str]
    word: Span


@dataclass(slots=True)
class _Open:
    """An open bracket: its place, and the key or number of its current entry."""

    offset: int
    is_map: bool
    key: str | None = None
    index: int = 0
    keys: set[str] = field(default_factory=set)

    @property
    def step(self) -> Step | None:
        return self.key if self.is_map else self.index


def path_at(text: str, offset: int) -> YamlPath | None:
    """Return the path of an offset; None in a comment."""
    text = with_newlines(text)
    start = text.rfind("\n", 0, offset) + 1
    line = text[start:offset]
    typed = _WORD.search(line)
    word_start = offset if typed is None else start + typed.start()
    rest = _REST.match(text, offset)
    word = Span(word_start, rest.end() if rest is not None else offset)
    stack = _open_brackets(text, word_start)
    if stack is None:
        return None
    if not stack:
        return _in_block(text, start, word)
    outer = _in_block(text, text.rfind("\n", 0, stack[0].offset) + 1, Span(stack[0].offset, stack[0].offset))
    if outer is None:
        return None
    steps = [*outer.steps] if outer.key is None else [*outer.steps, outer.key]
    steps += [bracket.step for bracket in stack[:-1] if bracket.step is not None]
    last = stack[-1]
    keys = (last.keys | _keys_behind(text, word.end)) - {last.key} if last.is_map else set()
    return YamlPath(tuple(steps), last.step, frozenset(k for k in keys if k is not None), word)


def _open_brackets(text: str, end: int) -> list[_Open] | None:
    """Return the open brackets before an offset, outermost first; None inside of a comment."""
    stack: list[_Open] = []
    margin = 0  # margin of the line with the outermost bracket
    for token in _TOKEN.finditer(text, 0, end):
        kind = token.lastgroup
        if token["comment"] is not None:
            if token.end() == end and "\n" not in text[token.start() : end]:
                return None
            continue
        if kind == "line":
            if stack and _begins_outside(text, token.end(), len(token[0]) - 1, margin):
                stack.clear()
        elif kind == "open":
            if not stack:
                line = text.rfind("\n", 0, token.start()) + 1
                margin = len(text[line : token.start()]) - len(text[line : token.start()].lstrip(" "))
            stack.append(_Open(token.start(), token[0] == "{"))
        elif not stack:
            continue
        elif kind == "close":
            stack.pop()
        elif kind == "comma":
            stack[-1].index += 1
            stack[-1].key = None
        elif kind == "key" or token["colon"] is not None:
            stack[-1].key = token["key"] or token["quoted"][1:-1]
            stack[-1].keys.add(stack[-1].key)
    return stack


def _begins_outside(text: str, offset: int, column: int, margin: int) -> bool:
    """Return whether the line of an offset begins a new entry outside of a bracket that was opened at a margin."""
    if column > margin:
        return False
    return _BEGIN.match(text, offset) is not None


def _keys_behind(text: str, offset: int) -> set[str]:
    """Return the keys, after an offset, of the map in brackets around it."""
    keys: set[str] = set()
    depth = 0
    for token in _TOKEN.finditer(text, offset, offset + 4000):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
            if depth < 0:
                break
        elif kind == "line" and _begins_outside(text, token.end(), len(token[0]) - 1, 0):
            break
        elif kind == "key" and depth == 0:
            keys.add(token["key"])
    return keys


def _in_block(text: str, start: int, word: Span) -> YamlPath | None:
    """Return the path of a word in the line that begins at ``start``, using the lines around it."""
    match = _LINE.match(text, start, max(start, word.end))
    if match is None or _COMMENT.search(text, start, word.start):
        return None
    column = len(match[1]) + len(match[2])
    # because a word without a colon is not a key yet
    typed = _unquote(match[3]) if match[3] is not None and match.end() <= word.start else None
    lines = text[:start].split("\n")[:-1]
    steps, keys = _above(lines, column, len(match[1]) if match[2] else None)
    keys |= _below(text[start:].split("\n")[1:], column)
    return YamlPath(tuple(steps), typed, frozenset(keys), word)


def _above(lines: list[str], column: int, dash: int | None) -> tuple[list[Step], set[str]]:
    """Return the steps to the map at a column below the lines, and its keys above.

    ``dash`` is the column of the dash that begins the map, once it is known.
    """
    steps: list[Step] = []
    keys: set[str] = set()
    map_column, own, index = column, True, 0
    for line in reversed(lines):
        match = _LINE.match(line)
        if match is None or (match[3] is None and not match[2]) or not line.strip():
            continue
        indent, key = len(match[1]), match[3]
        key_column, dash_column = indent + len(match[2]), indent if match[2] else None
        if dash is not None and dash_column == dash:
            index += 1
        elif dash is None and key is not None and key_column == map_column:
            if own:
                keys.add(_unquote(key))
            dash = dash_column
        elif key is not None and (key_column < map_column if dash is None else key_column <= dash):
            if dash is not None:
                steps.insert(0, index)
            steps.insert(0, _unquote(key))
            map_column, own, dash, index = key_column, False, dash_column, 0
    if dash is not None:
        steps.insert(0, index)
    return steps, keys


def _below(lines: list[str], column: int) -> set[str]:
    """Return the keys of a map at a column in the lines below."""
    keys: set[str] = set()
    for line in lines:
        match = _LINE.match(line)
        if match is None or not line.strip():
            continue
        if len(match[1]) + len(match[2]) < column or (match[2] and len(match[1]) < column):
            break
        if len(match[1]) == column and match[3]:
            keys.add(_unquote(match[3]))
    return keys


def _unquote(key: str) -> str:
    return key[1:-1] if key[:1] in ("'", '"') else key
