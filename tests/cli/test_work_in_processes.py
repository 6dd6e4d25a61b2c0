"""Work in several processes: the order of its results, and what becomes of a process that ends."""

from __future__ import annotations

import os
from multiprocessing import active_children

import pytest

from visa_lsp.app.errors import UserError
from visa_lsp.app.parallel import in_processes


def doubled(number):
    return 2 * number


def dies(number):
    if number == 5:
        os._exit(3)
    return number


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_results_stand_in_the_order_of_the_work(count):
    assert list(in_processes(doubled, range(40), count)) == list(range(0, 80, 2))


def test_a_process_that_ends_is_an_error_of_one_line_and_no_hang():
    before = set(active_children())  # a cluster of other tests may be there
    with pytest.raises(UserError, match="a worker process ended unexpectedly"):
        list(in_processes(dies, range(40), 2))
    assert set(active_children()) <= before


def test_who_stops_asking_leaves_no_process_behind():
    before = set(active_children())
    results = in_processes(doubled, range(1000), 2)
    assert next(results) == 0
    results.close()
    assert set(active_children()) <= before
