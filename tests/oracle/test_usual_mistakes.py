"""Usual mistakes in OpenCL kernels: `compile` and `run`, with no file edited, name the wrong line; right kernels get no report.

The kernels are in ``usual_mistakes.cl``, compiled by the compilers of 2022 and 2026.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from visa_lsp.cli.main import main

SOURCE = Path(__file__).with_name("usual_mistakes.cl")
NEWEST = os.environ.get("VISA_LSP_TEST_OCLOC", "")
COMPILERS = [
    pytest.param("ocloc", "tgllp", marks=pytest.mark.skipif(shutil.which("ocloc") is None, reason="needs ocloc")),
    pytest.param(NEWEST, "bmg", marks=pytest.mark.skipif(not NEWEST, reason="needs VISA_LSP_TEST_OCLOC")),
]


def parts_of_source():
    """Return the lines of each kernel, by name."""
    lines = SOURCE.read_text().split("\n")
    starts = [n for n, line in enumerate(lines) if line.startswith("kernel")] + [len(lines)]
    names = (re.search(r"void (\w+)", "\n".join(lines[start : start + 2]))[1] for start in starts[:-1])
    return {name: range(start, end) for name, start, end in zip(names, starts, starts[1:], strict=False)}, lines


def check_kernels(folder, compiler, device, names, capsys):
    """Compile kernels and run their texts; compare the lines of the reports with the marked ones."""
    parts, lines = parts_of_source()
    source = folder / "k.cl"
    # The other kernels are left out, but every line keeps its number.
    source.write_text(
        "\n".join(line if any(n in parts[name] for name in names) else "" for n, line in enumerate(lines))
    )
    built = folder / "built"
    assert main(["compile", str(source), "-o", str(built), "--ocloc", compiler, "--device", device]) == 0
    capsys.readouterr()
    wrong = []
    for name in names:
        status = main(["run", str(built / f"{name}.visaasm"), "--format", "json"])
        answer = json.loads(capsys.readouterr().out)
        reports = answer if isinstance(answer, list) else [answer]
        faults = [fault for report in reports for key in ("faults", "findings") for fault in report[key]]
        places = {int(f[key].rpartition(":")[2]) for f in faults for key in ("source", "other_source") if f[key]}
        marked = {n + 1 for n in parts[name] if "// wrong" in lines[n]}
        if (status, bool(faults)) != (int(bool(marked)), bool(marked)) or not marked <= places:
            wrong.append((name, status, sorted(places), [fault["text"] for fault in faults]))
    assert not wrong


@pytest.mark.full
@pytest.mark.parametrize(("compiler", "device"), COMPILERS)
def test_launches_by_default_find_every_usual_mistake(tmp_path, capsys, compiler, device):
    check_kernels(tmp_path, compiler, device, list(parts_of_source()[0]), capsys)
