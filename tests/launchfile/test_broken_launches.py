"""A table of broken launch files: each has one finding, with its code and place, and a run refuses it with the same words."""

from __future__ import annotations

import numpy as np
import pytest
from broken_launches import BROKEN
from each_case import check_each

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.launchfile.folder import LaunchFolder
from visa_lsp.launchfile.judge import judge
from visa_lsp.launchfile.rules import RULES
from visa_lsp.launchfile.source import launch_source
from visa_lsp.sim.launch.config import LaunchError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "text.npy").write_text("1 2 3")
    np.save(tmp_path / "floats.npy", np.arange(4, dtype=np.float32))
    return LaunchFolder(tmp_path / "k.launch.yaml")


def test_the_one_mistake_is_found(folder):
    def check(broken):
        source = launch_source(broken.text)
        found = judge(source, folder).diagnostics
        assert len(found) == 1
        line, column = source.index.position(found[0].span.start)
        assert (found[0].code, f"{line + 1}:{column + 1}") == (broken.code, broken.place)
        assert broken.words in found[0].message

    check_each(BROKEN, check, lambda broken: broken.text)


def refusal(text, folder, point):
    """Return the error of a run about a launch file, at a point of its sweep."""
    name, _, value = point.partition(" = ")
    try:
        parse_launch(text, folder.launch, ((name, int(value) if value.isdigit() else value),) if point else ())
    except LaunchError as error:
        return str(error)
    return ""


def test_a_run_refuses_it_with_the_same_words(folder):
    def check(broken):
        message = " ".join(found.message for found in judge(launch_source(broken.text), folder).diagnostics)
        # What is wrong at another point than the first one says which.
        message, _, point = message.partition("; with " if "sweep" in broken.text else "\n")
        # A run places what is no YAML where the reader stopped.
        place = broken.place if broken.code != "V800" else "1:11" if message.startswith("expected") else "2:1"
        assert refusal(broken.text, folder, point) == f"{folder.launch}:{place}: {message}"

    check_each(BROKEN, check, lambda broken: broken.text)


def test_every_rule_of_a_file_alone_is_in_the_table():
    alone = {rule.code for rule in RULES if rule.code < "V810"} | {"V810", "V820", "V821"}
    assert {broken.code for broken in BROKEN} == alone
