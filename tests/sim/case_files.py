"""The kernels of ``cases/``, each with its launch file in ``//@`` lines."""

from __future__ import annotations

from pathlib import Path

CASES = Path(__file__).parent / "cases"


def read_case(name: str) -> tuple[Path, str, str]:
    """Return the path, the text and the launch file of a case."""
    path = CASES / f"{name}.visaasm"
    text = path.read_text()
    return path, text, "\n".join(line[3:].strip() for line in text.splitlines() if line.startswith("//@"))
