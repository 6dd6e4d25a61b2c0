"""The types that C gives expressions, by the types of their variables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.tree import NEGATED, Tree, number_of

if TYPE_CHECKING:
    from collections.abc import Mapping

SAFE_CALLS: Final = frozenset(  # of values alone, without memory and other lanes
    f"{name}()"
    for name in [
        "fma",
        "fmax",
        "fmin",
        "fabs",
        "abs",
        "min",
        "max",
        "sqrt",
        "rsqrt",
        "recip",
        "exp2",
        "log2",
        "sin",
        "cos",
        "trunc",
        "floor",
        "ceil",
        "rint",
        "mul_hi",
        "clz",
        "popcount",
        "approx_divide",
        "global_id",
        "local_id",
        "group_id",
        "local_size",
        "global_size",
        "group_count",
    ]
)
INTEGER_TYPES: Final = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
_NUMBERS: Final = (*INTEGER_TYPES, "half", "float", "double")
_LONG: Final = ("long", "ulong")
_VECTOR: Final = re.compile(r"([a-z]+)(?:2|3|4|8|16)")
_MAX_INT: Final = (1 << 31) - 1
_MAX_UINT: Final = (1 << 32) - 1
_OF_FIRST: Final = (
    "fma()",
    "fabs()",
    "sqrt()",
    "rsqrt()",
    "recip()",
    "exp2()",
    "log2()",
    "sin()",
    "cos()",
    "trunc()",
    "floor()",
    "ceil()",
    "rint()",
)
_IDS: Final = ("global_id()", "local_id()", "group_id()", "local_size()", "global_size()", "group_count()")


def type_of(tree: Tree, types: Mapping[str, str]) -> str:
    """Return the type of an expression; empty where it is not known."""
    op, args = tree.op, tree.args
    if not args:
        return _type_of_leaf(tree, types)
    if op[0] == "(":
        return op[1:-1]
    if op[0] == "{":
        return op[1:-1]
    if op.startswith(("as_", "convert_")):
        return re.sub(r"^(?:as|convert)_|_sat|\(\)$", "", op)
    own = [type_of(arg, types) for arg in args]
    if op in _IDS:
        return "uint"
    if op in NEGATED or op in ("&&", "||", "u!"):
        return "int"
    if op in ("clz()", "popcount()"):
        return "int"
    if op[0] == "." and (hit := _VECTOR.fullmatch(own[0])) is not None:
        return hit[1]
    if op == "[]" and own[0].endswith(" *"):
        return re.sub(r"^(?:global|local|constant) ", "", own[0].removesuffix(" *"))
    if op == "u*" and own[0].endswith(" *"):
        return re.sub(r"^(?:global|local|constant) ", "", own[0].removesuffix(" *"))
    if op in _OF_FIRST:
        return own[0] if own[0] in ("half", "float", "double") and len(set(own)) == 1 else ""
    if op in ("<<", ">>"):
        return _promoted(own[0])
    if op in ("u-", "u~"):
        return _promoted(own[0])
    if op == "?":
        return _common(own[1], own[2]) if own[1] != own[2] or own[1] in _NUMBERS else own[1]
    if op in ("+", "-", "*", "/", "%", "&", "|", "^", "min()", "max()", "mul_hi()"):
        return _common(*own)
    return ""


def _type_of_leaf(tree: Tree, types: Mapping[str, str]) -> str:
    number = number_of(tree)
    if number is not None:
        is_hex = tree.op.startswith("0x")
        if tree.op.endswith("u"):
            return "uint" if number <= _MAX_UINT else "ulong"
        return "int" if number <= _MAX_INT else "uint" if is_hex and number <= _MAX_UINT else "long"
    if re.fullmatch(r"\d[\d.]*(?:e[-+]?\d+)?f", tree.op):
        return "float"
    if re.fullmatch(r"\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+", tree.op):
        return "double"
    if re.fullmatch(r"(?:0x[0-9a-f]+|\d+)(UL|L)", tree.op):
        return "ulong" if tree.op.endswith("UL") else "long"
    return "int" if tree.op in ("true", "false") else types.get(tree.op, "")


def _promoted(kind: str) -> str:
    return "int" if kind in ("char", "uchar", "short", "ushort", "bool") else kind if kind in _NUMBERS else ""


def _common(first: str, second: str) -> str:
    """Return the type to which C converts two numbers."""
    kinds = _promoted(first), _promoted(second)
    if "" in kinds:
        return ""
    for kind in ("double", "float", "half", "ulong", "long", "uint"):
        if kind in kinds:
            return kind
    return "int"
