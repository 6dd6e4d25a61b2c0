"""Makes ``tests/support`` importable; VS Code is driven by one worker at a time, first of all."""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))


def _is_vscode(item: pytest.Item) -> bool:
    return item.path.name == "test_vscode.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark this folder's tests; those that take longest begin first, so that other workers have work meanwhile."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker("editors")
    items.sort(key=lambda item: not _is_vscode(item))


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of a run have in common."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture
def alone(shared_folder: Path) -> Iterator[None]:
    """While a test has this, no other worker has it: two browsers beside each other are too much for a small machine."""
    with (shared_folder / "vscode.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
