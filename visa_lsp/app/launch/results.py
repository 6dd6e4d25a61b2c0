"""Computes the values of a report after a run: the state of each buffer and the result of each expectation.

Invariant: both are in the order of the launch file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.app.launch.report import BufferReport, ExpectationReport, ImageShape

if TYPE_CHECKING:
    from visa_lsp.sim.launch.config import Arg, Array, LaunchConfig
    from visa_lsp.sim.launch.prepare import PreparedLaunch


def buffer_reports(prepared: PreparedLaunch, config: LaunchConfig) -> tuple[BufferReport, ...]:
    """Return every buffer and image argument after the run; ``config`` has the arrays before it.

    An array that the run modified in place counts as changed if it was written, because its old contents are lost.
    """
    order = [key for key in prepared.names if key in prepared.arrays] or list(prepared.arrays)
    given = config.by_key
    return tuple(_buffer(prepared, key, given[key]) for key in order)


def expectation_reports(prepared: PreparedLaunch, config: LaunchConfig) -> tuple[ExpectationReport, ...]:
    """Return every expectation, with the differences if it fails."""
    from visa_lsp.sim.launch.expect import mismatch

    mismatches = ((expect.arg, mismatch(prepared.arrays[expect.arg], expect)) for expect in config.expect)
    return tuple(
        ExpectationReport(key, ok=wrong is None, message=wrong.message if wrong else "holds", mismatch=wrong)
        for key, wrong in mismatches
    )


def _buffer(prepared: PreparedLaunch, key: int | str, given: Arg) -> BufferReport:
    from visa_lsp.sim.launch.config import BufferArg, ImageArg

    array = prepared.arrays[key]
    written = prepared.buffers[key].written
    changed = isinstance(given, BufferArg | ImageArg) and (
        written if given.in_place else _bytes(array) != _bytes(given.array)
    )
    shape = ImageShape(*given.dims, given.channels, given.format) if isinstance(given, ImageArg) else None
    written |= changed
    return BufferReport(key, prepared.names.get(key, ""), array, written=written, changed=changed, image=shape)


def _bytes(array: Array) -> memoryview:
    """Return the bytes of an array for comparison without a copy; values would not work, because NaN differs from itself."""
    return array.reshape(-1).view("u1").data
