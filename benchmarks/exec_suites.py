"""Test suites and programs of others under `visa-lsp exec`: how many of their tests pass, and what is reported.

They must be there already: those of Debian (clinfo, clpeak, clblast-tests, clfft-client, hashcat) on PATH, those of Python in the
interpreter of ``--python``, the sources of pyopencl, which have its tests and examples, in ``--pyopencl``, Khronos' conformance tests,
built by their CMake, in ``--conformance``, the OpenCL programs of PolyBench-ACC, built beside their sources as NAME.exe with
``-DMINI_DATASET -DRUN_ON_CPU``, in ``--polybench``. For dpnp ``VISA_LSP_EXEC_HOST`` is
the OpenCL of intel-opencl-rt beside that interpreter. ``--capture`` writes each enqueue as a launch file and runs it again. Needs gcc, OpenCL's headers and loader, pocl and ocloc.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from msgspec import Struct

_HASH = "202cb962ac59075b964b07152d234b70"  # MD5 of 123
_MAX_LISTED = 8  # faults, and refused calls, of a suite
_CONFORMANCE = {  # programs, in their folders, and their arguments
    "api": "api/test_api -w", "basic": "basic/test_basic -w", "buffers": "buffers/test_buffers -w",
    "atomics": "atomics/test_atomics -w", "events": "events/test_events -w",
    "copied images": "images/clCopyImage/test_cl_copy_images small_images",
    "filled images": "images/clFillImage/test_cl_fill_images small_images",
    "image facts": "images/clGetInfo/test_cl_get_info small_images",
    "read and written images": "images/clReadWriteImage/test_cl_read_write_images small_images",
    "image methods": "images/kernel_image_methods/test_kernel_image_methods small_images",
    "images in kernels": "images/kernel_read_write/test_image_streams small_images",
}  # fmt: skip
_CAPTURES_AT_ONCE = 50
_GRACE_SECONDS = 30  # for a suite that is ended, to write its report
_EXAMPLES = (  # of pyopencl, that need no further packages
    "demo", "demo_array", "demo_array_svm", "demo_elementwise", "demo_elementwise_complex", "demo-struct-reduce",
    "demo_meta_template", "narray", "svm", "pi-monte-carlo",
)  # fmt: skip
_SIZES_OF_FFT = (
    "-x 64 -b 4", "-x 128", "-x 105 -b 3", "-x 243", "-x 1000 --inv", "-x 11 -b 8", "-x 4096", "-x 32 -y 16", "-x 15 -y 7 -b 2 -o",
    "-x 8 -y 8 -z 8", "-x 64 --inLayout 2 --outLayout 2", "-x 64 --inLayout 5 --outLayout 3 -o", "-x 64 --inLayout 3 --outLayout 5 -o --inv",
    "-x 8192", "-x 169", "-x 2048 -y 4",
)  # fmt: skip
# Marks of clFFT's client, PolyBench and hashcat.
_PASSED, _FAILED = r"\*PASS\*|Percent: 0$|^\s*[0-9a-f]{32}:123\s*$", r"\*FAIL\*|Percent: [1-9]\d*$"
_PROGRESS = re.compile(r"^([.sxFE]+)(?: +\[ *\d+%\])?$", re.MULTILINE)


def suites(
    python: str, pyopencl: Path | None, conformance: Path | None, polybench: Path | None
) -> dict[str, tuple[list[str], str]]:
    """Return the command of each suite, and the host's OpenCL, if it is not pocl."""
    pytest = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    found = {
        "clinfo": (["clinfo"], ""),
        "clpeak": (["clpeak", "--kernel-latency"], ""),
        "hashcat": (
            [
                "hashcat", "--force", "-m", "0", "-a", "3", "-n", "1", "-u", "1", "-T", "32", "--potfile-disable",
                "--self-test-disable", _HASH, "?d?d?d",
            ],
            "",
        ),
        "clfft": (["sh", "-c", "\n".join(f"clFFT-client {sizes}" for sizes in _SIZES_OF_FFT)], ""),
    }  # fmt: skip
    for routine in ("xaxpy", "xdot", "xscal", "xgemv", "xgemm"):
        found[f"clblast {routine}"] = ([f"clblast_test_{routine}"], "")
    if pyopencl is not None:
        examples = (f"{python} {pyopencl.resolve()}/examples/{name}.py" for name in _EXAMPLES)
        runs = "\n".join(f"{run} < /dev/null && echo 1 passed || echo 1 failed" for run in examples)
        found["pyopencl examples"] = (["sh", "-c", f"export PYOPENCL_CTX=0\n{runs}"], "")
        for path in sorted((pyopencl / "test").glob("test_*.py")):
            found[f"pyopencl {path.stem}"] = ([*pytest, str(path)], "")
    for name, words in _CONFORMANCE.items() if conformance is not None else ():
        assert conformance is not None
        program, *rest = words.split()
        found[f"conformance {name}"] = ([str(conformance / "test_conformance" / program), *rest], "")
    programs = sorted(polybench.resolve().rglob("*.exe")) if polybench is not None else []
    if programs:
        runs = "\n".join(f"(cd {path.parent} && ./{path.name})" for path in programs)
        found["polybench"] = (["sh", "-c", runs], "")
    packages = sorted(Path(python).parents[1].glob("lib/python*/site-packages/dpnp/tests"))
    for name in ("absolute", "sum", "sort", "search", "random", "linalg") if packages else ():
        host = str(Path(python).parents[1] / "lib" / "libintelocl.so")
        found[f"dpnp {name}"] = ([*pytest, str(packages[0] / f"test_{name}.py")], host)
    return found


