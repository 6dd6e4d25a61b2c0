"""Kills the program, `visa-lsp exec` or the compiler of the layer at random times: nothing may be left, and the caches must be good.

Runs share a few caches, which are removed at times, so that the layer is built; a variable marks the processes of a run.
Needs gcc, OpenCL's headers and loader, pocl and ocloc.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

_MARK = "VISA_LSP_TEST_KILLS"
_HOST = Path(__file__).parents[1] / "tests" / "opencl" / "host.c"
_CASES = ["axpy", "reduction", "copies", "images", "hang"]
_MAX_SECONDS = 4.0  # until a kill; a run with an empty cache takes longer
_SECONDS_TO_END = 30


def kill_one(random: Random, host: Path, folder: Path) -> list[str]:
    """Start a run, kill one of its processes, and return what is left of it."""
    cache = folder / f"cache{random.randrange(8)}"
    if random.random() < 0.2:  # so that the layer is built again
        shutil.rmtree(cache, ignore_errors=True)
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    mark = str(random.getrandbits(60))
    environment = {**os.environ, _MARK: mark, "VISA_LSP_CACHE": str(cache), "TMPDIR": str(temporary)}
    command = [sys.executable, "-m", "visa_lsp", "exec", "--", str(host), random.choice(_CASES)]
    target = random.choice(["server", "program", "compiler", "any"])
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(random.random() * _MAX_SECONDS)
    names = {"server": "python", "program": host.name, "compiler": "cc"}
    victims = [number for number in _processes(mark) if target == "any" or names[target] in _name(number)] or [
        process.pid
    ]
    number = random.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV])
    victim = random.choice(victims)
    _send(victim, number)
    if number == signal.SIGINT or victim != process.pid:
        time.sleep(0.2)
        _send(process.pid, signal.SIGTERM)  # a run whose compiler or program was killed may go on
    end = time.monotonic() + _SECONDS_TO_END
    while (left := _left(mark, temporary)) and time.monotonic() < end:
        process.poll()
        time.sleep(0.05)
    for one in _processes(mark):
        _send(one, signal.SIGKILL)
    process.wait()
    return [f"{target}, {signal.Signals(number).name}: {line}" for line in left]


def _processes(mark: str) -> list[int]:
    """Return the living processes with the mark in their environment."""
    wanted, found = f"{_MARK}={mark}".encode(), []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if wanted in (entry / "environ").read_bytes().split(b"\0") and not _is_zombie(entry):
                    found.append(int(entry.name))
            except OSError:
                continue
    return sorted(found)


def _is_zombie(entry: Path) -> bool:
    return (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z"


def _name(number: int) -> str:
    try:
        return Path(f"/proc/{number}/comm").read_text()
    except OSError:
        return ""


def _send(process: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def _left(mark: str, temporary: Path) -> list[str]:
    """Return what is left: processes, temporary files, sockets."""
    sockets = [line for line in Path("/proc/net/unix").read_text().splitlines() if str(temporary) in line]
    processes = [f"process {number} {_name(number).strip()}" for number in _processes(mark)]
    return [*processes, *map(str, temporary.iterdir()), *sockets]


def main() -> int:
    """Do what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exec_kills", description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300, help="kills (300)")
    parser.add_argument("--seed", type=int, default=1, help="seed (1)")
    args = parser.parse_args()
    os.nice(10)
    random, failures = Random(args.seed), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        host = folder / "host"
        subprocess.run(["gcc", "-o", host, _HOST, "-lOpenCL"], check=True)
        for number in range(args.count):
            left = kill_one(random, host, folder)
            failures += bool(left)
            for line in left:
                print(f"kill {number}: left: {line}", flush=True)
        for cache in sorted(folder.glob("cache*")):  # good caches serve a right program, and two at once
            command = [sys.executable, "-m", "visa_lsp", "exec", "--", str(host), "axpy", "images"]
            runs = [
                subprocess.Popen(
                    command, env={**os.environ, "VISA_LSP_CACHE": str(cache)}, stderr=subprocess.PIPE, text=True
                )
                for _ in range(2)
            ]
            for run in runs:
                words = run.communicate()[1]
                if run.returncode:
                    failures += 1
                    print(f"a cache is not good: {words}", flush=True)
            odd = [path for path in cache.rglob("*") if path.name.startswith(".")]
            if odd:
                failures += 1
                print(f"left in a cache: {odd}", flush=True)
    print(f"{args.count} kills, {failures} left something")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
