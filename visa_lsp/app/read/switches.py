"""Finds `switch` in trees of comparisons of one number with constants, in lines of C."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.app.read.code_lines import Node
from visa_lsp.app.read.shape import COMPARE, assigned, condition_of
from visa_lsp.app.read.tree import form, leaf, number_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MIN_CASES: Final = 3
_CHOICES: Final = ("(X == N) ? YES : NO", "YES & -(X == N)")


class Branch(NamedTuple):
    """The numbers from ``low`` to ``high``, and the lines for them."""

    low: int
    high: int
    code: Sequence[Node]


class Test(NamedTuple):
    """A comparison of a variable, maybe as an unsigned integer, with a number."""

    name: str
    relation: str
    number: int
    is_unsigned: bool


def test_of(node: Node) -> Test | None:
    """Return the comparison that a line of an `if` makes; None for another line."""
    tree = condition_of(node.text) if "if (" in node.text and node.inner is not None else None
    number = number_of(tree.args[1]) if tree is not None and tree.op in COMPARE else None
    if tree is None or number is None:
        return None
    left, is_unsigned = (
        (tree.args[0].args[0], True) if tree.args[0].op in ("(uint)", "(uchar)", "(ushort)") else (tree.args[0], False)
    )
    return Test(left.op, tree.op, number, is_unsigned) if not left.args else None


def find_cases(code: Sequence[Node], index: int, low: int, high: int) -> tuple[str, list[Branch], int] | None:
    """Return the variable that a chain of `if` compares, the lines for each of its values, and the end of the chain."""
    test = test_of(code[index])
    if test is None or code[index].continues:
        return None
    end = index + 1
    while end < len(code) and code[end].continues:
        end += 1
    branches = list(_split(code[index:end], test.name, Branch(low, high, ())))
    return None if any(branch.low > branch.high for branch in branches) else (test.name, branches, end)


def _split(chain: Sequence[Node], name: str, whole: Branch) -> Iterator[Branch]:
    """Yield the branches of a chain for some numbers; one of no number where a condition is of another form."""
    rest = [whole]
    for node in chain:
        test = test_of(node)
        if node.text == "} else {":
            taken, rest = rest, []
        elif test is None or test.name != name or (test.is_unsigned and (whole.low < 0 or test.number < 0)):
            yield Branch(1, 0, ())
            return
        else:
            pieces = [piece for branch in rest for piece in _cut(branch, test.number)]
            taken = [branch for branch in pieces if COMPARE[test.relation](branch.low, test.number)]
            rest = [branch for branch in pieces if branch not in taken]
        inner = node.inner or []
        inner_test = test_of(inner[0]) if inner else None
        nested = inner_test is not None and inner_test.name == name and all(branch.continues for branch in inner[1:])
        for branch in taken:
            yield from _split(inner, name, branch) if nested else _choices(inner, name, branch)
    yield from rest


def _choices(code: Sequence[Node], name: str, whole: Branch) -> Iterator[Branch]:
    """Yield the branches of an assignment that chooses by one more comparison; else one for all numbers."""
    pair = assigned(code[0]) if len(code) == 1 else None
    hits = [form(pattern, pair[1], X=leaf(name)) for pattern in _CHOICES] if pair is not None else []
    hit = next((branch for branch in hits if branch is not None and number_of(branch["N"]) is not None), None)
    if pair is None or hit is None:
        yield Branch(whole.low, whole.high, code)
        return
    number = number_of(hit["N"]) or 0
    for branch in _cut(whole, number):
        value = hit["YES"] if branch.low == branch.high == number else hit.get("NO", leaf(0))
        yield Branch(branch.low, branch.high, [Node(f"{pair[0]} = {value};", code[0].places)])


def _cut(branch: Branch, number: int) -> list[Branch]:
    parts = (
        (branch.low, min(branch.high, number - 1)),
        (max(branch.low, number), min(branch.high, number)),
        (max(branch.low, number + 1), branch.high),
    )
    return [Branch(low, high, ()) for low, high in parts if low <= high]
