"""Makes functions of parts of a body that repeat, as a compiler leaves them that has inlined functions and unrolled loops.

Runs on lines with their declarations and names. Parts repeat if they are equal but for the names of their own variables and
for values and variables from outside, which become the parameters of the function.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.app.read.code_lines import (
    Line,
    Node,
    chain_of,
    lists_of,
    names_of,
    place_declaration,
    places_of,
    texts_of,
    walk,
    word_counts,
)
from visa_lsp.app.read.expression_types import INTEGER_TYPES, SAFE_CALLS, type_of
from visa_lsp.app.read.names import RESERVED
from visa_lsp.app.read.outlines import Outline
from visa_lsp.app.read.prelude import prelude_words, words_of_lanes
from visa_lsp.app.read.tree import (
    COMPONENTS,
    NEGATED,
    Step,
    Tree,
    in_place_of,
    leaf,
    linear,
    number_of,
    owner,
    step_of,
    words_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_MIN_LINES: Final = 5  # of a part
_MIN_WORTH: Final = 6  # lines that a function saves, less what is to be read in their place
_MAX_NODES: Final = 40  # of a part, without those inside of others
_MAX_PARAMETERS: Final = 9
_MAX_FUNCTIONS: Final = 12
_MAX_FIRST: Final = 3  # parts with which others are compared
_DECLARED_AND_USED: Final = 2  # times that lines name a variable
_LIKELY: Final = 0.8  # of the lines that parts would save at most
_MAX_TRIES: Final = 40  # parts that are compared
_OWN: Final = "\u00a7"  # before the names of variables that parts declare
_HOLE: Final = "\u00a4"  # before the numbers of values that parts do not have in common
_DECLARED: Final = re.compile(
    r"(?!return |goto |else )((?:(?:shared|global|local|constant|struct) )*[A-Za-z]\w* )(\*?)(\w+)((?:\[\d*\])*)( = .*|;)"
)
_ROWS: Final = re.compile(r"local \w+ \(\*(\w+)\)")
_COMMENT: Final = re.compile(r"  // .*")
_COUNTED: Final = re.compile(r"for \(([A-Za-z]\w*) (\w+) = ")
_ARITHMETIC: Final = ("+", "-", "*")
_NAME: Final = re.compile(rf"(?<![.\w])[{_OWN}{_HOLE}]?\w+")
_EXIT: Final = re.compile(r"\b(?:break|continue|return|goto \w+);$")
_LABEL: Final = re.compile(r"\w+:;?|case .*|default:.*")
_LOOPS: Final = ("for (", "while (", "do {")
_PLAIN: Final = ("} else {", "}", "do {", "for (;;) {", "break;", "continue;", "return;")


class _Text(NamedTuple):
    """A line: the type of the variable that it declares, its brackets of an array, and the line without these."""

    declared: str
    brackets: str
    step: Step

    @property
    def words(self) -> tuple[str, ...]:
        """What equal lines have in common besides their expressions."""
        return (self.declared, self.brackets, *self.step.words)

    def filled(self, trees: Sequence[Tree]) -> str:
        """Return the line with other expressions."""
        text = str(Step(self.step.words, tuple(trees)))
        if self.declared and text.startswith("for ("):
            return f"for ({self.declared} {text[len('for (') :]}"
        if not self.declared:
            return text
        name, rest = str(trees[0]), text[len(str(trees[0])) :]
        return f"{self.declared}{'' if self.declared.endswith('*') else ' '}{name}{self.brackets}{rest}"


@lru_cache(maxsize=20_000)
def _text(text: str) -> _Text:
    hit = _COUNTED.match(text)
    if hit is not None:
        return _Text(hit[1], "", step_of(f"for ({text[hit.start(2) :]}"))
    hit = _DECLARED.fullmatch(text)
    if hit is None:
        return _Text("", "", step_of(text))
    declared = hit[1].strip() + (" *" if hit[2] else "")
    if hit[5] == ";":
        return _Text(declared, hit[4], Step(("", ";"), (leaf(hit[3]),)))
    return _Text(declared, hit[4], step_of(f"{hit[3]}{hit[5]}"))


def _declared_in(node: Node) -> tuple[str, str]:
    """Return the variable that a line declares, and its type, or that of a pointer to its elements; no type for rows of arrays."""
    text = _COMMENT.sub("", node.text)
    counted, rows, hit = _COUNTED.match(text), _ROWS.match(text), _DECLARED.fullmatch(text)
    if counted is not None:
        return counted[2], counted[1]
    if rows is not None:
        return rows[1], ""
    if hit is None:
        return "", ""
    element = hit[1].strip().removeprefix("shared ")
    return hit[3], "" if "][" in hit[4] else f"{element} *" if hit[2] or hit[4] else element


class _Part(NamedTuple):
    """Lines that follow each other in a list, and the types of the variables that these see."""

    code: list[Node]
    nodes: list[Node]
    types: Mapping[str, str]

    @property
    def start(self) -> int:
        """The place of the first line in the list; -1 if the lines are no longer there."""
        start = next((index for index, node in enumerate(self.code) if node is self.nodes[0]), -1)
        there = self.code[start : start + len(self.nodes)]
        is_same = len(there) == len(self.nodes) and all(a is b for a, b in zip(there, self.nodes, strict=True))
        return start if is_same else -1


def share_parts(main: list[Node], kernel: str, parameters: Mapping[str, str]) -> list[Outline]:
    """Return functions for the parts of a body that repeat, and call them there. ``parameters`` are the kernel's, with their types."""
    functions: list[Outline] = []
    while True:
        count, found = len(functions), list[_Shared]()
        for parts in _repeated(main, parameters)[:_MAX_TRIES]:
            most = _saved(len(parts), _lines_of(parts[0].nodes))
            if not any(_LIKELY * most <= shared.worth and shared.covers(parts) for shared in found):
                shared = _largest_shared(main, parts)
                found += [shared] if shared is not None else []
        changed, gone = set[int](), set[int]()  # lists of lines with calls, and those in functions
        for shared in sorted(found, key=lambda one: -one.worth):
            own = {id(part.code) for part in shared.parts}
            is_there = not (changed & shared.lists or gone & own) and all(part.start >= 0 for part in shared.parts)
            if len(functions) < _MAX_FUNCTIONS and is_there:
                gone |= shared.lists
                functions.append(shared.replace(main, f"{kernel}_part{len(functions) + 1 if functions else ''}"))
                changed |= own
        if len(functions) == count:
            return functions


