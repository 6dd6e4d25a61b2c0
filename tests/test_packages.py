"""Wheel and source archive in empty environments, with each extra and on each Python of this machine."""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / ".ci"))
release = importlib.import_module("release")
sys.path.remove(str(ROOT / ".ci"))

NO_TOOLS = (
    "" if find_spec("build") and find_spec("twine") else "build and twine are not installed: pip install build twine"
)
pytestmark = [pytest.mark.full, pytest.mark.skipif(bool(NO_TOOLS), reason=NO_TOOLS or "they are here")]
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the folder with the source archive and the wheel that is made from it."""
    folder = tmp_path_factory.mktemp("release")
    release.packages(folder)  # which has twine judge them, and compares the wheel with the sources
    return folder / "dist"


def test_a_wheel_works_with_each_extra_and_starts_no_slower(made, tmp_path):
    """What takes long to load is loaded when it is needed: a check has the same modules, whatever is installed."""
    loaded = {}
    for extra in release.extras():
        loaded[extra], *costs = release.environment(
            Path(sys.executable), extra, next(made.glob("*.whl")), tmp_path / f"with-{extra}"
        )
        assert min(costs) > 0
    assert len(loaded) > 3
    assert len(set(loaded.values())) == 1, loaded


@pytest.mark.parametrize("version", [version for version in release.PYTHONS if version != HERE])
def test_a_wheel_works_on_other_pythons(made, tmp_path, version):
    program = release.pythons()[version]
    if program is None:
        pytest.skip(f"no Python {version} on this machine")
    release.environment(program, "run", next(made.glob("*.whl")), tmp_path / "e")


def test_a_source_archive_works_alone(made, tmp_path):
    release.environment(Path(sys.executable), "", next(made.glob("*.tar.gz")), tmp_path / "e")
