"""Clients that do what none should: no traceback, one answer for each request, and no process is left."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys

import pytest
from dap_client import Client, ClientHere, Refused
from debugging import ENDLESS, EXAMPLES, ROOT
from tiers import first


@pytest.fixture
def client():
    with Client() as client:
        yield client


@pytest.fixture
def here():
    with ClientHere() as client:
        yield client


@pytest.fixture
def endless(tmp_path):
    path = tmp_path / "endless.visaasm"
    path.write_text(ENDLESS)
    (tmp_path / "endless.launch.yaml").write_text((EXAMPLES / "saxpy.launch.yaml").read_text())
    return path


def complaints(client):
    """Return the output of the process on standard error."""
    assert client.process.stderr is not None
    return client.process.stderr.read().decode()


@pytest.mark.parametrize("how", first(1, ["end of input", "disconnect"]))
def test_a_run_that_never_ends_is_left_within_seconds(client, endless, how):
    client.start(endless, checks="none")
    if how == "disconnect":
        assert client.ends() == 0
    else:
        client.process.stdin.close()
        assert client.process.wait(timeout=30) == 0
    assert complaints(client) == ""


def test_a_run_can_be_paused_looked_at_and_ended(client, endless):
    client.start(endless, checks="none")
    with pytest.raises(Refused, match="the kernel is running"):
        client.ask("stackTrace", threadId=1)
    assert client.ask("threads")["threads"]
    client.ask("pause", threadId=1)
    assert client.stop()["reason"] == "pause"
    assert client.top()["line"] > 0
    client.ask("continue", threadId=1)
    line = ENDLESS.splitlines().index(next(x for x in ENDLESS.splitlines() if "shl (M1, 16)" in x)) + 1
    client.ask("setBreakpoints", source={"path": str(endless)}, breakpoints=[{"line": line}])
    assert client.stop()["reason"] == "breakpoint"
    client.ask("terminate")
    client.event("terminated")
    assert client.ends() == 0


def test_requests_before_their_time_are_refused(here):
    for command in ("launch", "threads", "continue", "evaluate", "setBreakpoints", "visaLanes"):
        with pytest.raises(Refused, match="initialize"):
            here.ask(command)
    here.ask("initialize")
    with pytest.raises(Refused, match="was sent already"):
        here.ask("initialize")
    for command in ("stackTrace", "next", "evaluate", "scopes", "disassemble", "restart", "stepBack", "continue"):
        with pytest.raises(Refused, match="no program is launched"):
            here.ask(command, threadId=1, frameId=1, expression="1", memoryReference="0x0", instructionCount=1)
    with pytest.raises(Refused, match="unknown request 'nonsense'"):
        here.ask("nonsense")
    assert here.ends() == 0


@pytest.mark.parametrize(
    "frame",
    [
        b"Content-Length: 5\r\n\r\nhello", b"Content-Length: x\r\n\r\n", b"Content-Length: -4\r\n\r\n", b"X: y\r\n\r\n", b"\r\n\r\n",
        b"Content-Length: 4\r\n\r\nnull", b"Content-Length: 2\r\n\r\n[]", b"Content-Length: 2\r\n\r\n\xff\xfe",
        b"Content-Length: 100000\r\n\r\n" + b"[" * 100_000, b"a" * 40_000 + b"\n\r\n", b"Content-Length: 70000000\r\n\r\n",
    ],
    ids=lambda frame: repr(frame[:30]),
)  # fmt: skip
def test_broken_frames_are_told_and_survived(here, frame):
    here.raw(frame)
    if b"70000000" in frame:  # more than a message may have: it is all sent, and passed over
        for _ in range(70):
            here.raw(b" " * 1_000_000)
    assert here.ask("initialize")["supportsStepBack"]
    assert here.ends() == 0
    assert ("cannot read" in here.output()) is (frame != b"\r\n\r\n")


def test_a_process_survives_a_broken_frame_in_silence(client):
    client.raw(b"Content-Length: 5\r\n\r\nhello")
    assert client.ask("initialize")["supportsStepBack"]
    assert client.ends() == 0
    assert complaints(client) == ""


@pytest.mark.full
def test_a_frame_that_is_cut_off_ends_the_process(client):
    client.raw(b"Content-Length: 1000\r\n\r\n{")
    client.process.stdin.close()
    assert client.process.wait(timeout=30) == 0


def test_a_request_that_was_cancelled_before_its_turn_is_not_carried_out(here, endless):
    here.start(endless, checks="none", stopOnEntry=True)
    here.stop()
    data = b""
    for number, command, arguments in (
        (100, "visaLanes", {"threadId": 1}), (101, "evaluate", {"expression": "1"}), (102, "cancel", {"requestId": 101}),
    ):  # fmt: skip
        message = json.dumps({"seq": number, "type": "request", "command": command, "arguments": arguments}).encode()
        data += b"Content-Length: %d\r\n\r\n%s" % (len(message), message)
    here.raw(data)
    here.answer(100)
    with contextlib.suppress(Refused):  # it may have been answered before, which is no mistake either
        assert here.answer(101)["result"] == "1"
    here.answer(102)


def test_a_pause_right_behind_a_restart_is_about_the_new_run(here, endless):
    here.start(endless, checks="none")
    here.event("process")
    for command in ("restart", "pause"):
        here.send(command)
    assert here.stop()["reason"] == "pause"


def test_a_run_in_which_what_is_watched_never_changes_can_be_paused(here, endless):
    here.start(endless, checks="none", stopOnEntry=True)
    here.stop()
    said = here.ask("dataBreakpointInfo", name="group_base")
    here.go("next")
    here.ask("setDataBreakpoints", breakpoints=[{"dataId": said["dataId"], "accessType": "change"}])
    here.ask("continue", threadId=1)
    here.ask("pause", threadId=1)
    assert here.stop()["reason"] == "pause"


@pytest.mark.full
@pytest.mark.parametrize("count", [200, 3000])
def test_messages_by_chance_have_one_answer_each_and_leave_nothing_behind(count):
    """The same with more of them: python -m benchmarks.fuzz_dap."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.fuzz_dap", "--count", str(count), "--seed", "106"],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
