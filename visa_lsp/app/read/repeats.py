"""Joins lines that continue one another: loops that count on, and steps whose number halves each time, as compilers unroll reductions."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import Body, Line, Node, assigned, lists_of, places_of, set_in, walk
from visa_lsp.app.read.tree import NOTHING, Tree, leaf, number_of, step_of
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_COUNTED: Final = re.compile(r"for \((\w+) = 0; \1 < (\d+); \1\+\+\) \{")
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?![\w.])")
_IS_FIRST: Final = re.compile(r"if \((\w+) == 0\) ")
_LEAVES: Final = re.compile(
    r"(?:if \(.*\) )?(?:break|continue|goto\b.*|return\b.*);|case .*|default:|\w+:;?|each_lane\(.*"
)
_MAX_LINES: Final = 3  # of a step
_MIN_STEPS: Final = 3
_UNSIGNED: Final = (ty.UD, ty.UW, ty.UB)


def join_repeats(body: Body) -> None:
    """Change the lines of a body in place."""
    for code in list(lists_of(body.code)):
        _join_loops(code)
        _roll_halves(body, code)
        _move_counters(code)


def _join_loops(code: list[Node]) -> None:
    """Make one loop of successive ones that do the same from the number on that the one before ends with."""
    index = 0
    while index + 1 < len(code):
        first, second = code[index], code[index + 1]
        heads = _COUNTED.fullmatch(first.text), _COUNTED.fullmatch(second.text)
        if heads[0] is None or heads[1] is None or not _continues(first, second, heads[0], heads[1]):
            index += 1
            continue
        counter, count = heads[0][1], int(heads[0][2]) + int(heads[1][2])
        first.text = f"for ({counter} = 0; {counter} < {count}; {counter}++) {{"
        first.places = places_of(first, *walk([second]))
        del code[index + 1]


def _continues(first: Node, second: Node, head: re.Match[str], other: re.Match[str]) -> bool:
    """Return whether a counted loop does what the next rounds of another one would do."""
    moved, own = Tree("+", (leaf(head[1]), leaf(head[2]))), leaf(head[1])
    if first.inner is None or second.inner is None or len(first.inner) != len(second.inner):
        return False
    for line, later in zip(first.inner, second.inner, strict=True):
        steps = step_of(line.text), step_of(later.text)
        if line.inner is not None or later.inner is not None or not steps[0].trees or steps[0].words != steps[1].words:
            return False
        before = [_plain(tree.put({head[1]: moved})) for tree in steps[0].trees]
        if before != [_plain(tree.put({other[1]: own})) for tree in steps[1].trees]:
            return False
    return True


def _plain(tree: Tree) -> Tree:
    """Return a tree whose indexes have their terms in one order."""

    def plain(part: Tree) -> Tree | None:
        if part.op != "[]":
            return None
        factors = _linear(part.args[1])
        return Tree("[]", (part.args[0], leaf(sorted((word, number) for word, number in factors.items() if number))))

    return tree.change(plain)


def _linear(tree: Tree) -> Counter[str]:
    """Return the factors of the terms of a sum, by their texts; a number is a factor of the empty text."""
    number, factors = number_of(tree), Counter[str]()
    if number is not None:
        factors[""] = number
    elif tree.op == "+" and len(tree.args) == 2:
        for arg in tree.args:
            factors.update(_linear(arg))
    elif tree.op == "*" and (times := number_of(tree.args[1])) is not None:
        factors.update({word: own * times for word, own in _linear(tree.args[0]).items()})
    else:
        factors[str(tree)] = 1
    return factors


def _move_counters(code: list[Node]) -> None:
    """Put a counter that steps at the end of a loop without a test into its head, with its start."""
    for node in list(code):
        inner = node.inner or []
        if node.text != "for (;;) {" or len(inner) < _MIN_STEPS or inner[-1].inner is not None:
            continue
        step, test = step_of(inner[-1].text), inner[-2]
        counter = (
            step.target.op if step.trees and step.words[-1].startswith(("++", "--")) and not step.target.args else ""
        )
        leaves = test.inner is None and test.text.startswith("if (") and test.text.endswith(" break;")
        if not counter or not leaves or counter not in test.names:
            continue
        index = code.index(node)
        start = next((n for n in range(index - 1, -1, -1) if counter in code[n].names), -1)
        name, value = assigned(code[start]) if start >= 0 else ("", NOTHING)
        between = set_in(code[start + 1 : index])
        is_plain = not any(part.op == "[]" or part.op.endswith("()") or part.op == "u*" for part in value.walk())
        if (
            name != counter
            or not is_plain
            or value.names() & between
            or any("continue;" in n.text for n in walk(inner))
        ):
            continue
        node.text = f"for ({counter} = {value};; {inner[-1].text.removesuffix(';')}) {{"
        node.places = places_of(code[start], inner[-1], node)
        inner.pop()
        del code[start]


# ---- steps by halves


def _roll_halves(body: Body, code: list[Node]) -> None:
    """Make a loop of successive equal lines but for a number that halves: the steps of a reduction."""
    index = 0
    while index < len(code):
        for size in range(1, _MAX_LINES + 1):
            steps = _halving(body, code[index:], size)
            if steps is None:
                continue
            after = code[index + size * len(steps) :]
            if size > 1 and after and code[index].text == after[0].text and code[index].inner is None:
                index += 1  # a barrier after each step is the usual form
            nodes = code[index : index + size * len(steps)]
            inner = nodes[:size]
            (texts, numbers), (_, last) = (_without_numbers(body, part) for part in (inner, nodes[-size:]))
            start, end = next((a, b) for a, b in zip(numbers, last, strict=True) if a != b)
            counter = body.new(ty.D)
            words = [counter if a != b else str(a) for a, b in zip(numbers, last, strict=True)]
            _write(inner, iter(_filled(texts, words)))
            test = f"{counter} > 0" if end == 1 else f"{counter} >= {end}"
            head = f"for ({counter} = {start}; {test}; {counter} >>= 1) {{"
            loop = Node(head, places_of(*walk(nodes)), inner=inner, tail=Line("}"), is_loop=True)
            code[index : index + len(nodes)] = [loop]
            break
        index += 1


def _halving(body: Body, code: Sequence[Node], size: int) -> list[tuple[list[str], list[int]]] | None:
    """Return the steps of so many lines with which code begins, each as texts without numbers and these; None if there are too few."""
    if len(code) < size * _MIN_STEPS or code[0].continues:
        return None
    steps: list[tuple[list[str], list[int]]] = []
    moves: list[bool] = []
    for start in range(0, len(code) - size + 1, size):
        group = code[start : start + size]
        texts, numbers = _without_numbers(body, group)
        if any(_LEAVES.fullmatch(text) for node in walk(group) for text in node.texts()):
            break
        if steps:
            before = steps[-1][1]
            if texts != steps[0][0]:
                break
            halves = [2 * now == old and now > 0 for old, now in zip(before, numbers, strict=True)]
            moves = moves or halves
            if any(
                now * 2 != old if moved else now != old for old, now, moved in zip(before, numbers, moves, strict=True)
            ):
                break
        steps.append((texts, numbers))
    starts = {number for number, moved in zip(steps[0][1], moves, strict=False) if moved} if steps else set()
    after = code[len(steps) * size : len(steps) * size + 1]
    return steps if len(steps) >= _MIN_STEPS and len(starts) == 1 and not (after and after[0].continues) else None


def _without_numbers(body: Body, group: Sequence[Node]) -> tuple[list[str], list[int]]:
    """Return the texts of lines without their numbers, and these; ``x == 0`` of an unsigned ``x`` is ``x < 1``."""
    texts: list[str] = []
    numbers: list[int] = []
    for text in (text for node in walk(group) for text in node.texts()):
        hit = _IS_FIRST.match(text)
        is_first = hit is not None and body.kinds.get(hit[1]) in _UNSIGNED
        plain = text.replace(" == 0) ", " < 1) ", 1) if is_first else text
        numbers += [int(number) for number in _NUMBER.findall(plain)]
        texts.append(_NUMBER.sub("@", plain))
    return texts, numbers


def _filled(texts: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return texts with words in the places of their numbers."""
    turn = iter(words)
    return [re.sub("@", lambda _: next(turn), text) for text in texts]


def _write(nodes: Sequence[Node], texts: Iterator[str]) -> None:
    """Give lines new texts."""
    for node in walk(nodes):
        node.change(lambda _: next(texts))
