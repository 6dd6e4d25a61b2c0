"""Joins lines that continue one another: loops that count on, and steps whose number halves each time, as compilers unroll reductions."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.app.read.code_lines import (
    COUNTED,
    Body,
    Line,
    Node,
    assigned,
    lists_of,
    places_of,
    set_in,
    texts_of,
    walk,
    word_counts,
)
from visa_lsp.app.read.shape import NUMBERED, Shaper
from visa_lsp.app.read.tree import (
    INTEGERS,
    NOTHING,
    WIDE,
    WORD,
    Step,
    Tree,
    leaf,
    linear,
    parse,
    rewritten,
    step_of,
    sum_of,
)
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence

_NUMBER: Final = re.compile(r"(?<![\w.])(?<!sampler\()\d+(?![\w.])")
_WHOLE_FLOAT: Final = re.compile(r"(?<![\w.])(\d+)\.0f\b")
_FLOAT_OF_NUMBER: Final = re.compile(r"\(float\)(\d+)\b")
_IS_FIRST: Final = re.compile(r"if \((\w+) == 0\) ")
_LEAVES: Final = re.compile(
    r"(?:if \(.*\) )?(?:break|continue|goto\b.*|return\b.*);|case .*|default:|\w+:;?|each_lane\(.*"
)
_MAX_LINES: Final = 4  # of a step
_MIN_STEPS: Final = 3
_UNSIGNED: Final = (ty.UD, ty.UW, ty.UB)
_INTEGERS: Final = (ty.D, ty.W, ty.B, *_UNSIGNED)


def join_repeats(body: Body) -> None:
    """Change the lines of a body in place."""
    shaper = Shaper(body)
    shaper.unite_steps()
    shaper.join_operators()
    for code in list(lists_of(body.code)):
        _join_loops(code)
        _roll_steps(body, code)
        _move_counters(code)


def _join_loops(code: list[Node]) -> None:
    """Make one loop of successive ones that do the same from the number on that the one before ends with."""
    index = 0
    while index + 1 < len(code):
        first, second = code[index], code[index + 1]
        heads = COUNTED.fullmatch(first.text), COUNTED.fullmatch(second.text)
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
    """Return a tree whose indexes have their terms in one order, as numbers of any size."""

    def plain(part: Tree) -> Tree | None:
        if part.op != "[]":
            return None
        factors = linear(
            part.args[1].change(lambda own: own.args[0] if own.op in WIDE and not own.args[0].args else None)
        )
        return Tree("[]", (part.args[0], leaf(sorted((word, number) for word, number in factors.items() if number))))

    return tree.change(plain)


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


# ---- steps by powers of two, and counted ones

_HALVES, _DOUBLES, _COUNTS = "halves", "doubles", "counts"
_MIN_COUNTED: Final = 4
_MIN_SINGLE: Final = 8  # of steps of one line
_STARTED: Final = re.compile(r"for \((\w+) = (\d+);(.*); \1(?:\+\+| \+= (\d+))\) \{")


class _Series(NamedTuple):
    """A number in successive steps: ``factor`` times what halves, doubles or counts, and ``rest``; constant without a factor.

    What halves ends with 1, what doubles begins with 1, what counts begins with 0.
    """

    factor: int
    rest: int
    kind: str = ""

    def text(self, counters: Mapping[str, tuple[str, int, int]]) -> str:
        """Return the number in terms of a variable for each kind, which is so many times as much, and a number more."""
        if not self.factor:
            return str(self.rest)
        counter, base, start = counters[self.kind]
        times, rest = self.factor // base, self.rest - self.factor // base * start
        whole = counter if times == 1 else f"{times} * {counter}"
        return f"({whole}{f' + {rest}' if rest > 0 else f' - {-rest}' if rest else ''})"


def _roll_steps(body: Body, code: list[Node]) -> None:
    """Make a loop of successive lines that are equal but for numbers that halve or double: the steps of a reduction or a scan."""
    index, uses = 0, word_counts(body.code)
    while index < len(code):
        for size in range(1, _MAX_LINES + 1):
            count, series = _find_steps(body, uses, code[index:], size)
            if not series:
                continue
            after = code[index + size * count :]
            if size > 1 and after and code[index].text == after[0].text and code[index].inner is None:
                index += 1  # a barrier after each step is the usual form
            nodes = code[index : index + size * count]
            if _find_steps(body, uses, nodes, size) == (count, series):
                code[index : index + len(nodes)] = _loop_of_steps(body, nodes, size, series)
                index -= _begin_earlier(code, index)
            break
        index += 1


def _begin_earlier(code: list[Node], index: int) -> int:
    """Let a loop that counts do what lines before it do, where that is the step before its first one; return the number of lines."""
    loop, count = code[index], 0
    hit, inner = _STARTED.fullmatch(loop.text), loop.inner or []
    while hit is not None and (start := int(hit[2]) - int(hit[4] or 1)) >= 0 and index - count >= len(inner):
        above = code[index - count - len(inner) : index - count]
        steps = [(step_of(line.text), step_of(own.text)) for line, own in zip(above, inner, strict=True)]
        is_plain = not any(line.inner for line in (*above, *inner)) and all(own.trees for _, own in steps)
        moved = {hit[1]: leaf(start)}
        if not is_plain or any(
            line.words != own.words or list(map(_plain, line.trees)) != [_plain(tree.put(moved)) for tree in own.trees]
            for line, own in steps
        ):
            break
        count += len(inner)
        loop.text, loop.places = (
            loop.text.replace(f"{hit[1]} = {hit[2]};", f"{hit[1]} = {start};", 1),
            places_of(loop, *above),
        )
        hit = _STARTED.fullmatch(loop.text)
    del code[index - count : index]
    return count


def _find_steps(body: Body, uses: Counter[str], code: Sequence[Node], size: int) -> tuple[int, list[_Series]]:
    """Return how many steps of so many lines a list begins with, and the numbers in them; 0 if there are too few."""
    if len(code) < size * _MIN_STEPS or code[0].continues:
        return 0, []
    texts: list[str] = []
    rows: list[list[int]] = []
    for start in range(0, len(code) - size + 1, size):
        group = code[start : start + size]
        if any(map(_LEAVES.fullmatch, texts_of(group))):
            break
        own, numbers = _skeleton(body, uses, group)
        if rows and own != texts:
            break
        texts, rows = own, [*rows, numbers]
    while len(rows) >= _MIN_STEPS:
        columns = [_series(column) for column in zip(*rows, strict=True)]
        series = [column for column in columns if column is not None]
        after = code[size * len(rows) : size * len(rows) + 1]
        kinds = {column.kind for column in series if column.factor}
        is_loop = _HALVES in kinds <= {_HALVES, _DOUBLES} or (
            kinds == {_COUNTS} and len(rows) >= (_MIN_COUNTED if size > 1 or code[0].inner else _MIN_SINGLE)
        )
        if len(series) == len(columns) and is_loop and not (after and after[0].continues):
            bases = {kind: min(c.factor for c in series if c.kind == kind) for kind in kinds}
            if all(c.factor % bases[c.kind] == 0 for c in series if c.factor):
                return len(rows), series
        rows.pop()
    return 0, []


def _series(numbers: Sequence[int]) -> _Series | None:
    """Return a series of numbers; None for numbers of another one."""
    if len(set(numbers)) == 1:
        return _Series(0, numbers[0])
    for kind in (_HALVES, _DOUBLES):
        rising = numbers[::-1] if kind == _HALVES else numbers
        factor = rising[1] - rising[0]
        if factor > 0 and all(n == rising[0] + factor * ((1 << k) - 1) for k, n in enumerate(rising)):
            return _Series(factor, rising[0] - factor, kind)
    factor = numbers[1] - numbers[0]
    is_counted = factor > 0 and all(n == numbers[0] + factor * k for k, n in enumerate(numbers))
    return _Series(factor, numbers[0], _COUNTS) if is_counted else None


def _skeleton(body: Body, uses: Counter[str], group: Sequence[Node]) -> tuple[list[str], list[int]]:
    """Return the texts of lines without their numbers and the names of their own variables, and these numbers."""
    texts: list[str] = []
    numbers: list[int] = []
    own = {name for name in set_in(group) if NUMBERED.fullmatch(name)}
    inside = word_counts(group)
    ordered = [name for name in inside if name in own and inside[name] == uses[name]]
    names = {name: f"own{number}" for number, name in enumerate(ordered)}
    for text in texts_of(group):
        plain = WORD.sub(lambda hit: names.get(hit[0], hit[0]), _plain_line(body, text))
        numbers += [int(number) for number in _NUMBER.findall(plain)]
        texts.append(_NUMBER.sub("@", plain))
    return texts, numbers


def _plain_line(body: Body, text: str) -> str:
    """Return a line with indexes as sums of factors; ``x == 0`` of an unsigned ``x`` as ``x < 1``, ``a = a + b`` as ``a += b``, ``2.0f`` as ``(float)2``."""
    hit = _IS_FIRST.match(text)
    if hit is not None and body.kinds.get(hit[1]) in _UNSIGNED:
        text = text.replace(" == 0) ", " < 1) ", 1)
    step = step_of(_WHOLE_FLOAT.sub(r"(float)\1", text))
    trees = tuple(tree.change(partial(_as_sum, body)) for tree in step.trees)
    if not trees:
        return text
    if step.op == "=" and trees[1].op == "+" and trees[1].args[0] == trees[0]:
        return str(Step(("", " += ", ";"), (trees[0], trees[1].args[1])))
    return str(Step(step.words, trees))


def _as_sum(body: Body, tree: Tree) -> Tree | None:
    """Return an element with its index, or a float with its integer, as a sum of factors, each with its number, and a number."""
    is_of_integers = tree.op == "(float)" and all(body.kinds.get(name) in _INTEGERS for name in tree.names())
    total = _summed(tree.args[-1]) if tree.op == "[]" or is_of_integers else NOTHING
    return Tree(tree.op, (*tree.args[:-1], total)) if total is not NOTHING else None


def _summed(tree: Tree) -> Tree:
    """Return a sum as factors, each with its number, and a number, also in casts of parts; NOTHING for other trees."""
    factors = linear(tree)
    words = sorted(word for word in factors if word)
    if not words or min(factors.values()) < 0:
        return NOTHING
    products = [Tree("*", (_summed_cast(parse(word)), leaf(factors[word]))) for word in words]
    return Tree("+", (sum_of(products), leaf(factors[""])))


def _summed_cast(tree: Tree) -> Tree:
    """Return a cast with what it takes as a sum of factors; another tree as it is."""
    if tree.op not in INTEGERS:
        return tree
    inner = _summed_cast(tree.args[0]) if tree.args[0].op in INTEGERS else _summed(tree.args[0])
    return tree if inner is NOTHING else Tree(tree.op, (inner,))


def _loop_of_steps(body: Body, nodes: list[Node], size: int, series: Sequence[_Series]) -> list[Node]:
    """Return a loop in place of steps of so many lines."""
    steps, inner = len(nodes) // size, nodes[:size]
    counters: dict[str, tuple[str, int, int]] = {}
    for kind in (_HALVES, _COUNTS, _DOUBLES):
        own = [column for column in series if column.kind == kind]
        if own:
            least = min(own, key=lambda column: column.factor)
            counters[kind] = body.new(ty.D), least.factor, least.rest if kind == _COUNTS else 0
    turn = iter(column.text(counters) for column in series)
    for node in walk(inner):
        node.change(lambda text: _without_needless(re.sub(_NUMBER, lambda _: next(turn), _plain_line(body, text))))
        node.change(lambda text: _FLOAT_OF_NUMBER.sub(r"\1.0f", text))
    before: list[Node] = []
    if _COUNTS in counters:
        counter, factor, start = counters[_COUNTS]
        change = f"{counter}++" if factor == 1 else f"{counter} += {factor}"
        head = f"for ({counter} = {start}; {counter} < {start + factor * steps}; {change}) {{"
    else:
        counter, last, _ = counters[_HALVES]
        test = f"{counter} > 0" if last == 1 else f"{counter} >= {last}"
        head = f"for ({counter} = {last << steps - 1}; {test}; {counter} >>= 1) {{"
    if _DOUBLES in counters:
        other, start, _ = counters[_DOUBLES]
        before = [Node(f"{other} = {start};", nodes[0].places)]
        inner.append(Node(f"{other} <<= 1;", nodes[0].places))
    return [*before, Node(head, places_of(*walk(nodes)), inner=inner, tail=Line("}"), is_loop=True)]


def _without_needless(text: str) -> str:
    """Return a line whose indexes have no products by 1 and no sums with 0."""
    step = step_of(text)
    rules = {"X * 1": "X", "X + 0": "X", "A + (B - C)": "A + B - C", "A + (B + C)": "A + B + C"}

    def rule(tree: Tree) -> Tree | None:
        if tree.op not in ("[]", "(float)"):
            return None
        return Tree(tree.op, (*tree.args[:-1], tree.args[-1].change(partial(rewritten, rules=rules))))

    return str(Step(step.words, tuple(tree.change(rule) for tree in step.trees))) if step.trees else text
