"""A body ends without `ret`, `fret` or a jump.

Why: the thread runs past its last instruction. A subroutine, too, must end with `ret`, or it falls through into the next one.

Example:

    .kernel "k"
    barrier

Instead:

    .kernel "k"
    barrier
    ret (M1, 1)

Authority: seed 001, "must be terminated with a ret instruction" (of subroutines); the finalizer accepts the text silently.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import WARNING, Body, Bound, Check, CheckContext, Diagnostic, Scope, rule
from visa_lsp.isa.model import FlowClass, Trait
from visa_lsp.isa.table import TABLE
from visa_lsp.syntax import tree

RULE = rule("V502", "missing-return", WARNING, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    parts: list[list[Bound]] = [[]]
    for bound in body.code:
        if isinstance(bound.statement, tree.BodyDirective):
            parts.append([])
        parts[-1].append(bound)
    for number, part in enumerate(parts):
        code = [b for b in part if isinstance(b.statement, tree.Instruction) and not _is_note(b)]
        if not code or _ends(code):
            continue
        last = code[-1]
        flow = FlowClass.FUNCTION_RETURN if not body.is_kernel and number == 0 else FlowClass.RETURN
        word = TABLE.by_flow[flow].mnemonic
        is_followed = number + 1 < len(parts)
        where = "the subroutine that follows" if is_followed else "the end of the text"
        message = f"control runs from here into {where}; the last instruction should be `{word}`"
        fixes = ctx.fix_after(last.line, f"add `{word} (M1, 1)`", f"    {word} (M1, 1)")
        yield ctx.report(RULE, ctx.line_place(last.line), message, fixes=fixes)


def _ends(code: list[Bound]) -> bool:
    last = code[-1]
    if last.row is None or not isinstance(last.statement, tree.Instruction):
        return True
    if any("eot" in word.text.lower() or "EOT" in word.text for word in last.statement.words):
        return True
    return last.row.flow.returns or last.row.flow.branches or last.row.has(Trait.MAY_END)


def _is_note(bound: Bound) -> bool:
    """Return whether an instruction is a mark that computes nothing: a lifetime, a source line."""
    return bound.row is not None and bound.row.flow is FlowClass.NOTE


CHECK = Check(RULE, body=_body, scope=Scope.OUTLINE)
