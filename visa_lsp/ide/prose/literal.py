"""The hover of numbers: an immediate in its type, a bare number in both bases, a packed vector lane by lane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.ide.index.plain_numbers import float_of_bits, int_of_bits, number_of, unpack_values
from visa_lsp.isa.types import DataType, F, type_named
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from visa_lsp.program.model import Immediate

_MASK64: Final = (1 << 64) - 1
_MAX_BITS: Final = 256  # because a longer number is a mistake, and its decimal form unreadable


def describe_literal(node: tree.Literal, value: Immediate | None) -> str | None:
    """Return the page of an immediate or a bare number; ``value`` is its bound value."""
    type_ = type_named(node.suffix.text) if node.suffix else None
    if type_ is None:
        return describe_number(node.value)
    if value is not None:
        bits = value.bits
    else:
        number = number_of(node.value)
        if number is None:
            return f"immediate of type `{type_.name}`: {type_.doc}"
        bits = number & _MASK64
    return _immediate(type_, bits)


def describe_number(node: tree.Expr) -> str | None:
    """Return the page of an integer expression or float without a type."""
    if isinstance(node, tree.Float):
        return f"**{node.value!r}** — float"
    number = number_of(node)
    if number is None or number.bit_length() > _MAX_BITS:
        return None
    return f"**{number}** — `{number & _MASK64 if number < 0 else number:#x}`"


def _immediate(type_: DataType, bits: int) -> str:
    wide = 64 if type_.size == 8 else 32
    bits &= (1 << wide) - 1
    low = bits & ((1 << type_.bits) - 1)
    head = f"immediate of type `{type_.name}`: {type_.doc}"
    rows: list[tuple[str, str]] = []
    packed = unpack_values(bits, type_)
    if packed:
        rows.append(("hex", f"`{bits:#010x}`"))
        rows.append(("lanes", ", ".join(f"{v:g}" for v in packed)))
        return _table(f"**packed vector** — {head}", rows)
    number = float_of_bits(bits, type_)
    if number is not None:
        rows.append(("float", f"`{_shortest(number, type_)}`"))
        rows.append(("hex", f"`{low:#0{type_.size * 2 + 2}x}`"))
        if type_ is F and number != int_of_bits(bits, F):
            rows.append(("bits as integer", f"{low}"))
        return _table(f"**{_shortest(number, type_)}** — {head}", rows)
    value = int_of_bits(bits, type_)
    rows.append(("decimal", f"{value}" + (f" (unsigned {low})" if value < 0 else "")))
    rows.append(("hex", f"`{low:#x}`"))
    if low > 1:
        rows.append(("binary", f"`{low:#b}`"))
    as_float = float_of_bits(low, F) if type_.size == 4 else None
    if as_float is not None and low and 1e-10 < abs(as_float) < 1e10:
        rows.append(("bits as f", f"`{_shortest(as_float, F)}`"))
    if bits != low and bits != value & ((1 << wide) - 1):
        rows.append(("in the object", f"`{bits:#010x}`: bits beyond the type are written unchanged"))
    return _table(f"**{value}** — {head}", rows)


def _shortest(number: float, type_: DataType) -> str:
    """Return the shortest decimal that parses to the same single-precision number."""
    digits = {"df": 17, "f": 9, "hf": 5, "bf": 4}[type_.name]
    for precision in range(1, digits + 1):
        text = f"{number:.{precision}g}"
        if type_.name == "df":
            if float(text) == number:
                return text
        elif abs(float(text) - number) <= abs(number) * 2.0 ** -({"f": 25, "hf": 12, "bf": 9}[type_.name]):
            return text
    return repr(number)


def _table(head: str, rows: list[tuple[str, str]]) -> str:
    return head + "\n\n" + "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])
