"""Gives integers of 32 bits the sign that their uses ask for, and drops the casts that this makes needless."""

from __future__ import annotations

import re
import struct
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import (
    Body,
    Node,
    assigned,
    change_lines,
    lists_of,
    places_of,
    rank_of,
    steps_of,
    walk,
    words_without_trees,
)
from visa_lsp.app.read.expressions import text_of
from visa_lsp.app.read.names import BY_NAME, c_type
from visa_lsp.app.read.quotients import MODE
from visa_lsp.app.read.shape import PURE
from visa_lsp.app.read.tree import NOTHING, WIDE, Step, Tree, form, leaf, number_of, rewritten, step_of
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from visa_lsp.isa.types import DataType

_NEUTRAL: Final = ("+", "-", "*", "&", "|", "^", "<<", "u-", "u~", "?", "==", "!=")
_OF_INT: Final = (  # operations whose result is an int in C
    "==", "!=", "<", ">", "<=", ">=", "&&", "||", "u!", "clz()", "popcount()", "clz_64()", "popcount_64()",
)  # fmt: skip
_LARGE: Final = re.compile(r"(0x[0-9a-f]{8,16})(?:u|UL)?")
_SUMS: Final = ("+", "-", "*")
_NEAR: Final = 1 << 24
_MAX_HALF: Final = 65504
_SIGNED: Final = {"(char)": ty.UB, "(short)": ty.UW}  # casts of what is unsigned
_ASSIGNS: Final = ("=", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<<=", ">>=")
_OF_BOTH: Final = ("+", "-", "*", "&", "|", "^", "==", "!=")  # where C takes an int beside a uint for one


class Signs:
    """Settles the signs of the variables of one body."""

    def __init__(self, body: Body) -> None:
        self.code, self.types, self.kinds, self.pointers = body.code, body.types, body.kinds, body.elements
        self.body, self.scalars, self.surfaces = body, body.scalars, body.surfaces
        self.asked: dict[str, set[str]] = defaultdict(set)  # what the uses of a variable ask for

    def run(self) -> None:
        """Change types and lines in place."""
        self._note()
        for name, kind in list(self.kinds.items()):
            is_plain = self.types.get(name, "").split() == [c_type(kind), name]
            wanted = {ty.D: "uint", ty.UD: "int"}.get(kind)
            if is_plain and self.asked[name] == {"signed"}:
                self._retype(name, ty.B if kind is ty.UB else ty.W)
            elif is_plain and wanted is not None and self.asked[name] == {wanted}:
                self._retype(name, BY_NAME[wanted])
        change_lines(self.code, self.without_cast)
        for node in walk(self.code):
            step = step_of(node.text)
            trees = list(step.trees)
            for index in range(1, len(trees)):
                own = self.type_of(trees[index - 1])
                is_integer = own is not None and own.is_int and own is not ty.BOOL
                if own is not None and is_integer and step.words[index].strip() in ("=", "+=", "-=", "^=", "&=", "|="):
                    trees[index] = self.low(trees[index], own.size).change(_with_products)
            if tuple(trees) != step.trees:
                node.text, node.range = str(Step(step.words, tuple(trees))), None
        for node in walk(self.code):
            _, value = assigned(node)
            own = self.type_of(value)
            if own is not None:
                node.range = text_of(str(value), rank_of(value), own)

    def _retype(self, name: str, kind: DataType) -> None:
        self.kinds[name], self.types[name] = kind, f"{c_type(kind)} {name}"

    def low(self, value: Tree, size: int) -> Tree:
        """Return a value without the casts that its lower bytes do not need."""
        kind = BY_NAME.get(value.op[1:-1]) if value.op[0] == "(" else None
        if kind is not None and kind.is_int and kind.size >= size and self.type_of(value.args[0]) is not None:
            return self.low(value.args[0], size)
        if value.op not in ("+", "-", "*", "&", "|", "^", "u-", "u~", "?") and (value.op, size) != ("<<", ty.D.size):
            return value
        if size == ty.D.size and value.op in _SUMS and _has_large(value):
            value = _with_near(value)
        start, end = int(value.op == "?"), 1 if value.op == "<<" else len(value.args)
        if size > ty.D.size or not {self._promoted(arg) for arg in value.args[start:]} <= {ty.D, ty.UD}:
            return value
        low = (self.low(arg, size) for arg in value.args[start:end])
        return Tree(value.op, (*value.args[:start], *low, *value.args[end:]))

    # ---- uses

    def _note(self) -> None:
        for name in words_without_trees(self.code):
            self.asked[name] |= {"int", "uint"}
        for step in steps_of(self.code):
            for index, tree in enumerate(step.trees):
                sign = step.words[index].strip() if index else ""
                target = step.trees[index - 1] if sign in _ASSIGNS else NOTHING
                own = self.type_of(target)
                if own in (ty.D, ty.UD) and sign not in ("/=", "%=", ">>="):
                    self._use(tree, "uint" if own is ty.UD and target.args else "")
                elif own in (ty.B, ty.UB, ty.W, ty.UW):
                    self._use(tree, "")
                elif tree not in step.targets or tree.args:
                    self._use(tree, "own")
                elif step.words[index + 1].strip().startswith((">>=", "/=", "%=")):
                    self.asked[tree.op].add("uint" if self.kinds.get(tree.op) is ty.UD else "int")

    def _use(self, tree: Tree, asked: str) -> None:
        """Note what a use asks of the variables in a value: ``own`` keeps the type that each one has."""
        op, args = tree.op, tree.args
        if not args:
            kind = self.kinds.get(op)
            if kind in (ty.UB, ty.UW):
                self.asked[op].add("own")
            if kind in (ty.D, ty.UD) and asked:
                self.asked[op].add(("uint" if kind is ty.UD else "int") if asked == "own" else asked)
            return
        if op in _SIGNED and self.kinds.get(args[0].op) is _SIGNED[op]:
            self.asked[args[0].op].add("signed")
        elif op in ("(uint)", "(int)"):
            inner = args[0]
            self._use(inner, op[1:-1] if not inner.args else "" if inner.op in _NEUTRAL else "own")
        elif op == "[]":
            self._use(args[0], "own")
            base = args[0].args[0].op if args[0].op.endswith(" *)") else args[0].op
            self._use(args[1], "" if base in self.surfaces else "own")
        elif op == "?":
            self._use(args[0], "own")
            for arg in args[1:]:
                self._use(arg, asked)
        elif op in ("<", ">", "<=", ">=", "/", "%"):
            kinds = [self.type_of(arg) for arg in args]
            for arg, other in zip(args, kinds[::-1], strict=True):
                self._use(arg, "uint" if other is ty.UD else "own")
        elif op in ("==", "!="):
            for arg in args:
                self._use(arg, "")
        elif op in _NEUTRAL:
            for arg in args:
                self._use(arg, "" if op == "<<" and arg is args[1] else asked)
        else:
            for arg in args:
                self._use(arg, "own")

    # ---- casts

    def without_cast(self, tree: Tree) -> Tree | None:
        """Drop a cast to the type that a value has, and those of both sides of a comparison for equality."""
        if tree.op in ("(uint)", "(int)", *_SIGNED) and self.type_of(tree.args[0]) is BY_NAME[tree.op[1:-1]]:
            return tree.args[0]
        if tree.op in WIDE and tree.args[0].op in WIDE and self.type_of(tree.args[0].args[0]) is not None:
            return Tree(tree.op, tree.args[0].args)
        if tree.op == "[]" and tree.args[0].op in self.surfaces:
            return Tree("[]", (tree.args[0], self.low(tree.args[1], ty.D.size)))
        part = BY_NAME.get(tree.op[1:-1].rstrip("0123456789")) if tree.op[0] == "{" else None
        if part is not None and part.is_int and part.size < ty.D.size:
            return Tree(tree.op, tuple(_as_number(self.low(arg, part.size), part) for arg in tree.args))
        narrow = BY_NAME.get(tree.op[1:-1]) if tree.op[0] == "(" else None
        if narrow is not None and narrow.is_int and narrow.size < ty.D.size and self.type_of(tree.args[0]) is not None:
            inner = self.low(tree.args[0], narrow.size)
            hit = form("X >> N", inner)
            if hit and self.type_of(hit["X"]) is (ty.D if narrow.is_signed else ty.UD):
                shift = number_of(hit["N"]) or 0
                return inner if ty.D.bits - narrow.bits <= shift < ty.D.bits else Tree(tree.op, (inner,))
            return inner if self.type_of(inner) is narrow else Tree(tree.op, (inner,))
        if tree.op.startswith("atomic_") and self.type_of(form("&A", tree.args[0])["A"]) in (ty.D, ty.UD):
            return Tree(tree.op, (tree.args[0], *(self.low(arg, ty.D.size) for arg in tree.args[1:])))
        if tree.op[0].isdigit() and tree.op.endswith("f16") and _is_half(float(tree.op[:-3])):
            return Tree("(half)", (Tree(f"{tree.op[:-3]}f"),))
        if tree.op not in (*_OF_BOTH, "<", ">", "<=", ">=") or len(tree.args) != 2:
            return None
        left, right = tree.args
        sign = {"(uchar)": ty.B, "(ushort)": ty.W}.get(left.op) if tree.op in ("==", "!=") else None
        if (
            sign is not None
            and self.type_of(left.args[0]) is sign
            and 0 <= (number_of(right) or 0) < 1 << sign.bits - 1
        ):
            return Tree(tree.op, (left.args[0], right)) if number_of(right) is not None else None
        if tree.op == "+" == right.op and {self.type_of(left), self.type_of(right)} <= {ty.D, ty.UD}:
            return self.without_cast(Tree("+", (Tree("+", (left, right.args[0])), right.args[1])))
        if (products := _with_products(tree)) is not None:
            return products
        for index, (arg, other) in enumerate(((left, right), (right, left))):
            bare = arg.args[0] if arg.op == "(uint)" and self.type_of(other) is ty.UD else NOTHING
            number = number_of(bare)
            if (number is not None and number >= 0) or (tree.op in _OF_BOTH and self.type_of(bare) is ty.D):
                return Tree(tree.op, (left, bare) if index else (bare, right))
        return None

    def join_barriers(self) -> None:
        """Write a fence and a barrier as the barrier of OpenCL that does both; drop a change of the rounding that the next line takes back."""
        for code in lists_of(self.code):
            index = len(code) - 1
            while index > 0:
                before, last = code[index - 1], code[index]
                if last.text == before.text == MODE:
                    del code[index - 1 : index + 1]
                    index -= 1
                elif last.text == "barrier();" and before.text == "fence();":
                    code[index - 1 : index + 1] = [Node("work_group_barrier();", places_of(before, last))]
                index -= 1

    def type_of(self, tree: Tree) -> DataType | None:
        """Return the type that C gives an integer; None for other values."""
        op, args = tree.op, tree.args
        if not args:
            number = number_of(tree)
            if number is not None:
                return ty.UD if op.endswith("u") or number > 0x7FFFFFFF else ty.D
            if op[0].isdigit() and op.endswith("L"):
                return ty.UQ if op.endswith("UL") else ty.Q
            kind = self.kinds.get(op) or BY_NAME.get(self.scalars.get(op, ""))
            return kind if kind is not None and (kind.is_int or kind is ty.BOOL) else None
        if op.startswith("(") and op.endswith(")") and op[-2] != "*":
            return BY_NAME.get(op[1:-1])
        if op.startswith(("convert_", "as_")):
            return kind if (kind := BY_NAME.get(op[:-2].split("_")[1])) is not None and kind.is_int else None
        if op in PURE or op in ("carry()", "borrow()"):
            return ty.UD
        if op in ("rotate_left_64()", "rotate_right_64()", "handle_of()", "inline_sampler()"):
            return ty.UQ
        if op == "[]":
            base = args[0].args[0] if args[0].op.endswith(" *)") else args[0]
            word = (
                args[0].op[1:-3]
                if args[0].op.endswith(" *)")
                else self.pointers.get(base.op) or self.types.get(base.op, "").split(" ")[0]
            )
            return BY_NAME.get(word)
        if op[0] == "." and args[0].op == "[]":
            return BY_NAME.get(self.body.field_type(tree))
        if op[0] == ".":
            return BY_NAME.get(self.types.get(args[0].op, "").split(" ")[0].rstrip("0123456789"))
        if op == "u*" and args[0].op in ("(long *)", "(ulong *)"):
            return BY_NAME[args[0].op[1:-3]]
        if op == "u*" and not args[0].args:
            return BY_NAME.get(self.pointers.get(args[0].op, ""))
        if op in ("u-", "u~", "<<", ">>", "abs()"):
            return self._promoted(args[0])
        if op == "?":
            return self._common(args[1:])
        if op in ("+", "-", "*", "/", "%", "&", "|", "^", "min()", "max()", "quotient()", "remainder()", "mul_hi()"):
            return self._common(args)
        if op in _OF_INT:
            return ty.D
        return None

    def _promoted(self, tree: Tree) -> DataType | None:
        kind = self.type_of(tree)
        return ty.D if kind is not None and (kind is ty.BOOL or kind.size < ty.D.size) else kind

    def _common(self, args: tuple[Tree, ...]) -> DataType | None:
        kinds = [self._promoted(arg) for arg in args]
        if None in kinds:
            return None
        return next((kind for kind in (ty.UQ, ty.Q, ty.UD) if kind in kinds), ty.D)


def _with_near(value: Tree) -> Tree:
    """Return a sum or a product with numbers near 0 in place of large constants, of which the lower 32 bits are the same."""
    if value.op in _SUMS:
        return Tree(value.op, tuple(map(_with_near, value.args)))
    return _large(value) or value


def _has_large(tree: Tree) -> bool:
    """Return whether a sum or a product has a large constant as an operand."""
    return _large(tree) is not None or (tree.op in _SUMS and any(map(_has_large, tree.args)))


def _large(tree: Tree) -> Tree | None:
    """Return the lower 32 bits of a large constant if they are those of a number near 0; None for another tree."""
    hit = _LARGE.fullmatch(tree.op)
    number = (int(hit[1], 16) + (1 << 31) & 0xFFFFFFFF) - (1 << 31) if hit is not None else 0
    if not 0 < abs(number) < _NEAR:
        return None
    return leaf(number) if number > 0 else Tree("u-", (leaf(-number),))


def _is_half(number: float) -> bool:
    """Return whether a half has exactly the value."""
    return abs(number) <= _MAX_HALF and struct.unpack("<e", struct.pack("<e", number))[0] == number


def _as_number(tree: Tree, kind: DataType) -> Tree:
    """Write a negative number as what an unsigned integer holds."""
    number = number_of(tree)
    return leaf(number % (1 << kind.bits)) if number is not None and number < 0 and not kind.is_signed else tree


def _with_products(tree: Tree) -> Tree | None:
    """Write the shifts in a sum as products."""
    if tree.op not in ("+", "-") or len(tree.args) != 2:
        return None
    args = tuple(
        rewritten(arg, {f"X << {count}": f"X * {1 << count}" for count in range(1, 16)}) or arg for arg in tree.args
    )
    return Tree(tree.op, args) if args != tree.args else None
