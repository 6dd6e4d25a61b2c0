"""Rules on the trees of lines of C write what compilers make as a person would; other values stay as they are."""

from visa_lsp.app.read.element_indexes import divided, short_index
from visa_lsp.app.read.quotients import drop_zeros
from visa_lsp.app.read.tidy import plain_value
from visa_lsp.app.read.tree import parse
from visa_lsp.app.read.wide import whole_value
from visa_lsp.isa import types as ty

VALUES = {
    "as_half((ushort)(uint)as_ushort(x + y))": "x + y",
    "as_half((ushort)(uint)as_ushort(float_to_bf(x)))": "as_half((ushort)(uint)as_ushort(float_to_bf(x)))",
    "(uchar)(int)(uchar)x": "(uchar)x",
    "image_at((uint)handle_of(in))": "in",
    "sampler_at(inline_sampler(0) | 1)": "sampler_at(inline_sampler(0))",
}
INDEXES = {
    "a[(x * 4 + 8) / 4]": "a[x + 2]",
    "a[(68 * y + x * 4) / 4 + 1]": "a[y * 17 + x + 1]",
    "a[(ushort)((i & 15) * 32) / 32]": "a[i & 15]",
    "a[(x * 4 + 2) / 4]": "a[(x * 4 + 2) / 4]",
    "a[(x + y) / 4]": "a[(x + y) / 4]",
}
ADDRESSES = {
    ("(uint)(ulong)p", "(uint)((ulong)p >> 32)"): "(ulong)p",
    ("(uint)(ulong)p + at", "carry((uint)(ulong)p, (uint)at) + (uint)((ulong)p >> 32)"): "(ulong)p + (uint)at",
    ("v.x + 8 + at", "carry(v.x + 8, at) + (carry(v.x, 8) + v.y)"): "as_ulong(v) + 8 + (uint)at",
    ("v.x + 8", "v.y"): "None",
    ("i + v.x", "carry((uint)i, v.x) + 0 + v.y"): "as_ulong(v) + (uint)i",
    ("size(0) * i", "(int)mul_hi(size(0), i)"): "(ulong)(uint)size(0) * (uint)i",
    (
        "v.x * 0x4c957f2d",
        "(int)((int)mul_hi(v.x, 0x4c957f2d) + v.x * 0x5851f42d) + 0x4c957f2d * (int)v.y",
    ): "as_ulong(v) * 0x5851f42d4c957f2dul",
    ("v.x * 3", "(int)mul_hi(v.x, 3) + v.x * 5 + 4 * v.y"): "None",
}


def test_values_and_indexes():
    for rule, cases in ((plain_value, VALUES), (short_index, INDEXES)):
        assert {text: str(parse(text).change(rule)) for text in cases} == cases


def test_one_of_the_terms_may_be_a_multiple():
    assert str(divided(parse("V + x * 8"), 4, {"V", "W"})) == "V / 4 + x * 2"
    assert divided(parse("V + W"), 4, {"V", "W"}) is None


def test_addresses_of_two_dwords():
    assert {pair: str(whole_value(*map(parse, pair))) for pair in ADDRESSES} == ADDRESSES


def test_sums_of_floats_stay():
    assert str(drop_zeros(parse("x + y == y"), lambda _tree: ty.D)) == "x == 0"
    assert drop_zeros(parse("x + y == y"), lambda _tree: None) is None
    assert drop_zeros(parse("(x * 0x3ffffed4 + y) << 2"), lambda _tree: ty.Q) is None
    assert str(drop_zeros(parse("(x * 0x3ffffed4 + y) << 2"), lambda _tree: ty.D)) == "(x * -300 + y) << 2"
