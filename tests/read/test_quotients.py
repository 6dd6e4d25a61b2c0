"""A multiplication by a reciprocal becomes a division only where it is one for every value."""

from __future__ import annotations

import pytest

from visa_lsp.app.read.quotients import HIGH_HALF, find_divisor, with_quotients

EDGES = [0, 1, 2, 6, 7, 8, 299, 300, 2**31 - 2, 2**31 - 1, 2**32 - 1]
NEGATIVE = [-1, -2, -6, -7, -8, -(2**31) + 1, -(2**31)]


@pytest.mark.parametrize("factor", [0x55555556, 0x92492493, 0x1B4E81B5, 0x78787879, 0xCCCCCCCD, 0x24924925, 0x51EB851F])
def test_quotients_are_those_of_all_values(factor):
    for shift in range(8):
        for signed in (True, False):
            text = f"mul_hi(v, {factor})"
            if signed and factor >> 31:
                text = f"mul_hi(v, {factor - (1 << 32)}) + v"
            hit = HIGH_HALF.fullmatch(text)
            divisor = find_divisor(hit, shift, signed=signed)
            for base in [*EDGES, *NEGATIVE] if divisor else []:
                for value in (base, base // divisor * divisor, base // divisor * divisor - 1):
                    low, high = (-(1 << 31), 1 << 31) if signed else (0, 1 << 32)
                    if low <= value < high:
                        found = (value * factor >> 32 + shift) + (value < 0)
                        assert found == (abs(value) // divisor if value >= 0 else -(-value // divisor))


def test_remainders():
    types = {"n": "int", "u": "uint"}.get
    assert with_quotients("x = -300 * (n / 300) + n;", lambda name: types(name, "")) == "x = n % 300;"
    assert with_quotients("x = mul_hi(u, 0xcccccccdu) >> 3;", lambda name: types(name, "")) == "x = u / 10;"
    assert (
        with_quotients("x = mul_hi(f, 0xcccccccdu) >> 3;", lambda name: types(name, ""))
        == "x = mul_hi(f, 0xcccccccdu) >> 3;"
    )
    assert with_quotients("x = mul_hi(u, 0xcccccccdu) >> 2;", lambda name: types(name, "")) == "x = u / 5;"
