"""Collects what the launches of a host show: faults, each once with a count, refused calls, counts and times.

Prints nothing: ``lines`` of a fault are in the words of `run`. Invariant: equal faults of several enqueues are one entry, that of
the first.
"""

from __future__ import annotations

from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from visa_lsp.app.launch.printing import counted, duration, fault_lines, fault_values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.app.exec.launches import EnqueueResult
    from visa_lsp.app.exec.model import Allocation, Enqueue, Refusal
    from visa_lsp.app.exec.programs import LoadedKernel
    from visa_lsp.sim.faults import Fault


class ExecReport:
    """The report of one program; all methods may be called from several threads."""

    def __init__(self) -> None:
        self.faults: list[dict[str, Any]] = []
        self.refused: dict[Refusal, int] = {}
        self.programs = self.enqueues = self.instructions = 0
        self.build_seconds = self.run_seconds = 0.0
        self._kernels: set[tuple[int, str]] = set()
        self._known: dict[object, dict[str, Any]] = {}
        self._repeated: set[int] = set()  # identities of faults that later enqueues had too
        self._notes: dict[str, list[int]] = {}  # the enqueues of each
        self._began = perf_counter()
        self._lock = Lock()

    @property
    def is_clean(self) -> bool:
        """True if all kernels ran and none had a fault."""
        return not self.faults and all(refusal.is_harmless for refusal in self.refused)

    def begin(self) -> int:
        """Count an enqueue and return its number."""
        with self._lock:
            self.enqueues += 1
            return self.enqueues

    def add_build(self, seconds: float, *, is_program: bool) -> None:
        """Count a build."""
        with self._lock:
            self.programs += is_program
            self.build_seconds += seconds

    def add_refusal(self, refusal: Refusal) -> list[str]:
        """Record a refused call; return the lines to print, none for one that is known."""
        with self._lock:
            self.refused[refusal] = self.refused.get(refusal, 0) + 1
            return [] if self.refused[refusal] > 1 else [f"{refusal.call} is refused: {refusal.reason}"]

    def excuse(self, refusal: Refusal) -> None:
        """Take a recorded refusal as harmless, because the program went another way."""
        with self._lock:
            if count := self.refused.pop(refusal, 0):
                self.refused[replace(refusal, is_harmless=True)] = count

    def add_run(
        self, number: int, kernel: LoadedKernel, enqueue: Enqueue, result: EnqueueResult, seconds: float
    ) -> list[str]:
        """Record the run of an enqueue; return the lines to print: its new faults."""
        with self._lock:
            self._kernels.add((enqueue.program, kernel.name))
            self.instructions += result.report.instructions
            self.run_seconds += seconds
            if result.note:
                self._notes.setdefault(result.note, []).append(number)
        return self.add_faults(number, kernel, enqueue, result, result.report.faults)

    def add_faults(
        self, number: int, kernel: LoadedKernel, enqueue: Enqueue, result: EnqueueResult, faults: Iterable[Fault]
    ) -> list[str]:
        """Record faults of an enqueue; return the lines to print: the new ones."""
        report = result.report
        with self._lock:
            lines: list[str] = []
            for fault in faults:
                key = (enqueue.program, fault.kind, fault.kernel, fault.source or fault.instruction, fault.other_source)
                earlier = self._known.get(key)
                if earlier is not None:
                    earlier["count"] += fault.count
                    self._repeated.add(id(earlier))
                    continue
                lines += [] if lines else [_head(number, kernel, enqueue, result)]
                values = {**fault_values(report, fault), "enqueue": number}
                for place in ("place", "other_place"):
                    values[place] = values[place].removeprefix(f"{kernel.program.folder.parent}/")
                values["allocations"] = list(_allocation_words(fault, kernel, enqueue.allocations))
                self._known[key] = values
                self.faults.append(values)
                lines += [*fault_lines("fault", values), *(f"    {words}" for words in values["allocations"])]
            return lines

    def summary(self) -> list[str]:
        """Return the lines at the end: repeated faults, then counts and times."""
        lines = [
            f"  {fault['count']} times in all: {fault['kind']} of {fault['kernel']}, first in enqueue {fault['enqueue']}"
            for fault in self.faults
            if id(fault) in self._repeated
        ]
        lines += [
            f"  {count} times in all: {refusal.call} is refused: {refusal.reason}"
            for refusal, count in self.refused.items()
            if count > 1
        ]
        lines += [
            f"  note: enqueue {numbers[0]}{f' and {len(numbers) - 1} others' * (len(numbers) > 1)}: {note}"
            for note, numbers in self._notes.items()
        ]
        times = ", ".join(f"{word} {duration(seconds)}" for word, seconds in self._times().items())
        counts = [
            counted(self.programs, "program"), counted(len(self._kernels), "kernel"), counted(self.enqueues, "enqueue"),
            counted(self.instructions, "instruction"),
        ]  # fmt: skip
        ending = f"{counted(len(self.faults), 'fault')}, {counted(len(self.refused), 'refused call')}"
        if harmless := sum(refusal.is_harmless for refusal in self.refused):
            ending += f" ({harmless} harmless)"
        return [*lines, f"{', '.join(counts)}; {times}; {ending}"]

    def values(self, status: int) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "programs": self.programs,
            "kernels": len(self._kernels),
            "enqueues": self.enqueues,
            "instructions": self.instructions,
            "time": self._times(),
            "faults": self.faults,
            "refused": [
                {"call": refusal.call, "reason": refusal.reason, "harmless": refusal.is_harmless}
                for refusal in self.refused
            ],
            "exit": status,
        }

    def _times(self) -> dict[str, float]:
        host = max(0.0, perf_counter() - self._began - self.build_seconds - self.run_seconds)
        return {"build": self.build_seconds, "run": self.run_seconds, "host": host}


def _head(number: int, kernel: LoadedKernel, enqueue: Enqueue, result: EnqueueResult) -> str:
    sizes = "x".join(map(str, enqueue.global_size[: enqueue.dimensions]))
    groups = "x".join(map(str, result.local_size[: enqueue.dimensions]))
    return f"enqueue {number}: kernel {kernel.name}, {sizes} work items in groups of {groups}"


def _allocation_words(fault: Fault, kernel: LoadedKernel, allocations: dict[int, Allocation]) -> Iterable[str]:
    """Yield words for the memory behind each argument that a fault names."""
    for index, allocation in allocations.items():
        name = kernel.info.argument_name(index)
        if f"`{name or index}`" in fault.message or f"argument {index} " in fault.message:
            yield f"`{name or index}` is argument {index}, {allocation.describe()}"
