"""The ops of machine opcodes that are more than one lane word: choices, flags, implicit accumulators, macros, control flow.

Masks are those of the execution unit: a branch parks lanes at the places that its fields name, and control continues at the
place that the field of the empty case names, not at the lowest one as in texts. A wrong field is thus visible.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import isfinite, isqrt
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.eu.model import Direct
from visa_lsp.eu.nan_bits import replace_nans
from visa_lsp.eu.opcodes import RELATIONS
from visa_lsp.eu.site import MachineFrame, Unmodelled, typed_variable
from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import S0, S1, Expr, word
from visa_lsp.isa.operands import SCALAR_REGION, OperandModifier
from visa_lsp.program.model import General, Immediate, RawOperand
from visa_lsp.sim import exact, values
from visa_lsp.sim.effects import matrix, moves, sync
from visa_lsp.sim.faults import FaultKind, KernelFault
from visa_lsp.sim.group import Barrier
from visa_lsp.sim.lanes import converter, float_source, int_source, lane_plan, set_predicate, source_count
from visa_lsp.sim.operands import lane_mask, mask_bits

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.eu.site import MachineSite
    from visa_lsp.sim.interp import Thread
    from visa_lsp.sim.operands import Op
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]

END: Final = -1
WAIT: Final = -2
_I8: Final = np.dtype("<i8")
_OLDER_GRF: Final = 32  # bytes of a register before Xe-HPC
_MANTISSA_BITS: Final = {2: 11, 4: 24, 8: 53}  # by the bytes of a type
_ESTIMATE_BITS: Final = 16  # so that the results are correctly rounded, as the finalizer relies on
# Codes of the elements of matrices.
_PRECISIONS: Final = {
    "u1": 1, "s1": 2, "u2": 3, "s2": 4, "u4": 5, "s4": 6, "ub": 7, "b": 8, "bf": 9, "hf": 10, "bf8": 11, "tf32": 12, "hf8": 14, "e2m1": 15,
}  # fmt: skip
_EXTRA_BITS: Final = 13  # of the mantissa of a macro's intermediate results, beyond those of the type


def compute(site: MachineSite, expr: Expr, order: tuple[int, ...] = ()) -> Op:
    """Return the op of a lane expression on the sources in an order; a condition writes the flags of its lanes from the result."""
    dst = site.machine.dst
    sources = [site.inst.get(f"src{i}") for i in order or range(source_count(expr))]
    fetches, function, convert = lane_plan(site, expr, sources, dst)
    return _finish(site, lambda f: convert(f, function(f, [fetch(f) for fetch in fetches])))


def _finish(site: MachineSite, value: Callable[[Frame], Array]) -> Op:
    """Return the op that stores a value in the destination's type, and sets flags if there is a condition."""
    dst, inst = site.machine.dst, site.machine
    enable, store = site.enable(), site.write(dst)
    if not inst.condition:

        def plain(f: Frame) -> None:
            mask = enable(f)
            if mask:
                store(f, mask, value(f))

        return plain
    relation, flag, mask_offset, lanes = _relation(inst.condition), inst.flag, inst.offset, inst.lanes

    def op(f: Frame) -> None:
        mask = enable(f)
        if mask:
            result = value(f)
            bits = mask_bits(np.broadcast_to(relation(result), (lanes,)))
            store(f, mask, result)
            set_predicate(f, flag, mask_offset, mask, bits)

    return op


def _relation(condition: str) -> Callable[[Array], Array]:
    if condition not in RELATIONS:
        raise Unmodelled(f"condition {condition}")
    compare = moves.RELATIONS[RELATIONS.index(condition)]
    return lambda x: np.asarray(compare(x, x.dtype.type(0)))


def mov(site: MachineSite) -> Op:
    """Copy with conversion."""
    dst: Any = site.machine.dst
    source: Any = site.machine.sources[0]
    if not moves.same_bits(site, dst, [source]):
        return compute(site, S0)
    return _finish(site, site.read(source))


