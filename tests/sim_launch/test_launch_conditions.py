"""Expectations in words: expressions over arrays, and what a reference program leaves. The kernel is the example saxpy."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from opencl import why_missing

from visa_lsp.app.launch import conditions
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.printing import report_values
from visa_lsp.app.launch.runner import LaunchError, RunOptions, run_launch

EXAMPLES = Path(__file__).parents[2] / "examples"
LAUNCH = """\
file: saxpy.visaasm
groups: [ceil(n / 16)]
local_size: [16]
sweep: {n: [40]}
args:
  x: {buffer: {dtype: float32, shape: [n], init: arange}}
  y: {buffer: {dtype: float32, shape: [n], init: ones}}
  a: {value: 2.5}
  n: {value: n}
"""
SOURCE = """\
__kernel void saxpy(__global float *x, __global float *y, float a, uint n) {
  size_t i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}
"""


@pytest.fixture
def expect(tmp_path):
    shutil.copy(EXAMPLES / "saxpy.visaasm", tmp_path)

    def run(*lines, head=LAUNCH):
        text = head + "expect:\n" + "".join(f"  - {line}\n" for line in lines)
        return run_launch(parse_launch(text, tmp_path / "k.launch.yaml"), RunOptions(engine="interp", checks="none"))

    return run


@pytest.mark.parametrize(
    "line",
    [
        'expr: "y == 2.5 * x + y0"',
        'expr: "y == a * x + y0"',
        'expr: "y == a * arange(n) + 1"',
        '{arg: y, expr: "a * x + y0"}',
        '{arg: y, expr: "a * x + y0 + 0.01", atol: 0.1}',
        '{expr: "y == 2.50001 * x + y0", rtol: 1.0e-4}',
        '{expr: "y == (a * x + y0) * float32(1.0000001)", ulp: 2}',
        'expr: "x == x0"',
        'expr: "y[1:] > y[:n-1]"',
        'expr: "y >= 1"',
        'expr: "sum(x) == n * (n - 1) / 2"',
        'expr: "0 == max(abs(y - y0 - a * x))"',
        'expr: "reshape(y, 4, 10) @ float32(arange(10)) > 0"',
        'expr: "(y > 0) & (x >= 0) == 1"',
        'expr: "where(x > 20, y, 0) == where(x > 20, 2.5 * x + 1, 0)"',
        "reference: saxpy.visaasm",
        "{arg: y, reference: saxpy.visaasm}",
    ],
)
def test_what_holds_passes(expect, line):
    report = expect(line)
    assert [e.message for e in report.expectations] == ["holds"]
    assert report.ok


@pytest.mark.parametrize(
    ("line", "arg", "words"),
    [
        ('expr: "y == 2 * x + y0"', "y", "y == 2 * x + y0: 39 of 40 elements differ: [1] is 3.5, expected 3.0"),
        ('{arg: y, expr: "a * x"}', "y", "a * x: 40 of 40 elements differ: [0] is 1.0, expected 0.0"),
        ('expr: "y < 90"', "y", "y < 90: 4 of 40 do not hold: [36]: 91.0 < 90"),
        ('expr: "sum(x) == 0"', "x", "sum(x) == 0: 1 of 1 elements differ"),
        ('expr: "y != y"', "y", "40 of 40 do not hold: [0]: 1.0 != 1.0"),
        ('expr: "y == x[:3]"', "y", "has 40 elements, 3 are expected"),
        ("{reference: other.visaasm, rtol: 1.0e-6}", "y", "as other.visaasm leaves it: 39 of 40 elements differ"),
    ],
)
def test_what_does_not_hold_is_told_with_its_first_element(expect, tmp_path, line, arg, words):
    text = (EXAMPLES / "saxpy.visaasm").read_text()
    (tmp_path / "other.visaasm").write_text(_with_other_factor(text))
    (found,) = expect(line).expectations
    assert (found.ok, found.arg) == (False, arg)
    assert words in found.message


def _with_other_factor(text):
    """Return the text of a kernel that takes ``x`` for ``a * x``."""
    (line,) = [line for line in text.splitlines() if line.strip().startswith("mad ")]
    parts = line.split()
    return text.replace(line, line.replace(parts[-3], "0x3F800000:f"))


def test_expectations_stand_in_the_order_of_the_file(expect):
    report = expect('{expr: "x == x0"}', f"{{arg: y, values: {[1.0] * 40}}}", '{expr: "y == y0"}')
    assert [(e.arg, e.ok) for e in report.expectations] == [("x", True), ("y", False), ("y", False)]
    assert [e["differences"]["count"] for e in report_values(report)["expectations"] if not e["ok"]] == [39, 39]


@pytest.mark.parametrize(
    ("expr", "words"),
    [
        ("y == zz", "unknown name 'zz'"),
        ("1 == 1", "expected the name of a buffer or image"),
        ("y == arange(10 ** 12)", "a result would have"),
        ("y == sort(arange(130000000))", "too expensive"),
        ("y == reshape(arange(100000), 1, 100000) * reshape(arange(100000), 100000, 1)", "a result would have"),
        (
            "y == reshape(arange(360000), 600, 600) @ reshape(arange(360000), 600, 600)",
            "too large to multiply",
        ),
        ("y == 2 ** 10 ** 9", "is too large"),
        ("y == 1 << 10 ** 9", "is too large"),
        ("y == x + arange(3)", ""),
        ("y == x[99]", ""),
        ("y == reshape(x, 7)", ""),
    ],
)
def test_what_cannot_be_computed_is_an_error_and_costs_nothing(expect, expr, words, monkeypatch):
    monkeypatch.setattr(conditions, "_MAX_MATRIX_PRODUCTS", 1 << 27)
    with pytest.raises(LaunchError) as refused:
        expect(f'expr: "{expr}"')
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_arguments_of_a_list_go_by_place_and_by_the_names_of_ze_info(tmp_path):
    for name in ("mandelbrot.visaasm", "mandelbrot.zeinfo.yaml", "mandelbrot.npy"):
        shutil.copy(EXAMPLES / name, tmp_path)
    text = (EXAMPLES / "mandelbrot.launch.yaml").read_text().partition("\nexpect:")[0]
    text += "\nexpect:\n  - {expr: 'arg0 == arg0'}\n  - {expr: 'arg0 == arg00'}\n"
    report = run_launch(parse_launch(text, tmp_path / "k.launch.yaml"), RunOptions(tmp_path / "mandelbrot.visaasm"))
    assert [e.ok for e in report.expectations] == [True, False]


def test_a_reference_that_fails_is_an_error(expect, tmp_path):
    text = (EXAMPLES / "saxpy.visaasm").read_text()
    (tmp_path / "loop.visaasm").write_text(text.replace("    ret (", "again:\n    jmp (M1, 1) again\n    ret (", 1))
    launch = parse_launch(LAUNCH + "expect: [{reference: loop.visaasm}]\n", tmp_path / "k.launch.yaml")
    with pytest.raises(LaunchError, match=r"the reference '.*loop\.visaasm' fails"):
        run_launch(launch, RunOptions(engine="interp", budget=2000))


@pytest.fixture
def pocl():
    """Skip where there is no pocl; it is not loaded before, as it takes 80 MB."""
    if why := why_missing():
        pytest.skip(why)


@pytest.mark.usefixtures("pocl")
def test_opencl_c_is_a_reference(expect, tmp_path):
    (tmp_path / "k.cl").write_text(SOURCE)
    assert expect("{reference: k.cl, ulp: 1}").ok
    (tmp_path / "k.cl").write_text(SOURCE.replace("a *", "2 *"))
    (found,) = [e for e in expect("{reference: k.cl}").expectations if not e.ok]
    assert "as k.cl leaves it: 39 of 40" in found.message


@pytest.mark.usefixtures("pocl")
@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("__kernel void saxpy(__global float *z) {}", "needs an argument 'z', which the launch lacks"),
        ("__kernel void f() {} __kernel void g() {}", "has no kernel 'saxpy'; its kernels are f, g"),
        ("__kernel void saxpy(", "failed: "),
    ],
)
def test_a_source_that_does_not_fit_is_an_error(expect, tmp_path, source, words):
    (tmp_path / "k.cl").write_text(source)
    with pytest.raises(LaunchError) as refused:
        expect("reference: k.cl")
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_without_pyopencl_a_source_is_refused_with_the_command_that_installs_it(expect, tmp_path, monkeypatch):
    (tmp_path / "k.cl").write_text(SOURCE)
    monkeypatch.setattr("visa_lsp.app.launch.on_cpu.find_spec", lambda name: None)
    with pytest.raises(LaunchError, match="pip install pyopencl"):
        expect("reference: k.cl")


def test_arrays_of_an_expression_are_those_of_the_launch(expect):
    report = expect('expr: "y == 2.5 * x + y0"')
    y = next(buffer.array for buffer in report.buffers if buffer.arg == "y")
    assert np.array_equal(y, 2.5 * np.arange(40, dtype=np.float32) + 1)
