"""An instruction does not exist on the chosen platform.

Reported only when a platform is known: from the command line, the settings, or a launch file.

Why: the finalizer for that platform rejects the text.

Example:

    lsc_load.ugm (M1, 16) V33:d32 flat[V39]:a64

Instead:

    svm_gather.4.1 (M1, 16) V39.0 V33.0

Authority: the finalizer ("not supported on this platform") and the documentation of each instruction.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import words
from visa_lsp.checks.support.verifier import find_lacks
from visa_lsp.isa.model import Dialect, Instruction, Trait
from visa_lsp.isa.platforms import ALL, PLATFORMS, since
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree

RULE = rule("V220", "wrong-platform", ERROR, __doc__)


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    row, statement = bound.row, bound.statement
    if (
        ctx.platform is None
        or row is None
        or ctx.platform.name in row.platforms
        or not isinstance(statement, tree.Instruction)
    ):
        return
    place = Place(bound.line, statement.words[0].span)
    # For these messages the finalizer of 2026 checks only whether there is a load/store controller.
    unchecked = row.family == "lsc" and (row.atomic is not None or row.has(Trait.MULTISAMPLED))
    passes = ctx.dialect is Dialect.V42 and unchecked and ctx.platform.name in since("DG2")
    tail = " (the finalizer of 2026 does not check)" if passes else ""
    message = f"{ctx.platform.name} has no `{row.mnemonic}`; {_where(row)}{tail}"
    yield ctx.report(RULE, place, message, severity=WARNING if passes else None)


def _where(row: Instruction) -> str:
    names = [p.name for p in PLATFORMS if p.name in row.platforms]
    if not names:
        return "no known platform has it"
    within = PLATFORMS[[p.name for p in PLATFORMS].index(names[0]) : [p.name for p in PLATFORMS].index(names[-1]) + 1]
    gaps = [p.name for p in within if p.name not in row.platforms]
    but = f", except on {words(gaps, 'and')}" if gaps else ""
    if names[-1] == PLATFORMS[-1].name:
        return (
            f"it exists on all platforms{but}"
            if names[0] == PLATFORMS[0].name
            else f"it exists from {names[0]} on{but}"
        )
    if names[0] == PLATFORMS[0].name:
        return f"it exists up to {names[-1]}{but}"
    return f"it exists from {names[0]} to {names[-1]}{but}"


def _types(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    """Yield types that need a unit which the platform lacks: for exact division and roots, or for doubles."""
    row, statement = bound.row, bound.statement
    if row is None or ctx.platform is None or not isinstance(statement, tree.Instruction):
        return
    facts = ctx.facts(body)
    typed = tuple([(o.slot, t) for o in bound.operands if (t := facts.type_of(o.value)) is not None])
    for index, lack in find_lacks(row, typed, ctx.platform):
        if lack.reason:
            place = Place(bound.line, statement.words[0].span)
            name = typed[index][1].name
            yield ctx.report(
                RULE, place, f"{ctx.platform.name} has no `{row.mnemonic}` for type `{name}`: it lacks {lack.reason}"
            )


def _visit(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    yield from _instruction(ctx, body, bound)
    yield from _types(ctx, body, bound)


CHECK = Check(
    RULE, instruction=_visit, wants=lambda row: row.platforms != ALL or any(lack.reason for lack in row.lacks)
)
