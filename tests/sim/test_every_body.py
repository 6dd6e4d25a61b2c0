"""Every row of the table has a body: one instruction of each row is made from the table and run, and nothing is missing.

Values are the grids' business (``test_every_row``); here no row may end in a fault, and what is only recorded is told.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from each_case import check_each

from tests.support.builders import Builder, dispatch, imm
from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import Effect, Lane, Unmodelled
from visa_lsp.isa.model import FieldKind, Role, Shape
from visa_lsp.isa.operands import OperandClass, Region
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.model import (
    Address,
    AddressOf,
    General,
    Inst,
    Predicate,
    PredicateOperand,
    RawOperand,
    State,
)
from visa_lsp.sim.machine import Machine
from visa_lsp.sim.memory import Image, Sampler

ROOM = 16 * 64  # bytes of every variable: more than any message moves
STRUCTURED = {"else": ("if", "endif"), "endif": ("if", ""), "break": ("do", "while"), "cont": ("do", "while"),
              "while": ("do", ""), "if": ("", "endif"), "do": ("", "while")}  # fmt: skip
NUMBERS = {
    "datasize": 3, "elems": 1, "chmask": 1, "order": 1, "addrtype": 3, "addrsize": 2, "immscale": 1, "chan": 1,
    "width": 8, "height": 2, "blocks": 1, "depth": 8, "count": 1, "nout": 1, "nsrc": 1, "ndst": 1, "nsrc0": 1,
    "nsrc1": 1, "dst_len": 1, "src0_len": 1, "src1_len": 1, "prec1": 2, "prec2": 2,
}  # fmt: skip
# Types that only go together with one another.
TYPES = {
    ("fcvt", "dst"): ty.HF,
    ("fcvt", "src0"): ty.UB,
    ("srnd", "dst"): ty.HF,
    ("srnd", "src0"): ty.F,
    ("srnd", "src1"): ty.F,
}
BEFORE = {"sbarrier.wait": "sbarrier.signal", "nbarrier.wait": "nbarrier.signal"}
PREDICATED = {"sel", "add3.o", "while"}


class Maker(Builder):
    """A kernel around one instruction of a row."""

    def __init__(self, row):
        super().__init__(platform=max(row.platforms, key=lambda n: n in ("TGLLP", "PVCXT", "BMG")))
        self.row = row
        self.exec_size = min(row.exec_sizes or (16,), key=lambda n: abs(n - 16)) if row.has_field("exec") else 1
        self.place = self.surface()
        self.flag = self.pred()
        self.op("movs", "M1_NM,1", dst=State(False, self.place, 0), src0=imm(0, ty.UD))

    def wide(self, type_):
        return self.var(type_, ROOM // type_.size)

    def value(self, field):
        row, kind = self.row, field.kind
        slot = next((s for s in row.slots if field.name in s.name.split(",")), None)
        if field.const is not None and field.const_mask == -1:
            return field.const
        match kind:
            case FieldKind.EXEC | FieldKind.EXEC_CODE | FieldKind.EXEC_LOG2:
                return ExecControl(self.exec_size, 0, kind is not FieldKind.EXEC)
            case FieldKind.PREDICATE:
                return Predicate(self.flag) if row.mnemonic in PREDICATED else None
            case FieldKind.VECTOR:
                return self.vector(slot, field.name)
            case FieldKind.RAW:
                return RawOperand(self.wide(self.type_of_slot(slot)), 0)
            case FieldKind.SURFACE:
                return self.place
            case FieldKind.LABEL:
                return self.label("here")
            case FieldKind.STRING16 | FieldKind.STRING32:
                return self.string("f")
            case FieldKind.RAWS:
                return tuple(RawOperand(self.wide(ty.F), 0) for _ in range(9))
            case FieldKind.LABELS:
                return (self.label("here"),)
            case FieldKind.VECTORS:
                return (RawOperand(self.wide(ty.F), 0), self.src(self.wide(ty.F)))
            case FieldKind.COUNT:
                return 9
            case FieldKind.VARIABLE:
                return self.wide(ty.D)
            case FieldKind.SAMPLER:
                return 0
        if row.mnemonic.startswith("lsc_atomic_bf") and field.name == "datasize":
            return 6
        return (field.const or 0) | NUMBERS.get(field.name, 0)

    def type_of_slot(self, slot):
        types = sorted(slot.types or (), key=lambda t: t.name) if slot is not None else []
        fits = [t for t in types if t.name in ("f", "d", "ud", "uw", "w", "ub", "uq", "df", "hf", "bf")]
        return (
            min(fits, key=lambda t: ("d", "f", "ud").index(t.name) if t.name in ("d", "f", "ud") else 9)
            if fits
            else ty.UD
        )

    def vector(self, slot, name):
        """Return a vector operand that the slot takes."""
        type_ = TYPES.get((self.row.mnemonic, name)) or self.type_of_slot(slot)
        classes = slot.classes if slot is not None else OperandClass.GENERAL
        write = slot is not None and slot.role is not Role.READ
        if name == "surface":
            return imm(0, ty.UD)
        if self.row.mnemonic == "movs" and name == "dst":
            return State(False, self.place, 0)
        if slot is not None and slot.shape is Shape.SIMPLE:
            return self.src(self.wide(ty.D))
        if OperandClass.GENERAL in classes or not classes:
            var = self.wide(type_)
            return self.dst(var) if write else General(var, 0, 0, Region(1, 1, 0))
        if OperandClass.ADDRESS in classes:
            return Address(self.address(), 0, 1)
        if OperandClass.PREDICATE in classes:
            return PredicateOperand(self.pred())
        if OperandClass.STATE in classes:
            return State(False, self.place, 0)
        if OperandClass.ADDRESS_OF in classes:
            return AddressOf(self.wide(ty.D), 0, 0)
        return imm(1, type_)


def made(row):
    b = Maker(row)
    before, after = STRUCTURED.get(row.mnemonic, (BEFORE.get(row.mnemonic, ""), ""))
    if row.mnemonic == "ifcall":
        callee = b.var(ty.UD, 16)
        b.op("faddr", name=b.string("f"), dst=b.dst(callee))
    if before:
        b.op(before, **({"id": imm(0), "count": imm(1)} if before.startswith("nbarrier") else {}))
    values = [b.value(field) for field in row.fields]
    if row.mnemonic == "ifcall":
        values[row.index["callee"]] = b.scalar(callee)
    b.instructions.append(Inst(row, tuple(values), len(b.instructions)))
    if after:
        b.op(after, pred=Predicate(b.flag) if after == "while" else None)
    if b.labels and not row.opens_label:
        b.at("here")
    b.ret()
    return b


def ran(b):
    image = Image("image", np.zeros(32 * 32 * 4, np.uint8), width=32, height=32)
    callee = Builder("f", platform=b.platform.name, is_kernel=False)
    callee.op("fret", "M1,1")
    order = dispatch(b, buffers=[np.zeros(4096, np.uint8)], functions=[callee.kernel()], slm=4096, budget=2000)
    if b.row.family == "sampler" or "typed" in str(b.row.meaning):
        order = replace(order, surfaces={0: image}, samplers={0: Sampler()})
    return Machine(order).run()


def test_every_row_runs():
    def check(row):
        result = ran(made(row))
        assert [str(f) for f in result.faults] == []
        assert [s.mnemonic for s in result.sent] == ([row.mnemonic] if isinstance(row.meaning, Unmodelled) else [])

    check_each(TABLE.rows, check, lambda row: str(row.key))


def test_every_row_has_a_meaning():
    assert [row.mnemonic for row in TABLE.rows if not isinstance(row.meaning, Lane | Effect | Unmodelled)] == []
