"""The examples of ``docs/python.md`` and the notebook of ``examples/`` do what they say."""

from __future__ import annotations

import doctest
import re
import runpy
from pathlib import Path

import pytest

import visa_lsp

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "python.md"


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_the_examples_of_the_page_give_what_stands_there():
    text = PAGE.read_text(encoding="utf-8")
    # Lines outside of blocks are left empty, so that a failure names the line of the page.
    inside = re.split(r"^```.*$", text, flags=re.MULTILINE)
    code = "\n".join(part if number % 2 else "\n" * part.count("\n") for number, part in enumerate(inside))
    assert code.count(">>> ") > 25
    test = doctest.DocTestParser().get_doctest(code, {}, PAGE.name, str(PAGE), 0)
    said: list[str] = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert not said, "".join(said)


def test_the_page_has_every_name():
    text = PAGE.read_text(encoding="utf-8")
    unsaid = {"FindingList", "KernelArgument", "LaunchResult", "LoadedKernel", "Program", "RunFinding", "TextFinding"}
    assert {name for name in visa_lsp.__all__ if not re.search(rf"\b{name}\b", text)} <= unsaid
    result = visa_lsp.load("examples/saxpy.launch.yaml").launch()
    members = [name for name in (*vars(visa_lsp.LaunchResult), *vars(result)) if not name.startswith("_")]
    assert len(members) > 15
    assert [
        name for name in members if f"`{name}" not in text and f"{name}`" not in text and f".{name}(" not in text
    ] == []


def test_the_notebook_runs(capsys):
    assert runpy.run_path("examples/notebook.py")["result"].ok
    assert "out-of-bounds" in capsys.readouterr().out
