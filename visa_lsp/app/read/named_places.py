"""Names places in memory by what they are part of: rows of local arrays, fields of structures, 64-bit values from two halves."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.addresses import strip
from visa_lsp.app.read.code_lines import Body, Node, lists_of, places_of, steps_of, trees_of, walk
from visa_lsp.app.read.names import BY_NAME, c_type
from visa_lsp.app.read.plain_forms import add, split_constant
from visa_lsp.app.read.shape import assigned, change_lines, reads_memory
from visa_lsp.app.read.tree import Tree, form, is_set, leaf, number_of, step_of, sum_of, terms, words_of
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.isa.types import DataType

_FOR: Final = re.compile(r"for \((\w+) = (\d+); \1 < (\d+); \1\+\+\) \{")
_POINTER: Final = re.compile(r"\((\w+?)([234]?) \*\)")
Linear = dict[str, int]


def linear(tree: Tree) -> tuple[Linear, int] | None:
    """Return a sum of multiples of variables, and its number; None for another value."""
    rest, number = split_constant(tree)
    found: Linear = {}
    for one in terms(rest) if rest is not None else ():
        shift = form("X << N", one) or form("X * N", one)
        factor = number_of(shift["N"]) if shift is not None else 1
        name = shift["X"] if shift is not None else one
        if name.args or factor is None:
            return None
        found[name.op] = found.get(name.op, 0) + (1 << factor if one.op == "<<" else factor)
    return found, number


class Places:
    """Names the places in the lines of one body."""

    def __init__(self, body: Body) -> None:
        self.body, self.code, self.types, self.kinds = body, body.code, body.types, body.kinds
        self.pointers, self.local = body.elements, body.local

    def run(self) -> None:
        """Change the lines in place."""
        if self.local:
            self._split_local()
        for name, word in self.pointers.items():
            if word.startswith("struct "):
                self._name_fields(name, word.removeprefix("struct ").strip())
            elif word in ("ulong", "long"):
                self._join_halves(name, word)

    def _trees(self) -> Iterator[Tree]:
        yield from trees_of(self.code)
        for node in walk(self.code):
            yield from (leaf(word) for text in node.texts() if step_of(text) is None for word in words_of(text))

    # ---- local memory

    def _split_local(self) -> None:
        """Write local memory as arrays with rows, where all indexes are sums with known limits and one length of rows."""
        tops: dict[str, int] = {}
        for node in walk(self.code):
            hit, found = _FOR.match(node.text), assigned(node)
            if hit is not None:
                tops[hit[1]] = int(hit[3]) - 1
            elif found is not None and found[1].op == "local_id()" and self.body.sizes[int(found[1].args[0].op)]:
                tops[found[0]] = self.body.sizes[int(found[1].args[0].op)] - 1
        every = list(self._trees())
        indexes = {tree.args[1] for tree in every if tree.op == "[]" and tree.args[0] == leaf(self.local)}
        known = {index: one for index in indexes if (one := linear(index)) is not None and one[0].keys() <= tops.keys()}
        factors = {factor for found, _ in known.values() for factor in found.values() if factor != 1}
        uses = sum(tree == leaf(self.local) for tree in every)
        if (
            len(factors) != 1
            or len(known) != len(indexes)
            or uses != sum(tree.op == "[]" and tree.args[0] == leaf(self.local) for tree in every)
        ):
            return
        (row,) = factors
        if row < 2 or any(
            number % row + sum(tops[name] for name, factor in found.items() if factor == 1) >= row
            for found, number in known.values()
        ):
            return
        spans = sorted(
            (number // row, number // row + sum(tops[name] for name, factor in found.items() if factor > 1))
            for found, number in known.values()
        )
        starts: list[list[int]] = []
        for low, high in spans:
            if starts and low <= starts[-1][1]:
                starts[-1][1] = max(high, starts[-1][1])
            else:
                starts.append([low, high])
        word = self.pointers[self.local]
        names = {}
        for number, (low, high) in enumerate(starts):
            name = f"tile{number + 1}" if len(starts) > 1 else "tile"
            place = f"(slm + {low * row * BY_NAME[word].size})" if low else "slm"
            self.body.tiles[name] = (
                f"local {word} (*{name})[{row}] = (local {word} (*)[{row}]){place};  // {high - low + 1} rows"
            )
            names[low] = name

        def rule(tree: Tree) -> Tree | None:
            if tree.op != "[]" or tree.args[0] != leaf(self.local):
                return None
            found, number = known[tree.args[1]]
            base = max(low for low, _ in starts if low <= number // row)
            parts = [
                sum_or_zero([leaf(name) for name, factor in found.items() if (factor == 1) == own])
                for own in (False, True)
            ]
            first, second = add(parts[0], number // row - base), add(parts[1], number % row)
            return Tree("[]", (Tree("[]", (leaf(names[base]), first)), second))

        change_lines(self.code, rule)

    # ---- fields

    def _name_fields(self, pointer: str, structure: str) -> None:
        """Write elements of a pointer to a structure as its fields, if all accesses agree about its size."""
        uses: dict[Tree, tuple[DataType, int, Tree, int]] = {}  # place -> type, count, which structure, byte in it
        every = list(self._trees())
        steps = set()
        raw = []
        for tree in every:
            shape = _POINTER.fullmatch(tree.args[0].op) if tree.op == "[]" else None
            if shape is None or tree.args[0].args[0] != leaf(pointer) or shape[1] not in BY_NAME:
                continue
            kind, count = BY_NAME[shape[1]], int(shape[2] or 1)
            rest, number = split_constant(tree.args[1])
            scaled = form("X * N", rest) if rest is not None else None
            factor = (number_of(scaled["N"]) if scaled is not None else 1) or 1
            owner = scaled["X"] if scaled is not None and rest is not None else rest if rest is not None else leaf(0)
            raw.append((tree, kind, count, owner, number * kind.size * count))
            if rest is not None:
                steps.add(factor * kind.size * count)
        if len(steps) != 1 or len(raw) != sum(tree == leaf(pointer) for tree in every):
            return
        (size,) = steps
        fields: dict[int, DataType] = {}
        for tree, kind, count, owner, byte in raw:
            uses[tree] = kind, count, owner, byte
            for number in range(count):
                fields.setdefault(byte + number * kind.size, kind)
        ordered = sorted(fields)
        if any(a + fields[a].size > b for a, b in zip(ordered, [*ordered[1:], size], strict=True)) or ordered[0] < 0:
            return
        if any(
            byte + number * kind.size not in fields or fields[byte + number * kind.size].size != kind.size
            for kind, count, _, byte in uses.values()
            for number in range(count)
        ):
            return
        self._write_fields(pointer, structure, uses, fields, size)

    def _write_fields(
        self,
        pointer: str,
        structure: str,
        uses: dict[Tree, tuple[DataType, int, Tree, int]],
        fields: dict[int, DataType],
        size: int,
    ) -> None:
        def place(use: tuple[DataType, int, Tree, int], number: int) -> Tree:
            return Tree(f".at{use[3] + number * use[0].size}", (Tree("[]", (leaf(pointer), use[2])),))

        if any(
            use[0].size * use[1] != size
            for use in uses.values()
            if use[1] > 1 and not self._is_stored_in_parts(use, uses)
        ):
            return
        whole = {
            found[0]: uses[found[1]]
            for node in walk(self.code)
            if (found := assigned(node)) is not None and found[1] in uses and uses[found[1]][1] > 1
        }
        integers = self._find_integers(whole, uses)
        for name in whole:
            self.types[name] = f"struct {structure} {name}"

        def rule(tree: Tree) -> Tree | None:
            if tree.op[0] == "." and tree.args and tree.args[0].op in whole:
                use = whole[tree.args[0].op]
                return Tree(f".at{use[3] + 'xyzw'.index(tree.op[1]) * use[0].size}", tree.args)
            if tree.op.startswith("as_int") and tree.args[0].op[0] == "." and tree.args[0].op in integers:
                return tree.args[0]
            if tree in uses:
                return place(uses[tree], 0) if uses[tree][1] == 1 else Tree("[]", (leaf(pointer), uses[tree][2]))
            return None

        for code in list(lists_of(self.code)):
            for at in range(len(code) - 1, -1, -1):
                step = step_of(code[at].text)
                target = step.trees[0] if step is not None and step.op == "=" else None
                if target is None or target not in uses or step is None:
                    continue
                lines = []
                for number, value in enumerate(_parts_of(step.trees[1])):
                    where = place(uses[target], number)
                    own = value.args[0] if where.op in integers and value.op == "as_float()" else value
                    lines.append(Node(f"{where} = {own};", code[at].places))
                code[at : at + 1] = lines
        change_lines(self.code, rule)
        out, at = [], 0
        for first in sorted(fields):
            if first > at:
                out.append(f"uchar pad{at}[{first - at}];")
            out.append(f"{'int' if f'.at{first}' in integers else c_type(fields[first])} at{first};")
            at = first + fields[first].size
        self.body.fields[structure] = " ".join([*out, *([f"uchar pad{at}[{size - at}];"] if at < size else [])])

    def _is_stored_in_parts(
        self, use: tuple[DataType, int, Tree, int], uses: dict[Tree, tuple[DataType, int, Tree, int]]
    ) -> bool:
        """Return whether the lines with a vector all store values that are made there."""
        for step in steps_of(self.code):
            for number, tree in enumerate(step.trees):
                if any(uses.get(one) == use for one in tree.walk()):
                    made = step.op == "=" and number == 0 and step.trees[1].op[0] == "{"
                    if not made or any(reads_memory(one) for one in step.trees[1].args[1:]):
                        return False
        return True

    def _find_integers(
        self, whole: dict[str, tuple[DataType, int, Tree, int]], uses: dict[Tree, tuple[DataType, int, Tree, int]]
    ) -> set[str]:
        """Return the fields of floats that the lines use as integers alone."""
        asked: dict[str, set[bool]] = defaultdict(set)

        def note(use: tuple[DataType, int, Tree, int], number: int, *, is_integer: bool) -> None:
            asked[f".at{use[3] + number * use[0].size}"].add(is_integer and use[0] is ty.F)

        for one in trees_of(self.code):
            for part in one.args:
                if part.op[0] == "." and part.args[0].op in whole:
                    note(whole[part.args[0].op], "xyzw".index(part.op[1]), is_integer=one.op == "as_int()")
        for step in steps_of(self.code):
            if step.op == "=" and step.trees[0] in uses:
                for number, value in enumerate(_parts_of(step.trees[1])):
                    note(uses[step.trees[0]], number, is_integer=value.op == "as_float()")
        return {name for name, found in asked.items() if found == {True}}

    # ---- halves

    def _join_halves(self, pointer: str, word: str) -> None:
        """Write the two halves of a 64-bit value that a kernel loads, computes and stores as one value."""
        for code in lists_of(self.code):
            for at, node in enumerate(code):
                found = assigned(node)
                shape = (
                    _POINTER.fullmatch(found[1].args[0].op)
                    if found is not None and found[1].op == "[]" and found[1].args[0].args
                    else None
                )
                if (
                    found is None
                    or shape is None
                    or shape[1] not in ("int", "uint")
                    or shape[2] != "2"
                    or found[1].args[0].args[0] != leaf(pointer)
                ):
                    continue
                parts = [
                    next(
                        (
                            n
                            for n in range(at + 1, len(code))
                            if (own := assigned(code[n])) is not None and own[1] == Tree(part, (leaf(found[0]),))
                        ),
                        None,
                    )
                    for part in (".x", ".y")
                ]
                if None not in parts and sum(tree == leaf(found[0]) for tree in self._trees()) == 3:
                    low, high = (half[0] for n in parts if n is not None and (half := assigned(code[n])) is not None)
                    self._join(code, node, found[1], low, high, pointer, word)
                    return

    def _join(self, code: list[Node], load: Node, place: Tree, low: str, high: str, pointer: str, word: str) -> None:
        """Write two variables as one of 64 bits, if each line that changes them changes both as one value."""
        name = self.body.new(BY_NAME[word])
        pairs: list[tuple[list[Node], list[Node], Node, Tree]] = []
        for inner in lists_of(self.code):
            sets = [one for one in inner if is_set(one.text, low) or is_set(one.text, high)]
            own = [one for one in sets if one.inner is None]
            if not own or (inner is code and own[0] in code[: code.index(load) + 3] and len(own) == 2):
                continue
            values = {found[0]: found[1] for one in own if (found := assigned(one)) is not None}
            if len(own) != 2 or values.keys() != {low, high} or len(sets) != 2:
                return
            before = inner[: inner.index(own[0])]
            first, second = values[low], values[high]
            used: list[Node] = []
            for one in before[::-1]:
                found = assigned(one)
                if found is None or reads_memory(found[1]):
                    break
                if found[0] in first.names() | second.names() and self._count(found[0]) - 1 == self._count_in(
                    [*used, *own], found[0]
                ):
                    first, second = first.put({found[0]: found[1]}), second.put({found[0]: found[1]})
                    used.append(one)
            whole = lift(strip(first), strip(second), low, high, name)
            if whole is None or inner.index(own[1]) != inner.index(own[0]) + 1:
                return
            pairs.append((inner, [*used, own[0]], own[1], whole))
        for inner, gone, last, whole in pairs:
            last.text, last.range, last.places = f"{name} = {whole};", None, places_of(*gone, last)
            for one in gone:
                inner.remove(one)
        load.text, load.range = f"{name} = {Tree('[]', (leaf(pointer), place.args[1]))};", None
        code[:] = [one for one in code if (found := assigned(one)) is None or found[0] not in (low, high)]

        def rule(tree: Tree) -> Tree | None:
            if tree == leaf(low):
                return Tree("(uint)", (leaf(name),))
            if tree == leaf(high):
                return Tree("(uint)", (Tree(">>", (leaf(name), leaf(32))),))
            shift = form("(uint)(X >> 32) >> N", tree)
            if shift is not None and (count := number_of(shift["N"])) is not None and word == "ulong":
                return Tree("(uint)", (Tree(">>", (shift["X"], leaf(32 + count))),))
            if tree.op[0] == "{" and tree.args == (
                Tree("(uint)", (leaf(name),)),
                Tree("(uint)", (Tree(">>", (leaf(name), leaf(32))),)),
            ):
                return leaf(name)
            return None

        change_lines(self.code, rule)
        for node in walk(self.code):
            step = step_of(node.text)
            if step is not None and step.op == "=" and step.trees[1] == leaf(name) and step.trees[0].op == "[]":
                target = step.trees[0]
                if target.args[0].op in ("(int2 *)", "(uint2 *)") and target.args[0].args[0] == leaf(pointer):
                    node.text = f"{Tree('[]', (leaf(pointer), target.args[1]))} = {name};"

    def _count(self, name: str) -> int:
        return sum(tree == leaf(name) for tree in self._trees())

    def _count_in(self, code: list[Node], name: str) -> int:
        return sum(tree == leaf(name) for step in steps_of(code) for part in step.trees[1:] for tree in part.walk())


def _parts_of(value: Tree) -> tuple[Tree, ...]:
    """Return the components of a new vector; a value that is none is one component."""
    return value.args if value.op[0] == "{" else (value,)


def lift(first: Tree, second: Tree, low: str, high: str, name: str) -> Tree | None:
    """Return the 64-bit value whose halves two values are; None for others."""
    if (first, second) == (leaf(low), leaf(high)):
        return leaf(name)
    moved = first if first.op in ("+", "-") else None
    number = number_of(moved.args[1]) if moved is not None else None
    if moved is not None and number is not None:
        number = number if moved.op == "+" else -number
        rest = [one for one in terms(second) if one.op != "carry()"]
        carries = [one for one in terms(second) if one.op == "carry()"]
        if (
            len(carries) == 1
            and carries[0].args[0] == moved.args[0]
            and (number_of(carries[0].args[1]) or 0) % (1 << 32) == number % (1 << 32)
        ):
            inner, top = split_constant(sum_of(rest))
            whole = lift(moved.args[0], inner, low, high, name) if inner is not None else None
            return (
                None
                if whole is None
                else Tree("+", (whole, leaf(f"0x{(top % (1 << 32)) << 32 | number % (1 << 32):x}")))
            )
        return None
    product = form("X * N", first) or form("N * X", first)
    factor = number_of(product["N"]) if product is not None else None
    if product is None or factor is None or product["X"] != leaf(low):
        return None
    parts = list(terms(second))
    tops = [one for one in parts if _is_top(one, low, factor)]
    crosses = [number for one in parts if (number := _times(one, low)) is not None]
    others = [number for one in parts if (number := _times(one, high)) is not None]
    if len(parts) != 3 or len(tops) != 1 or len(crosses) != 1 or others != [factor] or crosses[0] is None or factor < 0:
        return None
    return Tree("*", (leaf(name), leaf(f"0x{(crosses[0] % (1 << 32)) << 32 | factor:x}")))


def _is_top(tree: Tree, name: str, factor: int) -> bool:
    """Return whether a value is the upper half of the product of a variable and a number."""
    hit = form("(ulong)((long)X * N) >> 32", tree)
    return hit is not None and hit["X"] == leaf(name) and number_of(hit["N"]) == factor


def _times(tree: Tree, name: str) -> int | None:
    """Return the number that a variable is multiplied by; None for another value."""
    own = [one for one in tree.args if one != leaf(name)] if tree.op == "*" else []
    return number_of(own[0]) if len(own) == 1 else None


def sum_or_zero(parts: list[Tree]) -> Tree:
    """Return the sum of some terms."""
    return sum_of(parts) if parts else leaf(0)
