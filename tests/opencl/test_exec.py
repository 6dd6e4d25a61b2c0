"""``visa-lsp exec`` on host programs in C: right ones give no report, planted faults are found with line, argument and enqueue.

The programs are the cases of ``host.c``. They need gcc, OpenCL's headers and loader, pocl and ocloc.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NEEDED = [name for name in ("gcc", "ocloc") if shutil.which(name) is None]
NEEDED += [
    str(path)
    for path in (Path("/etc/OpenCL/vendors/pocl.icd"), Path("/usr/include/CL/cl_layer.h"))
    if not path.exists()
]
pytestmark = pytest.mark.skipif(bool(NEEDED) or sys.platform != "linux", reason=f"not installed: {', '.join(NEEDED)}")

# Case, kind of the fault, line of its kernel, words of the report.
FAULTS = [
    ("small_buffer", "out-of-bounds", 2, "`c` is argument 0, buffer 1 of 960 bytes"),
    ("swapped_arguments", "out-of-bounds", 2, "writes bytes 256-259, element 64 of `many`"),
    ("undefined_buffer", "uninitialised-read", 2, "bytes 0-3, element 0 of `x` were never written"),
    ("half_written", "uninitialised-read", 3, "element 128 of `x`"),
    ("race", "data-race", 2, "element 0 of `sum`"),
    ("freed_buffer", "out-of-bounds", 2, "of 1024 bytes, which the program has released"),
    ("wrong_local_size", "out-of-bounds", 2, "shared local memory, which has 256 bytes"),
    ("misaligned", "misaligned-access", 2, "not aligned to 4 bytes"),
    ("missing_barrier", "data-race", 3, "shared local memory"),
    ("divergent_barrier", "barrier-divergence", 3, "only lanes 0x1f"),
    ("missing_wait", "data-race", 3, "kernel missing_wait_first) writes"),
    ("wrong_count", "out-of-bounds", 2, "element 256 of `x`"),
]
RIGHT = (
    "axpy", "reduction", "sub_buffers", "copies", "host_pointer", "offsets", "images", "prints", "links", "binaries", "queries",
    "profiling", "shared_memory", "waiting_queues",
)  # fmt: skip


@pytest.fixture(scope="session")
def host(tmp_path_factory):
    program = tmp_path_factory.mktemp("host") / "host"
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-o", program, HERE / "host.c", "-lOpenCL"], check=True)
    return str(program)


@pytest.fixture
def run_exec(tmp_path):
    def run(*words, environment=None, **more):
        command = [sys.executable, "-m", "visa_lsp", "exec", "--report", str(tmp_path / "report.json"), *words]
        ran = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False,
            env={**os.environ, "PYTHONPATH": str(HERE.parents[1]), **(environment or {})}, **more,
        )  # fmt: skip
        report = tmp_path / "report.json"
        return ran, json.loads(report.read_text()) if report.exists() else None

    return run


def test_planted_faults_are_reported(host, run_exec):
    ran, report = run_exec("--", host, *(name for name, *_ in FAULTS))
    assert (ran.returncode, report["exit"], report["refused"]) == (1, 1, []), ran.stderr
    for name, kind, line, words in FAULTS:
        found = [fault for fault in report["faults"] if fault["kernel"] == name]
        assert found, name
        assert {fault["enqueue"] for fault in found} == {found[0]["enqueue"]}, name
        values = next(fault for fault in found if fault["kind"] == kind)
        assert values["source"].endswith(f".cl:{line}"), values["source"]
        assert words in "\n".join([values["text"], *values["allocations"]]), name
        assert f"enqueue {values['enqueue']}: kernel {name}" in ran.stderr
    assert report["enqueues"] == len(FAULTS) + 2
    assert list(report) == ["programs", "kernels", "enqueues", "instructions", "time", "faults", "refused", "exit"]


def test_right_programs_give_no_report(host, run_exec):
    ran, report = run_exec("--", host, *RIGHT)
    assert (ran.stdout, ran.returncode, report["faults"], report["refused"]) == ("printed 42\n", 0, [], []), ran.stderr
    assert report["instructions"] > 1000
    assert len(ran.stderr.splitlines()) == 1


def test_captures_run_to_the_same_result(host, run_exec, tmp_path):
    names = ("axpy", "offsets", "images", "links", "copies", "undefined_buffer", "race")
    ran, report = run_exec("--capture", str(tmp_path / "captures"), "--", host, *names)
    launches = sorted((tmp_path / "captures").glob("*.launch.yaml"))
    assert len(launches) == report["enqueues"] == 8, ran.stderr
    command = [sys.executable, "-m", "visa_lsp", "run", "--format", "json", *map(str, launches)]
    again = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    results = {Path(one["launch"]).name: one for one in json.loads(again.stdout)}
    faults = {fault["kernel"]: fault["kind"] for fault in report["faults"]}
    assert len(faults) == 2
    for name, result in results.items():
        assert [expected["ok"] for expected in result["expectations"]] == [True] * (result["kernel"] not in faults), (
            name
        )
        assert (
            {fault["kind"] for fault in result["faults"]} == {faults[result["kernel"]]} - {None}
            if not result["ok"]
            else True
        )
    assert {result["kernel"] for result in results.values() if not result["ok"]} == set(faults)


def test_a_source_from_a_file_is_named_after_it(host, run_exec, tmp_path):
    (tmp_path / "kernels").mkdir()
    source = "kernel void small_buffer(global int *c) {\n  c[get_global_id(0)] = 1;\n}"
    (tmp_path / "kernels" / "fill.cl").write_text(source)
    _, report = run_exec("--", host, "small_buffer")
    assert report["faults"][0]["source"] == str(tmp_path / "kernels" / "fill.cl:2")


def test_a_fault_ends_the_program_and_leaves_its_launch(host, run_exec, tmp_path):
    ran, report = run_exec("--break-on-fault", "--", host, "axpy", "race", "small_buffer")
    assert (ran.returncode, {fault["kernel"] for fault in report["faults"]}) == (1, {"race"}), ran.stderr
    assert [path.name for path in (tmp_path / "visa-lsp-exec").glob("*.yaml")] == ["2.race.launch.yaml"]


def test_refused_calls_have_an_error_and_a_line(host, run_exec):
    ran, report = run_exec("--", host, "refused_calls")
    assert (ran.stdout, ran.returncode, report["exit"]) == ("", 1, 1), ran.stderr
    calls = [one["call"] for one in report["refused"]]
    assert calls == [
        "clCreateSubBuffer", "clEnqueueNDRangeKernel", "clSetKernelArg", "clSetKernelArg", "clEnqueueNDRangeKernel",
        "clCreateProgramWithBinary",
    ]  # fmt: skip
    assert all(f"{one['call']} is refused: {one['reason']}" in ran.stderr for one in report["refused"])
