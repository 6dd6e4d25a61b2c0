"""Sweeps in launch files: their points, and the launch at each of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.launchfile.folder import LaunchFolder
from visa_lsp.launchfile.judge import judge
from visa_lsp.launchfile.source import launch_source
from visa_lsp.launchfile.sweep import MAX_SWEEP_POINTS, at_point
from visa_lsp.launchfile.values import point_words
from visa_lsp.sim.launch.config import LaunchError

PATH = Path("k.launch.yaml")
TEXT = """\
groups: [ceil(n / 256), 1, 1]
local_size: [64]
sweep: {n: [1, 1000, 65536], local_size: [[16, 1, 1], [256, 1, 1]], platform: [TGLLP, dg2], seed: [1, 2, 3]}
args:
  - {buffer: {dtype: float32, shape: [n], init: random}}
  - {buffer: {dtype: int32, shape: n, init: {random: seed + 1}}}
  - {value: n}
  - {values: [n, n * 0.5, 3]}
"""


def sweep_of(text):
    return at_point(launch_source(text)).sweep


def test_there_is_a_point_for_every_combination_and_the_last_axis_runs_fastest():
    points = list(sweep_of(TEXT).points())
    assert len(points) == len(set(points)) == sweep_of(TEXT).count == 36
    assert [dict(point)["seed"] for point in points[:4]] == [1, 2, 3, 1]
    assert point_words(points[-1]) == "n = 65536, local_size = [256, 1, 1], platform = dg2, seed = 3"


def test_a_point_puts_axes_in_the_place_of_keys_and_numbers_in_that_of_expressions():
    point = (("n", 1000), ("local_size", (256, 1, 1)), ("platform", "dg2"), ("seed", 2))
    launch = parse_launch(TEXT, PATH, point)
    config = launch.config
    assert (config.groups, config.local_size, launch.platform) == ((4, 1, 1), (256, 1, 1), "DG2")
    assert [arg.array.shape for arg in config.args] == [(1000,), (1000,), (), (3,)]
    assert np.array_equal(config.args[0].array, np.random.default_rng(2).random(1000).astype(np.float32))
    assert config.args[2].array == 1000
    assert config.args[3].array.tolist() == [1000, 500, 3]
    assert launch.notes == ()


def test_without_a_point_a_file_is_its_first_one_and_says_so():
    launch = parse_launch(TEXT, PATH)
    first = parse_launch(TEXT, PATH, next(launch.sweep.points()))
    assert (launch.config.groups, launch.platform) == (first.config.groups, first.platform) == ((1, 1, 1), "TGLLP")
    assert launch.notes == (
        "the first of 36 points of its sweep: n = 1, local_size = [16, 1, 1], platform = TGLLP, seed = 1; --sweep runs all",
    )


def test_a_seed_is_that_of_random_contents_which_have_none():
    launches = [parse_launch(TEXT, PATH, (("n", 8), ("seed", seed))) for seed in (1, 2)]
    arrays = [launch.config.args[0].array for launch in launches]
    assert not np.array_equal(*arrays)


def test_a_point_may_have_values_and_keys_that_the_sweep_has_not():
    launch = parse_launch(TEXT, PATH, (("n", 17), ("groups", (3, 2, 1)), ("local_size", ("n // 2", 1, 1))))
    assert (launch.config.groups, launch.config.local_size) == ((3, 2, 1), (8, 1, 1))
    plain = parse_launch("groups: [4]\nargs: [{value: 1}]", PATH, (("groups", (2, 1, 1)),))
    assert (plain.config.groups, plain.sweep) == ((2, 1, 1), None)


def test_without_a_sweep_a_text_is_no_number():
    with pytest.raises(LaunchError, match="expected a whole number, got the text 'n'"):
        parse_launch("groups: [n]", PATH)


def test_a_sweep_of_too_many_points_is_refused_before_any_is_made():
    axes = ", ".join(f"x{n}: {list(range(20))}" for n in range(5))
    source = launch_source(f"groups: [x0 + x1 + x2 + x3 + x4 + 1]\nsweep: {{{axes}}}")
    (found,) = at_point(source).findings
    assert found.message == f"the sweep has 3200000 points; at most {MAX_SWEEP_POINTS} are supported"


def test_every_value_is_judged_once_and_named_where_it_is_to_blame(tmp_path):
    text = TEXT.replace("65536", "300000000").replace("dg2", "DG2, BMG2")
    found = judge(launch_source(text), LaunchFolder(tmp_path / "k.launch.yaml")).diagnostics
    assert [(d.code, d.message.partition("; with ")[2]) for d in found] == [
        ("V804", "platform = BMG2"),
        ("V807", "n = 300000000"),
        ("V807", "n = 300000000"),
    ]


def test_an_axis_that_changes_nothing_is_a_warning_and_no_error():
    text = "groups: [1]\nsweep: {n: [1, 2]}"
    (found,) = judge(launch_source(text), None).diagnostics
    assert (found.code, found.severity.value, found.message) == ("V822", "warning", "the axis 'n' has no effect")
    assert parse_launch(text, PATH).sweep.count == 2
