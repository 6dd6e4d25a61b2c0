"""Figures of two bodies that differ, side by side: counts of contents, and register pressure.

Invariant: equal bodies and bodies without counterpart have no figures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.compare.body_differences import figures_of
from visa_lsp.flow.register_use import registers_of

if TYPE_CHECKING:
    from visa_lsp.compare.model import ComparedBody, KernelDiff

Pair = tuple[int | None, int | None]


def figure_pairs(diff: KernelDiff) -> dict[str, Pair]:
    """Return each figure of the first and of the second body; ``pressure`` is in rows of ``grf_bytes``."""
    if diff.same or diff.a is None or diff.b is None:
        return {}
    ours, theirs = _figures(diff.a), _figures(diff.b)
    return {key: (ours[key], theirs[key]) for key in ours}


def _figures(body: ComparedBody) -> dict[str, int | None]:
    figures = figures_of(body.kernel)
    return {
        "instructions": figures.instructions,
        "sends": figures.sends,
        "variables": figures.variables,
        "simd": figures.simd,
        "pressure": max(registers_of(body.kernel, body.grf_bytes).grf_rows, default=0),
        "grf_bytes": body.grf_bytes,
    }
