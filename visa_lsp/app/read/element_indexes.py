"""Writes offsets in bytes as indexes of elements, in lines of C.

Invariant: a text that is no sum of whole elements stays as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.app.read.comparisons import WORD, closes, find_close

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from visa_lsp.app.read.expressions import Text


SUM_INDEX: Final = re.compile(r"\[\(([^\[\]]+)\) / (\d+)\]")


def of_lane(text: str, lane: int) -> str:
    """Write elements of a lane's own number as elements of the lane."""
    return re.sub(rf"\[{lane}\]", "[lane]", re.sub(rf"\[{lane % 16}\]", "[lane]" if lane < 16 else "[lane - 16]", text))


def without_divisor(name: str, factors: Mapping[int, int], text: str) -> str:
    """Replace `V / 4` in a text by a multiple of the variable; ``factors`` have it by divisor."""

    def change(hit: re.Match[str]) -> str:
        factor = factors[int(hit[1])]
        return name if factor == 1 else f"{name} * {factor}"

    return re.sub(rf"\b{name} / (\d+)\b", change, text)


def short_index(text: str) -> str:
    """Write an index that was an offset in bytes without the factor; registers end long before 16 bits do."""
    at = 0
    while (start := text.find("[(ushort)(", at)) >= 0:
        at = start + 1
        inner = text[start + len("[(ushort)") :]
        end = find_close(inner)
        hit = re.match(r" / (\d+)(?=\]| )", inner[end + 1 :])
        body = re.fullmatch(r"(.+) (\*|<<) (\d+)", inner[1:end])
        if hit is None or body is None:
            continue
        factor = int(body[3]) if body[2] == "*" else 1 << int(body[3])
        if factor != int(hit[1]) or (body[2] == "*" and " " in body[1]):
            continue
        plain = re.fullmatch(r"\(ushort\)\((.+)\)", body[1])
        text = (
            text[: start + 1]
            + (plain[1] if plain is not None and "(" not in plain[1] else body[1])
            + inner[end + 1 + hit.end() :]
        )
    return text


def split_shift(line: str, name: str) -> tuple[int, int, str] | None:
    """Return the shift, or else the number, of an assignment of a multiple of a power of two; the text before the shift."""
    right = line.partition("= ")[2].removesuffix(";")
    hit = re.fullmatch(r"(.+) << (\d+)", right)
    if hit is not None and f"{name} = " in line and name not in WORD.findall(hit[1]):
        inner = hit[1]
        if not (inner.startswith("(") and closes(inner)) and not re.fullmatch(r"[\w().]+", inner):
            return None
        return int(hit[2]), 0, inner[1:-1] if inner.startswith("(") and closes(inner) else inner
    return (0, int(right), "") if right.isdecimal() else None


def as_index(value: Text | None) -> Text | None:
    """Return what is known of a value that becomes an index."""
    return None if value is None else replace(value, low=-(1 << 31), high=(1 << 31) - 1)


def divided(text: str, size: int, name: str, variables: Container[str]) -> str | None:
    """Return a sum of multiples of a power of two, divided by it; None if it is none. One variable may be a multiple."""
    parts, rests = [], 0
    for sign, term in terms_of(text):
        ordered = re.sub(r"^(\d+) \* (\w+(?:\(\d\))?)$", r"\2 * \1", term)
        hit = re.fullmatch(r"\(?(.+?) (<<|\*) (\d+)\)?", ordered)
        factor = (int(hit[3]) if hit[2] == "*" else 1 << int(hit[3]) % 32) if hit is not None else 0
        if term.isdecimal():
            if int(term) % size:
                return None
            parts.append((sign, str(int(term) // size)))
        elif hit is not None and re.fullmatch(r"\w+(?:\(\d\))?", hit[1]) and factor % size == 0:
            parts.append((sign, hit[1] if factor == size else f"{hit[1]} * {factor // size}"))
        elif term in variables and not rests:
            rests += 1
            parts.append((sign, f"{term} / {size}"))
        else:
            return None
    joined = "".join(f" {sign} {part}" for sign, part in parts)
    return None if name in WORD.findall(joined) or joined[1] != "+" else joined[3:]


def divide_index(hit: re.Match[str]) -> str:
    """Write an index that is a sum of offsets in bytes as a sum of elements."""
    found = divided(hit[1], int(hit[2]), "", ()) if closes(f"({hit[1]})") else None
    return f"[{found}]" if found is not None else hit[0]


def terms_of(text: str) -> list[tuple[str, str]]:
    """Return the terms of a sum with their signs."""
    found, depth, start, sign = [], 0, 0, "+"
    for at, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if not depth and letter in "+-" and text[at - 1 : at] == " " == text[at + 1 : at + 2]:
            found.append((sign, text[start : at - 1]))
            start, sign = at + 2, letter
    return [*found, (sign, text[start:])]
