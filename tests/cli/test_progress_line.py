"""How far long work is, on a terminal: counts that go when the work is done, and nothing anywhere else."""

import io
import re
import shutil
from contextlib import redirect_stderr
from pathlib import Path

import pytest

from visa_lsp.cli import progress_line
from visa_lsp.cli.main import main
from visa_lsp.sim.machine import Machine

EXAMPLES = Path(__file__).parents[2] / "examples"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def typed(here, monkeypatch):
    """Give what a command writes to a stderr, where every piece of work takes long."""
    shutil.copytree(EXAMPLES, here, dirs_exist_ok=True)
    monkeypatch.setattr(progress_line, "_DELAY_SECONDS", 0)
    monkeypatch.setattr(progress_line, "_UPDATE_SECONDS", 0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)

    def call(*argv, stderr=None):
        with redirect_stderr(stderr or Terminal()) as stream:
            main(list(argv))
        return stream.getvalue()

    return call


def shown(text):
    """Return the lines that were there for a time, and what is left in the end."""
    *lines, rest = re.split(r"\r", text)
    return [line.removesuffix("\033[K") for line in lines if line], rest


def test_a_run_tells_groups_and_steps(typed, capsys):
    lines, rest = shown(typed("run", "saxpy.visaasm"))
    lines = [line for line in lines if "running" not in line]
    assert lines[0] == "saxpy.visaasm: 0 of 7 groups, 12 steps"
    assert lines[-1] == "saxpy.visaasm: 7 of 7 groups, 84 steps"
    assert rest == "\033[K"
    assert "visaasm: 7 of" not in capsys.readouterr().out


def test_work_without_counts_tells_the_time(monkeypatch):
    monkeypatch.setattr(progress_line, "_DELAY_SECONDS", 0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with redirect_stderr(Terminal()) as stream, progress_line.Progress("k.cl: compiling"):
        while not stream.getvalue():
            pass
    assert shown(stream.getvalue()) == (["k.cl: compiling, 0 s"], "\033[K")


def test_a_check_tells_files_and_findings(typed):
    Path("bad.visaasm").write_text('.version 4.1\n.kernel "k"\n    mov (M1, 1) a(0,0)<1> b(0,0)<0;1,0>\n')
    lines, rest = shown(typed("check", ".", "--jobs", "1"))
    assert [line.partition(",")[0] for line in lines] == [f"{n} of 4 files" for n in range(1, 5)]
    assert lines[0].endswith(", 0 findings")
    assert re.fullmatch(r"4 of 4 files, [1-9] findings?", lines[-1])
    assert rest == "\033[K"


@pytest.mark.parametrize("argv", [("run", "saxpy.visaasm"), ("check", ".")])
def test_nothing_is_told_where_nobody_looks(typed, monkeypatch, argv):
    assert typed(*argv, stderr=io.StringIO()) == ""
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as context:
            context.setenv(name, value)
            assert typed(*argv) == ""
    assert typed(*argv) != ""
    monkeypatch.setattr(progress_line, "_DELAY_SECONDS", 1000)
    assert typed(*argv) == ""


def test_a_long_line_is_cut_and_controls_are_no_escapes(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with redirect_stderr(Terminal()) as terminal, progress_line.Progress() as line:
        line.show("a\033[31mb" + "x" * 100)
    assert terminal.getvalue() == "\ra\N{REPLACEMENT CHARACTER}[31mb" + "x" * 12 + "\033[K" + "\r\033[K"


def test_the_interpreter_asks_no_more_than_once_for_many_instructions(typed, monkeypatch):
    calls = []
    spend = Machine.spend
    monkeypatch.setattr(Machine, "spend", lambda self, steps: (calls.append(steps), spend(self, steps))[1])
    text = typed("run", "mandelbrot.visaasm")
    assert "15 of 15 groups" in text
    assert len(calls) <= 60 + sum(calls) // 20_000  # a thread, or as many instructions as it may have in a row
