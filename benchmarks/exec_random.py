"""Random host programs under pocl alone and under `visa-lsp exec`: what they print must be equal, and there must be no fault.

Needs gcc, OpenCL's headers and loader, pocl and ocloc.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

from benchmarks.random_hosts import HEAD, RandomHost

FOLDER = Path(__file__).parents[1] / "tests" / "opencl"
_SECONDS = 900


def write_programs(numbers: list[int], folder: Path) -> Path:
    """Compile random programs into one, which runs those of its arguments; return its path."""
    hosts = [RandomHost(Random(number), f"p{number}") for number in numbers]
    calls = "".join(f'    if (!strcmp(names[i], "{host.name}")) {host.name}();\n' for host in hosts)
    main = f"int main(int count, char **names) {{\n  setbuf(stdout, NULL);\n  open_device();\n  for (int i = 1; i < count; i++) {{\n{calls}  }}\n  return wrong != 0;\n}}\n"
    source, program = folder / "random.c", folder / "random"
    source.write_text(HEAD + "".join(host.text for host in hosts) + main)
    subprocess.run(["gcc", "-w", "-O0", f"-I{FOLDER}", "-o", program, source, "-lOpenCL"], check=True)
    return program


def compare(numbers: list[int], folder: Path) -> list[str]:
    """Run programs both ways; return the differences."""
    command = [str(write_programs(numbers, folder)), *(f"p{number}" for number in numbers)]
    report = folder / "report.json"
    environment = {**os.environ, "OCL_ICD_VENDORS": "/etc/OpenCL/vendors/pocl.icd"}
    alone = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS, env=environment)
    if alone.returncode < 0:  # a crash of pocl's own compiler, so that there is nothing to compare with
        return [line for number in numbers for line in compare([number], folder)] if len(numbers) > 1 else []
    ours = subprocess.run(
        [sys.executable, "-m", "visa_lsp", "exec", "--report", str(report), "--", *command],
        capture_output=True, text=True, check=False, timeout=_SECONDS,
    )  # fmt: skip
    found = json.loads(report.read_text()) if report.exists() else {}
    differences = (
        [f"status {alone.returncode}, under exec {ours.returncode}"] if alone.returncode or ours.returncode else []
    )
    # Sorted, because a kernel may print before or after a read that does not wait for it.
    expected, got = sorted(alone.stdout.splitlines()), sorted(ours.stdout.splitlines())
    differences += [f"{a} | {b}" for a, b in zip(expected, got, strict=False) if a != b][:20]
    if len(expected) != len(got):
        differences.append(f"{len(expected)} lines, under exec {len(got)}: {alone.stderr} {ours.stderr[-2000:]}")
    differences += [
        f"{one['kind']} of {one['kernel']}: {one['text']} {one['source']}" for one in found.get("faults", ())
    ]
    differences += [f"refused: {one['call']}: {one['reason']}" for one in found.get("refused", ())]
    return differences


def main() -> int:
    """Do what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exec_random", description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="programs (200)")
    parser.add_argument("--first", type=int, default=1, help="number of the first (1)")
    parser.add_argument("--together", type=int, default=10, help="programs that run in one process (10)")
    args = parser.parse_args()
    failed = 0
    for start in range(args.first, args.first + args.count, args.together):
        numbers = list(range(start, min(start + args.together, args.first + args.count)))
        with tempfile.TemporaryDirectory() as folder:
            differences = compare(numbers, Path(folder))
        failed += bool(differences)
        print(f"{numbers[0]}-{numbers[-1]}: {len(differences)} differences", *differences, sep="\n  ", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
