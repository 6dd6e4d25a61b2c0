"""Makes ``tests/support`` and ``benchmarks`` importable."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "support"), str(Path(__file__).parents[2])]
