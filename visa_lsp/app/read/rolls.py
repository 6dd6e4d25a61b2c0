"""Writes lines of equal steps as loops: sums of products that a compiler has unrolled, copies of elements, networks that sort."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import partial
from itertools import pairwise, permutations
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import (
    COUNTED,
    Body,
    Line,
    Node,
    assigned,
    backwards,
    change_lines,
    lists_of,
    names_of,
    places_of,
    set_in,
    setters,
    trees_of,
    walk,
    word_counts,
)
from visa_lsp.app.read.element_indexes import divided
from visa_lsp.app.read.names import BY_NAME
from visa_lsp.app.read.plain_forms import add, split_constant
from visa_lsp.app.read.shape import NUMBERED, stores
from visa_lsp.app.read.tree import (
    NOTHING,
    WORD,
    WORDS,
    Parts,
    Step,
    Tree,
    form,
    in_place_of,
    leaf,
    number_of,
    parse,
    rewritten,
    step_of,
    sum_of,
    terms,
    without_casts,
)
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_MIN_STEPS: Final = 4
_MIN_CHAIN: Final = 9  # products of a sum that gets a variable of its own
_NUMBER, _FLOAT = "@", "@f"  # stand for the number in an index, and for a float
_WHOLE: Final = re.compile(r"\d{1,6}\.0f")
_GUARDED: Final = re.compile(r"if \(lane [<>]= \d+\) (\w+)\[lane(?: - \d+)?\] = .*;")
_TWICE: Final = 2
_SCRATCH: Final = "scratch_state"
_SPACES: Final = ("ss(scratch_state >> 4)", "scratch")
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
        self.uses: Counter[str] = Counter()  # of words, before the list that is being changed

    def run(self) -> None:
        """Change the lines in place."""
        for code in list(lists_of(self.code)):
            self.uses = word_counts(self.code)
            self._sort(code)
            self._join_lanes(code)
            self._split_chains(code)
            self._split_sums(code)
            self._roll(code)
            self._nest(code)
            self._fuse(code)

    # ---- chains

    def _split_chains(self, code: list[Node]) -> None:
        """Write a sum of products of so many levels as so many sums."""
        index = len(code)
        while index:
            index -= 1
            name, value = assigned(code[index])
            if value.op not in ("fma()", "+") or name not in self.kinds:
                continue
            whole, used = self._expand(code, index, value)
            levels = list(_levels(whole, name))
            if len(levels) < _MIN_STEPS:
                continue
            places = places_of(code[index], *used)
            code[index : index + 1] = [Node(f"{name} = {level};", places) for level in levels]
            for line in used:
                code.remove(line)
                index -= 1

    def _split_sums(self, code: list[Node]) -> None:
        """Write a long sum of products of elements, which is a part of a value, as so many sums in a variable of its own."""
        index = len(code)
        while index:
            index -= 1
            step = step_of(code[index].text)
            if (
                code[index].inner is not None
                or step.op != "="
                or not any(part.op == "fma()" for part in step.value.walk())
            ):
                continue
            whole, used = self._expand(code, index, step.value)
            chain = next((part for part in whole.walk() if part.op == "fma()"), NOTHING)
            levels = list(_products(chain))
            elements = [
                part for level in levels[1:] for arg in level.args[:2] for part in arg.walk() if part.op == "[]"
            ]
            if (
                len(levels) < _MIN_CHAIN
                or len(elements) < len(levels) - 1
                or any(part.op == "fma()" for part in levels[0].walk())
            ):
                continue
            if any(self.body.elements.get(part.args[0].op) != "float" for part in elements):
                continue
            own = self.body.new(ty.F)
            lines = [Node(f"{own} = {levels[0]};")]
            for level in levels[1:]:
                a, b = (arg.change(self._spelled) for arg in level.args[:2])
                lines.append(Node(f"{own} = fma({a}, {b}, {own});"))
            lines[-1].places = places_of(*used, code[index])
            code[index].text = str(Step(step.words, (step.target, whole.change(in_place_of(chain, leaf(own))))))
            code[index].range = None
            code[index:index] = lines
            for line in used:
                code.remove(line)
                index -= 1

    def _spelled(self, tree: Tree) -> Tree | None:
        """Return an element with the sums that its index is, written out."""
        if tree.op != "[]":
            return None
        values = {}
        for name in tree.args[1].names():
            nodes = setters(self.code, name)
            value = assigned(nodes[0])[1] if len(nodes) == 1 else NOTHING
            plain = all(part.op in ("+", "*") or not part.args for part in value.walk())
            if plain and all(len(setters(self.code, word)) < _TWICE for word in value.names()):
                values[name] = value
        rest, number = split_constant(tree.args[1].put(values))
        return Tree("[]", (tree.args[0], leaf(number) if rest is None else add(rest, number)))

    def _expand(self, code: list[Node], index: int, value: Tree) -> tuple[Tree, list[Node]]:
        """Put into a value what earlier lines compute for it alone; return it, and these lines."""
        used: list[Node] = []
        seen: set[str] = set()
        wanted = self._alone(value)
        for line in code[:index][::-1]:
            name, part = assigned(line)
            if not wanted or line.inner is not None or (not name and stores(line)):
                break
            if name in wanted and not part.names() & seen and part.op in ("[]", "fma()", "+"):
                value = value.put({name: part})
                wanted = (wanted - {name}) | self._alone(part)
                used.append(line)
            elif name:
                seen.add(name)
        return value, used

    def _alone(self, value: Tree) -> set[str]:
        """Return the variables in a value that nothing else needs."""
        return {name for name in value.names() if self.uses[name] == _TWICE}

    # ---- loops

    def _roll(self, code: list[Node]) -> None:
        """Write lines that differ in the numbers of their indexes alone as a loop."""
        index = -1
        while index + 1 < len(code):
            index += 1
            self._write_loop(code, index, map(_shape, code[index:]))

    def _nest(self, code: list[Node]) -> None:
        """Write loops of one line that differ in the numbers of their indexes alone as a loop of a loop."""
        index = -1
        while index + 1 < len(code):
            index += 1
            head = COUNTED.fullmatch(code[index].text)
            if head is not None and len(code[index].inner or []) == 1:
                self._write_loop(code, index, _shapes_of_loops(code[index:], head[1], head[2]), head[0])

    def _write_loop(
        self, code: list[Node], index: int, shapes: Iterator[tuple[Step, list[int]]], inner_head: str = ""
    ) -> None:
        """Write lines whose numbers count on as a loop if there are enough of them; the line may be in an inner loop."""
        whole, start = next(shapes)
        count, moves = 1, list[int]()
        for other, numbers in shapes if start else ():
            step = [b - a for a, b in zip(start, numbers, strict=False)]
            moves = moves or step
            if other != whole or not numbers or step != [move * count for move in moves]:
                break
            count += 1
        if count < _MIN_STEPS or not any(moves):
            return
        counter = self.body.new(ty.D)
        steps = iter(zip(start, moves, strict=True))
        text = str(Step(whole.words, tuple(_filled(tree, steps, counter) for tree in whole.trees)))
        places = places_of(*code[index : index + count])
        line = Node(text, places)
        if inner_head:
            line = _for(inner_head.removeprefix("for (").removesuffix(") {"), [line], places)
        code[index : index + count] = [_for(f"{counter} = 0; {counter} < {count}; {counter}++", [line], places)]

    def _fuse(self, code: list[Node]) -> None:
        """Make one loop of successive ones that count alike, and that only compute variables of their own."""
        index = 0
        while index + 1 < len(code):
            pair = code[index], code[index + 1]
            heads = [COUNTED.fullmatch(node.text) for node in pair]
            bodies = [node.inner or [] for node in pair]
            counts = [hit[2] if hit is not None else "" for hit in heads]
            sets = [set_in(inner) for inner in bodies]
            plain = all(assigned(line)[0] in self.kinds for inner in bodies for line in inner)
            free = not (sets[0] & names_of(bodies[1]) or sets[1] & names_of(bodies[0]))
            if heads[0] is None or heads[1] is None or counts[0] != counts[1] or not plain or not free:
                index += 1
                continue
            change_lines(bodies[1], in_place_of(leaf(heads[1][1]), leaf(heads[0][1])))
            bodies[0] += bodies[1]
            pair[0].places = places_of(*pair)
            del code[index + 1]

    # ---- exchanges

    def _sort(self, code: list[Node]) -> None:
        """Write minima and maxima of pairs, each of which nothing else needs, as exchanges in an array."""
        pairs: dict[frozenset[str], dict[str, str]] = defaultdict(dict)  # in their order, with the results
        owners: set[str] = set()
        for node in code:
            name, value = assigned(node)
            for part in (part for tree in step_of(node.text).trees for part in tree.walk()):
                is_plain = all(not arg.args and self.kinds.get(arg.op) in (ty.D, ty.UD) for arg in part.args)
                if part.op in ("min()", "max()") and is_plain:
                    pairs[frozenset(arg.op for arg in part.args)][part.op[:3]] = name if value == part else str(part)
                    owners |= {name} if value == part else set()
        is_network = all(len(pair) == 2 == len(results) for pair, results in pairs.items())
        if not owners or len(pairs) < _MIN_EXCHANGES or not is_network:
            return
        words = {name for pair in pairs for name in pair}
        kinds = {self.kinds[name] for name in words}
        inputs = [name for name in dict.fromkeys(assigned(node)[0] for node in code) if name in words - owners]
        if len(kinds) != 1 or any(len(setters(self.code, name)) != 1 for name in (*inputs, *owners)):
            return
        slots = {name: number for number, name in enumerate(inputs)}
        values: dict[Tree, int] = {}
        exchanges: list[tuple[int, int]] = []
        for pair, results in pairs.items():
            low, high = sorted(slots.pop(name, -1) for name in pair)
            if low < 0:
                return
            exchanges.append((low, high))
            for word, place in (("min", low), ("max", high)):
                if results[word] in owners:
                    slots[results[word]] = place
                values |= {Tree(f"{word}()", tuple(map(leaf, args))): place for args in permutations(pair)}
        lines = [node for node in code if assigned(node)[0] in owners]
        outside = {word for node in walk(self.code) if node not in lines for word in self._read_alone(node, values)}
        is_early = any(
            self._read_alone(node, values) & slots.keys() or any(part in values for part in trees_of([node]))
            for node in code[: code.index(lines[-1])]
            if node not in lines
        )
        if not is_early and not outside & (words - slots.keys() | set(inputs)):
            places = values | {leaf(name): place for name, place in slots.items()}
            self._write_exchanges(code, inputs, exchanges, lines, places, kinds.pop())

    def _read_alone(self, node: Node, results: dict[Tree, int]) -> set[str]:
        """Return the variables that a line reads outside of minima and maxima."""
        step = step_of(node.text)
        trees = step.trees[1:] if assigned(node)[0] else step.trees or (leaf(word) for word in node.own_names())
        return {name for tree in trees for name in tree.change(lambda p: leaf("0") if p in results else None).names()}

    def _write_exchanges(
        self, code: list[Node], inputs: list[str], exchanges: list[tuple[int, int]], lines: list[Node],
        results: dict[Tree, int], kind: ty.DataType,
    ) -> None:  # fmt: skip
        array = self.body.new(kind, len(inputs))
        for node in code:
            name, value = assigned(node)
            if name in inputs:
                node.text = f"{array}[{inputs.index(name)}] = {value};"
        index, count, places = code.index(lines[-1]), len(inputs), places_of(*lines)

        def exchange(low_place: object, other_place: object) -> list[Node]:
            swap, low, high = self.body.new(kind), f"{array}[{low_place}]", f"{array}[{other_place}]"
            texts = (f"{swap} = min({low}, {high});", f"{high} = max({low}, {high});", f"{low} = {swap};")
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
        change_lines(self.code, {tree: Tree("[]", (leaf(array), leaf(place))) for tree, place in results.items()}.get)

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
        shapes = {name: _SHARED.fullmatch(text) for name, text in self.body.types.items() if name not in filled}
        arrays = [(name, hit[1], int(hit[2])) for name, hit in shapes.items() if hit is not None]
        for name, word, count in [*arrays, (_SCRATCH, "", 0)] if lanes else []:
            bases = self._scratch_bases() if name == _SCRATCH else {}
            places = {
                tree: index for tree in trees_of(self.code) if (index := _index_in(name, tree, bases)) is not None
            }
            words = {tree.args[0].op[1:-3] for tree in places if tree.op == "u*"} or {word}
            kind = BY_NAME.get(next(iter(words))) if len(words) == 1 else None
            rows, rest = divmod(count or self.body.private_bytes // (kind.size if kind is not None else 1), lanes)
            columns = {tree: column for tree, index in places.items() if (column := self._column(index)) is not None}
            is_own = self._is_all([name, *(["scratch", *bases] if name == _SCRATCH else [])], places, bases)
            if kind is None or not places or len(columns) < len(places) or not rows or rest or not is_own:
                continue
            if self._is_for_all(name):
                continue
            own = leaf(self.body.new(kind, rows if rows > 1 else 0))
            new = {tree: Tree("[]", (own, column)) if rows > 1 else own for tree, column in columns.items()}
            change_lines(self.code, new.get)
            for code in list(lists_of(self.code)):
                code[:] = [node for node in code if node.assigns not in bases and node.meets_for != {name}]
                for node in code:
                    node.meets_for.discard(name)
                self._roll(code)
            self._drop_undefined(own, filled)

    def _drop_undefined(self, own: Tree, filled: frozenset[str]) -> None:
        """Drop the lines that store variables which no line sets into an array that is new."""
        for code, index in backwards(self.code):
            step = step_of(code[index].text)
            value = step.value.op if step.op == "=" and step.target.op == "[]" and step.target.args[0] == own else ""
            if (
                value not in filled
                and NUMBERED.fullmatch(value)
                and self.body.uses(value) == 1
                and not setters(self.code, value)
            ):
                del code[index]

    def _is_all(self, names: list[str], places: Iterable[Tree], bases: Mapping[str, Tree]) -> bool:
        """Return whether lines name variables in some trees alone, and in the values of some that are set once."""
        own = set(places)
        texts = [str(tree) for tree in trees_of(self.code) if tree in own] + [str(value) for value in bases.values()]
        counts = Counter(word for text in texts for word in WORD.findall(text))
        return all(self.body.uses(name) == counts[name] + (name in bases) for name in names)

    def _scratch_bases(self) -> dict[str, Tree]:
        """Return the variables that are set once to an offset from where the scratch memory of the thread begins."""
        sets = {name: value for name, value in map(assigned, walk(self.code)) if _SCRATCH in value.names()}
        return {
            name: value for name, value in sets.items() if len(setters(self.code, name)) == 1 and "[]" not in str(value)
        }

    def _is_for_all(self, *names: str) -> bool:
        """Return whether a line for all lanes, active or not, names an array."""
        lines = (node for node in walk(self.code) if node.text.startswith(("each_lane(", "once ")))
        return any(node.names & {*names} for node in lines)

    def join_halves(self, filled: frozenset[str]) -> None:
        """Make one variable, or one array, of two arrays whose lower and upper lanes use their own elements alone."""
        half = self.body.lanes // 2
        for code in lists_of(self.code):
            for pair in pairwise(code):
                names = [hit[1] for node in pair if (hit := _GUARDED.fullmatch(node.text)) is not None]
                shapes = {hit.groups() for name in names if (hit := _SHARED.fullmatch(self.body.types.get(name, "")))}
                if len(set(names)) < len(pair) or filled & set(names) or len(shapes) != 1 or self._is_for_all(*names):
                    continue
                ((word, count),) = shapes
                rows, rest = divmod(int(count), half)
                if word not in BY_NAME or rest:
                    continue
                lower, upper = (self._own_rows(name, half, is_upper=name == names[1]) for name in names)
                own = [
                    sum(tree in rows_by_element for tree in trees_of(self.code)) for rows_by_element in (lower, upper)
                ]
                if own == list(map(self.body.uses, names)) and (
                    rows == 1 or all(map(self._are_apart, names, (True, False)))
                ):
                    whole = leaf(self.body.new(BY_NAME[word], rows if rows > 1 else 0))
                    new = {
                        tree: Tree("[]", (whole, row)) if rows > 1 else whole for tree, row in (lower | upper).items()
                    }
                    change_lines(self.code, new.get)
        change_lines(self.code, partial(rewritten, rules={f"lane < {half} ? A : A": "A"}))

    def _own_rows(self, name: str, half: int, *, is_upper: bool) -> dict[Tree, Tree]:
        """Return the elements of an array that the lower or the upper lanes use, with the rows of their own lanes."""
        rows: dict[Tree, Tree] = {}
        for tree in trees_of(self.code):
            if tree.op == "[]" and tree.args[0] == leaf(name):
                row = _column(add(tree.args[1], half) if is_upper else tree.args[1], half)
                rows |= {tree: row} if row is not None else {}
        return rows

    def _are_apart(self, name: str, is_lower: bool) -> bool:
        """Return whether only the lower, or only the upper lanes use an array."""
        half = self.body.lanes // 2
        test, guard = parse(f"lane < {half}"), f"if (lane {'<=' if is_lower else '>='} {half - is_lower}) "
        for node in walk(self.code):
            step = step_of(node.text)
            if name not in node.own_names() or node.text.startswith(guard):
                continue
            choices = [part for tree in step.trees for part in tree.walk() if part.op == "?" and part.args[0] == test]
            inside = sum(str(part.args[1 if is_lower else 2]).count(name) for part in choices)
            if inside != sum(str(tree).count(name) for tree in step.trees) or (
                node.tail is not None and name in node.tail.text
            ):
                return False
        return True

    def _column(self, index: Tree) -> Tree | None:
        """Return the row of an index whose lane is the own one, with the values of variables if need be; None for another index."""
        column = _column(index, self.body.lanes)
        sets = {name: nodes[0] for name in index.names() if len(nodes := setters(self.code, name)) == 1}
        values = {name: value for name, node in sets.items() if (value := assigned(node)[1]) is not NOTHING}
        steady = all(len(setters(self.code, name)) < _TWICE for value in values.values() for name in value.names())
        return column if column is not None or not values or not steady else _column(index.put(values), self.body.lanes)


def _without_thread(tree: Tree) -> Tree | None:
    """Return an offset in scratch memory from where that of the thread begins."""
    if tree.op == "&" and tree.args[0] == leaf(_SCRATCH):
        return leaf(0)
    return rewritten(tree, {"0 + X": "X", "X + 0": "X"})


def _index_in(name: str, tree: Tree, bases: Mapping[str, Tree]) -> Tree | None:
    """Return the index of an element of an array, or of a number in scratch memory; None for other trees."""
    if name != _SCRATCH:
        return tree.args[1] if tree.op == "[]" and tree.args[0] == leaf(name) else None
    address = tree.args[0] if tree.op == "u*" and tree.args[0].op.endswith(" *)") else None
    kind = BY_NAME.get(address.op[1:-3]) if address is not None else None
    parts = (form(f"{space} + (uint)X", address.args[0]) for space in _SPACES) if address is not None else ()
    hit = next(filter(None, parts), Parts())
    if not hit or kind is None:
        return None
    return Tree("/", (hit["X"].put(bases).change(_without_thread), leaf(kind.size)))


def _column(index: Tree, lanes: int) -> Tree | None:
    """Return the row of an index whose lane is the own one; None for another index."""
    plain = without_casts(index, ("(ushort)", "(short)", *WORDS))
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
    step = step_of(hit[2] if hit is not None else "")
    if hit is None or step.op != "=":
        return None

    def by_lane(tree: Tree) -> Tree | None:
        if tree.op != "[]":
            return None
        rest, number = split_constant(tree.args[1])
        index = add(leaf("lane"), number - int(hit[1])) if rest is None else add(rest, number)
        return Tree("[]", (tree.args[0], index))

    return int(hit[1]), step.target.change(by_lane), step.value.change(by_lane)


def _for(head: str, inner: list[Node], places: tuple[int, ...]) -> Node:
    return Node(f"for ({head}) {{", places, inner=inner, tail=Line("}"), is_loop=True)


def _products(tree: Tree) -> Iterator[Tree]:
    """Yield what a sum of products begins with, then the products with the sum before, the first one first."""
    if tree.op == "fma()":
        yield from _products(tree.args[2])
    yield tree


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


def _shape(node: Node) -> tuple[Step, list[int]]:
    """Return a line without the numbers in its indexes, and these; no number for a line of another kind."""
    step, numbers = step_of(node.text), list[int]()
    trees = tuple(_skeleton(tree, numbers) for tree in step.trees)
    return Step(step.words, trees), numbers if node.inner is None and step.op else []


def _shapes_of_loops(code: list[Node], counter: str, count: str) -> Iterator[tuple[Step, list[int]]]:
    """Yield the shapes of the lines of successive loops of one line that count alike, with one name for their counters."""
    for node in code:
        head, inner = COUNTED.fullmatch(node.text), node.inner or []
        if head is None or head[2] != count or len(inner) != 1:
            return
        yield _shape(Node(re.sub(rf"\b{head[1]}\b", counter, inner[0].text), inner=inner[0].inner))


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
