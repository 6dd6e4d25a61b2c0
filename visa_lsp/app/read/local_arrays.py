"""Writes accesses of shared local memory as elements of the arrays that the kernel declares: ``tile[y][x]``.

Compilers add the start of an array to an index anywhere, so that the array of an access is known only when its index is
complete. Knows lines and arrays. Invariant: an access keeps its address; an array of several dimensions has one
index in all accesses, unless all of them can have several.
"""

from __future__ import annotations

from itertools import permutations
from math import prod
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import (
    assigned,
    change_lines,
    count_of,
    lists_of,
    set_counts,
    setters,
    steps_of,
    trees_of,
    walk,
    word_counts,
    words_without_trees,
)
from visa_lsp.app.read.element_indexes import divided, factor_of
from visa_lsp.app.read.fold import SHARED_TAG
from visa_lsp.app.read.names import BY_NAME, type_named
from visa_lsp.app.read.tree import (
    NOTHING,
    WORDS,
    Step,
    Tree,
    form,
    in_place_of,
    leaf,
    number_of,
    step_of,
    sum_of,
    terms,
)
from visa_lsp.program.elements import cl_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from visa_lsp.app.read.code_lines import Body, Node
    from visa_lsp.app.read.names import NamedArray


_OFFSET: Final = "slm_offset()"
_INTEGERS: Final = ("int", "uint")
_MAX_STEPS: Final = 3  # sums of sums
_BEFORE: Final = 3  # elements before an array in the index of one of its own, as of a stencil


def write_local_arrays(code: list[Node], arrays: Sequence[NamedArray]) -> frozenset[str]:
    """Change the accesses in place; return the arrays that have as many indexes as dimensions."""
    if not arrays:
        return frozenset()
    by_name = {array.pointer.name: array for array in arrays}
    change_lines(code, lambda tree: _own_element(tree, by_name))
    trees, words, sums = list(trees_of(code)), words_without_trees(code), _sums(code)
    shapes: dict[str, tuple[int, ...]] = {}
    for name, array in by_name.items():
        accesses = [tree for tree in trees if tree.op == "[]" and tree.args[0] == leaf(name)]
        indexes = [_split(access.args[1], array.shape, sums) for access in accesses]
        is_whole = name in words or trees.count(leaf(name)) != len(accesses)
        if len(array.shape) > 1 and accesses and not is_whole and all(i is not None and _has_row(i) for i in indexes):
            shapes[name] = array.shape
    change_lines(code, lambda tree: _with_rows(tree, shapes, sums))
    uses = word_counts(code)
    unused = {name for name in sums if uses[name] == 1}
    for lines in lists_of(code) if shapes else ():
        lines[:] = [node for node in lines if node.inner is not None or node.assigns not in unused]
    return frozenset(shapes)


def write_local_arguments(body: Body) -> None:
    """Write places in shared local memory, by the offset of an argument in it, as elements of that argument."""
    counts = set_counts(body.code)
    values = {
        name: value
        for name, value in map(assigned, walk(body.code))
        if counts[name] == 1
        and value.op in ("+", "-", "*", "<<", _OFFSET)
        and all(counts[n] < 2 for n in value.names())
    }

    def rule(tree: Tree) -> Tree | None:
        access = form("*P", tree)["P"] if tree.op == "u*" else tree.args[0] if tree.op == "[]" else NOTHING
        word = access.op[1:-3] if access.op.endswith(" *)") else body.elements.get(access.op, "")
        kind = BY_NAME.get(word)
        parts = terms(access.args[0]) if tree.op == "u*" and access.args else []
        address = sum_of(parts[1:]) if len(parts) > 1 and parts[0] == leaf("slm") else NOTHING
        if tree.op == "[]" and kind is not None and (access.args[0] if access.args else access).op in body.elements:
            address = tree.args[1] if kind.size == 1 else Tree("*", (tree.args[1], leaf(kind.size)))
        if kind is None or address == NOTHING:
            return None
        whole = address
        for _ in range(_MAX_STEPS):
            whole = whole.put(values)
        starts = [part for part in terms(_plain(whole)) if part.op == _OFFSET]
        own = starts[0].args[0] if len(starts) == 1 else NOTHING
        own_word = body.elements.get(own.op, "")
        is_signed_otherwise = own_word != word and own_word.removeprefix("u") == word.removeprefix("u")
        if own_word != word and not is_signed_otherwise:
            return None
        rest = [part for part in terms(_plain(whole)) if part != starts[0]]
        whole = sum_of(rest) if rest else leaf(0)
        if kind.size > 1 and rest:  # places of numbers are multiples of their size
            variables = {part.op for part in rest if not part.args}
            whole = divided(whole, kind.size, variables) or Tree("/", (whole, leaf(kind.size)))
        element = Tree("[]", (own, whole))
        return Tree(f"({word})", (element,)) if is_signed_otherwise else element

    for node in walk(body.code):
        step = step_of(node.text)
        hit = form("*P", step.target)["P"] if step.op == "=" else NOTHING
        if (
            hit.op == "(float *)"
            and step.value.op == "as_float()"
            and body.type_name(step.value.args[0].op) in _INTEGERS
        ):
            node.text = str(Step(step.words, (Tree("u*", (Tree("(int *)", hit.args),)), *step.value.args)))
    change_lines(body.code, rule)
    for node in walk(body.code):
        step = step_of(node.text)
        if step.target.op[1:-1] in _INTEGERS and step.op in ("=", "+=", "-=", "++", "--"):
            node.text = str(Step(step.words, (*step.target.args, *step.trees[1:])))


