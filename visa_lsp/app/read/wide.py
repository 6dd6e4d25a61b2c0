"""Puts values of 64 bits together from their dwords, and writes addresses of arguments as elements."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import (
    Body,
    Node,
    lists_of,
    places_of,
    rank_of,
    set_in,
    setters,
    steps_of,
    trees_of,
    walk,
)
from visa_lsp.app.read.element_indexes import divided
from visa_lsp.app.read.expressions import text_of
from visa_lsp.app.read.names import BY_NAME, c_type
from visa_lsp.app.read.plain_forms import add, split_constant
from visa_lsp.app.read.shape import PURE, assigned, change_lines
from visa_lsp.app.read.tree import SETS, Tree, form, leaf, number_of, step_of, sum_of, terms
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Mapping

    from visa_lsp.app.read.signs import Signs

_PAIRS: Final = ("(int2 *)", "(uint2 *)")
_VECTOR: Final = re.compile(r"(\w+?)([248]|16)?")
_STORE: Final = re.compile(r"(?:if \(.*\) )?\*")
_LINEAR: Final = ("+", "-", "*", "(int)", "(uint)")
_HIGH: Final = 32


def strip(tree: Tree) -> Tree:
    """Drop casts between integers of 32 bits in a sum of products."""
    if tree.op not in _LINEAR:
        return tree
    args = tuple(strip(arg) for arg in tree.args)
    return args[0] if tree.op[0] == "(" else Tree(tree.op, args)


def whole_value(low: Tree, high: Tree, type_of: Signs | None = None) -> Tree | None:
    """Return a value of 64 bits, given its dwords: a product, or a base and offsets with their carries."""
    parts, uppers = terms(strip(low)), [term for term in terms(strip(high)) if number_of(term) != 0]
    carries = [term for term in uppers if term.op == "carry()"]
    uppers = [term for term in uppers if term.op != "carry()"]
    if not carries and low.op == "*":
        return _product(parts[0], uppers, type_of)
    for part in parts:
        base = _base_of(part, uppers) if carries or uppers else None
        if base is None:
            continue
        total, offsets, left = Counter([part]), list[Tree](), list(carries)
        while left:
            pairs = ((term, n) for term in left for n in (0, 1) if Counter(terms(strip(term.args[1 - n]))) == total)
            carry, number = next(pairs, (None, 0))
            if carry is None:
                break
            left.remove(carry)
            offsets.append(strip(carry.args[number]))
            total.update(terms(offsets[-1]))
        if not left and total == Counter(parts):
            return sum_of([base, *(term if term.op.isdecimal() else Tree("(uint)", (term,)) for term in offsets)])
    return None


def _base_of(low: Tree, uppers: list[Tree]) -> Tree | None:
    """Return the value whose dwords a value and a sum are."""
    if not uppers:
        return Tree("(ulong)", (Tree("(uint)", (low,)),))
    if len(uppers) > 1:
        return None
    if uppers[0] == Tree(">>", (low, leaf(_HIGH))):
        return low
    return Tree("as_ulong()", low.args) if low.op == ".x" and uppers[0] == Tree(".y", low.args) else None


def _product(low: Tree, uppers: list[Tree], signs: Signs | None) -> Tree | None:
    """Return a product of 64 bits, given its lower dword, and the terms of the upper one."""
    halves = [term for term in uppers if term.op == "mul_hi()"]
    factors = [strip(arg) for arg in halves[0].args] if len(halves) == 1 else []
    if not factors or Counter(factors) != Counter(low.args):
        return None
    left, right = factors
    rest = [term for term in uppers if term is not halves[0]]
    number = number_of(right)
    if not rest:
        wide = left if left.op in PURE else Tree("(uint)", (left,))
        return Tree("*", (Tree("(ulong)", (wide,)), right if right.op in PURE else Tree("(uint)", (right,))))
    sign = Tree(">>", (left, leaf(_HIGH - 1)))
    if number and number > 0 and Counter(rest) <= Counter([Tree("*", (right, sign)), Tree("*", (sign, right))]):
        return Tree("*", (Tree("(long)", (left,)), right)) if signs and signs.type_of(left) is ty.D else None
    upper = [form("V * N", term, V=left) for term in rest]
    factor = next((number_of(hit["N"]) for hit in upper if hit is not None), None)
    other = Tree(".y", left.args)
    if number is None or factor is None or left.op != ".x" or len(rest) != len(factors):
        return None
    if not any(Counter(term.args) == Counter([right, other]) for term in rest):
        return None
    whole = (factor & 0xFFFFFFFF) << _HIGH | number & 0xFFFFFFFF
    return Tree("*", (Tree("as_ulong()", left.args), leaf(f"{whole:#x}ul")))


class Widener:
    """Changes the lines of one body; ``vectors`` are variables of several elements."""

    def __init__(self, body: Body, vectors: Mapping[str, str], signs: Signs) -> None:
        self.body, self.code, self.types, self.kinds, self.signs = body, body.code, body.types, body.kinds, signs
        self.pairs = {name: word for name, word in vectors.items() if word in ("int2", "uint2")}

    def join(self) -> None:
        """Make one value of two dwords, and variables of 64 bits of those that hold two."""
        for code in lists_of(self.code):
            copies: dict[str, Tree] = {}  # variables that hold the lower dword of a pair
            index = 0
            while index < len(code):
                low, high = (
                    step_of(node.text) if node.inner is None else None
                    for node in (code[index], code[min(index + 1, len(code) - 1)])
                )
                changed = set_in([code[index]])
                copies = {name: part for name, part in copies.items() if not changed & {name, part.args[0].op}}
                index += 1
                if low is None or low.op != "=":
                    continue
                if not low.trees[0].args and low.trees[1].op == ".x":
                    copies[low.trees[0].op] = low.trees[1]
                name = low.trees[0].args[0] if low.trees[0].op == ".x" else low.trees[0]
                if high is None or name.op not in self.pairs or high.trees[0] != Tree(".y", (name,)):
                    continue
                whole = whole_value(low.trees[1].put(copies), high.trees[1].put(copies), self.signs)
                if whole is not None and name not in set(whole.walk()):
                    text = f"{name} = as_{self.pairs[name.op]}({whole});"
                    code[index - 1 : index + 1] = [Node(text, places_of(*code[index - 1 : index + 1]))]
        for vector, word in self.pairs.items():
            self._widen(vector, word)

    def _widen(self, name: str, word: str) -> None:
        """Make a variable one value of 64 bits, where lines fill it as a whole."""
        own, count, is_wide = leaf(name), 0, False
        wholes = {Tree("as_ulong()", (own,)): own, Tree("as_long()", (own,)): Tree("(long)", (own,))}
        low, high = Tree(f"({word[:-1]})", (own,)), Tree(f"({word[:-1]})", (Tree(">>", (own, leaf(_HIGH))),))
        parts = {Tree(".x", (own,)): low, Tree(".y", (own,)): high}
        for step in steps_of(self.code):
            for tree, sign in zip(step.trees, step.words[1:], strict=True):
                is_wide = is_wide or any(part in wholes for part in tree.walk())
                count += sum(part in wholes or part in parts for part in tree.walk()) - (
                    tree in parts and SETS.fullmatch(sign) is not None
                )
            if step.op == "=" and own in step.trees:
                other = step.trees[step.trees[0] == own]
                count += other.op == f"as_{word}()" or _is_place(other)
                is_wide = is_wide or other.op == f"as_{word}()"
        if not is_wide or count != self.body.uses(name):
            return
        if not any(tree.op == "as_ulong()" and tree in wholes for tree in trees_of(self.code)):
            wholes = {Tree("as_long()", (own,)): own}
        kind = ty.UQ if len(wholes) > 1 else ty.Q
        self.kinds[name], self.types[name] = kind, f"{c_type(kind)} {name}"
        for node in walk(self.code):
            line = step_of(node.text)
            if line is None or line.op != "=" or own not in line.trees:
                continue
            target, value = (
                self._whole(tree.args[0]) if tree.op == f"as_{word}()" else self._as_long(tree) for tree in line.trees
            )
            node.text = f"{target} = {value};"
            type_ = ty.UQ if _is_place(line.trees[1]) else self.signs.type_of(value)
            node.range = text_of(str(value), rank_of(value), type_) if type_ is not None else None
        change_lines(self.code, (wholes | parts).get)

    def _whole(self, value: Tree) -> Tree:
        """Return an integer of 64 bits as it is, another value by its bits."""
        return value if self.signs.type_of(value) in (ty.Q, ty.UQ) else Tree("as_ulong()", (value,))

    def _as_long(self, place: Tree) -> Tree:
        """Return a pair of dwords in memory as one value."""
        if not _is_place(place):
            return place
        inner = place.args[0].args[0]
        word = self.body.elements.get(inner.op, "")
        return Tree(place.op, (Tree("(long *)" if word == "long" else "(ulong *)", (inner,)), *place.args[1:]))

    def spread(self) -> None:
        """Write elements of arguments in place of addresses in variables."""
        for code in lists_of(self.code):
            for index in range(len(code) - 1, -1, -1):
                pair = assigned(code[index])
                if pair is None or self.kinds.get(pair[0]) not in (ty.Q, ty.UQ) or "(ulong)" not in str(pair[1]):
                    continue
                name, rest = pair[0], code[index + 1 :]
                inputs = pair[1].names() & self.types.keys()
                if any(self._sets(self.code, word) != 1 for word in (name, *inputs)) or any(
                    self._sets(rest, word) for word in inputs
                ):
                    continue
                uses = [tree for tree in trees_of(rest) if tree.op.endswith(" *)") and name in tree.names()]
                elements = {tree: self.element(tree.put({name: pair[1]})) for tree in uses}
                if uses and len(uses) + 1 == self.body.uses(name) and None not in elements.values():
                    change_lines(rest, elements.get, code[index].places)
                    del code[index]
        change_lines(self.code, self.element)

    def _sets(self, code: list[Node], name: str) -> int:
        """Return how often lines set a variable, without stores to what it points to."""
        return sum(_STORE.match(node.text) is None for node in setters(code, name))

    def element(self, tree: Tree) -> Tree | None:
        """Return an address in bytes of a part of an argument as that of an element; None for another one."""
        if tree.op == "u*" and tree.args[0].op == "u&":
            return tree.args[0].args[0]
        if not tree.op.endswith(" *)"):
            return None
        rest, number = split_constant(tree.args[0])
        parts = terms(rest) if rest is not None else []
        bases = [part for part in parts if part.op == "(ulong)" and part.args[0].op in self.body.elements]
        if len(bases) != 1:
            return None
        (pointer,), word = bases[0].args, tree.op[1:-3]
        for own in (self.body.elements[pointer.op], word, word.rstrip("234")):
            shape = _VECTOR.fullmatch(own)
            kind = BY_NAME.get(shape[1]) if shape is not None else None
            size = kind.size * int(shape[2] or 1) if shape is not None and kind is not None else 0
            indexes = [self._divided(part, size) for part in parts if part is not bases[0]] if size else [None]
            if None not in indexes and number % size == 0:
                whole = [index for index in indexes if index is not None]
                index = add(sum_of(whole), number // size) if whole else leaf(number // size)
                array = pointer if own == self.body.elements[pointer.op] else Tree(f"({own} *)", (pointer,))
                if not whole and not number and own == word == self.body.elements[pointer.op]:
                    return pointer
                place = Tree("u&", (Tree("[]", (array, index)),))
                return place if own == word else Tree(tree.op, (place,))
        return None

    def _divided(self, term: Tree, size: int) -> Tree | None:
        """Return a term of an address, divided by the size of an element."""
        if self.signs.type_of(term) not in (ty.Q, ty.UQ):
            return None
        steady = setters(self.code, term.op) if not term.args else []
        pair = assigned(steady[0]) if len(steady) == 1 else None
        is_multiple = pair is not None and divided(pair[1], size, set()) is not None
        index = divided(term, size, {term.op} if is_multiple else set()) if size > 1 else term
        inner = index.args[0] if index is not None and index.op in ("(long)", "(ulong)") else None
        same = ty.D if index is not None and index.op == "(long)" else ty.UD
        return inner if inner is not None and self.signs.type_of(inner) is same else index


def _is_place(tree: Tree) -> bool:
    return tree.op in ("u*", "[]") and tree.args[0].op in _PAIRS