class SuiteResult(Struct, frozen=True):
    """The outcome of a suite: numbers of its tests, the exit status in words, and the report's faults and refused calls."""

    passed: int
    failed: int
    status: str
    enqueues: int | str
    faults: list[str]
    refused: list[str]

    def row(self) -> str:
        """Return lines of a table."""
        lines = [f"passed {self.passed}, failed {self.failed}, enqueues {self.enqueues}, status {self.status}"]
        lines += [f"  fault: {words}" for words in self.faults[:_MAX_LISTED]]
        lines += [f"  refused: {words}" for words in self.refused[:_MAX_LISTED]]
        more = [max(0, len(listed) - _MAX_LISTED) for listed in (self.faults, self.refused)]
        lines += [f"  {more[0]} more faults, {more[1]} more refused calls"] * any(more)
        return "\n".join(lines)


def run(command: list[str], host: str, seconds: int, folder: Path, captures: Path | None = None) -> SuiteResult:
    """Run a suite in a folder; write its enqueues into another one."""
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    capture = [] if captures is None else ["--capture", str(captures)]
    ours = [sys.executable, "-m", "visa_lsp", "exec", "--report", str(report), *capture, "--", *command]
    environment = {**os.environ, **({"VISA_LSP_EXEC_HOST": host} if host else {})}
    with (folder / "output").open("w+", errors="replace") as output:
        process = subprocess.Popen(ours, stdout=output, stderr=subprocess.STDOUT, env=environment, cwd=folder)
        try:
            status = str(process.wait(seconds))
        except subprocess.TimeoutExpired:
            status = f"ended after {seconds} s"
            process.terminate()
            process.wait(_GRACE_SECONDS)
    text = (folder / "output").read_text(errors="replace")
    marks = "".join(_PROGRESS.findall(text))
    passed, failed = _count(text, "passed") or marks.count("."), _count(text, "failed") or marks.count("F")
    if "test_conformance" in command[0]:
        passed, failed = (len(re.findall(rf"^\w+ {word}$", text, re.MULTILINE)) for word in ("passed", "FAILED"))
    values = json.loads(report.read_text()) if report.exists() else {"enqueues": "?", "faults": [], "refused": []}
    faults = [fault["text"][:150] for fault in values["faults"]]
    refused = [f"{one['call']}: {one['reason'][:150]}" for one in values["refused"]]
    return SuiteResult(passed, failed, status, values["enqueues"], faults, refused)


def differing_captures(folder: Path) -> tuple[int, list[str]]:
    """Run the launch files of a folder; return their number, and the names of those that leave something else than their enqueue."""
    launches = sorted(folder.glob("*.launch.yaml"))
    wrong: list[str] = []
    for start in range(0, len(launches), _CAPTURES_AT_ONCE):
        some = launches[start : start + _CAPTURES_AT_ONCE]
        command = [sys.executable, "-m", "visa_lsp", "run", "--format", "json", *map(str, some)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        results = {Path(one["launch"]).name: one for one in json.loads(ran.stdout)}
        for launch in some:
            result = results.get(launch.name)
            if result is None or not all(expected["ok"] for expected in result["expectations"]):
                wrong.append(launch.name)
    return len(launches), wrong


def _count(text: str, word: str) -> int:
    """Return the number of tests that the output of CLBlast or pytest counts, or that have a mark of another suite."""
    found = re.findall(rf"(\d+) test\(s\) {word}", text) or re.findall(rf"(\d+) {word}", text)
    marks = re.findall(_PASSED if word == "passed" else _FAILED, text, re.MULTILINE)
    return sum(map(int, found)) + len(marks)


def main() -> int:
    """Do what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exec_suites", description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="interpreter with pyopencl, dpnp and pytest")
    parser.add_argument("--pyopencl", type=Path, help="folder of the sources of pyopencl")
    parser.add_argument("--conformance", type=Path, help="folder in which Khronos' conformance tests are built")
    parser.add_argument("--polybench", type=Path, help="folder of the OpenCL programs of PolyBench-ACC")
    parser.add_argument("--seconds", type=int, default=1200, help="longest time of a suite (1200)")
    parser.add_argument("--capture", action="store_true", help="run each enqueue again, from its launch file")
    parser.add_argument("names", nargs="*", help="suites whose names begin so")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for suite, (command, host) in suites(args.python, args.pyopencl, args.conformance, args.polybench).items():
            if args.names and not suite.startswith(tuple(args.names)):
                continue
            if shutil.which(command[0]) is None:
                print(f"{suite}: {command[0]} is not installed", flush=True)
                continue
            captures = Path(tempfile.mkdtemp(dir=name)) if args.capture else None
            print(f"{suite}: {run(command, host, args.seconds, Path(name), captures).row()}", flush=True)
            if captures is not None:
                count, wrong = differing_captures(captures)
                print(
                    f"  {count} captures run again, {len(wrong)} leave something else {wrong[:_MAX_LISTED]}", flush=True
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
