"""Stores that make every NaN of an operation the same, so that its sign and payload say nothing.

vISA leaves open which NaN an operation returns. Finalizers exchange sources and move a change of sign from one
operation to another, which changes the NaN, but no number. Copies, choices without modifiers and the masks of comparisons keep their bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa import types as ty
from visa_lsp.sim.effects.moves import same_bits
from visa_lsp.sim.values import DTYPE

if TYPE_CHECKING:
    from visa_lsp.sim.operands import Site, Store
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]

# Bits that no processor returns by itself, so that each NaN of an operation shows; with the largest that are no NaN.
_NAN: Final = {ty.F: 0x7FD5_2B2B, ty.HF: 0x7F2B, ty.BF: 0x7FD5, ty.DF: 0x7FFA_A565_6000_0000}
_INFINITY: Final = {ty.F: 0x7F80_0000, ty.HF: 0x7C00, ty.BF: 0x7F80, ty.DF: 0x7FF0_0000_0000_0000}
_COPIED: Final = {"mov": 1, "sel": 2}  # with the number of sources


def with_one_nan(site: Site, operand: Any, name: str, store: Store) -> Store:
    """Return a store of the destination of ``name`` that replaces NaNs of operations."""
    type_ = site.operand_type(operand)
    if type_ not in _NAN or name == "cmp":
        return store
    sources = [site.inst.get(f"src{n}") for n in range(_COPIED.get(name, 0))]
    if sources and same_bits(site, operand, sources):
        return store

    def replaced(f: Frame, mask: int, value: Array) -> None:
        store(f, mask, replace_nans(value, type_))

    return replaced


def replace_nans(value: Array, type_: ty.DataType) -> Array:
    """Return lanes of a float type with one NaN."""
    bits = np.ascontiguousarray(value.astype(DTYPE[type_])).view(f"<u{type_.size}")
    is_nan = bits << bits.dtype.type(1) > bits.dtype.type(_INFINITY[type_] << 1)
    return np.where(is_nan, bits.dtype.type(_NAN[type_]), bits).view(DTYPE[type_])
