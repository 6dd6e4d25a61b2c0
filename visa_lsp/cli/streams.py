r"""Standard output and standard error: escapes control characters and turns write errors into one line.

Texts, names and messages may hold control characters from users and compilers. They are written as escapes that JSON
can read, such as ``\x1b`` and ``\u202e``. Invariant: the only control sequences that reach a stream are those of
``paint`` and ``steer``.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TextIO, cast

from visa_lsp.app.visible_text import visible


# Both derive from BaseException, because handlers of Exception report a mistake in an input.
class OutputGone(BaseException):
    """The reader has closed standard output."""


class OutputFull(BaseException):
    """Standard output cannot be written; the message has the reason."""


def steer(stream: TextIO, sequence: str) -> None:
    """Write a control sequence unescaped."""
    inner = stream.stream if isinstance(stream, _Shown) else stream
    with raise_output_errors(stream):
        inner.write(sequence)
        inner.flush()


def write_data(data: bytes) -> None:
    """Write data to standard output: byte for byte, but with escapes to a terminal."""
    if sys.stdout.isatty():
        sys.stdout.write(data.decode("utf-8", "backslashreplace"))
        return
    with raise_output_errors(sys.stdout):
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


@contextlib.contextmanager
def raise_output_errors(stream: TextIO) -> Iterator[None]:
    """Raise OutputGone or OutputFull if writing to standard output fails; ignore failures of standard error."""
    try:
        yield
    except BrokenPipeError:
        if stream is not sys.stderr:
            raise OutputGone from None
    except OSError as error:
        if stream is not sys.stderr:
            words = "no space left" if error.errno == errno.ENOSPC else error.strerror or str(error)
            raise OutputFull(words) from None


class _Shown:
    """A stream that escapes control characters; everything else is delegated to the wrapped stream."""

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
        """Write buffered text."""
        self._carry_out(self.stream.flush)

    def _carry_out(self, write: Callable[..., Any], *words: str) -> None:
        with raise_output_errors(cast("TextIO", self)):
            write(*words)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextlib.contextmanager
def escape_streams() -> Iterator[None]:
    """Replace standard output and standard error by escaping streams, and restore them."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", _Shown(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def give_up_output() -> None:
    """Discard buffered standard output, because the interpreter would fail again when it flushes at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
