"""Writes a condition in place of a flag that only says which way branches went, where a line behind them tests it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import (
    Node,
    assigned,
    chain_of,
    condition_of,
    lists_of,
    places_of,
    set_in,
    walk,
)
from visa_lsp.app.read.shape import reads_memory, stores
from visa_lsp.app.read.tree import NOTHING, Tree, form, leaf, number_of
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.app.read.code_lines import Body

_MAX_TERMS: Final = 6  # of a condition in place of a flag


def drop_flags(body: Body, opposite: Callable[[Tree], Tree]) -> None:
    """Change the lines of a body in place."""
    for code in list(lists_of(body.code)):
        index = 0
        while index + 1 < len(code):
            name, value = assigned(code[index])
            chain = chain_of(code, index + 1)
            end = index + 1 + len(chain)
            test = condition_of(code[end].text) if end < len(code) else NOTHING
            is_flag = body.kinds.get(name) is ty.BOOL and value == leaf("false") and chain[0].text.startswith("if (")
            if is_flag and _tests(test, name) and not _tests_again(code[end + 1 :], name):
                whole = _Ways(chain, name).condition()
                uses = sum(name in node.own_names() for node in walk([*chain, code[end]]))
                if whole is not NOTHING and body.uses(name) == uses + 1:
                    set_once = _set_like(chain, code[end], name)
                    if set_once:
                        code[index : end + 1] = [
                            Node(f"{set_once} = {whole};", places_of(*walk(code[index : end + 1])))
                        ]
                    elif not any(tree.op == "?" for tree in whole.walk()):
                        _write(code, index, chain, code[end], leaf(name), whole, opposite)
            index += 1


def _tests(test: Tree, name: str) -> bool:
    """Return whether a condition is that a flag does not hold, alone or first of several."""
    while test.op == "&&":
        test = test.args[0]
    return test == Tree("u!", (leaf(name),))


def _tests_again(code: Sequence[Node], name: str) -> bool:
    return any(name in node.names for node in code) or (bool(code) and code[0].continues)


def _set_like(chain: list[Node], use: Node, name: str) -> str:
    """Return the variable that branches only set where they set a flag, and that the line behind them clears elsewhere; else nothing."""
    last = use.inner or []
    other, value = assigned(last[0]) if len(last) == 1 else ("", NOTHING)
    own = [node for node in walk(chain) if node.inner is None]
    pairs = list(zip(own[::2], own[1::2], strict=False))
    is_like = len(own) % 2 == 0 and all(
        [node.text for node in pair] == [f"{other} = true;", f"{name} = true;"] for pair in pairs
    )
    return other if is_like and value == leaf("false") and use.text == f"if (!{name}) {{" else ""


def _write(
    code: list[Node],
    index: int,
    chain: list[Node],
    use: Node,
    flag: Tree,
    whole: Tree,
    opposite: Callable[[Tree], Tree],
) -> None:
    """Drop a flag whose value is a condition."""
    for inner in [own for node in chain for own in lists_of(node.inner or [])]:
        inner[:] = [node for node in inner if node.text != f"{flag} = true;"]
    negated = Tree("u!", (flag,))
    test = condition_of(use.text).change(lambda tree: opposite(whole) if tree == negated else None).change(_next_number)
    use.text, use.places = f"if ({test}) {{", places_of(use, code[index])
    code[index : index + 1 + len(chain)] = _without_empty(chain, opposite)


def _without_empty(code: list[Node], opposite: Callable[[Tree], Tree]) -> list[Node]:
    """Return lines without branches that do nothing."""
    kept: list[Node] = []
    index = 0
    while index < len(code):
        chain = chain_of(code, index)
        index += len(chain)
        for node in chain:
            if node.inner is not None:
                node.inner[:] = _without_empty(node.inner, opposite)
        if not chain[0].text.startswith("if (") or chain[0].inner is None:
            kept += chain
            continue
        while chain and not chain[-1].inner and (len(chain) == 1 or chain[-1].continues):
            last = chain.pop()
            if chain:
                chain[-1].tail = last.tail
        if len(chain) == 2 and not chain[0].inner and chain[1].text == "} else {":
            test = opposite(condition_of(chain[0].text))
            chain[1].text = f"if ({test}) {{"
            chain = chain[1:]
        kept += chain
    return kept


def _next_number(tree: Tree) -> Tree | None:
    """Write ``x >= 1`` in place of ``x >= 2 || x == 1``."""
    hit = form("X >= N || X == M", tree)
    numbers = number_of(hit["N"]), number_of(hit["M"])
    if not hit or numbers[1] is None or numbers[0] != numbers[1] + 1:
        return None
    return Tree(">=", (hit["X"], hit["M"]))


class _Ways:
    """The ways through some branches that set a flag."""

    def __init__(self, chain: list[Node], name: str) -> None:
        self.chain, self.name = chain, name
        self.stores = any(map(stores, walk(chain)))

    def condition(self) -> Tree:
        """Return the condition on which the flag holds behind the branches; NOTHING where their own lines change it."""
        whole = self._of_list(self.chain, frozenset())
        terms = sum(1 for tree in whole.walk() if tree.op in ("&&", "||"))
        return whole if terms <= _MAX_TERMS and whole != leaf("false") else NOTHING

    def _of_list(self, code: list[Node], later: frozenset[str]) -> Tree:
        """Return the condition for lines, after which lines set the variables ``later``."""
        index, whole = 0, leaf("false")
        while index < len(code):
            chain = chain_of(code, index)
            index += len(chain)
            if not any(self.name in node.names for node in chain):
                continue
            if chain[0].text == f"{self.name} = true;":
                return leaf("true") if index == len(code) else NOTHING
            own = self._of_chain(chain, later | set_in(code[index:]))
            if own is NOTHING or whole != leaf("false"):
                return NOTHING
            whole = own
        return whole

    def _of_chain(self, chain: list[Node], later: frozenset[str]) -> Tree:
        """Return the condition for a chain of branches."""
        changed = later | set_in(chain) - {self.name}
        otherwise = leaf("false")
        for node in chain[::-1]:
            inner = self._of_list(node.inner or [], later)
            if inner is NOTHING or node.inner is None:
                return NOTHING
            if node.text == "} else {":
                otherwise = inner
                continue
            test = condition_of(node.text)
            calls = any(tree.op.endswith("()") for tree in test.walk())
            if test is NOTHING or test.names() & changed or calls or (self.stores and reads_memory(test)):
                return NOTHING
            otherwise = _choice(test, inner, otherwise)
        return otherwise


def _choice(test: Tree, yes: Tree, no: Tree) -> Tree:
    """Return the condition that is one of two."""
    negated = Tree("u!", (test,))
    if yes == leaf("true"):
        return test if no == leaf("false") else Tree("||", (test, no))
    if yes == leaf("false"):
        return no if no == leaf("false") else negated if no == leaf("true") else Tree("&&", (negated, no))
    if no == leaf("false"):
        return Tree("&&", (test, yes))
    return Tree("||", (negated, yes)) if no == leaf("true") else Tree("?", (test, yes, no))
