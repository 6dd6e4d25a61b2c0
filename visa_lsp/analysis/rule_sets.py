"""The engine's view of the rules, derived from the declarations of each: the one place that visits them all."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.analysis.dependencies import RuleSubject
from visa_lsp.checks import run as checks
from visa_lsp.checks.rule import Scope
from visa_lsp.isa.table import TABLE
from visa_lsp.sema.binding_pass import MISSING_LABEL, MISSING_NAME, READ_ATTRIBUTES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.checks.rule import Check
    from visa_lsp.isa.model import Instruction

# The problems of binding that are about names, not about the line.
NAME_PROBLEMS: Final = frozenset({MISSING_NAME, MISSING_LABEL})


class WholeBody(dict["Instruction", tuple[RuleSubject, ...]]):
    """The dependencies of findings about all instructions of a row; a row is looked up when one is met."""

    def __init__(self, rules: Iterable[Check]) -> None:
        super().__init__()
        self._wants = [(RuleSubject(check.rule.name), check.wants) for check in rules]
        self.subjects = frozenset([subject for subject, _ in self._wants])

    def __missing__(self, row: Instruction) -> tuple[RuleSubject, ...]:
        found = self[row] = tuple([subject for subject, wants in self._wants if wants is None or wants(row)])
        return found


class RuleSets(NamedTuple):
    """Rules by what they look at, by name.

    ``about_names`` report missing names only. ``whole_body`` has what rules of scope BODY depend on, by row.
    ``value_readers`` finds the mnemonics of rows that a rule reads the values of; None where no rule does. ``attributes``
    finds the directives of attributes that rules about lines, or binding, read; ``common`` those that any line
    may depend on, and not only lines with one of ``attribute_words``.
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
    """Return the sets for the rules that are on by default; to be cleared by whoever changes which rules there are."""
    rules = [check for check in checks.CHECKS if check.default]
    wanting = [check for check in rules if check.reads_values]
    rows = [row for row in TABLE.rows if any(check.wants is None or check.wants(row) for check in wanting)]
    words = sorted({row.mnemonic.lstrip(".").split(".")[0] for row in rows})
    readers = rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)"
    # What a rule about problems says of a line does not count: with a problem it is judged by itself.
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