def select(site: MachineSite) -> Op:
    """Choose a source by the predicate; with a condition the smaller or the larger."""
    inst, dst = site.machine, site.machine.dst
    first, second = inst.sources[:2]
    if inst.condition:
        least = inst.condition in ("lt", "le")
        fetches, function, convert = lane_plan(site, word("min" if least else "max", S0, S1), [first, second], dst)
        return _store(site, lambda f: convert(f, function(f, [fetch(f) for fetch in fetches])), predicate=True)
    if inst.guard is None:
        raise Unmodelled("sel without predicate")
    bits = site.guard_bits()
    return _store(site, _choose(site, lambda f: lane_mask(bits(f), inst.lanes), first, second), predicate=False)


def _store(site: MachineSite, value: Callable[[Frame], Array], *, predicate: bool) -> Op:
    enable, store = site.enable(predicate=predicate), site.write(site.machine.dst)

    def op(f: Frame) -> None:
        mask = enable(f)
        if mask:
            store(f, mask, value(f))

    return op


def _choose(
    site: MachineSite, condition: Callable[[Frame], Array], first: Any, second: Any
) -> Callable[[Frame], Array]:
    dst: Any = site.machine.dst
    exec_type = values.execution_type([site.operand_type(first), site.operand_type(second)])
    a, b = (moves.as_stored(site, dst, source, exec_type) for source in (first, second))
    return lambda f: np.where(condition(f), a(f), b(f))


def _fetch(site: MachineSite, operand: Any, exec_type: ty.DataType) -> Callable[[Frame], Array]:
    if exec_type.is_float:
        return float_source(site, operand, exec_type)
    return int_source(site, operand, exec_type, np.dtype("<i8" if exec_type.size < 8 else object))


def conditional_select(site: MachineSite) -> Op:
    """Choose by comparing the third source with zero."""
    first, second, third = site.machine.sources[:3]
    # The finalizer's choice between r0 and r0, a workaround, may lack a condition.
    condition = site.machine.condition or ("eq" if first == second else "")
    relation, lanes = _relation(condition), site.lanes
    compared = _fetch(site, third, values.execution_type([site.operand_type(third)]))
    chosen = _choose(site, lambda f: np.broadcast_to(relation(compared(f)), (lanes,)), first, second)
    return _store(site, chosen, predicate=True)


def compare(site: MachineSite) -> Op:
    """Compare into the flags, and into the destination as all ones and zeros."""
    inst = site.machine
    relation, (first, second) = (
        RELATIONS.index(inst.condition) if inst.condition in RELATIONS else -1,
        inst.sources[:2],
    )
    if relation < 0:
        raise Unmodelled(f"cmp with condition {inst.condition}")
    a: Any = first
    b: Any = second
    result, enable = moves.relation_of(site, relation, a, b), site.enable()
    flag, mask_offset, lanes, full = inst.flag, inst.offset, site.lanes, site.full
    writes = isinstance(inst.dst, Direct) and inst.dst.start >= 0
    store, ones = (site.write(inst.dst), moves.all_ones(site.operand_type(inst.dst))) if writes else (None, None)

    def op(f: Frame) -> None:
        mask = enable(f)
        if not mask:
            return
        relation_lanes = result(f)
        set_predicate(f, flag, mask_offset, mask, moves.relation_bits(relation_lanes, lanes, full))
        if store is not None and ones is not None:
            store(f, mask, ones(relation_lanes))

    return op


# ---- accumulators


def multiply(site: MachineSite) -> Op:
    """Multiply; a product in the accumulator keeps its upper bits for ``mach``."""
    dst = site.machine.dst
    plain = compute(site, S0 * S1)
    if not isinstance(dst, Direct) or dst.register.kind != "acc" or dst.type not in (ty.D, ty.UD):
        return plain
    a, b = (_own_sign(site, s) for s in site.machine.sources[:2])
    enable, lanes = site.enable(), site.lanes

    def op(f: Frame) -> None:
        assert isinstance(f, MachineFrame)
        mask = enable(f)
        product = np.broadcast_to(a(f) * b(f), (lanes,))
        np.copyto(f.wide[:lanes], product, where=lane_mask(mask, lanes))
        plain(f)

    return op


def _own_sign(site: MachineSite, operand: Any) -> Callable[[Frame], Array]:
    """Return the lanes of an integer source as int64, extended by its own type."""
    return int_source(site, operand, ty.Q if site.operand_type(operand).is_signed else ty.UQ, _I8)


