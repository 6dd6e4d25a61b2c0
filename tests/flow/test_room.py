"""The room as a whole, as those see it that keep what depends on it."""

from pathlib import Path

import visa_lsp
from tests.test_layers import ALLOWED
from visa_lsp.analysis.verdict_store import ROOMS

PACKAGE = Path(visa_lsp.__file__).parent


def test_verdicts_that_are_kept_depend_on_every_room_that_rules_import():
    assert {room for room in ALLOWED["checks"] if (PACKAGE / room).is_dir()} <= set(ROOMS)
