"""Rules on lines of C: bytes have the types of bytes, text is compared with characters, and loops go on without ``goto``."""

import pytest

from visa_lsp.app.read.array_copies import read_constants, spread_components
from visa_lsp.app.read.characters import write_characters
from visa_lsp.app.read.choices import write_branches
from visa_lsp.app.read.code_lines import Body, Line, Node, change_lines, walk
from visa_lsp.app.read.counters import add_low_bits
from visa_lsp.app.read.half_tests import compare_whole
from visa_lsp.app.read.integer_forms import index_by_source, plain_range, write_integers
from visa_lsp.app.read.names import BY_NAME
from visa_lsp.app.read.narrow import Narrower
from visa_lsp.app.read.nests import join_nests
from visa_lsp.app.read.quotients import HighHalf, find_divisor, join_quotient, join_remainders
from visa_lsp.app.read.repeats import join_repeats
from visa_lsp.app.read.shape import Shaper
from visa_lsp.app.read.signs import Signs
from visa_lsp.app.read.skip_flags import drop_flags
from visa_lsp.app.read.tidy import in_decimal
from visa_lsp.app.read.tree import leaf, parse
from visa_lsp.app.read.usual_forms import write_continues, write_usual_forms


def nodes(*lines):
    """Return lines as nodes; one that ends with a brace has those up to the line that closes it."""
    stack = [[]]
    for line in lines:
        if line.startswith("}"):
            stack.pop()
        if line == "}":
            stack[-1][-1].tail = Line(line)
        else:
            is_head = line.endswith("{")
            is_loop = line.startswith(("for", "while", "do"))
            stack[-1].append(Node(line, inner=[] if is_head else None, is_loop=is_head and is_loop))
            if is_head:
                stack.append(stack[-1][-1].inner)
    return stack[0]


def body_of(lines, **words):
    """Return a body whose variables have the types ``words``, and an array ``p`` of bytes."""
    kinds = {name: BY_NAME[word] for name, word in words.items()}
    return Body(
        nodes(*lines),
        {name: f"{word} {name}" for name, word in words.items()},
        kinds,
        {"p": "uchar"},
        {},
        (),
        frozenset(),
    )


def texts(code):
    return [text for node in walk(code) for text in node.texts()]


@pytest.mark.parametrize(
    ("lines", "types"),
    [
        (["t = c ? s : u;", "p[i] = t;", "p[i] = (uchar)t > 3;"], {"t": "uchar", "s": "short", "u": "short"}),
        (["s = (char)p[i];", "t = s;", "p[i] = (uchar)t + 1;"], {"s": "uchar", "t": "uchar"}),
        (["t = (char)p[i];", "u = (char)t * 2;", "p[u] = 1;"], {"t": "char", "u": "short"}),
        (["t = (char)p[i];", "u = t >> 1;", "p[i] = (uchar)t;"], {"t": "short"}),
        (["t = s;", "t >>= 1;", "p[i] = (uchar)t;"], {"t": "short"}),
        (["d = s * 3;", "p[i] = (uchar)d;"], {"d": "int"}),
        (["d = s * 3;", "p[i] = (uchar)d;", "u = (uchar)d;"], {"d": "uchar"}),
    ],
)
def test_variables_are_bytes_where_all_uses_take_one(lines, types):
    body = body_of(lines, c="int", i="int", d="int", s="short", t="short", u="short")
    Narrower(body, Signs(body)).run()
    assert {name: body.types[name].split()[0] for name in types} == types


def test_text_is_compared_with_characters():
    lines = [
        "char c = text[i];",
        "if (c == 45) {",
        "n = c - 48;",
        "m = c - 3;",
        "}",
        "if (text[i] != 10) break;",
        "k = d == 45;",
    ]
    code = nodes(*lines)
    write_characters(code, ["global char *text"])
    expected = ["if (c == '-') {", "}", "n = c - '0';", "m = c - 3;", r"if (text[i] != '\n') break;", "k = d == 45;"]
    assert texts(code)[1:] == expected
    numbers = nodes("char c = q[i];", "if (c < 45) break;", "if (c == 10) break;")
    before = texts(numbers)
    write_characters(numbers, ["global char *q"])
    assert texts(numbers) == before


