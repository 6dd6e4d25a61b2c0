"""The JSON schema of launch files: it takes every good one and refuses the broken ones that it can tell."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from broken_launches import BROKEN
from jsonschema import Draft7Validator
from lsp_client import LAUNCH

from visa_lsp.generate.launch_schema import FILES
from visa_lsp.isa.platforms import PLATFORMS
from visa_lsp.launchfile.source import launch_source

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / FILES[0]).read_text(encoding="utf-8"))
GOOD = sorted(
    path
    for folder in ("examples", "tests", "docs", "../shared/corpus/run")
    for ending in ("yaml", "yml")
    for path in (ROOT / folder).rglob(f"*.launch.{ending}")
)
SEEN = [broken for broken in BROKEN if broken.seen]
# Launch files inside of tests that are read without an error there.
WRITTEN = [
    LAUNCH,
    *re.findall(
        r'^(?:FULL|LAUNCH) = """\\\n(.*?)"""',
        (ROOT / "tests/sim_launch/test_launch_file.py").read_text(),
        re.MULTILINE | re.DOTALL,
    ),
    "sweep: {n: [1, 2], groups: [1, [n, 2]]}\nargs: [{buffer: {dtype: int8, shape: [n, 2 * n], init: {random: n}}}, {value: n}]",
    "groups: n\nsweep: {n: [1]}\nargs: {x: {values: [n, 1, [n]]}}\nexpect: [{arg: x, reference: k.cl, ulp: n}, {expr: x > 1}]",
    "mode: media\nthreads: [2, 3]",
    "groups: 1\nargs: {x: {buffer: null}, y: {value: .nan}, z: {values: [[1, 2], [3, 4]], dtype: int8}}",
    "global_size: [33, 1]\nlocal_size: 16\nargs: [{image: {dtype: int8, shape: [4, 4], channels: 1, access: readonly}}]",
    "groups: [1]\nargs: [{buffer: {npy: x.npy, access: writeonly}, access: writeonly}, {buffer: {init: {npy: x.npy}}}]",
    "groups: [1]\nargs: [{buffer: {dtype: int8, shape: [], init: random}}, {buffer: {dtype: int8, init: {values: [1]}}}]",
]


def refused(text: str) -> bool:
    root = launch_source(text).root
    assert root is not None
    return not Draft7Validator(SCHEMA).is_valid(root.plain())


def test_it_is_a_schema_and_the_extension_has_it():
    Draft7Validator.check_schema(SCHEMA)
    assert (ROOT / FILES[1]).read_bytes() == (ROOT / FILES[0]).read_bytes()


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.name)
def test_launch_files_of_the_repository_are_taken(path):
    assert not refused(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", WRITTEN)
def test_launch_files_of_tests_are_taken(text):
    assert not refused(text)


def test_there_are_good_files_to_take():
    assert len(GOOD) >= 3
    assert len(WRITTEN) >= 7


def test_broken_ones_are_refused():
    for broken in SEEN:
        assert refused(broken.text), broken.text


def test_an_expression_is_refused_where_there_is_no_sweep():
    for text in ("groups: n", "groups: [n]", "groups: 1\nargs: {x: {value: n}}", "groups: 1\nargs: [{local: n}]",
                 "groups: 1\nargs: [{buffer: {dtype: int8, shape: [n]}}]", "groups: 1\nargs: [{buffer: {dtype: int8, shape: 1, init: {random: n}}}]"):  # fmt: skip
        assert refused(text), text
        assert not refused(f"{text}\nsweep: {{n: [1]}}"), text


def test_thirty_and_more_are_refused():
    assert len(SEEN) >= 30


def test_every_name_of_a_platform_is_taken():
    for word in (
        *(name for p in PLATFORMS for name in (p.name.lower(), *p.words)), "lnl-b0", "pvc-xl-a0p", "20.04.4", "12.55",
    ):  # fmt: skip
        assert not refused(f"groups: [1]\nplatform: '{word}'"), word
