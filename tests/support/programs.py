"""Strategies for whole programs: every value comes from a row of the table, so that a new row is covered at once.

A program is a kernel with fixed declarations and drawn instructions. Labels are defined first and strings are numbered
in the order of their use, as an assembler would number them.
"""

from __future__ import annotations

import string

from hypothesis import strategies as st
from msgspec.structs import replace

from visa_lsp.codec.fields import default_value
from visa_lsp.isa import lsc_codes
from visa_lsp.isa.lane import Effect
from visa_lsp.isa.model import ExecStyle, FieldKind, Instruction, Modifier, Role, Shape, Slot
from visa_lsp.isa.operands import AO, IM, ST, A, G, I, OperandModifier, P, Region
from visa_lsp.isa.render_target import message_operands
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import DF, SCALAR_TYPES, TYPE_BY_CODE, UQ, ExecControl, Q
from visa_lsp.program.model import (
    NULL_RAW,
    Address,
    AddressOf,
    Attribute,
    Combine,
    General,
    Immediate,
    Indirect,
    Inst,
    Module,
    Predicate,
    PredicateOperand,
    RawOperand,
    State,
)  # fmt: skip
from visa_lsp.sema.lower import resolve_text

DECLARATIONS = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=f num_elts=64 align=GRF
.decl V33 v_type=G type=d num_elts=64 align=GRF
.decl V34 v_type=G type=uw num_elts=64 align=GRF
.decl V35 v_type=G type=b num_elts=64 align=GRF
.decl V36 v_type=G type=uq num_elts=64 align=GRF
.decl A0 v_type=A num_elts=8
.decl A1 v_type=A num_elts=16
.decl P1 v_type=P num_elts=16
.decl P2 v_type=P num_elts=32
.decl S0 v_type=S num_elts=1
.decl T6 v_type=T num_elts=1
.decl T7 v_type=T num_elts=1
.kernel_attr SimdSize=16
L0:
L1:
L2:
    ret (M1, 1)