def _saved(count: int, lines: int) -> int:
    """Return the lines that a function saves in place of so many parts of so many lines."""
    return (count - 1) * (lines - 1) - 4


def _lines_of(nodes: Sequence[Node]) -> int:
    return sum(len(node.texts()) for node in walk(nodes))


def _repeated(main: list[Node], parameters: Mapping[str, str]) -> list[list[_Part]]:
    """Return the parts that have equal lines but for their expressions, those first that would save most."""
    numbers: dict[tuple[object, ...], int] = {}
    lists = list(_scopes(main, parameters))
    keys = [[numbers.setdefault(_key(node), len(numbers)) for node in code] for code, _ in lists]
    totals: defaultdict[int, int] = defaultdict(int)
    for row in keys:
        for key in row:
            totals[key] += 1
    groups: defaultdict[tuple[int, ...], list[tuple[int, int]]] = defaultdict(list)
    for number, ((code, _), row) in enumerate(zip(lists, keys, strict=True)):
        for start in range(len(code)):
            if code[start].continues:
                continue
            for end in range(start + 1, min(len(code), start + _MAX_NODES) + 1):
                if totals[row[end - 1]] < 2:
                    break
                if end == len(code) or not code[end].continues:
                    groups[tuple(row[start:end])].append((number, start))
    scored: list[tuple[int, list[_Part]]] = []
    for group, places in groups.items():
        if len(places) < 2:
            continue
        first, start = places[0]
        lines = _lines_of(lists[first][0][start : start + len(group)])
        if lines < _MIN_LINES or _saved(len(places), lines) < _MIN_WORTH:
            continue
        parts: list[_Part] = []
        for number, start in places:
            code, scopes = lists[number]
            if parts and parts[-1].code is code and start < parts[-1].start + len(group):
                continue  # in a row of equal lines
            parts.append(_Part(code, code[start : start + len(group)], scopes[start]))
        saved = _saved(len(parts), lines)
        if saved >= _MIN_WORTH:
            scored.append((saved, parts))
    scored.sort(key=lambda item: -item[0])
    return [parts for _, parts in scored]


