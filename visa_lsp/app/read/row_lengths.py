"""The length of a row of each buffer, as the kernel indexes it: ``w`` of ``a[y * w + x]``.

Read off the pseudo-code, in which indexes are sums of products; a variable that is set once stands for its value.
Knows values of arguments, runs nothing. A buffer whose index has no factor that the launch knows gets no row.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.tree import Tree, form, leaf, number_of, step_of, terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from visa_lsp.app.read.pseudo_code import ReadKernel

_TYPE: Final = re.compile(r"\s*(for \()?(?:(?:\w+ )+\*?(?=\w+ = ))?")
_MAX_DEPTH: Final = 6
_MAX_TERMS: Final = 64


def find_row_lengths(kernel: ReadKernel, values: Mapping[str, int], sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the row lengths of buffers by name; ``values`` are those of arguments, ``sizes`` the elements of buffers."""
    steps = [step_of(_TYPE.sub(r"\1", line.text, count=1)) for line in kernel.lines]
    sets = [step.trees for step in steps if step.op == "=" and not step.target.args]
    names = [target.op for target, _ in sets]
    values_by_name = {target.op: value for target, value in sets if names.count(target.op) == 1}
    rows: dict[str, tuple[bool, int]] = {}
    for access in (part for step in steps for tree in step.trees for part in tree.walk() if part.op == "[]"):
        name = access.args[0].op
        for factors in _products(access.args[1], values_by_name) if name in sizes else ():
            row = _factor(factors, values)
            if 1 < row < sizes[name] and sizes[name] % row == 0:
                candidate = (
                    not values.keys() & {part.op for part in factors},
                    row,
                )  # a factor that is an argument tells more
                rows[name] = min(candidate, rows.get(name, candidate))
    return {name: row for name, (_, row) in rows.items()}


def _products(index: Tree, values_by_name: Mapping[str, Tree], depth: int = 0) -> Iterator[list[Tree]]:
    """Yield the factors of each term of a sum, with variables replaced by their values."""
    plain = index.change(lambda part: part.args[0] if part.op[0] == "(" and len(part.args) == 1 else None)
    for term in terms(plain)[:_MAX_TERMS]:
        shift = form("X << N", term)
        if shift:
            yield [shift["X"], leaf(1 << (number_of(shift["N"]) or 0) % 32)]
        elif term.op in values_by_name and depth < _MAX_DEPTH:
            yield from _products(values_by_name[term.op], values_by_name, depth + 1)
        else:
            yield _factors(term)


def _factors(tree: Tree) -> list[Tree]:
    return [factor for arg in tree.args for factor in _factors(arg)] if tree.op == "*" else [tree]


def _factor(factors: list[Tree], values: Mapping[str, int]) -> int:
    """Return the product of the known factors of a term that has an unknown one, but for ids of groups; else 0."""
    numbers = [number_of(factor) or values.get(factor.op, 0) for factor in factors]
    if all(numbers) or any("group_id" in str(factor) for factor in factors):
        return 0
    return prod(value or 1 for value in numbers)
