"""Clients that do what none should: no traceback, one answer for each request, and no process is left."""

from __future__ import annotations

import contextlib
import json
import random

import pytest
from dap_client import Client, Refused
from debugging import EXAMPLES

SAXPY = EXAMPLES / "saxpy.visaasm"
ENDLESS = (
    SAXPY.read_text()
    .replace("    mul (M1_NM, 1)", "again:\n    mul (M1_NM, 1)", 1)
    .replace("done:", "    jmp (M1, 1) again\ndone:")
)


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


JUNK = (
    None,
    True,
    -1,
    0,
    3,
    2**70,
    1.5,
    "",
    "x",
    "index",
    "\u0000",
    "a" * 5000,
    [],
    [1],
    [{}],
    {},
    {"path": 3},
    {"hex": 1},
)
COMMANDS = (
    "initialize", "launch", "attach", "setBreakpoints", "setFunctionBreakpoints", "setInstructionBreakpoints", "setDataBreakpoints",
    "setExceptionBreakpoints", "breakpointLocations", "dataBreakpointInfo", "threads", "stackTrace", "scopes", "variables", "evaluate",
    "setVariable", "setExpression", "completions", "source", "loadedSources", "exceptionInfo", "readMemory", "writeMemory",
    "disassemble", "gotoTargets", "goto", "next", "stepIn", "stepOut", "stepBack", "reverseContinue", "pause", "cancel",
    "visaLanes", "visaRunAlone", "visaRunToBarrier", "visaLastWrite", "modules", "", 7,
)  # fmt: skip
NAMES = (
    "program", "source", "breakpoints", "filters", "filterOptions", "threadId", "frameId", "variablesReference", "expression", "name",
    "value", "format", "start", "count", "filter", "text", "column", "line", "endLine", "memoryReference", "offset", "data",
    "instructionCount", "instructionOffset", "targetId", "granularity", "singleThread", "dataId", "accessType", "requestId", "bytes",
)  # fmt: skip


def test_every_message_of_junk_has_one_answer_in_words(client):
    client.start(SAXPY, stopOnEntry=True)
    client.stop()
    chance = random.Random(22)
    sent = 600
    for number in range(1000, 1000 + sent):
        arguments = {name: chance.choice(JUNK) for name in chance.sample(NAMES, chance.randrange(9))}
        arguments = chance.choice([arguments, arguments, arguments, None, [], 4])
        client.message({"seq": number, "type": "request", "command": chance.choice(COMMANDS), "arguments": arguments})
    for number in range(1000, 1000 + sent):
        with contextlib.suppress(Refused):
            client.answer(number)
    assert client.ends() == 0
    assert complaints(client) == ""
