"""A name or value that is not an identifier lacks quotes, as in the specification.

Why: the finalizer reads an identifier, a number or a quoted string there.

Example:

    .kernel_attr OutputAsmPath=IS_genx_1.asm

Instead:

    .kernel_attr OutputAsmPath="IS_genx_1.asm"

Authority: seed 003, directives; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, WARNING, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.isa.attributes import KERNEL_ATTRIBUTES, AttributeKind
from visa_lsp.syntax import tree

_MAX_SHOWN_CHARS = 200

RULE = rule("V132", "seed-name", WARNING, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    text = str(problem.args["text"])
    shown = _short(text)
    if text.startswith('"'):
        return ctx.report(
            RULE, problem.place, f'the string `{shown}` is never closed; a `"` is missing', severity=ERROR
        )
    quoted = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    fix = ctx.fix(f"write `{_short(quoted)}`", problem.place, quoted, safe=True)
    return ctx.report(
        RULE,
        problem.place,
        f"`{shown}` needs quotes: `{_short(quoted)}`",
        fixes=(fix,) if _may_be_quoted(ctx, problem, text) else (),
    )


def _may_be_quoted(ctx: CheckContext, problem: Problem, text: str) -> bool:
    """Return whether the quoted text would be correct, because an attribute may require other texts, or a number."""
    statement = ctx.document.statement(problem.place.line)
    if not isinstance(statement, tree.KernelAttr) or statement.name is None:
        return True
    attribute = KERNEL_ATTRIBUTES.get(statement.name.text)
    if attribute is None:
        return True
    return text in attribute.values if attribute.values else attribute.kind is AttributeKind.STRING


def _short(text: str) -> str:
    """Truncate a name for a message, because it may be as long as a line."""
    return text if len(text) <= _MAX_SHOWN_CHARS else text[: _MAX_SHOWN_CHARS - 3] + "..."


CHECK = Check(RULE, {"seed-string": _report})
