"""Hostile launch files, texts and objects: one clear error with its place, exit 1 or 2, no traceback, bounded memory.

The bound: the arrays of a launch have at most 1 GiB, a launch 2**24 threads, a body 16 MiB of registers, a group 256 MiB of
them and 16 MiB of shared local memory, open functions 512 MiB, a thread 64 KiB of arguments, a run its budget of steps.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from each_case import check_each
from tiers import first

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.forms import QuickError, described_kernel
from visa_lsp.app.launch.runner import RunOptions, run_launch
from visa_lsp.codec.encode import encode
from visa_lsp.sema.lower import resolve_text
from visa_lsp.sim.launch.config import LaunchError

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
TEXT = (EXAMPLES / "saxpy.visaasm").read_text()
LAUNCH = (EXAMPLES / "saxpy.launch.yaml").read_text().split("expect:")[0]
OBJECT = Path("no-folder") / "k.isa"
MEMORY = 3 << 30  # the process with NumPy and its threads takes 1 GiB of addresses before it starts

BOMB = "\n".join(
    f"{n}: &{n} [{', '.join([f'*{m}'] * 10) if m else '1, 1'}]" for m, n in zip(" abcdefgh", "abcdefghi", strict=True)
).replace("* ", "1")


def launch(old, new):
    assert old in LAUNCH
    return LAUNCH.replace(old, new)


X = "shape: [100], init: arange"
FILES = {
    "size": (launch(X, "shape: [1099511627776], init: arange"), ":8:40: 1099511627776 is out of range"),
    "product": (launch(X, "shape: [1073741824, 1073741824]"), ":8:39: the array has 4611686018427387904 bytes; the limit is"),
    "groups": (launch("[7, 1, 1]", "[1099511627776, 1, 1]"), ":5:10: 1099511627776 is out of range"),
    "threads": (launch("[7, 1, 1]", "[2147483648, 2147483648, 2]"), ":5:9: 2147483648x2147483648x2 groups of 1 threads exceed"),
    "nan groups": (launch("[7, 1, 1]", "[.nan, 1, 1]"), ":5:10: expected a whole number, got the number nan"),
    "local size": (launch("[16, 1, 1]", "[1048576, 4, 1]"), ":6:13: a group of 4194304 work items is too large"),
    "missing argument": (launch("  n: {value: 100}\n", ""), "no argument for .input n"),
    "unknown argument": (launch("  n: {", "  m: {"), ":11:3: kernel 'saxpy' has no .input 'm'"),
    "value": (launch("n: {value: 100}", "n: {value: 1180591620717411303424}"), ":11:14: the number does not fit into 64 bits"),
    "all arrays": (launch("n: {value: 100}", "n: {buffer: {dtype: uint8, shape: [1073741824]}}"), ":11:37: the arrays have 1073742624 bytes up to here; the limit is"),
    "wide intermediate": (launch(X, "shape: [1073741825], init: arange"), ":8:40: 1073741825 is out of range"),
    "no items": (launch("[16, 1, 1]", "[16, 0, 1]"), ":6:18: 0 is out of range"),
    "many groups": (launch("[7, 1, 1]", "[1000000000, 1, 1]"), ":5:9: 1000000000x1x1 groups of 1 threads exceed"),
    "slm": (launch("n: {value: 100}", "n: {local: 1099511627776}"), ":11:14: 1099511627776 is out of range"),
    "bomb": (BOMB + "\n", "too many values, or aliases that multiply"),
    "cycle": ("groups: &g [*g]\n", ":1:9: nested too deeply, or an alias inside itself"),
    "deep": ("groups: " + "[" * 3000 + "]" * 3000, "nested too deeply"),
    "not utf-8": (b"\xff\xfe", "is not UTF-8 text (byte 0)"),
    "digits": ("groups: 0x" + "f" * 600_000 + "\n", ":1:9: a number of 600002 digits is too long"),
    "decimal digits": ("groups: " + "9" * 5000 + "\n", ":1:9: a number of 5000 digits is too long"),
    "empty axis": (launch(X, "shape: [0, 1073741824, 1073741824, 1073741824]"), ":8:39: the shape has"),
    "axes of values": (launch(X, "values: " + "[" * 70 + "1" + "]" * 70), "expected at most 8 axes, got 70"),
    "arguments": ("groups: 1\nargs:\n" + "  - {value: 1, dtype: int32}\n" * 5_000, "too many entries; the limit is 4096"),
    "named arguments": (
        "groups: 1\nargs:\n" + "".join(f"  a{n}: {{value: 1}}\n" for n in range(5_000)),
        "too many entries; the limit is 4096; long arrays belong in .npy files",
    ),
    "symbols": ("groups: 1\nsymbols: {" + ", ".join(f"s{n}: 1" for n in range(5_000)) + "}\n", "too many entries; the limit is 4096"),
}  # fmt: skip


def bounded():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(folder, *words):
    return run_python(
        folder, "import sys; from visa_lsp.cli.main import main; sys.exit(main(sys.argv[1:]))", "run", *words
    )


def run_python(folder, code, *words):
    command = [sys.executable, "-c", code, *words]
    environment = {"OPENBLAS_NUM_THREADS": "1", "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        preexec_fn=bounded,
        env=environment,
        timeout=120,
        check=False,
    )


# One process for all the files; what each says goes to files, as the process prints them.
ONE_AFTER_THE_OTHER = """
import contextlib, sys
from pathlib import Path
from visa_lsp.cli.main import main

