"""The oracle corpus, where it lies beside the repository, and the helpers of ``tests/support``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
