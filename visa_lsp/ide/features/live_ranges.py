"""Live ranges of a variable, and its part in the peak of register pressure, for hover.

Computed for whole bodies once per snapshot, and not for long texts. Invariant: a text with errors has no answer.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from visa_lsp.flow.register_use import RegisterUse, registers_of
from visa_lsp.flow.steps import Space, variable_key
from visa_lsp.isa import predefined
from visa_lsp.sema.lower import lower
from visa_lsp.syntax.memo import Key

if TYPE_CHECKING:
    from visa_lsp.analysis.analysis import Analysis

_MAX_LINES: Final = 1_000  # because binding and counting them takes some 60 ms, once
_MAX_RUNS: Final = 4


# The register use of each body of a snapshot by name, and its variables by name.
_REGISTERS: Final = Key[dict[str, tuple[RegisterUse, dict[str, int]]]]()


def live_words(analysis: Analysis, body: str, variable: str) -> str:
    """Return ``live in lines 3 to 9; part of the peak of 19 GRF rows at line 5``; empty if it is not computed.

    ``variable`` is the name of a general variable with its own storage.
    """
    if analysis.document.line_count > _MAX_LINES:
        return ""
    use, numbers = analysis.views.fact(_REGISTERS, partial(_registers, analysis)).get(body, (None, {}))
    if use is None or variable not in numbers:
        return ""
    key = variable_key(Space.GENERAL, numbers[variable])
    runs = use.general.ranges([key])[key]
    if not runs:
        return ""
    lines = [inst.line + 1 for inst in use.kernel.instructions]
    spans = [
        f"line {lines[start]}" if start == end else f"lines {lines[start]} to {lines[end]}"
        for start, end in runs[:_MAX_RUNS]
    ]
    rest = f" and {len(runs) - _MAX_RUNS} more times" if len(runs) > _MAX_RUNS else ""
    words = f"live in {', '.join(spans)}{rest}"
    peak = use.general.peak
    if any(start <= peak <= end for start, end in runs):
        words += f"; part of the peak of {use.grf_rows[peak]} GRF rows at line {lines[peak]}"
    return words


def _registers(analysis: Analysis) -> dict[str, tuple[RegisterUse, dict[str, int]]]:
    module = lower(analysis.bound)
    grf_bytes = {body.name: body.platform.grf_bytes for body in analysis.bound.bodies}
    return {
        kernel.name: (
            registers_of(kernel, grf_bytes[kernel.name]),
            {kernel.string(v.name_index): n for n, v in enumerate(kernel.variables, predefined.FIRST_VARIABLE)},
        )
        for kernel in (module.bodies if module is not None else ())
    }
