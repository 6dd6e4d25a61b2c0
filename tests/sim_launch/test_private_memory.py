"""Private memory of threads that run together does not overlap: the numbers of threads lie where compiled texts look.

``private_slots`` has one OpenCL kernel and what ocloc made of it with ``-cl-opt-disable`` for every device that it knows;
devices whose texts are the same share them.
"""

from pathlib import Path

import numpy as np
import pytest

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.runner import RunOptions, run_text
from visa_lsp.isa.platforms import PLATFORMS, platform_named
from visa_lsp.sim.launch.config import LaunchError

HERE = Path(__file__).with_name("private_slots")
# Device: the kernel's text, the text of get_local_id, ze_info.
DEVICES = {
    "bdw": ("bdw", "bdw", "bdw"),
    "skl": ("skl", "skl", "bdw"),
    "kbl": ("skl", "skl", "bdw"),
    "glk": ("glk", "skl", "bdw"),
    "icllp": ("icllp", "icllp", "bdw"),
    "tgllp": ("icllp", "icllp", "bdw"),
    "dg1": ("dg1", "icllp", "bdw"),
    "adl-s": ("adl-s", "icllp", "bdw"),
    "xe_hp_sdv": ("xe_hp_sdv", "xe_hp_sdv", "xe_hp_sdv"),
    "acm-g10": ("acm-g10", "acm-g10", "acm-g10"),
    "pvc": ("pvc", "pvc", "pvc"),
}


def launch(device, items):
    text, ids, ze_info = DEVICES[device]
    body = f"""
kernel: private_slots
files: [{ids}.id.visaasm]
ze_info: {ze_info}.zeinfo.yaml
platform: {device}
groups: [1, 1, 1]
local_size: [{items}, 1, 1]
args: [{{buffer: {{dtype: int32, shape: [{items}]}}}}]
"""
    return (HERE / f"{text}.visaasm").read_text(), parse_launch(body, HERE / "x.launch.yaml")


def expected(items):
    ids = np.arange(items, dtype=np.int32)
    total = np.zeros(items, np.int32)
    for i in range(40):
        total = total * 3 + (ids * 41 + 39 - i)
    return total


# Enough threads for each way to number them in the default tier.
LAUNCHES = [("bdw", 64)]
MORE = [("xe_hp_sdv", 128), ("pvc", 256), *((device, 256) for device in DEVICES if device != "pvc"), ("pvc", 768)]


@pytest.mark.parametrize(
    ("device", "items"), [*LAUNCHES, *(pytest.param(*case, marks=pytest.mark.full) for case in MORE)]
)
def test_every_work_item_has_its_own_private_memory(device, items):
    text, launched = launch(device, items)
    report = run_text(text, launched, RunOptions(HERE / "x.visaasm"))
    np.testing.assert_array_equal(report.buffers[0].array, expected(items))
    assert report.faults == ()
    assert report.findings == ()


def squeezed(value, *zeros):
    """Take single bits out, the highest first."""
    for at in sorted(zeros, reverse=True):
        value = value & (1 << at) - 1 | (value >> 1) & ~((1 << at) - 1)
    return value


# What kernels compute of (%sr0, %msg0), by platform.
FOUND = {
    **dict.fromkeys(("XeHP_SDV", "DG2", "MTL", "ARL"), lambda s, _m: squeezed(s & 0x3FFF, 3, 6)),
    **dict.fromkeys(("PVC", "PVCXT"), lambda s, _m: squeezed(s & 0x7FFF, 3, 6, 7)),
    "BMG": lambda s, _m: squeezed(s & 0xFFFF, 3, 7, 10),
    "PTL": lambda s, _m: squeezed(s & 0x3FFFF, 7, 12, 13),
    "CRI": lambda s, m: squeezed(m << 7 | s & 0x7F, 3),
}
BY_MESSAGE = {
    "BMG": lambda s, m: (m & 0xFF) << 6 | squeezed(s & 0x7F, 3),
    "PTL": lambda s, m: ((m & 0xFF) << 3 | s >> 4 & 7) * 10 + (s & 15),
    "CRI": FOUND["CRI"],
}
for formulas in (FOUND, BY_MESSAGE):
    formulas["NVL"] = formulas["PTL"]


@pytest.mark.parametrize("platform", PLATFORMS, ids=str)
def test_numbers_of_threads_are_told_apart(platform):
    layout = platform.thread_number
    for formula in (FOUND.get(platform.name, lambda s, _m: s), BY_MESSAGE.get(platform.name)):
        if formula is not None:
            found = [formula(*layout.registers(thread)) for thread in range(128)]
            assert len(set(found)) == 128
            assert all(number <= layout.slot(thread) for thread, number in enumerate(found))
            assert max(found) <= layout.slot(127)


def test_the_number_of_ponte_vecchio_skips_the_reserved_bits():
    layout = platform_named("pvc").thread_number
    assert [layout.registers(n)[0] for n in (0, 7, 8, 31, 32, 127)] == [0, 7, 16, 0x37, 0x100, 0x337]


def test_a_group_with_more_threads_than_numbers_is_refused():
    text, launched = launch("acm-g10", 65536)
    with pytest.raises(LaunchError, match="needs more thread numbers than DG2 has"):
        run_text(text, launched, RunOptions(HERE / "x.visaasm"))
