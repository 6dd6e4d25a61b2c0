"""No child process and no temporary folder outlives its parent, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import lines_of, wait_for_end

from benchmarks.attack.core import patiently
from visa_lsp import children

SLEEPS = "import os, time; print(os.getpid(), flush=True); time.sleep(1000)"

# Each prints the numbers of the processes that it starts, and then waits for ever.
POOL = r"""
import os, time
from visa_lsp.app.parallel import in_processes
def work(piece):
    os.write(1, f"{os.getpid()}\n".encode())
    time.sleep(1000)
list(in_processes(work, [1, 2], 2))
"""
MODULE = f"""
import subprocess, sys, time
from pathlib import Path
Path("child.py").write_text("from visa_lsp.children import end_with_parent; end_with_parent(); {SLEEPS}")
from visa_lsp.children import command_of
command = command_of("child")
command.remove("-P")
subprocess.Popen(command).wait()
"""
TOOL = f"""
import sys
from pathlib import Path
from visa_lsp.children import temporary_folder
from visa_lsp.toolchain.process import run_program
with temporary_folder() as folder:
    said = Path(sys.argv[1])
    shell = f"echo $$ >> {{said}}; {{sys.executable}} -c '{SLEEPS}' >> {{said}} & wait"
    print(folder, flush=True)
    run_program(["/bin/sh", "-c", shell], folder, 1000)
"""
SIGNALS = [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL] if sys.platform != "win32" else [signal.SIGTERM]


@pytest.fixture
def parent(tmp_path):
    """Start a program in an empty folder."""
    started = []

    def start(program: str, *words: str, stdin: int | None = None) -> subprocess.Popen[str]:
        path = [str(Path(children.__file__).parents[1]), str(tmp_path)]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "TMPDIR": str(tmp_path)}
        command = [sys.executable, "-c", program, *words]
        started.append(subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=env))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_pool_ends_with_its_parent(parent, number):
    process = parent(POOL)
    workers = [int(process.stdout.readline()) for _ in range(2)]
    process.send_signal(number)
    assert process.wait() == -number
    assert wait_for_end(workers)


def test_a_module_that_runs_as_a_child_ends_with_its_parent(parent):
    process = parent(MODULE)
    child = int(process.stdout.readline())
    process.kill()
    assert wait_for_end([child])


@pytest.mark.parametrize("number", SIGNALS)
def test_a_program_of_others_its_children_and_its_folder_go_with_us(parent, tmp_path, number):
    said = tmp_path / "said"
    process = parent(TOOL, str(said))
    folder = Path(process.stdout.readline().strip())
    numbers = [int(line) for line in lines_of(said, 2)]
    assert folder.is_dir()
    process.send_signal(number)
    assert process.wait() == -number
    assert wait_for_end(numbers)
    assert patiently(lambda: not folder.exists())


def test_where_the_system_tells_nothing_a_thread_looks(parent):
    program = MODULE.replace(
        "end_with_parent();", "import visa_lsp.children as c; c._end_with_parent_by_system = bool; c.end_with_parent();"
    )
    program = program.replace("from visa_lsp.children import import", "import")
    process = parent(program)
    child = int(process.stdout.readline())
    process.kill()
    assert wait_for_end([child])


def test_a_child_that_begins_when_its_parent_has_ended_ends(parent):
    nobody = subprocess.Popen([sys.executable, "-c", ""])
    nobody.wait()
    process = parent(f"from visa_lsp.children import end_with_parent; end_with_parent({nobody.pid}); print('goes on')")
    assert process.communicate()[0] == ""
    assert process.returncode == 1


def test_a_fork_that_ends_leaves_the_folder_to_its_parent(parent):
    program = """
import atexit, os
from visa_lsp import children
with children.temporary_folder() as folder:
    if not (child := os.fork()):
        atexit._run_exitfuncs()
        os._exit(0)
    os.waitpid(child, 0)
    print(folder.is_dir(), children._keeper._process.poll())
"""
    assert parent(program).communicate()[0] == "True None\n"


def test_a_folder_is_private_and_gone_afterwards_and_so_is_the_keeper(parent, tmp_path):
    program = """
from visa_lsp import children
with children.temporary_folder() as folder:
    print(folder.stat().st_mode & 0o077, children._keeper._process.pid)
    (folder / "file").write_text("x")
"""
    process = parent(program)
    mode, keeper = process.communicate()[0].split()
    assert process.returncode == 0
    assert mode == "0"
    assert wait_for_end([int(keeper)])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_a_killed_keeper_is_replaced(parent, tmp_path):
    said = tmp_path / "said"
    program = f"""
import os, signal, sys, threading
from visa_lsp import children
def work():
    exec({TOOL!r}, globals())
threading.Thread(target=work, daemon=True).start()
sys.stdin.readline()
os.kill(children._keeper._process.pid, signal.SIGKILL)
children._keeper._process.wait()
"""
    process = parent(program, str(said), stdin=subprocess.PIPE)
    folder = Path(process.stdout.readline().strip())
    numbers = [int(line) for line in lines_of(said, 2)]
    process.communicate("\n")
    assert wait_for_end(numbers)
    assert patiently(lambda: not folder.exists())


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked")
def test_the_next_start_removes_what_a_killed_process_and_its_keeper_left(parent, tmp_path):
    program = """
import os, sys, time
from visa_lsp import children
with children.temporary_folder() as folder:
    os.utime(folder, (0, 0))
    print(folder, children._keeper._process.pid, flush=True)
    sys.stdin.readline()
    print(sorted(os.listdir(folder.parent)), flush=True)
"""
    killed, living = parent(program, stdin=subprocess.PIPE), parent(program, stdin=subprocess.PIPE)
    folder, keeper = killed.stdout.readline().split()
    kept, _ = living.stdout.readline().split()
    os.kill(int(keeper), signal.SIGKILL)
    killed.kill()
    killed.wait()
    assert Path(folder).is_dir()
    other = parent(program, stdin=subprocess.PIPE)
    own, _ = other.stdout.readline().split()
    assert sorted(tmp_path.iterdir()) == sorted([Path(kept), Path(own)])
    other.communicate("\n")
    living.communicate("\n")
    assert list(tmp_path.iterdir()) == []
