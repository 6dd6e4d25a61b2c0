"""Checks platform names and times of the user, and suggests the nearest known word for a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from visa_lsp.isa.platforms import PLATFORMS, platform_named
from visa_lsp.suggest import nearest

_MAX_SECONDS: Final = 86_400  # seconds


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` for the nearest known word, or an empty text."""
    near = nearest(word, words)
    return f"; did you mean {near!r}?" if near else ""


def platform_problem(name: str) -> str | None:
    """Return the error message for a platform name; None if it is known."""
    if platform_named(name) is not None:
        return None
    near = did_you_mean(name, [word for p in PLATFORMS for word in p.words])
    return f"unknown platform {name!r}{near} (known: {', '.join(p.name for p in PLATFORMS)})"


def seconds_of(text: str) -> float:
    """Return a time limit in seconds. Raises ValueError with a message for other texts."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _MAX_SECONDS:
        raise ValueError(f"expected a number of seconds up to {_MAX_SECONDS}, got {text!r}")
    return seconds
