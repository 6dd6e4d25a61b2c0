"""Writes the insertion of a number into sorted arrays, which compilers write as one branch per place, as a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.app.read.code_lines import (
    Line,
    Node,
    assigned,
    chain_of,
    change_lines,
    condition_of,
    lists_of,
    places_of,
    walk,
)
from visa_lsp.app.read.tree import NEGATED, Tree, in_place_of, leaf, number_of, step_of
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.app.read.code_lines import Body

_MIN_PLACES: Final = 2
_MAX_BELOW: Final = 10  # lines after the branches, in which the number is stored


class _Place(NamedTuple):
    """An element of an array with a constant index."""

    array: Tree
    row: int


def write_insertions(body: Body) -> None:
    """Change the lines of a body in place."""
    for code in list(lists_of(body.code)):
        for index in range(len(code) - 1, -1, -1):
            test = condition_of(code[index].text) if code[index].text.startswith("if (") else Tree("")
            place = _element(test.args[0]) if test.op in NEGATED else None
            chain = chain_of(code, index)
            if place is None or place.row + 1 < _MIN_PLACES:
                continue
            insertion = _Insertion(test.op, place, test.args[1])
            if insertion.is_level(chain, place.row + 1, {}) and insertion.index:
                _write(body, code, index, insertion)


class _Insertion:
    """The branches that move elements up, until one is not greater (or not less) than a number."""

    def __init__(self, relation: str, top: _Place, number: Tree) -> None:
        self.relation, self.key, self.top, self.number = relation, top.array, top.row + 1, number
        self.arrays: set[Tree] = set()
        self.index = ""  # the variable with the place of the number

    def test(self, index: Tree) -> Tree:
        """Return the condition that an element moves up."""
        return Tree(self.relation, (Tree("[]", (self.key, index)), self.number))

    def is_level(self, chain: Sequence[Node], place: int, loaded: dict[str, _Place]) -> bool:
        """Return whether branches move the element below a place if it is greater, and end there if not."""
        if len(chain) != 2 or chain[1].text != "} else {" or condition_of(chain[0].text) != self.test(leaf(place - 1)):
            return False
        lines, loaded = list(chain[0].inner or []), dict(loaded)
        while lines and (element := _element(assigned(lines[0])[1])) is not None and element.row == place - 1:
            loaded[assigned(lines.pop(0))[0]] = element
        below = self.is_end(lines, 0, loaded) if place == 1 else self.is_level(lines, place - 1, loaded)
        return below and self.is_end(chain[1].inner or [], place, loaded)

    def is_end(self, lines: Sequence[Node], place: int, loaded: dict[str, _Place]) -> bool:
        """Return whether lines move all elements from a place on, and note it."""
        stored: set[_Place] = set()
        is_noted = False
        for line in lines:
            step = step_of(line.text)
            target = _element(step.target)
            if line.inner is not None or step.op != "=":
                return False
            if target is None:
                is_noted = number_of(step.value) == place and step.target.op in (
                    self.index,
                    *[step.target.op] * (not self.index),
                )
                self.index = step.target.op
                if not is_noted or step.target.args:
                    return False
                continue
            source = loaded.get(step.value.op) if not step.value.args else _element(step.value)
            if source is None or source != (target.array, target.row - 1) or (step.value.args and source in stored):
                return False
            stored.add(target)
        arrays = {element.array for element in stored} if stored else self.arrays
        self.arrays = self.arrays or arrays
        whole = {_Place(array, index) for array in self.arrays for index in range(place + 1, self.top + 1)}
        return is_noted and arrays == self.arrays and stored == (whole if place < self.top else set())


def _element(tree: Tree) -> _Place | None:
    """Return the element of an array that a tree with a constant index is."""
    number = number_of(tree.args[1]) if tree.op == "[]" and not tree.args[0].args else None
    return None if number is None else _Place(tree.args[0], number)


def _plain_and_cast(name: str) -> list[Tree]:
    return [leaf(name), *(Tree(f"({word})", (leaf(name),)) for word in ("uchar", "ushort", "char", "short"))]


def _write(body: Body, code: list[Node], index: int, insertion: _Insertion) -> None:
    """Write the loop in place of the branches, if lines below store the number at the place, and nothing else needs that."""
    below = code[index + 2 : index + 2 + _MAX_BELOW]
    forms = [Tree("[]", (array, value)) for array in insertion.arrays for value in _plain_and_cast(insertion.index)]
    stores = [line for line in below if step_of(line.text).target in forms and step_of(line.text).op == "="]
    arrays = {step_of(line.text).target.args[0] for line in stores}
    inside = sum(line.text.count(f"{insertion.index} = ") for line in walk(code[index : index + 2]))
    is_whole = arrays == insertion.arrays and len(stores) == len(arrays) and insertion.key in arrays
    if not is_whole or body.uses(insertion.index) != inside + len(stores):
        return
    place = body.new(ty.D)
    for value in _plain_and_cast(insertion.index)[::-1]:
        change_lines(stores, in_place_of(value, leaf(place)))
    before = Tree("-", (leaf(place), leaf(1)))
    moves = [
        Node(f"{Tree('[]', (array, leaf(place)))} = {Tree('[]', (array, before))};")
        for array in sorted(insertion.arrays, key=str)
    ]
    head = f"for ({place} = {insertion.top}; {place} > 0 && {insertion.test(before)}; {place}--) {{"
    branches = places_of(*walk(code[index : index + 2]))
    code[index : index + 2] = [Node(head, branches, inner=moves, tail=Line("}"), is_loop=True)]
