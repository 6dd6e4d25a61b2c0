"""A region touches elements that its variable does not have.

Why: the bytes after a variable belong to another one; reading them yields arbitrary values, writing them destroys it. A
copy of one element after the variable is a hint: compilers print the broadcast of a lane that a narrow kernel does not
have, and jump over it.

Example:

    .decl V40 v_type=G type=d num_elts=8
    add (M1, 16) V33(0,0)<1> V40(0,0)<1;1,0> 0x1:d

Instead:

    .decl V40 v_type=G type=d num_elts=16
    add (M1, 16) V33(0,0)<1> V40(0,0)<1;1,0> 0x1:d

Authority: seed 004 ("the behavior is undefined if an operand attempts to access an out-of-bound data element"); the finalizer
prints a warning and accepts the text.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from visa_lsp.checks.rule import HINT, WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import exec_control, operand_place
from visa_lsp.isa.model import Role, Shape, Trait
from visa_lsp.program.model import General
from visa_lsp.program.regions import destination_elements, origin, source_elements
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.isa.operands import Region
    from visa_lsp.sema.model import Symbol

RULE = rule("V305", "region-bounds", WARNING, __doc__)


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    if bound.inst is None:
        return
    control = exec_control(bound)
    lanes = control.exec_size if control else 1
    variables, grf_sizes = ctx.facts(body).variables, ctx.grf_sizes
    for operand in bound.operands:
        value = operand.value
        if operand.slot.shape is not Shape.VECTOR or not isinstance(value, General):
            continue
        symbol = variables.get(value.var)
        if symbol is None or symbol.predefined or symbol.type is None or value.region.horz_stride is None:
            continue
        size, write = symbol.type.size, operand.slot.role is Role.WRITE
        start = origin(value.row, value.col, size, min(grf_sizes))
        length = (_last(value.region, 1 if operand.slot.scalar else lanes, write=write) + 1) * size
        if start + length <= symbol.byte_size or _cut(operand.node):
            continue
        inside = start < symbol.byte_size
        # Compilers access a later part of a structure through an alias of its first part; the bytes belong to the base.
        base, offset = symbol.base()
        furthest = origin(value.row, value.col, size, max(grf_sizes))
        if not inside and base is not symbol and offset + furthest + length <= base.byte_size:
            continue
        # Compilers shift lanes by a move from later elements; lanes past the end are not used.
        copied = bound.inst.row.has(Trait.COPIES) and not write
        shifted = copied and inside and (value.row or value.col)
        if not shifted:
            # Functions for sub-groups of any width broadcast every lane of the widest; a narrow kernel skips that part.
            severity = HINT if copied and length == size else None
            place = operand_place(bound, operand)
            related = [(symbol.place, f"`{symbol.name}` is declared here")] if symbol.place else []
            message = _message(symbol, start + length, write=write)
            yield ctx.report(RULE, place, message, severity=severity, related=related)


@lru_cache(maxsize=1024)
def _last(region: Region, lanes: int, *, write: bool) -> int:
    """Return the furthest element that the lanes touch, counted from the origin."""
    return max(destination_elements(region.horz_stride or 0, lanes) if write else source_elements(region, lanes))


def _cut(node: object) -> bool:
    """Return whether the origin does not fit its field, so that the object has another origin."""
    indices = node.indices if isinstance(node, tree.Ref) and node.indices else ()
    return any(isinstance(index, tree.Number) and index.value > 255 for index in indices)


def _message(symbol: Symbol, end: int, *, write: bool) -> str:
    assert symbol.type is not None
    last = end // symbol.type.size - 1
    verb = "writes" if write else "reads"
    return f"the region {verb} up to element {last} of `{symbol.name}`, which has {symbol.num_elements} elements of type `{symbol.type.name}`"


CHECK = Check(
    RULE,
    instruction=_instruction,
    wants=lambda row: not row.has(Trait.OWN_SHAPE) and any(s.shape is Shape.VECTOR for s in row.slots),
)
