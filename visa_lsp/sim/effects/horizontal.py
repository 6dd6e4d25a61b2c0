"""Effects across neighbouring lanes: dot products of four lanes, line and plane, sums of absolute differences.

Float results are computed in f64 and rounded once. A dot product gives the same value to all four lanes of a group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa import types as ty
from visa_lsp.isa.operands import Region
from visa_lsp.program.model import General, Indirect, Value
from visa_lsp.sim import values
from visa_lsp.sim.lanes import converter, flush_source, int_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.operands import Fetch, Op, Site
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]


def _floats(site: Site, operand: Value, lanes: int | None = None) -> Fetch:
    """Return lanes of a source as f64, with denormals of f flushed by the mode."""
    fetch = flush_source(site, operand, ty.F, lanes)
    return lambda f: fetch(f).astype(np.float64)


def _dot(site: Site, terms: int, *, homogeneous: bool = False) -> Op:
    """Compute dot products: dp2, dp3, dp4 and dph over groups of four lanes."""
    dst = site.inst.get("dst")
    a_of, b_of = (_floats(site, site.inst.get(n)) for n in ("src0", "src1"))
    store, enable, lanes = site.write(dst), site.enable(), site.lanes
    convert = converter(site, ty.F, dst)

    def op(f: Frame) -> None:
        mask = enable(f)
        a, b = (np.broadcast_to(s(f), (lanes,)).reshape(-1, 4) for s in (a_of, b_of))
        total = (a[:, :terms] * b[:, :terms]).sum(axis=1)
        if homogeneous:
            total = total + b[:, 3]
        store(f, mask, convert(f, total.repeat(4).astype(np.float32)))

    return op


def _in_a_row(site: Site, operand: Value, count: int, exec_type: ty.DataType) -> Callable[[Frame], Array]:
    """Return consecutive elements from an operand's first, ignoring its region: f64, or int64 for integers."""
    if not isinstance(operand, General | Indirect):
        raise site.fault("the source must be a general or an indirect operand")
    region = Region(1, 1, 0)
    if isinstance(operand, General):
        plain: General | Indirect = General(operand.var, operand.row, operand.col, region, operand.modifier)
    else:
        plain = Indirect(operand.var, operand.addr_offset, operand.offset, operand.type, region, operand.modifier)
    if exec_type.is_float:
        return _floats(site, plain, count)
    return int_source(site, plain, exec_type, _wide(exec_type), count)


def _wide(exec_type: ty.DataType) -> np.dtype[Any]:
    """Return a type that holds sums and products of integers of an execution type."""
    return np.dtype("<i8") if exec_type.size < 4 else np.dtype(object)


def line(site: Site) -> Op:
    """Compute p * src1 + q, where p and q are elements 0 and 3 of src0."""
    src0, src1, dst = (site.inst.get(n) for n in ("src0", "src1", "dst"))
    exec_type = values.execution_type(site.operand_type(s) for s in (src0, src1))
    scalars = _in_a_row(site, src0, 4, exec_type)
    src = _floats(site, src1) if exec_type.is_float else int_source(site, src1, exec_type, _wide(exec_type))
    store, enable, convert = site.write(dst), site.enable(), converter(site, exec_type, dst)

    def op(f: Frame) -> None:
        p, u = scalars(f), src(f)
        total = p[0] * u + p[3]
        store(f, enable(f), convert(f, total.astype(np.float32) if exec_type.is_float else total))

    return op


def plane(site: Site) -> Op:
    """Compute p * u + q * v + r: p, q, r are elements 0, 1, 3 of src0; u and v alternate in groups of eight in src1."""
    lanes = site.lanes
    scalars = _in_a_row(site, site.inst.get("src0"), 4, ty.F)
    groups = max(1, lanes // 8)
    pairs = _in_a_row(site, site.inst.get("src1"), groups * 16, ty.F)
    dst = site.inst.get("dst")
    store, enable, convert = site.write(dst), site.enable(), converter(site, ty.F, dst)

    def op(f: Frame) -> None:
        p, uv = scalars(f), pairs(f).reshape(groups, 2, 8)
        u, v = uv[:, 0].reshape(-1)[:lanes], uv[:, 1].reshape(-1)[:lanes]
        store(f, enable(f), convert(f, (p[0] * u + p[1] * v + p[3]).astype(np.float32)))

    return op


def _sad(site: Site, *, add: bool) -> Op:
    """Compute the sum of absolute differences of pairs of lanes; both lanes receive it."""
    if site.lanes < 2:
        raise site.fault("lanes are taken in pairs; the execution size must be at least 2")
    names = ("src0", "src1", "src2") if add else ("src0", "src1")
    operands = [site.inst.get(n) for n in names]
    exec_type = values.execution_type(site.operand_type(o) for o in operands)
    fetches = [int_source(site, o, exec_type, np.dtype("<i8")) for o in operands]
    dst = site.inst.get("dst")
    store, enable, lanes = site.write(dst), site.enable(), site.lanes
    convert = converter(site, exec_type, dst)

    def op(f: Frame) -> None:
        sources = [np.broadcast_to(fetch(f), (lanes,)) for fetch in fetches]
        pairs = np.abs(sources[0] - sources[1]).reshape(-1, 2).sum(axis=1).repeat(2)
        if add:
            pairs = pairs + sources[2]
        store(f, enable(f), convert(f, pairs))

    return op


EFFECTS: Final[dict[str, Callable[[Site], Op]]] = {
    "dot2": lambda s: _dot(s, 2),
    "dot3": lambda s: _dot(s, 3),
    "dot4": lambda s: _dot(s, 4),
    "doth": lambda s: _dot(s, 3, homogeneous=True),
    "line": line,
    "plane": plane,
    "sad2": lambda s: _sad(s, add=False),
    "sad2add": lambda s: _sad(s, add=True),
}
