"""OpenCL programs under pocl alone, under `visa-lsp exec` without and with checks, and under Oclgrind: wall and CPU seconds.

Each program runs once before, which fills the caches of compilers. `kernel` is the wall time of its launches, which it measures
itself, without the first one. The steady cost of a small launch is the CPU time that 2,000 more launches take. The last lines
compare `kernel`, with pocl where that takes 100 ms or more, and with Oclgrind where it takes a second or more.
Needs gcc, OpenCL's headers and loader, pocl, ocloc, and oclgrind if that is installed.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).with_name("exec_host.c")
POCL = "/etc/OpenCL/vendors/pocl.icd"
# Kernel, work items, inner loop, launches after the first. Oclgrind takes minutes for the large ones.
PROGRAMS = [
    ("small", "64", "1", "200"),
    ("arithmetic", "65536", "2000", "3"),
    ("matmul", "262144", "512", "3"),
    ("reduction", "65536", "200", "8"),
]
SMALLER = [("arithmetic", "16384", "200", "3"), ("matmul", "16384", "128", "3"), ("reduction", "16384", "100", "3")]
# The peer, the seconds from which on it counts, and the way that is compared with it.
COMPARED = [("pocl", 0.1, "exec, no checks"), ("oclgrind", 1.0, "exec, checks")]
_SECONDS = 600


def ways() -> dict[str, tuple[list[str], dict[str, str]]]:
    """Return the ways to run a program: words before it, and the environment."""
    ours = [sys.executable, "-m", "visa_lsp", "exec"]
    found = {
        "pocl": ([], {"OCL_ICD_VENDORS": POCL}),
        "exec, no checks": ([*ours, "--checks", "none", "--"], {}),
        "exec, checks": ([*ours, "--"], {}),
    }
    if shutil.which("oclgrind"):
        found["oclgrind"] = (["oclgrind", "--data-races"], {})
    return found


def run(way: tuple[list[str], dict[str, str]], command: list[str]) -> tuple[float, float, float, str]:
    """Run a program; return wall and CPU seconds, those of its launches, and its result."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ran = subprocess.run(
        [*way[0], *command], env={**os.environ, **way[1]}, capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode or not ran.stdout:
        raise RuntimeError(f"{' '.join([*way[0], *command])}: status {ran.returncode}: {ran.stderr[-500:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    seconds, result = ran.stdout.split()
    return wall, cpu, float(seconds), result


def main() -> int:
    """Do what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exec", description=__doc__.splitlines()[0])
    parser.add_argument("--kernel", choices=[program[0] for program in PROGRAMS], help="only this program")
    args = parser.parse_args()
    wrong, ratios = 0, list[str]()
    with tempfile.TemporaryDirectory() as folder:
        host = f"{folder}/host"
        subprocess.run(["gcc", "-O2", "-o", host, SOURCE, "-lOpenCL"], check=True)
        print(f"{'program':28} {'way':16} {'wall':>8} {'CPU':>8} {'kernel':>9}  seconds")
        for program in (*PROGRAMS, *SMALLER):
            if args.kernel not in (None, program[0]):
                continue
            results, kernels = set(), dict[str, float]()
            for name, way in ways().items():
                if name == "oclgrind" and program in PROGRAMS[1:]:
                    continue
                if name != "oclgrind":
                    run(way, [host, *program[:3], "1"])
                wall, cpu, seconds, result = run(way, [host, *program])
                results.add(result)
                kernels[name] = seconds
                print(f"{' '.join(program):28} {name:16} {wall:8.2f} {cpu:8.2f} {seconds:9.4f}", flush=True)
            ratios += [
                f"{' '.join(program)}: {peer} / {ours}: {kernels[peer] / kernels[ours]:.2f}x"
                for peer, least, ours in COMPARED
                if kernels.get(peer, 0.0) >= least
            ]
            wrong += len(results) > 1
            if len(results) > 1:
                print(f"{program[0]}: the results differ")
        if args.kernel in (None, "small"):
            for name, way in ways().items():
                few, many = (run(way, [host, "small", "64", "1", count])[1] for count in ("100", "2100"))
                print(f"steady cost of a small launch, {name}: {(many - few) / 2:.2f} ms CPU", flush=True)
    print(*ratios, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
