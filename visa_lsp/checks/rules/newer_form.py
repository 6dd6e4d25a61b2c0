"""A part of the line is a form of text 4.2 in a text of an older version.

Such forms are addresses `:a32u` and `surf(..)`, a scale in an address (`4*V1`), `%scratchloc`, a third cache control,
surface and sampler indices `(T6, 1)`, surfaces held in registers, offsets in typed addresses, the data sizes `d8u32`,
`d16u32` and `d16u32h`, and the narrow float types.

The words `.aligned` and `.unaligned` are an error: an object can hold their meaning, but text 4.1 has no word for it.

Why: the finalizer of 4.1 rejects the line, and an object has no place for it.

Example:

    .version 4.1
    lsc_load.ugm.ca.ca.uc (M1, 16) V33:d32 flat[V39]:a64

Instead:

    .version 4.1
    lsc_load.ugm.ca.ca (M1, 16) V33:d32 flat[V39]:a64

Authority: what the compiler of 2026 prints; the finalizer 1.0.12504 rejects it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.isa import lsc_codes
from visa_lsp.isa.model import Dialect, Field, FieldKind, Instruction, Shape
from visa_lsp.isa.predefined import SCRATCHLOC
from visa_lsp.isa.types import TYPE_BY_CODE
from visa_lsp.program.model import General, RawOperand, Value
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree
from visa_lsp.text import Span

RULE = rule("V235", "newer-form", WARNING, __doc__)


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    if ctx.dialect is Dialect.V42 or bound.inst is None or bound.row is None:
        return
    yield from _word(ctx, bound, bound.row)
    for index in _suspects(bound.row):
        field = bound.row.fields[index]
        what = _newer(field, bound.inst.values[index])
        if what is not None and ctx.dialect in bound.row.dialects:
            place = Place(bound.line, _span(bound, field.name))
            yield ctx.report(RULE, place, f"{what} is a form of text 4.2; this text is {ctx.dialect.value}")
            return
    yield from _shape(ctx, bound)


def _word(ctx: CheckContext, bound: Bound, row: Instruction) -> Iterator[Diagnostic]:
    """Yield a word after the mnemonic that only text 4.2 has."""
    newer = {word for modifier in row.modifiers if modifier.newest is not None for word in modifier.words}
    if isinstance(bound.statement, tree.Instruction):
        for word in bound.statement.words:
            if word.text in newer:
                message = f"`.{word.text}` is a form of text 4.2; this text is {ctx.dialect.value}"
                yield ctx.report(RULE, Place(bound.line, word.span), message, severity=ERROR)


def _shape(ctx: CheckContext, bound: Bound) -> Iterator[Diagnostic]:
    """Yield a data size with different words in text 4.1 and 4.2; the object is the same."""
    for operand in bound.operands:
        if operand.slot.shape not in _SHAPED or not isinstance(operand.node, tree.Ref) or operand.node.suffix is None:
            continue
        tag, span = operand.node.suffix.text, operand.node.suffix.span
        word = tag[: len(tag) - len(tag.lstrip(_WORD))].partition("x")[0]
        older = _OLDER.get(word)
        if older is None:
            continue
        place = Place(bound.line, Span(span.start, span.start + len(word)))
        message = f"`{word}` is a form of text 4.2; this text is {ctx.dialect.value}, where it is `{older}`"
        yield ctx.report(RULE, place, message, fixes=(ctx.fix(f"write `{older}`", place, older, safe=True),))


@lru_cache(maxsize=4096)
def _suspects(row: Instruction) -> tuple[int, ...]:
    """Return the fields whose value may need text 4.2, the payload first."""
    worded = {modifier.field for modifier in row.modifiers if modifier.newest is not None}
    fields = [
        (field.name != "payload", index)
        for index, field in enumerate(row.fields)
        if field.name not in worded
        if not (field.stored or field.lossy) or field.kind in _STATES or field.name in _CODED
    ]
    return tuple([index for _, index in sorted(fields)])


def _newer(field: Field, value: Value) -> str | None:
    """Return the part of a value that needs text 4.2; None if there is none."""
    if not field.stored and not field.lossy and isinstance(value, int) and value != field.default:
        return _FIELDS.get(field.name, f"`{field.name}`")
    if field.kind in _STATES and not isinstance(value, int):
        return f"a {field.kind.name.lower()} with an index or in a register"
    if field.name == "addrsize" and value in lsc_codes.ADDRSIZE_TEXT_ONLY:
        return "this address size"
    if field.name in ("prec1", "prec2") and value in _NEWER_PRECISIONS:
        return "this precision"
    if field.name == "addrtype" and value == lsc_codes.ADDRTYPE_SURF:
        return "`surf`"
    if field.name == "immscale" and isinstance(value, int) and value > 1:
        return "a scale in an address"
    if field.name in ("l1", "l3") and value in lsc_codes.CACHE_TEXT_ONLY:
        return "the cache control `.cc`"
    return None


_SHAPED = frozenset({Shape.LSC_DATA, Shape.LSC_DATA_2D})
# The parts of the word for a data size, and the words of 4.2 with those of 4.1.
_WORD = "abcdefghijklmnopqrstuvwxyz0123456789"
_OLDER = {size.text42: size.text41 for size in lsc_codes.DATASIZES.values() if size.text42 != size.text41}
_STATES = (FieldKind.SURFACE, FieldKind.SAMPLER)
_CODED = frozenset(
    {"addrsize", "addrtype", "immscale", "l1", "l3", "prec1", "prec2"}
)  # because some of their codes are newer
_NEWER_PRECISIONS = frozenset({11, 14, 15})  # bf8, hf8, e2m1
_FIELDS = {
    "l2": "a third cache control",
    "surfidx": "a surface index",
    "payload": "a block address in one register",
    "immx": "an offset in a block address",
    "immy": "an offset in a block address",
}


def _span(bound: Bound, field: str) -> Span:
    operand = next((o for o in bound.operands if o.slot.name == field), None)
    if operand is None and field in ("addrsize", "addrtype", "immscale", "surfidx", "payload"):
        operand = next((o for o in bound.operands if isinstance(o.node, tree.AddressRef)), None)
    if operand is not None:
        return operand.node.span
    assert isinstance(bound.statement, tree.Instruction)
    return bound.statement.words[0].span


def _names(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    """Yield a predefined name that is new in text 4.2."""
    if ctx.dialect is Dialect.V42 or all(symbol.id != SCRATCHLOC.number for symbol in body.predefined.used):
        return
    for bound in body.code:
        for operand in bound.operands:
            if isinstance(operand.value, (General, RawOperand)) and operand.value.var == SCRATCHLOC.number:
                message = f"`{SCRATCHLOC.name}` is a name of text 4.2; this text is {ctx.dialect.value}"
                yield ctx.report(RULE, Place(bound.line, operand.node.span), message)


def _types(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    yield from _names(ctx, body)
    for symbol in body.symbols:
        if symbol.type is None or symbol.type.code in TYPE_BY_CODE or ctx.dialect is Dialect.V42:
            continue
        if symbol.decl is not None and symbol.decl.type is not None and symbol.place is not None:
            place = Place(symbol.place.line, symbol.decl.type.span)
            yield ctx.report(
                RULE, place, f"the type `{symbol.type.name}` is of text 4.2; this text is {ctx.dialect.value}"
            )


def _wants(row: Instruction) -> bool:
    return (
        bool(_suspects(row))
        or any(slot.shape in _SHAPED for slot in row.slots)
        or any(modifier.newest is not None for modifier in row.modifiers)
    )


CHECK = Check(RULE, instruction=_instruction, wants=_wants, body=_types)
