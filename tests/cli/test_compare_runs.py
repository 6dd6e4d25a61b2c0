"""``visa-lsp compare-runs``: two programs at the points of a sweep. The kernel is the example saxpy, and changes of it."""

from __future__ import annotations

import functools
import json
import random
import re
import shutil
from pathlib import Path

import pytest
from corpus import OWN

from benchmarks import compare_runs as planted_runs
from visa_lsp.app.compare_runs.shrink import MAX_TRIALS, shrunk
from visa_lsp.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"
LAUNCH = """\
groups: [ceil(n / 16)]
local_size: [16]
sweep: {n: [1, 100, 1000], seed: [1, 2]}
args:
  x: {buffer: {dtype: float32, shape: [n], init: random}}
  y: {buffer: {dtype: float32, shape: [n], init: ones}}
  a: {value: 2.5}
  n: {value: n}
"""
PLAIN = """\
groups: [7]
local_size: [16]
args:
  x: {buffer: {dtype: float32, shape: [100], init: ones}}
  y: {buffer: {dtype: float32, shape: [100], init: ones}}
  a: {value: 2.5}
  n: {value: 100}
"""
SIZE = "group_base(0,0)<1> local_size(0,0)<0;1,0> %r0(0,1)<0;1,0>"
OTHER_SIZE = "group_base(0,0)<1> %r0(0,1)<0;1,0> 0xf:ud"  # groups of 15 overlap by one item
STORE = "scatter4_scaled.R (M1, 16) y 0x0:ud offset.0 y_value.0"
MAD = "a(0,0)<0;1,0> x_value(0,0)<1;1,0>"


@pytest.fixture
def compare(run, here):
    shutil.copy(EXAMPLES / "saxpy.visaasm", here / "a.visaasm")
    (here / "s.launch.yaml").write_text(LAUNCH)
    return functools.partial(run, "compare-runs")


def changed(old, new, name="b.visaasm"):
    text = Path("a.visaasm").read_text()
    assert text.count(old) == 1
    Path(name).write_text(text.replace(old, new))


def line_of(name, words):
    return next(n for n, line in enumerate(Path(name).read_text().splitlines(), 1) if words in line)


def report(compare, *words):
    status, out, err = compare("a.visaasm", "b.visaasm", "--format", "json", *words)
    assert (status, err) == (1, "")
    return json.loads(out)


def test_a_difference_is_shrunk_and_told_with_the_first_store_in_both_texts(compare):
    changed(MAD, "x_value(0,0)<1;1,0> x_value(0,0)<1;1,0>")
    found = report(compare, "--launch", "s.launch.yaml")
    assert (found["same"], found["points"], found["compared"], found["launch"]) == (False, 6, 1, "s.launch.yaml")
    assert found["point"] == found["smallest"] == {"n": 1, "seed": 1}
    assert found["difference"]["kind"] == "values"
    assert (found["difference"]["arg"], found["difference"]["count"], found["difference"]["of"]) == ("y", 1, 1)
    assert found["store"]["a"]["text"] == found["store"]["b"]["text"] == STORE
    assert found["store"]["a"]["line"] == line_of("a.visaasm", STORE)
    assert found["store"]["b"]["lane"] == 0
    assert found["store"]["b"]["value"] == found["difference"]["b"] != found["difference"]["a"]


def test_what_shows_in_the_second_group_only_is_shrunk_to_the_first_size_that_has_two(compare):
    changed(SIZE, OTHER_SIZE)
    found = report(compare, "--launch", "s.launch.yaml")
    assert (found["point"], found["smallest"]) == ({"n": 100, "seed": 1}, {"n": 17, "seed": 1})
    assert found["compared"] == 3
    assert (found["difference"]["at"], found["store"]["a"]) == ([15], None)
    assert found["store"]["b"]["group"] == [1, 0, 0]


def test_without_a_sweep_groups_are_made_fewer(compare):
    changed(SIZE, OTHER_SIZE)
    Path("a.launch.yaml").write_text(PLAIN)
    found = report(compare)
    assert (found["launch"], found["point"], found["smallest"]) == ("a.launch.yaml", {}, {"groups": [2, 1, 1]})


def test_without_a_launch_file_a_grid_is_made_up(compare):
    guard = "index(0,0)<1;1,0> n(0,0)<0;1,0>"  # by default n is the number of items of one group
    changed(guard, "index(0,0)<1;1,0> 0x1000:ud", "a.visaasm")
    changed(SIZE, OTHER_SIZE)
    found = report(compare)
    assert (found["launch"], found["point"]) == ("the default grid", {"groups": [5, 1, 1]})
    assert found["smallest"] == {"groups": [2, 1, 1]}


@pytest.mark.full
def test_programs_for_two_platforms_run_on_their_own_in_a_grid(compare):
    old, new = (str(OWN / f"run/{platform}/axpy/saxpy.visaasm") for platform in ("TGLLP", "PVCXT"))
    status, out, _ = compare(old, new)
    assert (status, " agree " in out) == (0, True)


def test_programs_that_do_the_same_are_the_same_at_every_point(compare):
    Path("b.visaasm").write_text(Path("a.visaasm").read_text().replace("y_value", "result"))
    assert compare("a.visaasm", "b.visaasm", "--launch", "s.launch.yaml") == (
        0, "a.visaasm and b.visaasm agree at 6 points\n", "",
    )  # fmt: skip
    status, out, _ = compare("a.visaasm", "b.visaasm", "--format", "json")
    assert (status, json.loads(out)["same"], json.loads(out)["points"]) == (0, True, 13)


