"""Values of the server's jobs: a result, a running job, the request to stop, the rules for a file."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.diagnostics import Rule

Result = dict[str, Any]  # a JSON object with ``ok``; if that is false, also with ``error``
# Text or None, path, options, and the time limit of the run in seconds.
RunJob = tuple[str | None, str | None, dict[str, Any], float | None]


class Stop:
    """Ends work on another thread; work that has not begun yet ends at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked = False
        self._how: Callable[[], None] | None = None

    def ask(self) -> None:
        """End the work."""
        with self._lock:
            self._asked, how = True, self._how
        if how is not None:
            how()

    @property
    def asked(self) -> bool:
        """True if the work must end."""
        with self._lock:
            return self._asked

    def by(self, how: Callable[[], None]) -> None:
        """Set the function that ends the work; ``how`` may be called on any thread."""
        with self._lock:
            self._how, asked = how, self._asked
        if asked:
            how()


def _select_all(_rule: Rule) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class FileRules:
    """The settings for a file: its platform, additional rules, a filter of findings, a problem with the settings."""

    platform: str = ""
    extra: frozenset[str] = frozenset()
    shows: Callable[[Rule], bool] = field(default=_select_all, compare=False)
    problem: str = ""
