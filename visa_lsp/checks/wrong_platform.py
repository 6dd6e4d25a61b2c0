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

from typing import TYPE_CHECKING

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.isa.platforms import ALL, PLATFORMS
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.isa.model import Instruction

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
    yield ctx.report(RULE, place, f"{ctx.platform.name} has no `{row.mnemonic}`; {_where(row)}")


def _where(row: Instruction) -> str:
    names = [p.name for p in PLATFORMS if p.name in row.platforms]
    if not names:
        return "no platform known here has it"
    if names[-1] == PLATFORMS[-1].name:
        return f"it exists from {names[0]} on"
    if names[0] == PLATFORMS[0].name:
        return f"it exists up to {names[-1]}"
    return f"it exists from {names[0]} to {names[-1]}"


def _precise(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    """Exact division and roots, and those of doubles, need a macro unit that some platforms lack."""
    row, statement = bound.row, bound.statement
    assert row is not None
    if ctx.platform is None or ctx.platform.name not in _NO_MACROS or not isinstance(statement, tree.Instruction):
        return
    type_ = next((ctx.facts(body).type_of(o.value) for o in bound.operands if o.slot.name == "dst"), None)
    name = type_.name if type_ else ""
    if name == "df" or (name == "f" and row.mnemonic in ("divm", "sqrtm")):
        place = Place(bound.line, statement.words[0].span)
        yield ctx.report(
            RULE,
            place,
            f"{ctx.platform.name} has no `{row.mnemonic}` for type `{name}`: it lacks the unit for exact results",
        )


def _visit(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    yield from _instruction(ctx, body, bound)
    if bound.row is not None and bound.row.mnemonic in _PRECISE:
        yield from _precise(ctx, body, bound)


_PRECISE = frozenset({"divm", "sqrtm", "inv", "div", "sqrt"})
_NO_MACROS = frozenset({"ICLLP", "TGLLP", "DG2", "MTL"})
CHECK = Check(RULE, instruction=_visit, wants=lambda row: row.platforms != ALL or row.mnemonic in _PRECISE)
