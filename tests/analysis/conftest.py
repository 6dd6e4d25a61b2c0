"""Every test begins as in a new process."""

import pytest
from mutants import forget_verdicts


@pytest.fixture(autouse=True)
def _nothing_is_known() -> None:
    forget_verdicts()
