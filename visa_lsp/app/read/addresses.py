"""Puts addresses of 64 bits together from their dwords, in lines of C."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def whole_address(low: str, high: str) -> str | None:
    """Return an address of 64 bits, given its dwords: a base, or a base and one or two offsets with their carries."""
    for lower, upper, base in bases(low):
        if low == lower and high == upper:
            return base
        sums = [("", lower)]
        for text in re.findall(rf"{re.escape(lower)} \+ (\w+)", low):
            sums.append((f"carry({lower}, {text}) + ", f"{lower} + {text}"))
            sums.append((f"carry({lower}, (uint){text}) + ", f"{lower} + {text}"))
        for carried, total in sums:
            offset = total.removeprefix(lower).removeprefix(" + ")
            inner = f"{base} + {dword(offset)}" if offset else base
            for other, form in others(low, total):
                for plain in (other, f"(uint){other}", f"(uint)({other})"):
                    if high in (
                        f"carry({form[0]}, {form[1]}) + {carried}{upper}".replace("@", plain),
                        f"carry({plain}, {total}) + {carried}{upper}",
                        f"carry({total}, {plain}) + {carried}{upper}",
                    ):
                        return f"{inner} + {dword(other)}"
            if low == total and high == f"{carried}{upper}" and offset:
                return inner
    return None


def bases(low: str) -> Iterator[tuple[str, str, str]]:
    """Yield the dwords of addresses that a text may contain, and the whole of each."""
    for base in re.findall(r"\(uint\)(\(ulong\)\w+|\w+)", low):
        yield f"(uint){base}", f"(uint)({base} >> 32)", base
    for name in re.findall(r"(\w+)\.x\b", low):
        yield f"{name}.x", f"{name}.y", f"as_ulong({name})"


def others(low: str, total: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the rest of a sum without one of its parts."""
    for form in (total, f"({total})"):
        if low.startswith(f"{form} + "):
            yield low.removeprefix(f"{form} + "), ("@", total)
        if low.endswith(f" + {form}"):
            yield low.removesuffix(f" + {form}"), ("@", total)


def dword(text: str) -> str:
    """Return a text as an unsigned dword."""
    return text if text.isdecimal() else f"(uint){text}" if re.fullmatch(r"\w+", text) else f"(uint)({text})"


def simple_pointer(text: str) -> str:
    """Write an access through the address of an argument as an access through the argument."""
    text = re.sub(r"\*\((\w+) \*\)\(\(ulong\)(\w+)\)", r"*(\1 *)\2", text)
    return re.sub(r"\((\w+) \*\)\(\(ulong\)(\w+)\)", r"(\1 *)\2", text)
