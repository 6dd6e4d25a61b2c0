"""Names places in memory by the fields of structures that they are."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import Body, Node, lists_of, steps_of, trees_of, walk
from visa_lsp.app.read.names import BY_NAME, c_type, fields_text
from visa_lsp.app.read.plain_forms import split_constant
from visa_lsp.app.read.shape import assigned, change_lines, reads_memory
from visa_lsp.app.read.tree import Tree, form, leaf, number_of, step_of, words_of
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.isa.types import DataType

_POINTER: Final = re.compile(r"\((\w+?)([234]?) \*\)")


class Places:
    """Names the places in the lines of one body."""

    def __init__(self, body: Body) -> None:
        self.body, self.code, self.types, self.kinds = body, body.code, body.types, body.kinds
        self.pointers = body.elements

    def run(self) -> None:
        """Change the lines in place."""
        for name, word in self.pointers.items():
            if word.startswith("struct "):
                self._name_fields(name, word.removeprefix("struct ").strip())

    def _trees(self) -> Iterator[Tree]:
        yield from trees_of(self.code)
        for node in walk(self.code):
            yield from (leaf(word) for text in node.texts() if step_of(text) is None for word in words_of(text))

    # ---- local memory

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
            owner = owner.args[0] if owner.op == "(long)" else owner
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
            assignment[0]: uses[assignment[1]]
            for node in walk(self.code)
            if (assignment := assigned(node)) is not None and assignment[1] in uses and uses[assignment[1]][1] > 1
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
            for index in range(len(code) - 1, -1, -1):
                step = step_of(code[index].text)
                target = step.trees[0] if step is not None and step.op == "=" else None
                if target is None or target not in uses or step is None:
                    continue
                lines = []
                for number, value in enumerate(_parts_of(step.trees[1])):
                    where = place(uses[target], number)
                    own = value.args[0] if where.op in integers and value.op == "as_float()" else value
                    lines.append(Node(f"{where} = {own};", code[index].places))
                code[index : index + 1] = lines
        change_lines(self.code, rule)
        words = {offset: "int" if f".at{offset}" in integers else c_type(kind) for offset, kind in fields.items()}
        parts = [(offset, fields[offset].size, word) for offset, word in sorted(words.items())]
        self.body.fields[structure] = fields_text(parts, size)

    def _is_stored_in_parts(
        self, use: tuple[DataType, int, Tree, int], uses: dict[Tree, tuple[DataType, int, Tree, int]]
    ) -> bool:
        """Return whether the lines with a vector all store values that are made there."""
        for step in steps_of(self.code):
            for number, tree in enumerate(step.trees):
                if any(uses.get(part) == use for part in tree.walk()):
                    is_new = step.op == "=" and number == 0 and step.trees[1].op[0] == "{"
                    if not is_new or any(reads_memory(part) for part in step.trees[1].args[1:]):
                        return False
        return True

    def _find_integers(
        self, whole: dict[str, tuple[DataType, int, Tree, int]], uses: dict[Tree, tuple[DataType, int, Tree, int]]
    ) -> set[str]:
        """Return the fields of floats that the lines use as integers alone."""
        asked: dict[str, set[bool]] = defaultdict(set)

        def note(use: tuple[DataType, int, Tree, int], number: int, *, is_integer: bool) -> None:
            asked[f".at{use[3] + number * use[0].size}"].add(is_integer and use[0] is ty.F)

        for tree in trees_of(self.code):
            for part in tree.args:
                if part.op[0] == "." and part.args[0].op in whole:
                    note(whole[part.args[0].op], "xyzw".index(part.op[1]), is_integer=tree.op == "as_int()")
        for step in steps_of(self.code):
            if step.op == "=" and step.trees[0] in uses:
                for number, value in enumerate(_parts_of(step.trees[1])):
                    note(uses[step.trees[0]], number, is_integer=value.op == "as_float()")
        return {name for name, answers in asked.items() if answers == {True}}

    # ---- halves


def _parts_of(value: Tree) -> tuple[Tree, ...]:
    """Return the components of a new vector; a value that is none is one component."""
    return value.args if value.op[0] == "{" else (value,)
