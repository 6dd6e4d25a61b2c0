"""Makes ``tests/support`` and the project's own launches importable."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / room) for room in ("support", "own", "oracle")]
