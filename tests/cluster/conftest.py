"""A cluster of two workers for all tests of a module, and functions that its workers can import."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="module")
def address():
    """Yield the scheduler of two workers of this machine. They end with the module, because idle ones take CPU time too."""
    from visa_lsp.cluster.crew import workers_here

    with workers_here(2) as found:
        yield found
