"""A kernel's own time: compiled engine, pocl and Oclgrind on the same OpenCL source, one thread each, in one run.

The source is compiled by ``ocloc`` for Tiger Lake; the text is what ``visa-lsp run`` runs. Times are seconds of the kernel alone: the
best of several runs, of Oclgrind the only one, as its process's CPU time; of pocl that of enqueue and finish, and the event's own.
``checks`` are all of ours against Oclgrind's own with ``--data-races --uninitialized``. What a run leaves in memory is compared with
what pocl leaves. Growth: twice and four times the work, in threads and in instructions. Last, one group of each kernel from start to
end, and ``asm`` against the finalizer.
Usage: python -m benchmarks.run [REPEATS] [--kernel NAME] [--quick]; ``--quick`` leaves Oclgrind out. With ``--left`` only the share
of instructions and of time is printed that compiled code leaves to the interpreter, for each kernel of the corpora; with ``--slm`` the
memory for many groups with 16 MiB each.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.inputs import kernel
from benchmarks.left import print_left, print_slm
from benchmarks.measure import PEER, PRODUCT, Cost, Machine, in_turns, measure_in_turns, product, run, table
from benchmarks.measure import peer as finalizer

SOURCE: Final = Path(__file__).parent / "kernels" / "run.cl"
DEVICE: Final = "tgllp"
_LIMIT: Final = 1_800  # seconds that one measurement may take
_CHECKED: Final = ("--data-races", "--uninitialized")


@dataclass(frozen=True)
class Buffer:
    """A buffer of a launch: type, elements, and whether it begins with random ones or zeros."""

    dtype: str
    count: int
    init: str
    result: bool = False

    @property
    def file(self) -> str:
        """The name of the file with its initial contents."""
        return f"{self.dtype}-{self.count}-{self.init}.npy"

    def write(self, folder: Path) -> None:
        """Make that file."""
        kind, random = np.dtype(self.dtype), np.random.default_rng(1)
        made = random.random(self.count, np.float64) if kind.kind == "f" else random.integers(0, 256, self.count)
        np.save(folder / self.file, (made if self.init == "random" else np.zeros(self.count)).astype(kind))


@dataclass(frozen=True)
class Job:
    """A kernel with its arguments and sizes, in work items."""

    kernel: str
    size: tuple[int, ...]
    local: tuple[int, ...]
    args: tuple[Buffer | tuple[str, float], ...]

    def launch(self) -> dict[str, Any]:
        """Return the launch file."""
        groups = [n // k for n, k in zip(self.size, self.local, strict=True)]
        args = [
            {"buffer": {"dtype": a.dtype, "shape": [a.count], "npy": a.file}}
            if isinstance(a, Buffer)
            else {"value": a[1], "dtype": a[0]}
            for a in self.args
        ]
        return {
            "file": f"{self.kernel}.visaasm", "zebin": "run.zebin", "kernel": self.kernel, "platform": "TGLLP",
            "groups": [*groups, 1, 1][:3], "local_size": [*self.local, 1, 1][:3], "args": args,
        }  # fmt: skip


def jobs(scale: int = 1) -> list[Job]:
    """Return the six kernels; ``scale`` is how much more work there is than usual."""
    million, wide = scale << 20, 512 * scale
    floats = lambda count, init="random", *, result=False: Buffer("float32", count, init, result)  # noqa: E731
    return [
        Job("saxpy", (million,), (256,), (floats(million), floats(million, result=True), ("float32", 2.5))),
        Job(
            "histogram", (16384,), (256,),
            (Buffer("uint8", million, "random"), Buffer("uint32", 256, "zeros", result=True), ("uint32", million)),
        ),
        Job(
            "mandelbrot", (wide, 512), (16, 16),
            (Buffer("int32", wide * 512, "zeros", result=True), ("float32", -2.0), ("float32", -1.25), ("float32", 2.5 / 512), ("int32", 256)),
        ),
        Job(
            "matmul", (256, 256), (16, 16),
            (floats(1 << 16), floats(1 << 16), floats(1 << 16, "zeros", result=True), ("int32", 256)),
        ),
        Job(
            "nbody", (4096,), (64,),
            (floats(4 * 4096), floats(4 * 4096, "zeros", result=True), ("int32", 4096), ("float32", 0.01)),
        ),
        Job("transpose", (1024, 1024), (16, 16), (floats(1 << 20), floats(1 << 20, "zeros", result=True), ("int32", 1024))),
    ]  # fmt: skip


def compile_source(folder: Path) -> None:
    """Compile the source: a text for each kernel and the zebin; the source lies beside them for the peers."""
    shutil.copy(SOURCE, folder)
    command = [*PRODUCT, "compile", str(folder / SOURCE.name), "--device", DEVICE, "-o", str(folder)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    if said.returncode:
        sys.exit(f"the source does not compile: {said.stdout}{said.stderr}")


@dataclass(frozen=True)
class Ours:
    """The cost of one launch: seconds for loading, compiling and the kernel, CPU of the process, peak of memory; its result."""

    load: float
    compile: float
    run: float
    cpu: float
    peak_mb: float
    engine: str
    instructions: int


def ours(job: Job, folder: Path, repeats: int, checks: str, threads: int = 1, engine: str = "jit") -> Ours:
    """Run a job with our command."""
    launch = folder / f"{job.kernel}.launch.yaml"
    launch.write_text(json.dumps(job.launch()))  # YAML has JSON in it
    command = [*PRODUCT, "run", str(launch), "--engine", engine, "--checks", checks, "--repeat", str(repeats), "--threads", str(threads), "--format", "json", "--out", str(folder / f"ours-{job.kernel}")]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.read())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if not said["ok"]:
        sys.exit(f"{job.kernel}: {said.get('error') or said['faults']}")
    spent = said["time"]
    return Ours(
        spent["load"],
        spent["compile"],
        min(spent["run"]),
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss / 1024,
        said["engine"],
        said["instructions"],
    )


_PEER: Final = """
import json, sys, time
import numpy as np
import pyopencl as cl

