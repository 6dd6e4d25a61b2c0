"""Sets of rules for the engine, derived from the declarations of all rules. No other module visits them all."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.analysis.dependencies import RuleSubject
from visa_lsp.checks import run as checks
from visa_lsp.checks.rule import Check, Scope
from visa_lsp.isa.table import TABLE
from visa_lsp.sema.binding_pass import MISSING_LABEL, MISSING_NAME, READ_ATTRIBUTES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.isa.model import Instruction

# The problems of binding that concern names, not the line.
NAME_PROBLEMS: Final = frozenset({MISSING_NAME, MISSING_LABEL})


class WholeBody(dict["Instruction", tuple[RuleSubject, ...]]):
    """The subjects of rules that read all instructions of a row, by row; computed at the first use of a row."""

    def __init__(self, rules: Iterable[Check]) -> None:
        super().__init__()
        self._wants = [(RuleSubject(check.rule.name), check.wants) for check in rules]
        self.subjects = frozenset([subject for subject, _ in self._wants])

    def __missing__(self, row: Instruction) -> tuple[RuleSubject, ...]:
        subjects = self[row] = tuple([subject for subject, wants in self._wants if wants is None or wants(row)])
        return subjects


class RuleSets(NamedTuple):
    """The names of rules by scope, and patterns for their inputs.

    Rules in ``about_names`` report only missing names. ``whole_body`` maps a row to its subjects of rules of scope
    BODY. ``value_readers`` matches the mnemonics of rows whose values a rule reads; None if there is no such rule.
    ``attributes`` matches directives of attributes that binding or a rule about lines reads; ``common`` matches those
    that any line may depend on, not only lines with one of ``attribute_words``.
    """

    about_names: frozenset[str]
    line: frozenset[str]
    outline: frozenset[str]
    text: frozenset[str]
    whole_body: WholeBody
    value_readers: re.Pattern[str] | None
    attributes: re.Pattern[str]
    common: re.Pattern[str]
    attribute_words: frozenset[str]


@cache
def rule_sets() -> RuleSets:
    """Return the sets for the rules that are on by default. Cached: clear it after a change of the list of rules."""
    rules = [check for check in checks.CHECKS if check.default]
    wanting = [check for check in rules if check.reads_values]
    rows = [row for row in TABLE.rows if any(check.wants is None or check.wants(row) for check in wanting)]
    words = sorted({row.mnemonic.lstrip(".").split(".")[0] for row in rows})
    readers = rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)"
    # Rules about problems are left out, because a line with a problem is judged alone.
    anywhere = [c for c in rules if (c.instruction or c.body) and not c.attribute_words]
    return RuleSets(
        about_names=frozenset({c.rule.name for c in rules if c.problems and c.problems.keys() <= NAME_PROBLEMS}),
        line=frozenset({c.rule.name for c in rules if c.scope is Scope.LINE}),
        outline=frozenset({c.rule.name for c in rules if c.scope is Scope.OUTLINE}),
        text=frozenset({c.rule.name for c in rules if c.scope is Scope.TEXT}),
        whole_body=WholeBody([c for c in rules if c.scope is Scope.BODY]),
        value_readers=re.compile(readers, re.IGNORECASE) if words else None,
        attributes=_directives_of({name for check in rules for name in check.attributes}.union(READ_ATTRIBUTES)),
        common=_directives_of({name for check in anywhere for name in check.attributes}),
        attribute_words=frozenset({word for check in rules for word in check.attribute_words}),
    )


def _directives_of(attributes: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern that finds directives with any of these attributes."""
    names = "|".join(sorted(map(re.escape, attributes))) or "(?!)"
    return re.compile(rf"\s*\.kernel_attr\s+(?:{names})(?![A-Za-z0-9_])")
