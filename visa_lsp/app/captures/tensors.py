"""Reads a tensor from a ``.pt`` file: a zip archive with the bytes of a storage and a pickle that describes them.

The pickle is not executed: its opcodes are interpreted here, and only those that describe one tensor are known. Invariant:
nothing is imported or called by name, and no entry of the archive is decompressed.
"""

from __future__ import annotations

import math
import pickletools
import struct
import zipfile
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from visa_lsp.launchfile.npy import MAX_AXES
from visa_lsp.program.elements import MAX_BUFFER_BYTES, element_bytes

if TYPE_CHECKING:
    from visa_lsp.app.captures.folder import CaptureFolder

_MAX_ARCHIVE_BYTES: Final = MAX_BUFFER_BYTES + (1 << 20)
_MAX_PICKLE_BYTES: Final = 64 << 10
_MAX_DIRECTORY_BYTES: Final = 64 << 10  # of an archive; that of a tensor has some five entries
_MAX_OPCODES: Final = 2000
_TAIL: Final = 1 << 16
# Storages and types of torch, with the element type of a launch file for the bits of an element.
_STORAGES: Final = {
    "FloatStorage": "float32", "DoubleStorage": "float64", "HalfStorage": "float16", "BFloat16Storage": "uint16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8", "ByteStorage": "uint8",
    "BoolStorage": "uint8", "UntypedStorage": "uint8",
}  # fmt: skip
_TYPES: Final = {
    "float32": "float32", "float64": "float64", "float16": "float16", "bfloat16": "uint16", "int64": "int64", "int32": "int32",
    "int16": "int16", "int8": "int8", "uint8": "uint8", "bool": "uint8", "uint16": "uint16", "uint32": "uint32",
    "uint64": "uint64", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8", "float8_e4m3fnuz": "uint8",
    "float8_e5m2fnuz": "uint8", "float8_e8m0fnu": "uint8",
}  # fmt: skip
_REBUILD: Final = ("torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_tensor_v3")
_ORDERED: Final = "collections OrderedDict"


class Tensor(Struct, frozen=True):
    """A tensor as the host copies it to the device. ``shape`` is that of ``data``: one axis if it is not contiguous."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes
    is_contiguous: bool = True


class _Name(str):
    """A name of a module and of something in it; never looked up."""

    __slots__ = ()


class _Storage(Struct, frozen=True):
    type: str
    key: str


class _Described(Struct, frozen=True):
    """The description of a tensor in a pickle: offset, size and strides count elements."""

    storage: _Storage
    dtype: str
    offset: int
    size: tuple[int, ...]
    strides: tuple[int, ...]


class _Malformed(Exception):  # noqa: N818 - becomes the message of a UserError
    """A file that is not the archive of one tensor."""


def read_tensor(folder: CaptureFolder, name: str) -> Tensor:
    """Read a tensor. Raises UserError if the file is not an archive of one tensor, or is too large."""
    with folder.open_file(name, _MAX_ARCHIVE_BYTES) as (stream, size):
        try:
            stream.seek(max(0, size - _TAIL))
            _refuse_long_directory(stream.read(_TAIL))
            with zipfile.ZipFile(stream) as archive:
                tensor = _tensor(archive, size)
        except (_Malformed, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, struct.error) as error:
            words = " ".join(str(error).split()) or type(error).__name__
            raise folder.problem(f"not a tensor that torch.save has written: {words}", name) from None
    folder.take(len(tensor.data), name)
    return tensor


def _refuse_long_directory(tail: bytes) -> None:
    """Raise _Malformed for an archive whose end claims a long directory, before the library reads it into memory."""
    end_record = tail.rfind(b"PK\5\6")
    if end_record < 0 or len(tail) < end_record + 22:
        raise _Malformed("not a zip archive (files of torch before 1.6 are not supported)")
    size: int = struct.unpack_from("<I", tail, end_record + 12)[0]
    long_end = tail.rfind(b"PK\6\6")
    if long_end >= 0 and len(tail) >= long_end + 56:
        size = max(size if size != 0xFFFFFFFF else 0, struct.unpack_from("<Q", tail, long_end + 40)[0])
    if size > _MAX_DIRECTORY_BYTES:
        raise _Malformed(f"its directory has more than {_MAX_DIRECTORY_BYTES >> 10} KiB")


def _tensor(archive: zipfile.ZipFile, size: int) -> Tensor:
    described = next((name for name in archive.namelist() if name.endswith("/data.pkl") and name.count("/") == 1), None)
    if described is None:
        raise _Malformed("it has no data.pkl")
    top = described.partition("/")[0]
    if f"{top}/byteorder" in archive.namelist() and _entry(archive, f"{top}/byteorder", 16) != b"little":
        raise _Malformed("its bytes are in big-endian order")
    description = _read_description(_entry(archive, described, _MAX_PICKLE_BYTES))
    data = _entry(archive, f"{top}/data/{description.storage.key}", size)
    each, start = element_bytes(description.dtype), description.offset * element_bytes(description.dtype)
    is_contiguous = _is_contiguous(description.size, description.strides)
    if start > len(data) or len(data) - start < math.prod(description.size) * each:
        raise _Malformed(f"its storage has {len(data)} bytes, too few for the tensor")
    if is_contiguous:
        return Tensor(description.dtype, description.size, data[start : start + math.prod(description.size) * each])
    return Tensor(
        description.dtype, ((len(data) - start) // each,), data[start : len(data) - (len(data) - start) % each], False
    )


def _entry(archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    """Return the bytes of an entry that is stored without compression."""
    try:
        entry = archive.getinfo(name)
    except KeyError:
        raise _Malformed(f"it has no {name.partition('/')[2][:80]}") from None
    if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
        raise _Malformed(f"{name[:80]} is compressed")
    if entry.file_size > limit:
        raise _Malformed(f"{name[:80]} claims {entry.file_size} bytes, more than the file can hold")
    return archive.read(entry)


def _is_contiguous(size: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    step = 1
    for n, stride in zip(reversed(size), reversed(strides), strict=True):
        if n != 1 and stride != step:
            return 0 in size
        step *= n
    return True


def _read_description(pickle: bytes) -> _Described:
    """Interpret a pickle of one tensor."""
    try:
        value = _Machine(pickle).run()
    except (ValueError, IndexError, KeyError, TypeError, RecursionError) as error:
        raise _Malformed(f"its pickle is damaged: {' '.join(str(error).split())[:100]}") from None
    if not isinstance(value, _Described):
        raise _Malformed(f"its pickle has {type(value).__name__.strip('_').lower()}, expected one tensor")
    return value


_MARK: Final = object()


class _Machine:
    """A stack machine of the opcodes that describe one tensor."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        for count, (opcode, argument, _) in enumerate(pickletools.genops(self.data)):
            if count > _MAX_OPCODES:
                raise _Malformed(f"its pickle has more than {_MAX_OPCODES} opcodes")
            if opcode.name == "STOP":
                return self.stack.pop()
            self._step(opcode.name, argument)
        raise _Malformed("its pickle has no end")

    def _step(self, name: str, argument: Any) -> None:
        match name:
            case "PROTO" | "FRAME":
                return
            case "GLOBAL":
                self.stack.append(_Name(argument))
            case "STACK_GLOBAL":
                word = self.stack.pop()
                self.stack.append(_Name(f"{self.stack.pop()} {word}"))
            case "MARK":
                self.stack.append(_MARK)
            case "NONE":
                self.stack.append(None)
            case "NEWTRUE" | "NEWFALSE":
                self.stack.append(name == "NEWTRUE")
            case "EMPTY_TUPLE":
                self.stack.append(())
            case "EMPTY_DICT":
                self.stack.append({})
            case "TUPLE1" | "TUPLE2" | "TUPLE3":
                self._tuple(len(self.stack) - int(name[-1]))
            case "TUPLE":
                index = max((index for index, value in enumerate(self.stack) if value is _MARK), default=-1)
                self._tuple(index + 1)
                del self.stack[-2]
            case "BINPUT" | "LONG_BINPUT":
                self.memo[argument] = self.stack[-1]
            case "MEMOIZE":
                self.memo[len(self.memo)] = self.stack[-1]
            case "BINGET" | "LONG_BINGET":
                self.stack.append(self.memo[argument])
            case "BINPERSID":
                self.stack.append(_storage(self.stack.pop()))
            case "REDUCE":
                arguments = self.stack.pop()
                self.stack.append(_call(self.stack.pop(), arguments))
            case _ if name.startswith(("BININT", "LONG", "BINUNICODE", "SHORT_BINUNICODE")):
                self.stack.append(argument)
            case _:
                raise _Malformed(f"its pickle has the opcode {name}, which describes no tensor")

    def _tuple(self, start: int) -> None:
        if start < 0:
            raise _Malformed("its pickle is damaged")
        items = tuple(self.stack[start:])
        del self.stack[start:]
        self.stack.append(items)


