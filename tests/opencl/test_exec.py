"""``visa-lsp exec`` on host programs in C: right ones give no report, planted faults are found with line, argument and enqueue.

The programs are the cases of ``host.c``. They need gcc, OpenCL's headers and loader, pocl and ocloc.
"""

import errno
import json
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

import pytest
from exec_host import needs_host
from tiers import first

from benchmarks.exec_kills import kill_one
from benchmarks.exec_random import compare
from visa_lsp.cli.main import main
from visa_lsp.opencl.layer import host_entries

HERE = Path(__file__).parent
pytestmark = needs_host

# Case, kind of the fault, line of its kernel, words of the report.
FAULTS = [
    ("small_buffer", "out-of-bounds", 2, "`c` is argument 0, buffer 1 of 960 bytes"),
    ("swapped_arguments", "out-of-bounds", 2, "writes bytes 256-259, element 64 of `many`"),
    ("undefined_buffer", "uninitialised-read", 2, "bytes 0-3, element 0 of `x` were never written"),
    ("undefined_shared", "uninitialised-read", 2, "element 0 of `x`"),
    ("undefined_late", "uninitialised-read", 2, "element 65520 of `x`"),
    ("half_written", "uninitialised-read", 3, "element 128 of `x`"),
    ("race", "data-race", 2, "element 0 of `sum`"),
    ("freed_buffer", "out-of-bounds", 2, "of 1024 bytes, which the program has released"),
    ("wrong_local_size", "out-of-bounds", 2, "shared local memory, which has 256 bytes"),
    ("misaligned", "misaligned-access", 2, "not aligned to 4 bytes"),
    ("missing_barrier", "data-race", 3, "shared local memory"),
    ("divergent_barrier", "barrier-divergence", 3, "only lanes 0x1f"),
    ("missing_wait", "data-race", 3, "kernel missing_wait_first, program"),
    ("unordered_read", "data-race", 2, "of `x` that clEnqueueReadBuffer reads"),
    ("usm_overrun", "out-of-bounds", 2, "of 1024 bytes"),
    ("freed_pointer", "out-of-bounds", 2, "a pointer to no shared memory"),
    ("callback_race", "data-race", 2, "of `x` that clEnqueueReadBuffer reads"),
    ("linked_fault", "out-of-bounds", 2, "element 256 of `x`"),
    ("wrong_count", "out-of-bounds", 2, "element 256 of `x`"),
]
# By default one for each way in which a program goes wrong; `small_buffer`, `undefined_buffer` and `race` are programs of other tests.
SOME_FAULTS = [
    fault for fault in FAULTS if fault[0] in ("freed_buffer", "wrong_local_size", "misaligned", "divergent_barrier", "missing_wait", "unordered_read", "usm_overrun", "undefined_shared", "callback_race")
]  # fmt: skip
RIGHT = (
    "axpy", "reduction", "same_again", "sub_buffers", "copies", "host_pointer", "offsets", "program_variables", "images", "image_formats", "empty_launches", "prints", "links", "binaries", "queries",
    "profiling", "shared_memory", "event_types", "waiting_queues", "host_events", "forks", "unified_memory", "local_arrays", "backwards",
)  # fmt: skip
# These are captured, and run again, by a test of their own, which sees their faults too.
CAPTURED = ("axpy", "offsets", "images", "image_formats", "links", "copies", "shared_memory", "unified_memory")


@pytest.fixture(scope="session")
def host(tmp_path_factory):
    program = tmp_path_factory.mktemp("host") / "host"
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-o", program, HERE / "host.c", "-lOpenCL"], check=True)
    return str(program)


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """Return a cache folder for all tests, so that the layer and equal sources are compiled once."""
    return str(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def run_exec(tmp_path, cache):
    def run(*words, environment=None, **more):
        command = [sys.executable, "-m", "visa_lsp", "exec", "--report", str(tmp_path / "report.json"), *words]
        ran = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False,
            env={**os.environ, "PYTHONPATH": str(HERE.parents[1]), "VISA_LSP_CACHE": cache, **(environment or {})}, **more,
        )  # fmt: skip
        report = tmp_path / "report.json"
        return ran, json.loads(report.read_text()) if report.exists() else None

    return run