job, repeats, folder = json.loads(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
name = "Oclgrind" if sys.argv[4] == "oclgrind" else "Portable"
platform = next(p for p in cl.get_platforms() if p.name.startswith(name))
context = cl.Context(platform.get_devices())
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
kernel = cl.Kernel(cl.Program(context, open(folder + "/run.cl").read()).build("-cl-std=CL1.2"), job["kernel"])
times = []
for _ in range(repeats):
    args, out = [], []
    for given in job["args"]:
        if "file" in given:
            array = np.load(given["file"])
            buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=array)
            args.append(buffer)
            out.append((buffer, array, given["result"]))
        else:
            args.append(np.dtype(given["dtype"]).type(given["value"]))
    queue.finish()
    cpu = time.process_time()
    event = kernel(queue, job["size"], job["local"], *args)
    queue.finish()
    times.append((time.process_time() - cpu, (event.profile.end - event.profile.start) * 1e-9))
for number, (buffer, array, result) in enumerate(out):
    if result:
        cl.enqueue_copy(queue, array, buffer)
        np.save(f"{folder}/{sys.argv[4]}-{job['kernel']}.npy", array)
queue.finish()
print(json.dumps([min(t[0] for t in times), min(t[1] for t in times)]))
"""


def peer(job: Job, folder: Path, repeats: int, which: str, *options: str) -> tuple[float, float]:
    """Run a job with pocl or Oclgrind on the arrays that our command begins with.

    Return the seconds of CPU time of enqueue and finish, and those of the kernel alone by its event.
    """
    args = [
        {"file": str(folder / a.file), "result": a.result} if isinstance(a, Buffer) else {"dtype": a[0], "value": a[1]}
        for a in job.args
    ]
    given = json.dumps({"kernel": job.kernel, "size": job.size, "local": job.local, "args": args})
    words = [sys.executable, "-c", _PEER, given, str(repeats), str(folder), which]
    command = ["oclgrind", *options, *words] if which == "oclgrind" else words
    env = {**os.environ, "POCL_MAX_PTHREAD_COUNT": "1", "OCL_ICD_VENDORS": os.environ.get("OCL_ICD_VENDORS", "")}
    env = {key: value for key, value in env.items() if value}
    said = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=_LIMIT)
    if said.returncode:
        sys.exit(f"{which}, {job.kernel}: {said.stderr[-2_000:]}")
    cpu, event = json.loads(said.stdout.splitlines()[-1])
    return float(cpu), float(event)


def agree(job: Job, folder: Path) -> bool:
    """Return whether our run and pocl's have equal results, except for roundings, because sums may be contracted differently."""
    number = next(at for at, a in enumerate(job.args) if isinstance(a, Buffer) and a.result)
    mine, theirs = (
        np.load(folder / f"ours-{job.kernel}" / f"arg{number}.npy"),
        np.load(folder / f"pocl-{job.kernel}.npy"),
    )
    if job.kernel == "mandelbrot":  # at the border a rounding decides
        return bool(np.mean(mine != theirs) < 0.01)
    return bool(np.allclose(mine, theirs, rtol=1e-3, atol=1e-3))


