"""The frame of all attacks: numbered, repeatable cases, limits of time and memory, and failures.

A case is made from the seed, the target's name and its own number alone, so that ``--seed N --only K`` repeats it. Nothing
of an earlier case may matter to a later one; where it does, that is a failure that only the whole run shows.
"""

from __future__ import annotations

import random
import resource
import signal
import time
import traceback
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


class Wrong(Exception):  # noqa: N818 - what was seen, in words
    """The product has done something that it must not."""


class OutOfTime(BaseException):
    """A case has used its CPU time; no handler of the product may take this for an error of its own."""


def patiently(holds: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Return whether a condition becomes true within the time."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


class Target(ABC):
    """A target of attacks. ``make`` gives the input of a case; ``attempt`` tries it, and raises where something is wrong.

    ``to_bytes`` is the input as bytes for a file of its own, so that it can be looked at; ``suffix`` is that file's.
    """

    name = ""
    suffix = ".txt"

    @abstractmethod
    def make(self, draw: random.Random) -> Any:
        """Return the input of a case."""

    @abstractmethod
    def attempt(self, case: Any, draw: random.Random) -> str:
        """Try it; what became of it, in a word, for the count."""

    def to_bytes(self, case: Any) -> bytes:
        """Return the input as bytes."""
        return case if isinstance(case, bytes) else str(case).encode("utf-8", "surrogatepass")

    def describe_cases(self) -> str:
        """Return lines about the contents of the cases; empty for targets that do not count."""
        return ""

    def close(self) -> None:  # noqa: B027 - most targets hold nothing
        """Give back what the target holds."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that failed, and how."""

    target: str
    seed: int
    number: int
    what: str

    def __str__(self) -> str:
        again = f"--target {self.target} --seed {self.seed} --only {self.number}"
        return f"FAILED {again}: {self.what}"


def memory_bytes() -> tuple[int, int]:
    """Return the bytes of addresses that this process has, and those in use."""
    addresses, resident = Path("/proc/self/statm").read_text("ascii").split()[:2]
    return int(addresses) * resource.getpagesize(), int(resident) * resource.getpagesize()


def limit_memory(megabytes: int) -> None:
    """Let this process have so many megabytes of addresses more than it has now."""
    most = memory_bytes()[0] + (megabytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


@contextmanager
def limit_time(seconds: float) -> Iterator[None]:
    """Raise ``OutOfTime`` in what takes more CPU time than this."""

    def late(_number: int, _frame: object) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, late)
    # A second time and again, should something swallow the first.
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def drawer(target: str, seed: int, number: int) -> random.Random:
    """Return the numbers that one case is made of."""
    return random.Random(f"{target}/{seed}/{number}")


def try_case(target: Target, seed: int, number: int, seconds: float, keep: Path | None) -> tuple[str, Failure | None]:
    """Try one case: what became of it, and the failure if it is one."""
    draw = drawer(target.name, seed, number)
    case = target.make(draw)
    try:
        with limit_time(seconds):
            return target.attempt(case, draw), None
    except Wrong as wrong:
        what = str(wrong)
    except OutOfTime:
        what = f"more than {seconds:g} s of CPU time"
    except RecursionError:
        what = "RecursionError"
    except Exception as error:  # noqa: BLE001 - any exception is what is looked for
        frame = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {str(error)[:200]!r} at {Path(frame.filename).name}:{frame.lineno}"
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{target.name}-{seed}-{number}{target.suffix}").write_bytes(target.to_bytes(case))
    return "failed", Failure(target.name, seed, number, what)