@pytest.mark.parametrize("faults", first(1, [SOME_FAULTS, FAULTS]), ids=["some", "all"])
def test_planted_faults_are_reported(host, run_exec, faults):
    ran, report = run_exec("--", host, *(name for name, *_ in faults))
    assert (ran.returncode, report["exit"], report["refused"]) == (1, 1, []), ran.stderr
    for name, kind, line, words in faults:
        found = [fault for fault in report["faults"] if fault["kernel"] == name]
        assert found, name
        assert {fault["enqueue"] for fault in found} == {found[0]["enqueue"]}, name
        values = next(fault for fault in found if fault["kind"] == kind)
        assert values["source"].endswith(f".cl:{line}"), values["source"]
        assert "/" not in values["source"], values["source"]
        assert words in "\n".join([values["text"], *values["allocations"]]), name
        assert f"enqueue {values['enqueue']}: kernel {name}" in ran.stderr
    assert report["enqueues"] == len(faults) + sum(name in ("half_written", "missing_wait") for name, *_ in faults)
    assert list(report) == ["programs", "kernels", "enqueues", "instructions", "time", "faults", "refused", "exit"]


@pytest.mark.parametrize(
    "programs", first(1, [tuple(n for n in RIGHT if n not in CAPTURED), RIGHT]), ids=["others", "all"]
)
def test_right_programs_give_no_report(host, run_exec, programs):
    ran, report = run_exec("--", host, *programs)
    assert (ran.stdout, ran.returncode, report["faults"], report["refused"]) == ("printed 42\n", 0, [], []), ran.stderr
    assert report["instructions"] > 1000
    assert len(ran.stderr.splitlines()) == 1


def test_a_program_in_the_cache_runs_without_compiler_and_grammar(host, cache):
    command = [sys.executable, "-X", "importtime", "-m", "visa_lsp", "exec", "--", host, "axpy", "prints"]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1]), "VISA_LSP_CACHE": cache}
    first_run, second_run = (
        subprocess.run(command, capture_output=True, text=True, timeout=300, check=True, env=environment)
        for _ in range(2)
    )
    assert first_run.stdout == second_run.stdout == "printed 42\n"
    loaded = {line.rpartition("|")[2].strip() for line in second_run.stderr.splitlines()}
    assert "visa_lsp.sim.interp" in loaded
    assert loaded.isdisjoint(["visa_lsp.app.exec.uncached", "parsimonious", "ruamel.yaml", "visa_lsp.sema.lower"])


@pytest.mark.full
def test_random_programs_print_what_they_print_under_pocl(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("VISA_LSP_CACHE", cache)
    assert compare([5, 7], tmp_path) == []


@pytest.mark.full
def test_kills_leave_nothing(host, tmp_path):
    random = Random(1)
    assert [line for _ in range(12) for line in kill_one(random, Path(host), tmp_path)] == []


@pytest.mark.full
def test_captures_run_to_the_same_result(host, run_exec, tmp_path):
    names = (*CAPTURED, "undefined_buffer", "half_written", "race")
    ran, report = run_exec("--capture", str(tmp_path / "captures"), "--", host, *names)
    launches = sorted((tmp_path / "captures").glob("*.launch.yaml"))
    assert len(launches) == report["enqueues"] == 22, ran.stderr
    command = [sys.executable, "-m", "visa_lsp", "run", "--format", "json", *map(str, launches)]
    again = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    results = {Path(one["launch"]).name: one for one in json.loads(again.stdout)}
    faults = {fault["kernel"]: fault["kind"] for fault in report["faults"]}
    assert len(faults) == 3
    compared = {result["kernel"] for result in results.values()} - {
        *faults,
        "shared_memory",
    }  # which writes behind a pointer
    for name, result in results.items():
        assert [expected["ok"] for expected in result["expectations"]] == [True] * (result["kernel"] in compared), name
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


@pytest.mark.full
def test_a_launch_that_is_too_large_to_follow_has_a_note(host, run_exec):
    ran, report = run_exec("--", host, "undefined_loop")
    assert (ran.returncode, report["faults"]) == (0, []), ran.stderr
    assert (
        "too large to follow all undefined bytes that it reads; with other bytes in their place it left the same"
        in ran.stderr
    )


@pytest.mark.full
def test_a_terminal_has_a_line_about_a_long_launch_and_its_end_a_report(host, cache, tmp_path):
    controller, terminal = pty.openpty()
    command = [sys.executable, "-m", "visa_lsp", "exec", "--report", "ended.json", "--", host, "hang"]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1]), "VISA_LSP_CACHE": cache, "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=terminal) as process:
        shown = b""
        while b"enqueue 1: kernel hang" not in shown:
            shown += os.read(controller, 4096)
        process.terminate()
    assert b"fault" not in shown
    report = json.loads((tmp_path / "ended.json").read_text())
    assert report["exit"] == process.returncode == 128 + signal.SIGTERM


