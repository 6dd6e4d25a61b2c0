"""A recogniser derived from the rules of the grammar: the same language and the same named nodes, in a fraction of the time.

Design: each expression of the grammar becomes one function from a position to the next one. Two things are left out that
the grammar's own machinery pays for: nodes that have no use (those without a name, and blanks), and a memory of what
matched where. Alternatives and repetitions that cannot begin with the next character are not tried, and are made when they
are first tried: most texts need a part of the grammar.
Price: without that memory an expression is matched again by each alternative that begins with it; the grammar nests
nothing behind two such alternatives, so that this costs a constant factor only.
Confidence: ``tests/syntax/test_recognise.py`` compares with the machinery's own tree on real and damaged lines.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from visa_lsp.syntax.grammar import rules
from visa_lsp.syntax.rules import Lookahead, OneOf, Quantifier, Regex, Sequence, To, Verbatim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from visa_lsp.syntax.rules import Expression, Rules

    # From a text and a position to the position behind the match, or to FAIL; the nodes of the match are appended.
    Matcher = Callable[[str, int, "list[Node]"], int]

FAIL: Final = -1
BLANK: Final = "_"
# Most often there are none: this pattern needs no asking.
BLANKS: Final = r"\s*"
# Blanks for ``re``, and none for the library that the grammar's machinery has its patterns of.
_SEPARATOR: Final = re.compile("[\x1c-\x1f]")


class Node(Struct, gc=False):
    """What matched a rule. ``parts`` are the nodes of rules directly below, blanks left out."""

    name: str
    full_text: str
    start: int
    end: int
    parts: list[Node]

    @property
    def text(self) -> str:
        """What matched."""
        return self.full_text[self.start : self.end]


@cache
def recogniser() -> Recogniser:
    """The recogniser of the grammar file."""
    return Recogniser(rules())


class Recogniser:
    """Reads texts by the first of some rules."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._usual = _Matchers(rules, re.compile)
        self._special: _Matchers | None = None

    def parse(self, text: str) -> Node | None:
        """The node of a whole text; None where the grammar does not fit."""
        found: list[Node] = []
        line = self._usual.line if _SEPARATOR.search(text) is None else self._of_separators()
        return found[0] if line(text, 0, found) == len(text) else None

    def _of_separators(self) -> Matcher:
        if self._special is None:
            import regex  # type: ignore[import-untyped]

            self._special = _Matchers(self._rules, regex.compile)
        return self._special.line


class _Matchers:
    """The functions that read by some rules, with patterns of one library."""

    def __init__(self, rules: Rules, compiled: Callable[[str], Any]) -> None:
        self._rules = rules
        self._compiled = compiled
        self._made: dict[str, Matcher] = {}
        self.line = self._rule(next(iter(rules)))

    def _rule(self, name: str) -> Matcher:
        known = self._made.get(name)
        if known is None:
            known = self._made[name] = self._matcher(self._rules[name], "" if name == BLANK else name)
        return known

    def _matcher(self, expr: Expression, name: str = "") -> Matcher:
        """What reads an expression; of a rule it makes a node of that name."""
        match expr:
            case To():
                return self._rule(expr.rule)
            case Verbatim():
                made = _literal(expr.text)
            case Regex():
                return self._named_regex(expr, name) if name else self._regex(expr)
            case Sequence():
                members = [self._matcher(member) for member in expr.members]
                return _named_sequence(members, name) if name else _sequence(members)
            case OneOf():
                able = _Able(self, expr.members)
                return _named_oneof(able, name) if name else _oneof(able)
            case Quantifier():
                made = _quantifier(_Able(self, [expr.member]), expr.least, expr.most)
            case Lookahead():
                made = _lookahead(self._matcher(expr.member), expr.negative)
        return _naming(name, made) if name else made

    def able(self, members: Iterable[Expression], c: str) -> list[Matcher]:
        """What reads those of some expressions that can match where a character comes next."""
        return [self._matcher(member) for member in members if self._begins(member, c) is not _Begins.NO]

    def _begins(self, expr: Expression, c: str) -> _Begins:
        match expr:
            case To():
                return self._begins(self._rules[expr.rule], c)
            case Verbatim():
                return _Begins.MAYBE if expr.text[:1] in ("", c) else _Begins.NO
            case Regex(pattern=pattern) if pattern == BLANKS:
                return _Begins.MAYBE if c.isspace() else _Begins.EMPTY
            case Regex():
                # Of other characters nothing is known.
                known = c != "" and c.isascii()
                return _Begins.NO if known and not expr.starts >> ord(c) & 1 else _Begins.MAYBE
            case Lookahead():
                return _Begins.EMPTY
            case Quantifier():
                begins = self._begins(expr.member, c)
                return _Begins.EMPTY if begins is _Begins.NO and expr.least == 0 else begins
            case OneOf():
                every = {self._begins(member, c) for member in expr.members}
                return next(begins for begins in (_Begins.MAYBE, _Begins.EMPTY, _Begins.NO) if begins in every)
            case Sequence():
                steps = (self._begins(member, c) for member in expr.members)
                return next((begins for begins in steps if begins is not _Begins.EMPTY), _Begins.EMPTY)

    def _regex(self, expr: Regex) -> Matcher:
        match = self._compiled(expr.pattern).match

        def blanks(text: str, at: int, _: list[Node]) -> int:
            return match(text, at).end() if text[at : at + 1].isspace() else at

        def regex(text: str, at: int, _: list[Node]) -> int:
            found = match(text, at)
            return FAIL if found is None else found.end()

        return blanks if expr.pattern == BLANKS else regex

    def _named_regex(self, expr: Regex, name: str) -> Matcher:
        match = self._compiled(expr.pattern).match

        def regex(text: str, at: int, found: list[Node]) -> int:
            match_ = match(text, at)
            if match_ is None:
                return FAIL
            end: int = match_.end()
            found.append(Node(name, text, at, end, []))
            return end

        return regex


