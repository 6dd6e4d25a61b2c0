"""One launch as a unit of work: what goes in and what comes out can be sent to another process."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.printing import as_json
from visa_lsp.app.launch.unit import LaunchJob, perform

EXAMPLES = Path(__file__).parents[2] / "examples"
SAXPY = EXAMPLES / "saxpy.launch.yaml"


def sent(value):
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own


def timeless(outcome):
    return {key: value for key, value in as_json(outcome).items() if key != "time"}


@pytest.mark.parametrize("name", ["saxpy.launch.yaml", "average.launch.yaml", "mandelbrot.launch.yaml"])
def test_a_job_and_its_outcome_come_through_another_process_as_they_are(name):
    job = LaunchJob(name, EXAMPLES / name, RunOptions(checks="all"))
    here, there = perform(job), sent(perform(sent(job)))
    assert there.report is not None
    assert timeless(here) == timeless(there)
    for one, other in zip(here.report.buffers, there.report.buffers, strict=True):
        assert np.array_equal(one.array, other.array)


def test_a_text_and_a_launch_file_that_are_sent_are_not_read(tmp_path):
    text = SAXPY.read_text(encoding="utf-8")
    program = tmp_path / "nowhere" / "saxpy.visaasm"
    data = (EXAMPLES / "saxpy.visaasm").read_bytes()
    job = LaunchJob("saxpy", program.with_suffix(".launch.yaml"), RunOptions(program), text, data)
    assert perform(job).status == 0


def test_a_program_without_a_launch_file_gets_one_made_up(tmp_path):
    program = tmp_path / "saxpy.visaasm"
    program.write_bytes((EXAMPLES / "saxpy.visaasm").read_bytes())
    outcome = perform(LaunchJob("saxpy", program.with_suffix(".launch.yaml"), RunOptions(program)))
    assert outcome.report.assumed
    assert "groups" in outcome.launch_text


@pytest.mark.parametrize(
    ("launch", "status", "words"),
    [
        ("groups: [0]\nfile: saxpy.visaasm", 2, "0 is out of range"),
        ("groups: [1]\nfile: broken.visaasm", 1, "broken.visaasm"),
        ("groups: [1]\nfile: gone.visaasm", 2, "gone.visaasm"),
    ],
)
def test_a_mistake_of_the_user_is_an_outcome(tmp_path, launch, status, words):
    (tmp_path / "saxpy.visaasm").write_bytes((EXAMPLES / "saxpy.visaasm").read_bytes())
    (tmp_path / "broken.visaasm").write_text('.version 4.1\n.kernel "k"\n    what (1) is this\n')
    outcome = sent(perform(LaunchJob("x", tmp_path / "x.launch.yaml", RunOptions(), launch)))
    assert (outcome.status, outcome.report) == (status, None)
    assert words in outcome.error
