"""Programs that hang, crash, flood and leave children behind: what is left of them, and in which words."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from fake_tools import fake_tool

from visa_lsp.toolchain import process
from visa_lsp.toolchain.find_tools import FINALIZER, OCLOC, find_tool
from visa_lsp.toolchain.process import ToolError, run_program


def is_running(pid):
    """Whether a process is there and is no zombie that nobody has waited for."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def gone(pid):
    """Wait for the end of a process that was killed."""
    for _ in range(1000):
        if not is_running(pid):
            return True
        time.sleep(0.01)
    return False


def test_both_streams_are_read_as_one_and_the_status_is_told(tmp_path):
    tool = fake_tool(tmp_path, 'print("out", flush=True); print("err", file=sys.stderr); sys.exit(7)')
    ran = run_program([tool], tmp_path, 60)
    assert ran.said.split() == ["out", "err"]
    assert (ran.status, ran.failure) == (7, "")


def test_a_program_reads_nothing_from_us(tmp_path):
    ran = run_program([fake_tool(tmp_path, "print(repr(sys.stdin.read()))")], tmp_path, 60)
    assert ran.said.strip() == "''"


def test_arguments_pass_no_shell(tmp_path):
    words = ["$(touch evil)", "; touch evil", "a b", "*"]
    ran = run_program([fake_tool(tmp_path, "print(sys.argv[1:])"), *words], tmp_path, 60)
    assert ran.said.strip() == repr(words)
    assert not (tmp_path / "evil").exists()


def test_a_crash_is_told_in_words(tmp_path):
    ran = run_program([fake_tool(tmp_path, "os.kill(os.getpid(), signal.SIGSEGV)")], tmp_path, 60)
    assert ran.failure == "crashed (segmentation fault)"


def test_a_program_that_hangs_is_ended_with_all_that_it_has_started(tmp_path):
    tool = fake_tool(
        tmp_path,
        """
        child = subprocess.Popen(["sleep", "1000"])
        print(child.pid, flush=True)
        time.sleep(1000)
        """,
    )
    ran = run_program([tool], tmp_path, 1.5)
    assert ran.failure == "did not end within 1.5 seconds"
    assert gone(int(ran.said))


def test_a_child_that_outlives_the_program_is_ended(tmp_path):
    ran = run_program([fake_tool(tmp_path, 'print(subprocess.Popen(["sleep", "1000"]).pid)')], tmp_path, 60)
    assert ran.failure == ""
    assert gone(int(ran.said))


def test_a_program_that_nobody_waits_for_is_ended(tmp_path):
    asked = threading.Event()
    asked.set()
    ran = run_program([fake_tool(tmp_path, "time.sleep(1000)")], tmp_path, 60, stop=asked.is_set)
    assert ran.failure == "was cancelled"


def test_a_flood_of_words_is_cut_and_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "MAX_OUTPUT_BYTES", 1 << 16)
    ran = run_program([fake_tool(tmp_path, 'while True: print("x" * 1000)')], tmp_path, 60)
    assert ran.failure.startswith("printed more than")
    assert len(ran.said) == 1 << 16


def test_a_flood_of_files_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "MAX_WRITTEN_BYTES", 1 << 20)
    tool = fake_tool(tmp_path / "bin", 'f = open("big", "wb")\nwhile True: f.write(bytes(1 << 16))')
    folder = tmp_path / "work"
    folder.mkdir()
    assert run_program([tool], folder, 60).failure.startswith("wrote more than")


@pytest.mark.parametrize("name", ["not-there", "."])
def test_what_cannot_be_started_is_said(tmp_path, name):
    with pytest.raises(ToolError, match="cannot start"):
        run_program([str(tmp_path / name)], tmp_path, 60)


def test_an_interrupt_leaves_nothing_running(tmp_path):
    """Ctrl+C reaches us and not the tool, which has a group of its own: it is ended all the same."""
    tool = fake_tool(tmp_path / "bin", f'open(r"{tmp_path}/pid", "w").write(str(os.getpid())); time.sleep(1000)')
    text = tmp_path / "k.visaasm"
    text.write_text('.version 4.1\n.kernel "k"\n    ret (M1, 1)\n')
    ours = subprocess.Popen(
        [sys.executable, "-m", "visa_lsp", "gen", str(text), "--tool", tool], stderr=subprocess.PIPE
    )
    for _ in range(3000):
        if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text():
            break
        time.sleep(0.01)
    ours.send_signal(signal.SIGINT)
    _, said = ours.communicate(timeout=60)
    assert (ours.returncode, said) == (130, b"")
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_tool_is_found_by_name_or_path_and_the_way_to_get_it_is_told(tmp_path, monkeypatch):
    tool = fake_tool(tmp_path, "", FINALIZER.program)
    assert find_tool(FINALIZER, tool) == tool
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_tool(FINALIZER) == tool
    with pytest.raises(ToolError, match=r"apt-get install intel-opencl-icd.*--ocloc PATH"):
        find_tool(OCLOC)
    Path(tool).chmod(0o600)
    with pytest.raises(ToolError, match="cannot be executed"):
        find_tool(FINALIZER, tool)
    with pytest.raises(ToolError, match="does not exist"):
        find_tool(FINALIZER, str(tmp_path / "none"))
    with pytest.raises(ToolError, match="is a folder"):
        find_tool(FINALIZER, str(tmp_path))
