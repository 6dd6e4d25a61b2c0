"""Writes values as a person does, on the trees of lines of C: elements, ids, 64-bit values from two halves, loops of equal steps."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import (
    Body,
    Node,
    assigned,
    backwards,
    change_lines,
    condition_of,
    set_counts,
    set_in,
    setters,
    setters_by_name,
    texts_of,
    trees_of,
    walk,
)
from visa_lsp.app.read.expressions import text_of
from visa_lsp.app.read.names import BY_NAME, c_type
from visa_lsp.app.read.shape import PURE, conjuncts, reads_memory
from visa_lsp.app.read.tree import (
    WIDE,
    WORDS,
    Parts,
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
)
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


_VECTOR: Final = re.compile(r"\((u?(?:char|short|int|long)|half|float|double)([234]) \*\)")
_SMALL_ARRAY: Final = re.compile(r"(\w+) \w+\[[1-4]\]")
_MAX_INDEX: Final = 1 << 16
_MAX_SUM: Final = 5  # parts of a value that indexes repeat
_MIN_IDS: Final = 2
_SUMS: Final = ("+", "-", "*", "&", "|", "^", "<<", "u-", "u~")
_OF_SIGN: Final = ("<", ">", "<=", ">=", ">>", "/", "%", "min()", "max()", "mul_hi()", "(float)", "(double)", "(half)", "(long)", "(ulong)")  # fmt: skip
_TRUTHS: Final = {"0": "false", "1": "true", "false": "false", "true": "true"}


def add(tree: Tree, number: int) -> Tree:
    """Return a sum of a value and a number."""
    if not number:
        return tree
    own = number_of(tree)
    if own is not None:
        return leaf(own + number)
    if tree.op in ("+", "-") and len(tree.args) == 2 and (last := number_of(tree.args[1])) is not None:
        return add(tree.args[0], number + (last if tree.op == "+" else -last))
    return Tree("+" if number > 0 else "-", (tree, leaf(abs(number))))


def split_constant(tree: Tree) -> tuple[Tree | None, int]:
    """Return a sum without its numbers, and their sum."""
    number = number_of(tree)
    if number is not None:
        return None, number
    if tree.op not in ("+", "-") or len(tree.args) != 2:
        return tree, 0
    (left, left_number), (right, right_number) = (split_constant(part) for part in tree.args)
    sign = 1 if tree.op == "+" else -1
    if right is None:
        return left, left_number + sign * right_number
    if left is None:
        return (right, left_number + right_number) if sign > 0 else (tree, 0)
    return Tree(tree.op, (left, right)), left_number + sign * right_number


def next_element(element: Tree, number: int) -> Tree:
    """Return an element behind another one."""
    return Tree("[]", (element.args[0], add(element.args[1], number)))


def _without_casts(tree: Tree) -> Tree:
    """Return a product of ids without conversions between integers."""
    while tree.op in WIDE or (tree.op in WORDS and tree.args[0].op in PURE):
        tree = tree.args[0]
    return Tree("*", tuple([_without_casts(arg) for arg in tree.args])) if tree.op == "*" else tree


def _summands(tree: Tree) -> Iterator[Tree]:
    """Yield the parts of a sum, a product or the like, whose upper bits depend on their sign."""
    for part in tree.args if tree.op in _SUMS else ():
        yield from _summands(part) if part.op in _SUMS else (part,)


class Former:
    """Changes the lines of one body."""

    def __init__(self, body: Body) -> None:
        self.body, self.code, self.types, self.kinds = body, body.code, body.types, body.kinds
        self.counts: Counter[str] | None = None  # of lines that set a variable

    def change(self, rule: Callable[[Tree], Tree | None], places: tuple[int, ...] = ()) -> None:
        """Apply a rule to all trees; the first changed line stands for the instructions ``places`` too."""
        change_lines(self.code, rule, places)
        self.counts = None

    # ---- before values move

    def load_parts(self) -> None:
        """Load, and copy, the elements of an array one by one where no variable needs them as a vector."""
        texts = list(texts_of(self.code))
        for code, index in backwards(self.code):
            if code[index].text.startswith("memcpy("):
                code[index : index + 1] = self._copy_elements(code[index])
                continue
            name, value = assigned(code[index])
            vector = self._vector_of(value)
            if not name or vector is None or value.args[0].op != f"({self.body.type_name(name)} *)":
                continue
            element, kind, count = vector
            word = re.compile(rf"\b{name}\b(?!\.[xyzw]\b)")
            if sum(len(word.findall(text)) for text in texts) != 1:
                continue
            parts = {f"{name}.{part}": str(next_element(element, number)) for number, part in enumerate("xyzw"[:count])}
            used = [part for part in parts if any(part in text for text in texts)] or [f"{name}.x"]
            code[index : index + 1] = [
                Node(f"{part} = {parts[part]};", code[index].places, range=text_of(parts[part], 10, kind))
                for part in used
            ]

    def _copy_elements(self, node: Node) -> list[Node]:
        """Return the lines that copy a small array one element after another, if lines name these alone; else the line."""
        copy = step_of(node.text).target
        load = form("memcpy(A, &B[I], N)", copy)
        hit = load or form("memcpy(&B[I], A, N)", copy)
        name, other = hit["A"].op, hit["B"]
        declared = _SMALL_ARRAY.fullmatch(self.types.get(name, ""))
        word = other.op[1:-3] if other.args else self.body.elements.get(other.op, "")
        kind, own = BY_NAME.get(word), BY_NAME.get(declared[1]) if declared is not None else None
        if kind is None or own is None or kind.size != own.size or kind.is_float != own.is_float:
            return [node]
        parts = [tree for tree in trees_of(self.code) if tree.op == "[]" and tree.args[0] == leaf(name)]
        numbers = {number_of(part.args[1]) for part in parts}
        if None in numbers or len(parts) + 1 != self.body.uses(name) or name in hit["I"].names():
            return [node]
        every = range((number_of(hit["N"]) or 0) // own.size)
        pairs = [
            (f"{name}[{n}]", str(Tree("[]", (other, add(hit["I"], n))))) for n in every if n in numbers or not load
        ]
        if not load:
            return [Node(f"{text} = {element};", node.places) for element, text in pairs]
        return [Node(f"{element} = {text};", node.places, range=text_of(text, 10, kind)) for element, text in pairs]

    def _vector_of(self, tree: Tree) -> tuple[Tree, ty.DataType, int] | None:
        """Return the first element of an array that is accessed as a vector, its type, and the number of elements."""
        shape = _VECTOR.fullmatch(tree.args[0].op) if tree.op == "u*" else None
        element = form("&A[I]", tree.args[0].args[0]) if shape is not None else Parts()
        array = element["A"]
        kind = BY_NAME.get(array.op[1:-3] if array.args else self.body.elements.get(array.op, ""))
        own = BY_NAME[shape[1]] if shape is not None else None
        if shape is None or own is None or kind is None or kind.size != own.size:
            return None
        if kind.is_float != own.is_float:  # the bits of the elements
            kind, array = own, Tree(f"({shape[1]} *)", array.args or (array,))
        return Tree("[]", (array, element["I"])), kind, int(shape[2])

    def spread_sums(self) -> None:
        """Write sums and products of steady values in place of variables that only indexes need."""
        for node in list(self.code):
            name, value = assigned(node)
            if self.kinds.get(name) not in (ty.D, ty.UD):
                continue
            parts = list(value.walk())
            inner = value.names() & self.types.keys()
            plain = all(part.op in ("+", "-", "*", "<<") or not part.args for part in parts)
            own = all(self.kinds.get(word, ty.D) is self.kinds[name] and self._set_once(word) for word in inner)
            typed = self.kinds[name] is ty.D or bool(inner)
            if not (own and plain and typed and 1 < len(parts) <= _MAX_SUM and self._set_once(name)):
                continue
            uses = sum(text.count(name) for other in walk(self.code) if other is not node for text in other.texts())
            indexes = [tree.args[1] for tree in trees_of(self.code) if tree.op == "[]"]
            if uses and uses == sum(part == leaf(name) for index in indexes for part in index.walk()):
                self.code.remove(node)
                self.change(partial(self._spread, name, value), node.places)

    def _spread(self, name: str, value: Tree, tree: Tree) -> Tree | None:
        if tree.op != "[]" or name not in tree.args[1].names():
            return None
        index = tree.args[1].put({name: value})
        rest, number = split_constant(index)
        return Tree("[]", (tree.args[0], leaf(number) if rest is None else add(rest, number)))

    def _set_once(self, name: str) -> bool:
        if self.counts is None:
            self.counts = set_counts(self.code)
        return self.counts[name] == 1

    def name_ids(self) -> None:
        """Give an id a variable where lines need it more than once."""
        every = Counter(tree for tree in trees_of(self.code) if tree.op in ("global_id()", "local_id()", "group_id()"))
        compared = {arg for tree in trees_of(self.code) if tree.op in ("<", ">", "<=", ">=") for arg in tree.args}
        of_sign = (tree for tree in trees_of(self.code) if tree.op in _OF_SIGN)
        compared |= {part for tree in of_sign for arg in tree.args for part in _summands(arg)}
        mixed = {part for node in self.code if (value := assigned(node)[1]).op == "*" for part in value.args}
        for call, count in every.items():
            if count < _MIN_IDS and call not in mixed:
                continue
            holder = next((n for n in self.code if assigned(n)[1] == call and self._set_once(assigned(n)[0])), None)
            if holder is None:
                name = f"V_{call.op[:-2]}_{call.args[0]}"
                self.kinds[name] = ty.UD if call in compared else ty.D
                self.types[name] = f"{c_type(self.kinds[name])} {name}"
                first_use = next(n for n, tree in enumerate(self.code) if call in trees_of([tree]))
                while self.code[first_use].continues:
                    first_use -= 1
                holder = Node(f"{name} = {call};")
                self.code.insert(first_use, holder)
            own = leaf(holder.assigns)
            value = own if self.kinds[own.op] is ty.UD or call not in compared else Tree("(uint)", (own,))
            change_lines(self.code[self.code.index(holder) + 1 :], in_place_of(call, value))
        self.counts = None

    def simplify_flags(self) -> None:
        """Make variables that are only 0 or 1 flags."""
        for name, kind in list(self.kinds.items()):
            if kind not in (ty.B, ty.UB, ty.W, ty.UW) or self.types.get(name, "").split(" ")[-1] != name:
                continue
            sets = setters(self.code, name)
            texts = {f"{name} = {old};": f"{name} = {new};" for old, new in _TRUTHS.items()}
            for node in sets:
                part = form("F & 1", assigned(node)[1])["F"]
                texts |= {node.text: f"{name} = {part};"} if self.kinds.get(part.op) is ty.BOOL else {}
            is_one_number = len(sets) == 1 and len(texts) == len(_TRUTHS)
            if sets and not is_one_number and all(node.text in texts for node in sets):
                self.kinds[name], self.types[name] = ty.BOOL, f"bool {name}"
                for node in sets:
                    node.text = texts[node.text]
                for word in ("uchar", "char", "ushort", "short", "uint", "int"):
                    self.change(in_place_of(Tree(f"({word})", (leaf(name),)), leaf(name)))
                self.change(partial(rewritten, rules={"F == 0": "!F", "F != 0": "F"}, F=leaf(name)))

    def simplify_masks(self) -> None:
        """Make flags of variables that are all ones or none, and that lines only compare with 0."""
        for name, sets in setters_by_name(self.code).items():
            if self.kinds.get(name) not in (ty.D, ty.UD) or self.types.get(name, "").split(" ")[-1] != name:
                continue
            values = {node.text: self._mask(assigned(node)[1]) for node in sets}
            tests = {
                Tree("!=", (leaf(name), leaf(0))): leaf(name),
                Tree("==", (leaf(name), leaf(0))): Tree("u!", (leaf(name),)),
            }
            count = sum(tree in tests for tree in trees_of(self.code)) if all(values.values()) else 0
            if not count or self.body.uses(name) != len(sets) + count:
                continue
            if all(value is not None and not value.args for value in values.values()) and len(sets) < 2:
                continue
            self.kinds[name], self.types[name] = ty.BOOL, f"bool {name}"
            for node in sets:
                node.text, node.range = f"{name} = {values[node.text]};", None
            self.change(tests.get)

    def _mask(self, value: Tree) -> Tree | None:
        """Return a mask of all ones or none as a condition; None for another value."""
        if value.op == "?" and [number_of(arg) for arg in value.args[1:]] in ([-1, 0], [1, 0]):
            return value.args[0]
        number = number_of(value)
        return {0: leaf("false"), -1: leaf("true"), 1: leaf("true")}.get(number) if number is not None else None

    def simplify_ids(self) -> None:
        """Write sums of ids as the id that they are, and use one variable for one id."""
        ids: dict[str, Tree] = {}
        for node in self.code:
            name, value = assigned(node)
            calls = {tree.op for tree in value.walk() if tree.op.endswith("()")}
            if calls <= set(PURE) and self._set_once(name) and not value.names() & self.types.keys():
                ids[name] = value
        self.change(lambda tree: self._as_id(tree, ids))
        holders: dict[str, str] = {}
        for node in list(self.code):
            name, value = assigned(node)
            if value.op not in PURE or name not in ids:
                continue
            other = holders.setdefault(str(value), name)
            if other != name and self.kinds.get(name) in (ty.D, ty.UD) and self.kinds.get(other) in (ty.D, ty.UD):
                own = self.types[name].split()[0]
                value = leaf(other) if self.kinds[name] is self.kinds[other] else Tree(f"({own})", (leaf(other),))
                self.code.remove(node)
                self.change(in_place_of(leaf(name), value), node.places)

    def _as_id(self, tree: Tree, ids: Mapping[str, Tree]) -> Tree | None:
        parts = [part for term in terms(tree) for part in (terms(ids.get(term.op, term)) if not term.args else [term])]
        offsets = [term for term in parts if term.op == "global_id_offset()"]
        if tree.op != "+" or len(parts) < 3 or len(offsets) != 1:
            return None
        axis = offsets[0].args
        own = [term for term in parts if ids.get(term.op, term) == Tree("local_id()", axis)]
        group = [term for term in parts if self._is_group(ids.get(term.op, term), axis)]
        if not own or not group:
            return None
        rest = [term for term in parts if term not in (offsets[0], own[0], group[0])]
        # A launch has fewer than 2^32 work items along an axis, so that 32 bits hold a sum of 64.
        id_ = Tree("global_id()", axis)
        is_wide = self.kinds.get(group[0].op) in (ty.Q, ty.UQ) or _without_casts(group[0]) != group[0]
        id_ = Tree("(long)", (id_,)) if is_wide else id_
        before = next(index for index, term in enumerate(parts) if term not in rest)
        return sum_of([*rest[:before], id_, *rest[before:]]) if len(rest) == len(parts) - 3 else None

    def _is_group(self, tree: Tree, axis: tuple[Tree, ...]) -> bool:
        """Return whether a value is the number of the group times its size."""
        size = self.body.sizes[int(axis[0].op)]
        group, tree = Tree("group_id()", axis), _without_casts(tree)
        for factor in (Tree("enqueued_local_size()", axis), leaf(size)):
            if tree in (Tree("*", (factor, group)), Tree("*", (group, factor))):
                return True
        return bool(size) and tree == Tree("<<", (group, leaf(size.bit_length() - 1))) and not size & (size - 1)

    # ---- elements

    def name_elements(self) -> None:
        """Write elements of arrays without casts of pointers, where the array has their type."""
        self._by_ranges(self.code, {})
        self.change(self._element)
        for code, index in backwards(self.code):
            code[index : index + 1] = self._stored_parts(code[index])

    def _element(self, tree: Tree) -> Tree | None:
        inner = tree.args[0] if tree.args else tree
        if tree.op == "u*" and inner.op.endswith(" *)") and inner.args[0].op == "(ulong)":
            start = inner.args[0].args[0]
            if self.body.elements.get(start.op) == inner.op[1:-3]:
                return Tree("[]", (start, leaf(0)))
        if tree.op == "u*" and inner.op in self.body.elements and not inner.args:
            return Tree("[]", (inner, leaf(0)))
        if tree.op.endswith(" *)") and self.body.elements.get(inner.op) == tree.op[1:-3]:
            return inner
        return None

    def _stored_parts(self, node: Node) -> list[Node]:
        """Return a store of a new vector as stores of its elements."""
        step = step_of(node.text)
        vector = self._vector_of(step.target) if step.op == "=" else None
        values = step.value.args
        if vector is None or step.value.op[0] != "{" or any(reads_memory(part) for part in values[1:]):
            return [node]
        return [Node(f"{next_element(vector[0], n)} = {value};", node.places) for n, value in enumerate(values)]

    def _by_ranges(self, code: list[Node], limits: Mapping[str, int]) -> None:
        """Write addresses as elements where the numbers of these are known to be small."""
        tops = dict(limits)
        scaled: dict[str, Tree] = {}
        for node in code:
            changed = set_in([node])
            tops = {name: top for name, top in tops.items() if name not in changed}
            scaled = {name: value for name, value in scaled.items() if not changed & {name, *value.names()}}
            if node.inner is None:
                change_lines([node], partial(self._small, tops, scaled))
                name, value = assigned(node)
                if form("X << K", value) and value.names() <= tops.keys():
                    scaled[name] = value
                continue
            inside = dict(tops)
            is_for = node.text.startswith("for (")
            for part in conjuncts(parse(node.text.split(";")[1]) if is_for else condition_of(node.text)):
                hit = form("X < N", part)
                top, value = number_of(hit["N"]), hit["X"]
                bare = value.args[0] if value.op == "(uint)" else value
                is_unsigned = bare is not value or self.kinds.get(bare.op) is ty.UD
                if top is not None and 0 < top <= _MAX_INDEX and is_unsigned:
                    inside[bare.op] = top
            last = node.inner[-1] if node.text.startswith("while (") and node.inner else None
            sets = set_in(line for line in node.inner if line is not last)
            self._by_ranges(node.inner, {name: top for name, top in inside.items() if name not in sets})

    def _small(self, tops: Mapping[str, int], scaled: Mapping[str, Tree], tree: Tree) -> Tree | None:
        """Return an element of whose index the limit is known."""
        tree = tree.put(scaled)
        hit = form("(X << K) / N", tree)
        if hit and hit["X"].op in tops:
            return hit["X"] if 1 << (number_of(hit["K"]) or 0) == number_of(hit["N"]) else None
        hit = form("(ulong)P + (uint)(X << K)", tree.args[0]) if tree.op.endswith(" *)") else Parts()
        kind = BY_NAME.get(tree.op[1:-3])
        if kind is None or hit["X"].op not in tops or self.body.elements.get(hit["P"].op) != c_type(kind):
            return None
        element = Tree("[]", (hit["P"], hit["X"]))
        return Tree("u&", (element,)) if number_of(hit["K"]) == kind.size.bit_length() - 1 else None
