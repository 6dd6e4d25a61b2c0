"""Reads inputs as text or bytes from files or standard input, and recognises files of other tools by their contents.

Decoding with ``surrogateescape`` lets any bytes survive a round trip; ``errors.printable`` makes such a text printable.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.app.errors import UserError, reason
from visa_lsp.program.suffixes import OBJECT, TEXTS
from visa_lsp.safe_io import MAX_OBJECT_BYTES, MAX_TEXT_BYTES, read_file, read_stream
from visa_lsp.text import decode_text, encode_text

if TYPE_CHECKING:
    from visa_lsp.program.model import Module

STDIN: Final = "-"
STDIN_NAME: Final = "<stdin>"
OBJECT_MAGIC: Final = b"CISA"
_BOM: Final = b"\xef\xbb\xbf"
_HEAD: Final = 1 << 16
_ELF: Final = b"\x7fELF"
_PATCH_TOKENS: Final = b"CTNI"
_OPENCL_ELF: Final = tuple(bytes((kind, 0xFF)) for kind in range(1, 6))  # ELF types of the container before zebin
_SPIRV: Final = (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03")
_OPENCL: Final = (".cl", ".clh", ".clcpp", ".ocl")
_ZE_INFO: Final = (".zeinfo.yaml", ".zeinfo.yml", ".zeinfo", ".ze_info")
_OURS: Final = rb"(?m)^[ \t]*\.(?:version|kernel|function|global_function|decl)\b"
_KERNEL: Final = rb"(?m)^[^\n/*]{0,80}\b(?:__)?kernel\b[^;{}=]{0,200}\bvoid\b[^;{}=(]{0,200}\("
_COMPILE: Final = (
    "compile it first: `IGC_ShaderDumpEnable=1 IGC_DumpToCurrentDir=1 ocloc compile {} -device tgllp --format zebin` "
    "writes the vISA text of each of its kernels (*.visaasm) into this folder"
)


class SourceText(Struct, frozen=True):
    """A text as it was read. ``bom``: a byte-order mark was removed from its start."""

    name: str
    text: str
    bom: bool = False

    def to_bytes(self, text: str) -> bytes:
        """Encode a changed text of this source."""
        return (_BOM if self.bom else b"") + encode_text(text)


def decode(name: str, data: bytes, *, embedded: bool = False, is_ze_info: bool = False) -> SourceText:
    """Decode a text; invalid UTF-8 becomes lone surrogates. Raises UserError for files of other tools.

    ``embedded`` allows a text of another language with vISA in its strings; ``is_ze_info`` expects ze_info.
    """
    if data.startswith(OBJECT_MAGIC):
        raise UserError(f"{name}: expected a text, found an object (visa-lsp dis disassembles it)")
    other = "" if embedded else foreign(name, data)
    if other:
        raise UserError(f"{name}: {other}")
    if not is_ze_info and name.lower().endswith(_ZE_INFO):
        words = f"visa-lsp zeinfo check {_word(name, 'NAME.zeinfo.yaml')} checks it"
        raise UserError(f"{name}: this is ze_info, not vISA; {words}")
    return SourceText(name, decode_text(data), data.startswith(_BOM))


def is_object(name: str | os.PathLike[str], data: bytes) -> bool:
    """Return whether the bytes of a file are an object, by their start or by the suffix of the name."""
    return data.startswith(OBJECT_MAGIC) or os.fspath(name).endswith(OBJECT)


def decode_object(name: str, data: bytes) -> Module:
    """Return the program of an object. Raises UserError for bytes that are not an object that can be read."""
    from visa_lsp.codec.decode import decode as decode_module
    from visa_lsp.codec.errors import CodecError

    try:
        return decode_module(data)
    except CodecError as error:
        raise UserError(f"{name}: {foreign(name, data) or f'cannot read the object: {error}'}") from None


def read_source(
    path: str, stdin_filename: str | None = None, *, named: bool = True, embedded: bool = False
) -> SourceText:
    """Return the text of a file, or of standard input for ``-``. Raises UserError if it cannot be read or is too long.

    ``named``: the user named it, so it may be a pipe. ``embedded`` allows a text of another language.
    """
    if path == STDIN:
        name = stdin_filename or STDIN_NAME
        try:
            return decode(name, read_stream(sys.stdin.buffer, MAX_TEXT_BYTES), embedded=embedded)
        except (OSError, ValueError) as error:
            raise UserError(f"{name}: {reason(error)}") from None
    if not path:
        raise UserError("expected a path, got an empty one")
    try:
        return decode(path, read_file(path, MAX_TEXT_BYTES, named=named), embedded=embedded)
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: {reason(error)}") from None


def foreign(name: str, data: bytes) -> str:
    """Return a message that names the kind of a file of another tool and the next step; empty for other files.

    ``data`` may be only the start. A file is OpenCL C by its name or its first kernel, unless it starts like vISA.
    """
    # Imported here because commands that only need a platform's name do not load it.
    import re

    head = data[:_HEAD]
    suffix = os.path.splitext(name)[1].lower()  # noqa: PTH122 - the library for paths is not loaded for this
    if head.startswith(_PATCH_TOKENS) or (head.startswith(_ELF) and head[16:18] in _OPENCL_ELF):
        return "this is a patch-token binary, the container of OpenCL drivers before zebin, not a text"
    if head.startswith(_ELF):
        return "this is a zebin or another ELF file, not a text (visa-lsp dis prints its contents)"
    if head.startswith(_SPIRV):
        return f"this is SPIR-V, not vISA; {_COMPILE.format('-spirv_input -file ' + _word(name, 'K.spv'))}"
    if suffix in TEXTS or re.search(_OURS, head):
        return ""
    if head.startswith(b"//.kernel ") and b"\n//.platform " in head:
        return (
            "this is a compiler's listing of native code (.asm), not vISA; the vISA text is beside it (.visaasm), and "
            f"visa-lsp stats {_word(name, 'X.asm')} prints its figures"
        )
    if suffix in _OPENCL or re.search(_KERNEL, head):
        return f"this is OpenCL C, not vISA; {_opencl(_word(name, 'K.cl'))}"
    return ""


def other_text(text: str) -> str:
    """Return a message for a text that is not vISA at all; empty for vISA.

    It does not print the text, because a launch file may name any file.
    """
    return "" if ".version" in text or ".kernel" in text else "not a vISA text: it has neither `.version` nor `.kernel`"


def is_opencl(path: str) -> bool:
    """Return whether a path has the suffix of OpenCL C."""
    return os.path.splitext(path)[1].lower() in _OPENCL  # noqa: PTH122 - the library for paths is not loaded for this


def _opencl(word: str) -> str:
    return _COMPILE.format(f"-file {word}").replace(
        "compile it first: ", f"compile it first: `visa-lsp compile {word}`, or "
    )


def _word(name: str, otherwise: str) -> str:
    """Return a file name quoted for a shell."""
    from shlex import quote

    return otherwise if name.startswith("<") else quote(name)


def read_bytes(path: str, *, named: bool = True) -> bytes:
    """Return the bytes of a file, or of standard input for ``-``. Raises UserError if it cannot be read or is too long.

    ``named``: the user named it, so it may be a pipe.
    """
    try:
        if path == STDIN:
            return read_stream(sys.stdin.buffer, MAX_OBJECT_BYTES)
        return read_file(path, MAX_OBJECT_BYTES, named=named)
    except (OSError, ValueError) as error:
        name = "<stdin>" if path == STDIN else path
        raise UserError(f"{name}: {reason(error)}") from None
