"""Differences of stores: the first in the order of threads, and none in bytes that depend on what nothing has written."""

import numpy as np

from visa_lsp.eu.store_log import StoreLog, StoreRecord, find_difference, find_load

THREAD = ((0, 0, 0), 0)


def log_of(values):
    log = StoreLog(())
    at = np.arange(0x1000, 0x1000 + len(values))
    log.threads[THREAD] = [StoreRecord(3, at, 1, np.arange(len(values)), np.array(values, np.uint8).reshape(-1, 1))]
    return log


def test_bytes_of_undefined_values_do_not_count():
    text, code = log_of([1, 0, 5]), log_of([1, 72, 5])
    difference = find_difference(text, code)
    assert difference is not None
    assert difference.byte == 0x1001
    assert find_difference(text, code, [log_of([1, 9, 5])]) is None
    other = find_difference(text, log_of([1, 72, 6]), [log_of([1, 9, 5])])
    assert other is not None
    assert other.byte == 0x1002


def test_a_load_of_what_the_text_stores_is_no_surplus():
    text, code = log_of([1, 2]), log_of([1, 2])
    code.loads[THREAD] = [StoreRecord(2, np.array([0x1001]), 1, np.array([0]), None)]
    assert find_load(text, code) is None
    code.loads[THREAD] = [StoreRecord(2, np.array([0x1002]), 1, np.array([0]), None)]
    surplus = find_load(text, code)
    assert surplus is not None
    assert surplus.byte == 0x1002