def measure(folder: Path, repeats: int, chosen: list[Job], *, quick: bool) -> None:
    """Print the table of kernels, and the chosen geometric means."""
    rows: list[list[object]] = []
    names = ("pocl", "pocl by its event", "Oclgrind", "Oclgrind's checks / checked", "checked")
    ratios: dict[str, list[float]] = {name: [] for name in names}
    machine = Machine()
    for job in chosen:
        plain, checked = ours(job, folder, repeats, "none"), ours(job, folder, repeats, "all")
        native, event = peer(job, folder, repeats, "pocl")
        same = "yes" if agree(job, folder) else "NO"
        ratios["pocl"].append(native / plain.run)
        ratios["pocl by its event"].append(event / plain.run)
        ratios["checked"].append(checked.run / plain.run)
        row: list[object] = [job.kernel, plain.run * 1e3, checked.run * 1e3, native * 1e3, native / plain.run]
        row += [event * 1e3, event / plain.run]
        if quick:
            row += ["", "", "", ""]
        else:
            slow = peer(job, folder, 1, "oclgrind")[0]
            slower = peer(job, folder, 1, "oclgrind", *_CHECKED)[0]
            ratios["Oclgrind"].append(slow / plain.run)
            ratios["Oclgrind's checks / checked"].append(slower / checked.run)
            row += [slow, slow / plain.run, slower, slower / checked.run]
        rows.append([*row, plain.compile * 1e3, checked.compile * 1e3, checked.engine, plain.peak_mb, same])
    head = [
        "", "ms", "checked ms", "pocl ms", "/ours", "event ms", "/ours", "Oclgrind s", "/ours", "its checks s", "/checked",
        "compile ms", "checked", "engine", "peak MB", "same as pocl",
    ]  # fmt: skip
    table(f"the kernel alone, one thread each, TGLLP ({machine.words()})", head, rows)
    for name, some in ratios.items():
        if some:
            mean = math.exp(sum(map(math.log, some)) / len(some))
            print(f"geometric mean, {name}{'' if '/' in name else ' / ours'}: {mean:.2f}x")


def growth(folder: Path, repeats: int) -> None:
    """Measure twice and four times the threads, and the same with two threads of this machine."""
    rows: list[list[object]] = []
    for name in ("saxpy", "mandelbrot"):
        first = 0.0
        for scale in (1, 2, 4):
            job = next(job for job in jobs(scale) if job.kernel == name)
            prepare(job, folder)
            one, two = (ours(job, folder, repeats, "none", threads=n).run for n in (1, 2))
            first = first or one
            rows.append([f"{name}, {scale} times the threads", one * 1e3, one / first, two * 1e3, one / two])
    table("growth", ["", "ms", "to the first", "--threads 2 ms", "gain"], rows)
    rows, whole = [], next(job for job in jobs() if job.kernel == "nbody")
    for bodies in (1024, 2048, 4096):
        # The number of rounds of each thread.
        job = replace(whole, args=tuple(("int32", bodies) if arg == ("int32", 4096) else arg for arg in whole.args))
        found = ours(job, folder, repeats, "none")
        rows.append([f"{job.kernel}, each thread {bodies} rounds", found.instructions / 1e6, found.run * 1e3, found.run / found.instructions * 1e9])  # fmt: skip
    table("growth in instructions", ["", "million", "ms", "ns each"], rows)


