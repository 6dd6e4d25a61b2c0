"""A release: the changelog from its fragments, one version everywhere, and a workflow that calls steps that are there."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / ".ci"))
changes = importlib.import_module("changes")
release = importlib.import_module("release")
sys.path.remove(str(ROOT / ".ci"))

BEFORE = """# Changelog

## 1.1.0 (unreleased)

- A line without a kind.

### Added

- One thing.

### Fixed

- A fault.

## [1.0.0] - 2026-01-02

- The first one.
"""


@pytest.fixture
def folder(tmp_path):
    """Fragments of three kinds, one of which the changelog has no heading of."""
    (tmp_path / "README.md").write_text("# no fragment\n")
    for name, text in (("b.added", "Two\nlines."), ("a.added", "Another."), ("c.security", "Safe again.")):
        (tmp_path / f"{name}.md").write_text(text + "\n")
    return tmp_path


def test_fragments_go_behind_the_lines_of_their_kind(folder):
    after = changes.release_changelog(BEFORE, "1.1.0", "2026-03-04", changes.fragments(folder))
    assert after == BEFORE.replace("## 1.1.0 (unreleased)", "## [1.1.0] - 2026-03-04").replace(
        "- One thing.\n", "- One thing.\n- Another.\n- Two lines.\n"
    ).replace("- A fault.\n", "- A fault.\n\n### Security\n\n- Safe again.\n")


def test_no_line_of_the_changelog_is_lost(folder):
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    (heading,) = [h for h in changes.HEADING.finditer(changelog) if h[0].endswith("(unreleased)")]
    after = changes.release_changelog(changelog, heading[1], "2026-03-04", changes.fragments(folder)).splitlines()
    assert [line for line in changelog.splitlines() if line not in after] == [heading[0]]
    assert len(after) >= len(changelog.splitlines()) + 3


@pytest.mark.parametrize("name", ["x.md", "x.news.md", "x.y.added.md"])
def test_a_fragment_of_no_kind_is_refused_with_the_kinds(folder, name):
    (folder / name).write_text("Something.\n")
    with pytest.raises(SystemExit, match=r"KIND is one of added, changed"):
        changes.fragments(folder)


@pytest.mark.parametrize("text", ["", "- with a dash", "# a heading"])
def test_a_fragment_that_is_no_sentence_is_refused(folder, text):
    (folder / "d.fixed.md").write_text(text)
    with pytest.raises(SystemExit, match="is a sentence or more"):
        changes.fragments(folder)


def test_a_version_that_is_not_the_one_to_come_is_refused(folder):
    with pytest.raises(SystemExit, match=r"the version to come is 1\.1\.0"):
        changes.release_changelog(BEFORE, "1.0.1", "2026-03-04", changes.fragments(folder))


def test_the_fragments_of_this_repository_are_fragments():
    changes.fragments(ROOT / "docs" / "changes")


def test_the_version_is_one_and_has_notes(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("GITHUB_REF_TYPE", raising=False)
    release.version(tmp_path)
    assert "vscode-extension/package.json" in capsys.readouterr().out
    assert "The first version." in (tmp_path / "notes.md").read_text()


def test_a_tag_of_another_version_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_REF_TYPE", "tag")
    monkeypatch.setenv("GITHUB_REF_NAME", "v99.0.0")
    with pytest.raises(SystemExit, match=r"the tag 99\.0\.0"):
        release.version(tmp_path)


# ---- the workflow and the templates


def workflow() -> dict:
    return YAML(typ="safe").load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))


def test_the_workflow_calls_steps_that_are_there():
    called = [
        step["run"] for job in workflow()["jobs"].values() for step in job["steps"] if ".ci/" in step.get("run", "")
    ]
    assert ".ci/run" in called
    words = {word for line in called if "release.py" in line for word in line.split("release.py")[1].split()}
    assert words == set(release.STEPS)
    targets = set(
        re.findall(r"^  '([\w-]+)':", (ROOT / "vscode-extension/scripts/wheels.mjs").read_text(), re.MULTILINE)
    )
    asked = next(s["env"]["VISA_TARGETS"] for j in workflow()["jobs"].values() for s in j["steps"] if "VISA_TARGETS" in s.get("env", {}))  # fmt: skip
    assert set(asked.split()) == targets


def test_nothing_is_published_but_from_a_tag_behind_the_tests():
    jobs = workflow()["jobs"]

    def behind(name: str) -> set[str]:
        needs = jobs[name].get("needs", [])
        needs = [needs] if isinstance(needs, str) else needs
        return set(needs).union(*(behind(other) for other in needs))

    publishing = {"pypi", "extension", "site", "notes"}
    assert publishing == {name for name, job in jobs.items() if job.get("if") == "github.ref_type == 'tag'"}
    for name in publishing:
        assert {"tests", "pythons", "packages"} <= behind(name)
    writing = {name for name, job in jobs.items() if "write" in job.get("permissions", {}).values()}
    assert writing == {"packages", "pypi", "site", "notes"}
    assert workflow()["permissions"] == {"contents": "read"}


def test_no_secret_is_an_argument_of_a_command():
    for job in workflow()["jobs"].values():
        for step in job["steps"]:
            assert "${{" not in step.get("run", ""), step


def test_templates_of_issues_are_forms():
    for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("w*.yml"):
        form = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
        assert {"name", "description", "body"} <= set(form)
        ids = [entry["id"] for entry in form["body"]]
        assert len(set(ids)) == len(ids)
        assert all(entry["attributes"]["label"] for entry in form["body"])
