"""Runs the rules on the problems of binding, and on the instructions, bodies and texts that they visit."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from visa_lsp.checks.registry import CHECKS
from visa_lsp.checks.rule import Check, Scope, Visit
from visa_lsp.checks.support.consequences import root_problems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from visa_lsp.checks.support.context import CheckContext
    from visa_lsp.diagnostics import Diagnostic, Rule
    from visa_lsp.isa.model import Instruction

RULES: Final[dict[str, Rule]] = {key: check.rule for check in CHECKS for key in (check.rule.code, check.rule.name)}
_BY_PROBLEM: Final = {kind: (check.scope, report) for check in CHECKS for kind, report in check.problems.items()}
ALL_SCOPES: Final = frozenset(Scope)


def run_checks(
    ctx: CheckContext, extra: Collection[str] = (), scopes: frozenset[Scope] = ALL_SCOPES
) -> list[Diagnostic]:
    """Return all findings about a text, in text order.

    ``extra`` names opt-in rules, by code or slug, that run as well. Only rules of ``scopes`` run.
    """
    chosen = _chosen(frozenset(extra), scopes)
    findings = [*_of_problems(ctx, scopes)]
    for of_text in chosen.texts:
        findings.extend(of_text(ctx))
    for body in ctx.bound.bodies:
        for of_body in chosen.bodies:
            findings.extend(of_body(ctx, body))
        for bound in body.code:
            if bound.row is not None:
                for visit in chosen[bound.row]:
                    findings.extend(visit(ctx, body, bound))
    findings.sort(key=lambda d: (d.span, d.code))
    return findings


def _of_problems(ctx: CheckContext, scopes: frozenset[Scope]) -> Iterator[Diagnostic]:
    for problem in root_problems(ctx.document, ctx.bound):
        scope, report = _BY_PROBLEM[problem.kind]
        finding = report(ctx, problem) if scope in scopes else None
        if finding is not None:
            yield finding


class _Chosen(dict["Instruction", "tuple[Visit, ...]"]):
    """Rules that run together, and the visits of instructions by row."""

    def __init__(self, checks: list[Check]) -> None:
        super().__init__()
        self.names = {check.rule.name for check in checks}
        self.texts = [check.text for check in checks if check.text is not None]
        self.bodies = [check.body for check in checks if check.body is not None]

    def __missing__(self, row: Instruction) -> tuple[Visit, ...]:
        visits = self[row] = tuple([visit for name, visit in _visits(row) if name in self.names])
        return visits


@cache
def _visits(row: Instruction) -> list[tuple[str, Visit]]:
    """Return the rules that visit the instructions of a row."""
    visits = [(check, check.instruction) for check in CHECKS if check.instruction is not None]
    return [(check.rule.name, visit) for check, visit in visits if check.wants is None or check.wants(row)]


@lru_cache(maxsize=16)
def _chosen(extra: frozenset[str], scopes: frozenset[Scope]) -> _Chosen:
    """Return the default and the extra rules of the scopes; ``wants`` is evaluated once per process."""
    wanted = [c for c in CHECKS if c.scope in scopes]
    return _Chosen([c for c in wanted if c.default or c.rule.code in extra or c.rule.name in extra])


def rule_named(word: str) -> Rule | None:
    """Return the rule of a code or slug."""
    return RULES.get(word) or RULES.get(word.upper()) or RULES.get(word.lower())


def handles(kind: str) -> bool:
    """Return whether some rule explains a kind of problem."""
    return kind in _BY_PROBLEM


__all__ = ["CHECKS", "RULES", "handles", "rule_named", "run_checks"]
