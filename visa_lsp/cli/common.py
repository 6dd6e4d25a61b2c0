"""What every command shares: its user's mistakes, reading inputs as text, colour, platform names, suggestions.

Knows nothing of any one command; how the program ends stands in ``exits`` and is found here too. A text is decoded so
that any bytes survive a round trip (``surrogateescape``); ``printable`` makes such a text fit to be written out.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.cli.exits import EXIT_FINDINGS, EXIT_OK, EXIT_USAGE, CliError, complain, printable
from visa_lsp.isa.platforms import PLATFORMS, platform_named

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable
    from typing import TextIO

STDIN: Final = "-"
STDIN_NAME: Final = "<stdin>"
OBJECT_MAGIC: Final = b"CISA"
_BOM: Final = b"\xef\xbb\xbf"


class Source(Struct, frozen=True):
    """A text as it was read. ``bom`` tells that a byte-order mark was taken off its front."""

    name: str
    text: str
    bom: bool = False

    def to_bytes(self, text: str) -> bytes:
        """The bytes that another text of this source has in a file."""
        return (_BOM if self.bom else b"") + text.encode("utf-8", "surrogateescape")


def decode(name: str, data: bytes) -> Source:
    """A text from bytes; bytes that are no UTF-8 are kept as lone surrogates."""
    if data.startswith(OBJECT_MAGIC):
        raise CliError(f"{name}: this is an object, not a text (visa-lsp dis makes a text of it)")
    bom = data.startswith(_BOM)
    return Source(name, data[len(_BOM) if bom else 0 :].decode("utf-8", "surrogateescape"), bom)


def read_source(path: str, stdin_filename: str | None = None) -> Source:
    """The text of a file, or of standard input for ``-``; ``CliError`` when it cannot be read."""
    if path == STDIN:
        return decode(stdin_filename or STDIN_NAME, sys.stdin.buffer.read())
    if not path:
        raise CliError("an empty path names no file")
    try:
        return decode(path, Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise CliError(f"{path}: {reason(error)}") from None


def reason(error: OSError | ValueError) -> str:
    """What went wrong with a file, in lower case and without its number."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text[:1].lower() + text[1:]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` for the nearest known word, or nothing."""
    names = {name.lower(): name for name in known}
    # Loaded here, as all that a clean run does not need.
    near = import_module("difflib").get_close_matches(word.lower(), names, n=1, cutoff=0.55)
    return f"; did you mean {names[near[0]]!r}?" if near else ""


def platform_problem(name: str) -> str | None:
    """Why a platform name is wrong; None when it is right."""
    if platform_named(name) is not None:
        return None
    known = [p.name for p in PLATFORMS]
    words = [*known, *(device for p in PLATFORMS for device in p.devices)]
    return f"unknown platform {name!r}{did_you_mean(name, words)} (known: {', '.join(known)})"


def platform_argument(name: str) -> str:
    """The ``type`` of an argparse option that names a platform: its own name, whatever spelling was used."""
    platform = platform_named(name)
    if platform is None:
        raise import_module("argparse").ArgumentTypeError(platform_problem(name))
    return platform.name


def add_platform(parser: argparse.ArgumentParser) -> None:
    """Add ``--platform NAME``."""
    parser.add_argument(
        "--platform", metavar="NAME", type=platform_argument, default=None,
        help="the platform meant: " + ", ".join(p.name for p in PLATFORMS),
    )  # fmt: skip


def wants_colour(stream: TextIO, choice: str = "auto") -> bool:
    """Whether to write colours: ``--color``, then NO_COLOR, FORCE_COLOR, then whether ``stream`` is a terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


__all__ = [
    "EXIT_FINDINGS",
    "EXIT_OK",
    "EXIT_USAGE",
    "OBJECT_MAGIC",
    "STDIN",
    "STDIN_NAME",
    "CliError",
    "Source",
    "add_platform",
    "complain",
    "decode",
    "did_you_mean",
    "platform_argument",
    "platform_problem",
    "printable",
    "read_source",
    "reason",
    "wants_colour",
]