def test_jumps_to_the_end_of_a_round_are_continue():
    loop = ["while (i < n) {", "if (a) goto L7;", "b++;", "L7:;", "i++;", "}"]
    body = body_of(loop)
    write_continues(body)
    assert texts(body.code) == ["for (; i < n; i++) {", "}", "if (a) continue;", "b++;"]
    inside = ["while (i < n) {", "for (;;) {", "if (a) goto L7;", "}", "b++;", "L7:;", "i++;", "}"]
    body = body_of(inside)
    write_continues(body)
    assert texts(body.code) == texts(nodes(*inside))


def test_a_quotient_in_two_variables_is_one():
    half = HighHalf(leaf("v"), 0x55555556, is_unsigned=False, added=0)
    assert find_divisor(half, 0, signed=True) == 3
    lines = ["a = q >> 1;", "b = (uint)q >> 31;", "c = a + (b + 7);"]
    half = HighHalf(leaf("v"), 0x2AAAAAAB, is_unsigned=False, added=0)
    divisor = find_divisor(half, 1, signed=True)
    first, *rest = nodes("q = mul_hi(v, 0x2aaaaaab);", *lines)
    join_quotient(rest, first, half)
    assert [first.text, *texts(rest)] == ["", f"a = v / {divisor};", "", "c = a + 7;"]
    first, *rest = nodes("q = mul_hi(v, 0x2aaaaaab);", *lines, "d = a;")
    join_quotient(rest, first, half)
    assert texts(rest) == [*lines, "d = a;"]


def test_what_a_division_leaves_is_a_remainder():
    body = body_of(["q = v / 60;", "r = -60 * q + v;", "s = v - q * 61;"], q="int", v="int", r="int", s="int")
    join_remainders(body)
    assert texts(body.code) == ["q = v / 60;", "r = v % 60;", "s = v - q * 61;"]


def test_numbers_of_64_bits_are_compared_whole():
    texts_by_halves = {
        "(uint)(x >> 32) < (uint)(y >> 32) || ((uint)(x >> 32) == (int)(y >> 32) && (uint)x < (uint)y)": "x < y",
        "(int)(x >> 32) < (int)(y >> 32) || ((int)(x >> 32) == (int)(y >> 32) && (uint)x <= (uint)y)": "(long)x <= (long)y",
        "(uint)(s >> 32) > 0 || ((uint)(s >> 32) == 0 && (uint)s >= i)": "(ulong)s >= i",
        "(int)(x >> 32) == (int)(y >> 32) && (int)x == (int)y": "x == y",
        "(uint)(x >> 32) == 0 && (uint)x < 5": "x < 5",
        "(uint)(x >> 32) >= 1": "(x >> 32) != 0",
        "(int)(x >> 32) < (int)(y >> 32) || ((int)(x >> 32) == (int)(y >> 32) && (int)x < (int)y)": "",
        "(uint)(x >> 32) < (uint)(y >> 32) || ((uint)(x >> 32) == (uint)(y >> 32) && (uint)y < (uint)x)": "",
        "(uint)(x >> 32) < (uint)(y >> 32) || ((uint)(x >> 32) == (uint)(s >> 32) && (uint)x < (uint)y)": "",
        "(uint)(x >> 32) == 0 && (uint)x < n": "",
    }
    type_of = Signs(body_of([], x="ulong", y="ulong", s="long", i="uint", n="int")).type_of
    whole = {text: compare_whole(parse(text), type_of) for text in texts_by_halves}
    assert {text: str(tree) if tree is not None else "" for text, tree in whole.items()} == texts_by_halves


def test_ranges_are_two_comparisons():
    ranges = {
        "(uint)(i - 5) < 3": "i >= 5 && i < 8", "(uint)(n - 4) < 0xfffffffdu": "n < 1 || n >= 4", "(uint)(n - 4) >= 0xfffffffdu": "n >= 1 && n < 4",
        "(uint)(n - 2) < 0xfffffffdu": "", "(uint)(n - 5) < 0x7fffffff": "", "(uint)(x - 5) < 3": "", "n - 5 < 3": "",
    }  # fmt: skip
    type_of = Signs(body_of([], x="ulong", i="uint", n="int")).type_of
    plain = {text: plain_range(parse(text), type_of) for text in ranges}
    assert {text: str(tree) if tree is not None else "" for text, tree in plain.items()} == ranges


