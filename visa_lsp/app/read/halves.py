"""Finds the value of 64 bits whose dwords two expressions are.

A dword is taken modulo 2^32, so that casts between integers of 32 and 64 bits do not change it. What ``Halves.join`` returns
has exactly these dwords; it is None where the forms do not prove that.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from visa_lsp.app.read.element_indexes import divided
from visa_lsp.app.read.tree import (
    INTEGERS,
    Parts,
    Tree,
    form,
    leaf,
    number_of,
    sum_of,
    terms,
)
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    from visa_lsp.isa.types import DataType

BITS: Final = 32  # of a half
_ONES: Final = (1 << BITS) - 1
_RING: Final = ("+", "-", "*", "&", "|", "^", "u-", "u~")  # their lower bits depend on the lower bits of their operands
_SUMS: Final = ("+", "-", "u-")
_COMMUTATIVE: Final = ("+", "*", "&", "|", "^")
_MAX_DEPTH: Final = 14  # of variables in place of which their values stand, and of nested operations
_MAX_OPENED: Final = 3  # values in place of variables, one in the other
_MAX_JOINS: Final = 600  # of dwords inside of two; keccak, siphash and xxhash64 need 60
_MAX_TERMS: Final = 8
_HIGH_WORD: Final = "(uint)(X >> 32)"
CALLS: Final = {  # of values of 64 bits, which compilers compute of the halves
    f"{test} ? {yes} : {no}": "clz_64(X)"
    for test, yes, no in (
        (f"{_HIGH_WORD} >= 1", f"clz({_HIGH_WORD})", "clz((uint)X) + 32"),
        (f"{_HIGH_WORD} != 0", f"clz({_HIGH_WORD})", "clz((uint)X) + 32"),
        (f"{_HIGH_WORD} < 1", "clz((uint)X) + 32", f"clz({_HIGH_WORD})"),
        (f"{_HIGH_WORD} == 0", "clz((uint)X) + 32", f"clz({_HIGH_WORD})"),
    )
} | {"(int)(X >> 32) < 0": "(long)X < 0", "(int)(X >> 32) >= 0": "(long)X >= 0", "(int)(X >> 32) > -1": "(long)X >= 0"}
SWAPPED: Final = "swapped()"  # a value whose halves are taken for each other yet
LOW, HIGH = "lower()", "upper()"  # in keys: a half of a value of 64 bits


def number(tree: Tree) -> int | None:
    """Return the value of an integer constant of any size."""
    if tree.op in (*INTEGERS, "u-") and len(tree.args) == 1:
        value = number(tree.args[0])
        return None if value is None else -value if tree.op == "u-" else value
    return number_of(leaf(tree.op.rstrip("ULul"))) if not tree.args and tree.op[0].isdigit() else None


def constant(value: int) -> Tree:
    """Return a constant of 64 bits, which is negative if its highest bit is set and it is short then."""
    value &= (1 << 64) - 1
    if value >> 63 and (1 << 64) - value < 1 << BITS:
        return Tree("u-", (leaf(f"{(1 << 64) - value}L"),))
    return leaf(f"{value}UL" if value < 1 << 16 else f"{value:#x}UL")


_Term = tuple[int, Tree]  # of a sum, with its sign


class _Group(NamedTuple):
    """Lower terms of a sum whose carries are known; ``subtracted``: the indexes of those that a borrow belongs to."""

    terms: list[_Term]
    subtracted: set[int]

    @property
    def is_exact(self) -> bool:
        """Whether each negative term is subtracted as a value of 32 bits."""
        return all(
            sign > 0 or number(tree) is not None or index in self.subtracted
            for index, (sign, tree) in enumerate(self.terms)
        )


def rotated(whole: Tree, count: int) -> Tree:
    """Return a value of 64 bits rotated to the left."""
    if whole.op == "rotate_left_64()" and (before := number(whole.args[1])) is not None:
        whole, count = whole.args[0], (before + count) % 64
    return Tree("rotate_left_64()", (whole, leaf(count))) if count else whole


def half_turn(whole: Tree) -> Tree:
    """Return a value with its halves in the other order."""
    return rotated(whole, BITS)


class Halves:
    """Joins dwords. ``pairs``: variables that hold a half of a value of 64 bits -> the value, and which half; ``values``: what variables hold; ``joined``: what dwords join to with these values."""

    def __init__(self, type_of: Callable[[Tree], DataType | None]) -> None:
        self.type_of = type_of
        self.pairs: dict[str, tuple[Tree, str]] = {}
        self.keys: dict[Tree, Tree] = {}  # with these pairs
        self.values: dict[str, tuple[Tree, set[str]]] = {}  # with the names in it
        self.changed: set[str] = set()  # variables that lines between two dwords set
        self.between: dict[str, Tree] = {}  # what these hold behind the lines
        self.joined: dict[tuple[Tree, Tree], tuple[Tree | None, bool]] = {}
        self.free: set[str] = set()  # values of pairs either of which may be the lower half
        self.vectors: set[str] = set()  # of two dwords, which may be one value
        self.is_strong = False  # whether the last value is one of 64 bits in the program, not only two dwords by chance
        self._depth = self._opened = self._joins = 0

    def join(self, low: Tree, high: Tree) -> Tree | None:
        """Return the value of 64 bits; None if there is none that these forms show."""
        if not self._depth:
            self._joins = 0
        self._joins += 1
        if self._depth > _MAX_DEPTH or self._joins > _MAX_JOINS:
            return None
        pair = self.peel(low), self.peel(high)
        if pair not in self.joined:
            self.joined[pair] = None, False  # a value does not need itself
            self._depth += 1
            self.joined[pair] = self._apart(self._join, *pair)
            self._depth -= 1
        whole, is_strong = self.joined[pair]
        self.is_strong = self.is_strong or (is_strong and whole is not None)
        return whole

    def _apart(self, rule: Callable[[Tree, Tree], Tree | None], low: Tree, high: Tree) -> tuple[Tree | None, bool]:
        """Return what a rule makes of two dwords, and whether that alone is strong."""
        was_strong, self.is_strong = self.is_strong, False
        whole = rule(low, high)
        is_own, self.is_strong = self.is_strong, was_strong
        return whole, is_own

    def is_wide(self, tree: Tree) -> bool:
        """Return whether C computes a value in 64 bits."""
        return self.type_of(tree) in (ty.Q, ty.UQ)

    def peel(self, tree: Tree) -> Tree:
        """Drop casts that keep a dword."""
        while (
            tree.op in INTEGERS
            and (own := self.type_of(tree.args[0])) is not None
            and own.is_int
            and own is not ty.BOOL
        ):
            tree = tree.args[0]
        return tree

    def key(self, tree: Tree) -> Tree:
        """Return a form of a dword that equal dwords share."""
        key = self.keys.get(tree)
        if key is None:
            key = self.keys[tree] = self._key(self.peel(tree))
        return key

    def _key(self, tree: Tree) -> Tree:
        op, args = tree.op, tree.args
        value = number(tree)
        if value is not None:
            return leaf(value & _ONES)
        if op in self.pairs and not args:
            whole, half = self.pairs[op]
            return Tree(half, (whole,))
        if op in (".x", ".y") and args[0].op in self.vectors:
            return Tree(LOW if op == ".x" else HIGH, args)
        if op in _RING:
            keys = tuple(self.key(arg) for arg in args)
            return Tree(op, tuple(sorted(keys, key=str)) if op in _COMMUTATIVE else keys)
        product = self._upper_product(tree)
        if product is not None:
            return Tree("mul_hi()", tuple(sorted(map(self.key, product), key=str)))
        if op in ("carry()", "borrow()"):
            return Tree(op, tuple(self.key(arg) for arg in args))
        if self.is_wide(tree):
            return (
                Tree(HIGH, (self._bare(args[0]),))
                if op == ">>" and number(args[1]) == BITS
                else Tree(LOW, (self._bare(tree),))
            )
        if op == ">>" and self.type_of(args[0]) in (ty.D, ty.UD):
            return Tree("shift_s()" if self.type_of(args[0]) is ty.D else "shift_u()", (self.key(args[0]), args[1]))
        if op == "<<" and number(args[1]) is not None:
            return Tree(op, (self.key(args[0]), args[1]))
        if op == "?":
            return Tree(op, (args[0], self.key(args[1]), self.key(args[2])))
        return tree

    def _bare(self, tree: Tree) -> Tree:
        """Drop changes of the sign of a value of 64 bits."""
        while tree.op in ("(long)", "(ulong)") and self.is_wide(tree.args[0]):
            tree = tree.args[0]
        return tree

    def _same(self, left: Tree, right: Tree) -> bool:
        return self.key(left) == self.key(right)

    def _value(self, tree: Tree) -> Tree | None:
        return None if tree.args or self.is_wide(tree) else self._held(tree)

    def _held(self, tree: Tree) -> Tree | None:
        """Return what a variable holds."""
        if tree.args or tree.op in self.pairs:
            return None
        if tree.op in self.between:
            return self.between[tree.op]
        value, names = self.values.get(tree.op, (None, set()))
        return value if value is not None and not self.changed & {tree.op, *names} else None

    # ---- one form

    def _join(self, low: Tree, high: Tree) -> Tree | None:
        numbers = number(low), number(high)
        if numbers[0] is not None and numbers[1] is not None:
            return constant((numbers[1] & _ONES) << BITS | numbers[0] & _ONES)
        low_key, high_key = self.key(low), self.key(high)
        if {low_key.op, high_key.op} == {LOW, HIGH} and low_key.args == high_key.args:
            (own,) = low_key.args
            self.is_strong = self.is_strong or own.op not in self.vectors
            if low_key.op == LOW:
                return own
            return Tree(SWAPPED, low_key.args) if own.op in self.free else half_turn(own)
        if high_key == Tree("shift_s()", (low_key, leaf(BITS - 1))):
            return Tree("(long)", (self._as(low, ty.D),))
        if low.op == high.op == "?" and low.args[0] == high.args[0]:
            yes, no = self.join(low.args[1], high.args[1]), self.join(low.args[2], high.args[2])
            return Tree("?", (low.args[0], yes, no)) if yes is not None and no is not None else None
        if low.op == high.op == "u*":
            return self._loaded(low.args[0], high.args[0])
        if low.op == high.op == "u~":
            inner = self.join(low.args[0], high.args[0])
            return Tree("u~", (inner,)) if inner is not None else None
        for rule in (self._shifted, self._bits, self._sum, self._turned):
            joined, is_own = self._apart(rule, low, high)
            if joined is not None:
                self.is_strong = self.is_strong or is_own
                return joined
        if numbers[1] == 0:
            return self._extended(low)
        if numbers[0] == 0 and not high.args:
            return Tree("<<", (Tree("(ulong)", (self._as(high, ty.UD),)), leaf(BITS)))
        if self._opened < _MAX_OPENED:
            self._opened += 1
            for part, other, is_high in ((high, low, True), (low, high, False)):
                value = self._value(part)
                whole = None if value is None else self.join(other, value) if is_high else self.join(value, other)
                if whole is not None:
                    self._opened -= 1
                    return whole
            self._opened -= 1
        return None

    def _loaded(self, low: Tree, high: Tree) -> Tree | None:
        """Return neighbouring dwords in memory as one value."""
        (first, second) = (
            form("P + (uint)E", tree.args[0]) if tree.op in ("(int *)", "(uint *)") else Parts() for tree in (low, high)
        )
        is_next = bool(first) and second == first | {"E": Tree("+", (first["E"], leaf(4)))}
        if not is_next or divided(first["E"], 8, set()) is None:
            return None  # a multiple of 8 and 4 do not pass 2^32
        self.is_strong = True
        return Tree("u*", (Tree("(ulong *)", low.args),))

    def _as(self, tree: Tree, type_: DataType) -> Tree:
        """Return a dword with a type."""
        own = self.type_of(tree)
        return (
            tree
            if own is type_ or (number(tree) is not None and own is ty.D)
            else Tree("(int)" if type_ is ty.D else "(uint)", (tree,))
        )

    def _extended(self, low: Tree) -> Tree:
        """Return a dword with zeros above it."""
        shifted = self._with_op(low, ">>")
        count = number(shifted.args[1]) if shifted.op == ">>" else None
        if count is not None and self.type_of(shifted.args[0]) is ty.UD:
            whole = self.upper(shifted.args[0])
            if whole is not None:
                return Tree(">>", (self._unsigned(whole), leaf(BITS + count)))
        key = self.key(low)
        if key.op == HIGH:
            return Tree(">>", (self._unsigned(key.args[0]), leaf(BITS)))
        return Tree("(ulong)", (self._as(low, ty.UD),))

    def _unsigned(self, whole: Tree) -> Tree:
        return whole if self.type_of(whole) is ty.UQ else Tree("(ulong)", (whole,))

    def upper(self, high: Tree) -> Tree | None:
        """Return a value of 64 bits with a given upper dword, by the product or the carry in it."""
        key = self.key(high)
        if key.op == HIGH:
            return key.args[0]
        value = self._value(self.peel(high)) or high
        parts = [part for _, part in self._terms(value)]
        lows = [Tree("*", product) for part in parts if (product := self._upper_product(part)) is not None]
        sums = [Tree("+", part.args) for part in parts if part.op == "carry()"]
        for low in (*sorted(sums, key=lambda part: -len(str(part))), *lows):
            whole = self.join(low, value)
            if whole is not None:
                return whole
        return None

    def test(self, tree: Tree) -> Tree | None:
        """Return comparisons of both halves as one of values of 64 bits, and a sum with carries as the upper half of one."""
        hit = form("A < B || (A == B && C < D)", tree)
        own = self.type_of(hit["A"])
        if self.type_of(hit["C"]) is ty.UD and own in (ty.D, ty.UD) and own is self.type_of(hit["B"]):
            left, right = self.join(hit["C"], hit["A"]), self.join(hit["D"], hit["B"])
            if left is not None and right is not None:
                wide, word = (ty.Q, "(long)") if own is ty.D else (ty.UQ, "(ulong)")
                sides = (side if self.type_of(side) is wide else Tree(word, (side,)) for side in (left, right))
                return Tree("<", tuple(sides))
        for sign, words in (("==", "A == B && C == D"), ("!=", "A != B || C != D")):
            hit = form(words, tree)
            tests: list[Tree] = []
            for low, other_low, high, other_high in ("ABCD", "CDAB") if hit else ():
                self.is_strong = False
                left, right = self.join(hit[low], hit[high]), self.join(hit[other_low], hit[other_high])
                if self.is_strong and left is not None and right is not None:
                    tests.append(Tree(sign, (left, right)))
            if tests:
                return min(tests, key=lambda test: len(str(test)))  # the one whose halves are not turned
        hit = form("popcount(A) + popcount(B)", tree)
        whole = (self.join(hit["A"], hit["B"]) or self.join(hit["B"], hit["A"])) if hit else None
        if whole is not None:
            return Tree("popcount_64()", (whole,))
        if tree.op == "+" and any(part.op in ("carry()", "borrow()") for _, part in self._terms(tree)):
            whole = self.upper(tree)
            return Tree("(uint)", (Tree(">>", (self._unsigned(whole), leaf(BITS))),)) if whole is not None else None
        return None

    def _turned(self, low: Tree, high: Tree) -> Tree | None:
        """Return a sum whose upper half is the lower dword."""
        has_carry = any(part.op in ("carry()", "borrow()") for _, part in self._terms(low))
        whole = self._sum(high, low) if has_carry else None
        return half_turn(whole) if whole is not None else None

    # ---- shifts

    def _shift(self, tree: Tree, sign: str) -> tuple[Tree, int] | None:
        """Return what is shifted by a constant, and by how much."""
        tree = self._with_op(tree, sign)
        count = number(tree.args[1]) if tree.op == sign else None
        own = self.type_of(tree.args[0]) if count is not None else None
        if count is None or not 0 < count < BITS or own not in ((ty.UD,) if sign == ">>" else (ty.D, ty.UD)):
            return None
        return tree.args[0], count

    def _funnel(self, tree: Tree) -> tuple[Tree, Tree, int] | None:
        """Return the upper and the lower part of a dword that two shifts join, and the count to the left."""
        for left, right in (
            itertools.permutations(tree.args) if tree.op in ("|", "+", "^") and len(tree.args) == 2 else ()
        ):
            above, below = self._shift(self.peel(left), "<<"), self._shift(self.peel(right), ">>")
            if above is not None and below is not None and above[1] + below[1] == BITS:
                return above[0], below[0], above[1]
        return None

    def _shifted(self, low: Tree, high: Tree) -> Tree | None:
        lower, upper = self._funnel(low), self._funnel(high)
        if lower is not None and upper is not None and lower[2] == upper[2]:
            (above, below, count), (other, rest, _) = lower, upper
            if self._same(above, rest) and self._same(below, other):
                for parts, places in (((above, below), count), ((below, above), count + BITS)):
                    whole, is_own = self._apart(self.join, *parts)
                    if whole is not None and is_own:
                        self.is_strong = True
                        return rotated(whole, places)
            return None
        if lower is not None:
            above, below, count = lower
            value = self._value(high)
            moved = self.peel(value) if value is not None and high.op != ">>" else high
            if moved.op == ">>" and number(moved.args[1]) == BITS - count and self._same(moved.args[0], above):
                whole, own = self.join(below, above), self.type_of(moved.args[0])
                if whole is not None and own in (ty.D, ty.UD):
                    self.is_strong = True
                    whole = self._unsigned(whole) if own is ty.UD else Tree("(long)", (whole,))
                    return Tree(">>", (whole, leaf(BITS - count)))
            return None
        moved_low, moved_high = self._shift(low, "<<"), self._shift(high, "<<")
        top = self._shift(high, ">>")
        if moved_low and top and moved_low[1] + top[1] == BITS and self._same(moved_low[0], top[0]):
            return Tree("<<", (self._extended(self.peel(top[0])), leaf(moved_low[1])))
        if (
            moved_low is not None
            and upper is not None
            and upper[2] == moved_low[1]
            and self._same(upper[1], moved_low[0])
        ):
            whole = self.join(moved_low[0], upper[0])
            self.is_strong = self.is_strong or whole is not None
            return Tree("<<", (whole, leaf(upper[2]))) if whole is not None else None
        if number(low) == 0 and moved_high is not None:
            return Tree("<<", (self._extended(self.peel(moved_high[0])), leaf(BITS + moved_high[1])))
        return None

    # ---- operations on bits

    def _operands(self, tree: Tree, op: str) -> list[Tree]:
        tree = self.peel(tree)
        if tree.op == op:
            return [part for arg in tree.args for part in self._operands(arg, op)]
        return [tree]

    def _bits(self, low: Tree, high: Tree) -> Tree | None:
        op = low.op if low.op in ("^", "|", "&") else high.op
        if op not in ("^", "|", "&"):
            return None
        lows, highs = self._operands(low, op), self._operands(high, op)
        if op == "&" and len(lows) != len(highs):
            return None
        count = max(len(lows), len(highs))
        if count > _MAX_TERMS or number(high) == 0:
            return None
        zero = leaf(0)
        parts = self._matched(lows + [zero] * (count - len(lows)), highs + [zero] * (count - len(highs)))
        is_odd = len(lows) == 1 and number(lows[0]) is None and len(highs) > 1
        if parts is None or (is_odd and not (self.is_strong and op == "^" and len(highs) == 2)):
            return None
        self.is_strong = self.is_strong and (op == "|" or len(lows) == len(highs))  # other bits fit to anything
        parts.sort(key=lambda part: number(part) is not None)
        whole = parts[0]
        for part in parts[1:]:
            whole = Tree("u~", (whole,)) if op == "^" and number(part) == -1 else Tree(op, (whole, part))
        hit = form("X * A | X * B >> N", whole) or form("X * B >> N | X * A", whole)
        if hit:
            factor, first, count = (number(hit[name]) or 0 for name in "ABN")
            if not (factor - (first << 64 - count)) % (1 << 64):
                return rotated(Tree("*", (hit["X"], hit["B"])), 64 - count)
        return whole

    def _matched(self, lows: list[Tree], highs: list[Tree]) -> list[Tree] | None:
        """Return the values of lower halves with upper halves in any order."""
        if not lows:
            return []
        options = []
        for index, high in enumerate(highs):
            if high not in highs[:index] and (option := self._option(lows[0], high)) is not None:
                options.append((option[0], index, option[1]))
        for _, index, whole in sorted(options, key=lambda option: option[:2]):
            rest = self._matched(lows[1:], highs[:index] + highs[index + 1 :])
            if rest is not None:
                return [whole, *rest]
        return None

    # ---- sums and products

    def _upper_product(self, tree: Tree) -> tuple[Tree, Tree] | None:
        """Return the unsigned factors of a product whose upper dword a value is."""
        tree = self.peel(tree)
        if tree.op == "mul_hi()" and self.type_of(tree) is ty.UD:
            return tree.args[0], tree.args[1]
        if tree.op != ">>" or number(tree.args[1]) != BITS:
            return None
        product = self._bare(tree.args[0])
        if product.op != "*":
            return None
        factors = []
        for factor in product.args:
            value, inner = number(factor), factor.args[0] if factor.op in ("(long)", "(ulong)") else factor
            if value is not None and 0 <= value <= _ONES:
                factors.append(leaf(value))
            elif self.type_of(inner) is ty.UD:
                factors.append(inner)
        return (factors[0], factors[1]) if len(factors) == len(product.args) else None

    def _terms(self, tree: Tree, sign: int = 1, *, opens: Container[str] | None = ()) -> Iterator[_Term]:
        """Yield the terms of a sum with their signs, without zeros; ``opens``: variables in place of which the sums in them stand, None for all."""
        tree = self.peel(tree)
        tree = self._with_op(tree, *_SUMS) if opens is None or tree.op in opens else tree
        if tree.op in ("+", "-") and len(tree.args) == 2 and number(tree) is None:
            yield from self._terms(tree.args[0], sign, opens=opens)
            yield from self._terms(tree.args[1], sign if tree.op == "+" else -sign, opens=opens)
        elif tree.op == "u-" and number(tree) is None:
            yield from self._terms(tree.args[0], -sign, opens=opens)
        elif number(tree) != 0:
            yield sign, tree

    def _group(self, parts: list[_Term]) -> Counter[_Term]:
        """Return terms as keys with their signs; numbers modulo 2^32."""
        return Counter(
            (1, leaf(sign * value & _ONES)) if (value := number(tree)) is not None else (sign, self.key(tree))
            for sign, tree in parts
        )

    def _sum(self, low: Tree, high: Tree) -> Tree | None:
        uppers = list(self._terms(high))
        has_carries = any(tree.op in ("carry()", "borrow()") for _, tree in uppers)
        has_products = any(self._upper_product(tree) is not None for _, tree in uppers)
        if not has_carries and not has_products and not any(self._is_sum(tree) for _, tree in uppers):
            return None
        opens: set[str] = set()
        uppers = list(self._terms(high, opens=None if any(self._is_sum(tree) for _, tree in uppers) else ()))
        while (name := self._sum_to_open(list(self._terms(low, opens=opens)), uppers, opens)) is not None:
            opens.add(name)
        lows = list(self._terms(low, opens=opens))
        return self._sum_of(lows, uppers, opens) if len(lows) <= _MAX_TERMS else None

    def _sum_to_open(self, lows: list[_Term], uppers: list[_Term], opens: set[str]) -> str | None:
        """Return a variable among lower terms that holds the sum which a carry belongs to."""
        for _, tree in uppers:
            if tree.op not in ("carry()", "borrow()"):
                continue
            first, second = (list(self._terms(arg, opens=opens)) for arg in tree.args)
            second = second if tree.op == "carry()" else [(-sign, part) for sign, part in second]
            total = self._group([*first, *second])
            for sign, term in lows:
                value = self._with_op(term, *_SUMS)
                if sign > 0 and value is not term and self._group(list(self._terms(value, opens=opens))) == total:
                    return term.op
        return None

    def _is_sum(self, tree: Tree) -> bool:
        """Return whether a variable stands for a sum with a carry or a product."""
        value = self._value(tree)
        return value is not None and any(part.op in ("carry()", "borrow()", "mul_hi()", "*") for part in value.walk())

    def _sum_of(self, lows: list[_Term], uppers: list[_Term], opens: set[str]) -> Tree | None:
        carries = [term for term in uppers if term[1].op in ("carry()", "borrow()")]
        rest = [term for term in uppers if term not in carries]
        groups = [_Group([term], set()) for term in lows]
        while carries and (carry := self._carried(groups, carries, opens)):
            carries.remove(carry)
        if carries or len(groups) != 1 or not groups[0].is_exact:
            return None
        self.is_strong = self.is_strong or len(lows) > 1
        total = sum(sign * value for sign, tree in rest if (value := number(tree)) is not None) << BITS
        rest = [term for term in rest if number(term[1]) is None]
        numbers = [index for index, (_, tree) in enumerate(groups[0].terms) if number(tree) is not None]
        if total and not numbers:
            return None
        for index in numbers:
            sign, tree = groups[0].terms[index]
            value = sign * (number(tree) or 0)
            total += -(-value & _ONES) if index in groups[0].subtracted else value & _ONES
        joined = []
        loose = [term for index, term in enumerate(groups[0].terms) if index not in numbers]
        for sign, tree in list(loose):
            whole = self._product(sign, tree, rest)
            if whole is not None:
                loose.remove((sign, tree))
                joined.append((sign, whole))
        for sign, tree in loose:
            options = [
                (*option, index)
                for index, (own, upper) in enumerate(rest)
                if own == sign and (option := self._option(tree, upper))
            ]
            if options:
                _, extended, index = min(options, key=lambda option: option[0])
                del rest[index]
            joined.append((sign, extended if options else self._extended(tree)))
        return self._added(joined, total) if joined and not rest else None

    def _option(self, low: Tree, high: Tree) -> tuple[bool, Tree] | None:
        """Return the value of two dwords, and whether it may be one by chance."""
        whole, is_own = self._apart(self.join, low, high)
        self.is_strong = self.is_strong or is_own
        return (not is_own, whole) if whole is not None else None

    def _carried(self, groups: list[_Group], carries: list[_Term], opens: set[str]) -> _Term | None:
        """Join two groups of lower terms whose carry or borrow is there, and return it."""
        keys = [self._group(group.terms) for group in groups]
        for term in carries:
            sign, tree = term
            is_carry = tree.op == "carry()"
            first, second = (list(self._terms(arg, opens=opens)) for arg in tree.args)
            wanted = self._group(second if is_carry else [(-own, part) for own, part in second])
            if sign != (1 if is_carry else -1):
                continue
            if not is_carry and not first and len(second) == 1 and second[0][0] > 0 and wanted in keys:
                group = groups[keys.index(wanted)]
                if not group.subtracted:
                    group.subtracted.add(0)  # from zero
                    return term
            for a, b in itertools.permutations(range(len(groups)), 2):
                left, right = groups[a], groups[b]
                # A sum that is subtracted would have carries of its own.
                fits = right.is_exact if is_carry else len(second) == 1 == len(right.terms) and second[0][0] > 0
                if (keys[a], keys[b]) == (self._group(first), wanted) and left.is_exact and fits:
                    moved = right.subtracted if is_carry else {0}
                    left.subtracted.update(index + len(left.terms) for index in moved)
                    left.terms.extend(right.terms)
                    del groups[b]
                    return term
        return None

    def _product(self, sign: int, low: Tree, rest: list[_Term]) -> Tree | None:
        """Return a product whose lower dword a term is, and remove its upper terms from a list."""
        low = self._with_op(low, "*")
        if low.op != "*":
            return None
        factors, wanted = low.args, Counter(map(self.key, low.args))
        products = [(term, self._upper_product(term[1])) for term in rest if term[0] == sign]
        start = next((term for term, pair in products if pair and Counter(map(self.key, pair)) == wanted), None)
        if start is None:
            return None
        used, uppers = [start], dict[int, Tree]()
        for term in rest:
            own, tree = term[0], self._with_op(term[1], "*")
            numbers = [number(arg) for arg in tree.args]
            if own != sign and any(n is not None for n in numbers):
                args = [arg if n is None else leaf(-n & _ONES) for arg, n in zip(tree.args, numbers, strict=True)]
                own, tree = sign, Tree(tree.op, tuple(args))
            if term is start or own != sign or tree.op != "*":
                continue
            for index, factor in enumerate(factors):
                cross = next((tree.args[1 - n] for n in (0, 1) if self._same(tree.args[n], factors[1 - index])), None)
                whole = self.join(factor, cross) if cross is not None and index not in uppers else None
                if whole is not None:
                    uppers[index] = whole
                    used.append(term)
                    break
        for term in used:
            rest.remove(term)
        self.is_strong = True
        parts = [uppers.get(index) or self._factor(factor) for index, factor in enumerate(factors)]
        if not any(self.is_wide(part) for part in parts):
            place = next(index for index, part in enumerate(parts) if number(part) is None)
            parts[place] = Tree("(ulong)", (parts[place],))
        return Tree("*", tuple(parts))

    def _factor(self, dword: Tree) -> Tree:
        """Return a dword as a factor without a sign."""
        value = number(dword)
        return _literal(value & _ONES) if value is not None else self._as(dword, ty.UD)

    def _with_op(self, tree: Tree, *ops: str) -> Tree:
        """Return what a variable holds in its place, if that has one of some operators."""
        value = self._value(tree)
        inner = self.peel(value) if value is not None else tree
        return inner if inner.op in ops else tree

    def upper_product(self, tree: Tree) -> Tree | None:
        """Write the terms of a sum that are the upper half of a product of 128 bits as a call."""
        summands = terms(tree) if tree.op == "+" and self.is_wide(tree) else []
        if not 3 <= len(summands) <= _MAX_TERMS:
            return None
        parts = [self._part(part) for part in summands]
        for chosen in itertools.combinations([n for n, part in enumerate(parts) if part is not None], 3):
            full = next((part[1] for n in chosen if (part := parts[n]) is not None and part[0] == "full"), frozenset())
            for a, b in itertools.permutations([part for part in full if part.op == HIGH], 2):
                low_a, low_b = Tree(LOW, a.args), Tree(LOW, b.args)
                cross = frozenset((a, low_b))
                inner = frozenset(
                    (("full", frozenset((low_a, b))), ("low", cross), ("high", frozenset((low_a, low_b))))
                )
                if {parts[n] for n in chosen} == {("full", full), ("high", cross), ("sum", inner)}:
                    call = Tree("mul_hi()", tuple(self._unsigned(half.args[0]) for half in (a, b)))
                    return sum_of([call, *(part for n, part in enumerate(summands) if n not in chosen)])
        return None

    def _part(self, tree: Tree) -> tuple[str, frozenset[Any]] | None:
        """Return a product of dwords, a half of one, or the upper half of a sum of such, with zeros above it; None for another value."""
        own = self.type_of(tree)
        part = self._product_part(tree, own)
        return ("low", part[1]) if part is not None and part[0] == "full" and own is ty.UD else part

    def _product_part(self, tree: Tree, own: DataType | None) -> tuple[str, frozenset[Any]] | None:
        value = self._held(tree)
        if value is not None and own in (ty.UD, ty.UQ, ty.Q):
            return self._part(value)
        if tree.op in ("(uint)", "(ulong)", "(long)"):
            inner = tree.args[0]
            return self._part(inner.args[0] if tree.op == "(uint)" and inner.op == "(int)" else inner)
        is_upper = tree.op == ">>" and number(tree.args[1]) == BITS and self.type_of(tree.args[0]) is ty.UQ
        inner = self._bare(tree.args[0]) if is_upper else tree
        inner = (self._held(inner) or inner) if is_upper else inner
        if inner.op == "mul_hi()" and own is ty.UD:
            is_upper = True
        elif inner.op == "+" and is_upper:
            parts = [self._part(part) for part in terms(inner)]
            return ("sum", frozenset(parts)) if None not in parts and len(set(parts)) == len(parts) else None
        elif inner.op != "*":
            return None
        halves = frozenset(half for arg in inner.args if (half := self._half(arg)) is not None)
        return ("high" if is_upper else "full", halves) if len(halves) == 2 else None

    def _half(self, tree: Tree) -> Tree | None:
        """Return the half of a value of 64 bits that a factor is, with zeros above it."""
        if tree.op in ("(long)", "(ulong)") and self.type_of(tree.args[0]) is ty.UD:
            return self._half(tree.args[0])
        bare = self.peel(tree)
        value = self._held(bare)
        if bare.op == ">>" and number(bare.args[1]) == BITS and self.type_of(bare.args[0]) is ty.UQ:
            return Tree(HIGH, (self._bare(bare.args[0]),))
        if value is not None and (value.op == ">>" or (self.type_of(bare) is ty.UD and value.op == "(uint)")):
            return self._half(value)
        return Tree(LOW, (self._bare(bare),)) if self.type_of(tree) is ty.UD and self.is_wide(bare) else None

    def _added(self, parts: list[_Term], total: int) -> Tree:
        """Return a sum of values of 64 bits."""
        parts.sort(key=lambda part: (part[0] < 0, part[1].op == "(ulong)"))
        sign, whole = parts[0]
        whole = Tree("u-", (whole,)) if sign < 0 else whole
        for sign, tree in parts[1:]:
            is_dword = tree.op == "(ulong)" and self.type_of(tree.args[0]) is ty.UD  # C extends it
            is_flag = tree.op == "?" and sign < 0 and [number(arg) for arg in tree.args[1:]] == [-1, 0]
            term = Tree("?", (tree.args[0], leaf(1), leaf(0))) if is_flag else tree.args[0] if is_dword else tree
            whole = Tree("+" if sign > 0 or is_flag else "-", (whole, term))
        value = total & (1 << 64) - 1
        sign, value = (-1, (1 << 64) - value) if value >> 63 else (1, value)
        return Tree("+" if sign > 0 else "-", (whole, _literal(value))) if value else whole


def _literal(value: int) -> Tree:
    """Return a number that is added to, or multiplied with, a value of 64 bits."""
    return leaf(value if value < 1 << 16 else f"{value:#x}" if value < 1 << 31 else f"{value:#x}UL")