def _scopes(code: list[Node], types: Mapping[str, str]) -> Iterator[tuple[list[Node], list[Mapping[str, str]]]]:
    """Yield all lists of lines, each with the types of the variables that its lines see; a loop's counter is seen inside of it."""
    seen: list[Mapping[str, str]] = []
    yield code, seen
    for node in code:
        seen.append(types)
        name, kind = _declared_in(node)
        if node.inner is not None:
            yield from _scopes(node.inner, {**types, name: kind})
        elif name:
            types = {**types, name: kind}


def _key(node: Node) -> tuple[object, ...]:
    """Return what lines must have in common to be compared."""
    own = tuple(text.words for text in map(_text, node.texts()))
    return (*own, *map(_key, node.inner)) if node.inner else own


class _Unfit(Exception):  # noqa: N818 - no error: the parts cannot share a function
    pass


class _Comparison:
    """The common form of some parts, whose own variables and differences have marks."""

    def __init__(self, parts: Sequence[_Part]) -> None:
        self.parts = parts
        self.own: list[dict[str, str]] = [
            {} for _ in parts
        ]  # variables that a part declares -> those of the first part
        self.own_types: dict[str, str] = {}  # of the first part
        self.set = [_set_in(part.nodes) for part in parts]
        self.holes: dict[tuple[Tree, ...], int] = {}
        self.indexes: set[int] = set()  # differences that are indexes
        self.exits: set[str] = set()

    def lines(self, rows: Sequence[Sequence[Node]], *, in_loop: bool = False, in_switch: bool = False) -> list[Node]:
        """Return the common form of lines. Raises _Unfit."""
        if len({len(row) for row in rows}) > 1:
            raise _Unfit
        common: list[Node] = []
        for nodes in zip(*rows, strict=True):
            first = nodes[0]
            texts = [list(map(_text, node.texts())) for node in nodes]
            if len({tuple(text.words for text in part) for part in texts}) > 1:
                raise _Unfit
            head = self._line([part[0] for part in texts])
            if self._is_exit(first.text, in_loop=in_loop, in_switch=in_switch):
                head = _EXIT.sub("return true;", head)
            inner = None
            if first.inner is not None:
                is_switch = first.text.startswith("switch (")
                inner = self.lines(
                    [node.inner or [] for node in nodes],
                    in_loop=in_loop or first.text.startswith(_LOOPS),
                    in_switch=in_switch or is_switch,
                )
            tail = Line(self._line([part[1] for part in texts])) if first.tail is not None else None
            common.append(Node(head, places_of(*nodes), inner=inner, tail=tail, is_loop=first.is_loop))
        return common

    def _is_exit(self, text: str, *, in_loop: bool, in_switch: bool) -> bool:
        """Note how a line leaves the parts; return whether it does."""
        hit = _EXIT.search(text)
        is_of_loop = hit is not None and hit[0] in ("break;", "continue;")
        if _LABEL.fullmatch(text) or (is_of_loop and in_switch and not in_loop):
            raise _Unfit
        if hit is None or (is_of_loop and in_loop):
            return False
        self.exits.add(hit[0])
        return True

    def _line(self, texts: Sequence[_Text]) -> str:
        first = texts[0]
        if not first.step.trees:
            whole = str(first.step)
            if whole not in _PLAIN and not _EXIT.fullmatch(whole):
                raise _Unfit
            return whole
        if first.declared:
            self.own_types[first.step.trees[0].op] = first.declared + first.brackets
            for own, text in zip(self.own, texts, strict=True):
                own[text.step.trees[0].op] = first.step.trees[0].op
        return first.filled([self._tree([text.step.trees[n] for text in texts]) for n in range(len(first.step.trees))])

    def _tree(self, trees: Sequence[Tree]) -> Tree:
        marked = [
            tree.put({name: leaf(_OWN + first) for name, first in own.items()})
            for own, tree in zip(self.own, trees, strict=True)
        ]
        return self._unify(marked, is_index=False)

    def _unify(self, trees: Sequence[Tree], *, is_index: bool) -> Tree:
        first = trees[0]
        if all(tree == first for tree in trees[1:]):
            return first
        if first.args and all(tree.op == first.op and len(tree.args) == len(first.args) for tree in trees):
            before = len(self.holes)
            rows = enumerate(zip(*(tree.args for tree in trees), strict=True))
            args = tuple(self._unify(row, is_index=first.op == "[]" and number == 1) for number, row in rows)
            if first.op not in _ARITHMETIC or not self._is_better_whole(trees, args, before):
                return Tree(first.op, args)
            for hole in list(self.holes)[before:]:
                del self.holes[hole]
        if any(_OWN in name for tree in trees for name in tree.names()):
            return self._unify_sums(trees)
        return self._hole(trees, is_index=is_index)

    def _is_better_whole(self, trees: Sequence[Tree], args: Sequence[Tree], before: int) -> bool:
        """Return whether an integer of variables from outside is one parameter rather than several."""
        names = {name for tree in trees for name in tree.names()}
        common = {name for arg in args for name in arg.names() if name[0] != _HOLE}
        is_from_outside = not any(name[0] == _OWN or any(name in own for own in self.set) for name in names)
        return len(common) + len(self.holes) - before > 1 and is_from_outside and self._integer(trees) != ""

    def _integer(self, trees: Sequence[Tree]) -> str:
        """Return the type of expressions; empty if they have several, or one that is no integer."""
        own = {_OWN + name: kind for name, kind in self.own_types.items()}
        types = {type_of(tree, {**part.types, **own}) for tree, part in zip(trees, self.parts, strict=True)}
        return kind if len(types) == 1 and (kind := types.pop()) in INTEGER_TYPES else ""

    def _hole(self, trees: Sequence[Tree], *, is_index: bool) -> Tree:
        """Return the mark of a difference; where it is another one and a number, the sum of these."""
        whole = tuple(trees)
        for others, number in self.holes.items() if whole not in self.holes else ():
            step = _step(others, trees)
            if step and self._integer([*trees]) == self._integer([*others]) != "":
                return Tree("+", (leaf(f"{_HOLE}{number}"), leaf(step)))
        number = self.holes.setdefault(whole, len(self.holes))
        if number > 2 * _MAX_PARAMETERS:  # some of which may become parts of others
            raise _Unfit
        if is_index:
            self.indexes.add(number)
        return leaf(f"{_HOLE}{number}")

    def _unify_sums(self, trees: Sequence[Tree]) -> Tree:
        """Return the common form of sums of integers that differ in a number. Raises _Unfit."""
        sums = [_sum(tree) for tree in trees]
        numbers = [number for _, number in sums]
        if any(factors != sums[0][0] for factors, _ in sums) or not sums[0][0] or min(numbers) < 0:
            raise _Unfit
        longest = max(trees, key=lambda tree: numbers[trees.index(tree)])
        if not self._integer(trees) or longest.op != "+" or number_of(longest.args[1]) is None:
            raise _Unfit
        whole = tuple(map(leaf, numbers))
        number = self.holes.setdefault(whole, len(self.holes))
        return Tree("+", (longest.args[0], leaf(f"{_HOLE}{number}")))


