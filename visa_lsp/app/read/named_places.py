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
    lists_of,
    places_of,
    set_in,
    setters,
    steps_of,
    trees_of,
    walk,
    words_without_trees,
)
from visa_lsp.app.read.expressions import text_of
from visa_lsp.app.read.names import BY_NAME, RESERVED, c_type, fields_text
from visa_lsp.app.read.plain_forms import add, next_element, split_constant
from visa_lsp.app.read.shape import reads_memory
from visa_lsp.app.read.tree import (
    COMPONENTS,
    NOTHING,
    Parts,
    Step,
    Tree,
    form,
    leaf,
    number_of,
    rewritten,
    step_of,
    sum_of,
    terms,
)
from visa_lsp.isa import types as ty
from visa_lsp.program.elements import cl_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from visa_lsp.isa.types import DataType
    from visa_lsp.program.payload import Record, RecordField

_VECTOR: Final = re.compile(r"([a-z]+)([24])")  # three numbers lie four apart
_CL_VECTOR: Final = re.compile(r"([a-z]+)(\d+)")
INTEGER_BITS: Final = {"as_int(as_float(X))": "(int)X", "as_uint(as_float(X))": "(uint)X"}
_SAME_BITS: Final = {
    "as_float(as_int(X))": "X", "as_float(as_uint(X))": "X", "as_int(as_float((int)X))": "(int)X",
    "as_uint(as_float(as_float(X)))": "as_uint(as_float(X))",
} | INTEGER_BITS  # fmt: skip
_POINTER: Final = re.compile(r"\((\w+?)([234]?) \*\)")


