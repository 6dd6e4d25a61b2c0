"""Any kernel runs without a launch file, with nothing beside it but its program's ze_info, which has another name.

The kernels are those of the corpus. What they get is a guess: a run has to end, and to say what was assumed.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from corpus import OWN, ROOTS, at_least
from corpus_cases import NO_READ_ON_PVC
from own_cases import NO_READ_ON_PVC as OWN_NO_READ_ON_PVC
from tiers import first, in_turns

from visa_lsp.cli.main import PROGRAM
from visa_lsp.cli.run import execute
from visa_lsp.companions import kernels_in
from visa_lsp.lsp.jobs.run_process import perform

if TYPE_CHECKING:
    from pathlib import Path

PLATFORMS = ("TGLLP", "DG2", "PVCXT")
PROGRAMS = [folder for root in ROOTS for name in PLATFORMS for folder in sorted((root / "run" / name).glob("*"))]
LONG = {"gemm", "scratch", "spaces", "blur", "bytes"}  # what is made up for each runs as long as for ten of the others


def title(folder: Path) -> str:
    return f"{folder.parent.name}-{folder.name}"


@pytest.fixture
def run(capsys):
    """``visa-lsp run --format json``: the exit status and the report."""
    parser = PROGRAM.parser_of("run")

    def call(*words: str):
        status = execute(parser.parse_arguments([*words, "--format", "json"]))
        return status, json.loads(capsys.readouterr().out)

    return call


def kernels(folder: Path) -> dict[Path, str]:
    """Return the texts that have a kernel of the program, which it is."""
    found = {}
    for path in sorted(folder.glob("*.visaasm")):
        names = kernels_in(path.read_text())
        if names and not names[0].startswith("Intel_"):
            found[path] = names[0]
    return found


def test_there_are_programs():
    assert len(PROGRAMS) >= at_least(43, 120)


# By default three programs, on platforms in turns.
IN_TURNS = in_turns([p for p in PROGRAMS if p.name not in LONG], lambda folder: folder.name, lambda folder: folder.parent.name)  # fmt: skip
ON_PLATFORMS = first(3, [*IN_TURNS, *(p for p in PROGRAMS if p.name in LONG)])
# By default a program with calls, and one of plain buffers.
ALONE = [
    folder if folder.name in ("deep", "vecs") else pytest.param(folder, marks=pytest.mark.full)
    for folder in sorted((OWN / "run" / "TGLLP").glob("*"))
]


@pytest.mark.corpus
@pytest.mark.parametrize("folder", ON_PLATFORMS, ids=title)
def test_every_kernel_runs_and_says_what_it_assumes(folder, run, here):
    for path in (*folder.glob("*.visaasm"), folder / f"{folder.name}.zeinfo.yaml"):
        shutil.copy(path, here)
    for path, kernel in kernels(here).items():
        # The compiler drops reads of images where there is no sampler: these kernels store what nobody has written.
        unread = folder.parent.name == "PVCXT" and kernel in (*NO_READ_ON_PVC, *OWN_NO_READ_ON_PVC)
        status, report = run(path.name)
        # A launch by default is made to show faults, and some of these kernels have them at sizes that nobody gave.
        assert (kernel, report.get("error")) == (kernel, None)
        assert not unread or {f["kind"] for f in report["faults"]} == {"uninitialised-read"}
        assert (status, report["kernel"]) == (int(bool(report["faults"])), kernel)
        assert f" {folder.name}.zeinfo.yaml, for kernel '{kernel}'" in report["assumed"][0]
        assert any(words.startswith("local_size: ") for words in report["assumed"])
    quick = perform(path.read_text(), str(path), {"quick": {}})
    assert (quick["assumed"], quick["ok"]) == (report["assumed"], not report["faults"])
    assert [buffer["head"][:8] for buffer in quick["buffers"]] == [buffer["head"] for buffer in report["buffers"]]


@pytest.mark.parametrize("folder", ALONE, ids=title)
def test_a_dump_alone_runs_as_its_inferred_ze_info_says_and_so_does_its_launch_file(folder, run, here):
    for path in folder.glob("*.visaasm"):
        shutil.copy(path, here)
    for path, kernel in kernels(here).items():
        status, report = run("--init", "--expect", path.name)
        assert (kernel, report.get("error")) == (kernel, None)
        assert "inferred" in report["assumed"][0]
        if report["faults"]:  # what a faulty run leaves is not expected of another one
            assert (status, path.with_suffix(".launch.yaml").exists()) == (1, False)
            continue
        status, again = run(path.name)
        assert (kernel, status, again.get("error")) == (kernel, 0, None)
        assert again["assumed"] == []
        assert all(expectation["ok"] for expectation in again["expectations"])
