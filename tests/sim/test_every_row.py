"""Every row with a lane meaning, on every legal type, over a grid of regions, masks and modifiers, against ``tests/support/model``.

The table gives rows and types. All shapes of one row and type run in one kernel, each into a destination of its
own that is compared to the last byte. ``test_generated_lanes`` combines more dimensions, in pairs, and has the rows whose
meaning is an effect; here floats also go to integer destinations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from each_case import check_each

from tests.sim.generator import bench as generator
from tests.support.builders import IEEE, mask, pred
from tests.support.model.numbers import DTYPES, FLOATS, SIGNED, SIZES, inputs
from visa_lsp.isa.lane import Lane
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import TYPE_BY_NAME
from visa_lsp.program.model import Immediate

ACTIVE = 0xB6D3
PREDICATE = 0x5CA7
ELEMENTS = 64
ROWS = [row for row in TABLE.rows if isinstance(row.meaning, Lane)]
NEGATABLE = {"add", "mul", "mad", "min", "max", "frc", "rndd", "rndu", "rnde", "rndz", "inv", "sqrt", "div", "lrp"}
LOGIC = {"and", "or", "xor", "not"}


@dataclass(frozen=True)
class Form:
    """One instruction: how it is executed and how its operands look."""

    exec: str = "M1,16"
    regions: tuple = ((1, 1, 0),)  # of the sources in turn, the last again
    stride: int = 1
    predicate: str = ""  # "", "+" or "-"
    mods: tuple = ()
    sat: bool = False
    origin: int = 0
    dst: str = ""  # type of the destination, where it is not that of the sources


FORMS = (
    Form(),
    Form("M1_NM,16", ((0, 1, 0), (1, 1, 0))),
    Form("M1_NM,1", ((0, 1, 0),), origin=3),
    Form("M3,8", ((8, 4, 2),), stride=2),
    Form("M1,4", ((2, 2, 1), (4, 2, 2))),
    Form("M1,16", ((2, 2, 0), (2, 1, 0)), predicate="+"),
    Form("M1,16", ((16, 8, 1), (1, 1, 0)), stride=2, predicate="-", origin=5),
)


class Bench(generator.Bench):
    """A kernel of many instructions on shared sources, each with a destination of its own."""

    def __init__(self):
        super().__init__("grid", emask=ACTIVE)
        self.mode(IEEE)
        self.flag = self.predicate(PREDICATE)

    def given(self, kind, seed):
        """Return a source with the corners of its type."""
        return self.var(kind, ELEMENTS, inputs(kind, ELEMENTS, seed))

    def blank(self, kind):
        """Return a destination in which bytes that nothing wrote are known."""
        return self.var(kind, ELEMENTS, b"\x55" * ELEMENTS * SIZES[kind])

    def operands(self, form, sources):
        """Return the sources of an instruction by the names of their fields."""
        return {
            f"src{i}": self.builder.src(
                var, form.regions[min(i, len(form.regions) - 1)], 0, form.origin, form.mods[i] if i < len(form.mods) else ""
            )
            for i, var in enumerate(sources)
        }  # fmt: skip

    def add(self, row, sources, form, kind, **fields):
        """Append an instruction of a row whose result has a type."""
        if form.predicate:
            fields["pred"] = pred(self.flag, inverse=form.predicate == "-")
        dst = self.builder.dst(self.blank(kind), form.stride, sat=form.sat)
        self.emit(row, exec=mask(form.exec), dst=dst, **self.operands(form, sources), **fields)

    def check(self):
        """Both runs leave the same."""
        assert self.differences() == []


def types_of(row, name):
    slot = next(s for s in row.slots if s.name == name)
    return sorted(t.name for t in slot.types if t.name in SIZES)


def forms_of(row, kind, expr):
    """Yield the grid for a row and a type of its sources."""
    yield from (form for form in FORMS if not form.predicate or row.has_field("pred"))
    word, count = expr.word, len([s for s in row.slots if s.name.startswith("src")])
    signed = kind in FLOATS or kind in SIGNED
    mods = []
    if word in NEGATABLE and signed:
        mods = [("-",), ("abs",), ("-abs",), ("", "-"), ("-", "abs"), ("", "", "-")]
    elif word == "add":
        mods = [("-",), ("", "-")]
    elif word in LOGIC:
        mods = [("~",), ("", "~")]
    for entry in mods:
        if len(entry) <= count:
            yield Form(mods=entry)
    types = row.saturation.types if row.saturation is not None else None
    allowed = types is None or any(t.name == kind for t in types)
    sat = allowed and any(m.field == "sat" or "sat" in m.words for m in row.modifiers)
    destinations = (
        [d for d in types_of(row, "dst") if d != kind]
        if set(types_of(row, "dst")) >= set(types_of(row, "src0"))
        else []
    )
    if sat:
        yield Form(sat=True)
    for dst in destinations:
        yield Form("M1_NM,16", dst=dst)
        if sat:
            yield Form("M1_NM,16", dst=dst, sat=True)


def one_of_each_class(types):
    """Return a float, a signed and an unsigned type, where there are such."""
    return list({(kind in FLOATS, kind in SIGNED): kind for kind in types}.values())


@pytest.mark.parametrize("of", [one_of_each_class, pytest.param(list, marks=pytest.mark.full)])
@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.mnemonic)
def test_row(row, of):
    count = len([s for s in row.slots if s.name.startswith("src")])
    own = types_of(row, "dst")

    def check(kind):
        bench = Bench()
        sources = [bench.given(kind, 11 * i + len(kind)) for i in range(count)]
        for form in forms_of(row, kind, row.meaning.expr):
            bench.add(row, sources, form, form.dst or (kind if kind in own else "ud"))
        bench.check()

    check_each(of(types_of(row, "src0")), check)


ALL = sorted(SIZES)


@pytest.mark.parametrize("kind", ALL)
def test_mov_converts_to_every_type(kind):
    bench = Bench()
    source = bench.given(kind, 5)
    for dst in ALL:
        for form in (*FORMS, Form(sat=True)):
            bench.add("mov", [source], form, dst)
        if kind in FLOATS or kind in SIGNED:
            for mod in ("-", "abs", "-abs"):
                bench.add("mov", [source], Form(mods=(mod,)), dst)
    bench.check()


def test_packed_immediates():
    bench = Bench()
    out = {}
    for kind, bits, dst in (("v", 0x8F123457, "w"), ("uv", 0x8F123457, "uw"), ("vf", 0x30_B8_00_7F, "f")):
        var = bench.blank(dst)
        out[kind] = (var, dst)
        bench.emit("mov", exec=mask("M1_NM,8"), dst=bench.builder.dst(var), src0=Immediate(TYPE_BY_NAME[kind], bits))
    bench.check()
    _, frame, _, _ = bench.by_simulator()

    def read(kind):
        var, dst = out[kind]
        at = frame.code.layout.offset(var)
        return np.frombuffer(frame.regs[at : at + 8 * SIZES[dst]].tobytes(), DTYPES[dst]).tolist()

    assert read("v") == [7, 5, 4, 3, 2, 1, -1, -8]
    assert read("uv") == [7, 5, 4, 3, 2, 1, 15, 8]
    # Sign, three bits of exponent with bias 3, four of mantissa: 0x7F is 1.9375 * 16, 0xB8 is -1.5, 0x30 is 1.
    assert read("vf") == [31.0, 0.0, -1.5, 1.0] * 2
