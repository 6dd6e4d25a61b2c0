"""Finds `switch` in trees of comparisons of one number with constants, in lines of C."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.app.read.code_lines import Node, chain_of, condition_of
from visa_lsp.app.read.shape import COMPARE
from visa_lsp.app.read.tree import NOTHING, number_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MIN_CASES: Final = 3


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
    tree = condition_of(node.text) if "if (" in node.text and node.inner is not None else NOTHING
    number = number_of(tree.args[1]) if tree.op in COMPARE else None
    if number is None:
        return None
    is_unsigned = tree.args[0].op in ("(uint)", "(uchar)", "(ushort)")
    left = tree.args[0].args[0] if is_unsigned else tree.args[0]
    return Test(left.op, tree.op, number, is_unsigned) if not left.args else None


def find_cases(code: list[Node], index: int, low: int, high: int) -> tuple[str, list[Branch], int] | None:
    """Return the variable that a chain of `if` compares, the lines for each of its values, and the end of the chain."""
    test, chain = test_of(code[index]), chain_of(code, index)
    if test is None or code[index].continues:
        return None
    branches = list(_split(chain, test.name, Branch(low, high, ())))
    return None if any(branch.low > branch.high for branch in branches) else (test.name, branches, index + len(chain))


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
            yield from _split(inner, name, branch) if nested else [branch._replace(code=inner)]
    yield from rest


def _cut(branch: Branch, number: int) -> list[Branch]:
    parts = (
        (branch.low, min(branch.high, number - 1)),
        (max(branch.low, number), min(branch.high, number)),
        (max(branch.low, number + 1), branch.high),
    )
    return [Branch(low, high, ()) for low, high in parts if low <= high]