@lru_cache(maxsize=20_000)
def _sum(tree: Tree) -> tuple[frozenset[tuple[str, int]], int]:
    """Return the factors of the terms of a sum, and its number."""
    factors = linear(tree)
    number = factors.pop("", 0)
    return frozenset(item for item in factors.items() if item[1]), number


def _step(trees: Sequence[Tree], others: Sequence[Tree]) -> int:
    """Return what is to be added to each of some sums for others; 0 if that is no positive number, or several."""
    steps = set[int]()
    for tree, other in zip(trees, others, strict=True):
        factors, number = _sum(tree)
        other_factors, other_number = _sum(other)
        steps.add(other_number - number if factors == other_factors else 0)
    return max(0, steps.pop()) if len(steps) == 1 else 0


class _Parameter(NamedTuple):
    """A parameter of a function: its mark or name in the common form, its name, its type, and its values by part."""

    mark: str
    name: str
    type: str
    is_set: bool
    values: tuple[Tree, ...]


class _Shared(NamedTuple):
    """A function for some parts: their common form, its parameters, its own variables of lines around, and how it leaves.

    ``outer`` has the parameters that parts declare for the lines after them.
    """

    parts: Sequence[_Part]
    lines: list[Node]
    parameters: list[_Parameter]
    inner: list[_Parameter]
    outer: list[_Parameter]
    exit: str

    @property
    def lists(self) -> set[int]:
        """The identities of the lists of lines inside of the parts."""
        return {id(own) for part in self.parts for own in _inner_lists(part)}

    def covers(self, parts: Sequence[_Part]) -> bool:
        """Return whether each of other parts begins with one of these, or inside of one."""
        own = {id(node) for part in self.parts for node in walk(part.nodes)}
        return all(id(part.nodes[0]) in own for part in parts)

    @property
    def worth(self) -> float:
        """The lines that the function saves, less what a reader has to match in each call."""
        count = len(self.parts)
        outputs = sum(parameter.is_set for parameter in self.parameters)
        pointers = outputs if outputs > 1 or self.exit else 0
        numbers = sum(number_of(p.values[0]) is not None or p.values[0].op[0].isdigit() for p in self.parameters)
        each = (
            0.2 * (len(self.parameters) + numbers)
            + 0.4 * pointers
            + len(self.outer) * bool(pointers)
            + 0.5 * bool(self.exit)
        )
        return _saved(count, _lines_of(self.parts[0].nodes)) - 1.5 * sqrt(count) * each

    def replace(self, main: list[Node], name: str) -> Outline:
        """Put calls in place of the parts; return the function."""
        outputs = [parameter for parameter in self.parameters if parameter.is_set]
        alone = outputs[0] if len(outputs) == 1 and not self.exit else None
        lines, shown = self.lines, list(self.parameters)
        for node in walk(lines):
            node.change(self._plain)
        lines[:] = [node for node in lines if node.text]
        if alone is not None:
            if self.outer or _sets_first(lines, alone.name, alone.type):
                shown.remove(alone)
                _declare(lines, alone)
            lines.append(Node(f"return {alone.name};"))
        else:
            for parameter in outputs:
                for node in walk(lines):
                    node.change(_through_pointer(parameter.name))
        if self.exit:
            lines.append(Node("return false;"))
        for parameter in self.inner:
            _declare(lines, parameter)
        by_pointer = [] if alone is not None else outputs
        for number, part in enumerate(self.parts):
            places = places_of(*walk(part.nodes))
            words = [f"{'&' if p in by_pointer else ''}{p.values[number]}" for p in shown]
            call = f"{name}({', '.join(words)})"
            new = [Node(f"{_declaration(p.type, str(p.values[number]))};", places) for p in self.outer]
            text = f"if ({call}) {self.exit}" if self.exit else f"{call};"
            if alone is not None:
                target = str(alone.values[number])
                text = f"{_declaration(alone.type, target) if self.outer else target} = {call};"
                new = []
            start = part.start
            part.code[start : start + len(part.nodes)] = [*new, Node(text, places)]
        for code in list(lists_of(main)):
            _inline_arguments(code, name)
        for parameter in self.inner:
            for value in parameter.values:
                _drop_declaration(main, str(value), parameter.type)
        for parameter in outputs:
            for name_ in {str(value) for value in parameter.values}:
                _move_declaration(main, name_, f"{_declaration(parameter.type, name_)}")
        result = "bool" if self.exit else alone.type if alone is not None else "void"
        return Outline(
            name, result, tuple(_declaration(p.type, f"{'*' if p in by_pointer else ''}{p.name}") for p in shown), lines
        )

    def _plain(self, text: str) -> str:
        """Return a line of the function with its names."""
        for parameter in (*self.parameters, *self.inner):
            if parameter.mark[0] == _HOLE:
                text = re.sub(rf"{parameter.mark}(?!\d)", parameter.name, text)
        for parameter in self.outer:
            text = re.sub(rf"^{re.escape(_declaration(parameter.type, parameter.mark))}(?=[ ;])", parameter.mark, text)
        return "" if re.fullmatch(rf"{_OWN}\w+;", text) else text.replace(_OWN, "")


