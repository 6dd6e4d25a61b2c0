"""A conversion to or from a narrow float breaks its rules: which types it joins, and that it is unmasked.

`fcvt` joins hf and an eight-bit float (written ub), or f and tf32 (written ud). To eight bits it is unmasked, and so is `srnd`.

Why: the finalizer rejects the text; under a mask the hardware would leave halves of dwords behind.

Example:

    srnd (M1, 16) V44(0,0)<1> V35(0,0)<1;1,0> V35(2,0)<1;1,0>

Instead:

    srnd (M1_NM, 16) V44(0,0)<1> V35(0,0)<1;1,0> V35(2,0)<1;1,0>

Authority: the finalizer on PVCXT; public pages FCVT and SRND.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.checks.facts import exec_control
from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.isa.lane import Effect
from visa_lsp.isa.types import HF, UB, UD, F
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.isa.types import ExecControl

RULE = rule("V237", "narrow-conversion", ERROR, __doc__)
_PAIRS: Final = frozenset({(UB, HF), (HF, UB), (UD, F), (F, UD)})
_FCVT, _SRND = Effect("fcvt"), Effect("srnd")


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    control, node = exec_control(bound), bound.statement
    if bound.row is None or bound.inst is None or control is None or not isinstance(node, tree.Instruction):
        return
    facts = ctx.facts(body)
    to, source = facts.type_of(bound.inst.get("dst")), facts.type_of(bound.inst.get("src0"))
    name = node.words[0].text
    if bound.row.meaning == _FCVT and to is not None and source is not None and (to, source) not in _PAIRS:
        place = Place(bound.line, node.words[0].span)
        yield ctx.report(RULE, place, f"`{name}` joins hf and ub, or f and ud, not {to.name} and {source.name}")
    elif not control.no_mask and (bound.row.meaning == _SRND or to is UB):
        yield _masked(ctx, bound, node, control)


def _masked(ctx: CheckContext, bound: Bound, node: tree.Instruction, control: ExecControl) -> Diagnostic:
    mask = node.exec.mask if node.exec else None
    place = Place(bound.line, mask.span if mask else node.words[0].span)
    modern = f"M{control.mask_offset // 4 + 1}_NM"
    fixes = [ctx.fix(f"change to `{modern}`", place, modern)] if mask else []
    return ctx.report(
        RULE, place, f"`{node.words[0].text}` has to be unmasked here: `({modern}, {control.exec_size})`", fixes=fixes
    )


CHECK = Check(RULE, instruction=_instruction, wants=lambda row: row.meaning in (_FCVT, _SRND))
