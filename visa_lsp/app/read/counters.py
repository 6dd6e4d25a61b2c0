"""Writes counters of loops as they are: without casts, because they are never negative, and without copies in 64 bits."""

from __future__ import annotations

import re
from functools import partial
from math import gcd
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import (
    Body,
    assigned,
    backwards,
    change_lines,
    lists_of,
    setters,
    setters_by_name,
    texts_of,
    trees_of,
    walk,
)
from visa_lsp.app.read.plain_forms import add, split_constant
from visa_lsp.app.read.tree import (
    NOTHING,
    SETS,
    WIDE,
    Tree,
    form,
    in_place_of,
    leaf,
    number_of,
    parse,
    step_of,
    sum_of,
    terms,
)
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.app.read.code_lines import Node
    from visa_lsp.isa.types import DataType

_HEAD: Final = re.compile(r"for \((\w+) = \d+; \1 < (.+); \1\+\+\) \{")


def add_low_bits(body: Body) -> None:
    """Write ``k + 1`` in place of ``k | 1`` where ``k`` is a multiple of 2, or of a higher power of 2."""
    for code in list(lists_of(body.code)):
        for index, node in enumerate(code):
            name, value = assigned(node)
            start = number_of(value)
            if start is None or name not in body.kinds:
                continue
            end = next((n for n in range(index + 1, len(code)) if setters([code[n]], name)), len(code))
            between = code[index + 1 : end + 1]
            if not any(text.endswith(":;") for text in texts_of(between)):
                step = _least_step(setters(code[end : end + 1], name), name, start)
                change_lines(between, partial(_added, name, step & -step))


def _added(name: str, least: int, tree: Tree) -> Tree | None:
    number = number_of(tree.args[1]) if tree.op == "|" and tree.args[0] == leaf(name) else None
    return Tree("+", tree.args) if number is not None and 0 < number < least else None


def _least_step(nodes: Sequence[Node], name: str, step: int) -> int:
    """Return what divides a number and all that lines give a variable, or add to it; 1 where a line does something else."""
    for node in nodes:
        line = step_of(node.text)
        for index, target in enumerate(line.trees):
            if target != leaf(name) or not SETS.fullmatch(line.words[index + 1]):
                continue
            word, value = line.words[index + 1].strip(" ;){"), (*line.trees, NOTHING)[index + 1]
            moved = form("X + N", value, X=target)["N"]
            number = number_of(moved if word == "=" and moved is not NOTHING else value)
            step = gcd(step, number) if number is not None and word in ("=", "+=") else 1
    return step


def use_counters(body: Body, type_of: Callable[[Tree], DataType | None]) -> None:
    """Change the lines in place."""
    sets = setters_by_name(body.code)
    hits = [(node, hit) for node in walk(body.code) if (hit := _HEAD.fullmatch(node.text)) is not None]
    loops = {
        hit[1]: node
        for node, hit in hits
        if body.kinds.get(hit[1]) is ty.D and len(sets[hit[1]]) == 1 and type_of(parse(hit[2])) is ty.D
    }

    def without_sign(tree: Tree) -> Tree | None:
        inner = tree.args[-1] if tree.op in (*WIDE, "[]") else tree
        is_counter = inner is not tree and inner.op == "(uint)" and inner.args[0].op in loops
        return Tree(tree.op, (*tree.args[:-1], *inner.args)) if is_counter else None

    change_lines(body.code, without_sign)
    for code, index in backwards(body.code):
        name, value = assigned(code[index])
        rest = code[index + 1 :]
        loop = loops.get(value.args[0].op) if value.op in WIDE else None
        if loop is None or len(sets[name]) != 1 or any(node is loop for node in walk(rest)):
            continue
        if body.uses(name) == 1 + sum(tree == leaf(name) for tree in trees_of(rest)):
            change_lines(rest, in_place_of(leaf(name), value), code[index].places)
            del code[index]

    def in_index(tree: Tree) -> Tree | None:
        rest, last = split_constant(tree.args[1]) if tree.op == "[]" else (None, 0)
        parts = terms(rest) if rest is not None else []
        number = next((n for n, part in enumerate(parts) if part.op in WIDE and part.args[0].op in loops), None)
        others = (part for part in parts if number is None or part is not parts[number])
        if number is None or last > 1 or any(type_of(part) not in (ty.Q, ty.UQ) for part in others):
            return None  # a sum of 32 bits may wrap
        whole = sum_of([*parts[:number], parts[number].args[0], *parts[number + 1 :]])
        return Tree("[]", (tree.args[0], add(whole, last)))

    change_lines(body.code, in_index)
