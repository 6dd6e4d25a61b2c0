"""Effects whose lanes see their neighbours: dot products of four lanes, line and plane, sums of absolute differences.

Float results are computed in f64 and rounded once. A dot product gives the same value to all four lanes of a group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa import types as ty
from visa_lsp.program.model import General
from visa_lsp.sim import values
from visa_lsp.sim.lanes import converter, float_source, int_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.operands import Op, Site
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]


def _dot(site: Site, terms: int, *, homogeneous: bool = False) -> Op:
    """Dot products: dp2, dp3, dp4 and dph over groups of four lanes."""
    dst = site.inst.get("dst")
    a_of, b_of = (float_source(site, site.inst.get(n), ty.F) for n in ("src0", "src1"))
    store, enable, lanes = site.write(dst), site.enable(), site.lanes
    convert = converter(site, ty.F, dst)

    def op(f: Frame) -> None:
        mask = enable(f)
        a, b = (np.broadcast_to(s(f), (lanes,)).astype(np.float64).reshape(-1, 4) for s in (a_of, b_of))
        total = (a[:, :terms] * b[:, :terms]).sum(axis=1)
        if homogeneous:
            total = total + b[:, 3]
        store(f, mask, convert(f, total.repeat(4).astype(np.float32)))

    return op


def _scalars(site: Site, count: int) -> Callable[[Frame], Array]:
    """The first elements of src0, whatever its region."""
    operand = site.inst.get("src0")
    if not isinstance(operand, General):
        raise site.fault("src0 must be a general variable")
    view = site.code.view(site.origin(operand), np.dtype("<f4"), (count,), (4,))
    return lambda f: f.views[view].astype(np.float64)


def line(site: Site) -> Op:
    """Compute p * src1 + q, where p and q are elements 0 and 3 of src0."""
    scalars, src = _scalars(site, 4), float_source(site, site.inst.get("src1"), ty.F)
    dst = site.inst.get("dst")
    store, enable, convert = site.write(dst), site.enable(), converter(site, ty.F, dst)

    def op(f: Frame) -> None:
        p = scalars(f)
        store(f, enable(f), convert(f, (p[0] * src(f).astype(np.float64) + p[3]).astype(np.float32)))

    return op


def plane(site: Site) -> Op:
    """Compute p * u + q * v + r: p, q, r are elements 0, 1, 3 of src0; u and v alternate in groups of eight in src1."""
    scalars, operand, lanes = _scalars(site, 4), site.inst.get("src1"), site.lanes
    if not isinstance(operand, General):
        raise site.fault("src1 must be a general variable")
    groups = max(1, lanes // 8)
    view = site.code.view(site.origin(operand), np.dtype("<f4"), (groups, 2, 8), (64, 32, 4))
    dst = site.inst.get("dst")
    store, enable, convert = site.write(dst), site.enable(), converter(site, ty.F, dst)

    def op(f: Frame) -> None:
        p, uv = scalars(f), f.views[view].astype(np.float64)
        u, v = uv[:, 0].reshape(-1)[:lanes], uv[:, 1].reshape(-1)[:lanes]
        store(f, enable(f), convert(f, (p[0] * u + p[1] * v + p[3]).astype(np.float32)))

    return op


def _sad(site: Site, *, add: bool) -> Op:
    """Sums of absolute differences of pairs of lanes, into the even lane; odd lanes get the same."""
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
