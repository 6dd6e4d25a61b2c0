"""Compiled messages, by the name of their effect. The rules are those of ``sim.effects``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from llvmlite import ir

from visa_lsp.isa import lsc_codes as codes
from visa_lsp.isa.types import ExecControl
from visa_lsp.sim.group import GLOBAL, SHARED
from visa_lsp.sim.jit import numbers, spaces, state
from visa_lsp.sim.jit.atomics import emit_atomic
from visa_lsp.sim.jit.emitter import Emitter, Uncompiled
from visa_lsp.sim.jit.memory_access import elements_of, move_block, transfer, wide
from visa_lsp.sim.jit.numbers import raw_lanes, raw_start, scalar
from visa_lsp.sim.jit.writer import I1, I32, I64, Node, integer, splat, vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.program.model import RawOperand
    from visa_lsp.sim.operands import Site

# ---- messages with a surface, and stateless ones of the same form


def _offsets(e: Emitter, site: Site, name: str, *, wide: bool = False) -> Node:
    """Return the per-lane offsets plus the global one: offsets in 32 bits, addresses (``wide``) in 64 bits."""
    kind = I64 if wide else I32
    found = raw_lanes(e, site, site.raw(name), kind, site.lanes)
    base = scalar(e, site, "goff") if site.has("goff") else None
    if base is None:
        return found
    return e.builder.add(found, e.spread(base if wide else e.builder.trunc(base, I32), site.lanes))


def _space(e: Emitter, site: Site, *, wide: bool) -> spaces.Found:
    return spaces.flat(e) if wide else spaces.surface(e, site)


def _channels(e: Emitter, site: Site, *, data: str, offset: str, wide: bool, write: bool) -> None:
    chosen = [4 * c for c in range(4) if site.integer("chan") >> c & 1]
    moved = elements_of(site, site.raw(data), chosen, 4, 4, max(site.lanes * 4, site.grf))
    at = _offsets(e, site, offset, wide=wide)
    transfer(e, site, _space(e, site, wide=wide), at, e.enable(site), moved, write=write)


def _cells(
    e: Emitter, site: Site, at: Node, data: str, memory: int, cell: int, blocks: int = 1, *, wide: bool = False, write: bool
) -> None:  # fmt: skip
    row = max(site.lanes * cell, site.grf if blocks > 1 else 1)
    moved = elements_of(site, site.raw(data), range(0, memory * blocks, memory), memory, cell, row)
    transfer(e, site, _space(e, site, wide=wide), at, e.enable(site), moved, write=write)


def _write_scaled(e: Emitter, site: Site, *, data: str, write: bool) -> None:
    if site.integer("n") > 2:
        raise Uncompiled
    _cells(e, site, _offsets(e, site, "off"), data, 1 << site.integer("n"), 4, write=write)


def _plain(e: Emitter, site: Site, *, data: str, write: bool) -> None:
    control = site.inst.get("n")
    if isinstance(control, ExecControl):
        site.control, site.lanes, site.full = control, control.exec_size, (1 << control.exec_size) - 1
    size = 1 << site.integer("eltsize")
    found = numbers.resize(e, _offsets(e, site, "off"), 64, signed=False)
    _cells(e, site, e.builder.mul(found, splat(I64, size, site.lanes)), data, size, 4, write=write)


def _qwords(e: Emitter, site: Site, *, data: str, write: bool) -> None:
    _cells(e, site, _offsets(e, site, "off"), data, 8, 8, 1 << site.integer("n"), write=write)


def _svm(e: Emitter, site: Site, *, write: bool) -> None:
    block, count = site.integer("block"), 1 << site.integer("n")
    size = {0: 1, 1: 4}.get(block, 8)
    memory, cell, blocks = (count, max(4, count), 1) if size == 1 else (size, size, count)
    _cells(e, site, _offsets(e, site, "address", wide=True), "data", memory, cell, blocks, wide=True, write=write)


def _owords(e: Emitter, site: Site, *, data: str, address: str, scale: int, write: bool, wide: bool = False) -> None:
    size = 16 << site.integer("n")
    start = raw_start(site, site.raw(data), size)
    base = scalar(e, site, address)
    at = ir.Constant(I64, 0) if base is None else e.builder.mul(base, ir.Constant(I64, scale))
    move_block(e, _space(e, site, wide=wide), at, start, size, write=write)


def _dword_atomic(e: Emitter, site: Site, *, offset: str, wide: bool) -> None:
    code = site.integer("op")
    size = 2 if code & 0x20 else 8 if code & 0x40 else 4
    word = "predec" if code & 31 == 13 else codes.ATOMIC_OP_TEXT.get(code & 31, "")
    at = _offsets(e, site, offset, wide=wide)
    emit_atomic(e, site, _space(e, site, wide=wide), at, word, size, max(4, size), names=("dst", "src0", "src1"))


# ---- messages of the load/store controller


def _addresses(e: Emitter, site: Site, lanes: int, base: Node | None) -> Node:
    """Return the address of each lane, scaled and displaced; addresses of 32 bits keep that width if no base is added."""
    size = codes.ADDRSIZE_BYTES.get(site.integer("addrsize"), 4)
    found = raw_lanes(e, site, site.raw("src0"), integer(8 * size), lanes)
    found = numbers.resize(e, found, 64, signed=site.integer("addrsize") == 6)
    scale, offset = site.integer("immscale", 1) or 1, site.integer("immoffset")
    if scale != 1:
        found = e.builder.mul(found, splat(I64, scale, lanes))
    if offset:
        found = e.builder.add(found, splat(I64, offset, lanes))
    if size <= 4 and site.integer("addrtype") != codes.ADDRTYPE_FLAT:
        found = e.builder.trunc(found, vector(I32, lanes))
    return found if base is None else e.builder.add(wide(e, found), e.spread(base, lanes))


def _lsc(e: Emitter, site: Site, *, write: bool, quad: bool = False) -> None:
    memory, register, high = _sizes(site)
    if quad:
        elements = [c for c in range(4) if site.integer("chmask") >> c & 1]
    else:
        elements = list(range(codes.ELEMS_VALUE.get(site.integer("elems"), 1)))
    found, base = spaces.lsc(e, site)
    operand = site.raw("src1" if write else "dst")
    if operand.var == 0 and not write:
        return
    if site.integer("order") == codes.ORDER_TRANSPOSED:
        if memory != register or operand.var == 0:
            raise Uncompiled
        _lsc_block(e, site, found, base, operand, len(elements) * memory, write=write)
        return
    row = max(site.grf, -(-site.lanes * register // site.grf) * site.grf)
    moved = elements_of(site, operand, [memory * c for c in elements], memory, register, row, high=high)
    transfer(e, site, found, _addresses(e, site, site.lanes, base), e.enable(site), moved, write=write)


def _sizes(site: Site) -> tuple[int, int, bool]:
    """Return the bytes of an element in memory and in registers, and whether it fills the upper half there."""
    data = codes.DATASIZES.get(site.integer("datasize"))
    if data is None:
        raise Uncompiled
    return data.memory_bytes, data.register_bytes, data.high_half


def _lsc_block(
    e: Emitter, site: Site, found: spaces.Found, base: Node | None, operand: RawOperand, size: int, *, write: bool
) -> None:
    """Emit a transposed message: contiguous elements of one lane."""
    start = raw_start(site, operand, size)
    at = e.builder.extract_element(wide(e, _addresses(e, site, 1, base)), ir.Constant(I32, 0))
    bits = e.some(e.enable(site), site)
    with e.builder.if_then(bits if site.lanes == 1 else e.builder.trunc(bits, I1)):
        move_block(e, found, at, start, size, write=write)


def _lsc_atomic(e: Emitter, site: Site) -> None:
    memory, register, _ = _sizes(site)
    found, base = spaces.lsc(e, site)
    at = _addresses(e, site, site.lanes, base)
    emit_atomic(e, site, found, at, site.inst.row.update, memory, register, names=("dst", "src1", "src2"))


def _fence(e: Emitter, site: Site, *, memory: int = 0) -> None:
    """Emit a fence: memory is always in order; with checkers, the thread records the memory of the fence."""
    if not e.mode.watched:
        return
    meant = memory or (SHARED if site.integer("sfid") == codes.SFID_SLM else GLOBAL)
    fenced = e.word(e.block, state.FENCED)
    e.put_word(e.block, state.FENCED, e.builder.or_(fenced, ir.Constant(I64, meant)))


MESSAGES: Final[dict[str, Callable[[Emitter, Site], None]]] = {
    "gather4_scaled": partial(_channels, data="dst", offset="off", wide=False, write=False),
    "scatter4_scaled": partial(_channels, data="src", offset="off", wide=False, write=True),
    "svm_gather4scaled": partial(_channels, data="data", offset="address", wide=True, write=False),
    "svm_scatter4scaled": partial(_channels, data="data", offset="address", wide=True, write=True),
    "gather_scaled": partial(_write_scaled, data="dst", write=False),
    "scatter_scaled": partial(_write_scaled, data="src", write=True),
    "gather": partial(_plain, data="dst", write=False),
    "scatter": partial(_plain, data="src", write=True),
    "qw_gather": partial(_qwords, data="dst", write=False),
    "qw_scatter": partial(_qwords, data="src", write=True),
    "svm_gather": partial(_svm, write=False),
    "svm_scatter": partial(_svm, write=True),
    "oword_ld": partial(_owords, data="dst", address="offset", scale=16, write=False),
    "oword_ld_unaligned": partial(_owords, data="dst", address="offset", scale=1, write=False),
    "oword_st": partial(_owords, data="src", address="offset", scale=16, write=True),
    "svm_block_ld": partial(_owords, data="data", address="address", scale=1, write=False, wide=True),
    "svm_block_st": partial(_owords, data="data", address="address", scale=1, write=True, wide=True),
    "dword_atomic": partial(_dword_atomic, offset="off", wide=False),
    "svm_atomic": partial(_dword_atomic, offset="address", wide=True),
    "lsc_load": partial(_lsc, write=False),
    "lsc_store": partial(_lsc, write=True),
    "lsc_load_quad": partial(_lsc, write=False, quad=True),
    "lsc_store_quad": partial(_lsc, write=True, quad=True),
    "lsc_atomic": _lsc_atomic,
    "fence": _fence,
    "fence_global": partial(_fence, memory=GLOBAL),
    "fence_shared": partial(_fence, memory=SHARED),
    "wait": lambda _e, _site: None,  # because the interpreter also does nothing
}
