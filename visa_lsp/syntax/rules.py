"""What rules of the grammar are made of, as values: the recogniser is made of them, ``built_grammar`` has them written down.

``rules_of`` reads them from a grammar file's text with parsimonious, which is loaded for that alone.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from parsimonious.grammar import Grammar


class Verbatim(Struct, frozen=True):
    """A text as it stands."""

    text: str


class Regex(Struct, frozen=True):
    """A regular expression. ``starts`` has a bit for each ASCII character that a match of it may stand before or begin with."""

    pattern: str
    starts: int


class Sequence(Struct, frozen=True):
    """One after the other."""

    members: tuple[Expression, ...]


class OneOf(Struct, frozen=True):
    """The first that matches."""

    members: tuple[Expression, ...]


class Quantifier(Struct, frozen=True):
    """As often as it matches."""

    member: Expression
    least: int = 0
    most: float = math.inf


class Lookahead(Struct, frozen=True):
    """What stands next, and is not taken."""

    member: Expression
    negative: bool = False


class To(Struct, frozen=True):
    """What another rule says."""

    rule: str


Expression: TypeAlias = Verbatim | Regex | Sequence | OneOf | Quantifier | Lookahead | To
# By name; texts are read by the first.
Rules: TypeAlias = "Mapping[str, Expression]"


def rules_of(text: str) -> Rules:
    """The rules of a grammar file's text."""
    grammar = built(text)
    rest = {name: _expression(rule, name) for name, rule in grammar.items()}
    first = grammar.default_rule.name
    return {first: rest.pop(first), **rest}


def built(text: str) -> Grammar:
    """The text of a grammar file as parsimonious builds it."""
    from parsimonious.grammar import Grammar

    return Grammar(text)


def _expression(made: Any, rule: str = "") -> Expression:
    """A value for what parsimonious has made; what another rule has is named."""
    if made.name != rule:
        return To(made.name)
    members = tuple([_expression(member) for member in getattr(made, "members", ())])
    match type(made).__name__:
        case "Literal":
            return Verbatim(made.literal)
        case "Regex":
            # A partial match is one that more characters could complete.
            starts = [c for c in range(128) if made.re.match(chr(c), partial=True) is not None]
            return Regex(made.re.pattern, sum(1 << c for c in starts))
        case "Sequence":
            return Sequence(members)
        case "OneOf":
            return OneOf(members)
        case "Quantifier":
            return Quantifier(members[0], made.min, made.max)
        case _:
            return Lookahead(members[0], made.negativity)