def _plain(tree: Tree) -> Tree:
    """Return a sum without the casts of its parts to integers of 32 bits."""
    if tree.op in WORDS and tree.args[0].op in ("+", "-", *WORDS, _OFFSET):
        return _plain(tree.args[0])
    return Tree(tree.op, tuple(map(_plain, tree.args))) if tree.op in ("+", "-") else tree


def _has_row(index: Sequence[Tree]) -> bool:
    """Return whether a place has a row of its own, so that what is added to it is a column."""
    return any(number_of(part) is None for part in index[:-1]) or number_of(index[-1]) is not None


def _sums(code: list[Node]) -> dict[str, Tree]:
    """Return the variables that are a sum of values which do not change, with the sum."""
    sets = set_counts(code)
    return {
        name: value
        for name, value in map(assigned, walk(code))
        if sets[name] == 1 and value.op in ("+", "-", "*", "<<") and all(sets[other] <= 1 for other in value.names())
    }


def drop_tags(code: list[Node], pointers: Collection[str]) -> None:
    """Take the tag of shared local memory out of variables with addresses there, or out of their uses if they have others.

    ``pointers`` are the names of arrays there.
    """
    for place in _places_in(code, pointers):
        change_lines(code, in_place_of(place, place.change(_untagged)))
    for node in walk(code):
        name, value = assigned(node)
        rest = _untagged(value)
        if rest is None:
            continue
        inside = sum(part == leaf(name) for place in _places_in(code, pointers) for part in place.walk())
        if len(setters(code, name)) == 1 and inside == count_of(rf"\b{name}\b", code) - 1:
            node.text, node.range = f"{name} = {rest};", None
            continue
        masked = Tree("&", (leaf(name), leaf(hex(SHARED_TAG - 1))))
        for place in dict.fromkeys(_places_in(code, pointers)):
            change_lines(code, in_place_of(place, place.change(in_place_of(leaf(name), masked))))


def _untagged(tree: Tree) -> Tree | None:
    """Return an address without the tag; None for another value."""
    for value, tag in permutations(tree.args) if tree.op in ("|", "+") and len(tree.args) == 2 else ():
        number = number_of(tag)
        if number is not None and number & ~(SHARED_TAG - 1) == SHARED_TAG:
            return value if number == SHARED_TAG else Tree(tree.op, (value, leaf(number - SHARED_TAG)))
    return None


def _places_in(code: list[Node], pointers: Collection[str]) -> list[Tree]:
    """Return the places in shared local memory of all lines."""
    return [place for step in steps_of(code) for tree in step.trees for place in _places(tree, pointers)]


def _places(tree: Tree, pointers: Collection[str]) -> Iterator[Tree]:
    """Yield the places in shared local memory in a tree, not those inside of others."""
    if (tree.op == "[]" and tree.args[0].names() & {*pointers}) or (tree.op == "u*" and "slm" in tree.names()):
        yield tree
    else:
        for arg in tree.args:
            yield from _places(arg, pointers)


def owner_of(arrays: Sequence[NamedArray], start: int, *, has_terms: bool, is_falling: bool) -> NamedArray | None:
    """Return the array of an address: a byte, the number in a sum, to which terms are added or, if it falls, taken away.

    A sum that begins a little before an array belongs to that: ``t[x - 1]``. None behind all arrays.
    """
    for array in arrays:
        before = array.item_bytes * (1 + (array.shape[-1] if len(array.shape) > 1 else _BEFORE))
        if has_terms and not is_falling and array.start - before <= start < array.start:
            return array
    return next((array for array in arrays if start < array.end), None)