def high_multiply(site: MachineSite) -> Op:
    """Add the product with the upper words to the accumulator, and take the upper dword.

    ``macl`` takes the lower one; before Xe-HPC, where it is no opcode of its own, ``mach`` without ``AccWrEn`` does.
    """
    inst, dst = site.machine, site.machine.dst
    if not isinstance(dst, Direct) or dst.type.size != 4:
        raise Unmodelled(f"{inst.op} with another type than a dword")
    a, b = (_own_sign(site, s) for s in inst.sources[:2])
    enable, store, lanes = site.enable(), site.write(dst), site.lanes
    takes_high = inst.op == "mach" and ("AccWrEn" in inst.options or site.grf > _OLDER_GRF)
    kind = values.DTYPE[dst.type]
    acc = site.program.view(site.starts["acc"], np.dtype("<u4"), (lanes,), (4,))

    def op(f: Frame) -> None:
        assert isinstance(f, MachineFrame)
        mask = enable(f)
        if not mask:
            return
        low = f.views[acc]
        # A copy into the accumulator since the product has no upper bits of its own.
        before = np.where(f.wide[:lanes].astype(np.uint32) == low, f.wide[:lanes], low.astype(np.int32))
        total = before + (a(f) * (b(f) >> np.int64(16)) << np.int64(16))
        if takes_high:
            np.copyto(f.wide[:lanes], total, where=lane_mask(mask, lanes))
            np.copyto(f.views[acc], total.astype(np.uint32), where=lane_mask(mask, lanes))
        store(f, mask, (total >> np.int64(32) if takes_high else total).astype(kind))

    return op


def carry(site: MachineSite) -> Op:
    """Add or subtract dwords; the accumulator gets carry or borrow."""
    inst = site.machine
    sources: Any = inst.sources[:2]
    a, b = (int_source(site, s, ty.UD, _I8) for s in sources)
    enable, store, lanes, subtracts = site.enable(), site.write(inst.dst), site.lanes, inst.op == "subb"
    acc = site.program.view(site.starts["acc"], np.dtype("<u4"), (lanes,), (4,))

    def op(f: Frame) -> None:
        assert isinstance(f, MachineFrame)
        mask = enable(f)
        if not mask:
            return
        x, y = (source(f) & 0xFFFFFFFF for source in (a, b))  # signed types count the same carry
        bit = np.broadcast_to((x < y) if subtracts else (x + y) >> np.int64(32), (lanes,)).astype(np.uint32)
        chosen = lane_mask(mask, lanes)
        store(f, mask, np.asarray(x - y if subtracts else x + y).astype(np.uint32))
        np.copyto(f.views[acc], bit, where=chosen)
        np.copyto(f.wide[:lanes], bit, where=chosen, casting="unsafe")

    return op


def boolean_function(site: MachineSite) -> Op:
    """Compute a Boolean function of three sources, printed as a formula or as its table of eight bits."""
    table = _table(site.machine.subop)
    sources: list[Any] = list(site.machine.sources[:3])
    exec_type = values.execution_type(site.operand_type(s) for s in sources)
    fetches = [int_source(site, s, exec_type, _I8) for s in sources]
    dst: Any = site.machine.dst
    convert = converter(site, exec_type, dst)
    terms = [i for i in range(8) if table >> i & 1]

    def value(f: Frame) -> Array:
        a, b, c = (fetch(f) for fetch in fetches)
        total: Array = np.zeros(1, np.int64)
        for i in terms:
            total = total | (a if i & 1 else ~a) & (b if i & 2 else ~b) & (c if i & 4 else ~c)
        return convert(f, total)

    return _finish(site, value)