def _storage(value: Any) -> _Storage:
    """Return the storage of ``("storage", class, key, device, number of elements)``."""
    if not isinstance(value, tuple) or len(value) != 5 or value[0] != "storage" or not isinstance(value[1], _Name):
        raise _Malformed("its pickle refers to an object that is not a storage")
    kind = value[1].rpartition(" ")[2]
    if kind not in _STORAGES or not isinstance(value[2], str):
        raise _Malformed(f"unsupported storage {kind[:60]}; supported storages: {', '.join(_STORAGES)}")
    return _Storage(_STORAGES[kind], value[2])


def _call(name: Any, arguments: Any) -> Any:
    """Return the result of a call that a pickle makes, if it is one of those that describe a tensor."""
    if name == _ORDERED and arguments == ():
        return {}
    if not isinstance(name, _Name) or name not in _REBUILD or not isinstance(arguments, tuple) or len(arguments) < 4:
        raise _Malformed(f"its pickle calls {str(name)[:80]!r}, expected a tensor of numbers")
    storage, offset, size, strides = arguments[:4]
    dtype = storage.type if isinstance(storage, _Storage) else ""
    if name == _REBUILD[1]:
        word = str(arguments[6]).removeprefix("torch ") if len(arguments) > 6 else ""
        dtype = _TYPES.get(word, "")
    numbers = (offset, *size, *strides) if isinstance(size, tuple) and isinstance(strides, tuple) else ()
    if not dtype or not numbers or len(size) != len(strides) or len(size) > MAX_AXES:
        raise _Malformed("its pickle describes no tensor of numbers")
    if not all(type(n) is int and 0 <= n <= MAX_BUFFER_BYTES for n in numbers):
        raise _Malformed(f"the tensor has invalid or huge sizes: {list(size)!s:.60}")
    if math.prod(size) * element_bytes(dtype) > MAX_BUFFER_BYTES:
        raise _Malformed(f"the tensor {list(size)!s:.60} is larger than {MAX_BUFFER_BYTES >> 20} MiB")
    return _Described(storage, dtype, offset, size, strides)
