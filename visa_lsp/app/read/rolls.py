"""Writes lines of equal steps as loops: sums of products that a compiler has unrolled, copies of elements, networks that sort."""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import Body, Line, Node, lists_of, places_of, setters, trees_of, walk
from visa_lsp.app.read.element_indexes import divided
from visa_lsp.app.read.names import BY_NAME
from visa_lsp.app.read.plain_forms import add, split_constant
from visa_lsp.app.read.shape import assigned, change_lines, stores
from visa_lsp.app.read.tree import Step, Tree, form, leaf, number_of, rewritten, step_of, sum_of, terms
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Iterator

_MIN_STEPS: Final = 4
_NUMBER, _FLOAT = "@", "@f"  # stand for the number in an index, and for a float
_WHOLE: Final = re.compile(r"\d{1,6}\.0f")
_GUARDED: Final = re.compile(r"if \(lane [<>]= \d+\) (\w+)\[lane(?: - \d+)?\] = .*;")
_TWICE: Final = 2
_SCRATCH: Final = "scratch_state"
_MIN_EXCHANGES: Final = 6
_SHARED: Final = re.compile(r"shared (\w+) \w+\[(\d+)\]")
_LANE: Final = re.compile(r"if \(lane == (\d+)\) (.*;)")


def _skeleton(tree: Tree, numbers: list[int]) -> Tree:
    """Return a tree without the numbers in its indexes, which are added to a list."""
    args = tuple(_skeleton(arg, numbers) for arg in tree.args)
    if _WHOLE.fullmatch(tree.op):
        numbers.append(int(tree.op[:-3]))
        return leaf(_FLOAT)
    if tree.op != "[]":
        return Tree(tree.op, args)
    rest, number = split_constant(args[1])
    numbers.append(number)
    return Tree("[]", (args[0], leaf(_NUMBER) if rest is None else Tree("+", (rest, leaf(_NUMBER)))))