def _table(formula: str) -> int:
    """Return the table of a Boolean formula of s0, s1, s2: bit n is its value for the bits of n."""
    if formula.lower().startswith("0x") or formula.isdigit():
        return int(formula, 0)
    columns = {"s0": 0xAA, "s1": 0xCC, "s2": 0xF0}
    tokens = [
        formula[i : i + 2] if formula[i] == "s" else formula[i] for i in range(len(formula)) if formula[i] in "s&|^~()"
    ]

    def parse(level: int) -> int:
        if level == 3:
            word_ = tokens.pop(0)
            if word_ == "~":
                return ~parse(3) & 0xFF
            if word_ == "(":
                formula_table = parse(0)
                tokens.pop(0)
                return formula_table
            return columns[word_]
        formula_table = parse(level + 1)
        while tokens and tokens[0] == "|^&"[level]:
            tokens.pop(0)
            other = parse(level + 1)
            formula_table = (formula_table | other, formula_table ^ other, formula_table & other)[level]
        return formula_table

    try:
        return parse(0)
    except (KeyError, IndexError):
        raise Unmodelled(f"bfn.{formula}") from None


def field_mask(site: MachineSite) -> Op:
    """Make the mask of a bit field of a width at an offset."""
    sources: Any = site.machine.sources[:2]
    width, offset = (int_source(site, s, ty.UD, _I8) for s in sources)
    return _finish(site, lambda f: (((1 << (width(f) & 31)) - 1) << (offset(f) & 31)).astype(np.uint32))


def field_insert(site: MachineSite) -> Op:
    """Replace the bits of a mask by the low bits of a value."""
    sources: Any = site.machine.sources[:3]
    mask_of, value, base = (int_source(site, s, ty.UD, _I8) for s in sources)

    def found(f: Frame) -> Array:
        mask = mask_of(f) & 0xFFFFFFFF
        return np.asarray(value(f) * (mask & -mask) & mask | base(f) & ~mask).astype(np.uint32)

    return _finish(site, found)


# ---- math macros: intermediate results have more bits than a register


def _precise(site: MachineSite, operand: Any) -> Callable[[MachineFrame, Array], list[Any]]:
    """Return a function for the lanes of a macro's source: fractions, or floats that are zero or not finite."""
    size = operand.type.size
    plain = site.read(_without_macro(operand))
    sign = -1 if operand.modifier is OperandModifier.NEG else 1
    scalar = isinstance(operand, Immediate)
    places = [operand.start + (0 if scalar else size * lane) for lane in range(site.lanes)]

    def lanes(f: MachineFrame, numbers: Array) -> list[Any]:
        stored = np.broadcast_to(plain(f), (site.lanes,))
        lane_values = []
        for lane in numbers.tolist():
            exact = (
                f.precise.get((places[lane], operand.macro))
                if operand.macro is not None and operand.macro >= 0
                else None
            )
            value = exact if exact is not None else float(stored[lane])
            if not isinstance(value, Fraction) and isfinite(value) and value:
                value = Fraction(value)
            lane_values.append(value * sign)
        return lane_values

    return lanes


def _without_macro(operand: Direct) -> Direct:
    return replace(operand, macro=None, modifier=OperandModifier.NONE)


def _store_precise(site: MachineSite, f: MachineFrame, numbers: Array, results: list[Any]) -> None:
    dst = site.machine.dst
    assert isinstance(dst, Direct)
    kind, size = np.dtype(values.DTYPE[dst.type]), dst.type.size
    for lane, value in zip(numbers.tolist(), results, strict=True):
        at = dst.start + size * lane
        if dst.macro is not None and dst.macro >= 0:
            f.precise[at, dst.macro] = value
        with np.errstate(all="ignore"):
            stored = np.array([_nearest(value, size)], kind)
        if site.program.has_one_nan:
            stored = replace_nans(stored, dst.type)
        f.regs[at : at + size] = stored.view(np.uint8)


def _nearest(value: Any, size: int) -> float:
    """Return a value as a float that rounds once to a type of ``size`` bytes."""
    if not isinstance(value, Fraction):
        return float(value)
    return exact.round_fraction(value, double=size == 8)


def _cut(value: Any, size: int) -> Any:
    """Round a fraction to the precision of intermediate results."""
    return _to_bits(value, _MANTISSA_BITS[size] + _EXTRA_BITS) if isinstance(value, Fraction) and value else value


def _to_bits(value: Fraction, bits: int) -> Fraction:
    """Round a fraction to a number of significant bits."""
    shift = bits - (abs(value.numerator).bit_length() - value.denominator.bit_length())
    scale = Fraction(2) ** shift
    return Fraction(round(value * scale)) / scale