def _own_element(tree: Tree, arrays: dict[str, NamedArray]) -> Tree | None:
    """Return an element behind the end of an array as one of the array that lies there."""
    if tree.op != "[]" or not (names := tree.args[0].names() & arrays.keys()):
        return None
    base, array = tree.args[0], arrays[names.pop()]
    element = array.pointer.element if not base.args else base.op.strip("( *)")
    size = cl_bytes(element) or type_named(element).size
    summands = list(_summands(tree.args[1]))
    start = array.start + sum(number for value, number in summands if value is None) * size
    is_falling = any(number < 0 for value, number in summands if value is not None)
    own = owner_of(tuple(arrays.values()), start, has_terms=len(summands) > 1, is_falling=is_falling)
    number, rest = divmod(start - own.start, size) if own is not None else (0, 0)
    if own is None or own is array or rest:
        return None
    name = leaf(own.pointer.name)
    place = name if element == own.pointer.element else Tree(f"({element} *)", (name,))
    return Tree("[]", (place, _sum([summand for summand in summands if summand[0] is not None], number)))


def _with_rows(tree: Tree, shapes: Mapping[str, Sequence[int]], sums: Mapping[str, Tree]) -> Tree | None:
    if tree.op != "[]" or tree.args[0].op not in shapes:
        return None
    place = tree.args[0]
    for index in _split(tree.args[1], shapes[place.op], sums) or ():
        place = Tree("[]", (place, index))
    return place if place is not tree.args[0] else None


def _split(index: Tree, shape: Sequence[int], sums: Mapping[str, Tree]) -> list[Tree] | None:
    """Return an index for each dimension; None if the sum does not say which one a summand belongs to.

    ``sums`` are values of variables, which take part if they have a row in them.
    """
    row = prod(shape[1:])
    with_rows = {
        name: value
        for name, value in sums.items()
        if any(summand is not None and factor % row == 0 for summand, factor in _summands(value))
    }
    rest = list(_summands(index.put(with_rows)))
    indexes: list[Tree] = []
    for axis in range(len(shape)):
        pitch = prod(shape[axis + 1 :])
        own = [(value, factor // pitch) for value, factor in rest if value is not None and factor % pitch == 0]
        rest = [(value, factor) for value, factor in rest if value is None or factor % pitch]
        number = sum(factor for value, factor in rest if value is None)
        is_last = axis == len(shape) - 1
        # The last number of a row is one before the next, as in a stencil; a number alone is one of the row.
        is_alone = all(value is None for value, _ in rest)
        whole = number if is_last else number // pitch if is_alone else (number + 1) // pitch
        rest = [(value, factor) for value, factor in rest if value is not None] + [(None, number - whole * pitch)]
        if not is_last and any(abs(factor) > pitch for value, factor in rest if value is not None):
            return None
        indexes.append(_sum(own, whole))
    return indexes


def _summands(tree: Tree, sign: int = 1) -> Iterator[tuple[Tree | None, int]]:
    """Yield the summands of an index with their factors; the number itself for None."""
    number = number_of(tree)
    if number is not None:
        yield None, number * sign
    elif tree.op in ("+", "-") and len(tree.args) == 2:
        yield from _summands(tree.args[0], sign)
        yield from _summands(tree.args[1], sign if tree.op == "+" else -sign)
    else:
        value, factor = factor_of(tree) or (tree, 1)
        inner = list(_summands(value, sign * factor)) if value is not tree and value.op in ("+", "-") else []
        yield from inner or [(value, sign * factor)]


def _sum(summands: Sequence[tuple[Tree | None, int]], number: int) -> Tree:
    """Return a sum of values times factors, and a number."""
    whole: Tree | None = None
    for value, factor in sorted(summands, key=lambda one: one[1] < 0):
        assert value is not None
        term = value if abs(factor) == 1 else Tree("*", (value, leaf(abs(factor))))
        if whole is None:
            whole = term if factor > 0 else Tree("u-", (term,))
        else:
            whole = Tree("+" if factor > 0 else "-", (whole, term))
    if whole is None or not number:
        return whole or leaf(number)
    return Tree("+" if number > 0 else "-", (whole, leaf(abs(number))))
