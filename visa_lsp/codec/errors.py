"""Errors of the codec: where in the bytes, and in which field.

``CodecError`` is what callers see. ``MalformedValueError`` is raised by code that sees only a few bytes of a record and does
not know where they lie; the reader of the record turns it into a ``CodecError``.
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
        """Return the same error, with what its field is part of."""
        return CodecError(
            self.message, self.offset, f"{path}.{self.path.removeprefix('.')}" if self.path else path, self.line
        )


class MalformedValueError(ValueError):
    """A value without meaning, before its place in the file is known."""
