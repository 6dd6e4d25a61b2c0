"""An operand is of a kind that the instruction does not allow there.

A destination is never an immediate, a predicate is allowed only where its bits are used, a message takes raw operands.

Why: the finalizer's grammar has no such form.

Example:

    add (M1, 16) 0x1:d V33(0,0)<1;1,0> V34(0,0)<1;1,0>

Instead:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Authority: seed 003, operand classes of each instruction, and seed 004; the finalizer rejects the text. It overlooks
address and sampler variables as raw operands, and samplers and surfaces in each other's place, so those are warnings.
Images and blocks of media are not read from `%slm`, nor blocks of owords before ICLLP.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.checks.support.facts import operand_place, slot_words
from visa_lsp.checks.support.verifier import lower_severity, rows_at
from visa_lsp.isa.model import COMPUTING, Dialect, Instruction, Role, Shape, Slot
from visa_lsp.isa.operands import AO, IM, ST, A, G, I, OperandClass, P, describe_classes
from visa_lsp.isa.platforms import ALL
from visa_lsp.program.model import Address, AddressOf, General, Immediate, Indirect, PredicateOperand, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.sema.model import BoundOperand

_NUMBER = re.compile(r"-?(?:(?P<hex>0[xX][0-9a-fA-F]{1,16})|(?:0|[1-9]\d{0,18})(?P<fraction>\.\d+(?:[eE][-+]?\d+)?)?)")
RULE = rule("V205", "operand-class", ERROR, __doc__)
_EXPECTED = {
    Shape.RAW: "a raw operand such as `V1.0`",
    Shape.RAWS: "raw operands such as `V1.0`",
    Shape.SURFACE: "a surface variable",
    Shape.SAMPLER: "a sampler variable",
    Shape.LABEL: "a label",
    Shape.LABELS: "labels in parentheses",
    Shape.NAME: "the name of a function or symbol",
    Shape.IDENTIFIER: "the name of a function, without quotes",
    Shape.STRING: "a string in quotes",
    Shape.INTEGER: "a number without a type",
    Shape.GROUP: "numbers in parentheses",
    Shape.VARIABLE: "the name of a variable",
    Shape.SIMPLE: "an element such as `V1(0,0)`",
    Shape.LSC_DATA: "a register with a data shape such as `V1:d32`",
    Shape.LSC_DATA_2D: "a register with a block shape such as `V1:d8.16x8nn`",
    Shape.LSC_DATA_TYPED_2D: "a register with a block size such as `V1:32x8`",
    Shape.LSC_ADDRESS: "an address such as `flat[V1]:a64`",
    Shape.LSC_ADDRESS_STRIDED: "an address such as `flat[V1,4]:a64`",
    Shape.LSC_ADDRESS_2D: "a block address such as `flat[base,w,h,p,x,y]`",
    Shape.LSC_ADDRESS_TYPED: "an address such as `bti(0x4)[U,V]:a32`",
    Shape.LSC_ADDRESS_TYPED_2D: "a block address such as `bti(0x4)[X,Y]`",
    Shape.LSC_SURFACE: "a surface such as `bti(0x4)`",
    Shape.LSC_PAYLOAD: "a register or `%null`",
}

# Operands that the finalizer accepts at a place where they mean something else.
_OVERLOOKED = {
    Shape.RAW: ("address variable", "sampler variable", "surface variable `%slm`"),
    Shape.RAWS: ("address variable", "sampler variable", "surface variable `%slm`"),
    Shape.LSC_DATA: ("address variable", "sampler variable", "surface variable `%slm`"),
    Shape.SURFACE: ("sampler variable",),
    Shape.SAMPLER: ("surface variable",),
}


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    slot, got = problem.get("slot", Slot), str(problem.args["got"])
    if "expected" in problem.args:
        # The finalizer of 2026 checks no operand of a render target message.
        severity = WARNING if ctx.dialect is Dialect.V42 and slot.shape is Shape.VECTORS else None
        message = f"`{ctx.text(problem.place)}` is a {got}; expected an address variable"
        return ctx.report(RULE, problem.place, message, severity=severity)
    text = ctx.text(problem.place)
    is_what = got if "`" in got else f"{got} `{text}`"
    article = "" if got == f"`{text}`" else ("an " if is_what[:1] in "aeiou" else "a ")
    where = slot_words(slot).replace("`address` (address register)", "an address register")
    if slot.shape is Shape.EXEC_WORD and slot.words:
        wanted = "one of " + ", ".join(f"`{w}`" for w in slot.words)
    else:
        wanted = _EXPECTED.get(slot.shape) or _article(describe_classes(slot.classes))
    message = f"{article}{is_what} cannot be {where}; expected {wanted}"
    if typed := _add_type(ctx, slot, problem):
        number, is_safe = typed
        fix = ctx.fix(f"write `{number}`", problem.place, number, safe=is_safe)
        return ctx.report(RULE, problem.place, f"the number `{text}` lacks its type; write `{number}`", fixes=(fix,))
    if got.startswith(_OVERLOOKED.get(slot.shape, ("\n",))) and _readable(ctx, slot, problem):
        return ctx.report(RULE, problem.place, f"{message} (the finalizer does not check)", severity=WARNING)
    overlooks = (
        slot.shape is Shape.VECTOR
        and got.startswith("immediate")
        and bool(lower_severity(ctx, rows_at(ctx, problem.place.line)))
    )
    return ctx.report(RULE, problem.place, message, severity=WARNING if overlooks else None)


def _add_type(ctx: CheckContext, slot: Slot, problem: Problem) -> tuple[str, bool] | None:
    """Return an immediate with the type that it lacks, and whether no other type is meant; None for other operands."""
    text = ctx.text(problem.place)
    number = _NUMBER.fullmatch(text)
    if number is None or slot.shape is not Shape.VECTOR or not slot.classes & IM:
        return None
    body = ctx.bound.body_at(problem.place.line)
    bound = ctx.facts(body).by_line.get(problem.place.line) if body is not None else None
    types = [t for o in bound.operands if (t := ctx.facts(body).type_of(o.value)) is not None] if bound and body else []
    fractions = [t.name for t in types if t.is_float]
    if number["fraction"]:
        return f"{text}:{fractions[0] if fractions else 'f'}", bool(fractions)
    is_long = not -(1 << 31) <= int(text, 0) < 1 << 32
    name = ("uq" if is_long else "ud") if number["hex"] and not text.startswith("-") else "q" if is_long else "d"
    return f"{text}:{name}", bool(types) and not fractions


def _readable(ctx: CheckContext, slot: Slot, problem: Problem) -> bool:
    """Return whether the operand has the form of its slot, such as `name.offset` for a payload, whatever the name means."""
    if slot.shape not in (Shape.RAW, Shape.RAWS):
        return True
    end = problem.place.span.end
    next_character = ctx.document.line_text(problem.place.line)[end : end + 1]
    return next_character == "." or "." in ctx.text(problem.place)


def _article(text: str) -> str:
    return ("an " if text[:1] in "aeiou" else "a ") + text


_CLASS: dict[type, OperandClass] = {
    General: G,
    Indirect: I,
    Address: A,
    PredicateOperand: P,
    Immediate: IM,
    State: ST,
    AddressOf: AO,
}
# Their operands are registers or numbers; those of messages without an object form may be absent.
_COMPUTING = COMPUTING | {"address"}


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    row = bound.row
    assert row is not None
    computes = row.family in _COMPUTING
    # Tested first because this runs for all instructions, and most have no such operand.
    if computes or row.opcode is not None:
        nulls = [o for o in bound.operands if type(o.value) is General and o.value.var == 0]
        if nulls:
            yield from _null(ctx, bound, nulls)
    if computes and (row.needs or row.unmixed):
        yield from _check_together(ctx, bound, row)
    if _bars(row):
        yield from _check_barred(ctx, bound)


@cache
def _bars(row: Instruction) -> bool:
    return any(slot.barred is not None for slot in row.slots)


def _null(ctx: CheckContext, bound: Bound, nulls: Iterable[BoundOperand]) -> Iterator[Diagnostic]:
    """Yield sources that are `%null`, on which the finalizer crashes."""
    for operand in nulls:
        if operand.slot.role is Role.READ and operand.slot.shape is Shape.VECTOR and not operand.slot.ignored:
            message = f"`%null` has no value and cannot be {slot_words(operand.slot)}; write a number such as `0x0:ud`"
            # The finalizer of 2022 crashes; that of 2026 reads undefined data.
            severity = WARNING if ctx.dialect is Dialect.V42 else None
            yield ctx.report(RULE, operand_place(bound, operand), message, severity=severity)


def _check_together(ctx: CheckContext, bound: Bound, row: Instruction) -> Iterator[Diagnostic]:
    """Yield operands that are legal one by one but not together."""
    operands = [(o, cls) for o in bound.operands if (cls := _CLASS.get(type(o.value))) is not None]
    if len(operands) < len(row.slots):
        return
    if row.needs and all(cls not in row.needs for _, cls in operands):
        place = operand_place(bound, operands[-1][0])
        message = f"one operand of `{row.mnemonic}` must be a {describe_classes(row.needs)}, as in `T6(0)`"
        yield ctx.report(RULE, place, message)
    first_operand, its = operands[0]
    other = next((o for o, cls in operands if (cls in row.unmixed) != (its in row.unmixed)), None)
    if row.unmixed and other is not None:
        place = operand_place(bound, other)
        kind = describe_classes(row.unmixed)
        is_kind = f"is not a {kind}" if its in row.unmixed else f"is a {kind}"
        against = "is one" if its in row.unmixed else "is not"
        message = (
            f"`{ctx.text(place)}` {is_kind} and `{ctx.text(operand_place(bound, first_operand))}` {against};"
            f" `{row.mnemonic}` takes either {kind}s only or none"
        )
        yield ctx.report(RULE, place, message)


def _check_barred(ctx: CheckContext, bound: Bound) -> Iterator[Diagnostic]:
    """Yield predefined surfaces that the message cannot access."""
    for operand in bound.operands:
        platforms = (operand.slot.barred or {}).get(operand.value) if isinstance(operand.value, int) else None
        if platforms is None or not (platforms >= ALL or (ctx.platform is not None and ctx.platform.name in platforms)):
            continue
        assert bound.row is not None
        place = operand_place(bound, operand)
        where = "" if platforms >= ALL or ctx.platform is None else f" on {ctx.platform.name}"
        message = (
            f"`{bound.row.mnemonic}` cannot have `{ctx.text(place)}`{where}; declare a surface variable of its own"
        )
        yield ctx.report(RULE, place, message)


CHECK = Check(
    RULE,
    {"operand-class": _report},
    instruction=_instruction,
    wants=lambda row: (
        any(slot.shape is Shape.VECTOR for slot in row.slots) or any(slot.barred is not None for slot in row.slots)
    ),
)
