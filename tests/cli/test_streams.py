"""What reaches a terminal: no text steers it, and what cannot be written is told in one line."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from visa_lsp.app.output_files import replace_file
from visa_lsp.cli import entry, streams
from visa_lsp.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"
ODD = "\x1b]0;PWN\x07\x1b[31m\x7f\x9b2J\u202e\u2066x"
# What may reach a stream: anything but controls that are no layout, and what turns the direction of text round.
CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
TEXT = f""".version 4.1
.kernel "k{ODD}"
.decl V32 v_type=G type=d num_elts=8 align=GRF
    mov (M1, 8) V32(0,0)<1> V99(0,0)<1;1,0>  // {ODD}
    bad{ODD} (M1, 8) V32(0,0)<1> 0x1:d
    ret (M1, 1)
"""
RUNS = TEXT.replace(TEXT.splitlines()[3] + "\n", "").replace(TEXT.splitlines()[4] + "\n", "")
LAUNCH = f"file: 'odd{ODD}.visaasm'\nnot{ODD}: 1\n"


@pytest.fixture
def folder(here, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    (here / f"bad{ODD}.visaasm").write_text(TEXT)
    (here / f"runs{ODD}.visaasm").write_text(RUNS)
    (here / "odd.launch.yaml").write_text(LAUNCH)
    return here


@pytest.mark.parametrize(
    "line",
    [
        "check --format full .",
        "check --format concise .",
        "check --format github .",
        "check --format junit .",
        "check --statistics BAD",
        "check odd.launch.yaml",
        "check --show-settings BAD",
        "run RUNS",
        "run BAD",
        "run --trace -- RUNS",
        "run odd.launch.yaml",
        "stats RUNS BAD",
        "diff RUNS BAD",
        "asm BAD",
        "dis BAD",
        "zeinfo check BAD",
        "explain ODD",
        "ODD",
        "check ODD",
    ],
)
def test_no_text_and_no_name_steers_the_terminal(folder, capsys, line):
    names = {"BAD": f"bad{ODD}.visaasm", "RUNS": f"runs{ODD}.visaasm", "ODD": ODD}
    main([names.get(word, word) for word in line.split()])
    said = capsys.readouterr()
    text = said.out + said.err
    assert text
    assert CONTROL.findall(text) == []


def test_json_says_what_the_text_said(folder, capsys):
    name = ODD.replace("\x7f", "").replace("\x9b", "")  # a launch file cannot have these
    Path("runs.visaasm").write_text(RUNS.replace(ODD, name))
    main(["run", "--format", "json", "runs.visaasm"])
    out = capsys.readouterr().out
    assert CONTROL.findall(out) == []
    assert json.loads(out)["kernel"] == "k" + name


def test_colours_are_ours_alone(folder, capsys):
    main(["check", "--format", "full", "--color", "always", f"bad{ODD}.visaasm"])
    out = capsys.readouterr().out
    assert "\033[1;31merror[" in out
    assert CONTROL.findall(re.sub("\033\\[[0-9;]*m", "", out)) == []
    assert "\033[31m" not in out  # that of the text
    main(["check", "--format", "full", "--color", "always", "--output", "report", f"bad{ODD}.visaasm"])
    assert (folder / "report").read_text() == out


def test_a_name_with_a_line_feed_makes_no_line_of_its_own(folder, capsys):
    (folder / "a\nb.visaasm:1:1: error.visaasm").write_text(TEXT)
    main(["check", "a\nb.visaasm:1:1: error.visaasm", "none\nat all"])
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert all(line.startswith("a\\x0ab.visaasm:1:1: error.visaasm:") for line in lines)
    assert said.err.startswith("visa-lsp: none\\x0aat all: ")
    assert said.err.count("\n") == 1


def test_what_is_no_report_stays_as_it_is_but_on_a_terminal():
    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    for kind, said in ((io.TextIOWrapper, ODD), (Terminal, streams.visible(ODD))):
        stream = kind(io.BytesIO(), encoding="utf-8")
        with redirect_stdout(stream), streams.escape_streams():
            streams.write_data(ODD.encode())
        stream.flush()
        assert stream.buffer.getvalue().decode() == said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
@pytest.mark.parametrize(
    "line",
    [
        "--version",
        "check --help",
        "explain add",
        "run saxpy.visaasm",
        "run --trace -- saxpy.visaasm",
        "zeinfo emit saxpy.visaasm",
    ],
)
def test_an_output_that_is_full_is_told_in_one_line(capsys, monkeypatch, line):
    monkeypatch.chdir(EXAMPLES)
    with Path("/dev/full").open("w") as full, redirect_stdout(full):
        assert main(line.split()) == 2
    assert capsys.readouterr().err == "visa-lsp: cannot write to standard output: no space left\n"


@pytest.mark.parametrize(
    "line", ["run --trace -- saxpy.visaasm", "explain add", "check --help", "zeinfo emit saxpy.visaasm"]
)
def test_an_output_that_nobody_reads_is_no_mistake_of_an_input(capsys, monkeypatch, line):
    monkeypatch.chdir(EXAMPLES)
    source, target = os.pipe()
    os.close(source)
    with os.fdopen(target, "w") as pipe, redirect_stdout(pipe):
        assert main(line.split()) == 141
    assert capsys.readouterr().err == ""


def test_errors_that_nobody_reads_change_nothing():
    source, target = os.pipe()
    os.close(source)
    with os.fdopen(os.dup(target), "w", buffering=1) as pipe, redirect_stderr(pipe):
        assert main(["check", "not-there.visaasm"]) == 2
        os.dup2(os.open(os.devnull, os.O_WRONLY), pipe.fileno())


def test_an_interrupt_while_the_program_is_loaded_is_silent(monkeypatch):
    ended = []

    class Interrupted:
        def find_spec(self, name, *_):
            if name == "visa_lsp.cli.main":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "visa_lsp.cli.main")
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    monkeypatch.setattr(os, "_exit", ended.append)
    before = signal.getsignal(signal.SIGINT)
    entry.program()
    signal.signal(signal.SIGINT, before)
    assert ended == [130]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_an_output_that_is_not_finished(tmp_path, number):
    code = """
import signal, sys, time
from pathlib import Path
from visa_lsp.app.output_files import replace_file
signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores it
with replace_file(Path(sys.argv[1])) as stream:
    stream.write(b"half")
    stream.flush()
    print("half", flush=True)
    time.sleep(1000)
"""
    (tmp_path / "out").write_text("before")
    command = [sys.executable, "-c", code, str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == b"half\n"
        process.send_signal(number)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_text() == "before"


def test_where_no_file_is_nameless_an_output_is_whole_all_the_same(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    with replace_file(tmp_path / "out") as stream:
        stream.write(b"all")
        assert len(list(tmp_path.iterdir())) == 1
    assert (tmp_path / "out").read_bytes() == b"all"
    with pytest.raises(KeyError), replace_file(tmp_path / "out") as stream:
        raise KeyError
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
