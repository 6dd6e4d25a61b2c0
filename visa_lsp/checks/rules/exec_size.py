"""The instruction does not support the execution size.

Sizes are 1, 2, 4, 8, 16 and 32; messages and branches allow fewer.

Why: there is no encoding for other sizes, and a message moves a fixed number of lanes.

Example:

    add (M1, 3) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Instead:

    add (M1, 4) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Authority: seed 001, execution sizes, and seed 003, the instructions; the finalizer rejects sizes that do not exist, and accepts
silently a size that only the instruction's page forbids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.checks.support.facts import exec_control, words
from visa_lsp.isa.model import Instruction, Role, Trait
from visa_lsp.isa.operands import A
from visa_lsp.isa.platforms import address_registers
from visa_lsp.isa.types import EXEC_SIZES
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.diagnostics import Fix, Severity

RULE = rule("V209", "exec-size", ERROR, __doc__)
# With compensation for coarse pixel shading.
_CPS_SIZES = (8, 16)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    row, size = problem.get("row", Instruction), problem.get("size", int)
    if size in EXEC_SIZES:
        overlooked = row.has(Trait.SIZES_UNCHECKED)
        return _forbidden(ctx, row, size, problem.place, WARNING if overlooked else ERROR)
    message = f"invalid execution size `{ctx.text(problem.place)}`; expected {words(row.exec_sizes)}"
    return ctx.report(RULE, problem.place, message, fixes=(_nearest(ctx, row, size, problem.place),))


def _silent(_ctx: CheckContext, _problem: Problem) -> None:
    """Report nothing, because `_instruction` reports a row that has a meaning."""


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    control, statement = exec_control(bound), bound.statement
    row = bound.row
    if control is None or row is None or not isinstance(statement, tree.Instruction) or statement.exec is None:
        return
    place = Place(bound.line, statement.exec.size.span)
    size = statement.exec.size
    text = size.text if isinstance(size, tree.Number) else ""
    # The object may hold another size: that of `jmp` is always 1.
    written = size.value if isinstance(size, tree.Number) else control.exec_size
    if text[:2] in ("0x", "0X"):
        decimal = str(control.exec_size)
        fix = ctx.fix(f"write {decimal}", place, decimal, safe=True)
        yield ctx.report(RULE, place, f"an execution size is a decimal number: `{decimal}`, not `{text}`", fixes=(fix,))
    elif written not in _CPS_SIZES and any(word.text == "cps" for word in statement.words):
        message = f"`{row.mnemonic}.cps` cannot have execution size {written}; expected {words(_CPS_SIZES)}"
        yield ctx.report(RULE, place, message)
    elif written not in _sizes(ctx, row) or not _finalizer_takes(row, written):
        severity = ERROR if row.exec_verified is not None and not _finalizer_takes(row, written) else WARNING
        yield _forbidden(ctx, row, written, place, severity)


def _sizes(ctx: CheckContext, row: Instruction) -> tuple[int, ...]:
    """Return the legal sizes of a row; the address registers limit the lanes of one that writes addresses."""
    if row.slots and row.slots[0].classes == A and row.slots[0].role is Role.WRITE:
        most = address_registers(ctx.platform)
        return tuple(size for size in EXEC_SIZES if size <= most)
    return row.exec_sizes


def _finalizer_takes(row: Instruction, size: int) -> bool:
    """Return whether the finalizer accepts the size."""
    return row.exec_verified is None or size in row.exec_verified


def _forbidden(ctx: CheckContext, row: Instruction, size: int, place: Place, severity: Severity = ERROR) -> Diagnostic:
    tail = "" if severity is ERROR else " (the finalizer does not check)"
    message = f"`{row.mnemonic}` cannot have execution size {size}; expected {words(_sizes(ctx, row))}{tail}"
    return ctx.report(RULE, place, message, fixes=(_nearest(ctx, row, size, place),), severity=severity)


def _nearest(ctx: CheckContext, row: Instruction, size: int, place: Place) -> Fix:
    nearest = min(row.exec_sizes, key=lambda legal: (abs(legal - size), -legal))
    return ctx.fix(f"change to {nearest}", place, str(nearest))


CHECK = Check(RULE, {"exec-size": _report, "inexact-exec-size": _silent}, instruction=_instruction)
