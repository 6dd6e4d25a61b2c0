"""Explains a value of a run that is stopped in a debugger, by executing its last instructions again with a recorder.

The caller executes them; this module knows no debugger. Invariant: afterwards the run is at the same place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from visa_lsp.app.errors import UserError
from visa_lsp.app.why.answer import explain_recorded
from visa_lsp.app.why.dependences import Cause, Dependences
from visa_lsp.app.why.recording import WINDOW, RecordedRun
from visa_lsp.sim.contents import Contents
from visa_lsp.sim.memory import Buffer
from visa_lsp.sim.observers.recording import StepRecorder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.app.launch.ready_run import ReadyRun
    from visa_lsp.app.why.report import WhyReport
    from visa_lsp.sim.registers import Frame

    # Executes at least the given number of last instructions again with an observer; calls the function before the first.
    Replay = Callable[[StepRecorder, int, Callable[[], None]], None]


def explain_standing(
    run: ReadyRun,
    replay: Replay,
    frame: Frame,
    where: tuple[Any, int] | None,
    size: int,
    lanes: Sequence[int],
    words: str,
) -> WhyReport:
    """Explain ``size`` bytes of a buffer or of the registers (``grf``), or lanes of a predicate (``preds``).

    Raises UserError for other places.
    """
    recorder, before = StepRecorder(), list[Contents]()
    replay(recorder, WINDOW, lambda: before.append(Contents(run.prepared.dispatch)))
    recorded = RecordedRun(run, Dependences(recorder), before[0])
    return explain_recorded(recorded, words, _starts(recorded.dependences, frame, where, size, lanes))


def _starts(
    run: Dependences, frame: Frame, where: tuple[Any, int] | None, size: int, lanes: Sequence[int]
) -> list[Cause]:
    owner = run.recorder.activation_of(frame)
    match where:
        case (Buffer() as buffer, offset):
            return run.memory_writers(buffer.whole, offset, size, run.pcs.size)
        case ("grf", start):
            return run.writers_of_registers(owner, start, size) if owner is not None else []
        case ("preds", number):
            return run.writers_of_predicate(owner, number, lanes) if owner is not None else []
    raise UserError("only a variable, a predicate or memory has causes")