def _declaration(kind: str, name: str) -> str:
    return f"{kind}{'' if kind.endswith('*') else ' '}{name}"


def _through_pointer(name: str) -> Callable[[str], str]:
    """Return the change of a line whose variable a pointer leads to."""

    def change(text: str) -> str:
        text = re.sub(rf"(?<![.\w>]){name}(?=\.)", f"(*{name})", text)
        text = re.sub(rf"(?<![.\w>*]){name}(\+\+|--)", rf"(*{name})\1", text)
        return re.sub(rf"(?<![.\w>])(?<!\(\*){name}\b", f"*{name}", text)

    return change


def _declare(lines: list[Node], parameter: _Parameter) -> None:
    """Declare a variable where the first line sets it, or before all lines."""
    first = next((node for node in lines if parameter.name in node.names), None)
    if (
        first is not None
        and first.assigns == parameter.name
        and parameter.name not in words_of(first.text.partition(" = ")[2])
    ):
        first.text = _declaration(parameter.type, first.text)
    else:
        lines.insert(0, Node(f"{_declaration(parameter.type, parameter.name)};"))


def _move_declaration(main: list[Node], name: str, declaration: str) -> None:
    """Declare a variable where its uses are, if a line of its own declares it."""
    for code in list(lists_of(main)):
        index = next((n for n, node in enumerate(code) if node.text == f"{declaration};"), -1)
        if index >= 0 and any(name in node.names for node in code[index + 1 :]):
            del code[index]
            place_declaration(code, name, declaration)
            return


