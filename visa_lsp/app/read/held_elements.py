"""Makes one private array of several that are copies, and drops stores of values that an element holds already.

Compilers keep small arrays in registers, and copy the whole array where two paths meet. Knows lines and the arrays of one
lane. Invariant: what is known of an element ends with any line that may set it, its copy, or an element that is not known.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.app.read.code_lines import (
    COUNTED,
    Node,
    assigned,
    chain_of,
    lists_of,
    set_in,
    setters_by_name,
    walk,
    words_without_trees,
)
from visa_lsp.app.read.liveness import Liveness
from visa_lsp.app.read.shape import interfere
from visa_lsp.app.read.tree import Tree, form, number_of, set_names, step_of

if TYPE_CHECKING:
    from visa_lsp.app.read.code_lines import Body, Line

Copies = dict[str, Tree]  # variable -> the element that it equals
_ARRAY: Final = re.compile(r"(\w+) (\w+)\[(\d+)\]")
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


class _Copy(NamedTuple):
    """A loop that copies an array: its line, and what it has in its head, in its only line and at its end."""

    node: Node
    head: str
    line: Node
    tail: Line | None
    counter: str


def unite_arrays(body: Body) -> None:
    """Make one array of two that a loop copies, if they are never needed with two values."""
    copies = [copy for node in walk(body.code) if (copy := _whole_copy(body, node)) is not None]
    for copy in copies:
        target, value = (part.args[0] for part in step_of(copy.line.text).trees)
        copy.node.text, copy.node.inner, copy.node.tail = f"{target} = {value};", None, None
    if not copies:
        return
    live = Liveness(body.code, body.types, frozenset())
    setting, odd = setters_by_name(body.code), words_without_trees(body.code)
    for copy in copies:
        name, source = assigned(copy.node)[0], assigned(copy.node)[1].op
        if name != source and odd.isdisjoint({name, source}) and not interfere(live, setting, name, source):
            live.rename_in(body.code, source, name)
            setting[name] += setting.pop(source, [])
            word = re.compile(rf"\b{source}\b")
            for node in walk(body.code):
                if source in node.own_names():
                    node.change(partial(word.sub, name))
    for copy in copies:
        name, value = assigned(copy.node)
        copy.node.text = "" if name == value.op else copy.head
        copy.line.text = f"{name}[{copy.counter}] = {value}[{copy.counter}];"
        copy.node.inner, copy.node.tail = ([copy.line], copy.tail) if copy.node.text else (None, None)
    for code in lists_of(body.code):
        code[:] = [node for node in code if node.text]


def _whole_copy(body: Body, node: Node) -> _Copy | None:
    """Return a loop that copies an array to another one of its type; None for another line."""
    hit = COUNTED.fullmatch(node.text)
    step = step_of(node.inner[0].text) if hit is not None and len(node.inner or []) == 1 and node.inner else step_of("")
    if hit is None or step.op != "=" or any(tree.op != "[]" or tree.args[1].op != hit[1] for tree in step.trees):
        return None
    shapes = {_ARRAY.sub(r"\1[\3]", body.types.get(tree.args[0].op, "")) for tree in step.trees}
    is_whole = len(shapes) == 1 and shapes.pop().endswith(f"[{hit[2]}]")
    return _Copy(node, node.text, node.inner[0], node.tail, hit[1]) if is_whole and node.inner else None
