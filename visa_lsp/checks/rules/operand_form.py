"""An operand is of the right kind but not written in full.

A raw operand needs its offset (`V1.0`), an address operand its element (`A0(0)<1>`), an indirect one its region and type
(`r[A0(0),0]<8;8,1>:d`), a direct one takes no type, and only the address of a general variable or a surface can be taken.

Why: the finalizer's grammar has no shorter form.

Example:

    oword_ld (4) T6 0x0:ud V36

Instead:

    oword_ld (4) T6 0x0:ud V36.0

Authority: seed 004, text forms of the operands; the finalizer rejects the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, Problem, report_as, rule
from visa_lsp.checks.support.facts import operand_place
from visa_lsp.isa.model import Trait
from visa_lsp.isa.predefined import FIRST_SURFACE
from visa_lsp.program.model import AddressOf, State
from visa_lsp.sema.model import Place, Symbol, SymbolKind
from visa_lsp.syntax import tree
from visa_lsp.text import Span

RULE = rule("V206", "operand-form", ERROR, __doc__)


def _raw(ctx: CheckContext, problem: Problem) -> Diagnostic:
    name = str(problem.args["name"])
    text = ctx.text(problem.place)
    if text == name:
        end = Place(problem.place.line, Span(problem.place.span.end, problem.place.span.end))
        fix = ctx.fix(f"write `{name}.0`", end, ".0", safe=True)
        return ctx.report(
            RULE, problem.place, f"raw operand `{name}` lacks its byte offset; write `{name}.0`", fixes=(fix,)
        )
    fix = ctx.fix(f"write `{name}.0`", problem.place, f"{name}.0")
    return ctx.report(
        RULE,
        problem.place,
        f"`{text}` has a region; a raw operand has a byte offset, as in `{name}.0`",
        fixes=(fix,),
    )


def _indirect(ctx: CheckContext, problem: Problem) -> Diagnostic:
    text = ctx.text(problem.place)
    lacks = "its region and type" if "<" not in text else "its type"
    example = "`r[A0(0),0]<8;8,1>:d`" if "<" not in text else f"`{text}:d`"
    return ctx.report(RULE, problem.place, f"indirect operand `{text}` lacks {lacks}, as in {example}")


def _suffix(ctx: CheckContext, problem: Problem) -> Diagnostic:
    line, span = problem.place
    text = ctx.document.line_text(line)
    # The type with its colon, and the blanks before the colon.
    start = len(text[: text.rfind(":", 0, span.start)].rstrip())
    place = Place(line, Span(start, span.end))
    symbol = problem.get("symbol", Symbol)
    word = text[span.start : span.end]
    name = symbol.type.name if symbol.type is not None and symbol.kind is SymbolKind.GENERAL else None
    message = f"`{symbol.name}` takes no type here; it has the type of its declaration"
    if name is not None and name != word:
        message += f", `{name}`; for another type declare an alias, `.decl .. type={word} .. alias=<{symbol.name}, 0>`"
    fix = ctx.fix(f"remove `{text[start : span.end]}`", place, "", safe=name == word)
    return ctx.report(RULE, place, message, fixes=(fix,))


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    for operand in bound.operands:
        node = operand.node
        if isinstance(operand.value, State) and isinstance(node, tree.Ref) and node.indices is None:
            name, place = node.name.text, operand_place(bound, operand)
            fix = ctx.fix(f"write `{name}(0)`", place, f"{name}(0)", safe=True)
            yield ctx.report(RULE, place, f"`{name}` lacks its element; write `{name}(0)`", fixes=(fix,))
        if (
            isinstance(operand.value, State)
            and isinstance(node, tree.AddressOfRef)
            and operand.value.var < FIRST_SURFACE
        ):
            name = ctx.text(operand_place(bound, operand)).lstrip("& ")
            yield ctx.report(
                RULE, operand_place(bound, operand), f"`{name}` is predefined; its address cannot be taken"
            )
        if not isinstance(operand.value, AddressOf):
            continue
        symbol = ctx.facts(body).variables.get(operand.value.var)
        if symbol is not None and symbol.predefined:
            message = f"`{symbol.name}` is predefined; its address cannot be taken"
            yield ctx.report(RULE, operand_place(bound, operand), message)


CHECK = Check(
    RULE,
    {
        "predicate-form": report_as(
            RULE, "a predicate operand takes no element and no region; write `{name}`", fix=("write `{name}`", "{name}")
        ),
        "operand-suffix": _suffix,
        "quoted-name": report_as(
            RULE, "write this name without quotes: `{name}`", fix=("write `{name}`", "{name}"), safe=True
        ),
        "raw-form": _raw,
        "address-form": report_as(RULE, "address operand `{text}` lacks its element; write `{name}(0)<1>`"),
        "indirect-form": _indirect,
        "address-of": report_as(
            RULE, "`{name}` is a {got} and has no address; only general variables and surfaces have one"
        ),
    },
    instruction=_instruction,
    wants=lambda row: row.family == "address" or row.has(Trait.MOVES_STATE),
)