def _drop_declaration(main: list[Node], name: str, kind: str) -> None:
    """Drop the declaration of a variable that no line uses."""
    text = f"{_declaration(kind, name)};"
    uses = _uses(main, name)
    for code in list(lists_of(main)):
        if uses == 1:
            code[:] = [node for node in code if node.text != text]


def _inline_arguments(code: list[Node], function: str) -> None:
    """Write values in calls of a function in place of variables that only the call uses, which the lines before it declare."""
    for call in [node for node in code if f"{function}(" in node.text]:
        place = code.index(call) - 1
        while place >= 0 and code[place].inner is None:
            text, line = _text(code[place].text), _text(call.text)
            name = text.step.target.op if text.declared and text.step.op == "=" else ""
            whole = next(part for tree in line.step.trees for part in tree.walk() if part.op == f"{function}()")
            if not name or leaf(name) not in whole.args or word_counts(code)[name] != _DECLARED_AND_USED:
                break
            new = Tree(whole.op, tuple(text.step.value if arg == leaf(name) else arg for arg in whole.args))
            call.text = line.filled([tree.change(in_place_of(whole, new)) for tree in line.step.trees])
            call.places = places_of(call, code.pop(place))
            place -= 1


def _uses(code: list[Node], name: str) -> int:
    """Return how many lines name a variable."""
    return sum(name in words_of(text) for text in texts_of(code))


def _sets_first(lines: Sequence[Node], name: str, kind: str) -> bool:
    """Return whether lines give a variable a value, or all parts of a vector, before they use it, on all ways."""
    parts = set(COMPONENTS[: int(kind[-1])]) if kind[-1] in "234" else set()
    for index, node in enumerate(lines):
        if name not in node.names:
            continue
        step = step_of(node.text)
        is_part = step.op == "=" and step.target.op in parts and step.target.args == (leaf(name),)
        if is_part and name not in step.value.names():
            parts.discard(step.target.op)
            if not parts:
                return True
            continue
        if node.assigns == name:
            return name not in words_of(node.text.partition(" = ")[2])
        chain = chain_of(list(lines), index)
        return (
            node.text.startswith("if (")
            and chain[-1].text == "} else {"
            and not any(name in branch.own_names() for branch in chain)
            and all(_sets_first(branch.inner or [], name, kind) for branch in chain)
        )
    return False