class Roller:
    """Writes loops in the lines of one body."""

    def __init__(self, body: Body) -> None:
        self.body, self.code, self.kinds = body, body.code, body.kinds

    def run(self) -> None:
        """Change the lines in place."""
        for code in list(lists_of(self.code)):
            self._sort(code)
            self._join_lanes(code)
            self._split_chains(code)
            self._roll(code)

    # ---- chains

    def _split_chains(self, code: list[Node]) -> None:
        """Write a sum of products of so many levels as so many sums."""
        index = len(code)
        while index:
            index -= 1
            assignment = assigned(code[index])
            if assignment is None or assignment[1].op not in ("fma()", "+") or assignment[0] not in self.kinds:
                continue
            whole, used = self._expand(code, index, assignment[1])
            levels = list(_levels(whole, assignment[0]))
            if len(levels) < _MIN_STEPS:
                continue
            places = places_of(code[index], *used)
            lines = [Node(f"{assignment[0]} = {level};", places) for level in levels]
            code[index : index + 1] = lines
            for level in used:
                code.remove(level)
                index -= 1

    def _expand(self, code: list[Node], index: int, value: Tree) -> tuple[Tree, list[Node]]:
        """Put into a value what earlier lines compute for it alone; return it, and these lines."""
        used: list[Node] = []
        seen: set[str] = set()
        for line in code[:index][::-1]:
            if line.inner is not None or (stores(line) and assigned(line) is None):
                break
            assignment = assigned(line)
            if assignment is None:
                continue
            name = assignment[0]
            if name not in value.names() or assignment[1].names() & seen:
                seen.add(name)
                continue
            if self.body.uses(name) != 2 or assignment[1].op not in ("[]", "fma()", "+"):
                seen.add(name)
                continue
            value = value.put({name: assignment[1]})
            used.append(line)
        return value, used

    # ---- loops

    def _roll(self, code: list[Node]) -> None:
        """Write lines that differ in the numbers of their indexes alone as a loop."""
        index = 0
        while index < len(code):
            first_shape = _shape(code[index])
            end = index + 1
            steps: list[list[int]] = [first_shape[1]] if first_shape is not None else []
            while (
                first_shape is not None
                and end < len(code)
                and (other := _shape(code[end])) is not None
                and other[0] == first_shape[0]
            ):
                step = [b - a for a, b in zip(steps[0], other[1], strict=True)]
                if len(steps) > 1 and step != [(b - a) * len(steps) for a, b in zip(steps[0], steps[1], strict=True)]:
                    break
                steps.append(other[1])
                end += 1
            count = len(steps)
            if first_shape is not None and count >= _MIN_STEPS and steps[0] != steps[1]:
                counter = self.body.new(ty.D)
                moves = [b - a for a, b in zip(steps[0], steps[1], strict=True)]
                numbers = iter(zip(steps[0], moves, strict=True))
                text = str(
                    Step(first_shape[0].words, tuple(_filled(tree, numbers, counter) for tree in first_shape[0].trees))
                )
                places = places_of(*code[index:end])
                code[index:end] = [
                    _for(f"{counter} = 0; {counter} < {count}; {counter}++", [Node(text, places)], places)
                ]
            index += 1

    # ---- exchanges

    def _sort(self, code: list[Node]) -> None:
        """Write minima and maxima of pairs, each of which nothing else needs, as exchanges in an array."""
        pairs: dict[frozenset[str], dict[str, str]] = {}
        order: list[frozenset[str]] = []
        owners: dict[str, frozenset[str]] = {}
        for node in code:
            step = step_of(node.text)
            for tree in step.trees if step is not None else ():
                for part in tree.walk():
                    if part.op not in ("min()", "max()") or any(
                        arg.args or self.kinds.get(arg.op) not in (ty.D, ty.UD) for arg in part.args
                    ):
                        continue
                    pair = frozenset(arg.op for arg in part.args)
                    if pair not in pairs:
                        order.append(pair)
                    results = pairs.setdefault(pair, {})
                    assignment = assigned(node)
                    results[part.op[:3]] = (
                        assignment[0] if assignment is not None and assignment[1] == part else str(part)
                    )
                    if assignment is not None and assignment[1] == part:
                        owners[assignment[0]] = pair
        if len(order) < _MIN_EXCHANGES or any(len(part) != 2 or len(pairs[part]) != 2 for part in order):
            return
        words = {name for pair in order for name in pair}
        kinds = {self.kinds[name] for name in words}
        sets = [assignment[0] for node in code if (assignment := assigned(node)) is not None]
        inputs = [name for name in dict.fromkeys(sets) if name in words and name not in owners]
        if any(len(setters(self.code, name)) != 1 for name in (*inputs, *owners)):
            return
        slots = {name: number for number, name in enumerate(inputs)}
        values: dict[Tree, int] = {}
        exchanges: list[tuple[int, int]] = []
        for pair in order:
            places = sorted(slots.pop(name, -1) for name in pair)
            if places[0] < 0:
                return
            exchanges.append((places[0], places[1]))
            left, right = sorted(pair)
            for word, place in zip(("min", "max"), places, strict=True):
                name = pairs[pair][word]
                if name in owners:
                    slots[name] = place
                for args in ((left, right), (right, left)):
                    values[Tree(f"{word}()", (leaf(args[0]), leaf(args[1])))] = place
        lines = [node for node in code if (assignment := assigned(node)) is not None and assignment[0] in owners]
        outside = {word for node in walk(self.code) if node not in lines for word in self._read_alone(node, values)}
        last = code.index(lines[-1]) if lines else -1
        if any(
            self._read_alone(node, values) & set(slots) or any(part in values for part in trees_of([node]))
            for node in code[:last]
            if node not in lines
        ):
            return
        if len(kinds) != 1 or outside & words - slots.keys() or any(name in outside for name in inputs):
            return
        self._write_exchanges(
            code, inputs, exchanges, lines, values | {leaf(name): place for name, place in slots.items()}, kinds.pop()
        )

    def _read_alone(self, node: Node, results: dict[Tree, int]) -> set[str]:
        """Return the variables that a line reads outside of minima and maxima."""
        step = step_of(node.text)
        if step is None:
            return set(node.own_names())
        trees = step.trees[1:] if assigned(node) is not None else step.trees
        return {
            name for tree in trees for name in tree.change(lambda part: leaf("0") if part in results else None).names()
        }

    def _write_exchanges(
        self,
        code: list[Node],
        inputs: list[str],
        exchanges: list[tuple[int, int]],
        lines: list[Node],
        results: dict[Tree, int],
        kind: ty.DataType,
    ) -> None:
        array = self.body.new(kind, len(inputs))
        for node in code:
            assignment = assigned(node)
            if assignment is not None and assignment[0] in inputs:
                node.text = f"{array}[{inputs.index(assignment[0])}] = {assignment[1]};"
        index, count, places = code.index(lines[-1]), len(inputs), places_of(*lines)

        def exchange(low_place: object, other_place: object) -> list[Node]:
            swap, pair = self.body.new(kind), (f"{array}[{low_place}]", f"{array}[{other_place}]")
            texts = (
                f"{swap} = min({pair[0]}, {pair[1]});",
                f"{pair[1]} = max({pair[0]}, {pair[1]});",
                f"{pair[0]} = {swap};",
            )
            return [Node(text, places) for text in texts]

        if exchanges == [(n, n + 1) for last in range(count - 1, 0, -1) for n in range(last)]:
            left, limit = self.body.new(ty.D), self.body.new(ty.D)
            loop = _for(f"{left} = 0; {left} < {limit}; {left}++", exchange(left, f"{left} + 1"), places)
            block = [_for(f"{limit} = {count - 1}; {limit} > 0; {limit}--", [loop], places)]
        else:
            block = [node for pair in exchanges for node in exchange(*pair)]
        code[index + 1 : index + 1] = block
        for node in lines:
            code.remove(node)
        elements = {tree: Tree("[]", (leaf(array), leaf(place))) for tree, place in results.items()}
        change_lines(self.code, elements.get)

    # ---- lanes

    def _join_lanes(self, code: list[Node]) -> None:
        """Write equal lines for successive lanes, each of which moves its own element, as one line for all of them."""
        index = 0
        while index < len(code):
            runs: list[tuple[Tree, Tree]] = []
            start, first_lane = index, 0
            while index < len(code) and (move := _lane_move(code[index])) is not None:
                first_lane = first_lane if runs else move[0]
                if move[0] != first_lane + len(runs) or (runs and move[1:] != runs[0]):
                    break
                runs.append(move[1:])
                index += 1
            if len(runs) >= _MIN_STEPS:
                last_lane = first_lane + len(runs) - 1
                tests = [f"lane >= {first_lane}"] * (first_lane > 0) + [f"lane <= {last_lane}"] * (
                    last_lane + 1 < self.body.lanes
                )
                prefix = f"if ({' && '.join(tests)}) " if tests else ""
                places = places_of(*code[start:index])
                code[start:index] = [Node(f"{prefix}{runs[0][0]} = {runs[0][1]};", places)]
                index = start + 1
            index += not runs

    def take_columns(self, filled: frozenset[str]) -> None:
        """Write arrays and scratch memory whose lanes use their own elements alone as variables and arrays of the lane."""
        lanes = self.body.lanes
        arrays = [
            (name, hit[1], int(hit[2]))
            for name, text in self.body.types.items()
            if name not in filled and (hit := _SHARED.fullmatch(text))
        ]
        for name, word, count in [*arrays, (_SCRATCH, "", 0)] if lanes else []:
            places = {tree: index for tree in trees_of(self.code) if (index := _index_in(name, tree)) is not None}
            words = {tree.args[0].op[1:-3] for tree in places if tree.op == "u*"} or {word}
            kind = BY_NAME.get(next(iter(words))) if len(words) == 1 else None
            elements = count or self.body.private_bytes // (kind.size if kind is not None else 1)
            columns = {tree: self._column(index) for tree, index in places.items()}
            rows = elements // lanes
            if kind is None or not places or None in columns.values() or not rows or elements % lanes:
                continue
            if sum(tree in places for tree in trees_of(self.code)) != self.body.uses(name) or any(
                node.text.startswith(("each_lane(", "once ")) and name in node.names for node in walk(self.code)
            ):
                continue
            own = leaf(self.body.new(kind, rows if rows > 1 else 0))
            new = {
                tree: Tree("[]", (own, column)) if rows > 1 else own
                for tree, column in columns.items()
                if column is not None
            }
            change_lines(self.code, new.get)
            for code in list(lists_of(self.code)):
                self._roll(code)

    def join_halves(self, filled: frozenset[str]) -> None:
        """Make one variable of two arrays whose lower and upper lanes use their own elements alone."""
        half = self.body.lanes // 2
        low_index, high_index = leaf("lane"), Tree("-", (leaf("lane"), leaf(half)))
        for code in lists_of(self.code):
            for low, high in pairwise(code):
                low_hit, high_hit = (_GUARDED.fullmatch(node.text) for node in (low, high))
                names = [hit[1] for hit in (low_hit, high_hit) if hit is not None]
                shapes = [_SHARED.fullmatch(self.body.types.get(name, "")) for name in names]
                if len(names) < _TWICE or names[0] == names[1] or filled & set(names) or None in shapes:
                    continue
                kinds = {(shape[1], shape[2]) for shape in shapes if shape is not None}
                kind = BY_NAME.get(next(iter(kinds))[0])
                elements = [
                    Tree("[]", (leaf(name), index)) for name, index in zip(names, (low_index, high_index), strict=True)
                ]
                own = [sum(tree == element for tree in trees_of(self.code)) for element in elements]
                alone = own == [self.body.uses(name) for name in names]
                together = any(
                    node.text.startswith(("each_lane(", "once ")) and set(names) & node.names
                    for node in walk(self.code)
                )
                if kind is None or len(kinds) > 1 or next(iter(kinds))[1] != str(half) or not alone or together:
                    continue
                change_lines(self.code, dict.fromkeys(elements, leaf(self.body.new(kind))).get)
        change_lines(self.code, partial(rewritten, rules={f"lane < {half} ? A : A": "A"}))

    def _column(self, index: Tree) -> Tree | None:
        """Return the row of an index whose lane is the own one, with the values of variables if need be; None for another index."""
        column = _column(index, self.body.lanes)
        values = {
            name: pair[1]
            for name in index.names()
            if len(nodes := setters(self.code, name)) == 1 and (pair := assigned(nodes[0])) is not None
        }
        steady = all(len(setters(self.code, name)) < _TWICE for value in values.values() for name in value.names())
        return column if column is not None or not values or not steady else _column(index.put(values), self.body.lanes)


