"""Names elements of memory where they are in place of copies: arrays that are filled at once, and rows of loaded variables."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import (
    Node,
    assigned,
    backwards,
    change_line,
    change_lines,
    count_of,
    lists_of,
    places_of,
    set_counts,
    set_form,
    set_in,
    setters,
    steps_of,
    trees_of,
    walk,
    word_counts,
    words_without_trees,
)
from visa_lsp.app.read.names import BY_NAME
from visa_lsp.app.read.plain_forms import add, split_constant
from visa_lsp.app.read.shape import stores
from visa_lsp.app.read.tree import COMPONENTS, NOTHING, Tree, form, in_place_of, leaf, number_of, step_of, uncast
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Collection

    from visa_lsp.app.read.code_lines import Body

_ARRAY: Final = re.compile(r"(\w+) \w+\[(\d+)\]")
_COPY: Final = re.compile(r"memcpy\((?P<name>\w+), &(?P<source>\w+)\[(?P<start>\d+)\], \d+\);")
_UPPER_LANES: Final = re.compile(r"if \(lane >= \d+\) (\w+) = \1 \+ (\d+);")
_MIN_ROW: Final = 8  # variables with elements in a row, which become elements again


def write_array_copies(body: Body) -> None:
    """Change the lines of a body in place."""
    for code in list(lists_of(body.code)):
        _index_by_row(body, code)
        for node in code[::-1]:
            _name_copy(body, code, node)
        _load_again(body, code)


def spread_components(body: Body) -> None:
    """Use the component of a vector instead of a variable with its value, where both are set once."""
    sets, uses = set_counts(body.code), word_counts(body.code)
    for code in lists_of(body.code):
        for node in list(code):
            name, value = assigned(node)
            vector = value.args[0].op if value.op in COMPONENTS and not value.args[0].args else ""
            are_known = name in body.kinds and vector in body.types and sets[name] == sets[vector] == 1
            if not are_known or body.type_name(vector).rstrip("234") != body.type_name(name):
                continue
            later = code[code.index(node) + 1 :]
            is_only_later = count_of(rf"\b{name}\b", later) == uses[name] - 1
            if is_only_later and vector not in set_in(later) and name not in words_without_trees(later):
                change_lines(later, in_place_of(leaf(name), value), node.places)
                code.remove(node)


def _index_by_row(body: Body, code: list[Node]) -> None:
    """Index an array by its row, where the offset of the upper lanes, which is less than a row, is added and divided away."""
    for node, move in list(pairwise(code)):
        offset = set_form(node, "T * N") or set_form(node, "T << N")
        name, hit = offset["TO"].op, _UPPER_LANES.fullmatch(move.text)
        number = number_of(offset["N"])
        if hit is None or hit[1] != name or number is None or body.uses(name) != 4 or offset["T"].args:
            continue
        row_bytes = number if assigned(node)[1].op == "*" else 1 << number
        use = next((line for line in code[code.index(move) + 1 :] if name in line.names), node)
        between = code[code.index(node) : code.index(use)]
        divided = Tree("/", (leaf(name), leaf(row_bytes)))
        row = _copied_row(body, code, offset["T"], use)
        if (
            int(hit[2]) < row_bytes
            and divided in set(trees_of([use]))
            and row.op not in set_in(between)
            and use.inner is None
        ):
            change_line(use, {divided: row}.get)
            use.places = places_of(node, move, use)
            code.remove(node)
            code.remove(move)


def _copied_row(body: Body, code: list[Node], row: Tree, use: Node) -> Tree:
    """Return the variable that a row is a copy of, if that does not change before the use; else the row."""
    sets = setters(body.code, row.op)
    value = assigned(sets[0])[1] if len(sets) == 1 and sets[0] in code else NOTHING
    source, kind = uncast(value), body.kinds.get(uncast(value).op)
    is_byte = (
        kind is ty.B and value.change(lambda part: part.args[0] if part.op == "(ushort)" else None).op == "(uchar)"
    )
    if source.args or (kind not in (ty.UB, ty.UW) and not is_byte):
        return row
    between = code[code.index(sets[0]) + 1 : code.index(use)]
    return row if source.op in set_in(between) else Tree("(uchar)", (source,)) if is_byte else source


def _name_copy(body: Body, code: list[Node], node: Node) -> None:
    """Write elements of memory, or the components of a vector, in place of the elements of an array that holds a copy."""
    copy = step_of(node.text).target if node.text.startswith("memcpy(") else NOTHING
    name = copy.args[0].op if copy.args else ""
    shape = _ARRAY.fullmatch(body.types.get(name, ""))
    if shape is None or len(setters(body.code, name)) != 1:
        return
    elements = {
        tree: number_of(tree.args[1]) for tree in trees_of(code) if tree.op == "[]" and tree.args[0] == leaf(name)
    }
    if None in elements.values():
        return
    if body.uses(name) != 1 + sum(tree in elements for tree in trees_of(code)):
        return
    size = (number_of(copy.args[2]) or 0) // BY_NAME[shape[1]].size
    vector = form("&V", copy.args[1])["V"]
    if (
        vector.op == ".x"
        and body.elements.get(vector.args[0].args[0].op) == f"{shape[1]}{size}"
        and size == int(shape[2])
    ):
        body.types[name] = f"{shape[1]}{size} {name}"
        node.text = f"{name} = {vector.args[0]};"
        change_lines(
            code, {tree: Tree(COMPONENTS[number or 0], (leaf(name),)) for tree, number in elements.items()}.get
        )
        return
    place = copy.args[1] if not copy.args[1].args else form("&A[I]", copy.args[1])["A"]
    index = form("&A[I]", copy.args[1])["I"] if copy.args[1].args else leaf(0)
    if body.elements.get(place.op) == shape[1] and _is_steady(code, node, name, index):
        code.remove(node)
        new = {tree: Tree("[]", (place, add(index, number or 0))) for tree, number in elements.items()}
        change_lines(body.code, new.get, node.places)


def _load_again(body: Body, code: list[Node]) -> None:
    """Write elements in a row in place of variables that hold them."""
    rows: dict[tuple[Tree, Tree], list[Node]] = defaultdict(list)
    for node in code:
        name, value = assigned(node)
        if value.op == "[]" and name in body.kinds and len(setters(body.code, name)) == 1:
            rest, _ = split_constant(value.args[1])
            rows[value.args[0], rest or NOTHING].append(node)
    for (_, rest), nodes in rows.items():
        if len(nodes) < _MIN_ROW or not all(_is_steady(code, node, node.assigns, rest) for node in nodes):
            continue
        for node in nodes:
            name, value = assigned(node)
            code.remove(node)
            change_lines(code, {leaf(name): value}.get, node.places)


def _is_steady(code: list[Node], node: Node, name: str, index: Tree) -> bool:
    """Return whether all uses of a copy are below it in the same list, and no line between changes memory or the index."""
    start = code.index(node)
    last = max((n for n in range(start + 1, len(code)) if name in code[n].names), default=start)
    between = code[start + 1 : last + 1]
    whole = sum(line.text.count(name) for line in walk(code) if line is not node)
    if whole != sum(line.text.count(name) for line in walk(between)) or index.names() & set_in(between):
        return False
    changes = [line for line in walk(between) if stores(line) and line.text != "} else {"]
    return not changes or (changes == [code[last]] and code[last].inner is None)


def read_constants(body: Body, constants: Collection[str]) -> None:
    """Read elements of arguments in constant memory where lines read those of a copy."""
    for code, index in backwards(body.code):
        hit = _COPY.fullmatch(code[index].text)
        word = body.elements.get(hit["source"], "") if hit is not None else ""
        if (
            hit is None
            or hit["source"] not in constants
            or not body.types.get(hit["name"], "").startswith(f"{word} {hit['name']}[")
        ):
            continue
        name, source, start = leaf(hit["name"]), leaf(hit["source"]), int(hit["start"])
        reads = [tree for tree in trees_of(body.code) if tree.op == "[]" and tree.args[0] == name]
        is_set = any(target in reads for step in steps_of(body.code) for target in step.targets)
        if is_set or len(reads) + 1 != body.uses(name.op):
            continue
        moved = {read: Tree("+", (read.args[1], leaf(start))) if start else read.args[1] for read in reads}
        change_lines(body.code, {read: Tree("[]", (source, place)) for read, place in moved.items()}.get)
        del code[index]
