"""Array files (``.npy``) with headers changed: read as an array, or refused in words."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.attack.core import Target, Wrong
from benchmarks.attack.launches import clear
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.sim.launch.config import BufferArg, LaunchError

if TYPE_CHECKING:
    import random

_DESCRIPTIONS: Final = (
    "'<f4'", "'>f4'", "'<i8'", "'|u1'", "'<f2'", "'<c8'", "'|O'", "'<U10'", "'|S3'", "'<M8[s]'", "'|V4'", "'x'", "''", "4", "None",
    "[('a', '<f4')]", "[('a', '<f4', (1000000,))]", "('<f4', (2, 2))", "{'names': ['a']}", "'<f4,<f4'", "'" + "f" * 500 + "'",
)  # fmt: skip
_SHAPES: Final = (
    "(4,)", "(2, 2)", "()", "(0,)", "(-1,)", "(-4, -1)", "(4611686018427387904,)", "(9223372036854775808,)", "(1 << 3,)", "4", "[4]",
    "(4.0,)", "('4',)", "(True,)", "None", "(" + "1," * 70 + ")", "(0, 1073741824, 1073741824)", "(0, 4611686018427387904, 8)",
    "(99999999999999999999999999999999,)", "(1073741824,)", "(4, 0)", "(2147483648, 2)", "(1,) * 40",
)  # fmt: skip
_ORDERS: Final = ("False", "False", "False", "True", "0", "None", "'x'")
_STARTS: Final = (
    b"\x93NUMPY",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x80\x04",
    b"\x93NUMPX",
    b"",
    b"\x1f\x8b\x08",
    b"CISA",
    b"\x7fELF",
)
_SPARSE: Final = 20 << 30


def header(draw: random.Random) -> bytes:
    """Return the head of a file, right or nearly so."""
    fields = [f"'descr': {draw.choice(_DESCRIPTIONS) if draw.random() < 0.4 else chr(39) + '<f4' + chr(39)}"]
    fields.append(f"'fortran_order': {draw.choice(_ORDERS)}")
    fields.append(f"'shape': {draw.choice(_SHAPES) if draw.random() < 0.6 else '(4,)'}")
    if draw.random() < 0.1:
        fields.append("'more': 1")
    if draw.random() < 0.1:
        fields.pop(draw.randrange(len(fields)))
    text = ("{" + ", ".join(fields) + ", }").encode()
    match draw.randrange(12):
        case 0:
            text = draw.choice(
                (
                    b"",
                    b"{",
                    b"[" * 300,
                    b"(" * 5000,
                    b"__import__('os')",
                    b"\xff" * 20,
                    b"1",
                    b"{}",
                    b"{'shape': " * 100,
                )
            )
        case 1:
            at = draw.randrange(len(text))
            text = text[:at] + draw.randbytes(3) + text[at + 1 :]
        case 2:
            text += b" " * draw.choice((1, 20_000, 70_000))
    text += b"\n"
    major, minor = draw.choice(((1, 0), (1, 0), (1, 0), (2, 0), (3, 0), (4, 0), (0, 0), (255, 255)))
    size = len(text) if draw.random() < 0.85 else draw.choice((0, 1, 65535, len(text) + 1, 1 << 31))
    width = 2 if major < 2 else 4
    start = b"\x93NUMPY" if draw.random() < 0.9 else draw.choice(_STARTS)
    return start + bytes((major, minor)) + (size & (1 << 8 * width) - 1).to_bytes(width, "little") + text


class Arrays(Target):
    """Files that look like arrays, given to a launch."""

    name = "npy"
    suffix = ".npy"

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="attack-"))

    def make(self, draw: random.Random) -> bytes:
        """Return the bytes of a file."""
        if draw.random() < 0.15:
            stream = io.BytesIO()
            dtype = draw.choice((np.float32, np.int8, np.uint64, np.float64, np.complex64, np.bool_))
            array = np.arange(draw.choice((0, 1, 4, 100))).astype(dtype)
            np.save(stream, array) if draw.random() < 0.8 else np.savez(stream, array)
            data = bytearray(stream.getvalue())
            for _ in range(draw.choice((0, 1, 3))):
                data[draw.randrange(len(data))] = draw.randrange(256)
            return bytes(data[: draw.randrange(len(data) + 1)] if draw.random() < 0.3 else data)
        return header(draw) + bytes(draw.choice((16, 16, 0, 15, 400)))

    def attempt(self, case: bytes, draw: random.Random) -> str:
        """Read it as the contents of a buffer, and of what is expected."""
        path = self.folder / "case.npy"
        path.write_bytes(case)
        if draw.random() < 0.02:
            # More than any file of this sort has, in no bytes on the disk.
            os.truncate(path, _SPARSE)
        shape = draw.choice(("", ", shape: [4]", ", shape: [2, 2]", ", dtype: float32", ", shape: [0, 1073741824]"))
        text = f"groups: [1, 1, 1]\nargs:\n  x: {{buffer: {{npy: case.npy{shape}}}}}\nexpect:\n  - {{arg: x, npy: case.npy}}\n"
        (self.folder / "k.visaasm").write_text("")
        try:
            found = parse_launch(text, self.folder / "case.launch.yaml")
        except LaunchError as error:
            clear(str(error))
            return "refused"
        args = found.config.args
        assert isinstance(args, dict)
        buffer = args["x"]
        assert isinstance(buffer, BufferArg)
        if buffer.array.nbytes > max(len(case), 0):
            raise Wrong(f"an array of {buffer.array.nbytes} bytes from a file of {len(case)}")
        return "read"

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
