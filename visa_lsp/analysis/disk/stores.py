"""Where verdicts on classes of lines outlive the process that found them; ``line_classes`` asks. Without one nothing is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from visa_lsp.analysis.line_classes import Verdicts


class Store(Protocol):
    """Where verdicts outlive the process."""

    def load(self, verdicts: Verdicts) -> None:
        """Add what is known of their kind of body."""

    def put(self, key: object, news: Verdicts) -> None:
        """Take in new verdicts on a kind of body."""


# What this process uses, if it uses one: the last.
stores: Final[list[Store]] = []
