"""What commands read and write: no output replaces an input, a link or a device; no read waits for ever or has no end."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tiers import first

from visa_lsp import safe_io as reading
from visa_lsp.cli.main import main
from visa_lsp.cli.outputs import write_output
from visa_lsp.codec.encode import encode
from visa_lsp.safe_io import MAX_TEXT_BYTES, MIB
from visa_lsp.sema.lower import resolve_text

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXT = (EXAMPLES / "saxpy.visaasm").read_text()
OBJECT = encode(resolve_text(TEXT).module)
HUGE = 20 << 30

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, FIFOs and devices of POSIX systems")


@pytest.fixture
def folder(here):
    (here / "x.visaasm").write_text(TEXT)
    (here / "x.isa").write_bytes(OBJECT)
    return here


def run(capfd, *words: str) -> tuple[int, str]:
    """Return the exit status of a command, and what it says on standard error."""
    try:
        status = main(list(words))
    except SystemExit as leaving:
        status = int(leaving.code or 0)
    return status, capfd.readouterr().err


def sparse(path: Path) -> Path:
    """Return a file of 20 GB that takes no room."""
    with path.open("wb") as file:
        file.truncate(HUGE)
    return path


# ---- outputs that are inputs ----


@pytest.mark.parametrize("how", ["itself", "hard link", "symbolic link", "by another way"])
@pytest.mark.parametrize(
    "command",
    [
        ["asm", "x.visaasm", "-o"],
        ["dis", "x.isa", "-o"],
        ["zeinfo", "emit", "x.visaasm", "-o"],
        ["check", "x.visaasm", "--output"],
        ["check", "x.json", "--write-baseline"],
    ],
    ids=lambda words: words[0] + words[-1],
)
def test_an_output_that_is_the_input_is_refused(folder, capfd, command, how):
    source = folder / next(word for word in command if "." in word)
    (folder / "x.json").write_text(TEXT)
    before = source.read_bytes()
    other = folder / "other.json"
    match how:
        case "itself":
            other = source
        case "hard link":
            other.hardlink_to(source)
        case "symbolic link":
            other.symlink_to(source.name)
        case _:
            (folder / "sub").mkdir()
            other = Path("sub", "..", source.name)
    words = [*command[:-1], f"{command[-1]}={other}"] if command[-1].startswith("--") else [*command, str(other)]
    status, err = run(capfd, *words)
    assert status == 2
    assert "this is also the input" in err
    assert source.read_bytes() == before


def test_a_text_called_like_its_object_is_not_replaced(folder, capfd):
    (folder / "y.isa").write_text(TEXT)
    assert run(capfd, "asm", "y.isa")[0] == 2
    assert (folder / "y.isa").read_text() == TEXT
    (folder / "z.visaasm").write_text(TEXT)
    (folder / "z.isa").write_text(TEXT)  # the object of the one would be the text of the other
    status, err = run(capfd, "asm", "z.visaasm", "z.isa")
    assert (status, "'z.isa'" in err) == (2, True)
    assert (folder / "z.isa").read_text() == TEXT


def test_two_texts_with_one_object_are_told(folder, capfd):
    (folder / "x.isaasm").write_text(TEXT.replace("saxpy", "other"))
    status, err = run(capfd, "asm", "x.visaasm", "x.isaasm")
    assert status == 2
    assert "x.isaasm: its object would overwrite x.isa, the object of x.visaasm" in err
    assert (folder / "x.isa").read_bytes() == OBJECT


def test_standard_input_from_the_output_is_refused(folder):
    with (folder / "x.visaasm").open("rb") as stream:
        command = [sys.executable, "-m", "visa_lsp", "asm", "-", "-o", "x.visaasm"]
        done = subprocess.run(command, stdin=stream, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "on standard input" in done.stderr
    assert (folder / "x.visaasm").read_text() == TEXT


def test_run_does_not_replace_the_arrays_that_it_read(folder, capfd):
    numpy = pytest.importorskip("numpy")
    for name in ("saxpy.visaasm", "saxpy.launch.yaml"):
        shutil.copy(EXAMPLES / name, folder)
    launch = (folder / "saxpy.launch.yaml").read_text().split("expect:")[0]
    old = "{dtype: float32, shape: [100], init: arange}"
    assert old in launch
    (folder / "saxpy.launch.yaml").write_text(launch.replace(old, "{npy: argx.npy}"))
    numpy.save(folder / "argx.npy", numpy.arange(100, dtype=numpy.float32))
    before = (folder / "argx.npy").read_bytes()
    assert main(["run", "saxpy.visaasm", "--out", "."]) == 2
    assert "argx.npy" in capfd.readouterr().err
    assert (folder / "argx.npy").read_bytes() == before
    assert not (folder / "argy.npy").exists(), "nothing is written where not all can be"


def test_a_zebin_is_not_replaced_by_what_is_taken_out_of_it(folder, capfd):
    assert run(capfd, "asm", "--zebin", "x.visaasm", "-o", "x.zebin")[0] == 0
    data = (folder / "x.zebin").read_bytes()
    assert run(capfd, "dis", "x.zebin", "-o", "out")[0] == 0
    names = {path.name for path in Path("out").iterdir()}
    assert {"x.isa", "x.visaasm"} <= names
    for name in ("x.isa", "x.visaasm"):
        target = folder / "again" / name
        target.parent.mkdir()
        target.write_bytes(data)
        assert run(capfd, "dis", str(target), "-o", "again")[0] == 2
        assert target.read_bytes() == data
        assert [path.name for path in target.parent.iterdir()] == [name]
        shutil.rmtree("again")


def test_the_server_does_not_write_an_object_over_its_text(folder):
    from visa_lsp.lsp.jobs.command_answers import assemble_text

    (folder / "y.isa").write_text(TEXT)
    answer = assemble_text(TEXT, str(folder / "y.isa"), None)
    assert not answer["ok"]
    assert (folder / "y.isa").read_text() == TEXT


# ---- outputs that are no plain files ----


def test_a_link_stays_and_what_it_points_to_is_written(folder, capfd):
    (folder / "old.isa").write_bytes(b"old")
    (folder / "link.isa").symlink_to("old.isa")
    (folder / "new.isa").symlink_to("not-there-yet.isa")
    for name in ("link.isa", "new.isa"):
        assert run(capfd, "asm", "x.visaasm", "-o", name) == (0, "")
        assert (folder / name).is_symlink()
        assert (folder / name).read_bytes() == OBJECT
    (folder / "loop.isa").symlink_to("loop.isa")
    assert run(capfd, "asm", "x.visaasm", "-o", "loop.isa")[0] == 2


def test_other_names_of_an_output_see_what_is_written(folder, capfd):
    (folder / "a.isa").write_bytes(b"a longer object than the new one" * 1000)
    (folder / "b.isa").hardlink_to(folder / "a.isa")
    assert run(capfd, "asm", "x.visaasm", "-o", "b.isa") == (0, "")
    assert (folder / "a.isa").read_bytes() == (folder / "b.isa").read_bytes() == OBJECT


def test_a_fifo_and_a_device_are_written_into(folder, capfd):
    os.mkfifo("pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe").read_bytes()))
    reader.start()
    assert run(capfd, "asm", "x.visaasm", "-o", "pipe") == (0, "")
    reader.join()
    assert got == [OBJECT]
    assert Path("pipe").is_fifo()
    assert run(capfd, "asm", "x.visaasm", "-o", "/dev/null") == (0, "")
    assert Path("/dev/null").is_char_device()
    if Path("/dev/full").exists():
        assert run(capfd, "asm", "x.visaasm", "-o", "/dev/full") == (
            2,
            "visa-lsp: /dev/full: no space left on device\n",
        )


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/stderr"])
@pytest.mark.parametrize("where", first(1, ["file", "pipe"]))
def test_an_output_by_the_name_of_a_stream_is_that_stream(folder, name, where):
    if not Path(name).exists():
        pytest.skip(f"there is no {name} here")
    code = (
        "import sys; from visa_lsp.cli.main import main\n"
        "print('before'); print('before', file=sys.stderr)\n"
        f"status = main(['asm', 'x.visaasm', '-o', {name!r}])\n"
        "print('after'); print('after', file=sys.stderr); sys.exit(status)"
    )
    key = name.removeprefix("/dev/")
    with (folder / "said").open("wb") as stream:
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        if where == "file":
            streams[key] = stream
        done = subprocess.run([sys.executable, "-c", code], **streams, check=False)
    said = (folder / "said").read_bytes() if where == "file" else getattr(done, key)
    assert (done.returncode, said) == (0, b"before\n" + OBJECT + b"after\n")


def test_a_fifo_that_nobody_reads_is_not_waited_for_without_end(folder, capfd, monkeypatch):
    monkeypatch.setattr("visa_lsp.app.output_files.PATIENCE", 0.0)
    os.mkfifo("pipe")
    status, err = run(capfd, "asm", "x.visaasm", "-o", "pipe")
    assert (status, "no process has read from this FIFO" in err) == (2, True)


def test_nothing_is_left_beside_an_output_that_fails(folder):
    before = sorted(folder.iterdir())
    with pytest.raises(Exception, match="is a directory"):
        write_output(str(folder), b"x")
    with pytest.raises(Exception, match="no such file"):
        write_output("nowhere/x", b"x")
    assert sorted(folder.iterdir()) == before


# ---- reading ----


def test_what_a_walk_finds_is_a_regular_file(folder, capfd):
    below = folder / "texts"
    below.mkdir()
    (below / "good.visaasm").write_text(TEXT)
    (below / "link.visaasm").symlink_to("good.visaasm")
    os.mkfifo(below / "pipe.visaasm")
    (below / "zero.visaasm").symlink_to("/dev/zero")
    (below / "folder.visaasm").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("texts/socket.visaasm")
        status, err = run(capfd, "check", "texts")
    assert status == 0
    assert sorted(err.splitlines()) == [
        f"visa-lsp: texts/{name}.visaasm: skipped: this is a {what}, not a regular file"
        for name, what in (("pipe", "FIFO"), ("socket", "socket"), ("zero", "device"))
    ]
    (below / "nothing.visaasm").symlink_to("nowhere")
    (below / "loop.visaasm").symlink_to("loop.visaasm")
    status, err = run(capfd, "check", "texts")
    assert status == 2
    assert "texts/nothing.visaasm: " in err
    assert "texts/loop.visaasm: " in err


def test_a_pipe_that_is_named_is_read(folder, capfd):
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_text(TEXT))
    writer.start()
    assert run(capfd, "check", "pipe") == (0, "")
    writer.join()


def test_a_pipe_that_nobody_writes_is_not_waited_for_without_end(folder, capfd, monkeypatch):
    monkeypatch.setattr(reading, "PATIENCE", 0.0)
    os.mkfifo("pipe")
    for command in (["check"], ["asm"], ["dis"], ["zeinfo", "check"], ["zeinfo", "emit"]):
        status, err = run(capfd, *command, "pipe")
        assert (status, "no process has written into" in err) == (2, True), command


@pytest.mark.parametrize("what", ["sparse", "/dev/zero"])
@pytest.mark.parametrize(
    "command", ["check", "asm", "dis", "zeinfo check", "zeinfo emit", "check --baseline=FILE x.visaasm", "@FILE"]
)
def test_no_input_is_without_a_bound(folder, capfd, command, what, monkeypatch):
    # A device has to be read up to the bound to know.
    for module in ("safe_io", "app.output_files", "app.inputs"):
        for name in ("MAX_TEXT_BYTES", "MAX_OBJECT_BYTES"):
            monkeypatch.setattr(f"visa_lsp.{module}.{name}", 2 * MIB, raising=False)
    path = str(sparse(folder / "big")) if what == "sparse" else what
    words = command.replace("FILE", path).split() if "FILE" in command else [*command.split(), path]
    if "baseline" in command and what != "sparse":
        monkeypatch.setattr(reading.read_file, "__defaults__", (2 * MIB,))
    status, err = run(capfd, *words)
    assert status == 2
    assert "MiB, the limit for such a file" in err
    assert "internal error" not in err


def test_standard_input_has_a_bound(folder):
    code = (
        "import sys; from visa_lsp.app import inputs; inputs.MAX_TEXT_BYTES = 2 << 20\n"
        "from visa_lsp.cli.main import main; sys.exit(main(['check', '-']))"
    )
    with sparse(folder / "big").open("rb") as stream:
        done = subprocess.run([sys.executable, "-c", code], stdin=stream, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "<stdin>: larger than 2 MiB, the limit" in done.stderr


@pytest.mark.parametrize("what", ["sparse", "fifo"])
def test_files_beside_an_input_are_not_believed_to_be_files(folder, capfd, what):
    make = sparse if what == "sparse" else os.mkfifo
    make(folder / "visa-lsp.toml")
    status, err = run(capfd, "check", "x.visaasm")
    assert (status, "MiB" in err) == ((2, True) if what == "sparse" else (0, False))
    (folder / "visa-lsp.toml").unlink()
    make(folder / "x.zeinfo.yaml")
    status, err = run(capfd, "asm", "--zebin", "x.visaasm")
    assert (status, "MiB" in err) == ((2, True) if what == "sparse" else (0, False))


def test_a_launch_and_what_it_names_have_a_bound(folder, capfd):
    pytest.importorskip("numpy")
    sparse(folder / "x.launch.yaml")
    assert main(["run", "x.visaasm"]) == 2
    assert "MiB, the limit" in capfd.readouterr().err
    for key in ("file", "ze_info", "zebin"):
        sparse(folder / "big.isa")
        more = "" if key == "file" else "file: x.visaasm\n"
        (folder / "x.launch.yaml").write_text(f"{more}{key}: big.isa\ngroups: 1\nlocal_size: 16\nargs: []\n")
        assert main(["run", "x.launch.yaml"]) == 2
        err = capfd.readouterr().err
        assert "MiB, the limit" in err, key
        (folder / "big.isa").unlink()
        os.mkfifo("big.isa")
        assert main(["run", "x.launch.yaml"]) == 2
        assert "'big.isa' is not a regular file" in capfd.readouterr().err
        (folder / "big.isa").unlink()


def test_the_bound_of_a_text_is_far_above_real_ones():
    assert max(p.stat().st_size for p in EXAMPLES.iterdir()) * 100 < MAX_TEXT_BYTES


# ---- files of other steps ----


@pytest.mark.parametrize("command", ["check", "asm", "run", "dis", "zeinfo emit"])
@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("k.cl", b"__kernel void f(__global int *a) {}", "this is OpenCL C, not vISA; compile it first: "),
        ("k.cl", b"", "ocloc compile -file k.cl -device"),
        ("k k.cl", b"int f();", "-file 'k k.cl' "),
        ("k.txt", b"// a kernel\n__attribute__((reqd_work_group_size(8,1,1)))\nkernel void f() {}", "OpenCL C"),
        (
            "k.asm",
            b"//.kernel k\n//.platform TGLLP\n(W) mov (8|M0) r3.0<1>:ud r0.0<1;1,0>:ud\n",
            "listing of native code",
        ),
        ("k.spv", b"\x03\x02\x23\x07\x00\x00\x01\x00", "this is SPIR-V, not vISA; compile it first: "),
    ],
)
def test_sources_of_the_compiler_are_told_with_what_to_do(folder, capfd, command, name, data, words):
    (folder / name).write_bytes(data)
    if command == "run":
        pytest.importorskip("numpy")
        if name.endswith(".cl"):
            command, words = "run --ocloc none", "none: does not exist"  # it would be compiled and run
    assert main([*command.split(), name]) == 2
    said = capfd.readouterr().err
    assert words in said
    assert len(said.splitlines()) == 1


def test_a_text_is_a_text_whatever_its_name(folder, capfd):
    (folder / "k.cl").write_text(TEXT)
    assert run(capfd, "check", "k.cl") == (0, "")
    (folder / "odd.visaasm").write_text("kernel void f() {}\n")
    assert run(capfd, "check", "odd.visaasm")[0] == 1


# ---- the server on a terminal ----


def test_a_terminal_is_told_that_an_editor_is_waited_for(tmp_path):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "visa_lsp"]
    child = subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(theirs)
    assert child.stderr is not None
    said = child.stderr.readline().decode()
    os.close(ours)
    _, rest = child.communicate(timeout=60)
    assert said.startswith("visa-lsp: this is a language server, waiting for an editor")
    assert "visa-lsp check FILE" in said
    assert rest.decode().count("language server") == 0


@pytest.mark.full
def test_an_editor_is_told_nothing_of_the_kind():
    done = subprocess.run(
        [sys.executable, "-m", "visa_lsp"], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert b"language server" not in done.stderr


@pytest.mark.parametrize("port", ["\u00b2", "9" * 5000, "65536", "-1", "x", ""])
def test_a_port_that_is_none_is_told(capfd, port):
    assert run(capfd, "--tcp", f"127.0.0.1:{port}") == (
        2,
        f"visa-lsp: --tcp: expected HOST:PORT, got '127.0.0.1:{port}'\n",
    )


@pytest.mark.parametrize("kind", ["fifo", "no folder"])
def test_a_log_that_cannot_be_written_is_told(folder, capfd, kind):
    if kind == "fifo":
        os.mkfifo("log")
    status, err = run(capfd, "--log", "log" if kind == "fifo" else "nowhere/log")
    assert (status, err.startswith("visa-lsp: --log ")) == (2, True)
