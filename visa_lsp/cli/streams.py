r"""The only way to standard output and standard error: no text can steer the terminal, and a full stream is one line of words.

Texts, names and messages hold what users and compilers wrote. Control characters in them are written as escapes, such as ``\x1b`` and
``\u202e``, which JSON reads as what they stand for. Knows no command. Invariant: the only control sequences that reach a stream are those of
``paint`` and ``steer``, whatever a text holds.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import TYPE_CHECKING, Any, cast

from visa_lsp.app.visible_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TextIO


# Nothing on the way is to take these for a mistake in an input.
class OutputGone(BaseException):
    """Standard output is closed: its reader has gone."""


class OutputFull(BaseException):
    """Standard output takes no more, and why."""


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
