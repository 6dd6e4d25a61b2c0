"""Converts messages that load and store elements of memory to accesses, by the effects that their rows name."""

from __future__ import annotations

from visa_lsp.app.read.model import Lanes, MemoryPlace, Transfer
from visa_lsp.isa import lsc_codes as codes
from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import Effect
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.model import General, Immediate, Inst, Predicate, RawOperand

_ADDRESS_TYPE = {1: ty.UW, 2: ty.UD, 3: ty.UQ, 5: ty.UD, 6: ty.D}
_FLAT = MemoryPlace(model=codes.ADDRTYPE_FLAT)
_OWORDS = {
    "oword_ld": (False, 16), "oword_ld_unaligned": (False, 1), "oword_st": (True, 16),
    "svm_block_ld": (False, 1), "svm_block_st": (True, 1),
}  # fmt: skip


def access_of(inst: Inst, place: int) -> Transfer | None:
    """Return the access of a message; None if the message does not have this form."""
    meaning, control = inst.row.meaning, inst.get("exec")
    if not isinstance(meaning, Effect):
        return None
    if meaning.name in _OWORDS:
        return _owords(inst, place, *_OWORDS[meaning.name])
    if not isinstance(control, ExecControl):
        return None
    match meaning.name:
        case "lsc_load" | "lsc_store" | "lsc_load_quad" | "lsc_store_quad":
            return _lsc(inst, place, control, meaning.name)
        case "gather_scaled" | "scatter_scaled" if _number(inst, "n") <= 2:
            size = 1 << _number(inst, "n")
            return _surface(inst, place, control, size, 4, (0,))
        case "gather4_scaled" | "scatter4_scaled":
            return _surface(inst, place, control, 4, 4, _channels(_number(inst, "chan")))
        case "qw_gather" | "qw_scatter":
            return _surface(inst, place, control, 8, 8, tuple(range(1 << _number(inst, "n"))))
        case "svm_gather" | "svm_scatter":
            count, block = 1 << _number(inst, "n"), {0: 1, 1: 4}.get(_number(inst, "block"), 8)
            size, cell, count = (count, max(4, count), 1) if block == 1 else (block, block, count)
            return _flat(inst, place, control, size, cell, tuple(range(count)), write=meaning.name == "svm_scatter")
        case "svm_gather4scaled" | "svm_scatter4scaled":
            elements = _channels(_number(inst, "chan"))
            return _flat(inst, place, control, 4, 4, elements, write=meaning.name == "svm_scatter4scaled")
    return None


def _number(inst: Inst, name: str, default: int = 0) -> int:
    value = inst.get(name, default)
    if isinstance(value, ExecControl):
        return value.exec_size.bit_length() - 1
    return value if isinstance(value, int) else default


def _channels(mask: int) -> tuple[int, ...]:
    return tuple(channel for channel in range(4) if mask >> channel & 1)


def guard_of(inst: Inst) -> Predicate | None:
    """Return the predicate of an instruction; None without one."""
    found = inst.get("pred")
    return found if isinstance(found, Predicate) else None


def _raw(inst: Inst, name: str) -> RawOperand:
    found = inst.get(name)
    return found if isinstance(found, RawOperand) else RawOperand(0, 0)


def _lsc(inst: Inst, place: int, control: ExecControl, effect: str) -> Transfer | None:
    size = codes.DATASIZES.get(_number(inst, "datasize"))
    if size is None or inst.get("surfidx") not in (None, 0):
        return None
    quad, write = effect.endswith("quad"), "store" in effect
    elements = (
        _channels(_number(inst, "chmask")) if quad
        else tuple(range(codes.ELEMS_VALUE.get(_number(inst, "elems"), 1)))
    )  # fmt: skip
    model = _number(inst, "addrtype", codes.ADDRTYPE_FLAT)
    if _number(inst, "sfid") == codes.SFID_SLM:
        memory = MemoryPlace(shared=True)
    else:
        memory = MemoryPlace(model=model, operand=inst.get("surface"))
    width = _number(inst, "addrsize")
    return Transfer(
        write, memory, Lanes(_raw(inst, "src0"), _ADDRESS_TYPE.get(width, ty.UD)), _number(inst, "immscale", 1) or 1,
        Immediate(ty.D, _number(inst, "immoffset")), codes.ADDRSIZE_BYTES.get(width, 4) <= 4 and model != codes.ADDRTYPE_FLAT,
        _raw(inst, "src1" if write else "dst"), size.memory_bytes, size.register_bytes, elements,
        _number(inst, "order") == codes.ORDER_TRANSPOSED, size.high_half, control, guard_of(inst), (place,),
    )  # fmt: skip


def _surface(
    inst: Inst, place: int, control: ExecControl, size: int, cell: int, elements: tuple[int, ...]
) -> Transfer | None:
    write, surface, offset = inst.get("src") is not None, inst.get("surface"), inst.get("goff")
    if not isinstance(surface, int):
        return None
    return Transfer(
        write, MemoryPlace(variable=surface), Lanes(_raw(inst, "off"), ty.UD), 1, offset, offset is not None,
        _raw(inst, "src" if write else "dst"), size, cell, elements, False, False, control, guard_of(inst), (place,),
    )  # fmt: skip


def _flat(
    inst: Inst, place: int, control: ExecControl, size: int, cell: int, elements: tuple[int, ...], *, write: bool
) -> Transfer:
    return Transfer(
        write, _FLAT, Lanes(_raw(inst, "address"), ty.UQ), 1, inst.get("goff"), False, _raw(inst, "data"), size, cell,
        elements, False, False, control, guard_of(inst), (place,),
    )  # fmt: skip


def _owords(inst: Inst, place: int, write: bool, scale: int) -> Transfer | None:
    flat = inst.row.family == "svm"
    surface, at = inst.get("surface"), inst.get("address" if flat else "offset")
    if not (flat or isinstance(surface, int)) or not isinstance(at, General | Immediate):
        return None
    memory = _FLAT if flat or not isinstance(surface, int) else MemoryPlace(variable=surface)
    return Transfer(
        write, memory, at, scale, None, False, _raw(inst, "data" if flat else "src" if write else "dst"), 4, 4,
        tuple(range(4 << _number(inst, "n"))), True, False, ExecControl(1, 0, no_mask=True), None, (place,),
    )  # fmt: skip
