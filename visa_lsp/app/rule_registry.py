"""The registry of all rules: of texts, suppression comments, objects, ze_info and launch files.

Used by ``explain``, ``docs/rules`` (``generate``) and the selectors of settings and options. Defines only the rule of the
assembler. Invariant: codes and names are unique.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from visa_lsp.checks.registry import CHECKS
from visa_lsp.checks.support.limits import UNCHECKED
from visa_lsp.checks.support.rule_page import rule_page
from visa_lsp.diagnostics import Rule, Severity
from visa_lsp.embed.rules import RULES as HOST_RULES
from visa_lsp.ide.suppressions import USELESS_SUPPRESSION
from visa_lsp.launchfile.rules import RULES as LAUNCH_RULES
from visa_lsp.toolchain.rules import RULES as TOOL_RULES
from visa_lsp.zeinfo.rules import RULES as ZE_INFO_RULES

NO_OBJECT_FORM: Final = Rule(
    "V290",
    "no-object-form",
    Severity.ERROR,
    """A form that an object cannot represent.

The line is valid as text, but the object format (version 4.1) cannot represent it: an instruction without an opcode, a
third cache control, an address model of text 4.2. Only `visa-lsp asm` reports this.

A warning: the text 4.2 can be assembled, but `visa-lsp dis` prints the object in version 4.1, where this line has an
error and cannot be assembled again.

Why: the object format ended with text 4.1; newer compilers write text only.

Example:

    tanh (M1, 16) V35(0,0)<1> V35(0,0)<1;1,0>

Instead:

    exp (M1, 16) V35(0,0)<1> V35(0,0)<1;1,0>

Authority: seed 003, the opcodes; the finalizer's objects end with version 4.1.
""",
)

OFF: Final = frozenset(check.rule.code for check in CHECKS if not check.default)


@cache
def list_rules() -> tuple[Rule, ...]:
    """Return every rule, by code."""
    rules = (
        *(check.rule for check in CHECKS),
        UNCHECKED,
        USELESS_SUPPRESSION,
        NO_OBJECT_FORM,
        *HOST_RULES,
        *ZE_INFO_RULES,
        *LAUNCH_RULES,
        *TOOL_RULES,
    )
    return tuple(sorted(rules, key=lambda rule: rule.code))


@cache
def by_word() -> Mapping[str, Rule]:
    """Return the rules by code and by name."""
    return {word: rule for rule in list_rules() for word in (rule.code, rule.name)}


def rule_called(word: str) -> Rule | None:
    """Return the rule with a code or name, ignoring case."""
    return by_word().get(word.upper()) or by_word().get(word.lower())


def page(rule: Rule) -> str:
    """Return the page of a rule, in Markdown."""
    return rule_page(rule, default=rule.code not in OFF)
