"""Drops stores of values that an element of a private array holds already.

Compilers keep small arrays in registers, and copy the whole array where two paths meet. Knows lines and the arrays of one
lane. Invariant: what is known of an element ends with any line that may set it, its copy, or an element that is not known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import chain_of, set_in
from visa_lsp.app.read.tree import Tree, form, number_of, set_names, step_of

if TYPE_CHECKING:
    from visa_lsp.app.read.code_lines import Body, Node

Copies = dict[str, Tree]  # variable -> the element that it equals
_ARRAY: Final = re.compile(r"(\w+) (\w+)\[\d+\]")
_JUMPS: Final = ("break;", "continue;", "return;")


class HeldElements:
    """Drops the stores in the lines of one body."""

    def __init__(self, body: Body) -> None:
        self.code, self.types = body.code, body.types
        declared = (_ARRAY.fullmatch(text) for text in body.types.values())
        self.arrays = {hit[2]: hit[1] for hit in declared if hit is not None}

    def run(self) -> None:
        """Change the lines in place."""
        if self.arrays:
            self._lines(self.code, {})

    def _lines(self, code: list[Node], copies: Copies) -> Copies:
        index = 0
        while index < len(code):
            node = code[index]
            if node.inner is None:
                copied = self._element(node)
                if copied is not None and copies.get(copied[0]) == copied[1] and copied[2]:
                    del code[index]
                    continue
                copies = self._after(node, copies)
            elif node.text.startswith("if ("):
                chain = chain_of(code, index)
                copies = self._branches(chain, copies)
                index += len(chain) - 1
            else:
                copies = self._without(copies, {*set_in(node.inner), *set_names(node.text)})
                self._lines(node.inner, dict(copies))
            index += 1
        return copies

    def _branches(self, branches: list[Node], copies: Copies) -> Copies:
        """Return what holds behind the branches of a condition."""
        ends = [] if branches[-1].text == "} else {" else [copies]
        for node in branches:
            inner = node.inner or []
            end = self._lines(inner, dict(copies))
            if not inner or inner[-1].text not in _JUMPS:
                ends.append(end)
        first, *others = ends or [copies]
        return {name: element for name, element in first.items() if all(end.get(name) == element for end in others)}

    def _element(self, node: Node) -> tuple[str, Tree, bool] | None:
        """Return the variable and the element of a line that copies one to the other, and whether it is a store."""
        step = step_of(node.text)
        if step.op != "=":
            return None
        for name, element, is_store in ((step.target, step.value, False), (step.value, step.target, True)):
            hit = form("A[N]", element)
            word = self.arrays.get(hit["A"].op)
            if word and number_of(hit["N"]) is not None and self.types.get(name.op) == f"{word} {name.op}":
                return name.op, element, is_store
        return None

    def _after(self, node: Node, copies: Copies) -> Copies:
        """Return what holds behind a line without others inside."""
        if node.text.endswith(":;"):
            return {}
        copied = self._element(node)
        if copied is None:
            return self._without(copies, set_names(node.text))
        name, element, is_store = copied
        kept = {other: own for other, own in copies.items() if (own != element if is_store else other != name)}
        return kept | {name: element}

    def _without(self, copies: Copies, names: set[str] | frozenset[str]) -> Copies:
        return {name: own for name, own in copies.items() if name not in names and own.args[0].op not in names}
