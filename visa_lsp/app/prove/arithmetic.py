"""Applies the lane words of the instruction table to terms of integers.

Terms are exact, as integers are in ``isa.lane``: only the caller truncates or clamps a result to its destination. A
result other than a sum, product, quotient or mask of terms is not modelled, so that the proof holds for any value of
the destination.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.app.prove.terms import TRUE, ZERO, Sum, SumPool, at_most, both, equal, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.isa.lane import Expr
    from visa_lsp.isa.types import DataType

_ALL_ONES: Final = -1


class NotModelled(Exception):  # noqa: N818 - a limit, not an error
    """The value of a word is not a term; the text names the word."""


class Arithmetic:
    """Evaluates the expression of an instruction in its execution type, for a destination of a type.

    ``line`` is the line of symbols for values that are not modelled. ``wraps`` means that the engines compute in 32
    bits, where a negated or absolute source wraps around too.
    """

    def __init__(self, pool: SumPool, exec_type: DataType, target: DataType, line: int, *, wraps: bool = False) -> None:
        self.pool, self.type, self.line = pool, exec_type, line
        self.count_bits = 64 if target.size == 8 or exec_type.size == 8 else 32
        self.bits = exec_type.bits
        self.width = max(exec_type.bits, target.bits)  # of results, beyond which no bit counts
        self.wraps = wraps

    def value(self, expr: Expr, sources: Sequence[Sum]) -> Sum:
        """Return the value of an expression before it is truncated to a type. Raises NotModelled."""
        match expr.word, expr.args:
            case "src", (int() as at, *_):
                return sources[at]
            case "const", (int() as constant, *_):
                return number(constant)
        return self.word(expr.word, [self.value(one, sources) for one in expr.args if not isinstance(one, int)])

    def word(self, word: str, args: Sequence[Sum]) -> Sum:
        """Return the value of a word. Raises NotModelled."""
        pool = self.pool
        match word:
            case "add" | "add3":
                return sum(args[1:], args[0])
            case "sub":
                return args[0] - args[1]
            case "mul":
                return pool.product(args[0], args[1])
            case "mulh":
                return pool.quotient(pool.product(args[0], args[1]), 1 << self.bits)
            case "avg":
                return pool.quotient(args[0] + args[1] + 1, 2)
            case "mad":
                return pool.product(args[0], args[1]) + args[2]
            case "min":
                return pool.choice(at_most(args[0], args[1]), args[0], args[1])
            case "max":
                return pool.choice(at_most(args[1], args[0]), args[0], args[1])
            case "not":
                return args[0] * -1 + -1
            case "shl" | "shr" | "asr" if args[1].is_constant:
                count = args[1].constant % self.count_bits
                if word == "shl":
                    return args[0] * (1 << count)
                signed = self.type.is_signed and word == "asr"
                is_exact = signed and not self.wraps
                value = args[0] if is_exact else pool.wrap(args[0], self.bits, signed=signed)
                # The sign is represented as in a conversion to unsigned, because the two then cancel in addresses of halves.
                low, high = pool.limits(value)
                count += signed and count == self.bits - 1 and -(1 << count) <= low and high < 1 << count
                return pool.quotient(value, 1 << count)
            case "shl" if args[0].is_constant and args[0].constant >= 0:
                # A power of two is positive, and doubles when the count grows by one.
                low, high = pool.limits(args[1])
                if low >= 0 and high < self.bits:
                    least, greatest = args[0].constant << low, args[0].constant << high
                    return pool.result("a shifted constant", tuple(args), least, greatest, self.line)
            case "div" | "mod":
                return self._divide(args[0], args[1], is_rest=word == "mod")
            case "and" | "or" | "xor":
                return self.bitwise({"and": 8, "or": 14, "xor": 6}[word], args)
        raise NotModelled(word)

    def _divide(self, dividend: Sum, divisor: Sum, *, is_rest: bool) -> Sum:
        """Return the quotient or the rest of two terms, with bounds where one is negative; by zero both are all ones."""
        pool, ones = self.pool, -1 if self.type.is_signed else (1 << self.bits) - 1
        if divisor.is_constant:
            result = pool.quotient(dividend, divisor.constant) if divisor.constant > 0 else number(ones)
        else:
            result = pool.whole_quotient(dividend, divisor, self.line)
        result = pool.choice(
            equal(divisor, 0), number(ones), dividend - pool.product(result, divisor) if is_rest else result
        )
        low, high = pool.limits(dividend)
        signs = both(at_most(dividend * -1, 0), at_most(divisor * -1, 0))
        if signs != TRUE:
            most = max(abs(low), abs(high), abs(ones))
            why = f"a {'remainder' if is_rest else 'quotient'} of numbers with signs"
            result = pool.choice(signs, result, pool.result(why, (dividend, divisor), -most, most, self.line))
        if is_rest:  # has the sign of the dividend
            pool.keep_limits(result, min(low, 0, ones), max(high, 0, ones))
        return result

    def bitwise(self, table: int, args: Sequence[Sum]) -> Sum:
        """Return a Boolean function of terms, bit by bit; bit i of ``table`` is its value for inputs with the bits of i.

        Raises NotModelled.
        """
        pool = self.pool
        # A mask of all ones or zeros is a comparison, so that each case is a function of fewer terms.
        for index, term in enumerate(args):
            if term.is_constant and term.constant in (0, _ALL_ONES, (1 << self.width) - 1):
                rest = [*args[:index], *args[index + 1 :]]
                half = _half(table, len(args), index, set_=term.constant != 0)
                return self.bitwise(half, rest) if rest else number(_ALL_ONES if half & 1 else 0)
        for term in args:
            if len(term.factors) == 1 and term.factors[0][0].test is not None:
                atom, factor = term.factors[0]
                yes, no = (part * factor + term.constant for part in atom.parts)
                if yes.is_constant and no.is_constant and {yes.constant, no.constant} == {0, _ALL_ONES}:
                    cases = [self.bitwise(table, [case if a is term else a for a in args]) for case in (yes, no)]
                    assert atom.test is not None
                    return pool.choice(atom.test, cases[0], cases[1])
        count = 1 << len(args)
        if table in (0, (1 << count) - 1):
            return number(_ALL_ONES if table else 0)
        if len(args) == 1:
            return args[0] if table == 2 else args[0] * -1 + -1
        if len(args) == 2:
            return self._of_two(table, args[0], args[1])
        for index in range(3):
            # A function of three inputs that combines one input with a function of the other two.
            rest = [args[i] for i in range(3) if i != index]
            halves = [_half(table, 3, index, set_=bool(v)) for v in (0, 1)]
            for outer in (8, 14, 6, 2, 4):
                for inner in (8, 14, 6, 2, 4, 7, 1, 9):
                    combined = [
                        sum(((outer >> (v | (inner >> i & 1) << 1)) & 1) << i for i in range(4)) for v in (0, 1)
                    ]
                    if combined == halves:
                        return self._of_two(outer, args[index], self._of_two(inner, rest[0], rest[1]))
        raise NotModelled("bitwise logic")

    def _of_two(self, table: int, left: Sum, right: Sum) -> Sum:
        if table in (3, 5, 10, 12):  # depends on one of the two
            result = left if table in (5, 10) else right
            return result if table in (10, 12) else result * -1 + -1
        if table in (1, 7, 9, 11, 13):  # the complement of a function below
            return self._of_two(15 - table, left, right) * -1 + -1
        if table == 2:
            return left - self._and(left, right)
        if table == 4:
            return right - self._and(left, right)
        common = self._and(left, right)
        if table == 8:
            return common
        result = left + right - common * (1 if table == 14 else 2)
        ends = [self.pool.limits(term) for term in (left, right)]
        if all(low >= 0 for low, _ in ends):
            self.pool.keep_limits(result, 0, (1 << max(high for _, high in ends).bit_length()) - 1)
        return result

    def _and(self, left: Sum, right: Sum) -> Sum:
        pool = self.pool
        if left == right:
            return left
        for mask, value in ((left, right), (right, left)):
            if mask.is_constant:
                masked = pool.mask_bits(value, mask.constant, self.width)
                if masked is not None:
                    return masked
            # The two have no common bits if one is a multiple of 2^k and the other less than 2^k.
            low, high = pool.limits(mask)
            if low >= 0:
                power = 1 << high.bit_length()
                if value.constant % power == 0 and all(factor % power == 0 for _, factor in value.factors):
                    return ZERO
        ends = [pool.limits(term) for term in (left, right)]
        highs = [high for low, high in ends if low >= 0]
        if highs:
            return pool.common_bits(left, right, 0, min(highs))
        least, greatest = min(low for low, _ in ends), max(high for _, high in ends)
        return pool.common_bits(left, right, -1 << (-least - 1).bit_length(), greatest)


def _half(table: int, count: int, index: int, *, set_: bool) -> int:
    """Return a Boolean function with one of its inputs fixed."""
    half, bit = 0, 0
    for case in range(1 << count):
        if bool(case >> index & 1) is set_:
            half |= (table >> case & 1) << bit
            bit += 1
    return half
