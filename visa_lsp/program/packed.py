"""Packs programs as bytes for a cache of the user, and reads them without text, grammar or object.

Rows of the instruction table and data types are stored by name, because the program compares them by identity. Invariant:
reading creates values of the rooms ``isa`` and ``program`` and nothing else, and raises PackedError for any other bytes.
"""

from __future__ import annotations

import io
import pickle
from typing import Any, Final

from visa_lsp.isa import types
from visa_lsp.isa.model import Instruction
from visa_lsp.isa.table import TABLE

_ROOMS: Final = ("visa_lsp.isa.", "visa_lsp.program.")


class PackedError(ValueError):
    """Bytes that are no packed program of this version."""


def row_of(mnemonic: str, number: int) -> Instruction:
    """Return a row of a mnemonic by its number among them."""
    rows = TABLE.by_mnemonic[mnemonic]
    return rows[number]


def type_of(name: str) -> types.DataType:
    """Return a data type by name."""
    return types.TYPE_BY_NAME[name]


class _Packer(pickle.Pickler):
    def reducer_override(self, value: object) -> Any:
        """Return the function that finds a row or a type, and its arguments."""
        if isinstance(value, Instruction):
            return row_of, (value.mnemonic, TABLE.siblings(value).index(value))
        if isinstance(value, types.DataType):
            return type_of, (value.name,)
        return NotImplemented


class _Unpacker(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Return a class of the rooms, or the functions of this module."""
        if not module.startswith(_ROOMS) or "." in name:
            raise PackedError(f"{module}.{name} is no part of a program")
        return super().find_class(module, name)


def pack(value: object) -> bytes:
    """Return the bytes of a value of programs."""
    stream = io.BytesIO()
    _Packer(stream, pickle.HIGHEST_PROTOCOL).dump(value)
    return stream.getvalue()


def unpack(data: bytes) -> Any:
    """Return the value in bytes of ``pack``. Raises PackedError."""
    try:
        return _Unpacker(io.BytesIO(data)).load()
    except PackedError:
        raise
    except Exception as error:
        raise PackedError(str(error)) from error
