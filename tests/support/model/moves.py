"""Effects that move values: mov, sel, cmp, setp, movs, addr_add, and the conversions of narrow floats."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np

from tests.support.model.lanes import kinds_of, lane_sources, modifier, saturates, sources_of, store
from tests.support.model.numbers import FLOATS, SIZES, decode, encode, exact, execution_type, round_number
from visa_lsp.program.model import Address, AddressOf, General, Immediate, Predicate, PredicateOperand
from visa_lsp.program.model import State as StateOperand

if TYPE_CHECKING:
    from tests.support.model.state import State


def mov(state: State, inst) -> None:
    """Copy; bits stay as they are between equal types without modifier."""
    dst, src = inst.get("dst"), inst.get("src0")
    if isinstance(dst, Address):
        return _move_address(state, inst, dst, src)
    if isinstance(src, PredicateOperand):
        kind = state.type_name(dst)
        return state.put(inst, dst, {0: encode(state.preds[src.var], kind)}, 1)
    return _copy(state, inst, [src], [0] * inst.get("exec").exec_size, state.compute_enable(inst))


def _copy(state: State, inst, operands, choice: list[int], on: list[bool]) -> None:
    """Copy the chosen source of each lane: as bits between equal types, else converted."""
    dst = inst.get("dst")
    kind, kinds = state.type_name(dst), kinds_of(state, operands)
    lanes = len(on)
    packed = [isinstance(o, Immediate) and o.type.is_packed for o in operands]
    if set(kinds) == {kind} and not saturates(dst) and all(modifier(o) == "NONE" for o in operands) and not any(packed):
        columns = [state.elements(o, lanes) for o in operands]
        state.put(inst, dst, {i: columns[choice[i]][i] for i in range(lanes) if on[i]}, lanes)
        return
    exec_kind = execution_type(kinds)
    # A lane that takes a float of the destination's type without modifier copies its bits.
    raw = set()
    if len(operands) > 1 and exec_kind in FLOATS and not saturates(dst):
        raw = {n for n, o in enumerate(operands) if kinds[n] == kind and modifier(o) == "NONE" and not packed[n]}
    columns = {n: state.elements(operands[n], lanes) for n in raw}
    copied = {i: columns[choice[i]][i] for i in range(lanes) if on[i] and choice[i] in raw}
    # A copy computes nothing: it flushes where its result is converted, and a plain move where it is read.
    rows = lane_sources(state, operands, exec_kind, lanes, flush=len(operands) == 1)
    if copied:
        state.put(inst, dst, copied, lanes)
    store(state, inst, {i: rows[i][choice[i]] for i in range(lanes) if on[i] and i not in copied}, exec_kind)


def _move_address(state: State, inst, dst, src) -> None:
    on = state.compute_enable(inst)
    table = state.addresses[dst.var]
    if isinstance(src, AddressOf):
        found = [state.origin(src)] * len(on)
    else:
        found = [state.addresses[src.var][src.offset + i % max(1, src.width)] for i in range(len(on))]
    for i, place in enumerate(found):
        if on[i]:
            table[dst.offset + i] = place


def select(state: State, inst) -> None:
    """src0 where the predicate bit is set, else src1, for every lane of the execution mask."""
    on = state.compute_enable(inst, predicate=False)
    chosen = state.predicate_bits(inst) if isinstance(inst.get("pred"), Predicate) else [True] * len(on)
    _copy(state, inst, sources_of(inst), [0 if bit else 1 for bit in chosen], on)


def compare(state: State, inst) -> None:
    """Write one bit, or all bits, per lane."""
    operands = sources_of(inst)
    exec_kind = execution_type(kinds_of(state, operands))
    on = state.compute_enable(inst, predicate=False)
    relation = (operator.eq, operator.ne, operator.gt, operator.ge, operator.lt, operator.le)[inst.get("relop")]
    # Python compares fractions, infinities and NaN as IEEE 754 does.
    rows = lane_sources(state, operands, exec_kind, len(on), on=on)
    bits = [enabled and bool(relation(*row)) for enabled, row in zip(on, rows, strict=True)]
    dst = inst.get("dst")
    if isinstance(dst, PredicateOperand):
        state.set_bits(dst.var, inst, on, bits)
        return
    size = SIZES[state.type_name(dst)]
    data = {i: (b"\xff" if bits[i] else b"\0") * size for i in range(len(on)) if on[i]}
    state.put(inst, dst, data, len(on))
    # All ones are a NaN of a float destination: compare as bits.
    root = state.places(dst, 1)[0][0]
    if root >= 32:
        state.expected[root].kind = {1: "ub", 2: "uw", 4: "ud", 8: "uq"}[size]


def setp(state: State, inst) -> None:
    """Bit i of a scalar, whatever the mask is; of a region the lowest bit of each enabled lane."""
    src, var = inst.get("src0"), inst.get("dst").var
    lanes = inst.get("exec").exec_size
    if isinstance(src, Immediate) or src.region.is_scalar or lanes == 1:
        bits = state.scalar(src)
        state.set_bits(var, inst, [True] * lanes, [bool(bits >> i & 1) for i in range(lanes)])
        return
    state.set_bits(var, inst, state.compute_enable(inst), [bool(v & 1) for v in state.values(src, lanes)])


def movs(state: State, inst) -> None:
    """Move a surface or sampler element, or a number that becomes one."""
    dst, src = inst.get("dst"), inst.get("src0")

    def cells(operand):
        return state.sampler_values if operand.sampler else state.surface_values

    value = (
        cells(src).get((src.var, src.offset) if src.offset else src.var, 0)
        if isinstance(src, StateOperand)
        else state.scalar(src)
    )
    if isinstance(dst, StateOperand):
        cells(dst)[(dst.var, dst.offset) if dst.offset else dst.var] = value
    else:
        state.put(inst, dst, {0: encode(value, state.type_name(dst))}, 1)


def addr_add(state: State, inst) -> None:
    """Add a signed 16-bit offset to a place in the register file."""
    dst, base, offset = inst.get("dst"), inst.get("src0"), inst.get("src1")
    on = state.compute_enable(inst)
    table = state.addresses[dst.var]
    if isinstance(base, General | AddressOf):
        starts = [state.origin(base)] * len(on)
    else:
        starts = [state.addresses[base.var][base.offset + i % max(1, base.width)] for i in range(len(on))]
    steps = [v - 65536 if v > 32767 else v for v in state.values(offset, len(on))]
    for i, (var, at) in enumerate(starts):
        if on[i]:
            table[dst.offset + i] = (var, at + steps[i])


def fcvt(state: State, inst) -> None:
    """hf to and from E5M2 (ub) and E4M3 (b), f to and from tf32 (a dword with ten bits of fraction)."""
    dst, src = inst.get("dst"), inst.get("src0")
    to, of = state.type_name(dst), state.type_name(src)
    on = state.compute_enable(inst)
    data = {}
    eight = {"ub": ml_dtypes.float8_e5m2, "b": ml_dtypes.float8_e4m3fn}.get(to if of == "hf" else of)
    for i, raw in enumerate(state.elements(src, len(on))):
        if of == "hf":
            out = np.frombuffer(raw, np.float16).astype(eight).tobytes()
        elif to == "hf":
            out = np.frombuffer(raw, eight).astype(np.float16).tobytes()
        elif to == "ud":
            value = decode(raw, "f")
            if math.isfinite(value):
                tiny = abs(value) < 2.0**-126
                out = encode(math.copysign(0.0, value) if tiny else _tf32(value), "f")
            else:
                out = raw
        else:
            out = raw
        if on[i]:
            data[i] = out
    state.put(inst, dst, data, len(on))
    root = state.places(dst, 1)[0][0]
    state.expected[root].kind = {"hf": "hf", "ud": "f", "f": "f"}.get(to, "e5m2")


def _tf32(value: float) -> float:
    """Eleven bits of precision, to nearest even, the exponents of f."""
    _, exponent = math.frexp(value)
    step = Fraction(2) ** (exponent - 11)
    return round_number(round(Fraction(value) / step) * step, "f")


def srnd(state: State, inst) -> None:
    """Random bits added below the last kept bit of the magnitude, then cut."""
    dst, src = inst.get("dst"), inst.get("src0")
    to, of = state.type_name(dst), state.type_name(src)
    on = state.compute_enable(inst)
    drop = 13 if to == "hf" else 8
    noise = [int.from_bytes(n, "little") for n in state.elements(inst.get("src1"), len(on))]
    data = {}
    for i, raw in enumerate(state.elements(src, len(on))):
        if not on[i]:
            continue
        value, bits = decode(raw, of), int.from_bytes(raw, "little")
        if math.isfinite(value):
            bits += noise[i] % (1 << drop)
        if to == "hf":
            shaken = decode(bits.to_bytes(4, "little"), "f")
            data[i] = encode(round_number(exact(shaken), "hf", "zero") if math.isfinite(value) else shaken, "hf")
        else:
            data[i] = b"\x7f" if math.isnan(value) else (bits >> 8).to_bytes(2, "little")[:1]
    state.put(inst, dst, data, len(on))
    if to != "hf":
        state.expected[state.places(dst, 1)[0][0]].kind = "e5m2"


EFFECTS = {
    "mov": mov,
    "select": select,
    "compare": compare,
    "setp": setp,
    "movs": movs,
    "addr_add": addr_add,
    "fcvt": fcvt,
    "srnd": srnd,
}
