"""Compiles lane instructions to closures: sources to the execution type, the word, the result to the destination's type.

The rules are those of ``isa.lane``, with two details. A negated unsigned source stays negative until the destination
truncates it (the hardware keeps extra bits, and ``add.sat`` relies on it). Shift counts are modulo 32, or 64 if a
64-bit type is involved (documentation pages SHL, SHR). ``operands`` handles registers and masks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import Expr
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.program.model import Address, Immediate, PredicateOperand, Value
from visa_lsp.sim import exact, values, words
from visa_lsp.sim.integer_formulas import dp4a
from visa_lsp.sim.values import DTYPE, Rounding

if TYPE_CHECKING:
    from visa_lsp.sim.operands import Fetch, Op, Site
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]
Body = Callable[..., Array]
Compute = Callable[["Frame", list[Array]], Array]
Convert = Callable[["Frame", Array], Array]

I4: Final = np.dtype("<i4")
I8: Final = np.dtype("<i8")
F4: Final = np.dtype("<f4")
F8: Final = np.dtype("<f8")
OBJECT: Final = np.dtype(object)


def saturates(operand: Value) -> bool:
    """Return whether a destination clamps."""
    return getattr(operand, "modifier", None) is OperandModifier.SAT


def modifier_of(operand: Value) -> OperandModifier:
    """Return the source modifier of an operand."""
    modifier: OperandModifier = getattr(operand, "modifier", OperandModifier.NONE)
    return modifier


def int_source(
    site: Site, operand: Value, exec_type: ty.DataType, dtype: np.dtype[Any], lanes: int | None = None
) -> Fetch:
    """Return the lanes of an integer source in ``dtype``: truncated to the execution type, then extended.

    Raises KernelFault if the operand is a float.
    """
    type_ = site.operand_type(operand)
    if type_.is_float:
        raise site.fault(f"a {type_} source beside integers")
    storage = DTYPE[type_]
    signed = values.is_read_signed(type_, exec_type)
    if signed and not type_.is_signed:
        storage = DTYPE[exec_type]
    fetch = site.read(operand, lanes, storage)
    modifier = modifier_of(operand)
    if storage != dtype:
        inner = fetch
        if isinstance(operand, Address | PredicateOperand):
            fetch = lambda f: inner(f).astype(dtype)  # noqa: E731
        else:
            fetch = _convert(inner, dtype, constant=isinstance(operand, Immediate))
    return _modify(fetch, modifier, unsigned=not signed)


def _convert(fetch: Fetch, dtype: np.dtype[Any], *, constant: bool) -> Fetch:
    if constant:
        kept: list[Array] = []

        def once(f: Frame) -> Array:
            if not kept:
                kept.append(fetch(f).astype(dtype))
            return kept[0]

        return once
    return lambda f: fetch(f).astype(dtype)


def _modify(fetch: Fetch, modifier: OperandModifier, *, unsigned: bool) -> Fetch:
    match modifier:
        case OperandModifier.NEG:
            return lambda f: np.negative(fetch(f))
        case OperandModifier.ABS:
            return fetch if unsigned else lambda f: np.abs(fetch(f))
        case OperandModifier.NEGABS:
            return (lambda f: np.negative(fetch(f))) if unsigned else lambda f: np.negative(np.abs(fetch(f)))
        case OperandModifier.NOT:
            return lambda f: np.invert(fetch(f))
    return fetch


def float_source(site: Site, operand: Value, exec_type: ty.DataType, lanes: int | None = None) -> Fetch:
    """Return the lanes of a source as f32 (f64 for df), exact except for integers too wide for the type."""
    type_ = site.operand_type(operand)
    target = F8 if exec_type is ty.DF else F4
    fetch = site.read(operand, lanes)
    if type_ is ty.BF:
        inner = fetch
        fetch = lambda f: values.bf_to_f(inner(f))  # noqa: E731
        if target is F8:
            fetch = _convert(fetch, F8, constant=False)
    elif type_.is_float:
        if DTYPE[type_] != target:
            wider = _convert(fetch, target, constant=isinstance(operand, Immediate))
            fetch = (lambda f: values.quiet(wider(f))) if type_ is ty.HF else wider
    else:
        raw, wide = fetch, ty.DF if exec_type is ty.DF else ty.F
        fetch = lambda f: values.int_to_float(raw(f), wide, f.rounding)  # noqa: E731
    return _modify(fetch, modifier_of(operand), unsigned=False)


def keeps_denormals(f: Frame, type_: ty.DataType) -> bool:
    """Return whether the mode of a float type keeps denormals."""
    return f.keep_df if type_ is ty.DF else f.keep_hf if type_ is ty.HF else f.keep_f


def flush_source(site: Site, operand: Value, exec_type: ty.DataType, lanes: int | None = None) -> Fetch:
    """Return the lanes of a float source, with denormals of the execution type flushed by the modes."""
    fetch, smallest = float_source(site, operand, exec_type, lanes), values.SMALLEST_NORMAL[exec_type]
    return lambda f: fetch(f) if f.plain or keeps_denormals(f, exec_type) else values.flush(fetch(f), smallest)


def converter(site: Site, exec_type: ty.DataType, operand: Value) -> Convert:
    """Return a conversion from lanes of the execution type to the storage form of the destination."""
    dst = site.operand_type(operand)
    sat = saturates(operand)
    if not exec_type.is_float:
        if dst.is_float:
            if sat:
                return lambda f, v: values.int_to_float(np.clip(v, 0, 1), dst, f.rounding)
            return lambda f, v: values.int_to_float(v, dst, f.rounding)
        if sat:
            return lambda _f, v: values.clamp_int(v, dst)
        return lambda _f, v: values.wrap_int(v, dst) if v.dtype == OBJECT else v
    to_exec = exec_type is ty.HF and dst is not ty.HF
    if dst.is_int:

        def to_int(f: Frame, v: Array) -> Array:
            if to_exec:
                v = values.narrow(v, ty.HF, f.rounding)
            return values.float_to_int(v, dst)

        return to_int

    storage, smallest = DTYPE[dst], values.SMALLEST_NORMAL[dst]

    def to_float(f: Frame, v: Array) -> Array:
        if to_exec:
            v = values.narrow(v, ty.HF, f.rounding).astype(np.float32)
        if sat:
            v = values.unit_clamp(v)
        if v.dtype != storage:
            v = values.narrow(v, dst, f.rounding)
        if not f.plain and not keeps_denormals(f, dst):
            v = values.flush_bf(v) if dst is ty.BF else values.flush(v, smallest)
        return v

    return to_float


# ---- integer words on 32-bit lanes, without wider types


def _u(a: Array) -> Array:
    return a.view(np.uint32)


_FIVE: Final = np.int32(31)


def _rol32(a: Array, n: Array) -> Array:
    n = np.asarray(n & 31)
    u = _u(a)
    return np.asarray(u << _u(n) | u >> _u(np.asarray((32 - n) & 31)))


_FAST32: Final[dict[str, Body]] = {
    "shl": lambda a, n: np.left_shift(a, n & _FIVE),
    "asr": lambda a, n: np.right_shift(a, n & _FIVE),
    "shr": lambda a, n: np.right_shift(_u(a), _u(np.asarray(n & _FIVE))),
    "rol": _rol32,
    "ror": lambda a, n: _rol32(a, np.asarray(-n)),
    "cbit": lambda a: np.bitwise_count(_u(a)),
}


def _int_body(site: Site, word: str, exec_type: ty.DataType, *, wide_count: bool) -> Body:
    count_bits = 64 if wide_count or exec_type.size == 8 else 32
    body = words.int_body(word, exec_type.bits, signed=exec_type.is_signed, count_bits=count_bits)
    if body is None:
        raise site.fault(f"{word} has no meaning for integers")
    return body


def compose(
    expr: Expr, leaf: Callable[[str], Callable[..., Any]], constant: Callable[[int], Any]
) -> Callable[[list[Any]], Any]:
    """Return the function of a whole expression, composed of those of its words; lanes are those of either engine."""
    if expr.word == "src":
        return itemgetter(expr.args[0])
    if expr.word == "const":
        (number,) = expr.args
        array = constant(number if isinstance(number, int) else 0)
        return lambda _s: array
    body = leaf(expr.word)
    parts = [compose(a, leaf, constant) for a in expr.args if isinstance(a, Expr)]
    if len(parts) == 1:
        part = parts[0]
        return lambda s: body(part(s))
    if len(parts) == 2:
        left, right = parts
        return lambda s: body(left(s), right(s))
    if len(parts) == 3:
        left, middle, right = parts
        return lambda s: body(left(s), middle(s), right(s))
    return lambda s: body(*(p(s) for p in parts))


def words_of(expr: Expr) -> set[str]:
    """Return the words of an expression, including those of sources and constants."""
    inner = [words_of(a) for a in expr.args if isinstance(a, Expr)]
    return {expr.word}.union(*inner)


def source_count(expr: Expr) -> int:
    """Return the number of sources of an expression."""
    if expr.word == "src":
        number = expr.args[0]
        return number + 1 if isinstance(number, int) else 0
    return max((source_count(a) for a in expr.args if isinstance(a, Expr)), default=0)


def compile_lane(site: Site, expr: Expr) -> Op:
    """Return the op of an instruction whose meaning is an expression."""
    dst = site.inst.get("dst")
    sources = [site.inst.get(f"src{i}") for i in range(source_count(expr))]
    if isinstance(dst, PredicateOperand):
        return predicate_logic(site, expr, dst, sources)
    fetches, compute, convert = lane_plan(site, expr, sources, dst)
    return finish(site, fetches, compute, convert, dst)


def lane_plan(site: Site, expr: Expr, sources: list[Any], dst: Any) -> tuple[list[Fetch], Compute, Convert]:
    """Return the plan that fetches the sources of an expression, computes it, and converts it for a destination."""
    exec_type = values.execution_type(site.operand_type(s) for s in sources)
    if expr.word in words.ON_BITS and (exec_type.is_float or site.operand_type(dst).is_float):
        return _on_bits(site, expr, sources[0], dst)
    plan = (
        _float_plan(site, expr, exec_type, sources)
        if exec_type.is_float
        else _int_plan(site, expr, exec_type, sources, dst)
    )
    return *plan, converter(site, exec_type, dst)


def _on_bits(site: Site, expr: Expr, source: Value, dst: Value) -> tuple[list[Fetch], Compute, Convert]:
    """Return the plan of a word on the bits of a dword, whose types cause no conversion."""
    type_ = site.operand_type(dst)
    if type_.size != 4 or site.operand_type(source).size != 4:
        raise site.fault(f"{expr.word} works on dwords")
    body = words.int_body(expr.word, 32, signed=False, count_bits=32)
    assert body is not None
    fetch, storage = site.read(source, dtype=np.dtype("<u4")), DTYPE[type_]

    def compute(_f: Frame, s: list[Array]) -> Array:
        return np.asarray(body(s[0].astype(OBJECT))).astype(np.uint32)

    return [fetch], compute, lambda _f, v: v.view(storage)


def finish(site: Site, fetches: list[Fetch], compute: Compute, convert: Convert, dst: Value) -> Op:
    """Return an op that fetches, computes, converts and stores under the channel enable bits."""
    enable, store = site.enable(), site.write(dst)
    if len(fetches) == 1:
        only = fetches[0]

        def one(f: Frame) -> None:
            mask = enable(f)
            if mask:
                store(f, mask, convert(f, compute(f, [only(f)])))

        return one
    if len(fetches) == 2:
        left, right = fetches

        def two(f: Frame) -> None:
            mask = enable(f)
            if mask:
                store(f, mask, convert(f, compute(f, [left(f), right(f)])))

        return two

    def many(f: Frame) -> None:
        mask = enable(f)
        if mask:
            store(f, mask, convert(f, compute(f, [fetch(f) for fetch in fetches])))

    return many


def _int_plan(
    site: Site, expr: Expr, exec_type: ty.DataType, sources: list[Any], dst: Value
) -> tuple[list[Fetch], Compute]:
    used = words_of(expr)
    target = site.operand_type(dst)
    wraps = target.is_int and not saturates(dst)
    flat = all(isinstance(a, Expr) and a.word == "src" for a in expr.args)
    dtype: np.dtype[Any] = I8
    bodies: Callable[[str], Body] = lambda w: _int_body(site, w, exec_type, wide_count=target.size == 8)  # noqa: E731
    if used <= words.RING and wraps:
        dtype = I4 if max(target.size, exec_type.size) <= 4 else I8
    elif flat and wraps and target.size <= 4 and exec_type.size == 4 and expr.word in _FAST32:
        dtype = I4
        # An unsigned source has no sign to extend.
        bodies = lambda w: _FAST32["shr" if w == "asr" and not exec_type.is_signed else w]  # noqa: E731
    elif exec_type.size == 8 or (used & {"mul", "mad"} and not exec_type.is_signed):
        dtype = OBJECT
    elif expr.word == "mulh" and exec_type is ty.D:
        bodies = lambda _w: lambda a, b: a * b >> np.int64(32)  # noqa: E731
    if expr.word == "dp4a":
        dtype = OBJECT
        signs = tuple(site.operand_type(s).is_signed for s in sources[1:])
        bodies = lambda _w: words.each(partial(dp4a, signs=signs))  # noqa: E731
    function = compose(expr, bodies, lambda n: np.array([n], dtype))
    extended = values.extend_type(used, exec_type, target)
    fetches = [int_source(site, s, extended, dtype) for s in sources]
    return fetches, lambda _f, s: function(s)


def _float_plan(site: Site, expr: Expr, exec_type: ty.DataType, sources: list[Any]) -> tuple[list[Fetch], Compute]:
    def leaf(word: str) -> Body:
        if word == "mad" and exec_type is not ty.F:
            if exec_type is ty.HF:
                return words.multiply_add
            return lambda a, b, c: exact.evaluate("mad", [a, b, c], Rounding.EVEN, double=True)
        body = words.FLOAT.get(word)
        if body is None:
            raise site.fault(f"{word} has no meaning for floats")
        return body

    wide = F8 if exec_type is ty.DF else F4
    function: Callable[[list[Array]], Array] = compose(expr, leaf, lambda n: np.array([n], wide))
    directed = expr.word if expr.word in exact.WORDS else None
    smallest = values.SMALLEST_NORMAL[exec_type]

    def compute(f: Frame, s: list[Array]) -> Array:
        if f.plain:
            return function(s)
        if not keeps_denormals(f, exec_type):
            s = [values.flush(a, smallest) for a in s]
        if f.rounding is Rounding.EVEN or directed is None:
            return function(s)
        # Lanes of hf stay rounded to odd, because ``converter`` rounds them to their type.
        result = exact.evaluate(directed, s, f.rounding, double=exec_type is ty.DF)
        return values.narrow(result, ty.F, f.rounding) if exec_type is ty.F else result

    return [float_source(site, s, exec_type) for s in sources], compute


def predicate_logic(site: Site, expr: Expr, dst: PredicateOperand, sources: list[Any]) -> Op:
    """Return an op for logic on whole predicates, from the mask offset on (seed 004 "Predicate Operands").

    Raises KernelFault if a source is not a predicate, or the word has no meaning for predicates.
    """
    if not all(isinstance(s, PredicateOperand) for s in sources) or expr.word not in words.LANE_BOOL_WORDS:
        raise site.fault("a predicate is written from predicates only")
    offset, full, enable, var = site.control.mask_offset, site.full, site.enable(), dst.var
    ids = [s.var for s in sources]
    word = expr.word

    def op(f: Frame) -> None:
        mask = enable(f)
        bits = [f.preds[i] >> offset for i in ids]
        if word == "not":
            result = ~bits[0]
        elif word == "and":
            result = bits[0] & bits[1]
        elif word == "or":
            result = bits[0] | bits[1]
        else:
            result = bits[0] ^ bits[1]
        set_predicate(f, var, offset, mask, result & full)

    return op


def set_predicate(f: Frame, var: int, offset: int, mask: int, bits: int) -> None:
    """Set the bits of a predicate that are set in ``mask``, both counted from ``offset``."""
    f.preds[var] = f.preds[var] & ~(mask << offset) | (bits & mask) << offset
