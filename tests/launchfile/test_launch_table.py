"""The table of keys: every example is right, every page says what the reader does, every word means something."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from each_case import check_each

from visa_lsp.checks.support.rule_page import examples
from visa_lsp.launchfile.folder import LaunchFolder
from visa_lsp.launchfile.judge import judge
from visa_lsp.launchfile.rules import RULES
from visa_lsp.launchfile.source import launch_source
from visa_lsp.launchfile.tables import ROOT, TABLES
from visa_lsp.zeinfo.schema import VALUES

DOCS = Path(__file__).parents[2] / "docs" / "launch.md"
ROWS = [(table, row) for table in TABLES.values() for row in table.keys]
# A launch file with a place for the keys of each table; what stands there besides makes any of them right.
FRAMES = {
    "Argument": "groups: [1]\nmemory: [{{address: 0x10000, dtype: int32, shape: [64]}}]\nargs: [{{{0}}}]",
    "Memory": "groups: [1]\nmemory: [{{{0}}}]",
    "Buffer": "groups: [1]\nargs: [{{buffer: {{{0}}}}}]",
    "Image": "groups: [1]\nargs: [{{image: {{{0}}}}}]",
    "Sampler": "groups: [1]\nargs: [{{sampler: {{{0}}}}}]",
    "Symbol": "groups: [1]\nsymbols: {{TAB: {{{0}}}}}",
    "Sweep": "{1}\nsweep: {{{0}}}",
    "Init": "groups: [1]\nargs: [{{buffer: {{dtype: uint8, shape: [3], init: {{{0}}}}}}}]",
    "Expectation": "groups: [1]\nargs: [{{value: 1}}]\nexpect: [{{{0}}}]",
}
NEEDED = {
    ROOT: {"groups": "[1]"},
    "Argument": {"value": "1"},
    "Buffer": {"dtype": "int32", "shape": "[3]"},
    "Image": {"dtype": "uint8", "shape": "[1, 4]"},
    "Symbol": {"dtype": "int32", "shape": "[3]"},
    "Memory": {"address": "0x20000", "dtype": "int32", "shape": "[3]"},
    "Expectation": {"arg": "0", "values": "[1]"},
}
ONE_OF = {"value", "values", "buffer", "image", "local", "sampler", "pointer"}
WITHOUT = {  # what an example stands in the place of
    "expr": {"values"}, "reference": {"values"}, "global_size": {"groups"}, "npy": {"values", "dtype", "shape"}, "values": {"shape"}, "mode": {"groups"}, "threads": {"groups"},
}  # fmt: skip
WITH = {"mode": "threads: [1, 1]", "threads": "mode: media", "access": "buffer: null", "expect": "args: [{value: 1}]"}


SWEPT = {"groups": "local_size: [1]", "global_size": "local_size: [1]"}  # what an axis of that name needs beside it


def launch(table, row):
    """Return a launch file with the example of a key, and what else its map needs."""
    more = {
        key: value
        for key, value in NEEDED.get(table.name, {}).items()
        if key != row.name and key not in WITHOUT.get(row.name, ())
    }
    if table.name == "Argument" and row.name in (ONE_OF | {"access"}):
        more = {}
    entries = [row.example, *(f"{key}: {value}" for key, value in more.items())]
    if row.name in WITH and table.name in (ROOT, "Argument"):
        entries.append(WITH[row.name])
    frame = FRAMES.get(table.name, "").replace(", shape: [3]" if row.name == "npy" else "no shape", "")
    return (
        frame.format(", ".join(entries), SWEPT.get(row.name, "groups: [1]"))
        if table.name in FRAMES
        else "\n".join(entries)
    )


@pytest.fixture
def folder(tmp_path):
    for name in ("in", "out"):
        np.save(tmp_path / f"{name}.npy", np.zeros((64, 64, 4), np.uint8))
    for name in (
        "saxpy.visaasm",
        "helpers.visaasm",
        "other.visaasm",
        "old.visaasm",
        "new.visaasm",
        "saxpy.zeinfo.yaml",
        "saxpy.zebin",
    ):
        (tmp_path / name).write_text("")
    return LaunchFolder(tmp_path / "k.launch.yaml")


def name_of(case):
    return f"{case[0].name} {case[1].name}"


def test_the_example_of_each_key_is_right(folder):
    def check(case):
        table, row = case
        text = launch(table, row)
        assert row.example.startswith(f"{row.name}: ")
        assert judge(launch_source(text), folder).diagnostics == (), text

    check_each(ROWS, check, name_of)


def test_every_key_is_described():
    page = DOCS.read_text(encoding="utf-8")

    def check(case):
        row = case[1]
        assert row.inner in VALUES or row.inner in TABLES
        assert row.doc.endswith(".")
        assert f"* `{row.name}`: {row.doc}" in page
        assert f"| `{row.example}` |" in page

    check_each(ROWS, check, name_of)


@pytest.mark.parametrize(("table", "row"), [(t, r) for t, r in ROWS if r.words], ids=lambda value: value.name)
def test_every_word_is_taken(table, row, folder):
    """By itself: how a format fits an element type is another matter."""
    for word in row.words:
        example = type(row)(
            row.name, row.type, row.doc, f"{row.name}: [{word.name}]" if row.many else f"{row.name}: {word.name}"
        )
        found = judge(launch_source(launch(table, example)), folder).diagnostics
        wrong = [d for d in found if d.code in ("V803", "V804") and row.name not in ("format", "dtype")]
        assert wrong == []


@pytest.mark.parametrize("rule", [r for r in RULES if r.code <= "V810" or r.code >= "V820"], ids=lambda rule: rule.name)
def test_the_page_of_a_rule_shows_what_it_finds(rule, folder):
    np.save(folder.launch.with_name("array.npy"), np.zeros(3))
    folder.launch.with_name("text.npy").write_text("1 2 3")
    wrong, right = examples(rule)
    assert [d.code for d in judge(launch_source(wrong), folder).diagnostics] == [rule.code]
    assert judge(launch_source(right), folder).diagnostics == ()
