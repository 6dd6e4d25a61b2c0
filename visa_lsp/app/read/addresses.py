"""Puts addresses of 64 bits together from their dwords."""

from __future__ import annotations

from collections import Counter

from visa_lsp.app.read.tree import Tree, filled, form, sum_of, terms


def strip(tree: Tree) -> Tree:
    """Drop casts between integers of 32 bits."""
    return tree.change(lambda part: part.args[0] if part.op in ("(int)", "(uint)") else None)


def whole_address(low: Tree, high: Tree) -> Tree | None:
    """Return an address of 64 bits, given its dwords: a base, or a base and offsets with their carries."""
    parts = terms(low)
    upper = [term for term in terms(high) if term.op != "carry()"]
    carries = [term for term in terms(high) if term.op == "carry()"]
    for part in parts:
        base = _base_of(part, upper[0]) if len(upper) == 1 else None
        if base is None:
            continue
        total, offsets, left = Counter([strip(part)]), list[Tree](), list(carries)
        while left:
            pairs = ((term, n) for term in left for n in (0, 1) if Counter(terms(strip(term.args[1 - n]))) == total)
            carry, number = next(pairs, (None, 0))
            if carry is None:
                break
            left.remove(carry)
            offsets.append(carry.args[number])
            total.update(terms(strip(offsets[-1])))
        if not left and total == Counter(map(strip, parts)):
            plain = [
                term if term.op.isdecimal() or term.op == "(uint)" else Tree("(uint)", (term,)) for term in offsets
            ]
            return sum_of([base, *plain])
    return None


def _base_of(low: Tree, high: Tree) -> Tree | None:
    """Return the value whose dwords two values are."""
    hit = form("(uint)X", low)
    if hit is not None and high == filled("(uint)(X >> 32)", hit):
        return hit["X"]
    if low.op == ".x" and high == Tree(".y", low.args):
        return Tree("as_ulong()", low.args)
    return None


def simple_pointer(tree: Tree) -> Tree | None:
    """Write an access through the address of an argument as an access through the argument."""
    hit = form("(ulong)P", tree.args[0]) if tree.op.endswith(" *)") else None
    return Tree(tree.op, (hit["P"],)) if hit is not None and not hit["P"].args else None