def _largest_shared(main: list[Node], parts: list[_Part]) -> _Shared | None:
    """Return the function of the parts of a group that can share one, of those that fit to one of the first parts."""
    lines = _lines_of(parts[0].nodes)
    best: _Shared | None = None
    for first, part in enumerate(parts[:_MAX_FIRST]):
        if _saved(len(parts) - first, lines) <= (best.worth if best is not None else _MIN_WORTH):
            break
        fitting, lists = [part], {id(own) for own in _inner_lists(part)}
        for other in parts[first + 1 :]:
            if id(other.code) not in lists and _compared(main, [part, other], 2 * _MAX_PARAMETERS) is not None:
                fitting.append(other)
                lists |= {id(own) for own in _inner_lists(other)}
        if _saved(len(fitting), lines) >= _MIN_WORTH:
            shared = _compared(main, fitting) or _fitted(main, fitting)
            if shared is not None and shared.worth >= (best.worth if best is not None else _MIN_WORTH):
                best = shared
    return best


def _fitted(main: list[Node], parts: list[_Part]) -> _Shared | None:
    """Return the function of parts that fit together, each added to those before it."""
    chosen, shared = parts[:1], None
    for part in parts[1:]:
        more = _compared(main, [*chosen, part])
        chosen, shared = ([*chosen, part], more) if more is not None else (chosen, shared)
    return shared


def _inner_lists(part: _Part) -> Iterator[list[Node]]:
    """Yield the lists of lines inside of a part."""
    for node in part.nodes:
        if node.inner is not None:
            yield from lists_of(node.inner)


def _compared(main: list[Node], parts: Sequence[_Part], most: int = _MAX_PARAMETERS) -> _Shared | None:
    """Return the function that parts can share, with so many parameters at most; None if they cannot."""
    comparison = _Comparison(parts)
    try:
        lines = comparison.lines([part.nodes for part in parts])
        return _Joint(main, comparison, lines).shared(most)
    except _Unfit:
        return None


