"""The prelude of the C of kernels: types, the work item, messages as functions."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PRELUDE: Final = Path(__file__).with_name("prelude.h").read_text(encoding="utf-8")
