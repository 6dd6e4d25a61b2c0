"""A multiplication by a reciprocal becomes a division only where it is one for every value."""

from __future__ import annotations

from functools import partial

import pytest

from visa_lsp.app.read.code_lines import Body, Node
from visa_lsp.app.read.quotients import HighHalf, as_quotient, find_divisor, join_divisions, join_guards
from visa_lsp.app.read.tree import leaf, parse, step_of
from visa_lsp.isa import types as ty

EDGES = [0, 1, 2, 6, 7, 8, 299, 300, 2**31 - 2, 2**31 - 1, 2**32 - 1]
NEGATIVE = [-1, -2, -6, -7, -8, -(2**31) + 1, -(2**31)]


@pytest.mark.parametrize("factor", [0x55555556, 0x92492493, 0x1B4E81B5, 0x78787879, 0xCCCCCCCD, 0x24924925, 0x51EB851F])
def test_quotients_are_those_of_all_values(factor):
    for shift in range(8):
        for signed in (True, False):
            plus = signed and bool(factor >> 31)
            half = HighHalf(leaf("v"), factor - (1 << 32) * plus, is_unsigned=False, added=plus)
            divisor = find_divisor(half, shift, signed=signed)
            minus = HighHalf(leaf("v"), (1 << 32) * plus - factor, is_unsigned=False, added=-plus)
            negative = signed and find_divisor(minus, shift, signed=True)
            assert not negative or negative == -divisor
            for base in [*EDGES, *NEGATIVE] if divisor else []:
                for value in (base, base // divisor * divisor, base // divisor * divisor - 1):
                    low, high = (-(1 << 31), 1 << 31) if signed else (0, 1 << 32)
                    if low <= value < high:
                        found = (value * factor >> 32 + shift) + (value < 0)
                        assert found == (abs(value) // divisor if value >= 0 else -(-value // divisor))
                        against = value * -factor >> 32 + shift
                        assert not negative or against + (against < 0) == -found


def test_quotients_by_negative_numbers():
    for factor, shift, divisor in ((0x55555555, 1, -3), (0x4C73064F, 10, -1460), (0x1A537E05, 17, -146096)):
        half = HighHalf(leaf("v"), factor, is_unsigned=False, added=-1)
        assert find_divisor(half, shift, signed=True) == divisor
        for value in (
            *(edge for edge in EDGES if edge < 1 << 31),
            *NEGATIVE,
            *range(-9 * divisor, 9 * divisor, -divisor),
        ):
            found = value * (factor - (1 << 32)) >> 32 + shift
            quotient = abs(value) // -divisor
            assert found + (found < 0) == (-quotient if value > 0 else quotient)


def test_remainders():
    rule = partial(as_quotient, type_of=lambda tree: {"n": ty.D, "u": ty.UD, "-": ty.UD}.get(tree.op))
    for text, plain in (
        ("-300 * (n / 300) + n", "n % 300"),
        ("-300 * ((uint)n / 300) + n", "(uint)n % 300"),
        ("mul_hi(u, 0xcccccccdu) >> 3", "u / 10"),
        ("mul_hi(f, 0xcccccccdu) >> 3", "mul_hi(f, 0xcccccccdu) >> 3"),
        ("mul_hi(u, 0xcccccccdu) >> 2", "u / 5"),
        ("mul_hi(u - n, 0xcccccccdu) >> 2", "(u - n) / 5"),
        ("(uchar)(-5 * ((uint)(uchar)n / 5) + n)", "(uchar)n % 5"),
    ):
        assert str(parse(text).change(rule)) == plain


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (ty.D, "(x < 0 ? x + 7 : x) >> 3", "x / 8"),
        (ty.D, "(x < 0 ? x + 6 : x) >> 3", None),
        (ty.UD, "(x < 0 ? x + 7 : x) >> 3", None),
        (ty.D, "(x >= 0 ? x : x + 31) >> 5", "x / 32"),
        (ty.UD, "(int)((int)x >= 0 ? x : x + 1) >> 1", "(int)x / 2"),
    ],
)
def test_a_shift_of_a_value_moved_toward_zero_is_a_division(kind, text, expected):
    quotient = as_quotient(parse(text), lambda _tree: kind)
    assert (None if quotient is None else str(quotient)) == expected


def test_a_guard_of_another_divisor_stays():
    body = Body([], {}, {}, {}, {}, (), frozenset())
    for text, plain in (
        ("r = n == 0 ? -1 : m / n;", "r = quotient(m, n);"),
        ("r = n == 0 ? 0 : m % n + 1;", "r = remainder(m, n) + 1;"),
        ("r = k == 0 ? -1 : m / n;", "r = (k == 0) ? -1 : m / n;"),
        ("r = n == 0 ? 1 : m / n;", "r = (n == 0) ? 1 : m / n;"),
    ):
        body.code[:] = [Node(text)]
        join_guards(body)
        assert str(step_of(body.code[0].text)) == plain


def corrected(*lines):
    """Return lines of unsigned numbers without corrections that a division does not need."""
    code = [Node(line) for line in lines]
    body = Body(code, {}, dict.fromkeys("abqr", ty.UD), {}, {}, (), frozenset())
    join_divisions(body, lambda _: ty.UD)
    return [node.text for node in code]


def test_a_rest_is_below_its_divisor():
    assert corrected("r = a % b;", "x = r >= b;") == ["r = a % b;", "x = false;"]
    assert corrected("q = a / b;", "r = a - q * b;", "x = r < b;")[-1] == "x = true;"


def test_a_rest_may_be_above_what_the_divisor_becomes():
    for start in ("b = 7;", "x = b;"):
        for change in ("b = r;", "b--;"):
            lines = [start, "r = a % b;", change, "x = r >= b;"]
            assert corrected(*lines) == lines
    lines = ["a = 9;", "q = a / b;", "a++;", "r = a - q * b;", "x = r >= b;"]
    assert corrected(*lines) == lines
