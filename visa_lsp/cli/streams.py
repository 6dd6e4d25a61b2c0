r"""The only way to standard output and standard error: no text can steer the terminal, and a full stream is one line of words.

Texts, names and messages hold what users and compilers wrote. Control characters in them are written as escapes, such as ``\x1b`` and
``\u202e``, which JSON reads as what they stand for. Knows no command. Invariant: the only control sequences that reach a stream are those of
``paint`` and ``steer``, whatever a text holds.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TextIO

# C0 but line feed and tab, DEL, C1, and what changes the direction of text or breaks lines.
_CONTROLS: Final = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_SECRET: Final = os.urandom(8).hex()  # in our own sequences, so that no text can hold one
_INK: Final = re.compile(rf"\x1b\[([0-9;]*):{_SECRET}m")


# Nothing on the way is to take these for a mistake in an input.
class OutputGone(BaseException):
    """Standard output is closed: its reader has gone."""


class OutputFull(BaseException):
    """Standard output takes no more, and why."""


def visible(text: str) -> str:
    """The text with control characters as escapes, and the colours of ``paint`` as the sequences of terminals."""
    if _CONTROLS.search(text) is None:
        return text
    pieces = _INK.split(text)
    pieces[::2] = [_CONTROLS.sub(_escape, piece) for piece in pieces[::2]]
    pieces[1::2] = [f"\033[{style}m" for style in pieces[1::2]]
    return "".join(pieces)


def _escape(match: re.Match[str]) -> str:
    # JSON has no raw character below the blank, and no escape of two digits.
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 0x20 else f"\\u{number:04x}"


def paint(text: str, style: str) -> str:
    """The text in a style of terminals, for a stream or for ``visible``."""
    return f"\033[{style}:{_SECRET}m{text}\033[0:{_SECRET}m" if text else text


def steer(stream: TextIO, sequence: str) -> None:
    """Write a control sequence of ours."""
    inner = stream.stream if isinstance(stream, _Shown) else stream
    with told(stream):
        inner.write(sequence)
        inner.flush()


def write_data(data: bytes) -> None:
    """Write to standard output what is no report: byte for byte, but to a terminal as text that does not steer it."""
    if sys.stdout.isatty():
        sys.stdout.write(data.decode("utf-8", "backslashreplace"))
        return
    with told(sys.stdout):
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


@contextlib.contextmanager
def told(stream: TextIO) -> Iterator[None]:
    """Around writing to a stream. Raises OutputGone and OutputFull where standard output takes it no more; of standard error nothing is said."""
    try:
        yield
    except BrokenPipeError:
        if stream is not sys.stderr:
            raise OutputGone from None
    except OSError as error:
        if stream is not sys.stderr:
            words = "there is no room left" if error.errno == errno.ENOSPC else error.strerror or str(error)
            raise OutputFull(words) from None


class _Shown:
    """A stream whose texts are made visible. All but what is written here is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text."""
        self._carry_out(self.stream.write, visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Write what is still held."""
        self._carry_out(self.stream.flush)

    def _carry_out(self, write: Callable[..., Any], *words: str) -> None:
        with told(cast("TextIO", self)):
            write(*words)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextlib.contextmanager
def shown_streams() -> Iterator[None]:
    """Have standard output and standard error written to by way of this module."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", _Shown(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def give_up_output() -> None:
    """Send what the interpreter still holds for standard output to nowhere: it would fail again at the end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
