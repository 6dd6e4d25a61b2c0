"""The script ends as ``main`` says, with all that was written, and with what libraries do at the end."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

START = "import sys, atexit; from visa_lsp.cli.main import program; {before}; program()"
GOOD = '.version 4.1\n.kernel "k"\n    ret (M1, 1)\n'
WRONG = '.version 4.1\n.kernel "k"\n' + "    nonsense (M1, 1)\n" * 300


def ended(*argv: str, before: str = "pass", **how) -> subprocess.CompletedProcess[str]:
    code = START.format(before=before)
    words = [sys.executable, "-c", code, *argv]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, **how)


@pytest.mark.parametrize(("text", "status"), [(GOOD, 0), (WRONG, 1)])
def test_the_status_and_the_whole_output_are_those_of_main(text, status, tmp_path):
    (tmp_path / "k.visaasm").write_text(text, encoding="utf-8")
    done = ended("check", "k.visaasm", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (status, "")
    assert done.stdout.count("unknown-mnemonic") == text.count("nonsense")


def test_a_mistake_of_the_user_is_two():
    done = ended("asm", "there-is-none.visaasm")
    assert done.returncode == 2
    assert "there-is-none.visaasm" in done.stderr


def test_what_was_registered_for_the_end_is_done():
    done = ended("--version", before="atexit.register(print, 'the end')")
    assert done.returncode == 0
    assert done.stdout.endswith("the end\n")


def test_the_work_of_another_thread_is_waited_for():
    before = "import threading, time; threading.Thread(target=lambda: (time.sleep(0.5), print('done'))).start()"
    done = ended("--version", before=before)
    assert done.returncode == 0
    assert done.stdout.endswith("done\n")


def test_a_pipe_that_closes_is_no_traceback(tmp_path):
    (tmp_path / "k.visaasm").write_text(WRONG * 2, encoding="utf-8")
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-c", START.format(before="pass"), "check", "k.visaasm"],
            cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60, check=False,
        )  # fmt: skip
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")
