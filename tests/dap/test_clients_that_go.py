"""Clients that go without a word: whatever pipe they close, and whatever the adapter does then, its process ends with status 0."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from debugging import ENDLESS, EXAMPLES

SECONDS = 30  # a generous "within seconds": a busy machine is no fault, a process that stays is
SMALL = (EXAMPLES / "saxpy.launch.yaml").read_text()
LARGE = SMALL.replace("[100]", "[8000000]")
LONG = "+".join(["sum(x*x)"] * 220)  # some seconds on eight million elements


class Peer:
    """A client that reads only when it is told to: nobody holds a pipe that it closes."""

    def __init__(self, folder):
        (folder / "endless.visaasm").write_text(ENDLESS)
        (folder / "endless.launch.yaml").write_text(SMALL)
        os.mkfifo(folder / "silent.visaasm")
        self.folder = folder
        self.seq = 0
        self.process = subprocess.Popen(
            [sys.executable, "-m", "visa_lsp", "dap"],
            bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def send(self, command, **arguments):
        self.seq += 1
        message = {"seq": self.seq, "type": "request", "command": command, "arguments": arguments}
        data = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))

    def until(self, words):
        """Read until these words have come."""
        read = b""
        while words not in read:
            part = os.read(self.process.stdout.fileno(), 1 << 16)
            assert part, read
            read += part

    def launch(self, program="endless.visaasm", **more):
        self.send("initialize")
        self.send("launch", program=str(self.folder / program), checks="none", **more)

    def begin(self, **more):
        self.launch(**more)
        self.send("configurationDone")


def before_the_first_message(peer):
    del peer


def after_initialize(peer):
    peer.send("initialize")
    peer.until(b'"initialized"')


def in_a_launch_that_finds_no_program(peer):
    peer.launch("none.visaasm")


def in_a_launch_whose_file_gives_nothing(peer):
    peer.launch("silent.visaasm")
    peer.until(b'"initialized"')


def in_a_run(peer):
    peer.begin()
    peer.until(b'"process"')


def at_a_stop(peer):
    peer.begin(stopOnEntry=True)
    peer.until(b'"stopped"')


def in_a_run_back(peer):
    peer.begin(stopOnEntry=True)
    peer.until(b'"stopped"')
    peer.send("continue", threadId=1)
    peer.send("pause", threadId=1)
    peer.until(b'"pause"')
    peer.send("reverseContinue", threadId=1)


def in_a_long_evaluation(peer):
    (peer.folder / "endless.launch.yaml").write_text(LARGE)
    peer.begin(stopOnEntry=True)
    peer.until(b'"stopped"')
    peer.send("evaluate", expression=LONG)


def with_answers_unread(peer):
    """More answers than a pipe holds: the adapter waits for somebody who takes them."""
    peer.begin(stopOnEntry=True)
    peer.until(b'"stopped"')
    for _ in range(200):
        peer.send("visaLanes", threadId=1)


MOMENTS = (
    before_the_first_message, after_initialize, in_a_launch_that_finds_no_program, in_a_launch_whose_file_gives_nothing,
    in_a_run, at_a_stop, in_a_run_back, in_a_long_evaluation, with_answers_unread,
)  # fmt: skip


# By default each pipe, and both, once.
CLOSED = (("stdin",), ("stdout",), ("stdin", "stdout"))
NEEDED = {
    (at_a_stop, 2), (in_a_run_back, 0), (with_answers_unread, 1),
}  # fmt: skip
CASES = [
    pytest.param(moment, closed, id=f"{moment.__name__}-{' and '.join(closed)}", marks=() if (moment, n) in NEEDED else pytest.mark.full)
    for moment in MOMENTS
    for n, closed in enumerate(CLOSED)
]  # fmt: skip


@pytest.mark.parametrize(("moment", "closed"), CASES)
def test_the_process_ends_in_silence_when_its_client_closes(tmp_path, moment, closed):
    peer = Peer(tmp_path)
    process = peer.process
    try:
        moment(peer)
        for name in closed:
            getattr(process, name).close()
        assert process.wait(timeout=SECONDS) == 0
        assert process.stderr.read() == b""
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()
