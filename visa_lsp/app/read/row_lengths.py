"""The length of a row of each buffer, as the kernel indexes it: ``w`` of ``a[y * w + x]``.

Read off the printed pseudo-code, in which indexes are sums of products; a variable that is set once stands for its value.
Knows values of arguments, runs nothing. A buffer whose index has no factor that the launch knows gets no row.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from visa_lsp.app.read.pseudo_code import ReadKernel

_SET: Final = re.compile(r"\s*(?:\w[\w ]*[ *])?([A-Za-z_]\w*) = (.+);")
_ACCESS: Final = re.compile(r"\b([A-Za-z_]\w*)\[")
_CAST: Final = re.compile(r"\((?:unsigned |signed )?(?:u?(?:char|short|int|long)|size_t)\)")
_SHIFTED: Final = re.compile(r"(.+) << (\d|[12]\d|3[01])")
_MAX_DEPTH: Final = 6
_MAX_TERMS: Final = 64


def find_row_lengths(kernel: ReadKernel, values: Mapping[str, int], sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the row lengths of buffers by name; ``values`` are those of arguments, ``sizes`` the elements of buffers."""
    lines = [_CAST.sub("", line.text) for line in kernel.lines]
    found = [match for line in lines if (match := _SET.match(line))]
    names = [match[1] for match in found]
    known = {match[1]: match[2] for match in found if names.count(match[1]) == 1}
    rows: dict[str, tuple[bool, int]] = {}
    for line in lines:
        for match in _ACCESS.finditer(line):
            name = match[1]
            index = _inside(line, match.end())
            for term in _terms(index, known) if name in sizes else ():
                row = _factor(term, values)
                if 1 < row < sizes[name] and sizes[name] % row == 0:
                    candidate = not values.keys() & set(term), row  # a factor that is an argument tells more
                    rows[name] = min(candidate, rows.get(name, candidate))
    return {name: row for name, (_, row) in rows.items()}


def _inside(text: str, start: int) -> str:
    """Return the text up to the bracket that closes one before ``start``."""
    depth = 1
    for at in range(start, len(text)):
        depth += (text[at] in "[(") - (text[at] in ")]")
        if depth == 0:
            return text[start:at]
    return ""


def _terms(index: str, known: Mapping[str, str], depth: int = 0) -> Iterator[list[str]]:
    """Yield the factors of each term of a sum, with variables replaced by their values."""
    for term in _split(index, "+")[:_MAX_TERMS]:
        factors = _split(term, "*")
        bracketed = term.startswith("(") and _inside(term, 1) == term[1:-1]
        inner = term[1:-1] if bracketed else known.get(term)
        if shifted := _SHIFTED.fullmatch(term):
            yield [shifted[1], str(1 << int(shifted[2]))]
        elif inner is not None and depth < _MAX_DEPTH:
            yield from _terms(inner, known, depth + 1)
        else:
            yield factors


def _split(text: str, sign: str) -> list[str]:
    """Return the parts of an expression between signs outside of brackets."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "[(") - (char in ")]")
        if char == sign and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def _factor(factors: list[str], values: Mapping[str, int]) -> int:
    """Return the product of the known factors of a term that has an unknown one, but for ids of groups; else 0."""
    known = [int(word) if word.isdecimal() and len(word) < 10 else values.get(word, 0) for word in factors]
    if all(known) or any("group_id" in word for word in factors):
        return 0
    product = 1
    for value in known:
        product *= value or 1
    return product
