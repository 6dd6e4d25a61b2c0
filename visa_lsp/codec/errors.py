"""Errors of the codec, with byte offset and field.

Callers see ``CodecError``. Code that has only a few bytes of a record and not their offset raises ``MalformedValueError``;
the reader of the record converts it to a ``CodecError``.
"""

from __future__ import annotations


class CodecError(Exception):
    """An object that cannot be read or a program that cannot be written.

    ``offset`` is the byte of the file (None when writing), ``path`` the field as in ``kernels[0].variables[3].name_index``,
    ``line`` the source line (from 0) of the instruction that cannot be written, else -1.
    """

    def __init__(self, message: str, offset: int | None = None, path: str = "", line: int = -1) -> None:
        self.message = message
        self.offset = offset
        self.path = path
        self.line = line
        where = " ".join(part for part in ("" if offset is None else f"0x{offset:x}", path) if part)
        super().__init__(f"{where}: {message}" if where else message)

    def within(self, path: str) -> CodecError:
        """Return the same error with the path of the part that holds its field."""
        return CodecError(
            self.message, self.offset, f"{path}.{self.path.removeprefix('.')}" if self.path else path, self.line
        )


class MalformedValueError(ValueError):
    """A value without meaning, before its place in the file is known."""
