"""Writes arrays that all lanes share as the value that all their elements have, as that of a message about an image.

Knows lines, and arrays with one value in a range of elements. Invariant: a value depends on no lane, no memory and no
variable, and an array is replaced only if all its uses are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.app.read.code_lines import change_line, set_in, walk
from visa_lsp.app.read.tree import Tree, form, in_place_of, number_of, step_of, words_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from visa_lsp.app.read.code_lines import Body, Node

_RANGE: Final = re.compile(r"each_lane\((\d+), (\d+)\) ")
_CONSTANT: Final = frozenset({"resinfo_uint()", "image_at()", "handle_of()", "(uint)", ".x", ".y", ".z", ".w"})


class _Filled(NamedTuple):
    """Elements from ``start`` to ``end`` that have one value from a line on."""

    line: int
    start: int
    end: int
    value: Tree


def spread_uniform_arrays(body: Body, shared: Mapping[str, str]) -> None:
    """Change the lines in place; ``shared`` has the types of the elements by the names of arrays."""
    while any(_spread(body, name, type_) for name, type_ in shared.items()):
        pass


def _spread(body: Body, name: str, type_: str) -> bool:
    setters = [line for line, node in enumerate(body.code) if name in set_in([node])]
    ranges = [_filled(line, body.code[line], name, type_, body) for line in setters]
    if not ranges or None in ranges:
        return False
    filled = [one for one in ranges if one is not None]
    replaced: list[tuple[Node, Tree, Tree]] = []
    for line, top in enumerate(body.code):
        for node in () if line in setters else walk([top]):
            for text in node.texts():
                elements = _elements(text, name)
                values = [
                    next(
                        (one.value for one in filled if one.line < line and one.start <= first <= last <= one.end), None
                    )
                    for _, first, last in elements or ()
                ]
                if elements is None or None in values:
                    return False
                pairs = zip(elements, values, strict=True)
                replaced += [(node, element, value) for (element, _, _), value in pairs if value is not None]
    for node, element, value in replaced:
        change_line(node, in_place_of(element, value))
    body.code[:] = [node for line, node in enumerate(body.code) if line not in setters]
    return True


def _filled(line: int, node: Node, name: str, type_: str, body: Body) -> _Filled | None:
    """Return the elements that a line sets to one value; None for another line."""
    hit, step = _RANGE.match(node.text), step_of(node.text)
    if hit is None or len(step.trees) != 2 or "=" not in step.words[1] or node.inner is not None:
        return None
    target, value = step.trees
    start = _shift(target.args[1]) if target.op == "[]" else None
    is_constant = all(part.op in _CONSTANT or not part.args for part in value.walk())
    if start is None or not is_constant or value.names() & {"lane", name, *body.types, *body.kinds}:
        return None
    is_same = number_of(value) is not None or (type_ == "uint" and value.op[0] == ".")
    own = value if is_same else Tree(f"({type_})", (value,))
    return _Filled(line, int(hit[1]) + start, int(hit[2]) + start, own)


def _elements(text: str, name: str) -> list[tuple[Tree, int, int]] | None:
    """Return the elements of an array that a line reads: the tree, the first and the last of them; None for other uses."""
    step, lanes = step_of(text), _RANGE.match(text)
    if name not in words_of(text):
        return []
    trees = [part for tree in step.trees for part in tree.walk()]
    uses = [part for part in trees if part.op == "[]" and part.args[0] == Tree(name)]
    if not trees or len(uses) != trees.count(Tree(name)):
        return None
    elements: list[tuple[Tree, int, int]] = []
    for part in uses:
        number, shift = number_of(part.args[1]), _shift(part.args[1])
        if number is not None:
            elements.append((part, number, number))
        elif shift is not None and lanes is not None:
            elements.append((part, int(lanes[1]) + shift, int(lanes[2]) + shift))
        else:
            return None
    return elements


def _shift(index: Tree) -> int | None:
    """Return how far an index is behind the number of the lane; None for another index."""
    return 0 if index == Tree("lane") else number_of(form("lane + N", index)["N"])
