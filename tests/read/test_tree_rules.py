"""Rules on the trees of lines of C write what compilers make as a person would; other values stay as they are."""

from visa_lsp.app.read.code_lines import Body
from visa_lsp.app.read.element_indexes import divided, short_index
from visa_lsp.app.read.halves import HIGH, LOW, Halves
from visa_lsp.app.read.quotients import drop_zeros
from visa_lsp.app.read.shape import opposite
from visa_lsp.app.read.signs import Signs
from visa_lsp.app.read.tidy import plain_value
from visa_lsp.app.read.tree import leaf, parse
from visa_lsp.isa import types as ty

VALUES = {
    "as_half((ushort)(uint)as_ushort(x + y))": "x + y",
    "as_half((ushort)(uint)as_ushort(float_to_bf(x)))": "as_half((ushort)(uint)as_ushort(float_to_bf(x)))",
    "(uchar)(int)(uchar)x": "(uchar)x",
    "image_at((uint)handle_of(in))": "in",
    "sampler_at(inline_sampler(0) | 1)": "constant_sampler(0)",
}
INDEXES = {
    "a[(x * 4 + 8) / 4]": "a[x + 2]",
    "a[(68 * y + x * 4) / 4 + 1]": "a[y * 17 + x + 1]",
    "a[(ushort)((i & 15) * 32) / 32]": "a[i & 15]",
    "a[(x * 4 + 2) / 4]": "a[(x * 4 + 2) / 4]",
    "a[(x + y) / 4]": "a[(x + y) / 4]",
}
WHOLES = {
    ("(uint)p", "(uint)(p >> 32)"): "p",
    ("(uint)p + i", "carry((uint)p, i) + (uint)(p >> 32)"): "p + i",
    ("x + 8 + i", "carry(x + 8, i) + (carry(x, 8) + y)"): "w + i + 8",
    ("x + 8", "y"): "None",
    ("x + i", "carry(x, i) + y + j"): "None",
    ("i + x", "carry(i, x) + 0 + y"): "w + i",
    ("x - i", "y - borrow(x, i)"): "w - i",
    ("x - i", "carry(x, -i) + y"): "None",
    ("-x", "-borrow(0, x) - y"): "-w",
    ("-x", "-y"): "None",
    ("x - 5", "carry(x, (uint)-5) + y - 1"): "w - 5",
    ("x - 5", "carry(x, (uint)-5) + y"): "w + 0xfffffffbUL",
    ("i * j", "mul_hi(i, j)"): "(ulong)i * j",
    ("x * 0x4c957f2d", "mul_hi(x, 0x4c957f2d) + x * 0x5851f42d + 0x4c957f2d * y"): "w * 0x5851f42d4c957f2dUL",
    ("x * 3", "mul_hi(x, 3) + x * 5 + 4 * y"): "None",
    ("x >> 3 | y << 29", "y >> 3"): "w >> 3",
    ("x >> 3 | y << 28", "y >> 3"): "None",
    ("x << 3", "y << 3 | x >> 29"): "w << 3",
    ("x << 3 | y >> 29", "y << 3 | x >> 29"): "rotate_left_64(w, 3)",
    ("y << 3 | x >> 29", "x << 3 | y >> 29"): "rotate_left_64(w, 35)",
    ("x ^ (i & 3)", "y"): "w ^ (ulong)(i & 3)",
    ("x & ~i", "y & ~j"): "None",
    ("x ^ 255", "y"): "w ^ 255UL",
    ("x ^ 1", "y ^ 2"): "w ^ 0x200000001UL",
    ("s", "s >> 31"): "(long)s",
    ("i", "i >> 31"): "None",
}


def test_values_and_indexes():
    for rule, cases in ((plain_value, VALUES), (short_index, INDEXES)):
        assert {text: str(parse(text).change(rule)) for text in cases} == cases


def test_one_of_the_terms_may_be_a_multiple():
    assert str(divided(parse("V + x * 8"), 4, {"V", "W"})) == "V / 4 + x * 2"
    assert divided(parse("V + W"), 4, {"V", "W"}) is None


def test_values_of_two_dwords():
    kinds = {"p": ty.UQ, "w": ty.UQ, "s": ty.D} | dict.fromkeys("xyij", ty.UD)
    halves = Halves(Signs(Body([], {}, kinds, {}, {}, (0, 0, 0), frozenset())).type_of)
    halves.pairs = {"x": (leaf("w"), LOW), "y": (leaf("w"), HIGH)}
    assert {pair: str(halves.join(*map(parse, pair))) for pair in WHOLES} == WHOLES
    tests = {
        "y != 1 || x != 2": "w != 0x100000002UL",
        "x == 2 && y == 1": "w == 0x100000002UL",
        "x == 2 || y == 1": "None",
    }
    assert {test: str(halves.test(parse(test))) for test in tests} == tests


def test_sums_of_floats_stay():
    assert str(drop_zeros(parse("x + y == y"), lambda _tree: ty.D)) == "x == 0"
    assert drop_zeros(parse("x + y == y"), lambda _tree: None) is None
    assert drop_zeros(parse("(x * 0x3ffffed4 + y) << 2"), lambda _tree: ty.Q) is None
    assert str(drop_zeros(parse("(x * 0x3ffffed4 + y) << 2"), lambda _tree: ty.D)) == "(x * -300 + y) << 2"


def test_comparisons_of_fields_that_are_floats_keep_their_sense():
    body = Body([], {}, {"i": ty.D}, {"p": "struct S"}, {}, (0, 0, 0), frozenset())
    body.fields["S"] = "float at0; int at4; half3 at8;"
    opposites = {
        "p[i].at0 < p[i + 1].at0": "!(p[i].at0 < p[i + 1].at0)",
        "p[i].at4 < p[i + 1].at4": "p[i].at4 >= p[i + 1].at4",
        "p[i].at8.x < p[i + 1].at8.x": "!(p[i].at8.x < p[i + 1].at8.x)",
    }
    assert {text: str(opposite(parse(text), body.has_floats)) for text in opposites} == opposites
