"""Prints operands and instructions as text, in the form of the compilers. The inverse of ``sema``; knows names only.

Every function takes an ``OperandNames`` (the name of each id in the text) and program values; its result parses back to
the same values.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.isa import lsc_codes
from visa_lsp.isa.model import ExecStyle, FieldKind, Instruction, Role, Shape, Slot, Trait
from visa_lsp.isa.operands import MODIFIER_TEXT, ST, OperandModifier
from visa_lsp.isa.types import DF, UQ, DataType, ExecControl, Q
from visa_lsp.program.model import (
    NULL_RAW,
    Address,
    AddressOf,
    Combine,
    General,
    Immediate,
    Indirect,
    Inst,
    Predicate,
    PredicateOperand,
    RawOperand,
    State,
)  # fmt: skip
from visa_lsp.text import encode_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from visa_lsp.program.model import Value

IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class OperandNames(Struct, frozen=True):
    """Names by id, and the types of general variables; ``grf_bytes`` converts rows in addresses of variables to bytes."""

    general: Mapping[int, str]
    types: Mapping[int, DataType]
    address: Mapping[int, str]
    predicate: Mapping[int, str]
    sampler: Mapping[int, str]
    surface: Mapping[int, str]
    labels: Mapping[int, str]
    strings: tuple[str, ...]
    grf_bytes: int
    v42: bool = False
    taken: frozenset[str] = frozenset()  # the names of all variables

    def of(self, table: Mapping[int, str], letter: str, number: int) -> str:
        """Return the name of a variable; for an unknown one a unique name with its number."""
        name = table.get(number)
        if name is None:
            name = f"{letter}{number}"
            while name in self.taken:
                name += "_"
        return name


def quote_string(text: str) -> str:
    """Return a string literal that reads back as ``text``."""
    out = []
    for ch in text:
        if ch in '"\\':
            out.append("\\" + ch)
        elif " " <= ch <= "~":
            out.append(ch)
        else:
            out += [f"\\x{byte:02x}" for byte in encode_text(ch)]
    return '"' + "".join(out) + '"'


def word(text: str) -> str:
    """Return a name as an operand: bare if it is an identifier, else quoted."""
    return text if IDENTIFIER.match(text) else quote_string(text)


def predicate(names: OperandNames, value: Predicate) -> str:
    """Return ``(!P1.any) ``, with the blank after it."""
    combine = "" if value.combine is Combine.NONE else f".{value.combine.name.lower()}"
    return f"({'!' if value.inverse else ''}{names.of(names.predicate, 'P', value.var)}{combine}) "


def immediate(value: Immediate) -> str:
    """Return the bit pattern in hex, because this is exact for floats too."""
    bits = value.bits & (0xFFFFFFFFFFFFFFFF if value.type in (DF, Q, UQ) else 0xFFFFFFFF)
    return f"0x{bits:x}:{value.type.name}"


def vector(names: OperandNames, value: Value) -> str:
    """Return a vector operand."""
    match value:
        case General(var, row, col, region, modifier):
            return f"{MODIFIER_TEXT[modifier]}{names.of(names.general, 'V', var)}({row},{col}){region}"
        case Address(var, offset, width):
            return f"{names.of(names.address, 'A', var)}({offset})<{width}>"
        case PredicateOperand(var):
            return names.of(names.predicate, "P", var)
        case Indirect(var, index, offset, type_, region, modifier):
            name = names.of(names.address, "A", var)
            return f"{MODIFIER_TEXT[modifier]}r[{name}({index}),{offset}]{region}:{type_.name}"
        case Immediate():
            return immediate(value)
        case State():
            return f"{_state_name(names, value)}({value.offset})"
        case AddressOf(var, row, col):
            size = names.types[var].size if var in names.types else 1
            offset = row * names.grf_bytes + col * size
            return f"&{names.of(names.general, 'V', var)}" + (f"[{offset}]" if offset else "")
        case RawOperand():
            return raw(names, value)
        case _:
            return str(value)


def _state_name(names: OperandNames, value: State) -> str:
    table, letter = (names.sampler, "S") if value.sampler else (names.surface, "T")
    return names.of(table, letter, value.var)


def raw(names: OperandNames, value: RawOperand, *, bare: bool = False) -> str:
    """Return ``V1.32``; if ``bare``, ``V1`` for offset zero."""
    name = names.of(names.general, "V", value.var)
    return name if bare and not value.offset else f"{name}.{value.offset}"


def instruction(names: OperandNames, inst: Inst) -> str:
    """Return a whole instruction line without its indent."""
    row = inst.row
    parts = []
    pred = inst.get("pred")
    if isinstance(pred, Predicate):
        parts.append(predicate(names, pred))
    parts += [row.mnemonic, modifiers(inst, v42=names.v42), execution(inst)]
    wide = any(slot.shape.name.startswith("LSC_") for slot in row.slots)
    is_first = True
    for slot in row.slots:
        text = operand(names, inst, slot)
        if text is None:
            continue
        # Dumps put two blanks before every load/store operand and before the first one of a sampler message.
        parts.append(
            ("  " if wide or (is_first and row.family == "sampler" and row.exec_style is ExecStyle.MASKED) else " ")
            + text
        )
        is_first = False
    return "".join(parts)


def modifiers(inst: Inst, *, v42: bool = False) -> str:
    """Return the dotted words."""
    out = []
    cache = [m.field for m in inst.row.modifiers if m.field in ("l1", "l3", "l2")]
    for modifier in inst.row.modifiers:
        if modifier.field == "sat":
            dst = inst.get("dst")
            saturated = isinstance(dst, (General, Indirect)) and dst.modifier is OperandModifier.SAT
            out.append(".sat" if saturated else "")
        elif modifier.field in cache:
            if modifier.field == cache[0]:
                levels = [inst.get(name) for name in cache]
                numbers = [level if isinstance(level, int) else 0 for level in levels]
                out.append(lsc_codes.cache_text(*(numbers if any(numbers[2:]) else numbers[:2])))
        elif modifier.newest is not None:  # because text 4.1 has no such word
            value = inst.get(modifier.field)
            out += [f".{word}" for word, code in modifier.words.items() if v42 and code == value != modifier.newest]
        else:
            value = inst.get(modifier.field)
            out.append(modifier.format(value if isinstance(value, int) else 0))
    return "".join(out)


def execution(inst: Inst) -> str:
    """Return the parenthesis after the mnemonic, with the blank before it."""
    if inst.row.exec_style is ExecStyle.NONE:
        return ""
    kinds = (FieldKind.EXEC, FieldKind.EXEC_CODE, FieldKind.EXEC_LOG2)
    value = next((v for f, v in zip(inst.row.fields, inst.values, strict=True) if f.kind in kinds), None)
    if not isinstance(value, ExecControl):
        return ""
    return f" ({value.exec_size})" if inst.row.exec_style is ExecStyle.SIZE else f" {value}"


def operand(names: OperandNames, inst: Inst, slot: Slot) -> str | None:
    """Return the text of one slot; None for an optional operand with its default value."""
    value = inst.get(slot.name)
    match slot.shape:
        case Shape.VECTOR if isinstance(value, State) and ST not in slot.classes:
            return f"&{_state_name(names, value)}" + (f"[{4 * value.offset}]" if value.offset else "")
        case Shape.VECTOR:
            return vector(names, value)
        case Shape.SIMPLE:
            assert isinstance(value, General)
            return f"{names.of(names.general, 'V', value.var)}({value.row},{value.col})"
        case Shape.RAW | Shape.LSC_PAYLOAD:
            assert isinstance(value, RawOperand)
            if slot.optional and value == NULL_RAW:
                return None
            return raw(names, value, bare=slot.shape is Shape.LSC_PAYLOAD)
        case Shape.SURFACE | Shape.SAMPLER:
            return _state(names, inst, slot, value)
        case Shape.RAWS | Shape.VECTORS:
            items = value if isinstance(value, tuple) else ()
            return " ".join(vector(names, item) for item in items) or None
        case Shape.LABEL:
            return word(names.labels.get(value, f"L{value}")) if isinstance(value, int) else str(value)
        case Shape.LABELS:
            items = value if isinstance(value, tuple) else ()
            return "(" + ", ".join(word(names.labels.get(i, f"L{i}")) for i in items if isinstance(i, int)) + ")"
        case Shape.NAME | Shape.STRING if value == 0:
            # The assembler never writes string 0 for a string in the text, because it is the kernel's own name.
            return quote_string("")
        case Shape.NAME | Shape.IDENTIFIER:
            return word(string_name(names, value))
        case Shape.STRING:
            return quote_string(string_name(names, value))
        case Shape.INTEGER:
            return ("/" if slot.length else "") + _integer(inst.row, slot, value)
        case Shape.EXEC_WORD:
            code = value if isinstance(value, int) else 0
            return lsc_codes.word_of(slot.words or {}, code) or str(code)
        case Shape.GROUP:
            members = [inst.get(name) for name in slot.name.split(",")]
            return "(" + ",".join(str(m) if isinstance(m, int) else vector(names, m) for m in members) + ")"
        case Shape.VARIABLE:
            return _variable(names, inst, value)
        case _:
            return _lsc(names, inst, slot)


def _integer(row: Instruction, slot: Slot, value: Value) -> str:
    """Return a bare number; message descriptors (dwords) are hex, as their grammar requires."""
    assert isinstance(value, int)
    return (
        f"0x{value:x}"
        if row.fields[row.index[slot.name]].kind is FieldKind.U32 and slot.role is Role.OTHER and row.predicable
        else str(value)
    )


def string_name(names: OperandNames, value: Value) -> str:
    """Return a string of the pool; for an unknown number or an empty string a name with the number.

    The assembler would read an empty string as string 0, the name of the kernel.
    """
    if not isinstance(value, int):
        return ""
    text = names.strings[value] if 0 <= value < len(names.strings) else ""
    if not text:
        text = f"F{value:04d}"
        while text in names.strings:
            text += "_"
    return text


def _state(names: OperandNames, inst: Inst, slot: Slot, value: Value) -> str:
    sampler = slot.shape is Shape.SAMPLER
    if isinstance(value, int):
        letter = "S" if sampler else "T"
        return names.of(names.sampler if sampler else names.surface, letter, value)
    if isinstance(value, State):
        return f"({_state_name(names, value)},{value.offset})"
    if isinstance(value, RawOperand):
        return raw(names, value, bare=True)
    return vector(names, value) + (f"[{_int(inst, index)}]" if (index := f"{slot.name}idx") in inst.row.index else "")


def _variable(names: OperandNames, inst: Inst, value: Value) -> str:
    prop = inst.get("prop")
    cls = (prop if isinstance(prop, int) else 0) >> 4 & 3
    table = (names.general, names.address, names.predicate)[min(cls, 2)]
    return names.of(table, "VAPP"[cls], value) if isinstance(value, int) else ""


def _int(inst: Inst, name: str, default: int = 0) -> int:
    value = inst.get(name)
    return value if isinstance(value, int) else default


def _lsc(names: OperandNames, inst: Inst, slot: Slot) -> str:
    """Return the operands of the load/store controller."""
    value = inst.get(slot.name)
    register = raw(names, value, bare=True) if isinstance(value, RawOperand) else ""
    match slot.shape:
        case Shape.LSC_DATA:
            shape = lsc_codes.data_shape_text(
                _int(inst, "datasize"), _int(inst, "elems"), _int(inst, "order"), _int(inst, "chmask"),
                quad=inst.row.has(Trait.QUAD), v42=names.v42,
            )  # fmt: skip
            return register + shape
        case Shape.LSC_DATA_2D:
            block = lsc_codes.BlockShape(
                _int(inst, "datasize"), _int(inst, "blocks"), _int(inst, "width"), _int(inst, "height"),
                _int(inst, "order"), _int(inst, "vnni"),
            )  # fmt: skip
            return register + lsc_codes.block_shape_text(block)
        case Shape.LSC_DATA_TYPED_2D:
            return f"{register}:{_int(inst, 'width')}x{_int(inst, 'height')}"
        case Shape.LSC_ADDRESS | Shape.LSC_ADDRESS_STRIDED:
            return _address(names, inst, slot, register)
        case Shape.LSC_ADDRESS_2D if _int(inst, "payload"):
            return f"flat[{_scalar(names, inst.get('addr0'))}+({_int(inst, 'immx')},{_int(inst, 'immy')})]"
        case Shape.LSC_ADDRESS_2D:
            items = [_scalar(names, inst.get(f"addr{n}")) for n in range(6)]
            return f"flat[{','.join(items[:4])},{items[4]}{_format_offset(_int(inst, 'immx'))},{items[5]}{_format_offset(_int(inst, 'immy'))}]"
        case Shape.LSC_ADDRESS_TYPED:
            items = []
            for name in ("u", "v", "r", "lod"):
                item = inst.get(name)
                if isinstance(item, RawOperand) and item != NULL_RAW:
                    items.append(raw(names, item, bare=True) + _format_offset(_int(inst, f"{name}off")))
            return f"{_model(names, inst)}[{','.join(items)}]{_size(inst)}"
        case Shape.LSC_ADDRESS_TYPED_2D:
            pair = [
                _scalar(names, inst.get(n)) + _format_offset(_int(inst, off))
                for n, off in (("src0", "immx"), ("src1", "immy"))
            ]
            return f"{_model(names, inst)}[{','.join(pair)}]"
        case _:
            brackets = f"[{register}]" if isinstance(value, RawOperand) and value != NULL_RAW else ""
            return _model(names, inst) + brackets


def _format_offset(offset: int) -> str:
    return "" if not offset else f"{'+' if offset > 0 else '-'}0x{abs(offset):x}"


def _size(inst: Inst) -> str:
    return f":{lsc_codes.ADDRSIZE_TEXT.get(_int(inst, 'addrsize', lsc_codes.ADDRSIZE_A32), 'a?')}"


def _scalar(names: OperandNames, value: Value) -> str:
    """Return one element: ``V1``, ``V1.4`` or ``V1(1,0)``, or a number without a type."""
    if isinstance(value, Immediate):
        return f"0x{value.bits:x}"
    if isinstance(value, General):
        name = names.of(names.general, "V", value.var)
        if value.row:
            return f"{name}({value.row},{value.col})"
        return f"{name}.{value.col}" if value.col else name
    if isinstance(value, State):
        return _state_name(names, value)
    return ""


def _model(names: OperandNames, inst: Inst) -> str:
    """Return the address model with its surface."""
    # A code without a word is printed as a number, so that the text differs from that of other messages.
    code = _int(inst, "addrtype")
    model = lsc_codes.ADDRTYPE_TEXT.get(code, f"addrtype_{code}")
    surface = inst.get("surface")
    plain = model in ("flat", "arg") and isinstance(surface, Immediate) and surface.bits == 0
    index = _int(inst, "surfidx")
    if plain:
        return model
    return f"{model}({_scalar(names, surface)}{f',0x{index:x}' if index else ''})"


def _address(names: OperandNames, inst: Inst, slot: Slot, register: str) -> str:
    base = inst.get(slot.name)
    if isinstance(base, RawOperand) and base.var == 0:
        return f"{_model(names, inst)}[{register}]"
    scale = _int(inst, "immscale", 1)
    inner = (f"0x{scale:x}*" if scale != 1 else "") + register + _format_offset(_int(inst, "immoffset"))
    if slot.shape is Shape.LSC_ADDRESS_STRIDED:
        inner += "," + _scalar(names, inst.get("pitch"))
    return f"{_model(names, inst)}[{inner}]{_size(inst)}"
