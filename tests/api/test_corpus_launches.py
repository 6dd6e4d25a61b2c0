"""The corpus by way of ``visa_lsp.load``: each kernel gives what the command line's runner gives of the same launch.

A program of several files finds its functions in its folder, its ze_info and data in the zebin beside it.
"""

from __future__ import annotations

import numpy as np
import own_cases
import pytest
from corpus import place
from tiers import one_of_each

import visa_lsp
from tests.oracle.test_run_corpus import launched
from visa_lsp.sim.launch.config import BufferArg, ImageArg, ValueArg

CASES = {(case.source, case.kernel): case for case in own_cases.cases() if "TGLLP" in case.platforms}


def as_python(arg):
    """Return an argument as one would write it in Python."""
    match arg:
        case BufferArg():
            return visa_lsp.Buffer(arg.array.copy(), arg.undefined, arg.access)
        case ImageArg():
            return visa_lsp.Image(arg.array.copy(), arg.format, arg.channels, arg.undefined, arg.access)
        case ValueArg() if arg.array.ndim == 0:
            return arg.array[()] if arg.typed else arg.array.item()
        case ValueArg():
            return visa_lsp.Value(arg.array)
    return arg


def kinds(case):
    """Return the kinds of arguments, and whether the numbers of the work items begin elsewhere than at 0."""
    return frozenset(type(as_python(arg)).__name__ for arg in case.args), bool(case.offset)


@pytest.mark.parametrize("case", one_of_each(CASES.values(), kinds), ids=str)
def test_a_kernel_gives_the_same_as_by_the_command_line(case):
    expected = launched(case, "TGLLP", "none")
    program = visa_lsp.load(place(f"run/TGLLP/{case.source}") / f"{case.kernel}.visaasm")
    assert program.kernels[case.kernel].arguments
    result = program.kernels[case.kernel].launch(
        case.groups,
        case.local,
        [as_python(arg) for arg in case.args],
        global_offset=case.offset,
        checks="none",
        engine="interp",
    )
    assert result.printed == expected.printed
    assert result.opcodes == expected.result.instructions
    for buffer in expected.buffers:
        assert np.array_equal(result[buffer.arg].view(np.uint8), buffer.array.view(np.uint8))
