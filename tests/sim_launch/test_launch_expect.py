"""Expectations: exact, with tolerances, and how a difference is told."""

import numpy as np
import pytest

from visa_lsp.sim.launch import expect as comparing
from visa_lsp.sim.launch.config import Expectation
from visa_lsp.sim.launch.expect import LargestError, mismatch, ulp_distance

F32 = np.float32


def expect(array, **more):
    return Expectation(0, np.asarray(array), **more)


def difference(array, wanted):
    found = mismatch(array, wanted)
    return found and found.message


def test_equal_arrays_hold_whatever_their_shape():
    assert difference(np.arange(6, dtype=F32).reshape(2, 3), expect(np.arange(6, dtype=F32))) is None


def test_values_take_the_type_of_the_buffer():
    assert difference(np.array([0.1], F32), expect([0.1], typed=False)) is None


@pytest.mark.parametrize("number", [3.5, 300, -1, float("nan"), float("inf")])
def test_values_that_an_integer_type_would_cut_are_told(number):
    message = difference(np.array([1, 3], np.uint8), expect([1, number], typed=False))
    assert message == f"is uint8, which has no {number}, as is expected"


def test_nan_is_nan_and_zeros_are_equal():
    assert difference(np.array([np.nan, -0.0], F32), expect(np.array([np.nan, 0.0], F32))) is None


def test_first_differences_are_told():
    message = difference(np.zeros((2, 3), np.int32), expect(np.array([[0, 1, 2], [3, 4, 0]], np.int32)))
    assert (
        message
        == "4 of 6 elements differ: [0, 1] is 0, expected 1, [0, 2] is 0, expected 2, [1, 0] is 0, expected 3, ..."
    )


@pytest.mark.parametrize(
    ("tolerance", "holds"),
    [({}, False), ({"rtol": 1e-6}, True), ({"rtol": 1e-9}, False), ({"atol": 1e-6}, True), ({"ulp": 1}, True)],
)
def test_tolerances(tolerance, holds):
    found = np.nextafter(F32(1), F32(2), dtype=F32).reshape(1)
    assert (difference(found, expect(np.array([1], F32), **tolerance)) is None) is holds


@pytest.mark.parametrize(
    ("array", "words"), [(np.zeros(3, F32), "3 are expected"), (np.zeros(2, np.int32), "is float32, int32 is expected")]
)
def test_wrong_size_or_type(array, words):
    assert words in difference(np.zeros(2, F32), expect(array))


def test_infinity_is_not_near_the_largest_number():
    assert difference(np.array([3e38], F32), expect(np.array([np.inf], F32), rtol=1.0)) is not None


def test_ulp_distance_crosses_zero():
    tiny = np.nextafter(F32(0), F32(1))
    assert ulp_distance(np.array([tiny], F32), np.array([-tiny], F32)).tolist() == [2]
    assert ulp_distance(np.array([5], np.int8), np.array([-5], np.int8)).tolist() == [10]


def test_the_largest_errors_have_a_place_each():
    found = mismatch(np.array([100, 1.5, 0, 7], F32), expect(np.array([101, 1, 1e-6, 7], F32)))
    assert found is not None
    assert found.absolute == LargestError(1.0, 0)
    assert found.relative == LargestError(1.0, 2)
    assert (found.ulp.at, found.count, found.first) == (2, 3, (0, 1, 2))
    assert found.differs.tolist() == [True, True, True, False]


def test_what_is_not_finite_is_counted_and_no_error():
    found = mismatch(np.array([np.nan, np.inf, 2], F32), expect(np.array([1, 2, 1], F32)))
    assert (found.count, found.unordered, found.absolute) == (3, 2, LargestError(1.0, 2))
    found = mismatch(np.array([np.nan], F32), expect(np.array([0], F32)))
    assert (found.absolute, found.relative, found.ulp) == (None, None, None)


def test_errors_of_integers_are_exact():
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    found = mismatch(np.array([low]), expect(np.array([high])))
    assert (found.absolute, found.ulp) == (LargestError((1 << 64) - 1, 0), None)
    assert mismatch(np.array([3]), expect(np.array([0]))).relative is None


def test_a_long_array_is_compared_part_by_part(monkeypatch):
    monkeypatch.setattr(comparing, "_PART", 4)
    wanted = np.arange(11, dtype=F32)
    found = mismatch(wanted + np.array([0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 1], F32), expect(wanted))
    assert (found.count, found.first, found.absolute) == (2, (5, 10), LargestError(3.0, 5))
    assert found.message == "2 of 11 elements differ: [5] is 8.0, expected 5.0, [10] is 11.0, expected 10.0"


def test_arrays_of_another_size_have_nothing_counted():
    found = mismatch(np.zeros(2, F32), expect(np.zeros(3, F32)))
    assert (found.differs, found.count, found.expected.size) == (None, 0, 3)
