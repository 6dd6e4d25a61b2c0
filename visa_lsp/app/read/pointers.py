"""Makes pointers of variables that hold addresses of elements of one type: `p[k]` in place of `*(float *)(t + k * 4)`.

Knows lines and the types of their variables. Invariant: an address that is no sum of whole elements stays a number.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.app.read.code_lines import (
    assigned,
    backwards,
    change_lines,
    setters,
    setters_by_name,
    trees_of,
    walk,
    words_without_trees,
)
from visa_lsp.app.read.element_indexes import find_multiples, index_of_term
from visa_lsp.app.read.names import BY_NAME
from visa_lsp.app.read.plain_forms import add, split_constant
from visa_lsp.app.read.shape import reads_memory
from visa_lsp.app.read.tree import NOTHING, Tree, leaf, number_of, rewritten, step_of, sum_of, terms, uncast
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.app.read.code_lines import Body, Node
    from visa_lsp.isa.types import DataType

_ACCESS: Final = re.compile(r"\(((\w+?)[234]?) \*\)")
_NULL: Final = ("0", "0x0", "0UL", "0x0UL", "0L")


class _Pointer(NamedTuple):
    """An element that a variable points to: its word, and its size in bytes."""

    word: str
    size: int


class Pointers:
    """Makes the pointers of one body."""

    def __init__(self, body: Body, type_of: Callable[[Tree], DataType | None]) -> None:
        self.body, self.code, self.type_of = body, body.code, type_of
        self.setters = setters_by_name(body.code)
        self.multiples: dict[int, set[str]] = {}
        self.pointers: dict[str, _Pointer] = {}
        self.accesses: defaultdict[str, list[Tree]] = defaultdict(list)  # through each variable
        self.others: Counter[str] = Counter()  # comparisons with 0, and sums that are addresses, by variable

    def run(self) -> None:
        """Change the lines and the types of variables in place."""
        odd = words_without_trees(self.code)
        wide = {name for name, kind in self.body.kinds.items() if kind in (ty.Q, ty.UQ) and name not in odd}
        for tree in trees_of(self.code):
            if _ACCESS.fullmatch(tree.op) is not None:
                for name in tree.names() & wide:
                    self.accesses[name].append(tree)
            elif tree.op in ("==", "!=") and tree.args[1].op in _NULL:
                self.others[tree.args[0].op] += 1
        for name, value in map(assigned, walk(self.code)):
            if name in wide:
                self.others.update(own for term in terms(value) if (own := uncast(term).op) != name)
        self.pointers = {name: pointer for name in self.accesses if (pointer := self._pointer(name)) is not None}
        for tree in [tree for accesses in self.accesses.values() for tree in accesses]:
            bases = tree.names() & self.pointers.keys()
            if len(bases) > 1:  # one of them is an offset
                self.pointers = {name: pointer for name, pointer in self.pointers.items() if name not in bases}
        if not self.pointers:
            return
        change_lines(self.code, self._as_place)
        change_lines(self.code, partial(rewritten, rules={"*&E": "E"}))
        for name, pointer in self.pointers.items():
            for node in self.setters[name]:
                step = step_of(node.text)
                if step.target == leaf(name):
                    node.text, node.range = f"{name} {step.op} {self._value(pointer, step.op, step.value)};", None
            self.body.types[name] = f"global {pointer.word} *{name}"
            self.body.elements[name] = pointer.word
            del self.body.kinds[name]
        for node in walk(self.code):
            name, value = assigned(node)
            if name in self.body.kinds:
                node.text = f"{name} = {self._as_number(value)};" if self._as_number(value) != value else node.text
        change_lines(self.code, self._compared)
        self._spread()
        change_lines(self.code, _combined)

    def _spread(self) -> None:
        """Write elements of a pointer in place of those of another one that is so many elements behind it."""
        for code, index in backwards(self.code):
            name, value = assigned(code[index])
            base, *moves = terms(value) if name in self.pointers else (NOTHING,)
            rest = code[index + 1 :]
            words = value.names() & self.body.types.keys()
            elements = sum(tree.op == "[]" and tree.args[0] == leaf(name) for tree in trees_of(rest))
            is_plain = base.op in self.pointers and moves and not reads_memory(sum_of(moves))
            if (
                is_plain
                and len(self._sets(self.code, name)) == 1
                and elements + 1 == self.body.uses(name)
                and not any(self._sets(rest, word) for word in words)
            ):
                change_lines(rest, partial(_behind, leaf(name), base, moves), code[index].places)
                del code[index]

    # ---- which

    def _pointer(self, name: str) -> _Pointer | None:
        """Return what a variable points to; None if it is no address of elements of one type."""
        accesses, words = self.accesses[name], Counter[str]()
        for tree in accesses:
            shape = _ACCESS.fullmatch(tree.op)
            if shape is None or [uncast(term).op for term in _terms(tree.args[0])].count(name) != 1:
                return None
            words[shape[2]] += 1
        sizes = {BY_NAME[word].size if word in BY_NAME else 0 for word in words}
        if not words or len(sizes) != 1 or len({BY_NAME[word].is_float for word in words}) != 1:
            return None
        pointer = _Pointer(words.most_common(1)[0][0], sizes.pop())
        sets = self._sets(self.setters[name], name)
        steps = [step_of(node.text) for node in sets]
        moves = [step.value for step in steps if step.op in ("+=", "-=")]
        is_set = any(step.op == "=" for step in steps) and all(step.op in ("=", "+=", "-=") for step in steps)
        places = (term for tree in accesses for term in self._rest(tree, name))
        divided = (self._divided(term, pointer.size) for term in (*moves, *places))
        is_used = self.body.uses(name) == len(accesses) + len(sets) + self.others[name]
        return pointer if is_set and is_used and None not in divided else None

    def _sets(self, code: list[Node], name: str) -> list[Node]:
        """Return the lines that set a variable, without stores to what it points to."""
        return [node for node in setters(code, name) if leaf(name) in step_of(node.text).targets]

    def _rest(self, place: Tree, name: str) -> list[Tree]:
        """Return the terms of an address beside a variable; none if it is not in it."""
        parts = _terms(place.args[0])
        return [part for part in parts if uncast(part).op != name] if name in place.names() else []

    def _divided(self, term: Tree, size: int) -> Tree | None:
        """Return a term of an address as a number of elements."""
        number = number_of(term)
        if number is not None:
            return None if number % size else _constant(number // size)
        if size == 1:
            return term
        if size not in self.multiples:
            self.multiples[size] = find_multiples(self.body, size)
        return index_of_term(term, size, self.multiples[size], self.type_of)

    # ---- what they become

    def _as_place(self, tree: Tree) -> Tree | None:
        """Write an address as that of an element."""
        shape = _ACCESS.fullmatch(tree.op)
        names = [op for term in _terms(tree.args[0]) if (op := uncast(term).op) in self.pointers] if shape else []
        pointer = self.pointers[names[0]] if len(names) == 1 else None
        if shape is None or pointer is None:
            return None
        indexes = [self._divided(term, pointer.size) for term in self._rest(tree, names[0])]
        index = _index([part for part in indexes if part is not None])
        place = Tree("u&", (Tree("[]", (leaf(names[0]), index)),))
        return place if shape[1] == pointer.word else Tree(tree.op, (place,))

    def _value(self, pointer: _Pointer, sign: str, value: Tree) -> Tree:
        """Return what a pointer is set to, or moved by."""
        if sign != "=":
            return self._divided(value, pointer.size) or value
        parts = terms(value)
        for part in parts:
            own = uncast(part).op
            is_alike = self.body.elements.get(own) == pointer.word or self.pointers.get(own) == pointer
            rest = [self._divided(other, pointer.size) for other in parts if other is not part]
            if is_alike and not uncast(part).args and None not in rest:
                return sum_of([leaf(own), *(index for index in rest if index is not None)])
        return Tree(f"(global {pointer.word} *)", (self._as_number(value),))

    def _as_number(self, value: Tree) -> Tree:
        """Return a value as a number: with the addresses that pointers among its terms are."""
        parts = terms(value)
        if not any(uncast(part).op in self.pointers for part in parts):
            return value  # as it is: sums of floats have an order
        return sum_of(
            [Tree("(ulong)", (leaf(uncast(part).op),)) if uncast(part).op in self.pointers else part for part in parts]
        )

    def _compared(self, tree: Tree) -> Tree | None:
        """Compare a pointer with 0."""
        is_pointer = tree.op in ("==", "!=") and tree.args[0].op in self.pointers
        return Tree(tree.op, (tree.args[0], leaf("0"))) if is_pointer else None


def _constant(number: int) -> Tree:
    """Return a number as a term."""
    return leaf(number) if number >= 0 else Tree("u-", (leaf(-number),))


def _terms(address: Tree) -> list[Tree]:
    """Return the terms of an address, with one number, the last one."""
    rest, number = split_constant(address)
    return [*(terms(rest) if rest is not None else ()), *([_constant(number)] if number else ())]


def _index(parts: list[Tree]) -> Tree:
    """Return the sum of the parts of an index, with one number, the last one."""
    rest = [part for part in parts if number_of(part) is None]
    number = sum(number_of(part) or 0 for part in parts)
    return add(sum_of(rest), number) if rest else leaf(number)


def _behind(name: Tree, base: Tree, moves: list[Tree], tree: Tree) -> Tree | None:
    """Write an element of a pointer as one of that which it is behind."""
    if tree.op != "[]" or tree.args[0] != name:
        return None
    return Tree("[]", (base, _index([*moves, tree.args[1]])))


def _combined(tree: Tree) -> Tree | None:
    """Write equal terms of an index as a product."""
    counts = Counter(terms(tree.args[1])) if tree.op == "[]" else Counter[Tree]()
    if all(count == 1 for count in counts.values()):
        return None
    parts = [part if count == 1 else Tree("*", (part, leaf(count))) for part, count in counts.items()]
    return Tree("[]", (tree.args[0], sum_of(parts)))
