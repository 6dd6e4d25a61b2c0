"""Captures for the tests: the recorded ones, unpacked, and one in the form of SPIRVRunner, written here."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from functools import cache
from pathlib import Path

import numpy as np

_ARCHIVE = Path(__file__).with_name("captures.zip")
STORAGES = {"float32": "FloatStorage", "int32": "IntStorage", "float16": "HalfStorage", "int64": "LongStorage"}


@cache
def names() -> tuple[str, ...]:
    """Return the names of the recorded captures, in the order of their enqueues."""
    with zipfile.ZipFile(_ARCHIVE) as archive:
        found = {name.partition("/")[0] for name in archive.namelist()}
    return tuple(sorted(found, key=lambda name: int(name.split("_")[1])))


def unpack(name: str, folder: Path) -> Path:
    """Write a recorded capture into a folder, and return the folder of the capture."""
    with zipfile.ZipFile(_ARCHIVE) as archive:
        archive.extractall(folder, [file for file in archive.namelist() if file.startswith(f"{name}/")])
    return folder / name


def text(word: str) -> bytes:
    """Return the opcode of a text."""
    return b"X" + struct.pack("<I", len(word)) + word.encode()


def number(value: int) -> bytes:
    """Return the opcode of a whole number."""
    return b"J" + struct.pack("<i", value)


def pickled(array: np.ndarray, *, storage: str = "", size=None, strides=None, offset: int = 0, key: str = "0") -> bytes:
    """Return the description of a tensor as torch.save writes it."""
    size = array.shape if size is None else size
    strides = [n // array.itemsize for n in array.strides] if strides is None else strides
    return b"".join(
        (
            b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nq\x00((", text("storage"),
            b"ctorch\n", (storage or STORAGES[array.dtype.name]).encode(), b"\n", text(key), text("cpu"), number(array.size), b"tQ",
            number(offset), b"(", *map(number, size), b"t(", *map(number, strides), b"t\x89ccollections\nOrderedDict\n)RtR.",
        )
    )  # fmt: skip


def archive_of(files: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """Return an archive of these files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, compression)  # without the time of day
    return stream.getvalue()


def saved(array: np.ndarray, compression: int = zipfile.ZIP_STORED, **described) -> bytes:
    """Return the bytes of a ``.pt`` file with an array."""
    files = {
        "data.pkl": pickled(array, **described),
        "byteorder": b"little",
        "data/0": array.tobytes(),
        "version": b"3\n",
    }
    return archive_of({f"archive/{name}": data for name, data in files.items()}, compression)


def write_runner(folder: Path, spirv: bytes) -> Path:
    """Write a capture of ``y = a * x + y`` as Triton's launcher and SPIRVRunner do, with its SPIR-V."""
    folder.mkdir(parents=True, exist_ok=True)
    x, y = np.arange(64, dtype=np.float32), np.ones((4, 16), np.float32)
    arguments = [
        {"name": "tensor_0", "type": "tensor", "dtype": "torch.float32", "ctype": "*fp32"},
        {"name": "tensor_1", "type": "tensor", "dtype": "torch.float32", "ctype": "*fp32"},
        {"name": "scalarArg_2", "type": "scalar", "value": 2.5, "ctype": "fp32"},
        {"name": "scalarArg_3", "type": "scalar", "value": 60, "ctype": "i32"},
    ]
    facts = {
        "gridX": 2, "gridY": 1, "gridZ": 1, "num_warps": 2, "threads_per_warp": 16, "shared_memory": 0,
        "kernel_name": "axpy", "spv_name": "axpy.spv", "build_flags": "", "argument_list": arguments,
    }  # fmt: skip
    (folder / "args_data.json").write_text(json.dumps(facts, indent=4))
    (folder / "axpy.spv").write_bytes(spirv)
    (folder / "tensor_0.pt").write_bytes(saved(y))
    (folder / "tensor_1.pt").write_bytes(saved(x))
    result = y.copy().reshape(-1)
    result[:60] += np.float32(2.5) * x[:60]
    (folder / "cpp_outs_0.pt").write_bytes(saved(result.reshape(y.shape)))
    return folder