@pytest.mark.full
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_cannot_connect(host, cache):
    command = [sys.executable, "-m", "visa_lsp", "exec", "--", host, "hang"]
    # A short path, because that of a socket may have few characters; open to all, so that only the session's folder is closed.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1]), "VISA_LSP_CACHE": cache, "TMPDIR": folder}
        with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL) as process:
            until(lambda: list(Path(folder).glob("visa-lsp-exec-*/socket")))
            (place,) = Path(folder).glob("visa-lsp-exec-*/socket")
            errors = [error_of_connect(place, user) for user in (0, 65534)]
            process.terminate()
    assert errors == [0, errno.EACCES]


def error_of_connect(place, user):
    """Return the error number of a connection to a socket by a process of a user; 0 without one."""
    child = os.fork()
    if not child:
        os.setuid(user)
        os._exit(socket.socket(socket.AF_UNIX).connect_ex(str(place)))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.full
def test_a_fault_ends_the_program_and_leaves_its_launch(host, run_exec, tmp_path):
    ran, report = run_exec("--break-on-fault", "--", host, "axpy", "race", "small_buffer")
    assert (ran.returncode, {fault["kernel"] for fault in report["faults"]}) == (1, {"race"}), ran.stderr
    assert [path.name for path in (tmp_path / "visa-lsp-exec").glob("*.yaml")] == ["2.race.launch.yaml"]


def test_pyopencl_runs_source_and_spirv(run_exec, tmp_path):
    pytest.importorskip("pyopencl")
    (tmp_path / "thrice.cl").write_text("kernel void thrice(global float *x, float by) { x[get_global_id(0)] *= by; }")
    subprocess.run(
        [sys.executable, "-m", "visa_lsp", "compile", "thrice.cl", "--keep-ir"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    ran, report = run_exec("--platform", "DG2", "--", sys.executable, str(HERE / "client.py"), "thrice.spv")
    assert ran.stdout == "[0.0, 6.0, 12.0, 18.0] visa-lsp simulator of DG2\n", ran.stderr
    assert [(f["kernel"], f["kind"], f["enqueue"]) for f in report["faults"]] == [("over", "out-of-bounds", 3)]


@pytest.mark.full
def test_pytest_runs_under_exec(tmp_path, cache):
    pytest.importorskip("pyopencl")
    text = (HERE / "client.py").read_text().partition("context =")
    (tmp_path / "test_client.py").write_text(
        f"{text[0].replace('sys.argv', '[]')}def test_it():\n    "
        + (text[1] + text[2]).replace("sys.argv", "[]").replace("\n", "\n    ")
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--visa-exec", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1]), "VISA_LSP_CACHE": cache}
    ran = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False, env=environment
    )
    assert (ran.returncode, "1 passed" in ran.stdout, "enqueue 2: kernel over" in ran.stderr) == (1, True, True), ran


def test_exit_statuses_and_what_is_missing(host, run_exec, here, capsys):
    for words, status, line in [
        (("--", "sh", "-c", "exit 7"), 7, "0 programs, 0 kernels"),
        (("--", host, "crash"), 128 + 6, "0 programs"),
        (("--exit-zero", "--", host, "small_buffer"), 0, "1 fault"),
        (("--capture", "none", "--capture-kernel", "k", "--", "true"), 0, "nothing is written into none"),
    ]:
        ran, report = run_exec(*words)
        assert ran.returncode == status, ran.stderr
        assert line in ran.stderr
        assert report is None or report["exit"] == status
    for words, line in [
        (("--", "./missing"), "visa-lsp: ./missing: no such program"),
        (("--", "."), "visa-lsp: .: is a folder"),
        (("--checks", "spelling", "--", host), "unknown check 'spelling'"),
        (("--capture-kernel", "k", "--", host), "--capture DIR"),
    ]:  # nothing is started
        (here / "report.json").unlink(missing_ok=True)
        assert main(["exec", "--report", str(here / "report.json"), *words]) == 2
        assert line in capsys.readouterr().err
        if "capture" not in line:
            error = json.loads((here / "report.json").read_text())["error"]
            assert line in (error, f"visa-lsp: {error}") or line in error
    tools = here / "tools"
    tools.mkdir()
    (tools / "ocloc").symlink_to(shutil.which("ocloc"))
    bare = {"PATH": str(tools), "VISA_LSP_CACHE": "off"}
    for environment, package in [(bare, "apt-get install gcc"), ({"PATH": "/nowhere"}, "intel-opencl-icd")]:
        ran, _ = run_exec("--", host, environment=environment)
        assert (ran.returncode, ran.stderr.count("\n"), package in ran.stderr) == (2, 1, True), ran.stderr


def test_the_environment_serves_a_program_that_starts_alone(host, run_exec, tmp_path):
    ran, _ = run_exec("--print-env")
    shell = ["sh", "-c", f'{ran.stdout}\n"{host}" small_buffer; echo "status $?"']
    alone = subprocess.run(
        shell, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False,
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
    )  # fmt: skip
    assert alone.stdout == "status 0\n"
    assert "enqueue 1: kernel small_buffer" in alone.stderr


def test_nothing_is_left_and_no_call_hangs_when_the_server_is_killed(host, run_exec, tmp_path, cache):
    script = 'trap "" TERM; "$1" hang > ended; echo "host $?" >> ended'
    command = [sys.executable, "-m", "visa_lsp", "exec", "--", "sh", "-c", script, "sh", host]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1]), "VISA_LSP_CACHE": cache, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as server:
        until(lambda: list(tmp_path.glob("visa-lsp-exec-*/p1/hang.visaasm")))
        server.kill()
        assert "the simulator's process has ended" in server.stderr.read()
    until(lambda: (tmp_path / "ended").read_text().count("host ") and not list(tmp_path.glob("visa-lsp-*")))


