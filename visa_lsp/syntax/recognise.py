"""A recogniser derived from the built grammar: the same language and the same named nodes, in a fraction of the time.

Design: each expression of the grammar becomes one function from a position to the next one. Two things are left out that
the grammar's own machinery pays for: nodes that have no use (those without a name, and blanks), and a memory of what
matched where. Alternatives and repetitions that cannot begin with the next character are not tried.
Price: without that memory an expression is matched again by each alternative that begins with it; the grammar nests
nothing behind two such alternatives, so that this costs a constant factor only.
Confidence: ``tests/syntax/test_recognise.py`` compares with the machinery's own tree on real and damaged lines.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from visa_lsp.syntax.grammar import grammar

if TYPE_CHECKING:
    from collections.abc import Callable

    from parsimonious.grammar import Grammar

    # From a text and a position to the position behind the match, or to FAIL; the nodes of the match are appended.
    Matcher = Callable[[str, int, "list[Node]"], int]

FAIL: Final = -1
BLANK: Final = "_"
# Most often there are none: this pattern needs no asking.
BLANKS: Final = r"\s*"
_NAMED: Final = frozenset({"regex", "sequence", "oneof"})


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
    return Recogniser(grammar())


class Recogniser:
    """Reads texts by the default rule of a grammar."""

    def __init__(self, rules: Grammar) -> None:
        self._matchers: dict[int, Matcher] = {}
        self._line = self._matcher(rules.default_rule)

    def parse(self, text: str) -> Node | None:
        """The node of a whole text; None where the grammar does not fit."""
        found: list[Node] = []
        return found[0] if self._line(text, 0, found) == len(text) else None

    def _matcher(self, expr: Any) -> Matcher:
        known = self._matchers.get(id(expr))
        if known is not None:
            return known

        def again(text: str, at: int, found: list[Node]) -> int:
            return self._matchers[id(expr)](text, at, found)

        self._matchers[id(expr)] = again  # for a rule that is met again below itself
        kind = type(expr).__name__.lower()
        if expr.name in ("", BLANK):
            made: Matcher = getattr(self, f"_{kind}")(expr)
        elif kind in _NAMED:
            # In one function what would be two: most of the time goes into calls.
            made = getattr(self, f"_named_{kind}")(expr)
        else:
            made = _naming(expr.name, getattr(self, f"_{kind}")(expr))
        self._matchers[id(expr)] = made
        return made

    # ---- one method for each class of expression ----

    def _literal(self, expr: Any) -> Matcher:
        literal, length = expr.literal, len(expr.literal)
        return lambda text, at, _: at + length if text.startswith(literal, at) else FAIL

    def _regex(self, expr: Any) -> Matcher:
        match = expr.re.match

        def blanks(text: str, at: int, _: list[Node]) -> int:
            return match(text, at).end() if text[at : at + 1].isspace() else at

        def regex(text: str, at: int, _: list[Node]) -> int:
            found = match(text, at)
            return FAIL if found is None else found.end()

        return blanks if expr.re.pattern == BLANKS else regex

    def _sequence(self, expr: Any) -> Matcher:
        members = [self._matcher(member) for member in expr.members]

        def sequence(text: str, at: int, found: list[Node]) -> int:
            known = len(found)
            for member in members:
                at = member(text, at, found)
                if at < 0:
                    del found[known:]
                    return FAIL
            return at

        return sequence

    def _oneof(self, expr: Any) -> Matcher:
        able = _Able([(member, self._matcher(member)) for member in expr.members])

        def oneof(text: str, at: int, found: list[Node]) -> int:
            for member in able[text[at : at + 1]]:
                end = member(text, at, found)
                if end >= 0:
                    return end
            return FAIL

        return oneof

    def _quantifier(self, expr: Any) -> Matcher:
        member, least, most = self._matcher(expr.members[0]), expr.min, expr.max
        able = _Able([(expr.members[0], member)])

        def quantifier(text: str, at: int, found: list[Node]) -> int:
            known, size, count = len(found), len(text), 0
            while at < size and count < most and able[text[at]]:
                end = member(text, at, found)
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

    def _lookahead(self, expr: Any) -> Matcher:
        member, negative = self._matcher(expr.members[0]), expr.negativity

        def lookahead(text: str, at: int, _: list[Node]) -> int:
            return at if (member(text, at, []) < 0) == negative else FAIL

        return lookahead

    # ---- the same of those that are rules ----

    def _named_regex(self, expr: Any) -> Matcher:
        match, name = expr.re.match, expr.name

        def regex(text: str, at: int, found: list[Node]) -> int:
            match_ = match(text, at)
            if match_ is None:
                return FAIL
            end: int = match_.end()
            found.append(Node(name, text, at, end, []))
            return end

        return regex

    def _named_sequence(self, expr: Any) -> Matcher:
        members, name = [self._matcher(member) for member in expr.members], expr.name

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

    def _named_oneof(self, expr: Any) -> Matcher:
        able, name = _Able([(member, self._matcher(member)) for member in expr.members]), expr.name

        def oneof(text: str, at: int, found: list[Node]) -> int:
            parts: list[Node] = []
            for member in able[text[at : at + 1]]:
                end = member(text, at, parts)
                if end >= 0:
                    found.append(Node(name, text, at, end, parts))
                    return end
            return FAIL

        return oneof


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

    def __init__(self, members: list[tuple[Any, Matcher]]) -> None:
        super().__init__()
        self._members = members

    def __missing__(self, c: str) -> list[Matcher]:
        able = [matcher for expr, matcher in self._members if _begins(expr, c) is not _Begins.NO]
        if c.isascii():  # of others there are too many to keep
            self[c] = able
        return able


class _Begins(Enum):
    """What an expression does where a certain character comes next."""

    NO = "it does not match"
    EMPTY = "if it matches, it takes nothing"
    MAYBE = "it may match"


def _begins(expr: Any, c: str) -> _Begins:
    match type(expr).__name__:
        case "Literal":
            return _Begins.MAYBE if expr.literal[:1] in ("", c) else _Begins.NO
        case "Regex" if expr.re.pattern == BLANKS:
            return _Begins.MAYBE if c.isspace() else _Begins.EMPTY
        case "Regex":
            # A partial match is one that more characters could complete.
            return _Begins.NO if expr.re.match(c, partial=True) is None else _Begins.MAYBE
        case "Lookahead":
            return _Begins.EMPTY
        case "Quantifier":
            begins = _begins(expr.members[0], c)
            return _Begins.EMPTY if begins is _Begins.NO and expr.min == 0 else begins
        case "OneOf":
            every = {_begins(member, c) for member in expr.members}
            return next(begins for begins in (_Begins.MAYBE, _Begins.EMPTY, _Begins.NO) if begins in every)
        case _:
            steps = (_begins(member, c) for member in expr.members)
            return next((begins for begins in steps if begins is not _Begins.EMPTY), _Begins.EMPTY)
