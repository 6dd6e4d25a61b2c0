"""Writes offsets in bytes as indexes of elements.

Invariant: a value that is no sum of whole elements stays as it is.
"""

from __future__ import annotations

from visa_lsp.app.read.tree import Tree, form, leaf, number_of


def divided(tree: Tree, size: int, variables: set[str]) -> Tree | None:
    """Return a sum of multiples of a power of two, divided by it; None if it is none. One of the variables may be a multiple."""
    number, factor = number_of(tree), factor_of(tree)
    if number is not None:
        return leaf(number // size) if number >= 0 and not number % size else None
    if factor is not None:
        value, count = factor
        if count % size:
            return None
        return value if count == size else Tree("*", (value, leaf(count // size)))
    if tree.op == "(ushort)" and 0 <= _most_of(tree.args[0]) < 1 << 16:
        return divided(tree.args[0], size, variables)
    if not tree.args and tree.op in variables:
        return Tree("/", (tree, leaf(size)))
    if tree.op == "&" and (mask := number_of(tree.args[1]) or -1) > 0 and not mask % size:
        left = divided(tree.args[0], size, set()) or _shifted(tree.args[0], size)
        return Tree("&", (left, leaf(mask // size))) if left is not None else None
    if tree.op == "|" and not _bits_of(tree.args[0]) & _bits_of(tree.args[1]):
        tree = Tree("+", tree.args)
    if tree.op not in ("+", "-") or len(tree.args) != 2:
        return None
    left = divided(tree.args[0], size, variables)
    right = divided(tree.args[1], size, set() if left is not None and left.names() & variables else variables)
    return Tree(tree.op, (left, right)) if left is not None and right is not None else None


def _shifted(tree: Tree, size: int) -> Tree | None:
    """Return a value that is shifted to the right, shifted further so that it is divided by a power of two."""
    hit = form("X >> N", tree)
    number = number_of(hit["N"])
    return Tree(">>", (hit["X"], leaf(number + size.bit_length() - 1))) if number is not None else None


def _bits_of(tree: Tree) -> int:
    """Return the bits that a value may have, as far as its form says; all for another one."""
    number = number_of(tree.args[1] if tree.op == "&" else tree)
    return number if number is not None and number >= 0 else -1


def _most_of(tree: Tree) -> int:
    """Return the greatest number that a masked value, or its product with a number, may be; -1 for another one."""
    factor = factor_of(tree)
    most = _bits_of(factor[0] if factor is not None else tree)
    return most * factor[1] if factor is not None and most >= 0 else most


def factor_of(tree: Tree) -> tuple[Tree, int] | None:
    """Return a value and the number that it is multiplied by."""
    for pattern in ("X << N", "X * N", "N * X"):
        hit = form(pattern, tree)
        number = number_of(hit["N"])
        if number is not None and number > 0:
            value, factor = factor_of(hit["X"]) or (hit["X"], 1)
            return value, factor * (1 << number % 32 if tree.op == "<<" else number)
    return None


def short_index(tree: Tree) -> Tree | None:
    """Write an index that was an offset in bytes without the factor; registers end long before 16 bits do."""
    if tree.op != "[]":
        return None
    return Tree("[]", (tree.args[0], tree.args[1].change(_without_factor)))


def _without_factor(tree: Tree) -> Tree | None:
    hit = form("X / N", tree)
    size = number_of(hit["N"])
    if not size:
        return None
    value = hit["X"].args[0] if hit["X"].op == "(ushort)" else hit["X"]
    index = divided(value, size, set()) if not value.op.isdecimal() else None
    if index is None or hit["X"].op != "(ushort)" or index.op != "(ushort)":
        return index
    return index.args[0] if not any(part.op.endswith("()") for part in index.walk()) else index
