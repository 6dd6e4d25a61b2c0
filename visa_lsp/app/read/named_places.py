"""Names places in memory by the fields of structures that they are."""

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
    change_lines,
    setters,
    steps_of,
    trees_of,
    walk,
    words_without_trees,
)
from visa_lsp.app.read.names import BY_NAME, RESERVED, c_type, fields_text
from visa_lsp.app.read.plain_forms import split_constant
from visa_lsp.app.read.shape import reads_memory
from visa_lsp.app.read.tree import COMPONENTS, Step, Tree, form, leaf, number_of, rewritten, step_of
from visa_lsp.isa import types as ty
from visa_lsp.program.elements import cl_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from visa_lsp.isa.types import DataType
    from visa_lsp.program.payload import Record, RecordField

_VECTOR: Final = re.compile(r"([a-z]+)([24])")  # three numbers lie four apart
_CL_VECTOR: Final = re.compile(r"([a-z]+)(\d+)")
_SAME_BITS: Final = {
    "as_float(as_int(X))": "X", "as_float(as_uint(X))": "X", "as_int(as_float((int)X))": "(int)X",
    "as_uint(as_float(as_float(X)))": "as_uint(as_float(X))", "as_int(as_float(X))": "(int)X", "as_uint(as_float(X))": "(uint)X",
}  # fmt: skip
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

    def run(self) -> None:
        """Change the lines in place."""
        for name, word in self.body.elements.items():
            if word.startswith("struct "):
                structure = word.removeprefix("struct ").strip()
                record = self.body.records.get(structure)
                if record is None or not self._name_record(name, structure, record):
                    self._name_fields(name, structure)
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

    def _find_uses(self, pointer: str) -> tuple[dict[Tree, _Use], int]:
        """Return the accesses of a pointer to a structure, and its size; 0 if they do not agree about it, or other lines name it."""
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
            owner = scaled["X"].args[0] if scaled["X"].op == "(long)" or self._is_wide(scaled["X"]) else scaled["X"]
            uses[tree] = _Use(kind, parts, owner, number * kind.size * parts)
            count += 1
            if rest is not None:
                steps.add((number_of(scaled["N"]) or 1) * kind.size * parts)
        is_whole = (
            len(steps) == 1 and count == every.count(leaf(pointer)) and pointer not in words_without_trees(self.code)
        )
        return uses, steps.pop() if is_whole else 0

    def _is_wide(self, tree: Tree) -> bool:
        """Return whether a value is an unsigned variable of 32 bits in 64."""
        return tree.op == "(ulong)" and self.body.kinds.get(tree.args[0].op) is ty.UD

    def _name_record(self, pointer: str, structure: str, record: Record) -> bool:
        """Write elements of a pointer to a structure that the source declares as its fields; return whether all are fields."""
        uses, size = self._find_uses(pointer)
        if size != record.size or not RESERVED.isdisjoint(one.name for one in record.fields):
            return False
        parts = dict(_parts_of_record(record))
        loads: dict[str, tuple[Node, _Use]] = {}
        for node in walk(self.code):
            name, value = assigned(node)
            if value in uses and uses[value].number > 1 and len(setters(self.code, name)) == 1:
                loads[name] = node, uses[value]
        split = {
            tree: tree.args[0].op for tree in trees_of(self.code) if tree.op in COMPONENTS and tree.args[0].op in loads
        }
        whole = [use for use in uses.values() if use.number > 1]
        counts = Counter(tree.args[0].op for tree in trees_of(self.code) if tree in split)
        if len(loads) != len(whole) or any(self.body.uses(name) != counts[name] + 1 for name in loads):
            return False
        accessed = [(byte, use.kind.size) for use in uses.values() for byte in use.bytes]
        if any(byte not in parts or parts[byte].kind.size != bytes_ for byte, bytes_ in accessed):
            return False
        new: dict[Tree, Tree] = {}  # components of a vector that is loaded -> variables for the fields
        for code, index in backwards(self.code):
            name = assigned(code[index])[0]
            if name not in loads or code[index] is not loads[name][0]:
                continue
            use, places = loads[name][1], code[index].places
            del code[index]
            for tree in dict.fromkeys(tree for tree, owner in split.items() if owner == name):
                number = "xyzw".index(tree.op[1])
                kind = parts[use.bytes[number]].kind
                variable = self.body.new(kind)
                new[tree] = _bits_as(leaf(variable), kind, use.kind)
                code.insert(index, Node(f"{variable} = {_place(pointer, use, number, parts)};", places))
        change_lines(self.code, new.get)
        for node in walk(self.code):
            step = step_of(node.text)
            if step.op == "=" and step.target in uses:
                use = uses[step.target]
                kind = parts[use.byte].kind
                value = step.value if use.kind.is_int and kind.is_int else _bits_as(step.value, use.kind, kind)
                node.text = str(Step(step.words, (_place(pointer, use, 0, parts), value)))
        change_lines(
            self.code, {tree: _read(pointer, use, 0, parts) for tree, use in uses.items() if use.number == 1}.get
        )
        change_lines(self.code, partial(rewritten, rules=_SAME_BITS))
        for node in walk(self.code):
            name, value = assigned(node)
            own, cast = self.body.kinds.get(name), BY_NAME.get(value.op[1:-1])
            if (
                own is not None
                and own.is_int
                and cast is not None
                and own.size == cast.size
                and value.args[0].op[0] == "."
            ):
                node.text = f"{name} = {value.args[0]};"
        own_fields = [(one.start, _bytes_of(one), one.type_name) for one in record.fields]
        names = {one.start: one.name + (f"[{one.count}]" if one.count else "") for one in record.fields}
        self.body.fields[structure] = fields_text(own_fields, size, names)
        return True

    def _name_fields(self, pointer: str, structure: str) -> None:
        """Write elements of a pointer to a structure as its fields, if all accesses agree about its size."""
        uses, size = self._find_uses(pointer)
        if not size:
            return
        fields: dict[int, DataType] = {}
        for use in uses.values():
            for byte in use.bytes:
                fields.setdefault(byte, use.kind)
        ordered = sorted(fields)
        if any(a + fields[a].size > b for a, b in zip(ordered, [*ordered[1:], size], strict=True)) or ordered[0] < 0:
            return
        if all(fields[byte].size == use.kind.size for use in uses.values() for byte in use.bytes):
            self._write_fields(pointer, structure, uses, fields, size)

    def _field(self, use: _Use, number: int) -> str:
        """Return the name of an element that is accessed."""
        return f".at{use.bytes[number]}"

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
        words = {offset: "int" if f".at{offset}" in integers else c_type(kind) for offset, kind in fields.items()}
        parts = [(offset, fields[offset].size, word) for offset, word in sorted(words.items())]
        self.body.fields[structure] = fields_text(parts, size)

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


