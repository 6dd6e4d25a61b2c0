"""Names places in memory by the fields of structures that they are."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.app.read.code_lines import (
    Body,
    Node,
    assigned,
    backwards,
    change_lines,
    steps_of,
    trees_of,
    walk,
    words_without_trees,
)
from visa_lsp.app.read.names import BY_NAME, RESERVED, c_type, fields_text
from visa_lsp.app.read.plain_forms import split_constant
from visa_lsp.app.read.shape import reads_memory
from visa_lsp.app.read.tree import Tree, form, leaf, number_of, step_of
from visa_lsp.isa import types as ty
from visa_lsp.program.elements import cl_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from visa_lsp.isa.types import DataType

_VECTOR: Final = re.compile(r"([a-z]+)([24])")  # three numbers lie four apart
_POINTER: Final = re.compile(r"\((\w+?)([234]?) \*\)")


class _Use(NamedTuple):
    """An access of elements of a structure: their type and number, which structure, and the first byte in it."""

    kind: DataType
    number: int
    owner: Tree
    byte: int

    @property
    def bytes(self) -> list[int]:
        """The first byte of each element."""
        return [self.byte + number * self.kind.size for number in range(self.number)]


class Places:
    """Names the places in the lines of one body."""

    def __init__(self, body: Body) -> None:
        self.body, self.code = body, body.code
        self.names: Mapping[int, str] = {}  # of the fields of a structure, by their first byte

    def run(self) -> None:
        """Change the lines in place."""
        for name, word in self.body.elements.items():
            if word.startswith("struct "):
                self._name_fields(name, word.removeprefix("struct ").strip())
            elif (vector := _VECTOR.fullmatch(word)) is not None:
                self._name_components(name, vector[1], int(vector[2]))

    def _name_components(self, pointer: str, kind: str, count: int) -> None:
        """Write numbers in an array of vectors as components: ``q[i].y`` for ``((uchar *)q)[i * 4 + 1]``."""
        whole = Tree(f"({kind} *)", (leaf(pointer),))

        def rule(tree: Tree) -> Tree | None:
            if tree.op != "[]" or tree.args[0] != whole:
                return None
            rest, number = split_constant(tree.args[1])
            scaled = form("X * N", rest) if rest is not None else {"X": leaf(0), "N": leaf(count)}
            if scaled is None or number_of(scaled["N"]) != count or not 0 <= number < count:
                return None
            return Tree(f".{'xyzw'[number]}", (Tree("[]", (leaf(pointer), scaled["X"])),))

        change_lines(self.code, rule)

    def _name_fields(self, pointer: str, structure: str) -> None:
        """Write elements of a pointer to a structure as its fields, if all accesses agree about its size."""
        uses: dict[Tree, _Use] = {}
        every = list(trees_of(self.code))
        count, steps = 0, set[int]()
        for tree in every:
            shape = _POINTER.fullmatch(tree.args[0].op) if tree.op == "[]" else None
            if shape is None or tree.args[0].args[0] != leaf(pointer) or shape[1] not in BY_NAME:
                continue
            kind, parts = BY_NAME[shape[1]], int(shape[2] or 1)
            rest, number = split_constant(tree.args[1])
            owner = rest if rest is not None else leaf(0)
            scaled = form("X * N", owner) or {"X": owner, "N": leaf(1)}
            owner = scaled["X"].args[0] if scaled["X"].op == "(long)" else scaled["X"]
            uses[tree] = _Use(kind, parts, owner, number * kind.size * parts)
            count += 1
            if rest is not None:
                steps.add((number_of(scaled["N"]) or 1) * kind.size * parts)
        if len(steps) != 1 or count != every.count(leaf(pointer)) or pointer in words_without_trees(self.code):
            return
        (size,) = steps
        fields: dict[int, DataType] = {}
        for use in uses.values():
            for byte in use.bytes:
                fields.setdefault(byte, use.kind)
        ordered = sorted(fields)
        if any(a + fields[a].size > b for a, b in zip(ordered, [*ordered[1:], size], strict=True)) or ordered[0] < 0:
            return
        if all(fields[byte].size == use.kind.size for use in uses.values() for byte in use.bytes):
            record = self.body.records.get(structure)
            is_same = (
                record is not None
                and record.size == size
                and RESERVED.isdisjoint(one.name for one in record.fields)  # macros of the prelude
                and all(record.field_at(byte, kind.size) is not None for byte, kind in fields.items())
            )
            self.names = {one.start: one.name for one in record.fields} if record is not None and is_same else {}
            self._write_fields(pointer, structure, uses, fields, size)

    def _field(self, use: _Use, number: int) -> str:
        """Return the name of an element that is accessed."""
        return f".{self._name(use.bytes[number])}"

    def _name(self, byte: int) -> str:
        return self.names.get(byte, f"at{byte}")

    def _write_fields(
        self, pointer: str, structure: str, uses: dict[Tree, _Use], fields: dict[int, DataType], size: int
    ) -> None:
        if any(
            use.kind.size * use.number != size and use.number > 1 and not self._is_stored_in_parts(use, uses)
            for use in uses.values()
        ):
            return
        pairs = map(assigned, walk(self.code))
        whole = {name: uses[value] for name, value in pairs if value in uses and uses[value].number > 1}
        integers = self._find_integers(whole, uses)
        for name in whole:
            self.body.types[name] = f"struct {structure} {name}"

        def rule(tree: Tree) -> Tree | None:
            if tree.op[0] == "." and tree.args and tree.args[0].op in whole:
                return Tree(self._field(whole[tree.args[0].op], "xyzw".index(tree.op[1])), tree.args)
            if tree.op.startswith("as_int") and tree.args[0].op[0] == "." and tree.args[0].op in integers:
                return tree.args[0]
            if tree in uses:
                element = Tree("[]", (leaf(pointer), uses[tree].owner))
                return Tree(self._field(uses[tree], 0), (element,)) if uses[tree].number == 1 else element
            return None

        for code, index in backwards(self.code):
            step = step_of(code[index].text)
            if step.op != "=" or step.target not in uses:
                continue
            use, lines = uses[step.target], []
            for number, value in enumerate(_parts_of(step.value)):
                field = self._field(use, number)
                own = value.args[0] if field in integers and value.op == "as_float()" else value
                lines.append(Node(f"{pointer}[{use.owner}]{field} = {own};", code[index].places))
            code[index : index + 1] = lines
        change_lines(self.code, rule)
        words = {
            offset: "int" if f".{self._name(offset)}" in integers else c_type(kind) for offset, kind in fields.items()
        }
        lengths = {offset: kind.size for offset, kind in fields.items()}
        names = dict(self.names)
        for one in self.body.records[structure].fields if names else ():
            words.setdefault(one.start, one.type_name)
            lengths[one.start] = cl_bytes(one.type_name) * max(1, one.count)
            names[one.start] += f"[{one.count}]" if one.count else ""
        parts = [(offset, lengths[offset], word) for offset, word in sorted(words.items())]
        self.body.fields[structure] = fields_text(parts, size, names)

    def _is_stored_in_parts(self, use: _Use, uses: dict[Tree, _Use]) -> bool:
        """Return whether the lines with a vector all store values that are made there."""
        for step in steps_of(self.code):
            for number, tree in enumerate(step.trees):
                if any(uses.get(part) == use for part in tree.walk()):
                    is_new = step.op == "=" and number == 0 and step.value.op[0] == "{"
                    if not is_new or any(reads_memory(part) for part in step.value.args[1:]):
                        return False
        return True

    def _find_integers(self, whole: dict[str, _Use], uses: dict[Tree, _Use]) -> set[str]:
        """Return the fields of floats that the lines use as integers alone."""
        asked: dict[str, set[bool]] = defaultdict(set)
        for tree in trees_of(self.code):
            for part in tree.args:
                if part.op[0] == "." and part.args[0].op in whole:
                    use = whole[part.args[0].op]
                    asked[self._field(use, "xyzw".index(part.op[1]))].add(use.kind is ty.F and tree.op == "as_int()")
        for step in steps_of(self.code):
            if step.op == "=" and step.target in uses:
                use = uses[step.target]
                for number, value in enumerate(_parts_of(step.value)):
                    asked[self._field(use, number)].add(use.kind is ty.F and value.op == "as_float()")
        return {name for name, answers in asked.items() if answers == {True}}

    # ---- halves


def _parts_of(value: Tree) -> tuple[Tree, ...]:
    """Return the components of a new vector; a value that is none is one component."""
    return value.args if value.op[0] == "{" else (value,)