class _Joint:
    """Finds the parameters of a function for parts with a common form."""

    def __init__(self, main: list[Node], comparison: _Comparison, lines: list[Node]) -> None:
        self.main, self.comparison, self.lines, self.parts = main, comparison, lines, comparison.parts
        self.set = comparison.set
        self.common = {name for text in texts_of(lines) for name in _NAME.findall(text)}
        self.taken = {name.lstrip(_OWN + _HOLE) for name in self.common} | RESERVED | prelude_words()

    def shared(self, most: int) -> _Shared:
        """Return the function. Raises _Unfit."""
        is_condition = len(self.lines) == 1 and self.lines[0].text.startswith("if (") and _HOLE in self.lines[0].text
        if is_condition or self.common & words_of_lanes() or len(self.comparison.exits) > 1:
            raise _Unfit  # a reader wants to see conditions where they are
        order = [name for text in texts_of(self.lines) for name in _NAME.findall(text)]
        numbers = {f"{_HOLE}{number}": (number, trees) for trees, number in self.comparison.holes.items()}
        outer, all_ = self._outer(), list[_Parameter]()
        for mark in dict.fromkeys(order):
            if mark in numbers:
                all_.append(self._of_hole(mark, *numbers[mark]))
            elif mark in outer:
                all_.append(outer[mark])
            elif mark in self.parts[0].types and not mark.startswith(_OWN):
                all_.append(self._of_variable(mark))
        inner = [p for p in all_ if p.is_set and p.mark not in outer and self._is_inner(p)]
        parameters = sorted((p for p in all_ if p not in inner), key=lambda parameter: parameter.is_set)
        if len(parameters) > most:
            raise _Unfit
        exit_ = next(iter(self.comparison.exits), "")
        return _Shared(self.parts, self.lines, parameters, inner, [p for p in parameters if p.mark in outer], exit_)

    def _outer(self) -> dict[str, _Parameter]:
        """Return the variables that parts declare and that lines after a part use."""
        found: dict[str, _Parameter] = {}
        for number, part in enumerate(self.parts):
            after = names_of(part.code[part.start + len(part.nodes) :])
            declared = {_declared_in(node)[0] for node in part.nodes if node.inner is None} - {""}
            for name in declared & after:
                first = self.comparison.own[number][name]
                kind = self.comparison.own_types[first]
                values = [next(n for n, one in own.items() if one == first) for own in self.comparison.own]
                if "[" in kind or sum(one == first for one in self.comparison.own[number].values()) > 1:
                    raise _Unfit
                found[_OWN + first] = _Parameter(_OWN + first, first, kind, True, tuple(map(leaf, values)))
        return found

    def _of_variable(self, name: str) -> _Parameter:
        """Return the parameter for a variable that all parts name."""
        kinds = {part.types.get(name, "") for part in self.parts}
        if len(kinds) > 1 or "" in kinds:
            raise _Unfit
        return _Parameter(
            name, name, *self._set_kind(kinds.pop(), [name] * len(self.parts)), (leaf(name),) * len(self.parts)
        )

    def _set_kind(self, kind: str, names: Sequence[str]) -> tuple[str, bool]:
        """Return the type of a variable from outside, and whether parts set it; arrays are pointers."""
        is_set = any(name in own for name, own in zip(names, self.set, strict=True))
        if kind.endswith("*"):
            steps = [_text(text).step for part in self.parts for text in texts_of(part.nodes)]
            if is_set and any(target.op in names for step in steps for target in step.targets):
                raise _Unfit
            return kind, False
        return kind, is_set

    def _of_hole(self, mark: str, number: int, trees: tuple[Tree, ...]) -> _Parameter:
        """Return the parameter for a value or a variable that differs. Raises _Unfit."""
        kinds = {_value_type(tree, part.types) for tree, part in zip(trees, self.parts, strict=True)}
        if len(kinds) > 1 or "" in kinds:
            raise _Unfit
        kind = kinds.pop()
        is_variable = all(not tree.args and tree.op[0].isalpha() for tree in trees)
        names = [tree.op for tree in trees] if is_variable else []
        kind, is_set = self._set_kind(kind, names) if names else (kind, False)
        if not is_set:
            for tree, own in zip(trees, self.set, strict=True):
                if own & tree.names() and not kind.endswith("*"):
                    raise _Unfit
                if not all(map(_is_safe, tree.walk())):
                    raise _Unfit
        general = "index" if number in self.comparison.indexes else "holds" if kind == "bool" else "value"
        wanted = names[0] if names else general
        name, count = wanted, 1
        while name in self.taken:
            count += 1
            name = f"{wanted}{count}"
        self.taken.add(name)
        return _Parameter(mark, name, kind, is_set, trees)

    def _is_inner(self, parameter: _Parameter) -> bool:
        """Return whether a variable belongs to each part alone, which sets it first."""
        for part, value in zip(self.parts, parameter.values, strict=True):
            name = str(value)
            uses = _uses(self.main, name)
            own = sum(
                name in words_of(text)
                for other, tree in zip(self.parts, parameter.values, strict=True)
                if str(tree) == name
                for text in texts_of(other.nodes)
            )
            bare = f"{_declaration(parameter.type, name)};"
            if (
                uses != own + 1
                or not any(text == bare for text in texts_of(self.main))
                or not _sets_first(part.nodes, name, parameter.type)
            ):
                return False
        return True


def _value_type(tree: Tree, types: Mapping[str, str]) -> str:
    """Return the type of a value as a parameter; that of a condition is bool."""
    return "bool" if tree.op in (*NEGATED, "&&", "||", "u!") else type_of(tree, types)


def _is_safe(tree: Tree) -> bool:
    """Return whether a value can be computed earlier, and where it is not needed: it reads no memory and traps nowhere."""
    if tree.op in ("/", "%"):
        return bool(number_of(tree.args[1]))
    return tree.op not in ("[]", "u*") and (not tree.op.endswith("()") or tree.op in SAFE_CALLS)


def _set_in(nodes: Sequence[Node]) -> set[str]:
    """Return the variables that lines set, or whose addresses they take."""
    found: set[str] = set()
    for text in texts_of(nodes):
        step = _text(text).step
        found.update(map(owner, step.targets))
        parts = [part for tree in step.trees for part in tree.walk()]
        found.update(owner(part.args[0]) for part in parts if part.op in ("u&", "memcpy()"))
    return found
