"""Helpers of several commands: option types, colour, findings on standard error."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, TextIO

from visa_lsp.app.errors import printable
from visa_lsp.app.suggestions import platform_problem
from visa_lsp.isa.platforms import PLATFORMS, platform_named

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    from visa_lsp.app.check.report import ReportedFinding

_MAX_INTEGER_DIGITS: Final = 18


def platform_argument(name: str) -> str:
    """Return the canonical name of a platform; the ``type`` of an argparse option.

    Raises ArgumentTypeError for an unknown platform.
    """
    platform = platform_named(name)
    if platform is None:
        from argparse import ArgumentTypeError

        raise ArgumentTypeError(platform_problem(name))
    return platform.name


def whole_number(least: int) -> Callable[[str], int]:
    """Return the ``type`` of an argparse option that takes a whole number of at least ``least``."""

    def number(text: str) -> int:
        if text.isdecimal() and len(text) < _MAX_INTEGER_DIGITS and int(text) >= least:
            return int(text)
        from argparse import ArgumentTypeError

        if text.isdecimal() and len(text) >= _MAX_INTEGER_DIGITS:
            raise ArgumentTypeError(f"expected a number of at most {_MAX_INTEGER_DIGITS - 1} digits, got {len(text)}")
        raise ArgumentTypeError(f"expected a whole number >= {least}, got {text!r}")

    return number


def add_platform(parser: argparse.ArgumentParser) -> None:
    """Add ``--platform NAME``."""
    parser.add_argument(
        "--platform", metavar="NAME", type=platform_argument, default=None,
        help="target platform: " + ", ".join(p.name for p in PLATFORMS),
    )  # fmt: skip


def wants_colour(stream: TextIO, choice: str = "auto") -> bool:
    """Return whether to write colours: by ``--color``, else NO_COLOR, else FORCE_COLOR, else if ``stream`` is a terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def say(line: str) -> None:
    """Print a line to standard error."""
    print(line, file=sys.stderr)


def tell(findings: Iterable[ReportedFinding]) -> None:
    """Print findings to standard error, one per line, in the format ``concise``."""
    for finding in findings:
        say(printable(finding.concise))