for folder in map(Path, sys.argv[1:]):
    with (folder / "out").open("w") as out, (folder / "err").open("w") as err, contextlib.chdir(folder):
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(["run", "k.visaasm", "--budget", "20000"])
    (folder / "status").write_text(str(status))
"""


def run_each(tmp_path, inputs):
    """Return the status and what is printed on either stream, by name; an input is a text with its launch file."""
    folders = {name: tmp_path / str(number) for number, name in enumerate(inputs)}
    for name, (text, launch_text) in inputs.items():
        folders[name].mkdir()
        (folders[name] / "k.visaasm").write_text(text)
        (folders[name] / "k.launch.yaml").write_bytes(
            launch_text if isinstance(launch_text, bytes) else launch_text.encode()
        )
    done = run_python(tmp_path, ONE_AFTER_THE_OTHER, *folders.values())
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return {
        name: tuple((folder / part).read_text() for part in ("status", "out", "err"))
        for name, folder in folders.items()
    }


def test_launch_files(tmp_path):
    found = run_each(tmp_path, {name: (TEXT, text) for name, (text, _) in FILES.items()})

    def check(name):
        status, out, err = found[name]
        assert (status, out) == ("2", "")
        assert len(err.splitlines()) == 1
        assert err.startswith("k.launch.yaml:")
        assert FILES[name][1] in err

    check_each(FILES, check)


def test_npy_that_promises_more_than_it_has(tmp_path):
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,), }".ljust(117) + b"\n"
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    (tmp_path / "k.visaasm").write_text(TEXT)
    (tmp_path / "k.launch.yaml").write_text(launch(", " + X, ", npy: x.npy"))
    done = run(tmp_path, "k.visaasm")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "cannot read the array file" in done.stderr


def npy(header: bytes, version: int = 1) -> bytes:
    length = len(header).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + bytes(400)


def shaped(shape: str, descr: str = "'<f4'") -> bytes:
    return npy(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}\n".encode())


ARRAYS = {
    "archive": (b"PK\x03\x04" + bytes(100), "found an archive of arrays (.npz)"),
    "nothing": (b"", "not a .npy file"),
    "magic alone": (b"\x93NUMPY", "not a .npy file"),
    "version": (npy(b"x", version=9), "unknown version 9 of the format; known versions: 1 to 3"),
    "negative": (shaped("(-1,)"), "invalid shape (-1,)"),
    "2**62": (shaped("(4611686018427387904,)"), "invalid shape (4611686018427387904,)"),
    "2**62 of nothing": (shaped("(0, 4611686018427387904)"), "invalid shape (0, 4611686018427387904)"),
    "many of nothing": (shaped("(0, 1073741824, 1073741824)"), "the array has"),
    "flag": (shaped("(True,)"), "invalid shape (True,)"),
    "word": (shaped("'abc'"), "unreadable header"),
    "axes": (shaped("(" + "1," * 40 + ")"), "invalid shape"),
    "number": (shaped("(" + "9" * 5000 + ",)"), "cannot read the array file"),
    "no header": (npy(b"hello world (((("), "unreadable header"),
    "deep header": (npy(b"(" * 9000), "unreadable header"),
    "zero byte": (npy(b"{'descr': \x00}"), "unreadable header"),
    "cut header": (b"\x93NUMPY\x02\x00\xff\xff\xff\xffxx", "unreadable header"),
    "objects": (shaped("(3,)", "'|O'"), "Python objects are not supported"),
    "fields": (shaped("(3,)", "[('a', '<f4')]"), "holds void"),
    "dates": (shaped("(3,)", "'<M8[s]'"), "holds datetime64"),
    "no type": (shaped("(3,)", "'xyz'"), "unreadable header"),
    "cut": (shaped("(101,)"), "the header promises 404 bytes, found 400"),
}  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
def test_npy(name, tmp_path):
    data, message = ARRAYS[name]
    (tmp_path / "x.npy").write_bytes(data)
    path = tmp_path / "k.launch.yaml"
    with pytest.raises(LaunchError) as failed:
        parse_launch(launch(", " + X, ", npy: x.npy"), path)
    assert str(failed.value).startswith(f"{path}:8:")
    assert message in str(failed.value)
    assert len(str(failed.value)) < 600


def test_npy_without_end(tmp_path):
    path = tmp_path / "k.launch.yaml"
    with (tmp_path / "x.npy").open("wb") as file:
        file.truncate(20 << 30)
    with pytest.raises(LaunchError, match="larger than 1024 MiB, the limit"):
        parse_launch(launch(", " + X, ", npy: x.npy"), path)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_npy_of_every_version_and_order_is_read(tmp_path, order, version):
    array = np.asarray(np.arange(100, dtype=">f4").reshape(4, 25), order=order)
    with (tmp_path / "x.npy").open("wb") as file:
        np.lib.format.write_array(file, array, version=version)
    read = parse_launch(launch(", " + X, ", npy: x.npy"), tmp_path / "k.launch.yaml").config.args["x"].array
    assert (read == array).all()
    assert read.flags.c_contiguous
    assert read.dtype == np.float32


@pytest.mark.full
def test_nan_takes_a_path_like_any_number(tmp_path):
    """NaN arguments reach the kernel, and its branches are taken as IEEE comparisons say."""
    text = TEXT.replace("cmp.lt (M1, 16) P1 index(0,0)<1;1,0> n(0,0)<0;1,0>", "cmp.lt (M1, 16) P1 a(0,0)<0;1,0> 0x0:f")
    (tmp_path / "k.visaasm").write_text(text)
    (tmp_path / "k.launch.yaml").write_text(launch("a: {value: 2.5}", "a: {value: .nan}"))
    done = run(tmp_path, "k.visaasm", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert '"bytes_written": 0' in done.stdout


BODY = '.version 4.1\n.kernel "k"\n{}\n.kernel_attr SimdSize=16\n    ret (M1, 1)\n'
SIMPLE = parse_launch("groups: [1]\nlocal_size: [16]\n", Path("k.launch.yaml"))


def object_of(declarations, change):
    from msgspec.structs import replace

    module = resolve_text(BODY.format(declarations), "TGLLP").module
    kernel = change(module.kernels[0], replace)
    return encode(replace(module, kernels=(kernel,)))


def refused(data):
    with pytest.raises(LaunchError) as caught:
        run_launch(SIMPLE, RunOptions(OBJECT, engine="interp", budget=1000), data)
    return str(caught.value)


def test_aliases_in_a_circle():
    two = ".decl A v_type=G type=d num_elts=8\n.decl B v_type=G type=d num_elts=8 alias=<A,0>"

    def circle(kernel, replace):
        first, second = kernel.variables
        return replace(kernel, variables=(replace(first, alias_index=33), second))

    assert "the alias of variable V32 leads back to itself" in refused(object_of(two, circle))


def test_more_registers_than_a_thread_can_have():
    def many(kernel, replace):
        return replace(kernel, variables=kernel.variables * 4000)

    assert "bytes of registers; a thread has at most 16777216" in refused(
        object_of(".decl A v_type=G type=uq num_elts=4096", many)
    )


def test_input_outside_of_the_payload():
    text = ".decl A v_type=G type=d num_elts=8\n.input A offset=32 size=32"

    def far(kernel, replace):
        return replace(kernel, inputs=(replace(kernel.inputs[0], offset=-32, size=32),))

    def at_start(kernel, replace):
        return replace(kernel, inputs=(replace(kernel.inputs[0], offset=0, size=32),))

    assert "an input takes bytes -32 to 0; the payload" in refused(object_of(text, far))
    assert "; the payload has at most" not in refused(object_of(text, at_start))


@pytest.mark.parametrize("seed", first(1, range(4)))
def test_damaged_objects_run_or_are_refused(seed):
    """Whatever a byte says: a result, a report, or one error in words."""
    data = encode(resolve_text(TEXT, "TGLLP").module)
    rng = random.Random(seed)
    file = parse_launch(LAUNCH, EXAMPLES / "saxpy.launch.yaml")
    ended, lines = {"run": 0, "refused": 0}, 0
    for _ in range(100):
        bad = bytearray(data)
        for _ in range(rng.choice((1, 1, 2, 4))):
            bad[rng.randrange(8, len(bad))] = rng.choice((0, 1, 255, 127, rng.randrange(256)))
        try:
            run_launch(file, RunOptions(OBJECT, engine="interp", budget=2000), bytes(bad))
            ended["run"] += 1
        except LaunchError as error:
            ended["refused"] += 1
            lines = max(lines, len(str(error).splitlines()))
    assert lines == 1
    assert min(ended.values()) > 12


HEAD = '.version 4.1\n.kernel "k"\n'
FUNCTION = '.global_function "f"\n'
RECURSION = (
    HEAD + "    fcall (M1, 16) f 0 0\n    ret (M1, 1)\n" + FUNCTION + "{}    fcall (M1, 16) f 0 0\n    fret (M1, 16)\n"
)
ONE = "groups: [1]\nlocal_size: [16]\n"
LIMITS = {
    "shared memory": (HEAD + ".kernel_attr SLMSize=4294967295\n    ret (M1, 1)\n", ONE, "bytes of shared local memory; at most 16777216"),
    "registers of a group": (
        HEAD + "".join(f".decl A{i} v_type=G type=uq num_elts=4095\n" for i in range(100)) + ".kernel_attr SimdSize=1\n    ret (M1, 1)\n",
        "groups: [1]\nlocal_size: [4096]\n", "bytes of registers; at most 268435456",
    ),
    "recursion": (RECURSION.format(""), ONE, "more than 2048 nested function calls"),
    "deep stack": (
        RECURSION.format("".join(f".decl A{i} v_type=G type=uq num_elts=4095\n" for i in range(200))), ONE,
        "more than 536870912 bytes of registers",
    ),
    "subroutine": (
        HEAD + '    call (M1, 16) s\n    ret (M1, 1)\n.function "s"\ns:\n    call (M1, 16) s\n    ret (M1, 16)\n', ONE,
        "a subroutine calls itself",
    ),
    "endless loop": (
        TEXT.replace("    ret (M1, 1)", "again:\n    jmp (M1, 1) again\n    ret (M1, 1)"), LAUNCH,
        "step-budget: the run exceeded its budget of 20000 instructions",
    ),
    "region far outside": (
        TEXT.replace("y_value(0,0)<1> a(0", "y_value(200,0)<1> a(0"), LAUNCH,
        "region-outside-variable: the region touches bytes 6400 to 6463 of y_value, which has 64",
    ),
}  # fmt: skip


def test_limits_of_runs(tmp_path):
    found = run_each(tmp_path, {name: (text, launch_text) for name, (text, launch_text, _) in LIMITS.items()})

    def check(name):
        status, out, err = found[name]
        message = LIMITS[name][2]
        refused = "at most" in message
        assert (status, out == "", err == "") == ("2" if refused else "1", refused, not refused)
        assert message in out + err
        assert "Traceback" not in out + err

    check_each(LIMITS, check)
    assert "k.visaasm:55: again:" in found["endless loop"][1]


ZE_INFO = """version: '1.16'
kernels:
  - name: saxpy
    execution_env:
      simd_size: 16
      grf_count: 128
      slm_size: 1024
    payload_arguments:
      - arg_type: global_id_offset
        offset: 0
        size: 12
      - arg_type: arg_byvalue
        offset: 16
        size: 4
        arg_index: 0
      - arg_type: arg_bypointer
        offset: 24
        size: 8
        arg_index: 1
        addrmode: stateless
        addrspace: global
        access_type: readwrite
    per_thread_payload_arguments:
      - arg_type: local_id
        offset: 0
        size: 96
    per_thread_memory_buffers:
      - type: scratch
        usage: spill_fill_space
        size: 64
