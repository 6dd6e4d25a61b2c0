"""The types of operands, from the declarations that are in sight."""

from __future__ import annotations

import pytest

from visa_lsp.embed.host_text import HostText
from visa_lsp.embed.languages import Host

KERNEL = """
typedef uint word_t; typedef float row_t __attribute__((ext_vector_type(8)));
kernel void k(global int *d, global const float8 *rows, local short *near, ulong wide, constant half *h) {{
  uint x = 0, many[9]; float4 v; const uchar small = 1; word_t w; row_t r; global int **deep; struct s unknown;
  for (long i = 0; i < 4; i++) {{
    float x2;
    asm("(M1, 1) %0" : : "rw"({expression}));
  }}
  double late;
}}
"""


def known(source, host=Host.OPENCL):
    (unit,) = HostText.of(source, host).units
    return unit.source.facts[0][0]


@pytest.mark.parametrize(
    ("expression", "type_", "count"),
    [
        ("x", "d", 1),
        ("many[3]", "d", 1),
        ("v", "f", 4),
        ("v.x", "f", 1),
        ("v.s3", "f", 1),
        ("small", "b", 1),
        ("w", "d", 1),
        ("r", "f", 8),
        ("i", "q", 1),
        ("x2", "f", 1),
        ("wide", "q", 1),
        ("d", "uq", 1),
        ("d[x + 1]", "d", 1),
        ("*d", "d", 1),
        ("&d[f(x)]", "uq", 1),
        ("&x", "uq", 1),
        ("rows[i]", "f", 8),
        ("rows[i][2]", "f", 1),
        ("near", "ud", 1),
        ("near[1]", "w", 1),
        ("&near[1]", "ud", 1),
        ("h[0]", "hf", 1),
        ("(x)", "d", 1),
        ("(float)x", "f", 1),
        ("(global char *)(d + 1)", "uq", 1),
        ("as_int8(rows[i])", "d", 8),
        ("convert_half4_rte(v)", "hf", 4),
        ("7", "d", 1),
        # What is not understood has no type.
        ("x + wide", "", 0),
        ("f(x)", "", 0),
        ("late", "", 0),
        ("nowhere", "", 0),
        ("unknown", "", 0),
        ("deep[0]", "", 0),
        ("v.xy", "", 0),
        ("x ? x : w", "", 0),
        ("(int)x + y", "", 0),
        ("", "", 0),
        ("((((", "", 0),
        ("[" * 300, "", 0),
    ],
)
def test_an_expression_has_the_type_that_its_declaration_gives(expression, type_, count):
    found = known(KERNEL.format(expression=expression))
    assert (found.type, found.per_lane) == (type_, count)


@pytest.mark.parametrize(
    ("declaration", "type_", "count"),
    [
        ("std::uint32_t x", "d", 1),
        ("unsigned long long x", "q", 1),
        ("sycl::half x", "hf", 1),
        ("sycl::vec<float, 8> x", "f", 8),
        ("sycl::marray<sycl::half, 16> x", "hf", 16),
        ("sycl::float4 x", "f", 4),
        ("const float &x", "f", 1),
        ("float *x", "uq", 1),
        ("T x", "", 0),
        ("auto x", "", 0),
        ("long x", "", 0),
        ("float8 x", "", 0),
        ("bool x", "", 0),
    ],
)
def test_a_parameter_of_cpp_has_the_type_that_is_the_same_everywhere(declaration, type_, count):
    found = known(f'template <typename T> void f({declaration}) {{ asm("(M1, 1) %0" :: "rw"(x)); }}', Host.CPP)
    assert (found.type, found.per_lane) == (type_, count)


@pytest.mark.parametrize(
    ("before", "declaration", "expression", "count"),
    [
        ("using u4 = uint32_t __attribute__((ext_vector_type(4)));", "u4 x", "x", 4),
        ("typedef uint32_t u4 __attribute__((ext_vector_type(4)));", "u4 x", "x", 4),
        ("typedef __attribute__((vector_size(32))) uint32_t u8;", "u8 x", "x", 8),
        ("template <typename T, int N> using v = T __attribute__((ext_vector_type(N)));", "v<uint32_t, 4> x", "x", 4),
        ("using v = uint32_t [[clang::ext_vector_type(4)]];", "v x", "x", 4),
        ("", "uint32_t __attribute__((ext_vector_type(4))) x", "x", 4),
        ("", "uint32_t x __attribute__((__vector_size__(16)))", "x", 4),
        ("", "__attribute__((vector_size(16))) uint32_t x", "x", 4),
        ("using u4 = uint32_t __attribute__((ext_vector_type(4)));", "int x", "reinterpret_cast<u4 &>(x)", 4),
        ("using u4 = uint32_t __attribute__((ext_vector_type(4)));", "int x", "(u4 &)x", 4),
        ("using u4 = uint32_t __attribute__((ext_vector_type(4)));", "int x", "*(u4 *)&x", 4),
        ("using u4 = uint32_t __attribute__((ext_vector_type(4)));", "u4 x", "x[1]", 1),
        ("template <class T, int N> using v = T __attribute__((ext_vector_type(N)));", "int x", "*reinterpret_cast<v<uint32_t, 4> *>(&x)", 4),
        # Of a size that is not written down nothing is known.
        ("", "uint32_t __attribute__((ext_vector_type(N))) x", "x", 0),
        ("using v = uint32_t __attribute__((vector_size(sizeof(int) * N)));", "v x", "x", 0),
    ],
)  # fmt: skip
def test_an_attribute_makes_a_vector(before, declaration, expression, count):
    text = f'{before}\nvoid f() {{ int q; {declaration}; asm("(M1, 1) %0" :: "rw"({expression})); }}'
    found = known(text, Host.CPP)
    assert (found.type, found.per_lane) == ("d" if count else "", count)


@pytest.mark.parametrize(
    ("expression", "value"), [("0x42", 0x42), ("7u", 7), ("-3", -3), ("1 << 3", None), ("N", None)]
)
def test_the_value_of_a_number_is_known_where_it_is_written_down(expression, value):
    assert known(f'void f() {{ asm("(M1, 1) %0" :: "i"({expression})); }}').value == value
