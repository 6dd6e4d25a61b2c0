"""What the tests of VS Code share: the package, built once for all workers, and one window for each worker."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from vscode import Window, build_extension, copy_extension  # it is found by the line above

LONG = [  # they take longest, the first one most
    "test_a_kernel_is_debugged",
    "test_what_is_missing_is_offered",
    "test_machine_code_beside_a_text",
    "test_inside_the_extension_host",
]


def pytest_configure(config: pytest.Config) -> None:
    """Let xdist hand out few tests at a time: some take a minute, and the other workers are to have the rest meanwhile."""
    if hasattr(config.option, "maxschedchunk"):
        config.option.maxschedchunk = config.option.maxschedchunk or 1


def _turn(item: pytest.Item) -> tuple[int, int]:
    """One worker builds the package while another one runs what needs none; then come the longest."""
    builds = item.name == "test_the_package_holds_every_picture_of_its_page"
    vscode = item.path.name.startswith("test_vscode")
    return (0 if builds else 2 if vscode else 1, LONG.index(item.name) if item.name in LONG else len(LONG))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark this folder's tests, and put them into an order that keeps all workers busy."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker("editors")
    items.sort(key=_turn)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the .vsix of a target of the Marketplace, or that for all; each is built once for all workers."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def build(target: str = "") -> Path:
        with (shared / "extension.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            extension = shared / "extension" / "vscode-extension"
            if not (extension / "node_modules").exists():
                copy_extension(shared / "extension")
            made = extension / (f"visa-lsp-{target}.vsix" if target else "visa-lsp.vsix")
            return made if made.exists() else build_extension(extension, target)

    return build


@pytest.fixture(scope="session")
def vsix(built: Callable[[str], Path]) -> Path:
    return built("")


@pytest.fixture(scope="session")
def window(vsix: Path) -> Iterator[Window]:
    """Yield a VS Code that finds its server; every script has a page and a folder of its own in it."""
    with Window(vsix) as made:
        yield made