def multiply_add_macro(site: MachineSite) -> Op:
    """Multiply and add with the extra bits of macro operands."""
    dst: Any = site.machine.dst
    addend, a, b = (_precise(site, s) for s in site.machine.sources[:3])
    enable = site.enable()

    def op(f: Frame) -> None:
        assert isinstance(f, MachineFrame)
        numbers = np.flatnonzero(lane_mask(enable(f), site.lanes))
        results = []
        for z, x, y in zip(addend(f, numbers), a(f, numbers), b(f, numbers), strict=True):
            is_exact = all(isinstance(v, Fraction) or v == 0 for v in (x, y, z)) and (x or y or z)
            result = Fraction(x) * Fraction(y) + Fraction(z) if is_exact else float(x) * float(y) + float(z)
            results.append(_cut(result, dst.type.size) if dst.macro is not None and dst.macro >= 0 else result)
        _store_precise(site, f, numbers, results)

    return op


def _start_macro(site: MachineSite, guess: Callable[..., Any], final: Callable[..., Any]) -> Op:
    """Return the op of the first instruction of a macro: an estimate, or the final result with the flag set."""
    inst, dst = site.machine, site.machine.dst
    assert isinstance(dst, Direct)
    readers = [_precise(site, s) for s in inst.sources[: 1 if inst.subop == "rsqtm" else 2]]
    enable, size = site.enable(), dst.type.size

    def op(f: Frame) -> None:
        assert isinstance(f, MachineFrame)
        mask = enable(f)
        numbers = np.flatnonzero(lane_mask(mask, inst.lanes))
        results, early = [], 0
        for lane, sources in zip(numbers.tolist(), zip(*(r(f, numbers) for r in readers), strict=True), strict=True):
            is_regular = all(isinstance(v, Fraction) and v != 0 for v in sources) and (
                len(sources) > 1 or sources[0] > 0
            )
            results.append(_cut(guess(*sources), size) if is_regular else final(*sources))
            early |= 0 if is_regular else 1 << lane
        _store_precise(site, f, numbers, results)
        set_predicate(f, inst.flag, inst.offset, mask, early)

    return op


def inverse_macro(site: MachineSite) -> Op:
    """Begin a division: an estimate of one by the second source, rounded."""

    def guess(_a: Fraction, b: Fraction) -> Fraction:
        return _to_bits(1 / b, _ESTIMATE_BITS)

    def final(a: Any, b: Any) -> float:
        with np.errstate(all="ignore"):
            return float(np.float64(float(a)) / np.float64(float(b)))

    return _start_macro(site, guess, final)


def root_macro(site: MachineSite) -> Op:
    """Begin a square root: an estimate of one by the root; of a special value the square root itself."""

    def guess(a: Fraction) -> Fraction:
        scale = 1 << 200
        root = Fraction(isqrt(int(a * scale * scale)), scale)
        return _to_bits(1 / root, _ESTIMATE_BITS) if root else Fraction(0)

    def final(a: Any) -> float:
        with np.errstate(all="ignore"):
            return float(np.sqrt(np.float64(float(a))))

    return _start_macro(site, guess, final)


# ---- barriers


def barrier_wait(site: MachineSite) -> Op:
    """Wait for the round of the group's barrier in which this thread has signalled."""
    source = site.machine.sources[0] if site.machine.sources else None
    number_of = (
        site.scalar_of(source)
        if isinstance(source, Immediate | Direct) and getattr(source, "start", 0) >= 0
        else (lambda _f: 0)
    )

    def op(f: Frame) -> int | None:
        thread = f.thread
        assert thread is not None
        number = number_of(f) & 31
        barrier = barrier_of(thread, number)
        before = thread.group.signalled.get((thread.number, number), barrier.generation)
        if barrier.generation != before:
            thread.machine.announce_wait(thread, barrier, before)
            return None
        thread.machine.announce_wait(thread, barrier, before)
        thread.pending = sync.make_wait(barrier, before, "the barrier")
        return WAIT

    return op


def barrier_of(thread: Thread, number: int) -> Barrier:
    """Return the barrier of a number: 0 is that of the group."""
    if number == 0:
        return thread.group.barrier
    return thread.group.named.setdefault(number, Barrier(thread.group.threads))


