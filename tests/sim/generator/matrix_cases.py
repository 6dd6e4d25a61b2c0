"""Cases of the matrix rows, from their precision words, depths and counts.

Floats are small multiples of powers of two, so that no order of the additions changes a sum: that order is the hardware's
affair, what is summed is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.sim.generator.bench import Bench
from tests.sim.generator.lane_cases import platforms_of
from tests.sim.generator.pairwise import cases
from tests.support.model.matrix import BITS, FLOATS, INTEGERS
from visa_lsp.isa.operands import Region
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.model import General, RawOperand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from visa_lsp.isa.model import Instruction

# What may accumulate products of a float precision (page DPAS).
ACCUMULATORS = {9: ("f", "bf"), 10: ("f", "hf")}


def pairs_of(row: Instruction) -> list[tuple[int, int]]:
    """Pairs of precisions that go together: integers with one another, floats of one width."""
    first, second = (sorted(set(m.words.values())) for m in row.modifiers if m.field in ("prec1", "prec2"))
    found = []
    for a in first:
        for b in second:
            integers = a in INTEGERS and b in INTEGERS
            eight = a in (11, 14) and b in (11, 14)
            if integers or (a not in INTEGERS and (a == b or eight)):
                found.append((a, b))
    return found


def numbers(rng, precision: int, size: int) -> bytes:
    """Packed numbers of a precision that fill ``size`` bytes."""
    if precision in INTEGERS:
        return rng.bytes(size)
    count = size * 8 // BITS[precision]
    if precision == 15:
        nibbles = rng.integers(0, 16, count)
        return (nibbles[::2] | nibbles[1::2] << 4).astype(np.uint8).tobytes()
    values = rng.choice([0, 0.5, 1, 1.5, 2, -0.5, -1, -2, -3, 4], count)
    return values.astype(FLOATS[precision]).tobytes()


def benches(row: Instruction, some: Callable[[Iterable[dict]], Iterable[dict]] = iter) -> Iterator[Bench]:
    """One kernel per register size, with all cases or some."""
    words = {m.field: sorted(set(m.words.values())) for m in row.modifiers}
    dims = {"pair": pairs_of(row), "depth": words["depth"], "count": words["count"], "grf": platforms_of(row),
            "acc": [0, 1], "dst": [0, 1], "null": [False, False, True]}  # fmt: skip
    made: dict[str, Bench] = {}
    for case in some(cases(dims)):
        bench = made.setdefault(case["grf"], Bench(row.mnemonic, platform=case["grf"]))
        first, second = case["pair"]
        lanes = bench.grf // 4
        kinds = ("d", "ud") if first in INTEGERS else ACCUMULATORS.get(first, ("f", "f"))
        acc_kind, dst_kind = kinds[case["acc"]], kinds[case["dst"]]
        room = case["count"] * lanes
        acc = bench.rng.choice([0.0, 1.0, -2.5, 8.0, 0.25], room)
        start = bench.rng.bytes(4 * room) if first in INTEGERS else _stored(acc, acc_kind)
        src0 = RawOperand(0, 0) if case["null"] else RawOperand(bench.var(acc_kind, room, start), 0)
        src1 = bench.var("ud", 8 * lanes, numbers(bench.rng, first, 32 * lanes))
        src2 = bench.var("ud", 8 * 8, numbers(bench.rng, second, 256))
        bench.emit(
            row, exec=ExecControl(lanes, 0, no_mask=True), dst=RawOperand(bench.var(dst_kind, room), 0), src0=src0,
            src1=RawOperand(src1, 0), src2=General(src2, 0, 0, Region(1, 1, 0)), prec1=first, prec2=second,
            depth=case["depth"], count=case["count"],
        )  # fmt: skip
        bench.count += 1
    yield from made.values()


def _stored(values, kind: str) -> bytes:
    from tests.support.model.numbers import DTYPES

    return values.astype(np.float32).astype(DTYPES[kind]).tobytes()
