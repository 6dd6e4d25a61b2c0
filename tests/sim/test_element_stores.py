"""Who stored what in an element: the listener of ``compare-runs``, on the example saxpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.program import module_of_text
from visa_lsp.app.launch.runner import RunOptions, ready
from visa_lsp.isa.platforms import platform_named
from visa_lsp.sim.machine import run
from visa_lsp.sim.observers.stores import StoreRecorder, first_difference

TEXT = Path(__file__).parents[2] / "examples" / "saxpy.visaasm"
LAUNCH = """\
groups: [2]
local_size: [16]
args:
  x: {buffer: {dtype: float32, shape: [32], init: arange}}
  y: {buffer: {dtype: float32, shape: [32], init: ones}}
  a: {value: FACTOR}
  n: {value: 30}
"""


def recorded(factor, elements):
    module = module_of_text(TEXT.read_text(), TEXT, platform_named("TGLLP"), [])
    launch = parse_launch(LAUNCH.replace("FACTOR", factor), TEXT.with_name("k.launch.yaml"))
    prepared = ready(module, launch, RunOptions(TEXT)).prepared
    recorder = StoreRecorder(prepared.buffers["y"], np.array(elements), 4)
    run(prepared.dispatch, (recorder,))
    return recorder


def test_a_store_has_its_group_lane_line_and_value():
    stores = recorded("2", [3, 17, 31]).stores
    assert {element: len(found) for element, found in stores.items()} == {3: 1, 17: 1, 31: 0}
    (store,) = stores[17]
    assert (store.group, store.thread, store.lane, store.order) == ((1, 0, 0), 0, 1, 1)
    assert np.frombuffer(store.value, np.float32).tolist() == [35.0]
    assert TEXT.read_text().splitlines()[store.line].strip().startswith("scatter4_scaled")


def test_the_first_store_that_differs_is_that_of_the_element_stored_first():
    a, b = recorded("2", [29, 5, 0]), recorded("3", [29, 5, 0])
    element, one, other = first_difference(a, b)
    assert (element, one.lane, other.lane) == (5, 5, 5)
    assert first_difference(a, recorded("2", [29, 5, 0])) is None
