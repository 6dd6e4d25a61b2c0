"""OpenCL kernels with races, and with what only looks like one: compiled by ocloc for two platforms and without optimisation.

The sources are in ``orders.cl``. ``expected`` has the kinds of findings, ``note:`` before what is no fault.
"""

from __future__ import annotations

import itertools
import re
import shutil
from operator import itemgetter
from pathlib import Path

import pytest
from finalizer import compiled_kernels
from tiers import in_turns, one_of_each

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.runner import RunOptions, run_text

SOURCE = Path(__file__).with_name("orders.cl")
pytestmark = pytest.mark.skipif(shutil.which("ocloc") is None, reason="ocloc is not installed")

RACE, NOTE = {"data-race"}, {"note: data-race"}
NONE: set[str] = set()
ZEROS = "{buffer: {dtype: int32, shape: [512], init: zeros}}"
RISING = "{buffer: {dtype: float32, shape: [512], init: arange}}"
FLOATS = "{buffer: {dtype: float32, shape: [8], init: zeros}}"
LOCAL = "{local: 1024}"
# Kernel: its arguments, groups, findings of four threads and more, and of one thread where its lanes are parties.
KERNELS = {
    "counted": ((ZEROS, ZEROS), 1, RACE, RACE),
    "cleared": ((ZEROS,), 1, RACE, RACE),
    "cleared_before": ((ZEROS,), 2, NONE, NONE),
    "other_group": ((ZEROS,), 2, RACE, RACE),
    "never_equal": ((ZEROS, ZEROS), 1, NONE, NONE),
    "loads": ((ZEROS, ZEROS), 2, NONE, NONE),
    "tried_and_stored": ((ZEROS, ZEROS), 1, RACE, RACE),
    "float_sum": ((FLOATS, RISING), 2, NOTE, NOTE),
    "local_sum": ((FLOATS, RISING), 2, NOTE, NOTE),
    "used_guess": ((ZEROS, ZEROS), 1, RACE, RACE),
    "shared_unfenced": ((ZEROS, LOCAL), 2, NOTE, NOTE),
    "global_unfenced": ((ZEROS, ZEROS), 2, NOTE, NOTE),
    "both_fenced": ((ZEROS, ZEROS, LOCAL), 2, NONE, NONE),
    "fenced_apart": ((ZEROS, ZEROS, LOCAL), 2, NONE, NONE),
    "handed_on": ((ZEROS, ZEROS, ZEROS), 2, NONE, NONE),
    "neighbour": ((ZEROS.replace("zeros", "arange"),), 1, RACE, RACE),
    "reversed": ((ZEROS, LOCAL), 1, RACE | {"uninitialised-read"}, RACE),
    "all_add": ((ZEROS,), 1, RACE, RACE),
    "own_place": ((ZEROS,), 2, NONE, NONE),
    "same_value": ((ZEROS, ZEROS), 1, NONE, NONE),
    "halves": ((ZEROS, LOCAL), 1, NONE, NONE),
}
CONFIGURATIONS = {"TGLLP": ("tgllp", ""), "PVCXT": ("pvc", ""), "without optimisation": ("tgllp", "-cl-opt-disable")}


# Every kernel as every configuration compiles it; by default one for each kind of result, configurations in turns.
EVERY = one_of_each(
    in_turns(itertools.product(KERNELS, CONFIGURATIONS), itemgetter(0), itemgetter(1)), lambda case: str(KERNELS[case[0]][1:])
)  # fmt: skip


def ran(name: str, configuration: str, local: int, checks: str, engine: str = "interp"):
    """Return the result of a kernel's launch."""
    device, extra = CONFIGURATIONS[configuration]
    texts, functions, zebin = compiled_kernels(SOURCE, device, f"-cl-std=CL2.0 {extra}".strip())
    args, groups = KERNELS[name][:2]
    path = texts[name]
    launch = f"kernel: {name}\nzebin: {zebin}\ngroups: [{groups}]\nlocal_size: [{local}]\nargs:\n" + "".join(
        f"  - {arg}\n" for arg in args
    )
    platform = configuration if configuration != "without optimisation" else "TGLLP"
    options = RunOptions(path, platform, engine, checks, budget=400_000, files=functions)
    return run_text(path.read_text(), parse_launch(launch, path.with_suffix(".launch.yaml")), options)


def findings(name: str, configuration: str, local: int, checks: str):
    report = ran(name, configuration, local, checks)
    return report, {fault.kind.value for fault in report.faults} | {
        f"note: {fault.kind.value}" for fault in report.findings
    }


@pytest.mark.parametrize("case", EVERY, ids=" ".join)
def test_threads_race_where_nothing_orders_them(case):
    name = case[0]
    report, found = findings(*case, 128, "all")
    assert found == KERNELS[name][2], [str(fault) for fault in (*report.faults, *report.findings)]


@pytest.mark.parametrize("case", EVERY, ids=" ".join)
def test_lanes_of_a_thread_race_where_only_their_width_orders_them(case):
    name = case[0]
    report, found = findings(*case, 8, "all,item-races")
    assert found == KERNELS[name][3], [str(fault) for fault in (*report.faults, *report.findings)]


def test_every_kernel_of_the_source_is_expected():
    assert set(re.findall(r"^kernel void (\w+)", SOURCE.read_text(), re.MULTILINE)) == set(KERNELS)