# ---- control flow


def _park(f: Frame, lanes: int, place: int) -> None:
    if lanes:
        f.waiting[place] = f.waiting.get(place, 0) | lanes
        f.emask &= ~lanes


def _taken(site: MachineSite) -> Callable[[Frame], int]:
    """Return the active lanes for which a branch is taken, as bits of the thread."""
    mask_offset, full = site.control.mask_offset, site.full
    if site.machine.guard is None:
        return lambda f: f.emask & full << mask_offset
    bits = site.guard_bits()
    return lambda f: f.emask & bits(f) << mask_offset


def goto(site: MachineSite) -> Op:
    """Send lanes to UIP; if none is left, control continues at JIP. A backward one goes with the lanes that jump."""
    jip, uip = site.machine.targets
    taken, following = _taken(site), site.pc + 1
    jumps = site.machine.subop == "b" or uip <= site.pc

    def op(f: Frame) -> int | None:
        lanes = taken(f)
        if jumps:
            if lanes:
                _park(f, f.emask & ~lanes, following)
                return uip
            return None if f.emask else jip
        _park(f, lanes, uip)
        return None if f.emask else jip

    return op


def join(site: MachineSite) -> Op:
    """Continue at JIP if no lane is active; lanes that wait here have joined before."""
    (jip,) = site.machine.targets[:1]
    return lambda f: None if f.emask else jip


def if_(site: MachineSite) -> Op:
    """Send lanes without the condition to the else block or the end, its first field."""
    jip = site.machine.targets[0]
    taken = _taken(site)

    def op(f: Frame) -> int | None:
        _park(f, f.emask & ~taken(f), jip)
        return None if f.emask else jip

    return op


def else_(site: MachineSite) -> Op:
    """Send the lanes of the first block to the end; those of the second wait behind."""
    jip, uip = (*site.machine.targets, *site.machine.targets)[:2]

    def op(f: Frame) -> int | None:
        waiting = f.waiting.pop(site.pc + 1, 0)
        _park(f, f.emask, uip)
        f.emask = waiting
        return None if waiting else jip

    return op


def while_(site: MachineSite) -> Op:
    """Repeat the loop with the lanes that hold the condition; the others wait behind."""
    jip, taken = site.machine.targets[0], _taken(site)

    def op(f: Frame) -> int | None:
        lanes = taken(f)
        if not lanes:
            return None
        _park(f, f.emask & ~lanes, site.pc + 1)
        return jip

    return op


def break_(site: MachineSite) -> Op:
    """Send lanes out of the loop: behind the ``while`` that UIP names."""
    jip, uip = site.machine.targets
    taken = _taken(site)
    instructions = site.program.machine_code.instructions
    out = uip + 1 if uip < len(instructions) and instructions[uip].op == "while" else uip

    def op(f: Frame) -> int | None:
        _park(f, taken(f), out)
        return None if f.emask else jip

    return op


def cont(site: MachineSite) -> Op:
    """Send lanes to the ``while`` of the loop, UIP."""
    jip, uip = site.machine.targets
    taken = _taken(site)

    def op(f: Frame) -> int | None:
        _park(f, taken(f), uip)
        return None if f.emask else jip

    return op


def jmpi(site: MachineSite) -> Op:
    """Jump with all lanes if the predicate holds."""
    targets = site.machine.targets
    if not targets:
        raise Unmodelled("jmpi to a register")
    target = targets[0]
    if site.machine.guard is None:
        return lambda _f: target
    bits = site.guard_bits()
    return lambda f: target if bits(f) & 1 else None


def call(site: MachineSite) -> Op:
    """Keep the place behind and the lanes of the caller in two dwords, and jump."""
    dst, targets = site.machine.dst, site.machine.targets
    if not isinstance(dst, Direct):
        raise Unmodelled("call without destination")
    taken, at, following = _taken(site), dst.start, site.pc + 1
    if targets:
        place: Callable[[Frame], int] = lambda _f: targets[0]  # noqa: E731
    else:
        place = _place_reader(site, site.machine.sources[0], relative=site.machine.op == "call")
    back = site.machine.pc + (8 if "Compacted" in site.machine.options else 16)

    def op(f: Frame) -> int | None:
        lanes = taken(f)
        if not lanes:
            return None
        f.put(at, back)
        f.put(at + 4, f.emask)
        _park(f, f.emask & ~lanes, following)
        # Lanes that wait in the caller stay there, even at a place that the called code passes, too.
        f.calls.append((back, 0, lanes, f.waiting, site.pc))
        f.waiting = {}
        return place(f)

    return op