def small(folder: Path) -> None:
    """Measure one group of each kernel from start to end: the cost of choosing the engine for small launches."""
    rows: list[list[object]] = []
    for job in jobs():
        group = replace(job, size=job.local)
        engines = {engine: partial(ours, group, folder, 1, "all", engine=engine) for engine in ("auto", "interp")}
        totals = {engine: min(one.cpu for one in found) for engine, found in in_turns(engines, 9).items()}
        rows.append([f"{job.kernel}, one group", totals["auto"] * 1e3, totals["interp"] * 1e3, totals["interp"] / totals["auto"]])  # fmt: skip
    table(
        "small launches with checks, CPU of the process",
        ["", "auto ms", "interpreted ms", "interpreted/auto"],
        rows,
    )


def measure_assembly(folder: Path, repeats: int) -> None:
    """``asm`` against the finalizer, which parses, checks and writes the same object, on texts of three sizes.

    ``first`` keeps nothing, as the very first run on a machine; ``new`` is a text that was not seen, where one like it was;
    ``known`` is the same text again.
    """
    if PEER is None:
        print("GenX_IR is not installed (apt-get install libigc-tools): asm is left out")
        return
    rows: list[list[object]] = []
    kept, out = str(folder / "kept"), str(folder / "ours.isa")
    numbers = count()

    def asm(text: Path, kept: str) -> Cost:
        return run(product("asm", str(text), "-o", out), kept=kept)

    for lines in (2_000, 20_000, 200_000):
        text, other = folder / f"k{lines}.visaasm", folder / f"n{lines}.visaasm"
        whole = kernel(lines)
        text.write_text(whole, encoding="utf-8")

        def unseen(other: Path = other, whole: str = whole) -> Cost:
            other.write_text(f"{whole}// {next(numbers)}\n", encoding="utf-8")
            return asm(other, kept)

        asm(text, kept)
        jobs = {
            "first": partial(asm, text, "off"),
            "new": unseen,
            "known": partial(asm, text, kept),
            "finalizer": lambda text=text: run(finalizer(text, folder), folder),
        }
        costs = measure_in_turns(jobs, repeats)
        theirs = costs.pop("finalizer")
        for when, cost in costs.items():
            ratio = cost.cpu / theirs.cpu
            rows.append(
                [f"{lines} lines, {when}", cost.cpu * 1e3, theirs.cpu * 1e3, ratio, cost.peak_mb, theirs.peak_mb]
            )
    table("asm", ["", "CPU ms", "finalizer's", "ratio", "peak MB", "finalizer's"], rows)


def prepare(job: Job, folder: Path) -> None:
    """Write the initial contents of a job's buffers."""
    for arg in job.args:
        if isinstance(arg, Buffer):
            arg.write(folder)


def main() -> None:
    """Run the benchmark of the command line."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__, formatter_class=form)
    parser.add_argument("repeats", nargs="?", type=int, default=5)
    parser.add_argument("--kernel", action="append", choices=[job.kernel for job in jobs()])
    parser.add_argument("--quick", action="store_true", help="skip Oclgrind")
    parser.add_argument(
        "--left", nargs="?", const="TGLLP", metavar="PLATFORM",
        help="only print the instructions that the interpreter carries out, for kernels of a platform",
    )  # fmt: skip
    parser.add_argument("--slm", action="store_true", help="only print the memory for 10,000 groups of 16 MiB")
    asked = parser.parse_args()
    if asked.left:
        print_left(asked.left)
        return
    if asked.slm:
        print_slm()
        return
    if missing := [tool for tool in ("ocloc", "oclgrind") if shutil.which(tool) is None]:
        sys.exit(f"not installed: {', '.join(missing)} (Debian: intel-opencl-icd oclgrind pocl-opencl-icd)")
    chosen = [job for job in jobs() if asked.kernel is None or job.kernel in asked.kernel]
    with tempfile.TemporaryDirectory(prefix="visa-bench-") as name:
        folder = Path(name)
        compile_source(folder)
        for job in chosen:
            prepare(job, folder)
        measure(folder, asked.repeats, chosen, quick=asked.quick)
        if asked.kernel is None:
            for job in jobs():
                prepare(job, folder)
            growth(folder, asked.repeats)
            small(folder)
            measure_assembly(folder, asked.repeats)


if __name__ == "__main__":
    main()
