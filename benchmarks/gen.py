"""From an edit of a text to its machine code over the server: ``python -m benchmarks.gen [--lines 2000] [--rounds 20]``.

A real server over stdio, a text of real kernels, and the real finalizer. Every round edits an operand and requests
``visa.gen``, as a view beside the text does. *wall* is what a client waits from the first byte of the edit to the last
of the
answer. *tool* is what the finalizer's two runs (machine code, and meanwhile the pressure) take for the same text without
us, side by side as we run them. *ours* is the CPU time of the server's process for all that the edit makes it do, findings
included, in hundredths of a second. Other work on the machine spoils walls; CPU time it leaves nearly as it is.
Exit status 1 where the mean of *ours* is over 100 ms.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.client import URI, Client
from benchmarks.inputs import kernel
from benchmarks.measure import Machine
from visa_lsp.syntax.document import Document
from visa_lsp.toolchain.text_bodies import bodies_of, make_guarded_copy

if TYPE_CHECKING:
    from collections.abc import Sequence

_LIMIT = 100.0  # milliseconds
_PLATFORM = "TGLLP"
_OPTIONS = (("-printregusage",), ("-dumpRPE", "-nolocalra"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit status."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gen", description=__doc__, formatter_class=form)
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--platform", default=_PLATFORM, help="platform; empty for the server's own choice")
    args = parser.parse_args(arguments)
    tool = shutil.which("GenX_IR")
    if tool is None:
        print("GenX_IR is not installed: apt-get install libigc-tools")
        return 2
    machine = Machine()
    text = kernel(args.lines)
    walls, ours, tools, size = _rounds(text, tool, args.rounds, args.platform)
    print(f"{text.count(chr(10))} lines, {args.rounds} edits, answers of {size / 1e3:,.0f} KB; {machine.words()}")
    print(f"{'ms':<8}{'mean':>10}{'median':>10}{'worst':>10}")
    for name, values in (("wall", walls), ("tool", tools), ("ours", ours)):
        print(f"{name:<8}{statistics.mean(values):>10.0f}{statistics.median(values):>10.0f}{max(values):>10.0f}")
    return 1 if statistics.mean(ours) > _LIMIT else 0


def _rounds(text: str, tool: str, rounds: int, platform: str) -> tuple[list[float], list[float], list[float], float]:
    """Return the milliseconds of wall time, of our CPU and of the tool alone, and the bytes of an answer."""
    lines = text.split("\n")
    places = [at for at, line in enumerate(lines) if "0x" in line and not line.startswith((".", "/"))]
    walls, ours, tools = [], [], []
    with Client() as client:
        client.initialize()
        client.open(text)
        _ask(client, platform)  # the first answer loads modules that later ones have
        before = client.bytes_in
        for number in range(rounds):
            at = places[number * 7 % len(places)]
            column = lines[at].index("0x") + 2
            digit = f"{number % 10}"
            cpu, start = client.cpu(), time.perf_counter()
            client.edit((at, column), (at, column + 1), digit)
            _ask(client, platform)
            walls.append((time.perf_counter() - start) * 1e3)
            ours.append((client.cpu() - cpu) * 1e3)
            lines[at] = lines[at][:column] + digit + lines[at][column + 1 :]
            tools.append(_alone("\n".join(lines), tool))
        size = (client.bytes_in - before) / rounds
        client.finish()
    return walls, ours, tools, size


def _ask(client: Client, platform: str) -> None:
    options = {"uri": URI, "columns": "yes", "platform": platform or None}
    answer = client.request("workspace/executeCommand", {"command": "visa.gen", "arguments": [options]})
    if not answer["ok"] or not answer["kernels"]:
        sys.exit(f"no machine code: {answer.get('error') or answer['findings'][0]['message']}")


def _alone(text: str, tool: str) -> float:
    """Return milliseconds of the finalizer's two runs, side by side, on the copy that it is given."""
    codes = [code for chunk in Document.parse(text).chunks for code in chunk.codes()]
    copy = make_guarded_copy(codes, bodies_of(codes)).text
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        for folder in (one, two):
            (Path(folder) / "text.visaasm").write_text(copy, encoding="utf-8")
        start = time.perf_counter()
        runs = [
            subprocess.Popen(
                [tool, "text.visaasm", "-platform", _PLATFORM, "-output", *options],
                cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
            for folder, options in zip((one, two), _OPTIONS, strict=True)
        ]  # fmt: skip
        for run in runs:
            run.wait()
        return (time.perf_counter() - start) * 1e3


if __name__ == "__main__":
    raise SystemExit(main())