"""
HOSTILE = (
    "-1", "0", "65536", "1073741824", "4294967295", "1099511627776", "9223372036854775807", ".nan", "[]", "{}", "~", "x",
)  # fmt: skip


@pytest.mark.full
def test_any_number_of_a_ze_info_may_be_anything(tmp_path):
    """Each number replaced by each hostile value: a run, or one error with its place."""
    lines = ZE_INFO.splitlines()
    launch_text = (
        "ze_info: z.yaml\ngroups: [1]\nlocal_size: [16]\nargs: [{value: 1}, {buffer: {dtype: int32, shape: [4]}}]\n"
    )
    told = set()
    for at, line in enumerate(lines):
        if not line[-1:].isdigit():
            continue
        for value in HOSTILE:
            changed = [*lines[:at], line.rsplit(" ", 1)[0] + " " + value, *lines[at + 1 :]]
            (tmp_path / "z.yaml").write_text("\n".join(changed))
            try:
                file = parse_launch(launch_text, tmp_path / "k.launch.yaml")
                module = resolve_text(BODY.format("").replace('"k"', '"saxpy"'), "TGLLP").module
                run_launch(file, RunOptions(tmp_path / "k.isa", engine="interp", budget=100), encode(module))
            except LaunchError as error:
                told.add(str(error))
    assert len(told) > 20
    assert [e for e in told if len(e.splitlines()) != 1 or not e.startswith(str(tmp_path))] == []


@pytest.mark.parametrize("args", ["[]", "{a: {value: 1}}"])
def test_an_argument_with_a_huge_number_is_refused(tmp_path, args):
    (tmp_path / "z.yaml").write_text(ZE_INFO.replace("arg_index: 0", "arg_index: 1073741824"))
    file = parse_launch(f"ze_info: z.yaml\ngroups: [1]\nlocal_size: [16]\nargs: {args}\n", tmp_path / "k.launch.yaml")
    module = resolve_text(BODY.format("").replace('"k"', '"saxpy"'), "TGLLP").module
    with pytest.raises(LaunchError, match="1073741825 arguments"):
        run_launch(file, RunOptions(tmp_path / "k.isa"), encode(module))
    with pytest.raises(QuickError, match="1073741825 arguments"):
        described_kernel((tmp_path / "z.yaml").read_text(), "saxpy")


@pytest.mark.parametrize("seed", first(1, range(3)))
def test_damaged_launch_files_run_or_are_refused(seed):
    rng = random.Random(seed)
    words = [
        "buffer", "value", "local", "image", "dtype", "shape", "init", "values", "npy", "groups", "&a", "*a", "<<:", "-", "?",
        "|", ">", "{{", "}}", "[", "]", ",", ":", "1e400", "-1", ".nan", "0x7f", "~", "true",
    ]  # fmt: skip
    told, runs, data = [], 0, encode(resolve_text(TEXT, "TGLLP").module)
    for _ in range(100):
        lines = LAUNCH.split("\n")
        for _ in range(rng.choice((1, 1, 2))):
            at = rng.randrange(len(lines))
            parts = lines[at].split(" ")
            parts[rng.randrange(len(parts))] = rng.choice(words)
            lines[at] = " ".join(parts) if rng.random() < 0.8 else ""
        try:
            file = parse_launch("\n".join(lines), EXAMPLES / "saxpy.launch.yaml")
            run_launch(file, RunOptions(OBJECT, engine="interp", budget=500), data)
            runs += 1
        except LaunchError as error:
            told.append(str(error))
    assert min(runs, len(told)) > 5
    assert [e for e in told if len(e.splitlines()) != 1 or ".yaml:" not in e] == []
