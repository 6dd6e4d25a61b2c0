"""Compares numbers of 64 bits as such, which compilers compare by their halves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.tree import NOTHING, WORDS, Tree, form, leaf, number_of
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.isa.types import DataType

_ENDS: Final = {">=": "!=", "<": "=="}  # of an upper half and 1 -> with 0


def compare_whole(tree: Tree, type_of: Callable[[Tree], DataType | None]) -> Tree | None:
    """Return a comparison of both halves, of variables, as one of the wholes; None for another tree."""
    if tree.op in _ENDS and number_of(tree.args[1]) == 1 and tree.args[0].op == "(uint)":
        whole = _upper_of(tree.args[0], type_of)
        return Tree(_ENDS[tree.op], (tree.args[0].args[0], leaf("0"))) if whole is not None else None
    if tree.op not in ("&&", "||"):
        return None
    upper, lower = tree.args
    if tree.op == "||" and upper.op in ("<", ">") and lower.op == "&&":
        equal, lower = lower.args
        is_same = equal.op == "==" and {*map(_bare, equal.args)} == {*map(_bare, upper.args)}
        if not is_same or lower.op not in (upper.op, f"{upper.op}="):
            return None
    elif upper.op != lower.op or upper.op != {"&&": "==", "||": "!="}[tree.op]:
        is_below = tree.op == "&&" and upper.op == "==" and number_of(upper.args[1]) == 0 and lower.op in ("<", "<=")
        if not is_below:
            return None
    is_order = lower.op not in ("==", "!=")
    is_signed = is_order and all(arg.op == "(int)" for arg in upper.args)
    is_mixed = not is_signed and upper.op not in ("==", "!=") and any(arg.op == "(int)" for arg in upper.args)
    if is_mixed or (is_order and any(arg.op == "(int)" for arg in lower.args)):
        return None
    values = [_whole(high, low, type_of) for high, low in zip(upper.args, lower.args, strict=True)]
    if None in values or all(number_of(arg) == 0 for arg in upper.args):
        return None
    return Tree(lower.op, tuple(_with_sign(value or NOTHING, type_of, is_signed=is_signed) for value in values))


def _bare(tree: Tree) -> Tree:
    return tree.args[0] if tree.op in WORDS else tree


def _upper_of(tree: Tree, type_of: Callable[[Tree], DataType | None]) -> Tree | None:
    """Return the variable of 64 bits whose upper half a tree is."""
    hit = form("X >> 32", _bare(tree))
    return hit["X"] if hit and not hit["X"].args and type_of(hit["X"]) in (ty.Q, ty.UQ) else None


def _whole(upper: Tree, lower: Tree, type_of: Callable[[Tree], DataType | None]) -> Tree | None:
    """Return the value with two halves: a variable, or a number or an unsigned value of 32 bits below zeros."""
    if number_of(upper) == 0:
        return lower if type_of(lower) is ty.UD or (number_of(lower) or -1) >= 0 else None
    whole = _upper_of(upper, type_of)
    return whole if whole is not None and lower.op in WORDS and lower.args[0] == whole else None


def _with_sign(value: Tree, type_of: Callable[[Tree], DataType | None], *, is_signed: bool) -> Tree:
    own = type_of(value)
    if own is (ty.UQ if is_signed else ty.Q):
        return Tree("(long)" if is_signed else "(ulong)", (value,))
    return value
