"""The variables still needed after each line of C, where `goto` leads to later lines only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import walk
from visa_lsp.app.read.tree import step_of, words_of

if TYPE_CHECKING:
    from collections.abc import Container

    from visa_lsp.app.read.code_lines import Node

Names = frozenset[str]
_NONE: Names = frozenset()
GOTO: Final = re.compile(r"\bgoto (\w+);")
CALLS: Final = re.compile(r"atomic_|one_for_all|sub_group|ballot|any\(|all\(")  # what a line does beside its value


def uses_of(text: str, variables: Container[str]) -> tuple[Names, Names]:
    """Return the variables that a line reads, and those that it sets as a whole without reading them."""
    step = step_of(text)
    words = frozenset(word for word in words_of(text) if word in variables)
    if step.op != "=" or step.target.args:
        return words, _NONE
    target = step.target.op
    reads = frozenset(name for name in words if name != target or name in step.value.names())
    return reads, frozenset({target}) & words


class Liveness:
    """``after`` has, by the id of a line, the variables that are read behind it, at the end those that are ``kept``; ``before`` those of a line with others inside."""

    def __init__(self, code: list[Node], variables: Container[str], kept: Names) -> None:
        self.known, self.kept = variables, kept
        self.after: dict[int, Names] = {}
        self.before: dict[int, Names] = {}
        self.labels: dict[str, Names] = {}
        self._list(code, kept, _NONE, _NONE)

    def rename_in(self, code: list[Node], old: str, new: str) -> None:
        """Note that a variable has another name in some lines."""
        for inner in walk([child for node in code for child in node.inner or []]):
            for names_by_line in (self.after, self.before):
                if old in names_by_line.get(id(inner), ()):
                    names_by_line[id(inner)] = names_by_line[id(inner)] - {old} | {new}

    def _list(self, code: list[Node], live: Names, at_break: Names, at_continue: Names) -> Names:
        index = len(code)
        while index:
            index -= 1
            node = code[index]
            if node.inner is None:
                live = self._line(node, live, at_break, at_continue)
                continue
            self.after[id(node)] = live
            if node.text.startswith(("if (", "} else")):
                chain_start = index
                while code[chain_start].continues:
                    chain_start -= 1
                chain = code[chain_start : index + 1]
                needed = _NONE if node.text == "} else {" else live
                for branch in chain:
                    self.after[id(branch)] = live
                    needed |= self._list(branch.inner or [], live, at_break, at_continue) | self._reads(branch.text)
                index, live = chain_start, needed
            else:
                live = self._loop(node, live)
            self.before[id(code[index])] = live
        return live

    def _line(self, node: Node, live: Names, at_break: Names, at_continue: Names) -> Names:
        self.after[id(node)] = live
        if node.text.endswith(":;"):
            self.labels[node.text[:-2]] = live
        reads, kills = uses_of(node.text, self.known)
        if kills and not kills & live and not CALLS.search(node.text):
            return live  # nothing needs the value, so that it needs nothing
        jump = GOTO.search(node.text)
        ways = (("break;", at_break), ("continue;", at_continue), ("return;", self.kept))
        for word, target in ((jump[0], self.labels[jump[1]]),) if jump is not None else ways:
            if node.text.endswith(word):
                return target if node.text == word else live | target | reads
        return (live - kills) | reads

    def _reads(self, text: str) -> Names:
        return uses_of(text, self.known)[0]

    def _loop(self, node: Node, live: Names) -> Names:
        """Return what a loop needs before its first round."""
        own = self._reads(node.text) | (self._reads(node.tail.text) if node.tail is not None else _NONE)
        if node.text.startswith(("switch", "case", "default")) or node.text == "{":
            every = (
                node.names | live | own | frozenset().union(*(self._all(inner_node) for inner_node in node.inner or []))
            )
            return self._list(node.inner or [], every, every, every) | every
        is_endless = node.text == "for (;;) {"
        head: Names = _NONE
        while True:
            end = head | (_NONE if is_endless else own | live)
            new = self._list(node.inner or [], end, live, end)
            new |= _NONE if is_endless or node.text == "do {" else own | live
            if new <= head:
                return head
            head |= new

    def _all(self, node: Node) -> Names:
        return self._reads(node.text) | frozenset().union(*(self._all(inner_node) for inner_node in node.inner or []))
