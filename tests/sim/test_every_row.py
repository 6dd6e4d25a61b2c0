"""Every row with a lane meaning, on every legal type, over a grid of regions, masks and modifiers, against ``lane_model``.

The table gives rows and types; the model computes each element in Python integers and fractions. One test runs all shapes
of one row and type in one kernel, each into a destination of its own. The main effects follow.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import lane_model as model
import numpy as np
import pytest
import word_model
from lane_inputs import ELEMENTS, inputs

from tests.support.builders import Builder, final, imm, mask, pred
from visa_lsp.isa.lane import Lane
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import TYPE_BY_NAME
from visa_lsp.program.model import Immediate, PredicateOperand

ACTIVE = 0xB6D3
PREDICATE = 0x5CA7
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


@dataclass
class Bench:
    """A kernel of many instructions, and what each has to leave in its destination."""

    builder: Builder = field(default_factory=Builder)
    initial: dict = field(default_factory=dict)
    raw: dict = field(default_factory=dict)
    wanted: list = field(default_factory=list)

    def __post_init__(self):
        self.builder.ieee()
        self.predicate = self.builder.pred()
        self.builder.op(
            "setp", "M1_NM,32", dst=PredicateOperand(self.predicate), src0=imm(PREDICATE, TYPE_BY_NAME["uw"])
        )

    def var(self, kind, data=None):
        size = model.SIZES[kind]
        data = b"\x55" * ELEMENTS * size if data is None else data
        var = self.builder.var(TYPE_BY_NAME[kind], ELEMENTS)
        self.initial[var], self.raw[var] = np.frombuffer(data, np.uint8), data
        return var

    def lanes(self, form):
        """Which lanes of the instruction are on."""
        control = mask(form.exec)
        on = []
        for i in range(control.exec_size):
            lane = control.mask_offset + i
            bit = PREDICATE >> lane & 1
            chosen = not form.predicate or bit == (form.predicate == "+")
            on.append((control.no_mask or bool(ACTIVE >> lane & 1)) and chosen)
        return on

    def source(self, var, kind, form, number):
        """The operand, and the element values that the model sees."""
        region = form.regions[min(number, len(form.regions) - 1)]
        modifier = form.mods[number] if number < len(form.mods) else ""
        size = model.SIZES[kind]
        operand = self.builder.src(var, region, 0, form.origin, modifier)
        places = model.elements(form.origin * size, region, size, mask(form.exec).exec_size)
        return operand, [model.decode(self.raw[var][at : at + size], kind) for at in places], modifier

    def add(self, row, kinds, sources, form, compute, dst_kind, *, ulp=0, zeros=False, **fields):
        """Append an instruction; ``compute`` gives (value, execution type) of a lane."""
        size = model.SIZES[dst_kind]
        dst = self.var(dst_kind)
        read = [self.source(v, k, form, i) for i, (v, k) in enumerate(zip(sources, kinds, strict=True))]
        control = pred(self.predicate, inverse=form.predicate == "-") if form.predicate else None
        self.builder.op(
            row.mnemonic if hasattr(row, "mnemonic") else row, form.exec, pred=control,
            dst=self.builder.dst(dst, form.stride, sat=form.sat), **{f"src{i}": r[0] for i, r in enumerate(read)}, **fields,
        )  # fmt: skip
        expected = bytearray(self.raw[dst])
        for lane, on in enumerate(self.lanes(form)):
            if on:
                value, exec_kind = compute([r[1][lane] for r in read], [r[2] for r in read])
                at = lane * form.stride * size
                expected[at : at + size] = model.encode(value, exec_kind, dst_kind, saturate=form.sat)
        # Whether saturation turns -0 into 0 is open.
        self.wanted.append((dst, dst_kind, bytes(expected), ulp, zeros or form.sat, form))

    def run(self):
        self.builder.ret()
        return final(self.builder, self.initial, lanes=ACTIVE)

    def check(self):
        read = self.run()
        for dst, kind, expected, ulp, zeros, form in self.wanted:
            got, size = read(dst).tobytes(), model.SIZES[kind]
            for at in range(0, len(expected), size):
                a, b = got[at : at + size], expected[at : at + size]
                assert model.same(a, b, kind, ulp, zeros=zeros), (
                    f"{form}, element {at // size}: {model.decode(a, kind)}, the model says {model.decode(b, kind)}"
                )


def types_of(row, name):
    slot = next(s for s in row.slots if s.name == name)
    return sorted(t.name for t in slot.types if t.name in model.SIZES)


def forms_of(row, kind, expr):
    """The grid for a row and a type of its sources."""
    yield from (form for form in FORMS if not form.predicate or row.has_field("pred"))
    word, count = expr.word, len([s for s in row.slots if s.name.startswith("src")])
    signed = kind in model.FLOATS or kind in model.SIGNED
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


@pytest.mark.parametrize(
    ("row", "kind"),
    [pytest.param(r, k, id=f"{r.mnemonic}-{k}") for r in ROWS for k in types_of(r, "src0")],
)
def test_row(row, kind):
    expr = row.meaning.expr
    count = len([s for s in row.slots if s.name.startswith("src")])
    bench = Bench()
    sources = [bench.var(kind, inputs(kind, 11 * i + len(kind))) for i in range(count)]
    exec_kind = model.execution_type([kind])
    own = types_of(row, "dst")

    for form in forms_of(row, kind, expr):
        dst = form.dst or (kind if kind in own else "ud")

        def compute(values, mods, dst=dst):
            values = [
                model.modified(model.convert(v, kind, exec_kind), m, kind) for v, m in zip(values, mods, strict=True)
            ]
            if expr.word == "dp4a":
                return word_model.dp4a(*values, [kind] * 3), exec_kind
            return word_model.evaluate(expr, values, exec_kind, dst), exec_kind

        ulp = 1 if expr.word in word_model.LOOSE else 0
        bench.add(row, [kind] * count, sources, form, compute, dst, ulp=ulp, zeros=expr.word in ("min", "max", "lrp"))
    bench.check()


MIXED = [("ub", "w"), ("w", "d"), ("uw", "d"), ("d", "ud"), ("b", "uq"), ("d", "q"), ("ud", "q"), ("d", "f"), ("w", "f"),
         ("hf", "f"), ("f", "df"), ("d", "df"), ("uq", "df")]  # fmt: skip


@pytest.mark.parametrize("kinds", [*MIXED, *((b, a) for a, b in MIXED)], ids="-".join)
def test_sources_of_two_types(kinds):
    bench = Bench()
    sources = [bench.var(kind, inputs(kind, 3 + i)) for i, kind in enumerate(kinds)]
    exec_kind = model.execution_type(kinds)
    for name, dst in itertools.product(("add", "mul", "min", "max"), kinds):
        row = next(r for r in ROWS if r.mnemonic == name)

        def compute(values, _mods, row=row):
            values = [model.convert(v, k, exec_kind) for v, k in zip(values, kinds, strict=True)]
            return word_model.evaluate(row.meaning.expr, values, exec_kind), exec_kind

        for form in FORMS[:4]:
            bench.add(row, kinds, sources, form, compute, dst, zeros=name in ("min", "max"))
    bench.check()


@pytest.mark.parametrize(
    "kinds", [("d", "d", "d"), ("ud", "ud", "ud"), ("d", "ud", "d"), ("d", "d", "ud"), ("ud", "d", "d")], ids="-".join
)
def test_dp4a_takes_the_sign_of_each_factor(kinds):
    bench = Bench()
    sources = [bench.var(kind, inputs(kind, 7 + i)) for i, kind in enumerate(kinds)]
    exec_kind = model.execution_type(kinds)
    for form in FORMS:
        bench.add("dp4a", kinds, sources, form, lambda v, _m: (word_model.dp4a(*v, kinds), exec_kind), kinds[0])
    bench.check()


ALL = sorted(model.SIZES)


@pytest.mark.parametrize("kind", ALL)
def test_mov_converts_to_every_type(kind):
    bench = Bench()
    source = bench.var(kind, inputs(kind, 5))
    exec_kind = model.execution_type([kind])
    for dst in ALL:
        for form in (*FORMS, Form(sat=True)):
            if dst == kind and not form.sat:  # bits travel as they are
                bench.add("mov", [kind], [source], form, lambda v, _m: (v[0], kind), dst)
            else:
                bench.add(
                    "mov", [kind], [source], form, lambda v, _m: (model.convert(v[0], kind, exec_kind), exec_kind), dst
                )
        if kind in model.FLOATS or kind in model.SIGNED:
            for mod in ("-", "abs", "-abs"):
                bench.add("mov", [kind], [source], Form(mods=(mod,)),
                    lambda v, m: (model.modified(model.convert(v[0], kind, exec_kind), m[0], kind), exec_kind), dst)  # fmt: skip
    bench.check()


@pytest.mark.parametrize("kind", ALL)
def test_sel_takes_one_or_the_other(kind):
    bench = Bench()
    sources = [bench.var(kind, inputs(kind, 5 + i)) for i in range(2)]
    for form in (Form(), Form("M1_NM,16", ((0, 1, 0), (1, 1, 0))), Form("M3,8", ((8, 4, 2),), stride=2)):
        for inverse in (False, True):
            control = mask(form.exec)
            dst = bench.var(kind)
            read = [bench.source(v, kind, form, i) for i, v in enumerate(sources)]
            bench.builder.op("sel", form.exec, pred=pred(bench.predicate, inverse=inverse), dst=bench.builder.dst(dst, form.stride),
                             src0=read[0][0], src1=read[1][0])  # fmt: skip
            size, expected = model.SIZES[kind], bytearray(bench.raw[dst])
            for lane, on in enumerate(bench.lanes(form)):
                if on:
                    first = bool(PREDICATE >> control.mask_offset + lane & 1) != inverse
                    at = lane * form.stride * size
                    expected[at : at + size] = model.encode(read[0 if first else 1][1][lane], kind, kind)
            bench.wanted.append((dst, kind, bytes(expected), 0, False, form))
    bench.check()


RELATIONS = {"eq": 0, "ne": 1, "gt": 2, "ge": 3, "lt": 4, "le": 5}


def holds(name, a, b):
    if model.NAN in (a, b):
        return name == "ne"
    a, b = (model.to_float(v) if isinstance(v, model.Special) else v for v in (a, b))
    return {"eq": a == b, "ne": a != b, "gt": a > b, "ge": a >= b, "lt": a < b, "le": a <= b}[name]


@pytest.mark.parametrize("kind", ALL)
def test_cmp_into_a_predicate(kind):
    bench = Bench()
    sources = [
        bench.var(kind, inputs(kind, 5)),
        bench.var(kind, inputs(kind, 5)[: 32 * model.SIZES[kind]] + inputs(kind, 6)[32 * model.SIZES[kind] :]),
    ]
    wanted = []
    for name, form in itertools.product(
        RELATIONS, (Form(), Form("M1_NM,16", ((1, 1, 0), (2, 2, 0))), Form("M3,8", ((8, 4, 2), (1, 1, 0))))
    ):
        read = [bench.source(v, kind, form, i) for i, v in enumerate(sources)]
        var, control = bench.builder.pred(), mask(form.exec)
        bench.builder.op(
            "cmp", form.exec, relop=RELATIONS[name], dst=PredicateOperand(var), src0=read[0][0], src1=read[1][0]
        )
        bits = 0
        for lane, on in enumerate(bench.lanes(form)):
            if on and holds(name, read[0][1][lane], read[1][1][lane]):
                bits |= 1 << control.mask_offset + lane
        wanted.append((var, bits, name, form))
    found = bench.run().frame.preds
    for var, bits, name, form in wanted:
        assert found[var] == bits, (name, form)


def test_carries_borrows_and_wide_products():
    bench = Bench()
    a, b, c = (bench.var("ud", inputs("ud", s)) for s in (1, 2, 3))
    va, vb, vc = ([model.decode(bench.raw[v][i : i + 4], "ud") for i in range(0, 64, 4)] for v in (a, b, c))
    bld = bench.builder
    outs = [bench.var("ud") for _ in range(5)]
    bld.op("addc", "M1,16", dst=bld.dst(outs[0]), carry=bld.dst(outs[1]), src0=bld.src(a), src1=bld.src(b))
    bld.op("subb", "M1,16", dst=bld.dst(outs[2]), borrow=bld.dst(outs[3]), src0=bld.src(a), src1=bld.src(b))
    bld.op("madw", "M1,16", dst=bld.dst(outs[4]), src0=bld.src(a), src1=bld.src(b), src2=bld.src(c))
    read = bench.run()
    low = (1 << 32) - 1
    for i in range(16):
        if not ACTIVE >> i & 1:
            assert {int(read(o)[i]) for o in outs} == {0x55555555}
            continue
        x, y, z = va[i], vb[i], vc[i]
        assert (int(read(outs[0])[i]), int(read(outs[1])[i])) == (x + y & low, x + y >> 32)
        assert (int(read(outs[2])[i]), int(read(outs[3])[i])) == (x - y & low, int(x < y))
        assert int(read(outs[4])[i]) | int(read(outs[4])[16 + i]) << 32 == x * y + z


@pytest.mark.parametrize("kind", ["ud", "d", "uw", "w"])
def test_bfn_looks_every_bit_up(kind):
    bench = Bench()
    sources = [bench.var(kind, inputs(kind, s)) for s in (1, 2, 3)]
    bits = 8 * model.SIZES[kind]
    for table in (0x00, 0x96, 0xE8, 0xCA, 0x1B, 0xFF):

        def compute(values, _mods, table=table):
            rows = [[v >> i & 1 for i in range(bits)] for v in values]
            digits = [table >> (x | y << 1 | z << 2) & 1 for x, y, z in zip(*rows, strict=True)]
            value = sum(d << i for i, d in enumerate(digits))
            return value, "ud"

        for form in FORMS[:4]:
            bench.add("bfn", [kind] * 3, sources, form, compute, kind, func=table)
    bench.check()


def test_packed_immediates():
    bench = Bench()
    out = {}
    for kind, bits, dst in (("v", 0x8F123457, "w"), ("uv", 0x8F123457, "uw"), ("vf", 0x30_B8_00_7F, "f")):
        var = out[kind] = bench.var(dst)
        bench.builder.op("mov", "M1_NM,8", dst=bench.builder.dst(var), src0=Immediate(TYPE_BY_NAME[kind], bits))
    read = bench.run()
    assert read(out["v"])[:8].tolist() == [7, 5, 4, 3, 2, 1, -1, -8]
    assert read(out["uv"])[:8].tolist() == [7, 5, 4, 3, 2, 1, 15, 8]
    # Sign, three bits of exponent with bias 3, four of mantissa: 0x7F is 1.9375 * 16, 0xB8 is -1.5, 0x30 is 1.
    assert read(out["vf"])[:8].tolist() == [31.0, 0.0, -1.5, 1.0] * 2


@pytest.mark.parametrize(
    ("word", "function"), [("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)]
)
def test_logic_on_predicates(word, function):
    bench = Bench()
    first, second, result = (bench.builder.pred() for _ in range(3))
    for var, value in ((first, 0x0FF0), (second, 0x3C3C), (result, 0)):
        bench.builder.op("setp", "M1_NM,16", dst=PredicateOperand(var), src0=imm(value, TYPE_BY_NAME["uw"]))
    bench.builder.op(
        word, "M1,16", dst=PredicateOperand(result), src0=PredicateOperand(first), src1=PredicateOperand(second)
    )
    assert bench.run().frame.preds[result] == function(0x0FF0, 0x3C3C) & ACTIVE