def _index_in(name: str, tree: Tree) -> Tree | None:
    """Return the index of an element of an array, or of a number in scratch memory; None for other trees."""
    if name != _SCRATCH:
        return tree.args[1] if tree.op == "[]" and tree.args[0] == leaf(name) else None
    hit = (
        form("ss(scratch_state >> 4) + (uint)X", tree.args[0].args[0])
        if tree.op == "u*" and tree.args[0].op.endswith(" *)")
        else None
    )
    kind = BY_NAME.get(tree.args[0].op[1:-3]) if hit is not None else None
    return Tree("/", (hit["X"], leaf(kind.size))) if hit is not None and kind is not None else None


def _column(index: Tree, lanes: int) -> Tree | None:
    """Return the row of an index whose lane is the own one; None for another index."""
    plain = index.change(lambda part: part.args[0] if part.op in ("(ushort)", "(short)", "(int)", "(uint)") else None)
    plain = plain.change(
        lambda part: (
            divided(part.args[0], number, set())
            if part.op == "/"
            and (number := number_of(part.args[1]))
            and divided(part.args[0], number, set()) is not None
            else None
        )
    )
    rest, number = split_constant(plain)
    parts = terms(rest) if rest is not None else []
    if parts.count(leaf("lane")) != 1 or number % lanes:
        return None
    rows = [divided(part, lanes, set()) for part in parts if part != leaf("lane")]
    if any(row is None or "lane" in row.names() for row in rows):
        return None
    whole = [row for row in rows if row is not None]
    return add(sum_of(whole), number // lanes) if whole else leaf(number // lanes)


def _lane_move(node: Node) -> tuple[int, Tree, Tree] | None:
    """Return the lane that alone moves an element, the target, and the source, both in terms of the lane."""
    hit = _LANE.fullmatch(node.text)
    step = step_of(hit[2]) if hit is not None else None
    if hit is None or step is None or step.op != "=":
        return None

    def by_lane(tree: Tree) -> Tree | None:
        rest, number = split_constant(tree.args[1]) if tree.op == "[]" else (None, 0)
        if tree.op != "[]":
            return None
        return Tree(
            "[]", (tree.args[0], add(leaf("lane"), number - int(hit[1])) if rest is None else add(rest, number))
        )

    target, value = (tree.change(by_lane) for tree in step.trees)
    return int(hit[1]), target, value


def _for(head: str, inner: list[Node], places: tuple[int, ...]) -> Node:
    return Node(f"for ({head}) {{", places, inner=inner, tail=Line("}"), is_loop=True)


def _levels(tree: Tree, name: str) -> Iterator[Tree]:
    """Yield the values of a sum after each of its steps, the first one first; nothing if it does not begin with a variable."""
    steps: list[Tree] = []
    while tree != leaf(name):
        if tree.op == "fma()":
            inner, args = tree.args[2], (*tree.args[:2], leaf(name))
        elif tree.op == "+" and name in tree.args[1].names():
            inner, args = tree.args[1], (tree.args[0], leaf(name))
        elif tree.op == "+" and name in tree.args[0].names():
            inner, args = tree.args[0], (leaf(name), tree.args[1])
        else:
            return
        if any(name in arg.names() for arg in args if arg != leaf(name)):
            return
        steps.append(Tree(tree.op, args))
        tree = inner
    yield from reversed(steps)


def _shape(node: Node) -> tuple[Step, list[int]] | None:
    """Return a line without the numbers in its indexes, and these."""
    step = step_of(node.text)
    if node.inner is not None or step is None or not step.op:
        return None
    numbers: list[int] = []
    trees = tuple(_skeleton(tree, numbers) for tree in step.trees)
    return (Step(step.words, trees), numbers) if numbers else None


def _filled(tree: Tree, numbers: Iterator[tuple[int, int]], counter: str) -> Tree:
    """Put numbers into the indexes of a tree without them: each a start and a step."""
    args = tuple(_filled(arg, numbers, counter) for arg in tree.args)
    if tree.op not in ("[]", _FLOAT):
        return Tree(tree.op, args)
    start, step = next(numbers)
    if tree.op == _FLOAT and not step:
        return leaf(f"{start}.0f")
    rest = None if not args or args[1] == leaf(_NUMBER) else args[1].args[0]
    moved = None if not step else leaf(counter) if step == 1 else Tree("*", (leaf(counter), leaf(step)))
    parts = [arg for arg in (rest, moved) if arg is not None]
    index = parts[0] if parts else leaf(start)
    for arg in parts[1:]:
        index = Tree("+", (index, arg))
    index = add(index, start) if parts else index
    return Tree("[]", (args[0], index)) if args else Tree("(float)", (index,))
