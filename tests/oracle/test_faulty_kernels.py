"""OpenCL kernels with one fault each, compiled by ocloc: exactly the kinds of reports that are right, with both parties.

The sources are in ``faulty.cl``; every report has to show the instruction's line, and the other party's where it has one.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from finalizer import compiled_kernels
from tiers import one_of_each

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.runner import RunOptions, run_text

SOURCE = Path(__file__).with_name("faulty.cl")
pytestmark = pytest.mark.skipif(shutil.which("ocloc") is None, reason="ocloc is not installed")


def buffer(count=128, init="zeros", dtype="int32"):
    return f"{{buffer: {{dtype: {dtype}, shape: [{count}], init: {init}}}}}"


def value(number):
    return f"{{value: {number}}}"


OUT, RISING = buffer(), buffer(init="arange")
BYTES = buffer(1024, "arange", "int8")
UNINITIALISED, RACE, BOUNDS, BARRIER = "uninitialised-read", "data-race", "out-of-bounds", "barrier-divergence"
MISALIGNED, DIVISION, BUDGET = "misaligned-access", "division-by-zero", "step-budget"
# Kernel: its arguments, the kinds of reports, a word of the line that each names, local size.
KERNELS = {
    "u1": ((OUT, value(5)), {UNINITIALISED}, "gather", 32),
    "u2": ((OUT, value(20)), {UNINITIALISED}, "mov", 32),
    "u3": ((OUT, RISING), {UNINITIALISED}, "gather", 32),
    "u4": ((OUT, value(1)), {UNINITIALISED}, "gather", 16),
    "u5": ((OUT, value(1)), {UNINITIALISED}, "gather", 32),
    "r1": ((OUT,), {RACE}, "scatter", 64),
    "r2": ((OUT,), {RACE}, "gather", 64),
    "r3": ((buffer(256),), {RACE}, "scatter", 64),
    "r4": ((OUT,), {RACE}, "gather", 64),
    "r5": ((OUT, buffer(8)), {RACE}, "", 64),
    "b1": ((buffer(10), value(10)), {BOUNDS}, "scatter", 32),
    "b2": ((OUT, OUT), {BOUNDS}, "gather", 32),
    "b4": ((buffer(50, dtype="float32"),), {BOUNDS}, "scatter", 32),
    "b5": ((buffer(100, dtype="int8"), value(7)), {BOUNDS}, "scatter", 32),
    "b6": ((buffer(64), value(60)), {BOUNDS}, "atomic", 32),
    "d1": ((OUT,), {BARRIER}, "barrier", 32),
    "d2": ((OUT, value(20)), {BARRIER}, "barrier", 32),
    "d3": ((OUT,), {BARRIER}, "barrier", 32),
    "d4": ((OUT,), {BARRIER}, "barrier", 32),
    "d5": ((OUT,), {BARRIER}, "barrier", 32),
    "m1": ((BYTES, OUT), {MISALIGNED}, "gather", 32),
    "m2": ((BYTES, OUT), {MISALIGNED}, "scatter", 32),
    "m3": ((BYTES, RISING), {MISALIGNED}, "atomic", 32),
    "m4": ((buffer(2048, "arange", "int8"), OUT), {MISALIGNED}, "gather", 32),
    "v1": ((RISING, OUT), {DIVISION}, "div", 32),
    "v2": ((RISING, RISING), {DIVISION}, "mod", 32),
    "v3": ((buffer(128, "arange", "int16"), buffer(128, "zeros", "int16")), {DIVISION}, "div", 32),
    "v4": ((buffer(128, "arange", "uint8"), buffer(128, "zeros", "uint8")), {DIVISION}, "mod", 32),
    "v6": ((buffer(128, "ones", "int64"), buffer(128, "zeros", "int64")), {DIVISION}, "div", 32),
    "e1": ((OUT,), {BUDGET}, "", 32),
    "e2": ((OUT, value(7)), {BUDGET}, "", 32),
    "e3": ((OUT,), {BUDGET}, "", 32),
    "e4": ((OUT,), {BUDGET}, "", 32),
    "e5": ((OUT, value(3)), {BUDGET}, "", 32),
    "v5": ((RISING, RISING), set(), "", 32),
    "c1": ((OUT, RISING), set(), "", 64),
    "c2": ((OUT, buffer(8)), set(), "", 64),
    "c3": ((OUT, buffer(8), buffer(1)), set(), "", 64),
    "c4": ((OUT, buffer(4)), set(), "", 32),
    "c5": ((buffer(256), value(3)), set(), "", 64),
}


DEVICES = {"TGLLP": "tgllp", "DG2": "acm-g10", "PVCXT": "pvc"}


def compiled(device="tgllp"):
    """Return the texts by kernel name, and the zebin."""
    texts, _, zebin = compiled_kernels(SOURCE, device)
    return texts, zebin


def ran(name, engine="interp", checks="all", platform="TGLLP"):
    """Return the text of a kernel, and what came of its launch."""
    args, _, _, local = KERNELS[name]
    texts, zebin = compiled(DEVICES[platform])
    path = texts[name]
    groups = 1 if name == "c4" else 2
    launch = f"kernel: {name}\nzebin: {zebin}\ngroups: [{groups}]\nlocal_size: [{local}]\nargs:\n" + "".join(
        f"  - {arg}\n" for arg in args
    )
    options = RunOptions(path, platform, engine, checks, budget=60_000 if name == "c4" else 8_000)
    return path, run_text(path.read_text(), parse_launch(launch, path.with_suffix(".launch.yaml")), options)


@pytest.mark.parametrize("name", one_of_each(KERNELS, lambda name: (frozenset(KERNELS[name][1]), KERNELS[name][2])))
def test_exactly_what_is_wrong_is_reported(name):
    _, kinds, word, _ = KERNELS[name]
    path, report = ran(name)
    found = (*report.faults, *report.findings)
    assert {fault.kind.value for fault in found} == kinds, [str(fault) for fault in found]
    lines = path.read_text().splitlines()
    for fault in found:
        place, excerpt = report.excerpt(fault)
        assert place == f"{path}:{fault.line + 1}"
        assert excerpt == lines[fault.line].strip()
        assert word in excerpt
        if fault.kind.value == RACE:
            assert report.other_excerpt(fault)[1] == lines[fault.other_line].strip() != ""


def test_every_kernel_of_the_source_is_named():
    named = set(re.findall(r"^kernel void (\w+)", SOURCE.read_text(), re.MULTILINE))
    assert named == set(KERNELS)
