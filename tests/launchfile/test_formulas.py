"""Expressions of launch files: what they compute, and that nothing else can be said with them."""

from __future__ import annotations

import pytest

from visa_lsp.launchfile.formulas import MAX_EXPRESSION_CHARS, FormulaError, number, read_formula


def computed(text, **names):
    return number(read_formula(text), names)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n", 1000),
        ("ceil(n / 256)", 4),
        ("n // 256 * 16 + n % 256", 280),
        ("-(n - 2 ** 10)", 24),
        ("max(1, min(n, 64))", 64),
        ("floor(1.5) + abs(-2) + round(2.6) + ceil(0.5)", 7),
        ("n * 0.5", 500.0),
        ("2 ** -1", 0.5),
        ("+n", 1000),
    ],
)
def test_an_expression_is_computed_as_python_does(text, expected):
    found = computed(text, n=1000)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not an expression"),
        ("n +", "is not an expression"),
        ("max(n, 2", "put quotes around an expression with commas"),
        ("'n'", "unexpected character"),
        ("__import__('os')", "unexpected character"),
        ("n.real", "is not allowed"),
        ("n if n else 1", "is not allowed"),
        ("lambda: n", "is not allowed"),
        ("[n]", "is not allowed"),
        ("n == 1", "is not allowed"),
        ("n & 1", "is not allowed"),
        ("n[0]", "is not allowed"),
        ("True", "is not allowed"),
        ("1j", "is not allowed"),
        ("max(*n)", "is not allowed"),
        ("round(n, ndigits=2)", "is not allowed"),
        ("eval(n)", "unknown function 'eval'"),
        ("(n + 1)(1)", "is not allowed"),
        ("m", "unknown name 'm'; known names: n"),
        ("n / 0", "division by zero"),
        ("0 ** -1", "division by zero"),
        ("2 ** 200", "too large"),
        ("9 ** 9 ** 9", "too large"),
        ("n ** n ** n", "too large"),
        ("2.0 ** 9999", "too large"),
        ("9" * 60, "more than 128 bits"),
        ("(-1) ** 0.5", "not a number"),
        ("ceil(1e999)", "too large"),
        ("round(1, 2, 3)", "expected round(x), got 3 arguments"),
        ("max(n)", "expected max(a, b, ...), got 1 argument"),
        ("-" * 60 + "n", "nested more than"),
        ("(" * 300 + "n" + ")" * 90, "is not an expression"),
        ("n" * (MAX_EXPRESSION_CHARS + 1), "at most 400 characters"),
    ],
)
def test_what_is_no_arithmetic_is_refused_in_one_line_and_at_once(text, words):
    with pytest.raises(FormulaError, match=r"\S") as refused:
        computed(text, n=1000)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_numbers_stay_small_however_often_they_are_multiplied():
    with pytest.raises(FormulaError, match=r"more than 128 bits"):
        computed("*".join(["n"] * 49), n=2**100)


def test_the_names_of_an_expression_are_known_before_it_is_computed():
    assert read_formula("ceil(n / m) + 2").names == {"n", "m"}