class _Use(NamedTuple):
    """An access of elements of a structure: the pointer, their type and number, which structure, and the first byte in it.

    ``step`` are the bytes from one structure to the next; 0 where the index is constant.
    """

    pointer: str
    kind: DataType
    number: int
    owner: Tree
    byte: int
    step: int

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
        pointers = defaultdict[str, list[str]](list)  # to each structure
        for name, word in self.body.elements.items():
            if word.startswith("struct "):
                pointers[word.removeprefix("struct ").strip()].append(name)
            elif (vector := _VECTOR.fullmatch(word)) is not None:
                self._name_components(name, vector[1], int(vector[2]))
        for structure, names in pointers.items():
            if structure not in self.body.records:
                self._split_accesses(names)
            sizes = {name: size for name in names if (size := self._find_uses(name)[1])}
            record = self.body.records.get(structure)
            if record is not None and sizes and all(self._loads_of_record(name, record) is not None for name in sizes):
                for name in sizes:
                    self._name_record(name, structure, record)
            elif len(set(sizes.values())) == 1:
                self._name_fields(structure, list(sizes), *set(sizes.values()))

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

    def _split_accesses(self, pointers: Sequence[str]) -> None:
        """Store the numbers of vectors one by one in structures, and load two fields of 32 bits one by one."""
        for code, index in backwards(self.code):
            step = step_of(code[index].text)
            place = form("*Q", step.target)["Q"] if step.op == "=" else NOTHING
            shape = _POINTER.fullmatch(place.op)
            element = _element_of(place, pointers) if shape is not None else None
            count = int(shape[2] or 1) if shape is not None else 1
            if step.op == "=" and (vector := _vector_at(step.target, pointers)) is not None:
                element, _, count = vector
            if element is not None:
                self._split_store(code, index, count, element)
                continue
            name, value = assigned(code[index])
            if (
                value.op == "[]"
                and value.args[0].op in ("(ulong *)", "(long *)")
                and value.args[0].args[0].op in pointers
            ):
                self._split_pair(code, index, leaf(name), value)
            elif (vector := _vector_at(value, pointers)) is not None:
                self._split_vector(code, index, leaf(name), *vector)
        for code in lists_of(self.code):
            code[:] = [node for node in code if node.text]

    def _split_store(self, code: list[Node], index: int, count: int, element: Tree) -> None:
        """Store the components of a vector as the elements from one on."""
        value, places = step_of(code[index].text).value, code[index].places
        start = next((n for n in range(index - 1, -1, -1) if assigned(code[n])[0] == value.op), index)
        above, between = assigned(code[start])[1], code[start + 1 : index]
        is_own = above.op[0] == "{" and self.body.uses(value.op) == 2 and not any(map(reads_memory, above.args))
        if is_own and above.names().isdisjoint(set_in(between)):
            value, places, code[start].text = above, places_of(code[start], code[index]), ""
        values = value.args if value.op[0] == "{" else tuple([Tree(part, (value,)) for part in COMPONENTS[:count]])
        if (value.op[0] == "{" or not value.args) and not any(map(reads_memory, values[1:])):
            code[index : index + 1] = [
                Node(f"{next_element(element, number)} = {part};", places) for number, part in enumerate(values)
            ]

    def _split_pair(self, code: list[Node], index: int, name: Tree, value: Tree) -> None:
        """Load the halves of a variable as two, if lines name nothing else of it."""
        high = Tree(">>", (name, leaf(32)))
        halves = [Tree(word, (half,)) for half in (name, high) for word in ("(int)", "(uint)")]
        count = sum(tree in halves for tree in trees_of(self.code))
        rest, number = split_constant(value.args[1])
        scaled = form("X * N", rest) if rest is not None else Parts()
        if not scaled or count + 1 != self.body.uses(name.op) or len(setters(self.code, name.op)) != 1:
            return
        row = Tree("*", (scaled["X"], leaf(2 * (number_of(scaled["N"]) or 0))))
        array, places = Tree("(int *)", value.args[0].args), code[index].places
        new = (leaf(self.body.new(ty.D)), leaf(self.body.new(ty.D)))
        code[index : index + 1] = [
            _load(own, Tree("[]", (array, add(row, 2 * number + part))), ty.D, places) for part, own in enumerate(new)
        ]
        parts = (new[0], Tree("(uint)", new[:1]), new[1], Tree("(uint)", new[1:]))
        change_lines(self.code, dict(zip(halves, parts, strict=True)).get)

    def _split_vector(
        self, code: list[Node], index: int, name: Tree, element: Tree, kind: DataType, count: int
    ) -> None:
        """Load the components of a variable, from an element on, as several, if lines name nothing else of it."""
        names = [tree for tree in trees_of(self.code) if tree.op in COMPONENTS and tree.args == (name,)]
        if count not in (2, 4) or len(names) + 1 != self.body.uses(name.op) or len(setters(self.code, name.op)) != 1:
            return
        new = {tree: leaf(self.body.new(kind)) for tree in sorted(set(names), key=str)}
        code[index : index + 1] = [
            _load(own, next_element(element, COMPONENTS.index(tree.op)), kind, code[index].places)
            for tree, own in new.items()
        ]
        change_lines(self.code, new.get)

    def _find_uses(self, pointer: str) -> tuple[dict[Tree, _Use], int]:
        """Return the accesses of a pointer to a structure, and its size; 0 if they do not agree about it, or other lines name it."""
        every = list(trees_of(self.code))
        accesses = [(tree, use) for tree in every if (use := self._use_of(tree, (pointer,))) is not None]
        uses = dict(accesses)
        steps = {use.step for use in uses.values() if use.step}
        # Of the first structure alone: no index tells its size.
        if uses and not steps and all(use.byte >= 0 for use in uses.values()):
            steps = {max(use.byte + use.kind.size * use.number for use in uses.values())}
        is_whole = len(steps) == 1 and len(accesses) == every.count(leaf(pointer))
        return uses, steps.pop() if is_whole and pointer not in words_without_trees(self.code) else 0

    def _use_of(self, tree: Tree, pointers: Sequence[str]) -> _Use | None:
        """Return the access through one of some pointers that a tree is."""
        shape = _POINTER.fullmatch(tree.args[0].op) if tree.op == "[]" else None
        if shape is None or tree.args[0].args[0].op not in pointers or shape[1] not in BY_NAME:
            return None
        kind, parts = BY_NAME[shape[1]], int(shape[2] or 1)
        size = kind.size * parts
        rest, number = split_constant(tree.args[1])
        if rest is None:
            return _Use(tree.args[0].args[0].op, kind, parts, leaf(0), number * size, 0)
        owner, factor = _scaled(rest)
        owner = owner.args[0] if owner.op == "(long)" or self._is_wide(owner) else owner
        return _Use(tree.args[0].args[0].op, kind, parts, owner, number * size, factor * size)

    def _is_wide(self, tree: Tree) -> bool:
        """Return whether a value is an unsigned variable of 32 bits in 64."""
        return tree.op == "(ulong)" and self.body.kinds.get(tree.args[0].op) is ty.UD

    def _loads_of_record(self, pointer: str, record: Record) -> dict[str, tuple[Node, _Use]] | None:
        """Return the variables that take vectors of a pointer to a structure that the source declares, with their lines.

        None where an access is no field of it, or a vector is used as a whole.
        """
        uses, size = self._find_uses(pointer)
        if size != record.size or not RESERVED.isdisjoint(one.name for one in record.fields):
            return None
        parts = dict(_parts_of_record(record))
        loads: dict[str, tuple[Node, _Use]] = {}
        for node in walk(self.code):
            name, value = assigned(node)
            if value in uses and uses[value].number > 1 and len(setters(self.code, name)) == 1:
                loads[name] = node, uses[value]
        whole = [use for use in uses.values() if use.number > 1]
        counts = Counter(tree.args[0].op for tree in trees_of(self.code) if tree.op in COMPONENTS)
        if len(loads) != len(whole) or any(self.body.uses(name) != counts[name] + 1 for name in loads):
            return None
        accessed = [(byte, use.kind.size) for use in uses.values() for byte in use.bytes]
        return loads if all(byte in parts and parts[byte].kind.size == bytes_ for byte, bytes_ in accessed) else None

    def _name_record(self, pointer: str, structure: str, record: Record) -> None:
        """Write elements of a pointer to a structure that the source declares as its fields."""
        uses, parts, loads = (
            self._find_uses(pointer)[0],
            dict(_parts_of_record(record)),
            self._loads_of_record(pointer, record),
        )
        assert loads is not None
        split = {
            tree: tree.args[0].op for tree in trees_of(self.code) if tree.op in COMPONENTS and tree.args[0].op in loads
        }
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

        def read(tree: Tree) -> Tree | None:
            use = self._use_of(tree, (pointer,))
            return _read(pointer, use, 0, parts) if use is not None else None

        change_lines(self.code, read)
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
        self.body.fields[structure] = fields_text(own_fields, record.size, names)

    def _name_fields(self, structure: str, pointers: Sequence[str], size: int) -> None:
        """Write elements of pointers to a structure as its fields, if all accesses agree about their sizes."""
        uses = {tree: use for name in pointers for tree, use in self._find_uses(name)[0].items()}
        kinds: dict[int, DataType] = {}
        for use in uses.values():
            for byte in use.bytes:
                if byte not in kinds or use.kind.is_float:
                    kinds[byte] = use.kind
        ordered = sorted(kinds)
        if any(a + kinds[a].size > b for a, b in zip(ordered, [*ordered[1:], size], strict=True)) or ordered[0] < 0:
            return
        if any(kinds[byte].size != use.kind.size for use in uses.values() for byte in use.bytes):
            return
        if any(
            use.kind.size * use.number != size and use.number > 1 and not self._is_stored_in_parts(use, uses)
            for use in uses.values()
        ):
            return
        pairs = map(assigned, walk(self.code))
        whole = {name: uses[value] for name, value in pairs if value in uses and uses[value].number > 1}
        unanimous = self._find_kinds(whole, uses)
        kinds |= {byte: kind for byte, kind in unanimous.items() if kind.is_float != kinds[byte].is_float}
        for name in whole:
            self.body.types[name] = f"struct {structure} {name}"

        def rule(tree: Tree) -> Tree | None:
            if tree.op[0] == "." and tree.args and tree.args[0].op in whole:
                loaded, number = whole[tree.args[0].op], "xyzw".index(tree.op[1])
                byte = loaded.bytes[number]
                return _bits_as(Tree(f".at{byte}", tree.args), kinds[byte], loaded.kind)
            use = self._use_of(tree, pointers)
            if use is not None:
                element = Tree("[]", (leaf(use.pointer), use.owner))
                field = Tree(f".at{use.byte}", (element,))
                return element if use.number > 1 else _bits_as(field, kinds[use.byte], use.kind)
            if tree.op in ("as_int()", "as_float()") and (back := tree.args[0]).op in ("as_int()", "as_float()"):
                return back.args[0] if back.args[0].op.startswith(".at") else None
            return None

        for code, index in backwards(self.code):
            step = step_of(code[index].text)
            if step.op != "=" or step.target not in uses:
                continue
            use, lines = uses[step.target], []
            if use.number > 1 and (step.value in uses or step.value.op in whole):
                continue  # a whole structure
            for byte, value in zip(use.bytes, _parts_of(step.value, use.number), strict=True):
                own = value if use.kind.is_int and kinds[byte].is_int else _bits_as(value, use.kind, kinds[byte])
                own = rewritten(own, _SAME_BITS) or own
                lines.append(Node(f"{use.pointer}[{use.owner}].at{byte} = {own};", code[index].places))
            code[index : index + 1] = lines
        change_lines(self.code, rule)
        self.body.fields[structure] = fields_text([(at, kinds[at].size, c_type(kinds[at])) for at in ordered], size)

    def _is_stored_in_parts(self, use: _Use, uses: dict[Tree, _Use]) -> bool:
        """Return whether the lines with a vector all store values that are made there."""
        for step in steps_of(self.code):
            for number, tree in enumerate(step.trees):
                if any(uses.get(part) == use for part in tree.walk()):
                    is_new = step.op == "=" and number == 0 and step.value.op[0] == "{"
                    if not is_new or any(reads_memory(part) for part in step.value.args[1:]):
                        return False
        return True

    def _find_kinds(self, whole: dict[str, _Use], uses: dict[Tree, _Use]) -> dict[int, DataType]:
        """Return the types of fields of four bytes, by the first byte, that all lines use as integers, or all as floats."""
        answers: dict[int, set[DataType]] = defaultdict(set)

        def note(use: _Use, byte: int, word: str) -> None:
            """Add the type of a number: that of the access, or the other one where the lines convert its bits by ``word``."""
            if use.kind.size == ty.F.size:
                other = {"as_int()": ty.D, "as_float()": ty.F}.get(word)
                answers[byte].add(ty.F if (other or use.kind).is_float else ty.D)

        for tree in trees_of(self.code):
            for part in tree.args:
                if part.op[0] == "." and part.args[0].op in whole:
                    use = whole[part.args[0].op]
                    note(use, use.bytes["xyzw".index(part.op[1])], tree.op)
                elif part in uses and uses[part].number == 1:
                    note(uses[part], uses[part].byte, tree.op)
        for step in steps_of(self.code):
            if step.op == "=" and step.target in uses:
                use = uses[step.target]
                for byte, value in zip(use.bytes, _parts_of(step.value, use.number), strict=True):
                    note(use, byte, {"as_int()": "as_float()", "as_float()": "as_int()"}.get(value.op, ""))
        return {byte: said.pop() for byte, said in answers.items() if len(said) == 1}

    # ---- halves


