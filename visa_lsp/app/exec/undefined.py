"""Recognizes bytes that nothing has written, by the pattern with which allocators fill memory.

Invariant: writes and copies by anybody count, because nothing but the contents of memory is looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from visa_lsp.sim.launch.config import Array

UNDEFINED_BYTES: Final = 0xFFA5C3D7_FB96E187  # eight bytes of the pattern, which begins at the start of an allocation
_MAX_FILLED_BYTES: Final = 256 << 20  # larger memory has no pattern


def undefined_bytes(array: Array) -> Array | None:
    """Return a mask of the bytes that nothing has written, by the pattern; None if there are none.

    A word counts only if one of its neighbours counts, because a single one may be a value by chance.
    """
    if array.nbytes > _MAX_FILLED_BYTES:
        return None
    raw = array.reshape(-1).view(np.uint8)
    words = raw[: raw.size & ~3].view("<u4")
    if not words.size:
        return None
    low, high = words[0::2] == UNDEFINED_BYTES & 0xFFFFFFFF, words[1::2] == UNDEFINED_BYTES >> 32
    if not np.count_nonzero(low) and not np.count_nonzero(high):
        return None
    unwritten = np.empty(words.size, bool)
    unwritten[0::2], unwritten[1::2] = low, high
    if words.size > 2:
        near = np.zeros_like(unwritten)
        for step in (1, 2):
            near[step:] |= unwritten[:-step]
            near[:-step] |= unwritten[step:]
        unwritten &= near
        if not unwritten.any():
            return None
    mask = np.zeros(raw.size, bool)
    mask[: words.size * 4] = np.repeat(unwritten, 4)
    mask[words.size * 4 :] = bool(unwritten[-1])
    return mask
