"""Lane instructions and the effects on lanes, element by element.

``EFFECTS`` has one function for each effect that a row may name; a function takes the state and an instruction.
"""

from __future__ import annotations

import math
from itertools import pairwise

from tests.support.model import words
from tests.support.model.numbers import (
    FLOATS,
    SIGNED,
    SIZES,
    decode,
    encode,
    exact,
    execution_type,
    flush_denormal,
    limits,
    round_number,
    to_type,
)
from tests.support.model.state import State, modify
from visa_lsp.program.model import General, Indirect, Predicate, PredicateOperand


def modifier(operand) -> str:
    """Return the name of a source modifier."""
    return getattr(getattr(operand, "modifier", None), "name", "NONE")


def saturates(operand) -> bool:
    """Return whether a destination clamps."""
    return modifier(operand) == "SAT"


def convert(value, kind: str, into: str, modes):
    """Return a source element in the execution type, as ``isa.lane`` says."""
    if into in FLOATS:
        return value if kind in FLOATS else round_number(value, "df" if into == "df" else "f", modes.rounding)
    if into in SIGNED and kind not in SIGNED and SIZES[kind] == SIZES[into]:
        return decode(encode(value, into), into)
    return value


def _source_kind(exec_kind: str) -> str:
    """Return the type to which sources are converted: words keep their own sign."""
    return "d" if exec_kind == "w" else exec_kind


def lane_sources(state: State, operands, exec_kind: str, lanes: int, *, flush: bool = True, on=None) -> list[list]:
    """Return the values of all sources for each lane: converted, modified, denormals flushed as the modes say.

    Lanes that are not ``on`` have no values; without it all lanes have.
    """
    columns = []
    for operand in operands:
        kind = state.type_name(operand)
        column = []
        for i, value in enumerate(state.values(operand, lanes, on)):
            if on is not None and not on[i]:
                column.append(None)
                continue
            result = modify(convert(value, kind, _source_kind(exec_kind), state.modes), modifier(operand), kind)
            if exec_kind in FLOATS and flush:
                result = flush_denormal(exact(result), exec_kind, state.modes)
            column.append(result)
        columns.append(column)
    return [list(row) for row in zip(*columns, strict=True)]


def store(
    state: State, inst, results: dict, exec_kind: str, *, ulp: int = 0, zeros: bool = False, name: str = "dst"
) -> None:
    """Lane results of the execution type into a destination."""
    dst = inst.get(name)
    kind = state.type_name(dst)
    sat = saturates(dst)
    lanes = inst.get("exec").exec_size
    data = {i: encode(to_type(v, exec_kind, kind, state.modes, saturate=sat), kind) for i, v in results.items()}
    # Whether saturation turns -0 into 0 is not said anywhere.
    state.put(inst, dst, data, lanes, ulp=ulp, zeros=zeros or sat, computed=exec_kind)


def sources_of(inst, count: int | None = None) -> list:
    """Return the source operands in turn."""
    names = [f.name for f in inst.row.fields if f.name.startswith("src")]
    return [inst.get(n) for n in names[:count]]


def kinds_of(state: State, operands) -> list[str]:
    """Return their element types."""
    return [state.type_name(o) for o in operands]


def lane(state: State, inst) -> None:
    """Execute a row whose meaning is an expression over its sources."""
    dst, operands = inst.get("dst"), sources_of(inst)
    expr = inst.row.meaning.expr
    if isinstance(dst, PredicateOperand):
        return predicate_logic(state, inst, expr)
    kinds = kinds_of(state, operands)
    exec_kind = execution_type(kinds)
    on = state.compute_enable(inst)
    wide = 8 in (SIZES[exec_kind], SIZES[state.type_name(dst)])
    used = words.words_of(expr)
    results = {}
    own_sign = used <= {
        "src",
        "const",
        "add",
        "sub",
        "add3",
        "mul",
        "mad",
        "avg",
        "min",
        "max",
        "and",
        "or",
        "xor",
        "shl",
    }
    is_wide = exec_kind == "d" and state.type_name(dst) in ("q", "uq") and own_sign
    rows = lane_sources(state, operands, "q" if is_wide else exec_kind, len(on), on=on)
    for i, row in enumerate(rows):
        if on[i]:
            if expr.word == "dp4a":
                results[i] = words.dp4a(*row, kinds)
            else:
                results[i] = words.evaluate(expr, row, exec_kind, 64 if wide else 32)
    loose = bool(used & words.LOOSE) and exec_kind in FLOATS
    return store(state, inst, results, exec_kind, ulp=int(loose), zeros=bool(used & {"min", "max"}))


