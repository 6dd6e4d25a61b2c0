"""What string literals stand for, against Python's own reader, and where each piece of them stands."""

from __future__ import annotations

import ast
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from visa_lsp.embed.literals import HOLE, c_pieces, python_pieces, quote_text
from visa_lsp.text import Span

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # machines are shared


def c_text(literal):
    host = "x = " + literal + ";"
    pieces = list(c_pieces(host, Span(4, 4 + len(literal))))
    for piece in pieces:
        assert not piece.exact or host[piece.host.start : piece.host.end] == piece.text
    assert all(a.host.end <= b.host.start for a, b in pairwise(pieces))
    return "".join(p.text for p in pieces)


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ('"mov\\n"', "mov\n"),
        ('u8"a\\tb"', "a\tb"),
        ('"\\"q\\" \\\\ \\x41\\101\\u0042\\0"', '"q" \\ AAB\0'),
        ('"one \\\n two"', "one  two"),
        ('"one \\\r\n two"', "one  two"),
        ('R"(a\\n"b")"', 'a\\n"b"'),
        ('LR"xy(a)" )xy"', 'a)" '),
        ('""', ""),
        ('R"()"', ""),
        ('"open', "open"),
        ('"', ""),
        ('R"(open', "open"),
        ('R"', ""),
    ],
)
def test_a_c_literal_stands_for_what_the_language_says(literal, value):
    assert c_text(literal) == value


@UNHURRIED
@given(st.text(st.sampled_from('ab\\"nx0\n\t{}%é😀'), max_size=20))
def test_what_is_quoted_reads_back(text):
    assert c_text('"' + quote_text(text, raw=False, quote='"') + '"') == text


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@UNHURRIED
@given(st.text(st.sampled_from('ab\\"nx04 {}é'), max_size=20))
def test_a_python_literal_stands_for_what_python_says(body):
    source = f"'''{body}'''"
    try:
        value = ast.literal_eval(source)
    except SyntaxError:
        return
    pieces = list(python_pieces(source, Span(3, len(source) - 3), raw=False, formatted=False))
    # An escape that Python does not know stays with its backslash; vISA has neither.
    unknown = any(c in body for c in ("\\ ", "\\{", "\\}", "\\é", "\\x"))
    assert unknown or "".join(p.text for p in pieces) == value


def test_doubled_braces_of_an_f_string_are_single_ones_and_values_are_holes():
    source = "{{ {x} }}\\n"
    pieces = list(python_pieces(source, Span(0, len(source)), raw=False, formatted=True, values=(Span(3, 6),)))
    assert "".join(p.text for p in pieces) == f"{{ {HOLE} }}\n"
    assert [p.host for p in pieces if p.text == "{"] == [Span(0, 2)]


def test_a_raw_literal_cannot_hold_its_quote():
    assert quote_text('a"b', raw=True, quote='"') is None
    assert quote_text("a\nb", raw=True, quote='"') == "a\nb"
