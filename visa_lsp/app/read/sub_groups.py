"""Folds the steps by which compilers combine the values of all lanes to calls, as `sub_group_reduce_max(v)`.

The lanes that are off count as the neutral value. A fold is made only where all other lines read nothing but the result.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FILL: Final = re.compile(r"each_lane\(0, (\d+)\) (\w+)\[lane\] = ([^;]+);")
_FORMS: Final = {
    "add": "{} + {}", "and": "{} & {}", "or": "{} | {}", "xor": "{} ^ {}", "min": "min({}, {})", "max": "max({}, {})",
}  # fmt: skip
_REAL_FORMS: Final = {"add": "{} + {}", "min": "fmin({}, {})", "max": "fmax({}, {})"}
_NEUTRAL: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "int": {"add": ("0",), "or": ("0",), "xor": ("0",), "and": ("-1",), "max": ("(int)0x80000000",), "min": ("0x7fffffff",)},
    "uint": {"add": ("0",), "or": ("0",), "xor": ("0",), "and": ("-1",), "max": ("0",), "min": ("-1", "0xffffffffu")},
    "float": {"add": ("0.0f",), "max": ("-INFINITY",), "min": ("INFINITY",)},
}  # fmt: skip
_LANES: Final = 32
_HALF: Final = 16


class SubGroupFold(Struct, frozen=True):
    """The lines from one on, which the calls replace; ``exchanges`` are patterns of the result and what replaces them."""

    count: int
    arrays: frozenset[str]
    calls: tuple[tuple[str, str], ...]  # variable, call
    type: str
    exchanges: tuple[tuple[str, str], ...]


def find_fold(texts: Sequence[str], at: int, types: Mapping[str, str]) -> SubGroupFold | None:
    """Return the fold that begins at a line; ``types`` are those of the elements of shared arrays."""
    hit = _FILL.fullmatch(texts[at])
    if hit is None or types.get(hit[2]) not in _NEUTRAL:
        return None
    size, first, neutral, type_ = int(hit[1]) + 1, hit[2], hit[3], types[hit[2]]
    lines = list(texts[at : at + 64])
    whole = re.fullmatch(rf"{first}\[lane\] = (.+);", lines[1]) if len(lines) > 1 else None
    if whole is not None and size in (_HALF, _LANES):
        return _reduction(lines, 2, first, size, size, whole[1], neutral, type_) or _scan(
            lines, first, size, whole[1], neutral, type_
        )
    other = _FILL.fullmatch(lines[1]) if len(lines) > 1 else None
    if other is None or (other[1], other[3]) != (hit[1], neutral) or size != _HALF or len(lines) < 5:
        return None
    low = re.fullmatch(rf"if \(lane <= 15\) {first}\[lane\] = (.+);", lines[2])
    if low is None or lines[3] != f"if (lane >= 16) {other[2]}[lane - 16] = {low[1]};":
        return None
    return _reduction(lines, 4, first, _LANES, _LANES, low[1], neutral, type_, other[2]) or _scan_halves(
        lines, first, other[2], low[1], neutral, type_
    )


def _reduction(
    lines: list[str], at: int, array: str, size: int, lanes: int, value: str, neutral: str, type_: str, upper: str = ""
) -> SubGroupFold | None:
    """Return the fold of steps that halve an array; ``upper`` is the array of the upper lanes in the first step."""
    for word, form in (_REAL_FORMS if type_ == "float" else _FORMS).items():
        if neutral not in _NEUTRAL[type_][word] or (type_ == "float" and lanes < _LANES):
            continue
        here, length, now, arrays = at, size, array, {array, upper} - {""}
        while length > 2 and here < len(lines):
            half = length // 2
            right = f"{upper}[lane]" if upper and length == size else f"{now}[lane + {half}]"
            step = re.escape(form.format(f"{now}[lane]", right))
            hit = re.fullmatch(rf"each_lane\(0, {half - 1}\) (\w+)\[lane\] = {step};", lines[here])
            if hit is None:
                break
            here, length, now = here + 1, half, hit[1]
            arrays.add(now)
        if length == 2:
            result = f"{now}_all"
            last = re.escape(form.format(f"{now}[0]", f"{now}[1]"))
            pattern = last if form.endswith(")") else rf"\({last}\)|{last}(?= *[;,)+])"
            call = f"sub_group_reduce_{word}({_argument(value, type_)})"
            return SubGroupFold(here, frozenset(arrays), ((result, call),), type_, ((pattern, result),))
    return None


def _scan(lines: list[str], array: str, size: int, value: str, neutral: str, type_: str) -> SubGroupFold | None:
    """Return the fold of a sum of the lanes below, or of these and the lane itself, in one array."""
    if neutral != "0" or type_ == "float":
        return None
    moved = _shifted(lines, 2, array, size, "0")
    at, now = (moved[0], moved[1]) if moved is not None else (2, array)
    if at >= len(lines) or lines[at] != f"once for (int k = 1; k < {size}; k++) {now}[k] += {now}[k - 1];":
        return None
    word, value = ("exclusive" if moved is not None else "inclusive"), _argument(value, type_)
    calls = [(f"{now}_below", f"sub_group_scan_{word}_add({value})")]
    exchanges = [(rf"\b{now}\[lane\]", f"{now}_below")]
    if moved is None and any(f"{now}[{size - 1}]" in text for text in lines[at + 1 :]):
        calls.append((f"{now}_all", f"sub_group_reduce_add({value})"))
        exchanges.append((rf"\b{now}\[{size - 1}\]", f"{now}_all"))
    return SubGroupFold(at + 1, frozenset({array, now}), tuple(calls), type_, tuple(exchanges))


def _scan_halves(lines: list[str], low: str, high: str, value: str, neutral: str, type_: str) -> SubGroupFold | None:
    """Return the fold of a sum of the lanes below, with an array for each half of the lanes."""
    if neutral != "0" or type_ == "float":
        return None
    one = _shifted(lines, 4, low, _HALF, "0")
    two = _shifted(lines, one[0], high, _HALF, f"{low}[15]") if one is not None else None
    if one is None or two is None:
        return None
    at, names = two[0], (one[1], two[1])
    if lines[at : at + 2] != [f"once for (int k = 1; k < 16; k++) {name}[k] += {name}[k - 1];" for name in names]:
        return None
    result = f"{names[0]}_below"
    exchanges = (
        (rf"(?<=if \(lane >= 16\) )(.*)\b{names[0]}\[15\] \+ {names[1]}\[lane - 16\]", rf"\g<1>{result}"),
        (rf"(?<=if \(lane <= 15\) )(.*)\b{names[0]}\[lane\]", rf"\g<1>{result}"),
    )
    call = f"sub_group_scan_exclusive_add({_argument(value, type_)})"
    return SubGroupFold(at + 2, frozenset({low, high, *names}), ((result, call),), type_, exchanges)


def _shifted(lines: list[str], at: int, array: str, size: int, first: str) -> tuple[int, str] | None:
    """Return the line after those that copy an array, moved by one element, and the copy; None for other lines."""
    head = re.fullmatch(rf"once (\w+)\[0\] = {re.escape(first)};", lines[at]) if at < len(lines) else None
    if head is None or head[1] == array:
        return None
    name, done = head[1], 1
    while done < size and (at := at + 1) < len(lines):
        below = f"lane + {done - 1}" if done > 1 else "lane"
        hit = re.fullmatch(
            rf"each_lane\(0, (\d+)\) {name}\[lane \+ {done}\] = {array}\[{re.escape(below)}\];", lines[at]
        )
        if hit is None and lines[at] != f"once {name}[{done}] = {array}[{done - 1}];":
            return None
        done += int(hit[1]) + 1 if hit is not None else 1
    return (at + 1, name) if done == size else None


def _argument(value: str, type_: str) -> str:
    return f"({type_}){value}" if re.fullmatch(r"\w+", value) else f"({type_})({value})"