class _Part(NamedTuple):
    """A number in a structure of the source: how it is written, and its type."""

    words: tuple[str, ...]
    kind: DataType


def _bytes_of(field: RecordField) -> int:
    """Return the bytes of a field in the prelude's types, in which a vector of three has three numbers."""
    vector = _CL_VECTOR.fullmatch(field.type_name)
    size = cl_bytes(vector[1]) * 3 if vector is not None and vector[2] == "3" else cl_bytes(field.type_name)
    return size * max(1, field.count)


def _parts_of_record(record: Record) -> Iterator[tuple[int, _Part]]:
    """Yield the numbers of a structure by their first byte; those of arrays are none, because an index may choose among them."""
    for field in record.fields:
        vector = _CL_VECTOR.fullmatch(field.type_name)
        word, count = (vector[1], int(vector[2])) if vector is not None else (field.type_name, 0)
        kind = BY_NAME.get(word)
        if kind is None or field.count or count > len("xyzw"):
            continue
        for number in range(max(1, count)):
            words = (f".{field.name}", f".{'xyzw'[number]}") if count else (f".{field.name}",)
            yield field.start + number * kind.size, _Part(words, kind)


def _place(pointer: str, use: _Use, number: int, parts: Mapping[int, _Part]) -> Tree:
    """Return the field that an access, or one of its numbers, is."""
    place = Tree("[]", (leaf(pointer), use.owner))
    for word in parts[use.bytes[number]].words:
        place = Tree(word, (place,))
    return place


def _read(pointer: str, use: _Use, number: int, parts: Mapping[int, _Part]) -> Tree:
    """Return the value of a field in the type of the access."""
    return _bits_as(_place(pointer, use, number, parts), parts[use.bytes[number]].kind, use.kind)


def _bits_as(value: Tree, kind: DataType, wanted: DataType) -> Tree:
    """Return a value of a type as another one of its size with the same bits."""
    if kind is wanted:
        return value
    word = c_type(wanted)
    return Tree(f"as_{word}()" if kind.is_float or wanted.is_float else f"({word})", (value,))


def _parts_of(value: Tree) -> tuple[Tree, ...]:
    """Return the components of a new vector; a value that is none is one component."""
    return value.args if value.op[0] == "{" else (value,)
