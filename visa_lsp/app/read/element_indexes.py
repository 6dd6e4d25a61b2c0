"""Writes offsets in bytes as indexes of elements.

Invariant: a value that is no sum of whole elements stays as it is.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.app.read.code_lines import assigned, change_line, change_lines, setters, setters_by_name, trees_of, walk
from visa_lsp.app.read.tree import Tree, form, in_place_of, leaf, number_of, step_of, uncast
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    from visa_lsp.app.read.code_lines import Body
    from visa_lsp.app.read.expressions import Text
    from visa_lsp.isa.types import DataType

_DIVISORS: Final = ("2", "4", "8", "16")
_SIZES: Final = (64, 32, 16, 8, 4, 2)


def divided(tree: Tree, size: int, variables: set[str], multiples: AbstractSet[str] = frozenset()) -> Tree | None:
    """Return a sum of multiples of a power of two, divided by it; None if it is none.

    One of the ``variables`` may be a multiple, each of the ``multiples`` is one.
    """
    number, factor = number_of(tree), factor_of(tree)
    if number is not None:
        return leaf(number // size) if number >= 0 and not number % size else None
    if factor is not None:
        value, count = factor
        if count % size:
            return None
        return value if count == size else Tree("*", (value, leaf(count // size)))
    if tree.op == "(ushort)" and 0 <= _most_of(tree.args[0]) < 1 << 16:
        return divided(tree.args[0], size, variables, multiples)
    if not tree.args and tree.op in variables | multiples:
        return Tree("/", (tree, leaf(size)))
    if tree.op == "&" and (mask := number_of(tree.args[1]) or -1) > 0 and not mask % size:
        left = divided(tree.args[0], size, set(), multiples) or _shifted(tree.args[0], size)
        return Tree("&", (left, leaf(mask // size))) if left is not None else None
    if tree.op == "|" and not _bits_of(tree.args[0]) & _bits_of(tree.args[1]):
        tree = Tree("+", tree.args)
    if tree.op not in ("+", "-") or len(tree.args) != 2:
        return None
    left = divided(tree.args[0], size, variables, multiples)
    rest = set[str]() if left is not None and left.names() & (variables - multiples) else variables
    right = divided(tree.args[1], size, rest, multiples)
    return Tree(tree.op, (left, right)) if left is not None and right is not None else None


def _shifted(tree: Tree, size: int) -> Tree | None:
    """Return a value that is shifted to the right, shifted further so that it is divided by a power of two."""
    hit = form("X >> N", tree)
    number = number_of(hit["N"])
    return Tree(">>", (hit["X"], leaf(number + size.bit_length() - 1))) if number is not None else None


def _bits_of(tree: Tree) -> int:
    """Return the bits that a value may have, as far as its form says; all for another one."""
    number = number_of(tree.args[1] if tree.op == "&" else tree)
    return number if number is not None and number >= 0 else -1


def _most_of(tree: Tree) -> int:
    """Return the greatest number that a masked value, or its product with a number, may be; -1 for another one."""
    factor = factor_of(tree)
    most = _bits_of(factor[0] if factor is not None else tree)
    return most * factor[1] if factor is not None and most >= 0 else most


def factor_of(tree: Tree) -> tuple[Tree, int] | None:
    """Return a value and the number that it is multiplied by."""
    for pattern in ("X << N", "X * N", "N * X"):
        hit = form(pattern, tree)
        number = number_of(hit["N"])
        if number is not None and number > 0:
            value, factor = factor_of(hit["X"]) or (hit["X"], 1)
            return value, factor * (1 << number % 32 if tree.op == "<<" else number)
    return None


def short_index(tree: Tree) -> Tree | None:
    """Write an index that was an offset in bytes without the factor; registers end long before 16 bits do."""
    if tree.op != "[]":
        return None
    return Tree("[]", (tree.args[0], tree.args[1].change(_without_factor)))


def _without_factor(tree: Tree) -> Tree | None:
    hit = form("X / N", tree)
    size = number_of(hit["N"])
    if not size:
        return None
    value = hit["X"].args[0] if hit["X"].op == "(ushort)" else hit["X"]
    index = divided(value, size, set()) if not value.op.isdecimal() else None
    if index is None or hit["X"].op != "(ushort)" or index.op != "(ushort)":
        return index
    return index.args[0] if not any(part.op.endswith("()") for part in index.walk()) else index


def find_multiples(body: Body, size: int) -> set[str]:
    """Return the integer variables all of whose values are multiples of a power of two."""
    values = {
        name: [step_of(node.text) for node in nodes]
        for name, nodes in setters_by_name(body.code).items()
        if (kind := body.kinds.get(name)) is not None and kind.is_int and kind.size >= ty.D.size
    }
    names = {name for name, steps in values.items() if all(step.op in ("=", "+=", "-=") for step in steps)}
    while odd := {
        name for name in names if any(divided(step.value, size, set(), names) is None for step in values[name])
    }:
        names -= odd
    return names


def index_of_term(
    term: Tree, size: int, multiples: AbstractSet[str], type_of: Callable[[Tree], DataType | None]
) -> Tree | None:
    """Return a term of 64 bits of an address, divided by the size of an element; None if it is no multiple."""
    if type_of(term) not in (ty.Q, ty.UQ):
        return None
    index = divided(term, size, set(), multiples) if size > 1 else term
    inner = index.args[0] if index is not None and index.op in ("(long)", "(ulong)") else None
    same = ty.D if index is not None and index.op == "(long)" else ty.UD
    return inner if inner is not None and type_of(inner) is same else index


def count_elements(body: Body) -> bool:
    """Let variables that are only used as `V / 4`, because they are offsets in bytes, count elements; return whether one does."""
    scales = _Scales(body)
    return bool(sum(scales.unscale(name) or scales.scale(name) for name in scales.divisors if name in body.types))


class _Scales:
    """Changes what the variables of a body count."""

    def __init__(self, body: Body) -> None:
        self.body, self.code = body, body.code
        self.multiples: dict[int, set[str]] = {}  # divisor -> the variables all of whose values are multiples
        self.divisors: defaultdict[str, list[int]] = defaultdict(list)  # that lines divide variables by
        self.arrays: defaultdict[str, set[str]] = defaultdict(set)  # that they index
        for tree in trees_of(self.code):
            if tree.op == "/" and tree.args[1].op in _DIVISORS and not tree.args[0].args:
                self.divisors[tree.args[0].op].append(int(tree.args[1].op))
            elif tree.op == "[]":
                arrays = {part.op for part in tree.args[0].walk()}
                for name in tree.args[1].names():
                    self.arrays[name] |= arrays

    def scale(self, name: str) -> bool:
        """Let a variable that is only used as `V / 4` count elements, if its values are multiples; return whether it does."""
        divisors, sets = self.divisors[name], setters(self.code, name)
        steps = [step for node in sets if (step := step_of(node.text)).op in ("=", "+=", "-=")]
        if not steps or len(steps) < len(sets) or self.body.uses(name) != len(divisors) + len(sets):
            return False
        least, others = min(divisors), set(self.body.types.keys() - {name})
        for size in _SIZES:
            values = [divided(step.value, size, set()) for step in steps]
            if None not in values and all(
                not number % least and not (size % number and number % size) for number in divisors
            ):
                break
        else:
            if least not in self.multiples:
                self.multiples[least] = find_multiples(self.body, least)
            size = least
            values = [divided(step.value, size, others, self.multiples[least]) for step in steps]
        if any(number % least for number in divisors) or any(
            value is None or name in value.names() for value in values
        ):
            return False
        for node, step, value in zip(sets, steps, values, strict=True):
            node.text, node.range = f"{name} {step.op} {value};", as_index(node.range)
        for divisor in set(divisors):
            factor = Tree("*", (leaf(name), leaf(size // divisor))) if size > divisor else leaf(name)
            new = factor if size >= divisor else Tree("/", (leaf(name), leaf(divisor // size)))
            change_lines(self.code, in_place_of(Tree("/", (leaf(name), leaf(divisor))), new))
        return True

    def unscale(self, name: str) -> bool:
        """Multiply where a variable is used, if it is the offset in bytes of a structure, or another variable times a number.

        Return whether it is.
        """
        divisors, sets = self.divisors[name], setters(self.code, name)
        value = assigned(sets[0])[1] if len(sets) == 1 else leaf("")
        source, factor = factor_of(value) or (leaf(""), 1)
        is_record = any(self.body.elements.get(array, "").startswith("struct") for array in self.arrays[name])
        is_multiple = len(sets) == 1 and not uncast(source).args and uncast(source).op in self.body.types
        if not (is_record or is_multiple) or any(not number or factor % number for number in divisors) or factor == 1:
            return False
        sets[0].text, sets[0].range = f"{name} = {source};", as_index(sets[0].range)
        product = Tree("*", (leaf(name), leaf(factor)))
        rules = {leaf(name): product}
        for number in set(divisors):
            parts = (leaf(name), leaf(factor // number))
            rules[Tree("/", (product, leaf(number)))] = Tree("*", parts) if factor > number else leaf(name)
        wide = Tree("(long)", (product,))
        if self.body.kinds.get(name) in (ty.Q, ty.UQ):
            rules[wide] = product  # of an address, which has 64 bits
        for node in walk(self.code):
            if node is not sets[0]:
                change_line(node, rules.get)
        return True


def as_index(value: Text | None) -> Text | None:
    """Return what is known of a value that becomes an index."""
    return None if value is None else replace(value, low=-(1 << 31), high=(1 << 31) - 1)
