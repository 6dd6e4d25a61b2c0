"""Puts values of 64 bits together from their dwords, and writes addresses of arguments as elements."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.app.read.code_lines import (
    Body,
    Node,
    assigned,
    backwards,
    change_line,
    change_lines,
    lists_of,
    names_of,
    places_of,
    rank_of,
    set_counts,
    set_in,
    setters,
    trees_of,
    walk,
)
from visa_lsp.app.read.element_indexes import divided, factor_of, index_of_term
from visa_lsp.app.read.expressions import text_of
from visa_lsp.app.read.halves import BITS, HIGH, LOW, SWAPPED, Halves
from visa_lsp.app.read.names import BY_NAME, c_type
from visa_lsp.app.read.plain_forms import add, split_constant
from visa_lsp.app.read.shape import reads_memory
from visa_lsp.app.read.tree import NOTHING, Step, Tree, filled, in_place_of, leaf, number_of, step_of, sum_of, terms
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from visa_lsp.app.read.signs import Signs

_WIDE: Final = {"int2": "ulong", "uint2": "ulong", "int4": "ulong2", "uint4": "ulong2"}
_PAIRS: Final = tuple(f"({word} *)" for word in _WIDE)
_MAX_NAMES: Final = 12  # in a value that stands in place of its variable
_ANY_SIGN: Final = (
    "(int)",
    "(uint)",
    "(long)",
    "(ulong)",
    " *)",
)  # casts that take a value of 64 bits with either sign
_TESTED: Final = ("==", "!=", "<", "carry()", "borrow()", "popcount()")
_WINDOW: Final = 6  # lines between those that set the halves of a value
_VECTOR: Final = re.compile(r"(\w+?)([248]|16)?")
_STORE: Final = re.compile(r"(?:if \(.*\) )?\*")


class _Plan(NamedTuple):
    """The uses of a vector of dwords: whether as values of 64 bits, and the list, the indexes and the half of each two lines that fill it."""

    is_wide: bool
    stores: list[tuple[list[Node], int, int, int]]


class _Joined(NamedTuple):
    """Two variables that lines set to the halves of a value; ``line`` is the index of the second one, ``is_down`` whether the first may move there."""

    low: str
    high: str
    whole: Tree
    line: int
    is_down: bool


class Widener:
    """Changes the lines of one body; ``vectors`` are variables of several elements."""

    def __init__(self, body: Body, vectors: dict[str, str], signs: Signs) -> None:
        self.body, self.code, self.types, self.kinds, self.signs = body, body.code, body.types, body.kinds, signs
        self.vectors = vectors
        self.halves = Halves(signs.type_of)
        self.partners: dict[str, str] = {}  # variables of 32 bits -> those with the other half
        self.wholes: dict[str, set[str]] = {}  # values of 64 bits -> the variables that hold their halves
        self.plans: dict[str, _Plan] = {}  # of vectors of dwords
        self.asked: set[str] = set()  # vectors that are one value of 64 bits where other values are
        self.has_swapped = False  # whether a lower half has become an upper one
        self.sets: Counter[str] = Counter()  # lines that set a variable
        self.joined: Counter[str] = Counter()  # how often both halves are set together, by the lower one

    def join(self) -> None:
        """Make variables of 64 bits of those that hold two dwords, or the halves of one value."""
        plans = self._plan_all()
        wide = [name for name, plan in plans.items() if plan.is_wide]
        banned: set[frozenset[str]] = set()
        while True:
            for name in wide:
                self._widen(name)
            self._forget(list(self.partners))
            self.halves.keys.clear()
            banned.clear()
            self.plans = {name: plan for name, plan in self._plan_all().items() if name in plans}
            self.halves.vectors = {name for name in self.plans if self.vectors[name] in ("int2", "uint2")}
            self._find_pairs(banned)
            wide = sorted(self.asked)
            if not wide:
                break
        self.halves.free.clear()
        while True:
            before = [(node, node.text, node.places, node.range) for node in walk(self.code)]
            self.joined.clear()
            self._scan(self.code, {}, self._write)
            if not self._ban_failing(banned):
                break
            for node, text, places, limits in before:
                node.text, node.places, node.range = text, places, limits
            self._find_pairs(banned)
        self._drop_empty()
        self.compare()
        dwords = {}
        for name, (whole, half) in self.halves.pairs.items():
            value = whole if half == LOW else Tree(">>", (whole, leaf(BITS)))
            dwords[name] = Tree(f"({c_type(self.kinds[name])})", (value,))
        change_lines(self.code, lambda tree: dwords.get(tree.op) if not tree.args else None)
        self.drop_signs()

    def compare(self) -> None:
        """Write comparisons of both halves, and upper halves of sums, by values of 64 bits."""
        self.halves.keys.clear()
        self._scan(self.code, {}, self._test)

    def _plan_all(self) -> dict[str, _Plan]:
        lines: defaultdict[str, list[Node]] = defaultdict(list)
        for node in walk(self.code):
            for name in node.own_names() & self.vectors.keys():
                lines[name].append(node)
        plans = {name: self._plan(name, lines[name]) for name, word in self.vectors.items() if word in _WIDE}
        return {name: plan for name, plan in plans.items() if plan is not None}

    def drop_signs(self) -> None:
        """Drop casts between integers of 64 bits where the value of the line is the same without."""
        change_lines(self.code, self._without_signs)
        for node in walk(self.code):
            name, value = assigned(node)
            plain = self._unsigned(value)
            if self.kinds.get(name) in (ty.Q, ty.UQ) and plain != value:
                self._set(node, leaf(name), plain)

    def _without_signs(self, tree: Tree) -> Tree | None:
        if not tree.op.endswith(_ANY_SIGN):
            return None
        inner = self.halves.peel(tree.args[0]) if tree.op in ("(int)", "(uint)") else tree.args[0]
        return Tree(tree.op, (self._unsigned(inner) if self.halves.is_wide(inner) else inner,))

    def _unsigned(self, tree: Tree) -> Tree:
        """Drop changes of the sign that the 64 bits of a value do not depend on."""
        start = tree.op == "?"
        if tree.op in ("(long)", "(ulong)") and self.halves.is_wide(tree.args[0]):
            return self._unsigned(tree.args[0])
        if tree.op in ("+", "-", "*", "&", "|", "^", "u-", "u~", "?", "<<"):
            wide = [self.halves.is_wide(arg) for arg in tree.args[start:]]
            if all(wide) or (any(wide) and tree.op not in ("?", "<<")) or (wide[0] and tree.op == "<<"):
                args = [self._unsigned(arg) if self.halves.is_wide(arg) else arg for arg in tree.args[start:]]
                return Tree(tree.op, (*tree.args[:start], *args))
        return tree

    # ---- vectors

    def _widen(self, name: str) -> None:
        """Make a variable of two or four dwords one of one or two values of 64 bits, where lines use it as such."""
        word = self.vectors[name]
        own, wide = leaf(name), _WIDE[word]
        wholes, reads = self._parts(name)
        plan = self._plan(name, [node for node in walk(self.code) if name in node.own_names()])
        assert plan is not None
        filled_by = []
        for code, first, second, whole in plan.stores:
            steps = sorted(
                (step_of(code[line].text) for line in (first, second)), key=lambda s: "xyzw".index(s.target.op[1])
            )
            pair = Tree("pair()", tuple(step.value.change(reads.get) for step in steps))
            filled_by.append((code[first], code[second], f"{wholes[whole]} = {pair};"))
        for node in walk(self.code):
            line = step_of(node.text)
            if line.op == "=" and own in line.trees:
                trees = [self._whole(tree, word, wide) for tree in line.trees]
                node.text, node.range = str(Step(line.words, tuple(trees))), None
        change_lines(self.code, reads.get)
        for first_node, node, text in filled_by:
            node.text, node.range, node.places = text, None, places_of(first_node, node)
            first_node.text = ""
        self._drop_empty()
        self.types[name] = f"{wide} {name}"
        if wide == "ulong":
            self.kinds[name] = ty.UQ
            del self.vectors[name]
        else:
            self.vectors[name] = wide

    def _parts(self, name: str) -> tuple[list[Tree], dict[Tree, Tree]]:
        """Return the values of 64 bits in a vector of dwords, and the forms that replace its parts."""
        word, own = self.vectors[name], leaf(name)
        wholes = [own] if _WIDE[word] == "ulong" else [Tree(".x", (own,)), Tree(".y", (own,))]
        reads = {Tree("as_ulong()", (own,)): own, Tree("as_long()", (own,)): Tree("(long)", (own,))}
        for index, letter in enumerate("xyzw"[: 2 * len(wholes)]):
            value = Tree(">>", (wholes[index // 2], leaf(BITS))) if index % 2 else wholes[index // 2]
            reads[Tree(f".{letter}", (own,))] = Tree(f"({word[:-1]})", (value,))
        return wholes, reads

    def _plan(self, name: str, lines: list[Node]) -> _Plan | None:
        """Return how the lines that name a vector of dwords use it; None if they need it as one."""
        word, own = self.vectors[name], leaf(name)
        _, reads = self._parts(name)
        targets = [tree for tree in reads if tree.op[0] == "."]
        count, is_wide = 0, False
        steps = [step for node in lines for text in node.texts() if (step := step_of(text)).trees]
        for step in steps:
            for tree in step.trees:
                parts = [part for part in tree.walk() if part in reads]
                count += len(parts)
                is_wide = is_wide or any(part not in targets for part in parts)
            if step.op == "=" and own in step.trees:
                other = step.trees[step.trees[0] == own]
                count += other.op == f"as_{word}()" or (_is_place(other) and other.args[0].op == f"({word} *)")
                is_wide = is_wide or other.op == f"as_{word}()" or self._is_wide_place(other)
        stores = self._stores(targets, steps, set(map(id, lines))) if count == self.body.uses(name) else None
        return _Plan(is_wide, stores) if stores is not None else None

    def _whole(self, tree: Tree, word: str, wide: str) -> Tree:
        """Return the other side of an assignment of a pair of dwords as one value."""
        if tree.op == f"as_{word}()":
            value = tree.args[0]
            return value if self.signs.type_of(value) in (ty.Q, ty.UQ) else Tree("as_ulong()", (value,))
        if not _is_place(tree):
            return tree
        inner = tree.args[0].args[0]
        if wide == "ulong":
            wide = "long" if self.body.elements.get(inner.op) == "long" else wide
        return Tree(tree.op, (Tree(f"({wide} *)", (inner,)), *tree.args[1:]))

    def _is_wide_place(self, tree: Tree) -> bool:
        """Return whether memory belongs to an argument with elements of 64 bits."""
        return _is_place(tree) and any(
            self.body.elements.get(name, "").startswith(("long", "ulong")) for name in tree.names()
        )

    def _stores(
        self, targets: list[Tree], steps: list[Step], lines_of_vector: set[int]
    ) -> list[tuple[list[Node], int, int, int]] | None:
        """Return, for each two parts of a vector that lines set together, their list and indexes, and which they are; None if one is set alone."""
        stores = []
        for code in lists_of(self.code):
            places = ((n, assigned_to(node)[0]) for n, node in enumerate(code) if id(node) in lines_of_vector)
            lines = [(index, targets.index(place)) for index, place in places if place in targets]
            while lines:
                index, part = lines.pop(0)
                other = next((line for line in lines if line[1] == part ^ 1), None)
                if (
                    other is None
                    or targets[part] in set(assigned_to(code[other[0]])[1].walk())
                    or not self._may_move(code, index, other[0])
                ):
                    return None
                lines.remove(other)
                stores.append((code, index, other[0], part // 2))
        parts = sum(tree in targets for step in steps for tree in step.targets)
        return stores if parts == 2 * len(stores) else None

    def _may_move(self, code: list[Node], first: int, second: int) -> bool:
        """Return whether a line may move down to another one, which does not need what it sets."""
        (place, value), (target, last) = assigned_to(code[first]), assigned_to(code[second])
        between = [node for node in code[first + 1 : second] if node.text]
        if not between or NOTHING in (place, target):
            return NOTHING not in (place, target)
        steps = [step_of(node.text) for node in between]
        later = {part for tree in (last, *(tree for step in steps for tree in step.trees)) for part in tree.walk()}
        return not (
            place in later
            or not all(step.trees for step in steps)
            or reads_memory(value)
            or (value.names() | {place.op}) & self._changed(between)
            or any(node.inner is not None for node in between)
        )

    def _may_rise(self, code: list[Node], first: int, second: int) -> bool:
        """Return whether a line may move up to another one."""
        (name, value), between = assigned(code[second]), [node for node in code[first + 1 : second] if node.text]
        if reads_memory(value) or any(node.inner is not None for node in between):
            return False
        changed = self._changed(between)
        return name not in names_of(between) | changed and not value.names() & changed

    def order_carries(self) -> bool:
        """Write carries before the sums that they belong to; return whether there are any."""
        has_carries = False
        for code in lists_of(self.code):
            for index in range(len(code) - 1):
                (name, total), (carry, value) = assigned(code[index]), assigned(code[index + 1])
                if not name or not any(part.op == "carry()" for part in value.walk()):
                    continue
                has_carries = True
                is_sum = total.op == "+" and not reads_memory(total) and not reads_memory(value)
                if is_sum and name not in (carry, *value.names()) and carry not in total.names():
                    code[index : index + 2] = code[index + 1], code[index]
        return has_carries

    def join_flags(self) -> None:
        """Make one line of two that compute a flag, or an integer."""
        for code, index in backwards(self.code, 1):
            (name, value), step = assigned(code[index - 1]), step_of(code[index].text)
            kind, last = self.kinds.get(name), step.value
            if kind not in (ty.BOOL, ty.D, ty.UD) or step.target != leaf(name):
                continue
            if step.op in ("|=", "^=", "&=", "+=") and self.signs.type_of(last) in (ty.D, ty.UD):
                last = Tree(step.op[0], (step.target, last))
            elif step.op != "=" or last.op not in ("&&", "||") or last.args[0] != step.target:
                continue
            type_ = self.signs.type_of(value) if kind is not ty.BOOL else kind
            if type_ in (ty.BOOL, ty.D, ty.UD) and name not in last.args[1].names():
                whole = Tree(last.op, (value, last.args[1]))
                node = Node(f"{name} = {whole};", places_of(code[index - 1], code[index]))
                own = kind if kind is ty.BOOL else self.signs.type_of(whole)
                node.range = text_of(str(whole), rank_of(whole), own) if own is not None else None
                code[index - 1 : index + 1] = [node]

    # ---- pairs of variables

    def _find_pairs(self, banned: set[frozenset[str]]) -> None:
        """Find the variables that always hold the halves of one value of 64 bits."""
        self.sets = set_counts(self.code)
        count = -1
        while len(self.partners) > count or self.has_swapped or self._ban_failing(banned):
            self.has_swapped = False
            count = len(self.partners)
            self.joined.clear()
            self.asked.clear()
            self._scan(self.code, {}, partial(self._note, banned))

    def _ban_failing(self, banned: set[frozenset[str]]) -> bool:
        """Forget pairs that lines do not always set together; return whether there are any."""
        lows = [name for name, (_, half) in self.halves.pairs.items() if half == LOW]
        failing = [low for low in lows if not self.joined[low] == self.sets[low] == self.sets[self.partners[low]]]
        banned |= {frozenset((low, self.partners[low])) for low in failing}
        self._forget(failing)
        return bool(failing)

    def _changed(self, code: Iterable[Node]) -> set[str]:
        """Return the variables that lines may set, also as halves of others."""
        names = set_in(code)
        return names.union(*(self.wholes[name] for name in names & self.wholes.keys()))

    def _drop_empty(self) -> None:
        for code in lists_of(self.code):
            code[:] = [node for node in code if node.text]

    def _scan(
        self, code: list[Node], values: Mapping[str, tuple[Tree, set[str]]], use: Callable[[list[Node], int], None]
    ) -> None:
        """Go through lines with what their variables hold."""
        own = dict(values)
        users: dict[str, set[str]] = defaultdict(set)  # variables -> those whose values name them
        for name, (_, names) in own.items():
            for other in names:
                users[other].add(name)
        index = 0
        while index < len(code):
            node = code[index]
            changed = self._changed([node])
            if node.text.endswith(":;"):
                own.clear()
            if node.inner is None or node.text.startswith("if ("):
                self.halves.values = own
                use(code, index)
            for name in changed:
                for other in (name, *users.pop(name, ())):
                    own.pop(other, None)
            if node.inner is not None:
                self._scan(node.inner, own, use)
            name, value = assigned(node)
            names = value.names()
            is_integer = self._is_dword(name) or self.kinds.get(name) in (ty.Q, ty.UQ)
            if is_integer and name not in names and len(names) <= _MAX_NAMES and not reads_memory(value):
                own[name] = value, names
                for other in names:
                    users[other].add(name)
            index += 1

    def _is_dword(self, name: str) -> bool:
        return self.kinds.get(name) in (ty.D, ty.UD) and self.types.get(name, "").endswith(f" {name}")

    def _note(self, banned: set[frozenset[str]], code: list[Node], index: int) -> None:
        """Note the variables that two lines set to the halves of one value."""
        target, value = assigned_to(code[index])
        if target is NOTHING:
            return
        self._begin()
        whole, is_own, owner = None, True, target.args[0].op if target.op in (".x", ".y") else ""
        if value.op == "pair()":
            low, high = value.args
            whole = self.halves.join(low, high)
            if not low.args and not high.args and self._is_dword(low.op) and self._is_dword(high.op):
                self._pair(low.op, high.op, banned)
        elif owner in self.halves.vectors:
            stores = self.plans[owner].stores
            seconds = [second for block, first, second, _ in stores if block is code and first == index]
            if seconds:
                pairs = sorted(((target, value), assigned_to(code[seconds[0]])), key=lambda pair: pair[0].op)
                whole = self.halves.join(pairs[0][1], pairs[1][1])
            is_own = self.halves.is_strong
            if whole is not None and is_own:
                self.asked.add(owner)
        else:
            pair = self._partner(code, index, banned)
            whole = self._oriented(pair.whole) if pair is not None else None
            if pair is None or whole is None:
                return
            if pair.low not in self.partners:
                self._pair(pair.low, pair.high, banned)
                if whole.op == "rotate_left_64()":
                    self.halves.free.add(self.halves.pairs[pair.low][0].op)
            self.joined[pair.low] += 1
        if whole is not None and is_own:
            self.asked |= whole.names() & self.halves.vectors

    def _begin(self, changed: set[str] | None = None, between: dict[str, Tree] | None = None) -> None:
        """Begin with a new value, whose dwords are set with such lines between them."""
        self.halves.changed, self.halves.between = changed or set(), between or {}
        self.halves.joined.clear()
        self.halves.is_strong = False

    def _oriented(self, whole: Tree) -> Tree | None:
        """Settle which halves are the lower ones in a value, and return it; None if these contradict each other."""
        swapped = {tree.args[0].op for tree in whole.walk() if tree.op == SWAPPED}
        plain = whole.change(lambda tree: leaf("0") if tree.op == SWAPPED else None).names()
        if swapped & plain:
            return None
        for name in swapped:
            low, high = self.wholes[name]
            pairs = self.halves.pairs
            pairs[low], pairs[high] = pairs[high], pairs[low]
            self.halves.keys.clear()
            self.has_swapped = True
        self.halves.free -= swapped | plain
        return whole.change(lambda tree: tree.args[0] if tree.op == SWAPPED else None)

    def _pair(self, low: str, high: str, banned: set[frozenset[str]]) -> None:
        """Take two variables for the halves of one value."""
        if low != high and not {low, high} & self.partners.keys() and frozenset((low, high)) not in banned:
            whole = leaf(self.body.new(ty.UQ))
            self.partners |= {low: high, high: low}
            self.halves.pairs |= {low: (whole, LOW), high: (whole, HIGH)}
            self.wholes[whole.op] = {low, high}
            self.halves.keys.clear()

    def _forget(self, names: list[str]) -> None:
        """Take variables no longer for the lower halves of values."""
        for low in names:
            whole, half = self.halves.pairs.get(low, (leaf(0), HIGH))
            if half == LOW:
                high = self.partners.pop(low)
                del self.partners[high], self.halves.pairs[low], self.halves.pairs[high], self.wholes[whole.op]
                self.halves.keys.clear()

    def _write(self, code: list[Node], index: int) -> None:
        """Write a line that sets both halves of a value."""
        node = code[index]
        pair = self._partner(code, index)
        if pair is not None:
            other = code[pair.line]
            target, _ = self.halves.pairs[pair.low]
            self.joined[pair.low] += 1
            first, last = (node, other) if pair.is_down else (other, node)
            self._set(last, target, pair.whole)
            last.places = places_of(first, last)
            first.text, first.range = "", None
        self._begin()
        line = step_of(node.text)
        if line.op == "=" and line.value.op == "pair()":
            low, high = line.value.args
            whole = self.halves.join(low, high)
            self._set(node, line.target, whole or filled("(ulong)H << 32 | (uint)L", {"L": low, "H": high}))

    def _test(self, code: list[Node], index: int) -> None:
        """Write what a line compares both halves by as values of 64 bits."""
        line = step_of(code[index].text)
        self._begin()
        if any(part.op in _TESTED for tree in line.trees for part in tree.walk()):
            trees = tuple(map(self._tested, line.trees))
            code[index].text = str(Step(line.words, trees)) if trees != line.trees else code[index].text

    def _tested(self, tree: Tree) -> Tree:
        """Write what both halves are compared by, and upper halves of sums, as values of 64 bits."""
        return self.halves.test(tree) or Tree(tree.op, tuple(self._tested(arg) for arg in tree.args))

    def _joined(self, low: str, high: str, dwords: Mapping[str, Tree]) -> Tree | None:
        """Return the value whose halves two variables become; what these hold before may be the halves of their last value."""
        halves, name = self.halves, f"{low}:{high}"
        is_new = low not in self.partners and low in dwords[low].names()
        if is_new:
            halves.pairs |= {low: (leaf(name), LOW), high: (leaf(name), HIGH)}
            halves.vectors.add(name)
            halves.keys.clear()
        self._begin(halves.changed, halves.between)
        whole = halves.join(dwords[low], dwords[high])
        if is_new:
            del halves.pairs[low], halves.pairs[high]
            halves.vectors.remove(name)
            halves.keys.clear()
        return whole

    def _multiply(self, code: list[Node], index: int) -> None:
        """Write the sum by which compilers compute the upper 64 bits of a product as a call."""
        self._begin()
        change_line(code[index], self.halves.upper_product)

    def _set(self, node: Node, target: Tree, value: Tree) -> None:
        type_ = self.signs.type_of(value)
        node.text = f"{target} = {value};"
        node.range = text_of(str(value), rank_of(value), type_) if type_ is not None and not target.args else None

    def _partner(self, code: list[Node], index: int, banned: set[frozenset[str]] | None = None) -> _Joined | None:
        """Return the value of 64 bits whose halves a line and one of the next lines set; without ``banned`` only of known pairs."""
        name, value = assigned(code[index])
        partner = self.partners.get(name)
        if not self._is_dword(name) or (partner is None and banned is None):
            return None
        between: dict[str, Tree] = {}
        for line in range(index + 1, min(index + 1 + _WINDOW, len(code))):
            earlier, earlier_value = assigned(code[line - 1])
            if earlier and line > index + 1:
                names = self._changed([code[line - 1]])
                between = {word: tree for word, tree in between.items() if not names & {word, *tree.names()}}
                if self._is_dword(earlier) and earlier not in earlier_value.names() and not reads_memory(earlier_value):
                    between[earlier] = earlier_value
            if code[line].inner is not None or code[line].text.endswith(":;"):
                break
            other, last = assigned(code[line])
            is_other = other == partner if partner is not None else other not in self.partners
            if other == name or not self._is_dword(other) or not is_other or frozenset((name, other)) in (banned or ()):
                continue
            is_down = self._may_move(code, index, line)
            if not is_down and not self._may_rise(code, index, line):
                continue
            self._begin(self._changed(code[index + 1 : line]), between if is_down else {})
            dwords = {name: value, other: last.put({name: value})}
            joined = []
            for low, high in ((name, other), (other, name)):
                if partner is not None and self.halves.pairs[low][1] != LOW:
                    continue
                whole = self._joined(low, high, dwords)
                if whole is not None and (partner is not None or self.halves.is_strong):
                    turns = sum(part.op == "rotate_left_64()" and part.args[1] == leaf(BITS) for part in whole.walk())
                    joined.append((turns, _Joined(low, high, whole, line, is_down)))
                    if not turns:
                        break
            if joined:
                return min(joined, key=lambda pair: pair[0])[1]
        return None

    def spread(self) -> None:
        """Write elements of arguments in place of addresses in variables."""
        self.halves.pairs.clear()
        self.halves.keys.clear()
        self._scan(self.code, {}, self._multiply)
        self.drop_signs()
        for code, index in backwards(self.code):
            name, value = assigned(code[index])
            if self.kinds.get(name) not in (ty.Q, ty.UQ) or "(ulong)" not in str(value):
                continue
            rest, inputs = code[index + 1 :], value.names() & self.types.keys()
            if len(self._sets(self.code, name)) != 1:
                continue
            # What changes before the uses gets a variable: memory, and variables that lines set again.
            changing = [tree for tree in value.walk() if tree.op in ("[]", "u*")]
            if any(len(self._sets(self.code, word)) != 1 or self._sets(rest, word) for word in inputs):
                terms_of_value = [term for term in terms(value) if term.op != "(ulong)"]
                changing = [(factor_of(term) or (term, 1))[0] for term in terms_of_value if number_of(term) is None]
            kind = self.signs.type_of(changing[0]) if len(changing) == 1 else None
            if changing and kind is None:
                continue
            source = leaf(self.body.new(kind)) if kind is not None else NOTHING
            value = value.change(in_place_of(changing[0], source)) if changing else value
            uses = [tree for tree in trees_of(rest) if tree.op.endswith(" *)") and name in tree.names()]
            elements = {tree: self.element(tree.put({name: value})) for tree in uses}
            if not uses or len(uses) + 1 != self.body.uses(name) or None in elements.values():
                continue
            change_lines(rest, elements.get, code[index].places)
            code[index : index + 1] = [Node(f"{source} = {changing[0]};", code[index].places)] if changing else []
        change_lines(self.code, self.element)

    def _sets(self, code: list[Node], name: str) -> list[Node]:
        """Return the lines that set a variable, without stores to what it points to."""
        return [node for node in setters(code, name) if _STORE.match(node.text) is None]

    def element(self, tree: Tree) -> Tree | None:
        """Return an address in bytes of a part of an argument as that of an element; None for another one."""
        if tree.op == "u*" and tree.args[0].op == "u&":
            return tree.args[0].args[0]
        if not tree.op.endswith(" *)"):
            return None
        rest, number = split_constant(tree.args[0])
        parts = terms(rest) if rest is not None else []
        bases = [part for part in parts if part.op == "(ulong)" and part.args[0].op in self.body.elements]
        if len(bases) != 1:
            return None
        (pointer,), word = bases[0].args, tree.op[1:-3]
        for own in (self.body.elements[pointer.op], word, word.rstrip("234")):
            shape = _VECTOR.fullmatch(own)
            kind = BY_NAME.get(shape[1]) if shape is not None else None
            size = kind.size * int(shape[2] or 1) if shape is not None and kind is not None else 0
            indexes = [self._divided(part, size) for part in parts if part is not bases[0]] if size else [None]
            if None not in indexes and number % size == 0:
                whole = [index for index in indexes if index is not None]
                index = add(sum_of(whole), number // size) if whole else leaf(number // size)
                array = pointer if own == self.body.elements[pointer.op] else Tree(f"({own} *)", (pointer,))
                if not whole and not number and own == word == self.body.elements[pointer.op]:
                    return pointer
                place = Tree("u&", (Tree("[]", (array, index)),))
                return place if own == word else Tree(tree.op, (place,))
        return None

    def _divided(self, term: Tree, size: int) -> Tree | None:
        """Return a term of an address, divided by the size of an element."""
        steady = self._sets(self.code, term.op) if not term.args else []
        is_multiple = len(steady) == 1 and divided(assigned(steady[0])[1], size, set()) is not None
        return index_of_term(term, size, {term.op} if is_multiple else set(), self.signs.type_of)


def _is_place(tree: Tree) -> bool:
    return tree.op in ("u*", "[]") and tree.args[0].op in _PAIRS


def assigned_to(node: Node) -> tuple[Tree, Tree]:
    """Return the variable, or the part of one, that a line sets, and the value; NOTHING for another line."""
    step = step_of(node.text) if node.inner is None else step_of("")
    return (step.target, step.value) if step.op == "=" else (NOTHING, NOTHING)