def until(holds):
    """Wait until a condition holds; fail after a minute."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_file_that_names_the_host_is_never_written_again(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("VISA_LSP_CACHE", cache)  # because programs of other runs may be reading it
    entry = host_entries(tmp_path) / "host.icd"
    before = entry.stat()
    assert host_entries(tmp_path) / "host.icd" == entry
    assert (entry.stat().st_ino, entry.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    entry.write_text("")  # as a run left it that was killed
    assert "pocl" in (host_entries(tmp_path) / "host.icd").read_text()
    assert [path.name for path in entry.parent.iterdir()] == ["host.icd"]


def test_refused_calls_have_an_error_and_a_line(host, run_exec):
    ran, report = run_exec("--", host, "refused_calls")
    assert (ran.stdout, ran.returncode, report["exit"]) == ("", 1, 1), ran.stderr
    calls = [one["call"] for one in report["refused"]]
    assert calls == [
        "clCreateSubBuffer", "clEnqueueNDRangeKernel", "clSetKernelArg", "clSetKernelArg", "clEnqueueNDRangeKernel",
        "clCreateProgramWithBinary", "clEnqueueNDRangeKernel", "clEnqueueNDRangeKernel", "clCreateImage", "clCreateImage",
        "clEnqueueReadBuffer", "clReleaseMemObject", "clCreateImage",
    ]  # fmt: skip
    assert [one["reason"].partition(":")[0] for one in report["refused"]] == [
        "CL_MISALIGNED_SUB_BUFFER_OFFSET", "CL_INVALID_KERNEL_ARGS", "CL_INVALID_ARG_SIZE", "CL_INVALID_ARG_INDEX",
        "CL_INVALID_WORK_GROUP_SIZE", "CL_INVALID_BINARY", "CL_INVALID_WORK_DIMENSION", "CL_OUT_OF_RESOURCES",
        "CL_INVALID_IMAGE_DESCRIPTOR", "CL_INVALID_IMAGE_SIZE", "CL_INVALID_MEM_OBJECT", "CL_INVALID_MEM_OBJECT",
        "CL_IMAGE_FORMAT_NOT_SUPPORTED",
    ]  # fmt: skip
    assert all(f"{one['call']} is refused: {one['reason']}" in ran.stderr for one in report["refused"])
    assert not any(one["harmless"] for one in report["refused"])


def test_a_program_that_goes_another_way_keeps_its_status(host, run_exec):
    ran, report = run_exec("--", host, "other_ways")
    assert (ran.returncode, report["exit"]) == (0, 0), ran.stderr
    assert [(one["call"], one["harmless"]) for one in report["refused"]] == [
        ("clCreateSubDevices", True), ("clCreateProgramWithBinary", True),
    ]  # fmt: skip
    assert "0 faults, 2 refused calls (2 harmless)" in ran.stderr
