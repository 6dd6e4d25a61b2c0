"""Kernels and functions that call each other: where each of them stands."""

import pytest

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.features.call_hierarchy import callables


@pytest.mark.parametrize("line", ['.kernel "k"', '  .kernel "k" // "k" is its name', ".kernel k"])
def test_the_span_of_a_kernel_is_its_name(line):
    (kernel,) = callables(Analysis.of(f".version 4.1\n{line}\n    ret (M1, 1)\n", None))
    assert line[kernel.name_span.start : kernel.name_span.end] == "k"
    assert kernel.name_span.start in (line.find('"k"') + 1, len(line) - 1)