def test_numbers_of_sums_are_decimal_and_masks_are_not():
    numbers = {
        "x * 0x15180": "x * 86400",
        "x > -0xafa6d": "x > -719469",
        "x & 0x15180": "x & 0x15180",
        "x + 0x80000": "x + 0x80000",
    }
    assert {text: str(parse(text).change(in_decimal)) for text in numbers} == numbers
    code = nodes("a = x - 0x3f3504f3;")
    change_lines(code, in_decimal)
    assert texts(code) == ["a = x - 0x3f3504f3;"]


def test_choices_by_a_flag_and_of_old_values_are_branches():
    lines = [
        "a = 0;",
        "b = 0;",
        "c = f ? 1 : 2;",
        "a = f ? a + 1 : a;",
        "b = f ? b : 5;",
        "f = a > 3;",
        "b = i < n ? b : 7;",
    ]
    body = body_of(lines, a="int", b="int", c="int", f="bool", i="int", n="int")
    write_branches(body, Signs(body).type_of, Shaper(body).opposite)
    expected = [
        "a = 0;",
        "b = 0;",
        "c = f ? 1 : 2;",
        "if (f) {",
        "a = a + 1;",
        "} else {",
        "}",
        "b = 5;",
        "f = a > 3;",
        "if (i >= n) {",
        "}",
        "b = 7;",
    ]
    assert texts(body.code) == expected
    for line in ("a = f ? w : a;", "a = f ? g() : a;"):  # of another width; of all lanes
        body = body_of(["a = 0;", line], a="long", w="uint", f="bool")
        write_branches(body, Signs(body).type_of, Shaper(body).opposite)
        assert texts(body.code) == ["a = 0;", line]


def test_a_copy_of_64_bits_is_no_variable_of_its_own_until_its_source_changes():
    kinds = {"v": "uint", "w": "long", "c": "bool"}
    body = body_of(["w = v;", "if (c) {", "p[w] = 1;", "v = 5;", "}"], **kinds)
    index_by_source(body, body.code, [], Signs(body).type_of)
    assert texts(body.code) == ["if (c) {", "}", "p[v] = 1;", "v = 5;"]
    for rest in (["for (;;) {", "p[w] = 1;", "v = 5;", "}"], ["v = 5;", "p[w] = 1;"]):
        body = body_of(["v = 1;", "w = v;", *rest], **kinds)
        index_by_source(body, body.code, [], Signs(body).type_of)
        assert texts(body.code)[1] == "w = v;"


def test_a_vector_is_loaded_with_the_sign_that_all_its_components_get():
    lines = ["v = *(uchar4 *)&p[i];", "t = (char4){v.x, v.y, v.z, v.w};", "d = dp4a(0, as_int(t), 3);"]
    body = body_of(lines, d="int", i="int")
    body.types |= {"v": "uchar4 v", "t": "char4 t"}
    write_usual_forms(body)
    assert texts(body.code) == ["v = *(char4 *)&p[i];", "d = dp4a(0, as_int(v), 3);"]
    assert body.types["v"] == "char4 v"
    body = body_of([*lines, "d = v.x;"], d="int", i="int")
    body.types |= {"v": "uchar4 v", "t": "char4 t"}
    write_usual_forms(body)
    assert texts(body.code) == [*lines, "d = v.x;"]


def test_large_constants_are_near_0_only_where_the_lower_bytes_alone_count():
    values = {
        "w * 0xfffeae80UL + i": "w * -86400 + i",
        "((ulong)((long)i * 0xfffff800u) >> 32) + i * 0xffffffffu": "((ulong)((long)i * 0xfffff800u) >> 32) + i * -1",
        "w * 0x9e3779b9UL": "w * 0x9e3779b9UL",
    }
    signs = Signs(body_of([], w="ulong", i="uint"))
    assert {text: str(signs.low(parse(text), 4)) for text in values} == values


def nest_of(count, level, last=()):
    """Return a nest of so many levels, each the lines ``level`` with its number in place of ``@``, the one before in place of ``#``."""
    lines = []
    for number in range(count):
        lines += [line.replace("@", str(number)).replace("#", str(number - 1)) for line in level]
    return [*lines, *last, *["}"] * count]


def joined(lines, **words):
    body = body_of(lines, **words)
    join_nests(body, Shaper(body).opposite)
    return texts(body.code)


