"""A table of broken launch files: each has one finding, with its code and place, and a run refuses it with the same words."""

from __future__ import annotations

import numpy as np
import pytest
from broken_launches import BROKEN

from visa_lsp.cli.launch.file import parse_launch
from visa_lsp.launchfile.folder import LaunchFolder
from visa_lsp.launchfile.judge import judge
from visa_lsp.launchfile.rules import RULES
from visa_lsp.launchfile.source import launch_source
from visa_lsp.sim.launch.config import LaunchError

IDS = [f"{number}-{broken.code}" for number, broken in enumerate(BROKEN)]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "text.npy").write_text("1 2 3")
    np.save(tmp_path / "floats.npy", np.arange(4, dtype=np.float32))
    return LaunchFolder(tmp_path / "k.launch.yaml")


@pytest.mark.parametrize("broken", BROKEN, ids=IDS)
def test_the_one_mistake_is_found(broken, folder):
    source = launch_source(broken.text)
    (found,) = judge(source, folder).diagnostics
    line, column = source.index.position(found.span.start)
    assert (found.code, f"{line + 1}:{column + 1}") == (broken.code, broken.place)
    assert broken.words in found.message


@pytest.mark.parametrize("broken", BROKEN, ids=IDS)
def test_a_run_refuses_it_with_the_same_words(broken, folder):
    (found,) = judge(launch_source(broken.text), folder).diagnostics
    message, _, point = found.message.partition(
        "; with " if "sweep" in broken.text else "\n"
    )  # what is wrong at another point than the first one
    name, _, value = point.partition(" = ")
    with pytest.raises(LaunchError) as refused:
        parse_launch(broken.text, folder.launch, ((name, int(value) if value.isdigit() else value),) if point else ())
    assert refused.value.message == message


def test_every_rule_of_a_file_alone_is_in_the_table():
    alone = {rule.code for rule in RULES if rule.code < "V810"} | {"V810", "V820", "V821"}
    assert {broken.code for broken in BROKEN} == alone
