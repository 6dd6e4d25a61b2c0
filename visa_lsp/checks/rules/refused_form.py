"""The finalizer of 2026 does not compile this form of text 4.2.

It refuses the line, or ends with an assertion. Where the documentation allows the form, or the tool ends, this is a
warning, because another version may accept the line.

Why: `ocloc` and the driver compile the text with this finalizer, or one that descends from it.

Example:

    .version 4.2
    gather_scaled.4 (M1, 32) T6 0x0:ud V39.0 V33.0

Instead:

    .version 4.2
    gather_scaled.4 (M1, 16) T6 0x0:ud V39.0 V33.0

Authority: the finalizer of August 2026 (intel-graphics-compiler 98fff71643f1), by its verdicts and its public source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import exec_control, operand_place, words
from visa_lsp.isa.model import Dialect, Instruction, Modifier, Refusal, Shape
from visa_lsp.isa.operands import ST
from visa_lsp.isa.platforms import since
from visa_lsp.isa.predefined import SURFACE_ALIASES, SURFACE_BY_NAME
from visa_lsp.program.model import RawOperand, State
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.diagnostics import Severity

RULE = rule("V238", "refused-form", ERROR, __doc__)
_STOPS: Final = "the finalizer of 2026 ends with an assertion"
_PAIRED: Final = since("BMG")
_CHANNELS: Final = "RGBA"
Found = tuple[Place, str, "Severity | None"]


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    row, node = bound.row, bound.statement
    if ctx.dialect is not Dialect.V42 or row is None or not isinstance(node, tree.Instruction):
        return
    finding = next(_findings(ctx, bound, row, node), None)
    if finding is not None:
        place, message, severity = finding
        yield ctx.report(RULE, place, message, severity=severity)


def _findings(ctx: CheckContext, bound: Bound, row: Instruction, node: tree.Instruction) -> Iterator[Found]:
    yield from _find_refusals(ctx, bound, row, node)
    yield from _names(bound)
    yield from _words(bound, row, node)
    if row.family == "sampler":
        yield from _sampler(ctx, bound, row, node)


def _find_refusals(ctx: CheckContext, bound: Bound, row: Instruction, node: tree.Instruction) -> Iterator[Found]:
    """Yield the forms that the row lists as not compiled."""
    control = exec_control(bound)
    size = node.exec.size if node.exec is not None else None
    lanes = size.value if isinstance(size, tree.Number) else control.exec_size if control is not None else 0
    for refusal in row.refusals:
        if not _is_met(ctx, refusal) or (refusal.lanes and lanes not in refusal.lanes):
            continue
        if refusal.unpredicated and node.predicate is not None:
            continue
        place = Place(bound.line, node.exec.span if refusal.lanes and node.exec is not None else node.words[0].span)
        how = _STOPS if refusal.stops else "the finalizer of 2026 refuses it"
        where = f" on {ctx.platform.name}" if ctx.platform is not None else ""
        message = f"`{row.mnemonic}` is not compiled like this{where}: {refusal.reason} ({how})"
        yield place, message, WARNING if refusal.stops else None


def _is_met(ctx: CheckContext, refusal: Refusal) -> bool:
    """Return whether a refusal holds on the platform; for None, whether it holds on all."""
    platform = ctx.platform
    if platform is None:
        return refusal.efficient64b is None and all(name in refusal.platforms for name in since("BDW"))
    return platform.name in refusal.platforms and refusal.efficient64b in (None, platform.efficient64b)


def _names(bound: Bound) -> Iterator[Found]:
    """Yield names of predefined surfaces that text 4.2 does not have."""
    for operand in bound.operands:
        node, value = operand.node, operand.value
        if isinstance(node, tree.Ref) and node.name.text in SURFACE_ALIASES:
            number = value.var if isinstance(value, State) else value
            name = SURFACE_ALIASES[node.name.text]
            if number == SURFACE_BY_NAME[name].number:
                yield (
                    operand_place(bound, operand),
                    f"text 4.2 has no `{node.name.text}`; the surface is `{name}`",
                    None,
                )


def _words(bound: Bound, row: Instruction, node: tree.Instruction) -> Iterator[Found]:
    """Yield words after the mnemonic that the lexer of text 4.2 reads as something else, and pairs that it does not know."""
    texts = [word.text for word in node.words[1:]]
    for modifier in row.modifiers:
        for word in node.words[1:]:
            place = Place(bound.line, word.span)
            if word.text in modifier.unread:
                yield (
                    place,
                    f"the finalizer of 2026 does not read `.{word.text}`; write the unit as a number, as in `.0x3`",
                    None,
                )
            letters = word.text.upper()
            if modifier.kind is Modifier.Kind.CHANNELS and letters and set(letters) <= set(_CHANNELS):
                order = "".join(letter for letter in _CHANNELS if letter in letters)
                if letters != order:
                    yield place, f"channels must be in the order `.{order}`, not `.{word.text}`", None
    pair = {text.lower() for text in texts[:2]}
    if row.families and pair <= row.modifiers[0].words.keys() and not any(pair <= family for family in row.families):
        place = Place(bound.line, node.words[1].span)
        with_it = words(f"`{word}`" for family in row.families if texts[0].lower() in family for word in sorted(family))
        yield place, f"`{texts[0]}` and `{texts[1]}` cannot be combined; `{texts[0]}` goes with {with_it}", None


def _sampler(ctx: CheckContext, bound: Bound, row: Instruction, node: tree.Instruction) -> Iterator[Found]:
    # A form of text 4.1 without parameters fits better, if there is one, because it reads the paired surface as a parameter.
    is_older = Dialect.V42 not in row.dialects
    is_bare = row.slots[-1].shape is Shape.RAWS and (is_older or len(node.operands) < len(row.slots))
    for operand in bound.operands:
        value, place = operand.value, operand_place(bound, operand)
        is_state = operand.slot.shape in (Shape.SURFACE, Shape.SAMPLER)
        is_paired = operand.slot.name == "paired" or (is_older and operand.slot.shape is Shape.RAWS)
        if is_paired and isinstance(value, RawOperand) and value.var != 0:
            if ctx.platform is not None and ctx.platform.name not in _PAIRED:
                message = f"{ctx.platform.name} has no paired surfaces: `{ctx.text(place)}` must be `%null.0`; they exist from BMG on"
                yield place, message, None
        elif (
            is_state
            and value is not None
            and ctx.platform is not None
            and ctx.platform.efficient64b == isinstance(value, (int, State))
        ):
            holder = "a register with a pointer" if ctx.platform.efficient64b else "a variable of its class"
            dialect = "a text of Efficient64b" if ctx.platform.efficient64b else f"a text for {ctx.platform.name}"
            yield place, f"in {dialect} the {operand.slot.name} is {holder}, not `{ctx.text(place)}`", None
        elif is_state and row.has_field("divs") and isinstance(value, State) and value.offset != 0:
            yield place, f"`{row.mnemonic}` takes only index 0 into its states ({_STOPS})", WARNING
    if is_bare:
        place = Place(bound.line, node.words[0].span)
        yield place, f"`{row.mnemonic}` has no parameters; at least one is required ({_STOPS})", WARNING


def _wants(row: Instruction) -> bool:
    return (
        bool(row.refusals or row.families)
        or any(slot.shape in (Shape.SURFACE, Shape.SAMPLER) or slot.classes & ST for slot in row.slots)
        or any(m.unread or m.kind is Modifier.Kind.CHANNELS for m in row.modifiers)
    )


CHECK = Check(RULE, instruction=_instruction, wants=_wants)
