"""Each lane computes the same value, and one element would serve every read of the result.

Off by default, like the other hints about speed (`V51`). Reports an instruction without a predicate whose sources are
immediates and single elements, `<0;1,0>`, if no other instruction writes its variable and every read of the variable is
a region.

Why: the result occupies registers for every lane, and the instruction takes passes for all of them; one element, computed
without a mask and read with `<0;1,0>`, takes one of each.

Example:

    .decl V61 v_type=G type=d num_elts=8 align=GRF
    add (M1, 8) V61(0,0)<1> V33(0,0)<0;1,0> 0x1:d
    add (M1, 8) V34(0,0)<1> V34(0,0)<1;1,0> V61(0,0)<1;1,0>

Instead:

    .decl V61 v_type=G type=d num_elts=1
    add (M1_NM, 1) V61(0,0)<1> V33(0,0)<0;1,0> 0x1:d
    add (M1, 8) V34(0,0)<1> V34(0,0)<1;1,0> V61(0,0)<0;1,0>

Authority: none; the finalizer accepts the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import HINT, Body, Check, CheckContext, Diagnostic, Scope, rule
from visa_lsp.isa.lane import Lane
from visa_lsp.isa.model import Trait
from visa_lsp.program.model import General, Immediate, Inst, Predicate, Value

RULE = rule("V513", "same-in-lanes", HINT, __doc__)
_OTHERWISE = Trait.OWN_SHAPE | Trait.OWN_REGIONS | Trait.COPIES | Trait.SCALAR


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    # Imported here because the rule is off by default.
    from visa_lsp.checks.support.body_flow import find_used_variables, has_meaning, key_of
    from visa_lsp.flow.steps import Space, space_of

    if not has_meaning(body):
        return
    steps = ctx.steps(body)
    aliased = {key_of(symbol) for symbol in body.symbols if symbol.alias is not None}
    names = {
        key: v.name for v, usage in find_used_variables(body, steps) if (key := key_of(v)) is not None and usage.read
        and space_of(key) is Space.GENERAL and key not in aliased
    }  # fmt: skip
    writers: dict[int, list[int]] = {}
    for number, (step, bound) in enumerate(zip(steps, body.code, strict=True)):
        plain = bound.row is not None and isinstance(bound.row.meaning, Lane) and not bound.row.traits & _OTHERWISE
        for access in step.accesses:
            if access.writes:
                writers.setdefault(access.variable, []).append(number)
            elif not (plain and access.certain):
                names.pop(access.variable, None)  # a message, or an instruction that reads more than a region
    for variable, name in names.items():
        match writers.get(variable):
            case [number] if _is_same(body.code[number].inst):
                place = ctx.line_place(steps[number].line)
                message = (
                    f"every lane computes the same value: one element of `{name}`, read as `<0;1,0>`, would suffice"
                )
                yield ctx.report(RULE, place, message)


def _is_same(inst: Inst | None) -> bool:
    """Return whether an instruction of several lanes gives all of them one value."""
    if inst is None or not isinstance(inst.row.meaning, Lane) or inst.row.traits & _OTHERWISE:
        return False
    control = inst.get("exec")
    values = dict(zip((field.name for field in inst.row.fields), inst.values, strict=True))
    sources = [value for name, value in values.items() if name.startswith("src")]
    guarded = any(isinstance(value, Predicate) and value.var for value in inst.values)
    several = getattr(control, "exec_size", 1) > 1
    return several and not guarded and len(sources) > 1 and all(_is_one_element(value) for value in sources)


def _is_one_element(value: Value) -> bool:
    if isinstance(value, Immediate):
        return not value.type.is_packed
    if not isinstance(value, General):
        return False
    region = value.region
    return (region.vert_stride, region.width, region.horz_stride) == (0, 1, 0)


CHECK = Check(RULE, body=_body, default=False, scope=Scope.BODY)
