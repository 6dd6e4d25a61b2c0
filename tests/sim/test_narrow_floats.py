"""Eight-bit floats of ``fcvt``: every half value to both formats and back, saturated and not."""

import ml_dtypes
import numpy as np
import pytest

from visa_lsp.sim.effects import moves

HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


@pytest.mark.parametrize(
    ("convert", "kind"), [(moves._bf8, ml_dtypes.float8_e5m2), (moves._hf8, ml_dtypes.float8_e4m3fn)]
)
def test_every_half_is_rounded_to_nearest_even(convert, kind):
    ours = convert(HALVES, clamps=False).view(kind).astype(np.float32)
    with np.errstate(all="ignore"):
        theirs = HALVES.astype(kind).astype(np.float32)
    assert np.array_equal(ours, theirs, equal_nan=True)
    assert np.array_equal(np.signbit(ours), np.signbit(theirs))


@pytest.mark.parametrize(
    ("convert", "kind", "most"),
    [(moves._bf8, ml_dtypes.float8_e5m2, 57344), (moves._hf8, ml_dtypes.float8_e4m3fn, 448)],
)
def test_saturation_keeps_the_largest_number(convert, kind, most):
    ours = convert(HALVES, clamps=True).view(kind).astype(np.float32)
    with np.errstate(all="ignore"):
        plain = HALVES.astype(kind).astype(np.float32)
    fits = np.isfinite(plain)
    assert np.array_equal(ours[fits], plain[fits])
    beyond = ~fits & ~np.isnan(HALVES)
    assert np.array_equal(ours[beyond], np.copysign(np.float32(most), HALVES[beyond]))
    assert np.isnan(ours[np.isnan(HALVES)]).all()


def test_every_code_of_hf8_has_its_value():
    codes = np.arange(256, dtype=np.uint8)
    assert np.array_equal(moves._HF8_VALUES, codes.view(ml_dtypes.float8_e4m3fn).astype(np.float16), equal_nan=True)