def predicate_logic(state: State, inst, expr) -> None:
    """Logic on predicates, bit by bit for the enabled lanes."""
    on, at = state.compute_enable(inst), inst.get("exec").mask_offset
    rows = [[state.preds[s.var] >> at + i & 1 for s in sources_of(inst)] for i in range(len(on))]
    bits = [bool(words.evaluate(expr, row, "ud", 32) & 1) for row in rows]
    state.set_bits(inst.get("dst").var, inst, on, bits)


def _carries(compute):
    def body(state: State, inst) -> None:
        names = [f.name for f in inst.row.fields]
        extra = next(n for n in names if n in ("carry", "borrow"))
        on = state.compute_enable(inst)
        rows = lane_sources(state, sources_of(inst), "ud", len(on))
        results = [compute(a, b) for a, b in rows]
        store(state, inst, {i: r[0] for i, r in enumerate(results) if on[i]}, "ud")
        store(state, inst, {i: r[1] for i, r in enumerate(results) if on[i]}, "ud", name=extra)

    return body


def madw(state: State, inst) -> None:
    """64-bit results: low halves, and from the next whole register on the high halves."""
    operands, dst = sources_of(inst), inst.get("dst")
    on = state.compute_enable(inst)
    rows = lane_sources(state, operands, execution_type(kinds_of(state, operands)), len(on))
    span = -(-len(on) * dst.region.horz_stride * 4 // state.grf)
    if isinstance(dst, General):
        high = General(dst.var, dst.row + span, dst.col, dst.region)
    else:
        high = Indirect(dst.var, dst.addr_offset, dst.offset + span * state.grf, dst.type, dst.region)
    totals = {i: a * b + c for i, (a, b, c) in enumerate(rows) if on[i]}
    state.put(inst, dst, {i: encode(t, "ud") for i, t in totals.items()}, len(on))
    state.put(inst, high, {i: encode(t >> 32, "ud") for i, t in totals.items()}, len(on))


def add3o(state: State, inst) -> None:
    """Add three sources; the predicate in front becomes true where the sum does not fit the destination."""
    operands, dst = sources_of(inst), inst.get("dst")
    on = state.compute_enable(inst, predicate=False)
    low, high = limits(state.type_name(dst))
    sums = [sum(row) for row in lane_sources(state, operands, execution_type(kinds_of(state, operands)), len(on))]
    store(state, inst, {i: s for i, s in enumerate(sums) if on[i]}, "q")
    if isinstance(inst.get("pred"), Predicate):
        state.set_bits(inst.get("pred").var, inst, on, [not low <= s <= high for s in sums])


def bfn(state: State, inst) -> None:
    """Look each bit up in a table of eight."""
    table, dst = inst.get("func"), state.type_name(inst.get("dst"))
    operands = sources_of(inst)
    exec_kind = execution_type(kinds_of(state, operands))
    on = state.compute_enable(inst)
    results = {}
    for i, row in enumerate(lane_sources(state, operands, exec_kind, len(on))):
        if on[i]:
            results[i] = sum(
                (table >> ((row[0] >> b & 1) + 2 * (row[1] >> b & 1) + 4 * (row[2] >> b & 1)) & 1) << b
                for b in range(8 * SIZES[dst])
            )
    store(state, inst, results, "uq")


def _early_out(function):
    def body(state: State, inst) -> None:
        operands = sources_of(inst)
        exec_kind = execution_type(kinds_of(state, operands))
        on = state.compute_enable(inst)
        rows = lane_sources(state, operands, exec_kind, len(on))
        results = [function(*map(exact, row)) for row in rows]
        finals = [round_number(r, exec_kind, state.modes.rounding) for r in results]
        bits = [not math.isfinite(r) or r == 0 for r in finals]
        state.set_bits(inst.get("preddst").var, inst, on, bits)
        store(state, inst, {i: r for i, r in enumerate(results) if on[i]}, exec_kind, ulp=2)

    return body


def _cancels(result, parts) -> bool:
    """Return whether terms cancel so far that the order of the additions, which is the hardware's affair, decides."""
    finite = [abs(p) for p in parts if not (isinstance(p, float) and not math.isfinite(p))]
    return len(finite) == len(parts) and bool(finite) and abs(result) * 2**24 < max(finite)


def _leave_open(state: State, operand, lanes_: list[int], lanes: int) -> None:
    """Leave these lanes of a destination unspecified."""
    size = SIZES[state.type_name(operand)]
    places = state.places(operand, lanes)
    for i in lanes_:
        var, at = places[i]
        state.expected[var].undefined.update(range(at, at + size))


def _groups(terms: int, *, homogeneous: bool = False):
    def body(state: State, inst) -> None:
        on = state.compute_enable(inst)
        rows = [[exact(v) for v in row] for row in lane_sources(state, sources_of(inst), "f", len(on))]
        results, unsure = {}, []
        for i in range(len(on)):
            group = rows[i // 4 * 4 : i // 4 * 4 + 4]
            parts = [words.product(a, b) for a, b in group[:terms]]
            if homogeneous:
                parts.append(group[3][1])
            if on[i]:
                results[i] = words.total(*parts)
                if _cancels(results[i], parts):
                    unsure.append(i)
        store(state, inst, results, "f", ulp=1, zeros=True)
        _leave_open(state, inst.get("dst"), unsure, len(on))

    return body


def _in_a_row(state: State, operand, count: int, exec_kind: str) -> list:
    """Elements that lie side by side from an operand's first on, whatever its region, in the execution type."""
    kind = state.type_name(operand)
    var, at = state.places(operand, 1)[0]
    data = [bytes(state.regs[var][at + SIZES[kind] * i : at + SIZES[kind] * (i + 1)]) for i in range(count)]
    found = [
        modify(convert(decode(d, kind), kind, _source_kind(exec_kind), state.modes), modifier(operand), kind)
        for d in data
    ]
    return [flush_denormal(exact(v), exec_kind, state.modes) for v in found] if exec_kind in FLOATS else found


def line(state: State, inst) -> None:
    """p * u + q."""
    exec_kind = execution_type(kinds_of(state, sources_of(inst)))
    p = _in_a_row(state, inst.get("src0"), 4, exec_kind)
    on = state.compute_enable(inst)
    rows = lane_sources(state, [inst.get("src1")], exec_kind, len(on))
    if exec_kind in FLOATS:
        results = {i: words.total(words.product(p[0], exact(u)), p[3]) for i, (u,) in enumerate(rows) if on[i]}
    else:
        results = {i: p[0] * u + p[3] for i, (u,) in enumerate(rows) if on[i]}
    store(state, inst, results, exec_kind, ulp=1, zeros=True)


def plane(state: State, inst) -> None:
    """p * u + q * v + r; u and v alternate in groups of eight."""
    p = _in_a_row(state, inst.get("src0"), 4, "f")
    on = state.compute_enable(inst)
    uv = _in_a_row(state, inst.get("src1"), 2 * len(on), "f")
    results = {}
    for i in range(len(on)):
        if on[i]:
            u, v = uv[i // 8 * 16 + i % 8], uv[i // 8 * 16 + 8 + i % 8]
            results[i] = words.total(words.product(p[0], u), words.product(p[1], v), p[3])
    store(state, inst, results, "f", ulp=1, zeros=True)


def _differences(state: State, inst, *, add: bool) -> None:
    operands = sources_of(inst)
    exec_kind = execution_type(kinds_of(state, operands))
    on = state.compute_enable(inst)
    rows = lane_sources(state, operands, exec_kind, len(on))
    sums = {}
    for i, ((a, b, *_), (c, d, *_)) in enumerate(pairwise([*rows, *rows[:1]])):
        if i % 2 == 0 and on[i]:
            sums[i] = abs(a - b) + abs(c - d) + (rows[i][2] if add else 0)
    store(state, inst, sums, exec_kind)
    _leave_open(state, inst.get("dst"), list(range(1, len(on), 2)), len(on))


EFFECTS = {
    "addc": _carries(lambda a, b: (a + b, int(a + b > 0xFFFFFFFF))),
    "subb": _carries(lambda a, b: (a - b, int(a < b))),
    "madw": madw,
    "add3o": add3o,
    "bfn": bfn,
    "invm": _early_out(words.quotient),
    "rsqtm": _early_out(words.FLOAT["rsqrt"]),
    "dot2": _groups(2),
    "dot3": _groups(3),
    "dot4": _groups(4),
    "doth": _groups(3, homogeneous=True),
    "line": line,
    "plane": plane,
    "sad2": lambda s, i: _differences(s, i, add=False),
    "sad2add": lambda s, i: _differences(s, i, add=True),
}
