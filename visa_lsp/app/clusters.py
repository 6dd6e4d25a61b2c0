"""Work on a Dask cluster: items with the data that a worker cannot read, results with their output.

Invariant: a failure of the cluster is a ``UserError``.
"""

from __future__ import annotations

import contextlib
import io
import os
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from visa_lsp.app.errors import UserError, complaint
from visa_lsp.app.inputs import read_bytes
from visa_lsp.safe_io import is_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from visa_lsp.cluster.crew import Crew

Item = TypeVar("Item")
Result = TypeVar("Result")


def as_it_is(item: Item) -> Item:
    """Return an item unchanged: the worker can read the files that it names."""
    return item


class ClusterWork(Struct, Generic[Item, Result], frozen=True):
    """The work on items of a kind.

    A worker calls the pickled ``function``; ``lost`` makes the result of an item that failed, from the reason;
    ``pack`` adds to an item the data that the worker cannot read.
    """

    function: Callable[[Item], Result]
    lost: Callable[[Item, str], Result]
    pack: Callable[[Item], Item]


class InputFile(Struct, frozen=True):
    """A file to read: ``data`` are its bytes, ``problem`` why it cannot be read, if that is known.

    ``named``: the user named the file, so it may be a pipe.
    """

    path: str
    named: bool = True
    data: bytes | None = None
    problem: str = ""

    def read(self) -> bytes:
        """Return its bytes. Raises UserError if it cannot be read."""
        if self.problem:
            raise UserError(self.problem)
        return read_bytes(self.path, named=self.named) if self.data is None else self.data

    def pack(self, *, whole: bool) -> InputFile:
        """Return the file for a worker, with its bytes if ``whole`` or if it is not a regular file."""
        if self.data is not None or (is_regular(self.path) and not whole):
            return self
        try:
            return replace(self, data=self.read())
        except UserError as error:
            return replace(self, problem=str(error))


class Said(Struct, Generic[Result], frozen=True):
    """A result with the output to standard error and standard output."""

    result: Result
    said: str
    printed: str = ""


def capture_output(function: Callable[[Item], Result], item: Item) -> Said[Result]:
    """Call a function and return its result and output."""
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()) as printed:
        result = function(item)
    return Said(result, said.getvalue(), printed.getvalue())


def attach_error(result: Result, message: str) -> Said[Result]:
    """Return a result with an error message as its output."""
    return Said(result, f"{complaint(message)}\n")


class Cluster:
    """The cluster of a command line, as ``--cluster`` names it."""

    def __init__(self, crew: Crew, limit: float, *, sends: bool) -> None:
        self._crew = crew
        self._limit = limit
        self.sends = sends  # the workers cannot read the files of this machine

    def results(
        self, work: ClusterWork[Item, Result], items: Sequence[Item], guesses: Sequence[float]
    ) -> Iterator[Result]:
        """Yield the result of each item, in order; ``guesses`` are their estimated times, in proportion."""
        from visa_lsp.cluster.job import results

        if items:
            folder = "" if self.sends else os.getcwd()  # noqa: PTH109 - a name for another machine
            with cluster_errors():
                yield from results(self._crew, work.function, items, guesses, work.lost, work.pack, self._limit, folder)


@contextlib.contextmanager
def cluster_errors() -> Iterator[None]:
    """Turn errors of a cluster into ``UserError``."""
    from visa_lsp.cluster.crew import ClusterError

    try:
        yield
    except ClusterError as error:
        raise UserError(f"--cluster: {error}") from None