def test_a_nest_of_equal_levels_is_a_loop():
    search = nest_of(5, ["if (p[@] == 7) {", "t = @;", "} else {"], ["t = 9;"])
    expected = [
        "for (V_2 = 0; V_2 < 5; V_2++) {", "}", "if (p[V_2] == 7) {", "}", "t = V_2;", "break;", "if (V_2 == 5) {", "}", "t = 9;",
    ]  # fmt: skip
    assert joined(search, t="int", n="int") == expected
    names = {f"V_{number}x": "int" for number in range(7)}
    chain = ["V_0x = n;", *nest_of(6, ["V_@x = p[V_#x];", "if (V_@x != 0) {"], ["t = V_5x;"])]
    chain = [line.replace("V_-1x", "n") for line in chain[1:]]
    expected = [
        "V_0x = n;", "for (V_9 = 0; V_9 < 6; V_9++) {", "}", "V_0x = p[V_0x];", "if (V_0x == 0) break;", "if (V_9 == 6) {", "}", "t = V_0x;",
    ]  # fmt: skip
    assert joined(chain, t="int", n="int", **names) == expected


@pytest.mark.parametrize(
    ("level", "last", "more"),
    [
        (
            ["V_@x = p[V_#x];", "if (V_@x != 0) {"],
            ["t = V_5x + V_2x;"],
            [],
        ),  # a variable of a level in the middle is used later
        (
            ["V_@x = p[V_#x];", "t = V_#x;", "if (V_@x != 0) {"],
            [],
            [],
        ),  # what the level before left is used when it is set again
        (["if (p[@] == 7) {", "t = @;", "} else {"], [], []),  # a number that does not count
        (["if (p[@] == 7) break;", "if (n) {"], [], []),  # an exit of a loop around
    ],
)
def test_other_nests_stay(level, last, more):
    names = {f"V_{number}x": "int" for number in range(7)}
    lines = [line.replace("V_-1x", "n").replace("p[3]", "p[9]") for line in [*nest_of(6, level, last), *more]]
    assert not any(text.startswith("for") for text in joined(lines, t="int", n="int", **names))


def test_copies_of_constant_memory_are_read_where_it_is():
    def after(lines, constants=("p",)):
        body = body_of(lines, a="uchar", i="int")
        body.types["v"] = "uchar v[8]"
        read_constants(body, constants)
        return texts(body.code)

    lines = ["memcpy(v, &p[4], 8);", "a = v[3] + v[i];"]
    assert after(lines) == ["a = p[3 + 4] + p[i + 4];"]
    assert after(lines, ()) == lines
    assert after([*lines, "v[i] = 1;"]) == [*lines, "v[i] = 1;"]


def test_a_number_is_not_that_of_a_line_which_a_jump_passes_over():
    lines = ["a = i * 3 + n;", "p[a] = 1;", "b = i * 3 + n;", "p[b] = 2;"]
    kinds = {"a": "int", "b": "int", "i": "int", "n": "int", "c": "bool"}
    body = body_of(lines, **kinds)
    write_integers(body, Signs(body).type_of)
    assert texts(body.code) == [*lines[:2], "p[a] = 2;"]
    jump = ["if (c) goto L5;", *lines[:2], "L5:;", *lines[2:]]
    body = body_of(jump, **kinds)
    write_integers(body, Signs(body).type_of)
    assert texts(body.code) == jump


def test_unrolled_steps_of_a_loop_with_a_total_in_turns_are_a_loop():
    steps = [f"V_{k} = f(p[(long)(uint)(i + {32 * k})], (float)(i - n + {32 * k}) * x);" for k in range(4)]
    steps[0] = "V_0 = f(p[(long)(uint)i], (float)(i - n) * x);"
    rounds = [
        line
        for k, step in enumerate(steps)
        for old, new in [(f"V_2{k}", f"V_2{(k + 1) % 4}")]
        for line in (step, f"if (V_{k} > x) {{", f"{new} = {old} * V_{k};", "} else {", f"{new} = {old} + V_{k};", "}")
    ]
    lines = ["V_20 = 0.0f;", "do {", *rounds, "i += 128;", "}", "p[n] = V_20;"]
    names = [f"V_{k}" for k in range(4)] + [f"V_2{k}" for k in range(4)]
    body = body_of(lines, i="int", n="int", x="float", **dict.fromkeys(names, "float"))
    body.code[1].tail = Line("} while (i < n);")
    join_repeats(body)
    assert texts(body.code)[3:-2] == [
        "for (V_11 = 0; V_11 < 128; V_11 += 32) {", "}",
        "V_0 = f(p[(long)(uint)(i + V_11)], (float)(i - n + V_11) * x);",
        "if (V_0 > x) {", "V_20 *= V_0;", "} else {", "}", "V_20 += V_0;",
    ]  # fmt: skip