# ---- a function for each class of expression; those that are most often rules also with a node: most of the time goes into calls ----


def _literal(literal: str) -> Matcher:
    length = len(literal)
    return lambda text, at, _: at + length if text.startswith(literal, at) else FAIL


def _sequence(members: list[Matcher]) -> Matcher:
    def sequence(text: str, at: int, found: list[Node]) -> int:
        known = len(found)
        for member in members:
            at = member(text, at, found)
            if at < 0:
                del found[known:]
                return FAIL
        return at

    return sequence


def _named_sequence(members: list[Matcher], name: str) -> Matcher:
    def sequence(text: str, at: int, found: list[Node]) -> int:
        start = at
        parts: list[Node] = []
        for member in members:
            at = member(text, at, parts)
            if at < 0:
                return FAIL
        found.append(Node(name, text, start, at, parts))
        return at

    return sequence


def _oneof(able: _Able) -> Matcher:
    def oneof(text: str, at: int, found: list[Node]) -> int:
        for member in able[text[at : at + 1]]:
            end = member(text, at, found)
            if end >= 0:
                return end
        return FAIL

    return oneof


def _named_oneof(able: _Able, name: str) -> Matcher:
    def oneof(text: str, at: int, found: list[Node]) -> int:
        parts: list[Node] = []
        for member in able[text[at : at + 1]]:
            end = member(text, at, parts)
            if end >= 0:
                found.append(Node(name, text, at, end, parts))
                return end
        return FAIL

    return oneof


def _quantifier(able: _Able, least: int, most: float) -> Matcher:
    def quantifier(text: str, at: int, found: list[Node]) -> int:
        known, size, count = len(found), len(text), 0
        while at < size and count < most and (members := able[text[at]]):
            end = members[0](text, at, found)
            if end < 0:
                break
            count += 1
            if count >= least and end == at:
                break
            at = end
        if count >= least:
            return at
        del found[known:]
        return FAIL

    return quantifier


def _lookahead(member: Matcher, negative: bool) -> Matcher:
    def lookahead(text: str, at: int, _: list[Node]) -> int:
        return at if (member(text, at, []) < 0) == negative else FAIL

    return lookahead


def _naming(name: str, plain: Matcher) -> Matcher:
    def named(text: str, at: int, found: list[Node]) -> int:
        parts: list[Node] = []
        end = plain(text, at, parts)
        if end >= 0:
            found.append(Node(name, text, at, end, parts))
        return end

    return named


class _Able(dict[str, list["Matcher"]]):
    """Which of some expressions can match where a character comes next, worked out when it first does."""

    def __init__(self, matchers: _Matchers, members: Iterable[Expression]) -> None:
        super().__init__()
        self._matchers = matchers
        self._members = members

    def __missing__(self, c: str) -> list[Matcher]:
        able = self._matchers.able(self._members, c)
        if c.isascii():  # of others there are too many to keep
            self[c] = able
        return able


class _Begins(Enum):
    """What an expression does where a certain character comes next."""

    NO = "it does not match"
    EMPTY = "if it matches, it takes nothing"
    MAYBE = "it may match"
