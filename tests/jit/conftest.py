"""What tests of the compiled engine share."""

from __future__ import annotations

import pytest
from compiled_engine import compile_at_once


@pytest.fixture
def at_once(monkeypatch):
    """Compile every body before its first instruction."""
    compile_at_once(monkeypatch.setattr)
