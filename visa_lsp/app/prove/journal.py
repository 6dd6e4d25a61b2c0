"""The journal of a proof: the answers so far, in a file that remains if the process of the proof is ended.

Knows neither launches nor the solver. Invariant: what the journal returns is what the proof would have answered if all
that it does not contain were unknown.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from msgspec import convert, json, structs

from visa_lsp.app.prove import PROPERTIES, ProofResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

LATE: Final = "time: it was not decided within the time allowed"
_ORDER: Final = ("proved", "unknown", "refuted")


def worst_answers(results: Iterable[ProofResult]) -> list[ProofResult]:
    """Return one answer for each property and line: the worst one, with the assumptions and needs of all."""
    by_place: dict[tuple[str, int], list[ProofResult]] = {}
    for one in results:
        by_place.setdefault((one.property, one.line), []).append(one)
    worst_ones = []
    for place in by_place.values():
        worst = max(place, key=lambda r: _ORDER.index(r.answer))
        if worst.answer == "proved" and len(place) > 1:
            assumed = dict.fromkeys(words for one in place for words in one.assumptions)
            needs = dict.fromkeys(need for one in place for need in one.needs)
            worst = structs.replace(worst, assumptions=tuple(assumed), needs=tuple(needs))
        worst_ones.append(worst)
    return sorted(worst_ones, key=lambda r: (PROPERTIES.index(r.property), r.line))


@dataclass(slots=True)
class Journal:
    """The writer's side; without a ``path`` it writes nothing."""

    kernel: str
    path: Path | None = None

    def plan(self, tasks: Iterable[tuple[str, Sequence[int]]]) -> None:
        """Begin with a list of tasks: their properties and lines."""
        self._write({"plan": [[property_, list(lines)] for property_, lines in tasks]})

    def add(self, task: int, results: Iterable[ProofResult]) -> None:
        """Add the answers to a task."""
        self._write({"task": task, "results": list(results)})

    def refute(self, results: Iterable[ProofResult]) -> None:
        """Add refutations by launches."""
        self._write({"refuted": list(results)})

    def finish(self, results: Iterable[ProofResult]) -> None:
        """Add the answers to all tasks, which later plans can only improve."""
        self._write({"results": list(results)})

    def _write(self, entry: dict[str, Any]) -> None:
        if self.path is not None:
            with self.path.open("ab") as stream:
                stream.write(json.encode({"kernel": self.kernel, **entry}) + b"\n")


@dataclass(slots=True)
class JournalAnswers:
    """The reader's side: what a journal has of one kernel."""

    tasks: list[list[ProofResult]] = field(default_factory=list)
    decided: int = 0
    refuted: dict[tuple[str, int], ProofResult] = field(default_factory=dict)
    finished: list[ProofResult] | None = None

    def results(self, why: str) -> list[ProofResult]:
        """Return an answer for each property and line; ``why`` is the reason for what is not decided."""
        own = self.finished if self.finished is not None else [one for task in self.tasks for one in task]
        own = [structs.replace(one, reason=one.reason or why) if one.answer == "unknown" else one for one in own]
        found = {(one.property, one.line): one for one in worst_answers(own)}
        for key, one in self.refuted.items():
            if key not in found or found[key].answer != "proved":
                found[key] = one
        return worst_answers(found.values())


def read_journal(path: Path, kernel: str) -> JournalAnswers:
    """Return what a journal has of a kernel; an incomplete last entry does not count."""
    answers = JournalAnswers()
    with suppress(OSError, ValueError):
        for line in path.read_bytes().splitlines():
            entry = json.decode(line)
            results = convert(entry.get("results", entry.get("refuted", [])), list[ProofResult])
            if entry["kernel"] != kernel:
                continue
            if "plan" in entry:
                answers.tasks = [
                    [ProofResult(property_, kernel, line_, "unknown") for line_ in lines]
                    for property_, lines in entry["plan"]
                ]
                answers.decided = 0
            elif "task" in entry:
                answers.tasks[entry["task"]] = results
                answers.decided += 1
            elif "refuted" in entry:
                answers.refuted |= {(one.property, one.line): one for one in results}
            else:
                answers.finished = results
    return answers