def test_a_total_that_is_needed_once_more_keeps_its_variable():
    lines = ["V_0 = 0.0f;", "for (k = 0; k < 9; k++) {", "V_1 = V_0 + x;", "p[k] = V_0;", "V_0 = V_1 * x;", "}", "p[9] = V_0;"]  # fmt: skip
    body = body_of(lines, k="int", V_0="float", V_1="float", x="float")
    Shaper(body).unite_steps()
    assert texts(body.code)[3] == "V_1 = V_0 + x;"


@pytest.mark.parametrize(
    ("between", "text"),
    [((), "p[0] = v.y + (int)v.y;"), (("v = w;",), "p[0] = t + (int)t;"), (("t = 1;",), "p[0] = t + (int)t;")],
)
def test_a_component_is_no_variable_of_its_own_until_its_vector_changes(between, text):
    body = body_of(["v = w;", "t = v.y;", *between, "p[0] = t + (int)t;"], t="float")
    body.types |= {"v": "float4 v", "w": "float4 w"}
    spread_components(body)
    assert texts(body.code)[-1] == text


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (
            ["f = false;", "if (a > 3) {", "if (b != 0) {", "f = true;", "}", "}", "if (!f) {", "c++;", "}"],
            ["if (a <= 3 || b == 0) {", "c++;", "}"],
        ),
        (
            ["f = false;", "if (a > 3) {", "c = 1;", "} else {", "if (c == 0) {", "f = true;", "}", "}", "if (!f && b > 2) {", "c++;", "}"],
            ["if (a > 3) {", "c = 1;", "}", "if ((a > 3 || c != 0) && b > 2) {", "c++;", "}"],
        ),
        (
            ["f = false;", "if (a > 3) {", "if (b == 2) {", "g = true;", "f = true;", "}", "} else {", "if (b == 5) {", "g = true;", "f = true;", "}", "}", "if (!f) {", "g = false;", "}"],
            ["g = (a > 3) ? b == 2 : b == 5;"],
        ),
        *(
            ([*lines, "if (!f) {", "c++;", "}", *after], [*lines, "if (!f) {", "c++;", "}", *after])
            for lines, after in [
                (["f = false;", "if (a > 3) {", "a = 0;", "f = true;", "}"], []),  # the condition is another one afterwards
                (["f = false;", "if (p[a] > 3) {", "p[b] = 0;", "} else {", "f = true;", "}"], []),
                (["f = false;", "if (a > 3) {", "f = true;", "}"], ["c = f;"]),
            ]
        ),
    ],
)  # fmt: skip
def test_flags_of_ways_are_conditions(lines, wanted):
    body = body_of(lines, a="int", b="int", c="int", f="bool", g="bool")
    drop_flags(body, Shaper(body).opposite)
    assert texts(body.code) == texts(nodes(*wanted))


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (["k = 0;", "while (a) {", "c = k | 3;", "k += 4;", "}", "k++;"], "c = k + 3;"),
        (["k = 8;", "if (a) {", "while (a) {", "c = k | 5;", "k = k + 16;", "}", "}"], "c = k + 5;"),
        (["k = 8;", "c = k | 1;", "k++;"], "c = k | 1;"),
        (["k = 0;", "while (a) {", "c = k | 3;", "k += 2;", "}"], "c = k | 3;"),
        (["k = 0;", "while (a) {", "c = k | 1;", "k += b;", "}"], "c = k | 1;"),
        (["k = 0;", "while (a) {", "L1:;", "c = k | 1;", "k += 2;", "}"], "c = k | 1;"),
    ],
)
def test_low_bits_of_multiples_are_sums(lines, wanted):
    body = body_of(lines, a="bool", b="int", c="int", k="int")
    add_low_bits(body)
    assert wanted in texts(body.code)
