"""Finds the divisor of a multiplication by a reciprocal, as compilers write divisions by constants."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

HIGH_HALF: Final = re.compile(
    r"mul_hi\((?P<value>\w+), (?P<factor>-?(?:0x)?[0-9a-f]+)(?P<unsigned>u?)\)(?P<plus> \+ (?P=value))?"
)

_START: Final = r"(?P<before>^|\(|= |, |\? |: )"
_SHIFTED: Final = re.compile(rf"{_START}{HIGH_HALF.pattern} >> (?P<shift>\d+)(?=[);,]|$)")
_REST: Final = re.compile(
    rf"{_START}(?:-(?P<one>\d+) \* \((?P<cast>\(uint\))?\(?(?P<value>\w+) / (?P=one)\)?\)|(?P<other>\w+) / (?P<two>\d+) \* -(?P=two))"
    r" \+ (?:(?P=value)|(?P=other))(?=[);,]| [+-] |$)"
)


def find_divisor(hit: re.Match[str], shift: int, *, signed: bool) -> int:
    """Return the number that every value is divided by, toward zero; 0 if there is none.

    The upper half of a product with ``factor`` is shifted; for signed values, 1 is added to a negative result.
    """
    factor, whole = int(hit["factor"], 0), 1 << 32 + shift
    if signed and factor < 0 and hit["plus"]:
        factor += 1 << 32
    elif hit["plus"] or factor <= 0:
        return 0
    divisor = -(-whole // factor)
    error = factor * divisor - whole
    return divisor if divisor > 1 and 0 < error <= (2 if signed else 1) << shift else 0


def with_quotients(text: str, type_of: Callable[[str], str]) -> str:
    """Write multiplications of unsigned values as quotients, and what divisions leave as remainders."""

    def quotient(hit: re.Match[str]) -> str:
        divisor, own = find_divisor(hit, int(hit["shift"]), signed=False), type_of(hit["value"])
        if not divisor or not (own == "uint" or (own == "int" and hit["unsigned"])):
            return hit[0]
        return f"{hit['before']}{'' if own == 'uint' else '(uint)'}{hit['value']} / {divisor}"

    def rest(hit: re.Match[str]) -> str:
        whole = f"{hit['value'] or hit['other']} % {hit['one'] or hit['two']}"
        return f"{hit['before']}(uint)({whole})" if hit["cast"] else hit["before"] + whole

    return _REST.sub(rest, _SHIFTED.sub(quotient, text))
