"""Clients that do what none should: no traceback, one answer for each request, and no process is left."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys

import pytest
from dap_client import Client, Refused
from debugging import ENDLESS, EXAMPLES, ROOT

SAXPY = EXAMPLES / "saxpy.visaasm"


@pytest.fixture
def client():
    with Client() as client:
        yield client


@pytest.fixture
def endless(tmp_path):
    path = tmp_path / "endless.visaasm"
    path.write_text(ENDLESS)
    (tmp_path / "endless.launch.yaml").write_text((EXAMPLES / "saxpy.launch.yaml").read_text())
    return path


def complaints(client):
    """What the process has written to its standard error."""
    assert client.process.stderr is not None
    return client.process.stderr.read().decode()


def test_the_process_ends_with_status_0_when_its_input_ends(client):
    client.ask("initialize")
    client.process.stdin.close()
    assert client.process.wait(timeout=30) == 0
    assert complaints(client) == ""


@pytest.mark.parametrize("how", ["disconnect", "end of input"])
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


def test_requests_before_their_time_are_refused(client):
    for command in ("launch", "threads", "continue", "evaluate", "setBreakpoints", "visaLanes"):
        with pytest.raises(Refused, match="initialize"):
            client.ask(command)
    client.ask("initialize")
    with pytest.raises(Refused, match="was there already"):
        client.ask("initialize")
    for command in ("stackTrace", "next", "evaluate", "scopes", "disassemble", "restart", "stepBack", "continue"):
        with pytest.raises(Refused, match="nothing"):
            client.ask(command, threadId=1, frameId=1, expression="1", memoryReference="0x0", instructionCount=1)
    with pytest.raises(Refused, match="there is no request 'nonsense'"):
        client.ask("nonsense")
    assert client.ends() == 0


@pytest.mark.parametrize(
    "frame",
    [
        b"Content-Length: 5\r\n\r\nhello", b"Content-Length: x\r\n\r\n", b"Content-Length: -4\r\n\r\n", b"X: y\r\n\r\n", b"\r\n\r\n",
        b"Content-Length: 4\r\n\r\nnull", b"Content-Length: 2\r\n\r\n[]", b"Content-Length: 2\r\n\r\n\xff\xfe",
        b"Content-Length: 100000\r\n\r\n" + b"[" * 100_000, b"a" * 40_000 + b"\n\r\n", b"Content-Length: 99999999\r\n\r\n" + b" " * 99999999,
    ],
    ids=lambda frame: repr(frame[:30]),
)  # fmt: skip
def test_broken_frames_are_told_and_survived(client, frame):
    client.raw(frame)
    assert client.ask("initialize")["supportsStepBack"]
    assert client.ends() == 0
    assert complaints(client) == ""


def test_a_frame_that_is_cut_off_ends_the_process(client):
    client.raw(b"Content-Length: 1000\r\n\r\n{")
    client.process.stdin.close()
    assert client.process.wait(timeout=30) == 0


def test_a_request_that_was_cancelled_before_its_turn_is_not_carried_out(client, endless):
    client.start(endless, checks="none", stopOnEntry=True)
    client.stop()
    data = b""
    for number, command, arguments in (
        (100, "visaLanes", {"threadId": 1}), (101, "evaluate", {"expression": "1"}), (102, "cancel", {"requestId": 101}),
    ):  # fmt: skip
        message = json.dumps({"seq": number, "type": "request", "command": command, "arguments": arguments}).encode()
        data += b"Content-Length: %d\r\n\r\n%s" % (len(message), message)
    client.raw(data)
    client.answer(100)
    with contextlib.suppress(Refused):  # it may have been answered before, which is no mistake either
        assert client.answer(101)["result"] == "1"
    client.answer(102)


def test_a_pause_right_behind_a_restart_is_about_the_new_run(client, endless):
    client.start(endless, checks="none")
    client.event("process")
    for command in ("restart", "pause"):
        client.send(command)
    assert client.stop()["reason"] == "pause"


def test_a_run_in_which_what_is_watched_never_changes_can_be_paused(client, endless):
    client.start(endless, checks="none", stopOnEntry=True)
    client.stop()
    said = client.ask("dataBreakpointInfo", name="group_base")
    client.go("next")
    client.ask("setDataBreakpoints", breakpoints=[{"dataId": said["dataId"], "accessType": "change"}])
    client.ask("continue", threadId=1)
    client.ask("pause", threadId=1)
    assert client.stop()["reason"] == "pause"


def test_messages_by_chance_have_one_answer_each_and_leave_nothing_behind():
    """The same with more of them: python -m benchmarks.fuzz_dap."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.fuzz_dap", "--count", "3000", "--seed", "106"],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