def _place_reader(site: MachineSite, operand: Any, *, relative: bool) -> Callable[[Frame], int]:
    """Return a function for the instruction at the byte offset that a register holds."""
    value, by_pc, own = site.scalar_of(operand), site.program.by_pc, site.machine.pc if relative else 0

    def place(f: Frame) -> int:
        pc = (value(f) + own) & 0xFFFFFFFF
        if pc not in by_pc:
            raise Unmodelled("a call of code outside of the kernel")
        return by_pc[pc]

    return place


def ret(site: MachineSite) -> Op:
    """Return to the place in a register with the lanes beside it; other lanes return later."""
    source = site.machine.sources[0]
    if not isinstance(source, Direct):
        raise Unmodelled("ret without register")
    at, taken, by_pc = source.start, _taken(site), site.program.by_pc

    def op(f: Frame) -> int | None:
        back, mask = f.word(at), f.word(at + 4)
        if not f.calls:
            return END  # the kernel itself returns, because nothing has called it
        if back not in by_pc:
            raise KernelFault(FaultKind.CALL, f"ret to byte {back:#x}, where no instruction begins")
        lanes = taken(f) & mask
        f.emask &= ~lanes
        place, returned, called, waiting, pc = f.calls.pop()
        lanes |= returned
        if f.emask:
            f.calls.append((place, lanes, called, waiting, pc))
            return None
        f.waiting, f.emask = waiting, lanes
        return by_pc[back]

    return op


def matrix_product(site: MachineSite) -> Op:
    """Multiply matrices and add, as ``dpas`` of texts; the function has depth, repetitions and the precisions: ``8x8.bf.bf``."""
    inst = site.machine
    sizes, *precisions = inst.subop.split(".")
    depth, count = (int(n) for n in sizes.split("x"))
    fields: dict[str, Any] = {"depth": depth, "count": count}
    for n, name in enumerate(precisions, 1):
        if name not in _PRECISIONS:
            raise Unmodelled(inst.name)
        fields[f"prec{n}"] = _PRECISIONS[name]
    for name, operand in (("dst", inst.dst), ("src0", inst.sources[0]), ("src1", inst.sources[1])):
        assert isinstance(operand, Direct)
        fields[name] = (
            RawOperand(typed_variable(operand.type), operand.start) if operand.start >= 0 else RawOperand(0, 0)
        )
    last = inst.sources[2]
    assert isinstance(last, Direct)
    fields["sat"] = isinstance(inst.dst, Direct) and inst.dst.modifier is OperandModifier.SAT
    return matrix.dpas(site.give(**fields, src2=General(last.start, 0, 0, SCALAR_REGION)))


def nothing(site: MachineSite) -> Op:
    """Return an op without effect."""
    del site
    return lambda _f: None


def illegal(site: MachineSite) -> Op:
    """Return the op of an instruction that no program may reach."""
    del site

    def op(_f: Frame) -> int | None:
        raise KernelFault(FaultKind.OPERAND, "an illegal instruction is executed")

    return op


EFFECTS: Final[dict[str, Callable[[MachineSite], Op]]] = {
    "mov": mov, "sel": select, "csel": conditional_select, "cmp": compare, "mul": multiply, "mach": high_multiply,
    "carry": carry, "bfn": boolean_function, "bfi1": field_mask, "bfi2": field_insert, "madm": multiply_add_macro,
    "invm": inverse_macro, "rsqtm": root_macro, "dpas": matrix_product, "nothing": nothing, "illegal": illegal,
    "barrier_wait": barrier_wait, "if": if_, "else": else_, "while": while_, "break": break_, "cont": cont, "goto": goto,
    "join": join, "jmpi": jmpi, "call": call, "ret": ret,
}  # fmt: skip