"""
SKELETON = resolve_text(DECLARATIONS, "TGLLP").module.kernels[0]
GENERALS = {32: 4, 33: 4, 34: 2, 35: 1, 36: 8}  # number of a variable, bytes of its type
LABELS = 3
GRF = 32

general_ids = st.sampled_from([0, *GENERALS])
row_index, bytes_ = st.integers(0, 255), st.integers(0, 255)
# A decoder cannot tell a scalar source from an address, so the first source of such instructions is never scalar.
source_regions = st.builds(
    Region, st.sampled_from([0, 1, 2, 4, 8, 16, 32]), st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from([0, 1, 2, 4])
)
destination_regions = st.builds(Region, st.none(), st.none(), st.sampled_from([1, 2, 4]))
multi_regions = st.builds(Region, st.none(), st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from([0, 1, 2, 4]))
strings = st.text(st.sampled_from([chr(code) for code in range(1, 256)]), min_size=1, max_size=12)
identifiers = st.builds(
    str.__add__,
    st.sampled_from(string.ascii_letters + "_"),
    st.text(st.sampled_from(string.ascii_letters + string.digits + "_"), max_size=12),
)


@st.composite
def immediates(draw, slot: Slot) -> Immediate:
    # Types behind code 15 have no number in an object: they are those of registers only.
    known = (slot.types or SCALAR_TYPES) & frozenset(TYPE_BY_CODE.values())
    type_ = draw(st.sampled_from(sorted(known, key=lambda t: t.code)))
    wide = type_ in (DF, Q, UQ)
    limit = 0xFFFF if type_.name in ("hf", "bf") else (1 << (64 if wide else 32)) - 1
    return Immediate(type_, draw(st.integers(0, limit)))


@st.composite
def vectors(draw, slot: Slot, *, sat: bool = False) -> object:
    """Draw a vector operand of one of the slot's classes."""
    write = slot.role is Role.WRITE
    cls = draw(st.sampled_from([c for c in (G, A, P, I, IM, ST, AO) if c in slot.classes]))
    modifiers = [OperandModifier.NONE] if write else [m for m in OperandModifier if m is not OperandModifier.SAT]
    modifier = OperandModifier.SAT if sat else draw(st.sampled_from(modifiers))
    if cls is G:
        region = draw(destination_regions if write else source_regions)
        if AO in slot.classes and region.is_scalar:
            region = Region(1, 1, 0)
        return General(draw(general_ids), draw(row_index), draw(row_index), region, modifier)
    if cls is A:
        return Address(draw(st.sampled_from([0, 1])), draw(bytes_), draw(st.sampled_from([1, 2, 4, 8, 16])))
    if cls is P:
        return PredicateOperand(draw(st.sampled_from([1, 2])))
    if cls is I:
        region = draw(destination_regions if write else st.one_of(source_regions, multi_regions, destination_regions))
        type_ = draw(st.sampled_from(sorted(SCALAR_TYPES, key=lambda t: t.code)))
        return Indirect(
            draw(st.sampled_from([0, 1])), draw(bytes_), draw(st.integers(-32768, 32767)), type_, region, modifier
        )
    if cls is ST:
        sampler = draw(st.booleans())
        return State(sampler, 0 if sampler else draw(st.sampled_from([1, 6, 7])), draw(bytes_))
    if cls is AO:
        var = draw(st.sampled_from(list(GENERALS)))
        return AddressOf(var, draw(row_index), draw(st.integers(0, GRF // GENERALS[var] - 1)))
    return draw(immediates(slot))


raws = st.builds(RawOperand, st.sampled_from(list(GENERALS)), st.integers(0, 0xFFFF))


@st.composite
def exec_controls(draw, row: Instruction, kind: FieldKind) -> ExecControl:
    sizes = [s for s in row.exec_sizes if kind is not FieldKind.EXEC_CODE or s in (1, 8, 16)]
    size = draw(st.sampled_from(sizes))
    if kind is FieldKind.EXEC_LOG2 or row.exec_style is ExecStyle.SIZE:
        return ExecControl(size)
    return ExecControl(size, 4 * draw(st.integers(0, 7)), draw(st.booleans()))


@st.composite
def modifier_values(draw, modifier: Modifier) -> int:
    """Draw a value that the modifier has a word for."""
    match modifier.kind:
        case Modifier.Kind.CHANNELS:
            return draw(st.integers(1, 15))
        case Modifier.Kind.LETTERS | Modifier.Kind.ANGLE:
            chosen = draw(st.sets(st.sampled_from(sorted(modifier.words.values()))))
            return sum(chosen) if chosen or modifier.optional else min(modifier.words.values())
        case Modifier.Kind.HEX | Modifier.Kind.NUMBER:
            return draw(st.integers(0, 255))
        case _:
            values = sorted(set(modifier.words.values()) | ({modifier.default} if modifier.optional else set()))
            if modifier.field in ("prec1", "prec2"):
                values = [v for v in values if v not in (11, 14, 15)]  # words of text 4.2 without a code
            return draw(st.sampled_from(values))


def _merge(old: int, value: int, mask: int) -> int:
    return value if mask == -1 else old & ~mask | value & mask


# Other spellings of a record that the decoder names otherwise.
_TWINS = frozenset({".file", ".loc", "fccall"})
ROWS = [
    row
    for row in TABLE.rows
    if row.opcode is not None
    and row.mnemonic not in _TWINS
    and not row.opens_label
    and row.family != "lsc"
    and "4.1" in {d.value for d in row.dialects}
]
_WIDTH = {FieldKind.U8: 8, FieldKind.U16: 16, FieldKind.U32: 32}


@st.composite
def instructions(draw, row: Instruction, pool: list[str]) -> Inst:
    """Draw a legal instruction of a row; strings go to the pool."""
    values: dict[str, object] = {f.name: f.const if f.const is not None else default_value(f) for f in row.fields}
    sat = False
    for modifier in row.modifiers:
        if modifier.field == "sat":
            sat = draw(st.booleans())
            continue
        field = row.fields[row.index[modifier.field]]
        value = draw(modifier_values(modifier)) if field.stored else modifier.default
        values[modifier.field] = _merge(values[modifier.field], value, modifier.mask)
    for field in row.fields:
        if field.kind in (FieldKind.EXEC, FieldKind.EXEC_CODE, FieldKind.EXEC_LOG2):
            none = row.exec_style is ExecStyle.NONE
            values[field.name] = ExecControl(1, no_mask=True) if none else draw(exec_controls(row, field.kind))
        elif field.kind is FieldKind.PREDICATE and row.predicable:
            predicates = st.builds(Predicate, st.sampled_from([1, 2]), st.booleans(), st.sampled_from(Combine))
            values[field.name] = draw(st.none() | predicates)
    for slot in row.slots:
        draw(_slot(row, slot, values, pool, sat=sat))
    _derive(row, values)
    return Inst(row, tuple(values[f.name] for f in row.fields))


@st.composite
def _slot(draw, row: Instruction, slot: Slot, values: dict[str, object], pool: list[str], *, sat: bool) -> None:
    match slot.shape:
        case Shape.VECTOR:
            destination = slot.name == "dst" and slot.role is Role.WRITE
            first = next((s for s in row.slots if s.role is Role.READ), slot)
            if slot is not first or not isinstance(values.get("dst"), Address):
                # The bytes tell the address of a variable from its value by its place: the first source for an address.
                slot = replace(slot, classes=slot.classes & ~AO)
            values[slot.name] = draw(vectors(slot, sat=sat and destination))
        case Shape.SIMPLE:
            values[slot.name] = General(
                draw(st.sampled_from(list(GENERALS))), draw(row_index), draw(row_index), Region(1, 1, 0)
            )
        case Shape.RAW | Shape.LSC_PAYLOAD:
            values[slot.name] = draw(raws if slot.optional else raws | st.just(NULL_RAW))
        case Shape.SURFACE | Shape.SAMPLER:
            values[slot.name] = draw(st.sampled_from([0, 31] if slot.shape is Shape.SAMPLER else [0, 1, 2, 6, 7]))
        case Shape.RAWS:
            values[slot.name] = tuple(draw(st.lists(raws, min_size=1, max_size=5)))
        case Shape.VECTORS:
            both = replace(slot, classes=G | I | IM)
            wanted = message_operands(values["mode"], with_header=True)
            values[slot.name] = tuple(draw(vectors(both) if vector else raws) for vector in wanted)
        case Shape.LABEL:
            values[slot.name] = draw(st.integers(0, LABELS - 1))
        case Shape.LABELS:
            values[slot.name] = tuple(draw(st.lists(st.integers(0, LABELS - 1), min_size=1, max_size=6)))
        case Shape.NAME | Shape.IDENTIFIER | Shape.STRING:
            pool.append(draw(identifiers if slot.shape is Shape.IDENTIFIER else strings))
            values[slot.name] = len(pool) - 1
        case Shape.INTEGER:
            kind = row.fields[row.index[slot.name]].kind
            values[slot.name] = draw(st.integers(0, (1 << _WIDTH[kind]) - 1))
        case Shape.EXEC_WORD:
            values[slot.name] = draw(st.sampled_from(sorted(set(slot.words.values()))))
        case Shape.GROUP:
            member = slot if slot.classes else replace(slot, classes=G | I | IM)
            for name in slot.name.split(","):
                kind = row.fields[row.index[name]].kind
                values[name] = draw(
                    vectors(member) if kind is FieldKind.VECTOR else st.integers(0, (1 << _WIDTH[kind]) - 1)
                )
        case Shape.VARIABLE:
            cls, number = draw(st.sampled_from([(0, 33), (1, 1), (2, 2)]))
            values["prop"] = values["prop"] | cls << 4
            values[slot.name] = number
        case _:
            raise AssertionError(slot.shape)


def _derive(row: Instruction, values: dict[str, object]) -> None:
    """Set the counts of lists, and vector items without an operand, which repeat the one before."""
    named = {s.name for s in row.slots}
    before = None
    if row.meaning == Effect("mov") and isinstance(values["src0"], PredicateOperand):
        values["exec"] = ExecControl(1, no_mask=True)  # a predicate is moved whole
    if row.meaning == Effect("jmp"):
        values["exec"] = ExecControl(1)  # whatever the text says
    if row.family == "logic" and isinstance(values.get("dst"), PredicateOperand):
        values["pred"] = None  # the tool loses it
    for field in row.fields:
        if field.kind is FieldKind.COUNT:
            values[field.name] = next(
                len(values[f.name])
                for f in row.fields
                if f.kind in (FieldKind.RAWS, FieldKind.LABELS, FieldKind.VECTORS)
            )
        if (
            field.kind is FieldKind.VECTOR
            and before in named
            and field.name not in named
            and all(s.shape is Shape.VECTOR for s in row.slots)
        ):
            values[field.name] = values[before]
        before = field.name


@st.composite
def lsc_lines(draw) -> str:
    """Draw a load/store controller line of text 4.1."""
    register = draw(st.sampled_from(["V33", "V36", "V33.64"]))
    cache = draw(st.sampled_from(["", ".uc.uc", ".ca.ca", ".st.wb", ".wt.uc", ".df.df"]))
    size = draw(st.sampled_from(["a16", "a32", "a64"]))
    model = draw(st.sampled_from(["flat", "arg", "bti(0x4)", "bti(V33)", "ss(V33.4)", "bss(V33)"]))
    scale = draw(st.sampled_from(["", "2*", "0x10*"]))
    offset = draw(st.sampled_from(["", "+0x10", "-0x8", "+0x7fffffff"]))
    data = draw(st.sampled_from(["d8c32", "d16c32", "d16c32h", "d32", "d64", "d32x2", "d32x3", "d32x64t", "d64x8t"]))
    mask = draw(st.sampled_from(["x", "xy", "yw", "xyzw", "w"]))
    sfid = draw(st.sampled_from(["ugm", "ugml", "slm"]))
    predicate = draw(st.sampled_from(["", "(P1) ", "(!P2) "]))
    lanes = draw(st.sampled_from(["(M1, 16)", "(M5_NM, 8)", "(M1_NM, 1)"]))
    address = f"{model}[{scale}{register}{offset}]:{size}"
    typed = f"bti(0x3)[V33{draw(st.sampled_from(['', ',V36', ',V36,V33', ',V36,V33,V36']))}]:{size}"
    block = "flat[V36,0x3f,V33,V33.4,V33,0x8]"
    op = draw(st.sampled_from([a.name for a in lsc_codes.ATOMICS]))
    return predicate + draw(st.sampled_from([
        f"lsc_load.{sfid}{cache} {lanes} V33:{data} {address}",
        f"lsc_store.{sfid}{cache} {lanes} {address} V33.32:{data}",
        f"lsc_load_quad.{sfid}{cache} {lanes} V33:d32.{mask} {address}",
        f"lsc_store_quad.tgm{cache} {lanes} {typed} V33:d32.{mask}",
        f"lsc_load_quad.tgm{cache} {lanes} V33:d32.{mask} {typed}",
        f"lsc_load_strided.{sfid}{cache} {lanes} V33:{data} {model}[{register},0x20]:{size}",
        f"lsc_load_block2d.ugm{cache} (M1, 1) V33:d8.2x8x16tn {block}",
        f"lsc_store_block2d.ugm{cache} (M1, 1) {block} V33:d32.8x4",
        f"lsc_atomic_{op}.{sfid}{cache} {lanes} V33:d32 {address} V36 %null",
        f"lsc_atomic_{op}.tgm{cache} {lanes} %null:d32 {typed} V36 V33",
    ]))  # fmt: skip


@st.composite
def lsc_instructions(draw) -> Inst:
    line = draw(lsc_lines())
    result = resolve_text(DECLARATIONS.replace("    ret (M1, 1)", f"    {line}"), "PVCXT")
    assert result.module is not None, (line, result.bound.problems)
    return result.module.kernels[0].instructions[-1]


@st.composite
def modules(draw) -> Module:
    """Draw a kernel with drawn instructions of any rows that an object can hold."""
    pool = list(SKELETON.strings[:-1])
    code = list(SKELETON.instructions)
    for _ in range(draw(st.integers(1, 8))):
        if draw(st.integers(0, 7)) == 0:
            code.append(draw(lsc_instructions()))
        else:
            code.append(draw(instructions(draw(st.sampled_from(ROWS)), pool)))
    return module_of(pool, code)


def module_of(pool: list[str], code: list[Inst]) -> Module:
    """Return a module of the fixed declarations with this pool and code; the last string is the attribute that is implied."""
    names = (*pool, "Target")
    attributes = (*SKELETON.attributes[:-1], Attribute(len(names) - 1, 1, b"\x01"))
    return Module((4, 1), (replace(SKELETON, strings=names, instructions=tuple(code), attributes=attributes),))
