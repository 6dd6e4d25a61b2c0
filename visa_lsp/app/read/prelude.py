"""The prelude of the C of kernels: types, the work item, messages as functions."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from visa_lsp.isa.message_forms import SampleForm
from visa_lsp.isa.table import TABLE

_SAMPLES: Final = sorted({row.mnemonic for row in TABLE.rows if isinstance(row.meaning, SampleForm)})

PRELUDE: Final = (
    Path(__file__)
    .with_name("prelude.h")
    .read_text(encoding="utf-8")
    .replace("/* @samples */", "\n".join(f"SAMPLES({name})" for name in _SAMPLES))
)
