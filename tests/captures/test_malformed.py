"""Damaged and hostile captures: a clear error of one line, exit status 2, and nothing is executed."""

import contextlib
import json
import os
import pickle
import re
import shutil
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from capture_files import archive_of, pickled, saved, unpack, write_runner
from each_case import check_each

from visa_lsp.app.captures.importing import read_capture
from visa_lsp.app.errors import UserError
from visa_lsp.cli.main import main
from visa_lsp.safe_io import read_stream

_BUFFER = "{}/Enqueue_0000_Kernel_axpy_Arg_{}_Buffer_{}.bin"
_SPIRV = b"\x03\x02\x23\x07" + bytes(16)


def _put(name, data):
    return lambda folder: (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())


def _drop(*patterns):
    def change(folder):
        for pattern in patterns:
            for path in list(folder.glob(pattern)):
                path.unlink()

    return change


def _link(name, target):
    def change(folder):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)

    return change


def _several(*changes):
    return lambda folder: [change(folder) for change in changes]


def _huge(pattern, size=1 << 42):
    def change(folder):
        for path in folder.glob(pattern):
            os.truncate(path, size)

    return change


def _facts(**changed):
    def change(folder):
        facts = json.loads((folder / "args_data.json").read_text())
        facts.update(changed)
        (folder / "args_data.json").write_text(
            json.dumps({key: value for key, value in facts.items() if value is not ...})
        )

    return change


def _argument(index, **changed):
    def change(folder):
        facts = json.loads((folder / "args_data.json").read_text())
        facts["argument_list"][index].update(changed)
        (folder / "args_data.json").write_text(json.dumps(facts))

    return change


def _tensor(data):
    return _put("tensor_1.pt", data)


class _Command:
    """An object whose pickle would make a file, if it were executed."""

    def __reduce__(self):
        return os.system, ("touch visa-lsp-was-here",)


def _archive(described, **more):
    files = {"data.pkl": described, "data/0": bytes(256), **more}
    return archive_of({f"archive/{name}": data for name, data in files.items()})


def _bomb():
    return saved(np.zeros(1 << 22, np.float32), zipfile.ZIP_DEFLATED)


def _claiming(size):
    """Return an archive whose directory says that the storage has so many bytes."""
    data = bytearray(saved(np.zeros(64, np.float32)))
    at = data.rfind(b"archive/data/0") - 46
    struct.pack_into("<II", data, at + 20, size, size)
    return bytes(data)


def _many_entries():
    return archive_of({f"archive/data/{n}": b"" for n in range(2000)})


