"""What the engine has to know of the rules, derived from what each of them declares: the one place that goes through them."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.checks import run as checks
from visa_lsp.checks.rule import Scope
from visa_lsp.isa.table import TABLE
from visa_lsp.sema.context import MISSING_LABEL, MISSING_NAME, READ_ATTRIBUTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.isa.model import Instruction

# The problems of binding that are about names, not about the line.
NAME_PROBLEMS: Final = frozenset({MISSING_NAME, MISSING_LABEL})


class RuleSets(NamedTuple):
    """Rules by what they look at, by name.

    ``about_names`` tell of nothing but missing names. ``whole_body`` has, of each rule of scope BODY, what findings depend
    on that are about all instructions of some rows, with the question which rows. ``value_readers`` finds the mnemonics of
    rows that a rule reads the values of; None where no rule does. ``attributes`` finds the directives of those attributes
    that rules about lines ask for, or binding does.
    """

    about_names: frozenset[str]
    line: frozenset[str]
    outline: frozenset[str]
    text: frozenset[str]
    whole_body: tuple[tuple[str, Callable[[Instruction], bool]], ...]
    value_readers: re.Pattern[str] | None
    attributes: re.Pattern[str]

    @property
    def whole_body_subjects(self) -> frozenset[str]:
        """What findings depend on that are about all instructions of some rows."""
        return frozenset([subject for subject, _ in self.whole_body])


@cache
def rule_sets() -> RuleSets:
    """The sets for the rules that are on by default; to be cleared by whoever changes which rules there are."""
    rules = [check for check in checks.CHECKS if check.default]
    wanting = [check for check in rules if check.reads_values]
    rows = [row for row in TABLE.rows if any(check.wants is None or check.wants(row) for check in wanting)]
    words = sorted({row.mnemonic.lstrip(".").split(".")[0] for row in rows})
    readers = rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)"
    attributes = sorted({re.escape(name) for c in rules for name in c.attributes}.union(READ_ATTRIBUTES))
    return RuleSets(
        about_names=frozenset({c.rule.name for c in rules if c.problems and c.problems.keys() <= NAME_PROBLEMS}),
        line=frozenset({c.rule.name for c in rules if c.scope is Scope.LINE}),
        outline=frozenset({c.rule.name for c in rules if c.scope is Scope.OUTLINE}),
        text=frozenset({c.rule.name for c in rules if c.scope is Scope.TEXT}),
        whole_body=tuple((f"\x0f{c.rule.name}", c.wants or _any_row) for c in rules if c.scope is Scope.BODY),
        value_readers=re.compile(readers, re.IGNORECASE) if words else None,
        attributes=re.compile(rf"\s*\.kernel_attr\s+(?:{'|'.join(attributes)})(?![A-Za-z0-9_])"),
    )


def _any_row(_row: Instruction) -> bool:
    return True
