"""Effects with more than one result, or with a function in a field: addc, subb, madw, add3.o, invm, rsqtm, bfn.

Each is exact: results are computed in 64 bits and then split.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np

from visa_lsp.isa import types as ty
from visa_lsp.program.model import General, Indirect, Predicate, PredicateOperand, Value
from visa_lsp.program.regions import rows_of_low_halves
from visa_lsp.sim import exact, values
from visa_lsp.sim.integer_formulas import boolean_function, carry
from visa_lsp.sim.lanes import converter, flush_source, int_source, set_predicate
from visa_lsp.sim.operands import Op, Site, mask_bits

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]

_I8: Final = np.dtype("<i8")


def _first(site: Site, *names: str) -> Value:
    return next((site.inst.get(n) for n in names if site.has(n)), None)


def _carry(site: Site, *, subtract: bool) -> Op:
    """Return the op of addc and subb: the low 32 bits, and the carry in a second destination."""
    dst, extra = site.inst.get("dst"), _first(site, "carry", "borrow", "dst1")
    a = int_source(site, site.inst.get("src0"), ty.UD, _I8)
    b = int_source(site, site.inst.get("src1"), ty.UD, _I8)
    store, store_extra, enable = site.write(dst), site.write(extra), site.enable()

    def op(f: Frame) -> None:
        mask = enable(f)
        if not mask:
            return
        total, bit = carry(a(f), b(f), subtract=subtract)
        store(f, mask, total)
        store_extra(f, mask, bit)

    return op


def addc(site: Site) -> Op:
    """Add, with the carry in a second destination."""
    return _carry(site, subtract=False)


def subb(site: Site) -> Op:
    """Subtract, with the borrow in a second destination."""
    return _carry(site, subtract=True)


def madw(site: Site) -> Op:
    """Compute 32 x 32 + 32 bits to 64: low halves in the destination, high halves from the next free register on.

    Raises KernelFault if the destination is neither general nor indirect.
    """
    dst = site.inst.get("dst")
    sources = [site.inst.get(f"src{i}") for i in range(3)]
    exec_type = values.execution_type(site.operand_type(s) for s in sources)
    dtype = _I8 if exec_type.is_signed else np.dtype(object)
    fetches = [int_source(site, s, exec_type, dtype) for s in sources]
    if not isinstance(dst, General | Indirect):
        raise site.fault("the destination must be a general or an indirect operand")
    store, store_high, enable = site.write(dst), site.write(high_half(site, dst)), site.enable()

    def op(f: Frame) -> None:
        mask = enable(f)
        if mask:
            a, b, c = (fetch(f) for fetch in fetches)
            total = a * b + c
            store(f, mask, values.wrap_int(total, ty.UD))
            store_high(f, mask, values.wrap_int(total >> 32, ty.UD))

    return op


@overload
def high_half(site: Site, dst: Indirect) -> Indirect: ...
@overload
def high_half(site: Site, dst: General | Indirect) -> General | Indirect: ...
def high_half(site: Site, dst: General | Indirect) -> General | Indirect:
    """Return the destination of the high halves: behind the registers of the low ones."""
    rows = rows_of_low_halves(dst.region.horz_stride or 1, site.lanes, 4, site.grf)
    if isinstance(dst, General):
        return General(dst.var, dst.row + rows, dst.col, dst.region)
    return Indirect(dst.var, dst.addr_offset, dst.offset + rows * site.grf, dst.type, dst.region)


def bfn(site: Site) -> Op:
    """Compute a Boolean function of three sources, bit by bit, from a table of eight bits."""
    table = site.integer("func")
    sources = [site.inst.get(f"src{i}") for i in range(3)]
    exec_type = values.execution_type(site.operand_type(s) for s in sources)
    fetches = [int_source(site, s, exec_type, _I8) for s in sources]
    store, enable = site.write(site.inst.get("dst")), site.enable()

    def op(f: Frame) -> None:
        mask = enable(f)
        if mask:
            store(f, mask, boolean_function(table, *(fetch(f) for fetch in fetches)))

    return op


def add3_overflow(site: Site) -> Op:
    """Add three sources; the predicate named before the instruction receives the overflow of each lane."""
    dst = site.inst.get("dst")
    sources = [site.inst.get(f"src{i}") for i in range(3)]
    exec_type = values.execution_type(site.operand_type(s) for s in sources)
    fetches = [int_source(site, s, exec_type, _I8 if exec_type.size < 8 else np.dtype(object)) for s in sources]
    pred = site.inst.get("pred")
    var = pred.var if isinstance(pred, Predicate) else 0
    target = site.operand_type(dst)
    low, high = values.limits(target)
    store, enable, offset, lanes = site.write(dst), site.enable(predicate=False), site.control.mask_offset, site.lanes

    def op(f: Frame) -> None:
        mask = enable(f)
        total = np.broadcast_to(sum(fetch(f) for fetch in fetches), (lanes,))
        store(f, mask, values.wrap_int(total, target))
        if var:
            outside = np.asarray((total < low) | (total > high), bool)
            set_predicate(f, var, offset, mask, mask_bits(outside))

    return op


def _early_out(site: Site, sources: int, compute: Callable[..., Array], word: str = "") -> Op:
    """Return the op of a math macro: the result, and a predicate bit if it is NaN, infinite or zero, and so final."""
    dst, flag = site.inst.get("dst"), site.inst.get("preddst")
    operands = [site.inst.get(f"src{i}") for i in range(sources)]
    exec_type = values.execution_type(site.operand_type(o) for o in operands)
    if not exec_type.is_float or not isinstance(flag, PredicateOperand):
        raise site.fault("it takes floats and a predicate as its second destination")
    fetches = [flush_source(site, o, exec_type) for o in operands]
    store, enable, convert = site.write(dst), site.enable(), converter(site, exec_type, dst)
    var, offset, lanes = flag.var, site.control.mask_offset, site.lanes

    def op(f: Frame) -> None:
        mask = enable(f)
        inputs = [fetch(f) for fetch in fetches]
        if word and f.rounding is not values.Rounding.EVEN:
            exactly = exact.evaluate(word, inputs, f.rounding, double=exec_type is ty.DF)
            result = exactly if exec_type is ty.DF else values.narrow(exactly, exec_type, f.rounding)
        else:
            result = compute(*inputs)
        result = np.broadcast_to(result, (lanes,))
        set_predicate(f, var, offset, mask, mask_bits(np.asarray(~np.isfinite(result) | (result == 0))))
        store(f, mask, convert(f, result))

    return op


def _rsqrt(a: Array) -> Array:
    return np.asarray((1.0 / np.sqrt(a.astype(np.float64))).astype(a.dtype))


EFFECTS: Final[dict[str, Callable[[Site], Op]]] = {
    "addc": addc,
    "subb": subb,
    "madw": madw,
    "bfn": bfn,
    "add3o": add3_overflow,
    "invm": lambda s: _early_out(s, 2, np.divide, "div"),
    "rsqtm": lambda s: _early_out(s, 1, _rsqrt),
}
