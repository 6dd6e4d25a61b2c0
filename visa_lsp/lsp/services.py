"""What the server lets others do: assembling and running, which need rooms that ``lsp`` may not import.

The values are functions that take plain values and give JSON objects; whoever starts the server provides them. They may
take long and are called off the event loop; what goes wrong with a user's text or file is a result with ``ok`` false.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Services:
    """``assemble(text, path, platform)`` and ``run(text, path, launch_path, platform)``; a path None: not saved yet."""

    assemble: Callable[[str, str | None, str | None], Result]
    run: Callable[[str, str | None, str | None, str | None], Result]
