"""An operand has the form of the specification's appendix.

Such forms are `&V1+32`, an address without its width (`A0(0)`), a region without its first number (`<;w,h>`), a plane in brackets
(`T6[0]`), a surface before its sampler, and the element size of a gather in a second parenthesis.

Why: the finalizer reads today's forms only.

Example:

    addr_add (M1, 1) A0(0)<1> &V34+32 0x4:uw

Instead:

    addr_add (M1, 1) A0(0)<1> &V34[32] 0x4:uw

Authority: seed 003, operands and formats of instructions; the finalizer rejects each of these forms.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, WARNING, Check, CheckContext, Diagnostic, Problem, report_as, rule
from visa_lsp.diagnostics import Fix
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree
from visa_lsp.text import Span

RULE = rule("V233", "seed-operand", WARNING, __doc__)


def _report_replacement(ctx: CheckContext, problem: Problem, modern: str) -> Diagnostic:
    fix = ctx.fix(f"write `{modern}`", problem.place, modern, safe=True)
    message = f"the finalizer does not read `{ctx.text(problem.place)}`; write `{modern}`"
    return ctx.report(RULE, problem.place, message, fixes=(fix,))


def _address_of(ctx: CheckContext, problem: Problem) -> Diagnostic:
    node = problem.get("node", tree.AddressOfRef)
    offset = ctx.text(Place(problem.place.line, Span(node.name.span.end, node.span.end))).replace(" ", "").lstrip("+")
    return _report_replacement(ctx, problem, f"&{node.name.text}[{offset}]")


def _width(ctx: CheckContext, problem: Problem) -> Diagnostic:
    return _report_replacement(ctx, problem, f"{ctx.text(problem.place)}<1>")


def _region(ctx: CheckContext, problem: Problem) -> Diagnostic:
    return _report_replacement(ctx, problem, "<" + ctx.text(problem.place).partition(";")[2].lstrip())


def _plane(ctx: CheckContext, problem: Problem) -> Diagnostic:
    name, _, rest = ctx.text(problem.place).partition("[")
    return _report_replacement(ctx, problem, f"{name.rstrip()} {rest.rpartition(']')[0].strip()}")


def _order(ctx: CheckContext, problem: Problem) -> Diagnostic:
    first_span, second_span = problem.get("first", Span), problem.get("second", Span)
    line = problem.place.line
    first_text, second_text = ctx.text(Place(line, first_span)), ctx.text(Place(line, second_span))
    edits = (ctx.edit(Place(line, first_span), second_text), ctx.edit(Place(line, second_span), first_text))
    fix = Fix(f"write `{second_text} {first_text}`", edits, safe=True)
    return ctx.report(
        RULE, problem.place, f"the sampler comes before the surface: `{second_text} {first_text}`", fixes=(fix,)
    )


def _elements(ctx: CheckContext, problem: Problem) -> Diagnostic:
    node, number = problem.get("node", tree.Instruction), problem.args["number"]
    line = problem.place.line
    word = node.words[0].span.end
    text = ctx.document.line_text(line)
    start = len(text[: problem.place.span.start].rstrip())
    edits = (
        ctx.edit(Place(line, Span(word, word)), f".{number}"),
        ctx.edit(Place(line, Span(start, problem.place.span.end)), ""),
    )
    message = f"the element size follows the mnemonic: `{node.words[0].text}.{number}`"
    fix = Fix(f"write `{node.words[0].text}.{number}`", edits, safe=True)
    return ctx.report(RULE, problem.place, message, fixes=(fix,))


CHECK = Check(
    RULE,
    {
        "seed-address-of": _address_of,
        "seed-width": _width,
        "seed-region": _region,
        "seed-plane": _plane,
        "seed-order": _order,
        "seed-elements": _elements,
        "seed-indirect": report_as(
            RULE, "an indirect operand begins with `r` and ends with a type: `r{text}:ud`", severity=ERROR
        ),
    },
)