def _scaled(index: Tree) -> tuple[Tree, int]:
    """Return what an index is a multiple of, and the factor, which all its terms have."""
    owners, factors = list[Tree](), set[int]()
    for term in terms(index):
        product, shifted = form("X * N", term), form("X << N", term)
        factor, bits = number_of(product["N"]) or 0, number_of(shifted["N"]) or 0
        owners.append(product["X"] if factor else shifted["X"] if bits else term)
        factors.add(factor or 1 << bits)
    return (sum_of(owners), factors.pop()) if len(factors) == 1 else (index, 1)


def _load(name: Tree, element: Tree, kind: DataType, places: tuple[int, ...]) -> Node:
    """Return the line that loads an element."""
    return Node(f"{name} = {element};", places, range=text_of(str(element), 10, kind))


def _vector_at(place: Tree, pointers: Sequence[str]) -> tuple[Tree, DataType, int] | None:
    """Return the first number of a vector that is a part of a structure, its type, and how many there are; None for another place."""
    shape = _POINTER.fullmatch(place.args[0].op) if place.op == "[]" else None
    if shape is None or shape[1] not in BY_NAME or not shape[2] or place.args[0].args[0].op not in pointers:
        return None
    rest, number = split_constant(place.args[1])
    scaled, count = form("X * N", rest) if rest is not None else Parts(), int(shape[2])
    index = Tree("*", (scaled["X"], leaf(count * (number_of(scaled["N"]) or 0))))
    element = Tree("[]", (Tree(f"({shape[1]} *)", place.args[0].args), add(index, count * number)))
    return (element, BY_NAME[shape[1]], count) if scaled else None


def _element_of(place: Tree, pointers: Sequence[str]) -> Tree | None:
    """Return the element of one of some pointers at which a vector is stored; None for another place."""
    element = form("&E", place.args[0])["E"]
    is_own = element.op == "[]" and element.args[0].args and element.args[0].args[0].op in pointers
    return element if is_own and place.op.startswith(element.args[0].op[:-3]) else None


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


def _parts_of(value: Tree, number: int) -> tuple[Tree, ...]:
    """Return so many components of a value."""
    if number == 1:
        return (value,)
    return value.args if value.op[0] == "{" else tuple([Tree(part, (value,)) for part in COMPONENTS[:number]])
