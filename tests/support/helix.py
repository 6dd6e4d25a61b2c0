"""A real Helix in a terminal of its own (tmux): keys go in, the screen comes out."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from editors import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE = 60.0


def helix() -> str | None:
    """Return the Helix of this machine: by VISA_LSP_TEST_HELIX, else on the search path."""
    return os.environ.get("VISA_LSP_TEST_HELIX") or shutil.which("hx") or shutil.which("helix")


def why_missing() -> str:
    """Return the reason why Helix cannot be driven here; empty where it can."""
    if helix() is None:
        return "no helix (Debian 13: apt-get install hx; before: tests/editors/helix/install.sh DIR, VISA_LSP_TEST_HELIX=DIR/hx)"
    return "" if shutil.which("tmux") else "no tmux to show helix in (apt-get install tmux)"


@dataclass
class Terminal:
    """A terminal with a program in it; ends with the block."""

    command: list[str]
    folder: Path
    environment: dict[str, str]
    name: str = field(default_factory=lambda: f"visa-{uuid.uuid4().hex[:12]}")

    def __enter__(self) -> Self:
        size = ["-x", "160", "-y", "50"]
        self._tmux("-f", os.devnull, "new-session", "-d", *size, "-c", str(self.folder), *self.command)
        return self

    def __exit__(self, *_: object) -> None:
        self._tmux("kill-server", check=False)

    def _tmux(self, *words: str, check: bool = True) -> str:
        command = ["tmux", "-u", "-L", self.name, *words]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0 or not check, done.stderr
        return done.stdout

    def keys(self, *names: str) -> None:
        """Type keys by their names, ``Enter`` or ``g``."""
        for name in names:
            self._tmux("send-keys", name)
            time.sleep(0.05)  # a lone Escape differs from the start of another key by the pause after it

    def text(self, words: str) -> None:
        """Type a text as it is."""
        self._tmux("send-keys", "-l", words)

    def screen(self) -> str:
        """Return the text of the screen."""
        return self._tmux("capture-pane", "-p")

    def has_ended(self) -> bool:
        """Return whether the program has come to its end."""
        return (
            subprocess.run(
                ["tmux", "-L", self.name, "has-session"], env=self.environment, capture_output=True, check=False
            ).returncode
            != 0
        )

    def wait(self, words: str) -> str:
        """Wait until words are to be seen."""
        end = time.monotonic() + PATIENCE
        while words not in (seen := self.screen()):
            assert time.monotonic() < end, f"waited in vain for {words!r}:\n{seen}"
            time.sleep(0.05)
        return seen


def environment(home: Path, program: Path) -> dict[str, str]:
    """Return a home with our configuration alone, and the server on the search path."""
    place = home / "config" / "helix"
    place.mkdir(parents=True)
    shutil.copy(ROOT / "docs" / "editors" / "helix" / "languages.toml", place / "languages.toml")
    return {
        **os.environ,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "PATH": f"{program.parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
    }
