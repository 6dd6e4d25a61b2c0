"""Checks that a body refers only to its declarations, and that its registers fit.

An object may have any bytes; engines need no further test of a checked body. Does not check semantics. Invariant: the
registers of a checked body take at most ``MAX_REGISTER_BYTES``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from visa_lsp.isa import predefined
from visa_lsp.isa.model import FieldKind
from visa_lsp.program.model import (
    Address,
    AddressOf,
    FileVariable,
    General,
    Indirect,
    Inst,
    Kernel,
    Predicate,
    PredicateOperand,
    RawOperand,
    State,
    Value,
)
from visa_lsp.sim.launch.config import LaunchError
from visa_lsp.sim.registers import is_alias

MAX_REGISTER_BYTES: Final = 1 << 24  # for one activation; a real thread has 32 KB
MAX_PAYLOAD_BYTES: Final = 1 << 16


def check_body(body: Kernel, grf_bytes: int, shared: Sequence[FileVariable] = ()) -> None:
    """Check that a body refers only to its declarations; ``shared`` are the variables of file scope.

    Raises LaunchError, with the line, for any other reference, and for more than ``MAX_REGISTER_BYTES`` of registers.
    """
    _registers(body, grf_bytes, shared)
    _inputs(body)
    for inst in body.instructions:
        for field, value in zip(inst.row.fields, inst.values, strict=True):
            wrong = _field(body, field.kind, value) or _values(body, value)
            if wrong:
                raise LaunchError(f"{_place(body, inst)}: {inst.row.mnemonic}: {wrong}")


def _registers(body: Kernel, grf_bytes: int, shared: Sequence[FileVariable]) -> None:
    total = sum(variable.num_elements * variable.type.size + grf_bytes for variable in shared)
    for number, variable in enumerate(body.variables, predefined.FIRST_VARIABLE):
        if variable.alias_scope:
            if variable.alias_index >= len(shared):
                raise LaunchError(
                    f"'{body.name}': an alias names an unknown variable of file scope: {variable.alias_index}"
                )
        elif is_alias(variable):
            _alias(body, number)
        else:
            total += variable.byte_size + grf_bytes
    for states in (body.addresses, body.surfaces, body.samplers):
        total += sum(8 * max(1, state.num_elements) for state in states)
    if total > MAX_REGISTER_BYTES:
        raise LaunchError(
            f"'{body.name}' declares {total} bytes of registers; a thread has at most {MAX_REGISTER_BYTES}"
        )


def _alias(body: Kernel, number: int) -> None:
    seen = {number}
    while True:
        variable = body.variable(number)
        if variable is None or variable.alias_scope or not is_alias(variable):
            break
        number = variable.alias_index
        if number in seen:
            raise LaunchError(f"'{body.name}': the alias of variable V{number} leads back to itself")
        seen.add(number)
    if not _has_variable(body, number):
        raise LaunchError(f"'{body.name}': an alias names an unknown variable: V{number}")


def _inputs(body: Kernel) -> None:
    for item in body.inputs:
        kind = item.kind & 7
        if item.offset < 0 or item.offset + item.size > MAX_PAYLOAD_BYTES:
            end = item.offset + item.size
            raise LaunchError(
                f"'{body.name}': an input takes bytes {item.offset} to {end}; the payload has at most {MAX_PAYLOAD_BYTES} bytes"
            )
        if kind == 0:
            good = body.variable(item.id) is not None
        elif kind == 1:
            good = item.id < len(body.samplers)
        else:
            good = predefined.FIRST_SURFACE <= item.id < predefined.FIRST_SURFACE + len(body.surfaces)
        if not good:
            raise LaunchError(f"'{body.name}': an input fills an unknown variable of its class: {item.id}")
        states, base = (body.samplers, 0) if kind == 1 else (body.surfaces, predefined.FIRST_SURFACE)
        if kind and not 0 <= states[item.id - base].name_index < len(body.strings):
            raise LaunchError(f"'{body.name}': the name of input {item.id} is not in the string pool")
        if kind == 0:
            size = body.variable(item.id)
            if size is not None and item.size > max(size.byte_size, 1) + _GRF_SLACK:
                raise LaunchError(
                    f"'{body.name}': an input of {item.size} bytes fills V{item.id}, which has {size.byte_size} bytes"
                )


_GRF_SLACK: Final = 63  # an input may fill the last register of its variable


def _has_variable(body: Kernel, number: int) -> bool:
    return 0 <= number < predefined.FIRST_VARIABLE or body.variable(number) is not None


def _field(body: Kernel, kind: FieldKind, value: Value) -> str:
    """Return the error of a number that refers to a declaration; empty if it is valid."""
    if not isinstance(value, int):
        if kind is FieldKind.LABELS and isinstance(value, tuple):
            return next((f"there is no label {n}" for n in value if not _within(n, len(body.labels))), "")
        return ""
    limits = {
        FieldKind.SURFACE: (predefined.FIRST_SURFACE + len(body.surfaces), "surface T"),
        FieldKind.LABEL: (len(body.labels), "label "),
        FieldKind.STRING16: (len(body.strings), "string "),
        FieldKind.STRING32: (len(body.strings), "string "),
    }
    if kind not in limits:
        return ""
    limit, what = limits[kind]
    return "" if 0 <= value < limit else f"there is no {what}{value}"


def _within(value: Value, limit: int) -> bool:
    return isinstance(value, int) and 0 <= value < limit


def _values(body: Kernel, value: Value) -> str:
    if isinstance(value, tuple):
        return next((wrong for item in value if (wrong := _values(body, item))), "")
    match value:
        case General() | AddressOf() | RawOperand():
            if not _has_variable(body, value.var):
                return f"there is no variable V{value.var}"
        case Predicate() | PredicateOperand():
            if not 0 <= value.var < len(body.predicates) + predefined.FIRST_PREDICATE:
                return f"there is no predicate P{value.var}"
        case Address() | Indirect():
            offset = value.offset + value.width - 1 if isinstance(value, Address) else value.addr_offset
            if not 0 <= value.var < len(body.addresses):
                return f"there is no address variable A{value.var}"
            if not 0 <= offset < max(1, body.addresses[value.var].num_elements):
                return f"A{value.var} has no element {offset}"
        case State():
            states = body.samplers if value.sampler else body.surfaces
            index = value.var if value.sampler else value.var - predefined.FIRST_SURFACE
            if value.sampler and any(value.var == sampler.number for sampler in predefined.SAMPLERS):
                return ""
            if value.var < 0 or index >= len(states):
                return f"there is no {'sampler S' if value.sampler else 'surface T'}{value.var}"
            if index >= 0 and not 0 <= value.offset < max(1, states[index].num_elements):
                return f"{'S' if value.sampler else 'T'}{value.var} has no element {value.offset}"
    return ""


def _place(body: Kernel, inst: Inst) -> str:
    line = f", line {inst.line + 1}" if inst.line >= 0 else ""
    return f"'{body.name}'{line}"