def test_a_text_and_its_object_do_the_same_and_an_object_has_lines(compare):
    assert main(["asm", "a.visaasm", "-o", "a.isa"]) == 0
    assert compare("a.visaasm", "a.isa", "--launch", "s.launch.yaml")[0] == 0
    changed(MAD, "x_value(0,0)<1;1,0> x_value(0,0)<1;1,0>")
    assert main(["asm", "b.visaasm", "-o", "b.isa"]) == 0
    status, out, _ = compare("a.visaasm", "b.isa", "--launch", "s.launch.yaml", "--format", "json")
    assert status == 1
    assert json.loads(out)["store"]["b"]["text"].startswith("scatter4_scaled")


def test_a_tolerance_admits_what_is_near(compare):
    changed(MAD, "a(0,0)<0;1,0> x_value(0,0)<1;1,0>".replace("a(0,0)<0;1,0>", "0x40200001:f"))  # the float behind 2.5
    assert report(compare, "--launch", "s.launch.yaml")["difference"]["kind"] == "values"
    for words in (("--rtol", "1e-5"), ("--atol", "0.01"), ("--ulp", "4")):
        assert compare("a.visaasm", "b.visaasm", "--launch", "s.launch.yaml", *words)[0] == 0


def test_a_program_that_does_not_end_is_another_one(compare):
    changed("    ret (M1, 1)", "again:\n    jmp (M1, 1) again")
    found = report(compare, "--launch", "s.launch.yaml")
    assert (found["difference"]["kind"], found["store"], found["smallest"]["n"]) == ("faults", None, 1)
    assert "step-budget" in found["difference"]["text"]


def test_a_program_that_reads_beyond_its_buffers_is_another_one(compare):
    load = "    gather4_scaled.R (M1, 16) x 0x0:ud offset.0 x_value.0\n"
    changed(load, load.replace("0x0", "0x4") + load)  # reads the element behind the last, and forgets it
    difference = report(compare, "--launch", "s.launch.yaml")["difference"]
    assert difference["kind"] == "faults"
    assert difference["text"].startswith("A does not fail and B fails (out-of-bounds: ")


def test_a_program_that_cannot_be_run_is_another_one(compare):
    changed(".decl n v_type=G", ".decl m v_type=G")
    text = Path("b.visaasm").read_text()
    Path("b.visaasm").write_text(re.sub(r"(?<![\w.])n(?=[ (]|$)", "m", text, flags=re.MULTILINE))
    found = report(compare, "--launch", "s.launch.yaml")
    assert found["difference"]["kind"] == "launch"
    assert found["difference"]["text"].startswith("B cannot run: ")


def test_the_text_of_the_report_has_both_lines(compare):
    changed(MAD, "x_value(0,0)<1;1,0> x_value(0,0)<1;1,0>")
    status, out, _ = compare("a.visaasm", "b.visaasm", "--launch", "s.launch.yaml")
    lines = out.splitlines()
    assert (status, lines[0]) == (1, "a.visaasm (A) and b.visaasm (B) differ")
    assert lines[1] == "  first at: n = 1, seed = 1 (s.launch.yaml)"
    at = line_of("a.visaasm", STORE)
    assert sum(line.startswith(f"    A a.visaasm:{at}: group (0, 0, 0), thread 0, lane 0: ") for line in lines) == 1
    assert lines.count(f"      {STORE}") == 2


# The search for the smallest point.


@pytest.mark.parametrize(
    ("point", "values", "holds", "smallest"),
    [
        ((("n", 1000),), {"n": (1, 1000)}, lambda p: p["n"] >= 17, (("n", 17),)),
        ((("n", 1000),), {"n": (0, 1000)}, lambda _: True, (("n", 0),)),
        ((("n", 1000),), {}, lambda _: True, (("n", 1),)),
        ((("n", 64), ("m", 64)), {}, lambda p: p["n"] + p["m"] >= 70, (("n", 6), ("m", 64))),
        ((("g", (5, 3, 2)),), {}, lambda p: p["g"][0] * p["g"][1] >= 3, (("g", (1, 3, 1)),)),
        ((("p", "C"),), {"p": ("A", "B", "C")}, lambda p: p["p"] != "A", (("p", "B"),)),
        ((("x", 0.5),), {"x": (0.25, 0.5)}, lambda _: True, (("x", 0.25),)),
    ],
)
def test_a_point_is_made_smaller_axis_by_axis(point, values, holds, smallest):
    assert shrunk(point, values, lambda other: holds(dict(other))) == smallest


def test_what_is_asked_is_bounded_and_what_comes_out_holds():
    asked = []
    draw = random.Random(1)

    def holds(point):
        asked.append(point)
        return draw.random() < 0.5

    start = tuple((f"n{at}", 10**18) for at in range(16))
    found = shrunk(start, {}, holds)
    assert len(asked) <= MAX_TRIALS
    assert found == start or found in asked


# Planted changes in the corpus: a sample; python -m benchmarks.compare_runs does forty.


@pytest.mark.full
def test_planted_changes_of_one_instruction_are_found_and_shrunk_and_renamed_copies_are_the_same():
    made = list(planted_runs.results(3, 1))
    assert len(made) == 3
    for run, wrong, compared, copy in made:
        assert (wrong, copy.difference) == ("", None), run.original.name
        assert planted_runs.is_smaller(dict(compared.smallest), dict(compared.point))
