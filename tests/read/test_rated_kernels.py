"""Kernels of the kinds that people read are printed as they would write them: loops, tiles, fields, 64-bit values, names."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from c_runner import COMPILER, FLAGS, run_in_c

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.program import module_of_text
from visa_lsp.app.launch.proposal import propose_run
from visa_lsp.app.launch.runner import ready
from visa_lsp.app.read.pseudo_code import as_text, read_data
from visa_lsp.program.grf import default_platform, grf_in_comment
from visa_lsp.sim.machine import run

FOLDER = Path(__file__).with_name("rated")


def test_kernels_read_as_a_person_writes_them():
    found = []
    for path in sorted(FOLDER.glob("*.visaasm")):
        read = read_data(str(path), path.read_bytes(), None, say=found.append)
        assert read is not None, found
        found.append(as_text(read))
    assert "".join(found) == (FOLDER / "expected.c").read_text(encoding="utf-8")


def test_each_process_prints_the_same():
    command = [sys.executable, "-m", "visa_lsp", "read", "cosine.visaasm"]
    texts = {
        subprocess.run(
            command, cwd=FOLDER, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True, text=True
        ).stdout
        for seed in ("1", "3")
    }
    assert len(texts) == 1


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_arguments_may_have_names_that_c_has_for_others(tmp_path):
    info = (FOLDER / "segmented_scan.zeinfo.yaml").read_text(encoding="utf-8")
    names = {
        "values": "group_id",
        "heads": "lumaBf16",
        "out": "scratch_state",
        "flg": "aUL",
        "buf": "float4",
        "total": "lane",
    }
    for name, other in names.items():
        info = re.sub(rf"(?<=name: ) *{name}$", f" {other}", info, flags=re.MULTILINE)
    (tmp_path / "segmented_scan.zeinfo.yaml").write_text(info, encoding="utf-8")
    text = shutil.copy(FOLDER / "segmented_scan.visaasm", tmp_path)
    command = [sys.executable, "-m", "visa_lsp", "read", text, "--format", "c"]
    printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    assert "group_id_, " in printed
    assert "*lumaBf16, " in printed
    gcc = [COMPILER, *FLAGS, "-fsyntax-only", "-x", "c", "-"]
    subprocess.run(gcc, input=printed, check=True, text=True)


@pytest.mark.full
@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_the_c_of_rated_kernels_computes_what_the_simulator_does():
    pairs = [(path, launched(path), launched(path)) for path in sorted(FOLDER.glob("*.visaasm"))]
    with np.errstate(all="ignore"):
        said = run_in_c([mine for _, mine, _ in pairs])
        for _, _, other in pairs:
            run(other.dispatch(50_000_000))
    wrong = [
        words or path.name
        for (path, mine, other), words in zip(pairs, said, strict=True)
        if words or any(a.tobytes() != other.prepared.arrays[key].tobytes() for key, a in mine.prepared.arrays.items())
    ]
    assert wrong == []


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_scans_of_random_values_leave_the_same():
    mine, other = launched(FOLDER / "scans.visaasm"), launched(FOLDER / "scans.visaasm")
    random = np.random.default_rng(60)
    for key, array in mine.prepared.arrays.items():
        array.view(np.uint8)[:] = random.integers(0, 256, array.nbytes)  # floats of all sizes
        if array.dtype == np.float32:
            array[~np.isfinite(array)] = 1
        other.prepared.arrays[key][:] = array
    with np.errstate(all="ignore"):
        assert run_in_c([mine]) == [""]
        run(other.dispatch(50_000_000))
    for key, array in mine.prepared.arrays.items():
        assert array.tobytes() == other.prepared.arrays[key].tobytes(), key


def launched(path):
    """Return the launch of two groups that `run --init` proposes."""
    text, file = path.read_text(encoding="utf-8"), path.with_suffix(".launch.yaml")
    options = RunOptions(path, engine="interp", checks="none")
    proposal = propose_run(text, options, file, {"groups": [2, 1, 1]}).proposal
    module = module_of_text(text, path, default_platform(grf_in_comment(text) or 32), [])
    return ready(module, parse_launch(proposal.written.text, file), options)
