"""Cases of each target of ``benchmarks.attack``, always the same; nothing fails.

The attack runs in a process of its own, with its memory bounded: a few cases of each target in one, or, in the tier `full`,
a few hundred of one. The CPU time that a case may take is there to end what would not end: it is hundreds of times what any
case takes.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.attack import __main__ as attacks
from benchmarks.attack.core import Target, Wrong, drawer
from benchmarks.attack.documents import VALUES, change
from benchmarks.attack.objects import old_object
from benchmarks.attack.texts import assemble
from visa_lsp.analysis.analysis import VERIFY
from visa_lsp.codec.decode import decode

if TYPE_CHECKING:
    import random

ROOT = Path(__file__).parents[2]
COUNTS = {
    "hosts": 60,
    "texts": 60,
    "objects": 600,
    "launches": 40,
    "npy": 300,
    "zeinfo": 30,
    "zebins": 150,
    "messages": 40,
    "programs": 200,
    "kernels": 20,
    "captures": 100,
    "processes": 60,
}


def attack(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.attack", "--seconds", "120", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.full
@pytest.mark.parametrize("target", COUNTS)
def test_nothing_fails(target: str) -> None:
    done = attack("--target", target, "--count", str(COUNTS[target]))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{target}: {COUNTS[target]} tried, 0 failed" in done.stdout


@pytest.mark.full
def test_nothing_fails_in_the_first_cases_of_each_target() -> None:
    done = attack("--count", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"^(\w+): 2 tried, 0 failed", done.stdout, re.MULTILINE) == list(attacks.TARGETS)


def test_every_target_is_tried_here() -> None:
    assert set(attacks.TARGETS) == set(COUNTS)


class Odd(Target):
    """Cases that are numbers below ten, of which three fail, each in a way of its own."""

    name = "odd"

    def make(self, draw: random.Random) -> int:
        return draw.randrange(10)

    def attempt(self, case: int, draw: random.Random) -> str:
        if case == 3:
            raise Wrong("a three")
        if case == 4:
            raise ValueError("a four")
        while case == 5:
            pass
        return "well"


def test_failures_are_counted_and_kept_and_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VERIFY, "")  # the attack sets it for its process, which is this one
    monkeypatch.setattr(attacks, "TARGETS", {"odd": Odd})

    def failing(*words: str) -> tuple[int, str]:
        status = attacks.main(["--seconds", "0.2", "--megabytes", "0", "--seed", "26", *words])
        return status, capsys.readouterr().out

    status, said = failing("--count", "12", "--keep", str(tmp_path))
    assert status == 1
    told = re.findall(r"FAILED --target odd --seed 26 --only (\d+): (.*)", said)
    assert {what.split(" at ")[0] for _, what in told} == {
        "a three",
        "ValueError: 'a four'",
        "more than 0.2 s of CPU time",
    }
    assert f"odd: 12 tried, {len(told)} failed" in said
    assert {path.read_text() for path in tmp_path.iterdir()} == {"3", "4", "5"}
    number, what = told[0]
    status, again = failing("--only", number)
    assert (status, re.findall(r"--only (\d+): (.*)", again)) == (1, [(number, what)])


INPUTS = """
import hashlib
from benchmarks.attack.__main__ import TARGETS
from benchmarks.attack import __main__ as attacks
from benchmarks.attack.core import Target, Wrong, drawer
for name, kind in TARGETS.items():
    target = kind()
    seen = [target.to_bytes(target.make(drawer(name, 1, number))) for number in range(12)]
    target.close()
    print(name, len(set(seen)), hashlib.sha1(repr(seen).encode()).hexdigest())
"""


@pytest.mark.full
def test_the_same_seed_makes_the_same_inputs_in_another_process() -> None:
    found = []
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        command = [sys.executable, "-c", INPUTS]
        found.append(
            subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=environment).stdout
        )
    assert found[0] == found[1]
    assert len(found[0].splitlines()) == len(COUNTS)


def test_an_attribute_behind_a_subroutine_keeps_its_bytes() -> None:
    text = '.version 4.1\n.kernel "k"\n.function "f"\n.kernel_attr SimdSize=16\nf:\n    ret (M1, 1)\n'
    assert assemble(text, None) == "assembled"
    assert assemble(text.replace('.function "f"\n', "").replace("f:\n", ""), None) == "assembled"


def test_a_number_that_was_a_text_is_one_in_four_bytes() -> None:
    text = '.version 4.1\n.kernel "k"\n.kernel_attr SLMSize="\\x80"\n    ret (M1, 1)\n'
    assert assemble(text, None) == "assembled, a number that was a text in four bytes"


def test_objects_of_old_versions_are_ones() -> None:
    for version in (*((3, minor) for minor in range(8)), (4, 0)):
        assert len(decode(old_object(drawer("old", 1, 0), version, b"")).kernels) == 1, version


def test_what_is_put_into_a_document_is_a_copy() -> None:
    before = repr(VALUES)
    draw = drawer("documents", 1, 0)
    value: object = {"a": [1, {"b": 2}], "c": {"d": [3]}}
    for _ in range(300):
        value = change(draw, value)
        if len(repr(value)) > 10_000:
            value = {"a": [1, {"b": 2}]}
    assert repr(VALUES) == before