ARRAY = np.arange(64, dtype=np.float32)
# Of an enqueue that opencl-intercept-layer recorded.
INTERCEPTED = {
    "an empty kernel name": (_put("kernelName.txt", ""), "kernelName.txt: expected the name of a kernel"),
    "a kernel name of several lines": (_put("kernelName.txt", "a\nb"), "expected the name of a kernel"),
    "a kernel name that is no text": (_put("kernelName.txt", b"\xff\xfe"), "is not UTF-8 text"),
    "a name with a folder": (_put("kernelName.txt", "../../axpy"), "unknown kernel '../../axpy'"),
    "another kernel": (_put("kernelName.txt", "axpz"), "unknown kernel 'axpz'; known kernels: axpy"),
    "no sizes": (_put("worksizes.txt", ""), "expected 3 lines"),
    "two lines of sizes": (_put("worksizes.txt", "256\n64\n"), "expected 3 lines (global size, local size, offset), found 2"),
    "sizes of several axes": (_put("worksizes.txt", "256 1\n64\n0\n"), "expected one to three numbers"),
    "four axes": (_put("worksizes.txt", "2 2 2 2\n1 1 1 1\n0 0 0 0\n"), "expected one to three numbers"),
    "a size that is a word": (_put("worksizes.txt", "many\n64\n0\n"), "expected a number, found 'many'"),
    "a negative size": (_put("worksizes.txt", "-256\n64\n0\n"), "expected a number, found '-256'"),
    "a size of zero": (_put("worksizes.txt", "0\n64\n0\n"), "expected sizes >= 1"),
    "a local size of zero on one axis": (_put("worksizes.txt", "8 8\n8 0\n0 0\n"), "expected sizes >= 1"),
    "a size with too many digits": (_put("worksizes.txt", f"{'9' * 40}\n64\n0\n"), "expected a number"),
    "a size with other digits": (_put("worksizes.txt", "٢٥٦\n64\n0\n"), "expected a number"),
    "a huge global size": (_put("worksizes.txt", "9000000000000000000\n64\n0\n"), ""),
    "a huge local size": (_put("worksizes.txt", "1099511627776\n1099511627776\n0\n"), ""),
    "no program": (_drop("kernel.cl"), "has no program: expected kernel.cl, kernel.spv or DeviceBinary0.bin"),
    "an empty program": (_put("kernel.cl", b"\0\0"), "has no program"),
    "a program that is a folder": (_several(_drop("kernel.cl"), lambda folder: (folder / "kernel.cl").mkdir()), "is a directory"),
    "a program that is a FIFO": (_several(_drop("kernel.cl"), lambda folder: os.mkfifo(folder / "kernel.cl")), "this is a FIFO"),
    "a program outside": (_link("kernel.cl", "/etc/hostname"), "leads outside of the capture"),
    "a huge program": (_huge("kernel.cl"), "kernel.cl: larger than 64 MiB"),
    "a program that includes a file": (
        _put("kernel.cl", '#include "/etc/passwd"\nkernel void axpy() {}'), "includes a file outside of the capture"),
    "a program that includes from above": (
        _put("kernel.cl", "# include <a/../../../etc/passwd>\nkernel void axpy() {}"), "includes a file outside"),
    "only a CPU's binary": (
        _several(_drop("kernel.cl"), _put("DeviceBinary0.bin", b"poclbin\0" + bytes(64))), "is only a device binary"),
    "only a damaged ELF file": (
        _several(_drop("kernel.cl"), _put("DeviceBinary0.bin", b"\x7fELF" + bytes(64))), "is only a device binary"),
    "unclosed quotes in the options": (_put("buildOptions.txt", '-DA="1'), "malformed build options"),
    "no argument of a number": (_drop("Argument2.bin"), "argument 2 is missing: expected Argument2.bin or Local2.txt"),
    "an argument less": (_drop("Argument3.bin"), "has 3 arguments; the kernel takes 4: 0 y: float*, 1 x: float*, 2 a: float, 3 n: int"),
    "the argument of a huge number": (_put("Argument999999.bin", bytes(4)), "at most 4096 arguments are supported"),
    "a value of too many bytes": (_put("Argument2.bin", bytes(8)), "argument 2 a: float takes 4 bytes, the capture has 8"),
    "a value of no bytes": (_put("Argument2.bin", b""), "takes 4 bytes, the capture has 0"),
    "a huge value": (_huge("Argument2.bin"), "larger than"),
    "a size for a value": (_several(_drop("Argument2.bin"), _put("Local2.txt", "64")), "the kernel takes a value, the capture has a size"),
    "a size that is no number": (_several(_drop("Argument2.bin"), _put("Local2.txt", "x")), "Local2.txt: expected a number"),
    "a sampler of other words": (_put("Sampler0.txt", "CL_SAMPLER_FILTER_MODE = CL_FILTER_BEST"), "expected the properties of a sampler"),
    "a pointer without contents": (_drop("P*/*_Arg_1_*"), "argument 1 x: float*: the contents of the memory that it points to are not recorded"),
    "contents only after the enqueue": (_drop("Pre/*_Arg_0_*"), "argument 0 has contents after the enqueue, but none before"),
    "fewer bytes after the enqueue": (
        lambda folder: os.truncate(next((folder / "Post").glob("*_Arg_0_*")), 100), "has 100 bytes, but 800 before the enqueue"),
    "two contents of a buffer": (_put(_BUFFER.format("Pre", 0, 9), bytes(800)), "argument 0 has two files"),
    "a huge buffer": (_huge("Pre/*_Arg_0_*"), "larger than 1024 MiB"),
    "a buffer outside": (_several(_drop("Pre/*_Arg_0_*"), _link(_BUFFER.format("Pre", 0, 7), "/proc/self/environ")), "leads outside"),
    "contents outside": (_link("Pre", "/etc"), "Pre: leads outside of the capture"),
    "contents of a pipe": (
        _several(_drop("Pre/*_Arg_0_*"), lambda folder: os.mkfifo(folder / _BUFFER.format("Pre", 0, 7))), "this is a FIFO"),
    "an offset outside of the buffer": (_put("SVM_Arg_Offset_0.txt", "801"), "the offset 801 is outside of the 800 bytes"),
    "an offset that is a word": (_put("SVM_Arg_Offset_0.txt", "-4"), "expected a number, found '-4'"),
    "one buffer twice": (lambda folder: shutil.copy(folder / "Argument0.bin", folder / "Argument1.bin"), "arguments 0 and 1 are one allocation"),
}  # fmt: skip
# Of an enqueue with images.
IMAGES = {
    "few facts of an image": (_put("Image_MetaData_0.txt", "16\n8\n1\n"), "expected 9 numbers, found 3"),
    "an unknown channel type": (
        _put("Image_MetaData_0.txt", "16 8 1 4 64 0 4308 4277 4337"),
        "unsupported image: channel type 0x10d4",
    ),
    "an unknown channel order": (_put("Image_MetaData_0.txt", "16 8 1 4 64 0 4306 4279 4337"), "channel order 0x10b7"),
    "texels of another size": (
        _put("Image_MetaData_0.txt", "16 8 1 8 64 0 4306 4277 4337"),
        "a texel has 8 bytes; expected 4 x uint8",
    ),
    "an image of another size": (
        _put("Image_MetaData_0.txt", "16 9 1 4 64 0 4306 4277 4337"),
        "the image has 16 x 9 x 1 texels",
    ),
    "a plane of several layers": (
        _put("Image_MetaData_0.txt", "16 4 2 4 64 0 4306 4277 4337"),
        "does not fit an image of 2 axes",
    ),
    "an image without contents": (_drop("P*/*_Arg_0_*"), "the contents of image argument 0 are missing"),
    "an image for a sampler": (_drop("Sampler2.txt"), "the kernel takes a sampler, the capture has a value"),
}
# Of a capture of SPIRVRunner.
RUNNER = {
    "no JSON": (_put("args_data.json", "{"), "args_data.json: is not JSON"),
    "deep JSON": (_put("args_data.json", "[" * 100_000), "is not JSON"),
    "a deep value": (_put("args_data.json", '{"argument_list": ' + '{"a": ' * 900 + "0" + "}" * 901), "expected a list"),
    "another JSON": (_put("args_data.json", "[]"), "expected an object"),
    "no grid": (_facts(gridX=...), "'gridX' is missing, expected a whole number"),
    "an empty grid": (_facts(gridX=0), "'gridX' is 0, expected 1 to"),
    "a grid of words": (_facts(gridX="4"), "'gridX' is '4', expected a whole number"),
    "a huge grid": (_facts(gridX=1 << 40), "expected 1 to 2147483647"),
    "a large grid": (_facts(gridX=(1 << 31) - 1), ""),
    "a program above": (_facts(spv_name="../axpy.spv"), "expected the name of a file in this folder"),
    "a program by its whole path": (_facts(spv_name="/etc/hostname"), "expected the name of a file in this folder"),
    "no such program": (_facts(spv_name="none.spv"), "none.spv: no such file"),
    "arguments that are no list": (_facts(argument_list={}), "'argument_list' is {}, expected a list"),
    "too many arguments": (_facts(argument_list=[{}] * 5000), "at most 4096 are supported"),
    "a tensor above": (_argument(1, name="../tensor_1"), "expected the name of a file in this folder"),
    "an unknown type": (_argument(2, ctype="fp4"), "has the type 'fp4'; known types"),
    "a value that does not fit": (_argument(3, value=1 << 31), "does not fit into i32"),
    "a value that is a word": (_argument(3, value="60"), "expected a number of type i32"),
    "a tensor that is a text": (_tensor(b"tensor"), "not a zip archive"),
    "an archive cut short": (_tensor(saved(ARRAY)[:-30]), "not a zip archive"),
    "a damaged storage": (lambda folder: _tensor((folder / "tensor_1.pt").read_bytes().replace(b"\0\0\x80?", b"\0\0\x81?", 1))(folder), "CRC"),
    "a compressed storage": (_tensor(_bomb()), "is compressed"),
    "a storage that claims much": (_tensor(_claiming(0xFFFFFF00)), "more than the file can hold"),
    "thousands of entries": (_tensor(_many_entries()), "its directory has more than 64 KiB"),
    "no description": (_tensor(archive_of({"archive/data/0": b""})), "it has no data.pkl"),
    "a description that calls a command": (_tensor(_archive(pickle.dumps(_Command(), 2))), "its pickle calls 'posix system'"),
    "a description that builds an object": (_tensor(_archive(b"\x80\x02cos\nsystem\n)\x81.")), "opcode NEWOBJ"),
    "a description of no tensor": (_tensor(_archive(pickle.dumps((1, 2), 2))), "its pickle has tuple, expected one tensor"),
    "an endless description": (_tensor(_archive(b"\x80\x02" + b"(" * 5000)), "more than 2000 opcodes"),
    "a tuple without a beginning": (_tensor(_archive(b"\x80\x02K\x01t.")), "its pickle is damaged"),
    "a deep tuple": (_tensor(_archive(b"\x80\x02)" + b"\x85" * 1900 + b"Q.")), "refers to an object that is not a storage"),
    "deep sizes": (_tensor(_archive(pickled(ARRAY).replace(b"J@\0\0\0t(", b")" + b"\x85" * 1900 + b"t("))), "damaged"),
    "a description without an end": (_tensor(_archive(b"\x80\x02N")), "its pickle is damaged"),
    "an unknown storage": (_tensor(_archive(pickled(ARRAY, storage="QuantStorage"))), "unsupported storage QuantStorage"),
    "a storage of another name": (_tensor(_archive(pickled(ARRAY, key="../../1"))), "it has no data/../../1"),
    "more elements than the storage": (_tensor(_archive(pickled(ARRAY, size=(65,)))), "its storage has 256 bytes, too few"),
    "a negative size": (_tensor(_archive(pickled(ARRAY, size=(-1,)))), "invalid or huge sizes"),
    "a huge size": (_tensor(_archive(pickled(ARRAY, size=(1 << 29, 1 << 29), strides=(1, 1)))), "is larger than 1024 MiB"),
    "bytes in the other order": (_tensor(_archive(pickled(ARRAY), byteorder=b"big")), "big-endian"),
    "a result of another size": (_put("cpp_outs_0.pt", saved(ARRAY[:9])), "cpp_outs_0.pt: has 36 bytes of float32, tensor_0 256"),
}  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Return the folder of a sound capture of each kind."""
    folder = tmp_path_factory.mktemp("sound")
    return {
        "intercepted": unpack("Enqueue_0_axpy", folder),
        "images": unpack("Enqueue_6_smooth", folder),
        "runner": write_runner(folder / "runner", _SPIRV),
    }


@pytest.fixture
def never_runs(monkeypatch):
    """Let the test fail where a kernel would run."""
    from visa_lsp.app.launch import runner

    def run(*_args, **_more):
        raise AssertionError("the kernel ran")

    monkeypatch.setattr(runner, "run_ready", run)


def _refuse(sound, tmp_path, capsys, name, change, words):
    folder = tmp_path / re.sub(r"\W", "_", name)
    shutil.copytree(sound, folder)
    change(folder)
    assert main(["run", str(folder)]) == 2
    out, err = capsys.readouterr()
    assert str(folder) in err, err
    assert words in err, err
    assert err.count("\n") == 1, err
    assert "internal error" not in err
    assert not out
    shutil.rmtree(folder)


def _needs_compiler(words):
    """Return whether only the compiled program shows the mistake."""
    return not words or words.startswith(
        ("unknown kernel", "has 3", "has 5", "argument 2 a", "takes 4", "the kernel takes", "takes a", "argument 1 x")
    )


def _check(kind, cases, sound, tmp_path, capsys):
    has_compiler = shutil.which("ocloc") is not None
    chosen = [(name, *case) for name, case in cases.items() if has_compiler or not _needs_compiler(case[1])]
    check_each(chosen, lambda case: _refuse(sound[kind], tmp_path, capsys, *case), lambda case: case[0])


def test_a_malformed_capture_of_the_intercept_layer_is_refused(sound, tmp_path, capsys, never_runs):
    _check("intercepted", INTERCEPTED, sound, tmp_path, capsys)


def test_buffers_that_are_huge_together_are_not_read(sound, tmp_path, monkeypatch):
    folder = tmp_path / "huge"
    shutil.copytree(sound["intercepted"], folder)
    _huge("P*/*", 300 << 20)(folder)

    def read(stream, limit, expected):
        return read_stream(stream, limit, expected) if expected < 1 << 20 else b""

    monkeypatch.setattr("visa_lsp.app.captures.folder.read_stream", read)
    with pytest.raises(UserError, match="the arrays of the capture have more than 1024 MiB"):
        read_capture(str(folder))


def test_a_malformed_image_is_refused(sound, tmp_path, capsys, never_runs):
    _check("images", IMAGES, sound, tmp_path, capsys)


def test_a_malformed_capture_of_spirv_runner_is_refused(sound, tmp_path, capsys, never_runs):
    _check("runner", RUNNER, sound, tmp_path, capsys)
    assert not Path("visa-lsp-was-here").exists()


def test_a_folder_of_captures_is_not_a_capture(sound, tmp_path):
    parent = sound["images"].parent
    with pytest.raises(
        UserError, match="is a directory with captures inside, name one: Enqueue_0_axpy, Enqueue_6_smooth, runner"
    ):
        read_capture(str(parent))
    with pytest.raises(
        UserError,
        match=r"is a directory, but no capture: expected worksizes.txt and kernelName.txt .* or args_data.json",
    ):
        read_capture(str(tmp_path))
    with pytest.raises(UserError, match="no such folder"):
        read_capture(str(tmp_path / "none"))


def test_bytes_flipped_anywhere_never_break_the_reader(sound, tmp_path):
    random = np.random.default_rng(7)
    for kind in sound:
        folder = tmp_path / kind
        shutil.copytree(sound[kind], folder)
        files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size]
        for _ in range(40):
            path = files[random.integers(len(files))]
            kept = path.read_bytes()
            data = bytearray(kept)
            for _ in range(random.integers(1, 4)):
                data[random.integers(len(data))] = random.integers(256)
            path.write_bytes(data[: random.integers(len(data) + 1)] if random.integers(2) else data)
            with contextlib.suppress(UserError):
                read_capture(str(folder))
            path.write_bytes(kept)
