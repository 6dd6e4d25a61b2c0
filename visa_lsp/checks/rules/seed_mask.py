"""An execution mask is written as in the specification: `M0`, `NM`, or `{NoMask}` after the instruction.

`M0` is today's `M1`: execution starts at lane 0. `NM` and `{NoMask}` switch the mask off; today's word is `NoMask`, or `_NM` after
the name of a mask.

Why: the finalizer rejects these words.

Example:

    add (M0, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Instead:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Authority: seed 003 lists `M0` to `M7` and `NM`, seed 001 `M1` to `M8`; the finalizer has the latter.
"""

from __future__ import annotations

from visa_lsp.checks.rule import WARNING, Check, CheckContext, Diagnostic, Problem, report_as, rule
from visa_lsp.diagnostics import Edit, Fix
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree
from visa_lsp.text import Span

RULE = rule("V231", "seed-mask", WARNING, __doc__)


def _option(ctx: CheckContext, problem: Problem) -> Diagnostic:
    node = problem.get("node", tree.Instruction)
    line = problem.place.line
    text = ctx.document.line_text(line)
    start = len(text[: text.rfind("{", 0, problem.place.span.start)].rstrip())
    brace = Place(line, Span(start, text.find("}", start) + 1))
    message = "the finalizer does not read options in braces; write the mask before the size: `(NoMask, 1)`"
    fixes = []
    if node.exec is not None:
        mask, size = node.exec.mask, node.exec.size
        if mask is None:
            mask_edit = ctx.edit(Place(line, Span(size.span.start, size.span.start)), "NoMask, ")
        else:
            unmasked = mask.text in ("NoMask", "NM") or mask.text.endswith("_NM")
            mask_edit = ctx.edit(Place(line, mask.span), mask.text if unmasked else f"{mask.text}_NM")
        fixes = [Fix("move the option into the parenthesis", (mask_edit, Edit(ctx.span(brace), "")), safe=True)]
    return ctx.report(RULE, Place(line, Span(brace.span.start + 1, brace.span.end)), message, fixes=fixes)


_MASK = report_as(
    RULE, "the finalizer does not know the mask `{name}`; write `{modern}`", fix=("change to `{modern}`", "{modern}"), safe=True
)  # fmt: skip
CHECK = Check(RULE, {"seed-mask": _MASK, "seed-option": _option})
