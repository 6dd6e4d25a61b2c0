"""A conversion to or from a narrow float breaks its rules about types, platforms or form.

`fcvt` converts between hf and an eight-bit float (written ub; from PTL on also b, which has four exponent bits), or f
and tf32 (written ud). `srnd` makes hf of f and ub of hf; from CRI on its source may be bf, and its result b.
Conversions to eight bits must be unmasked. `mov` does the same between variables that are declared bf8, hf8 and tf32.
They take no source modifier.

Why: the finalizer rejects the text; under a mask the hardware would leave halves of dwords behind.

Example:

    srnd (M1, 16) V44(0,0)<1> V35(0,0)<1;1,0> V35(2,0)<1;1,0>

Instead:

    srnd (M1_NM, 16) V44(0,0)<1> V35(0,0)<1;1,0> V35(2,0)<1;1,0>

Authority: the finalizer on PVCXT; the public verifier of 2026 for later platforms; public pages FCVT and SRND.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import exec_control, operand_place, slot_words, words
from visa_lsp.isa.model import Dialect, Instruction, Role, Together
from visa_lsp.isa.platforms import PLATFORMS, Platform
from visa_lsp.isa.types import E2M1, TYPES, DataType, ExecControl
from visa_lsp.sema.model import BoundOperand, Place
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    Types = tuple[tuple[str, DataType], ...]

RULE = rule("V237", "narrow-conversion", ERROR, __doc__)
_ENDS: Final = frozenset({"dst", "src0"})


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    row, node = bound.row, bound.statement
    if row is None or bound.inst is None or not isinstance(node, tree.Instruction):
        return
    facts = ctx.facts(body)
    typed = [(o, t) for o in bound.operands if (t := facts.type_of(o.value)) is not None]
    types = tuple([(o.slot.name, t) for o, t in typed])
    if row.limited and row.limited.isdisjoint([t for _, t in types]):
        return
    fitting = _find_combination(row, types, ctx.platform, ctx.dialect)
    # The finalizer of 2026 checks all of these types but e2m1.
    severity = WARNING if row.limited and E2M1 in [t for _, t in types] else None
    if isinstance(fitting, str):
        # A wrong operand is reported at its place, a wrong pair of types at the mnemonic.
        wrong = next((o for o, _ in typed if o.slot.name == fitting), None)
        if wrong is None:
            yield ctx.report(
                RULE, Place(bound.line, node.words[0].span), _no_pair(row, types, ctx.platform), severity=severity
            )
        else:
            yield ctx.report(RULE, operand_place(bound, wrong), _no_operand(row, wrong, dict(types)), severity=severity)
        return
    control = exec_control(bound)
    if fitting.unmasked and control is not None and not control.no_mask:
        yield _report_mask(ctx, bound, node, control)
    if fitting.plain and node.predicate is not None and row.predicable:
        message = (
            f"`{row.mnemonic}` between {words(dict.fromkeys(t.name for _, t in types), 'and')} cannot be predicated"
        )
        yield ctx.report(RULE, Place(bound.line, node.words[0].span), message)
    if fitting.plain:
        yield from _check_modifiers(ctx, bound)
    sat = next((w for w in node.words if w.text == "sat"), None)
    if not fitting.saturable and sat is not None:
        yield ctx.report(
            RULE, Place(bound.line, sat.span), f"a result of type `{dict(types)['dst'].name}` cannot be saturated"
        )


def _check_modifiers(ctx: CheckContext, bound: Bound) -> Iterator[Diagnostic]:
    for operand in bound.operands:
        node = operand.node
        if (
            operand.slot.role is Role.READ
            and isinstance(node, (tree.Ref, tree.IndirectRef))
            and node.modifier is not None
        ):
            text, place = node.modifier.text, Place(bound.line, node.modifier.span)
            message = f"a conversion of narrow floats takes no source modifier; remove `{text}`"
            yield ctx.report(RULE, place, message, fixes=(ctx.fix(f"remove `{text}`", place, ""),))


@lru_cache(maxsize=4096)
def _find_combination(row: Instruction, types: Types, platform: Platform | None, dialect: Dialect) -> Together | str:
    """Return the legal combination of an instruction, or the name of the one wrong operand; empty if the pair is wrong."""
    here = [c for c in row.together if dialect in c.dialects and (platform is None or platform.name in c.platforms)]
    alone = ""
    for combination in here:
        misfits = [name for name, t in types if name in combination.types and t not in combination.types[name]]
        if not misfits:
            return combination
        if len(misfits) == 1 and misfits[0] not in _ENDS:
            alone = misfits[0]
    return alone


def _no_pair(row: Instruction, types: Types, platform: Platform | None) -> str:
    by_name = dict(types)
    to, source = (by_name[name].name if name in by_name else "another type" for name in ("dst", "src0"))
    conversions = [c for c in row.together if all(t in c.types.get(n, (t,)) for n, t in types if n in _ENDS)]
    if conversions and platform is not None:
        oldest = next(p.name for p in PLATFORMS if any(p.name in c.platforms for c in conversions))
        newest = [p.name for p in PLATFORMS if any(p.name in c.platforms for c in conversions)][-1]
        where = f"from {oldest} on" if newest == PLATFORMS[-1].name else f"up to {newest}"
        return f"`{row.mnemonic}` converts {source} to {to} {where}, not on {platform.name}"
    here = [c for c in row.together if platform is None or platform.name in c.platforms]
    pairs = dict.fromkeys(
        f"{_names(c, 'src0')} to {_names(c, 'dst')}" for c in here if c.types["dst"] != c.types["src0"]
    )
    return f"`{row.mnemonic}` does not convert {source} to {to}; it converts {words(pairs)}"


def _no_operand(row: Instruction, operand: BoundOperand, types: dict[str, DataType]) -> str:
    name = operand.slot.name
    legal = {t for c in row.together for t in c.types.get(name, ())}
    type_names = words(f"`{t.name}`" for t in TYPES if t in legal)
    return f"{slot_words(operand.slot)} of `{row.mnemonic}` has type `{types[name].name}`; it can be {type_names}"


def _names(combination: Together, slot: str) -> str:
    return words(t.name for t in TYPES if t in combination.types[slot])


def _report_mask(ctx: CheckContext, bound: Bound, node: tree.Instruction, control: ExecControl) -> Diagnostic:
    mask = node.exec.mask if node.exec else None
    place = Place(bound.line, mask.span if mask else node.words[0].span)
    modern = f"M{control.mask_offset // 4 + 1}_NM"
    fixes = [ctx.fix(f"change to `{modern}`", place, modern)] if mask else []
    return ctx.report(
        RULE, place, f"`{node.words[0].text}` must be unmasked here: `({modern}, {control.exec_size})`", fixes=fixes
    )


CHECK = Check(RULE, instruction=_instruction, wants=lambda row: bool(row.together))
