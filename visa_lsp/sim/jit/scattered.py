"""Compiled messages with a surface, and stateless ones of the same form. The rules are those of ``sim.effects``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from llvmlite import ir

from visa_lsp.isa.lsc_codes import ATOMIC_OP_TEXT
from visa_lsp.isa.types import ExecControl
from visa_lsp.sim.jit import numbers, spaces
from visa_lsp.sim.jit.atomics import emit_atomic
from visa_lsp.sim.jit.emitter import I32, I64, Emitter, Node, Uncompiled, splat
from visa_lsp.sim.jit.moving import Moved, move_block, transfer
from visa_lsp.sim.jit.raw_operands import raw_start, scalar

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.program.model import RawOperand
    from visa_lsp.sim.operands import Site


def _offsets(e: Emitter, site: Site, name: str, lanes: int, *, wide: bool = False) -> Node:
    """Return the per-lane offsets plus the global one, in 32 bits, addresses (``wide``) in 64."""
    kind = I64 if wide else I32
    operand, size = site.raw(name), kind.width // 8
    start = raw_start(site, operand, lanes * size)
    base = scalar(e, site, "goff") if site.has("goff") else None
    found = splat(kind, 0, lanes) if start < 0 else e.load_lanes(start, range(lanes), kind)
    if base is None:
        return found
    return e.builder.add(found, e.spread(base if wide else e.builder.trunc(base, I32), lanes))


def _space(e: Emitter, site: Site, *, wide: bool) -> spaces.Found:
    return spaces.flat(e) if wide else spaces.surface(e, site)


def _channels(data: str, offset: str, *, wide: bool, write: bool) -> Callable[[Emitter, Site], None]:
    def emit(e: Emitter, site: Site) -> None:
        lanes = site.lanes
        chosen = [c for c in range(4) if site.integer("chan") >> c & 1]
        row = max(lanes * 4, site.grf)
        start = raw_start(site, site.raw(data), (len(chosen) - 1) * row + lanes * 4)
        moved = [Moved(4, 4, 4 * c, start + k * row if start >= 0 else -1) for k, c in enumerate(chosen)]
        at = _offsets(e, site, offset, lanes, wide=wide)
        transfer(e, site, _space(e, site, wide=wide), at, e.enable(site), moved, write=write)

    return emit


def _cells(
    e: Emitter, site: Site, at: Node, data: RawOperand, memory: int, cell: int, blocks: int, *, wide: bool, write: bool
) -> None:
    if memory not in (1, 2, 4, 8):
        raise Uncompiled
    lanes = site.lanes
    row = max(lanes * cell, site.grf if blocks > 1 else 1)
    start = raw_start(site, data, (blocks - 1) * row + lanes * cell)
    moved = [Moved(memory, cell, memory * b, start + b * row if start >= 0 else -1) for b in range(blocks)]
    transfer(e, site, _space(e, site, wide=wide), at, e.enable(site), moved, write=write)


def _scaled(*, write: bool) -> Callable[[Emitter, Site], None]:
    def emit(e: Emitter, site: Site) -> None:
        if site.integer("n") > 2:
            raise Uncompiled
        at = _offsets(e, site, "off", site.lanes)
        data = site.raw("src" if write else "dst")
        _cells(e, site, at, data, 1 << site.integer("n"), 4, 1, wide=False, write=write)

    return emit


def _plain(*, write: bool) -> Callable[[Emitter, Site], None]:
    def emit(e: Emitter, site: Site) -> None:
        control = site.inst.get("n")
        if isinstance(control, ExecControl):
            site.control, site.lanes, site.full = control, control.exec_size, (1 << control.exec_size) - 1
        size = 1 << site.integer("eltsize")
        found = numbers.resize(e, _offsets(e, site, "off", site.lanes), 64, signed=False)
        at = e.builder.mul(found, splat(I64, size, site.lanes))
        _cells(e, site, at, site.raw("src" if write else "dst"), size, 4, 1, wide=False, write=write)

    return emit


def _qwords(*, write: bool) -> Callable[[Emitter, Site], None]:
    def emit(e: Emitter, site: Site) -> None:
        at = _offsets(e, site, "off", site.lanes)
        data = site.raw("src" if write else "dst")
        _cells(e, site, at, data, 8, 8, 1 << site.integer("n"), wide=False, write=write)

    return emit


def _svm(*, write: bool) -> Callable[[Emitter, Site], None]:
    def emit(e: Emitter, site: Site) -> None:
        block, count = site.integer("block"), 1 << site.integer("n")
        size = {0: 1, 1: 4}.get(block, 8)
        memory, cell, blocks = (count, max(4, count), 1) if size == 1 else (size, size, count)
        at = _offsets(e, site, "address", site.lanes, wide=True)
        _cells(e, site, at, site.raw("data"), memory, cell, blocks, wide=True, write=write)

    return emit


def _owords(data: str, address: str, *, scale: int, write: bool, wide: bool = False) -> Callable[[Emitter, Site], None]:
    def emit(e: Emitter, site: Site) -> None:
        size = 16 << site.integer("n")
        start = raw_start(site, site.raw(data), size)
        base = scalar(e, site, address)
        at = ir.Constant(I64, 0) if base is None else e.builder.mul(base, ir.Constant(I64, scale))
        move_block(e, _space(e, site, wide=wide), at, start, size, write=write)

    return emit


def _dword_atomic(offset: str, *, wide: bool) -> Callable[[Emitter, Site], None]:
    def emit(e: Emitter, site: Site) -> None:
        code = site.integer("op")
        size = 2 if code & 0x20 else 8 if code & 0x40 else 4
        word = "predec" if code & 31 == 13 else ATOMIC_OP_TEXT.get(code & 31, "")
        at = _offsets(e, site, offset, site.lanes, wide=wide)
        emit_atomic(e, site, _space(e, site, wide=wide), at, word, size, max(4, size), names=("dst", "src0", "src1"))

    return emit


SCATTERED: Final[dict[str, Callable[[Emitter, Site], None]]] = {
    "gather4_scaled": _channels("dst", "off", wide=False, write=False),
    "scatter4_scaled": _channels("src", "off", wide=False, write=True),
    "svm_gather4scaled": _channels("data", "address", wide=True, write=False),
    "svm_scatter4scaled": _channels("data", "address", wide=True, write=True),
    "gather_scaled": _scaled(write=False),
    "scatter_scaled": _scaled(write=True),
    "gather": _plain(write=False),
    "scatter": _plain(write=True),
    "qw_gather": _qwords(write=False),
    "qw_scatter": _qwords(write=True),
    "svm_gather": _svm(write=False),
    "svm_scatter": _svm(write=True),
    "oword_ld": _owords("dst", "offset", scale=16, write=False),
    "oword_ld_unaligned": _owords("dst", "offset", scale=1, write=False),
    "oword_st": _owords("src", "offset", scale=16, write=True),
    "svm_block_ld": _owords("data", "address", scale=1, write=False, wide=True),
    "svm_block_st": _owords("data", "address", scale=1, write=True, wide=True),
    "dword_atomic": _dword_atomic("off", wide=False),
    "svm_atomic": _dword_atomic("address", wide=True),
}
