"""The answer to ``initialize``: once, before everything else, whatever a client sends before it."""

from __future__ import annotations

import gc
import io
import os
import subprocess
from typing import Any

import pytest
from lsp_client import SERVER, framed, parted
from tiers import first

from visa_lsp import __version__
from visa_lsp.lsp.server import create_server

PLAIN: dict[str, Any] = {"capabilities": {}}
PULLING: dict[str, Any] = {"capabilities": {"textDocument": {"diagnostic": {"dynamicRegistration": True}}}}
DOWN = [{"id": 77, "method": "shutdown"}, {"method": "exit"}]


def talk_to_process(folder, *messages: dict[str, Any], raw: bytes = b"") -> tuple[list[dict[str, Any]], int, str]:
    """Everything that a server says to some messages, its exit status, and its standard error."""
    sent = raw + b"".join(map(framed, messages))
    env = {**os.environ, "VISA_LSP_CACHE": str(folder)}
    done = subprocess.run(SERVER, input=sent, capture_output=True, env=env, timeout=120, check=False)
    return parted(done.stdout), done.returncode, done.stderr.decode()


@pytest.fixture
def talk(caplog):
    """Return the same of a server in this process, with its log for the standard error."""

    def talk(*messages: dict[str, Any], raw: bytes = b"") -> tuple[list[dict[str, Any]], int, str]:
        sent, said = io.BytesIO(raw + b"".join(map(framed, messages))), io.BytesIO()
        server, thresholds = create_server(__version__), gc.get_threshold()
        caplog.clear()
        try:
            server.start_io(sent, said)
        finally:
            gc.set_threshold(*thresholds)
        return parted(said.getvalue()), server.exit_code, caplog.text

    return talk


def hello(params: dict[str, Any], number: object = 1) -> dict[str, Any]:
    return {"id": number, "method": "initialize", "params": params}


def answers(said: list[dict[str, Any]], number: object = 1) -> list[dict[str, Any]]:
    return [m for m in said if m.get("id") == number and ("result" in m or "error" in m)]


@pytest.mark.parametrize(("params", "number"), [(PLAIN, 0), (PULLING, "a"), ({**PLAIN, "rootUri": "file:///x"}, "")])
def test_a_greeting_is_answered_once_and_first(talk, params, number):
    said, status, errors = talk(hello(params, number), *DOWN)
    assert said[0] == answers(said, number)[0]
    assert said[0]["result"]["serverInfo"] == {"name": "visa-lsp", "version": __version__}
    assert (len(answers(said, number)), status, errors) == (1, 0, "")
    assert [m for m in said if m.get("id") == 77] == [{"id": 77, "jsonrpc": "2.0", "result": None}]


def test_another_client_is_another_answer(talk):
    first, _, _ = talk(hello(PLAIN), *DOWN)
    second, _, _ = talk(hello({"capabilities": {"general": {"positionEncodings": ["utf-8"]}}}), *DOWN)
    assert answers(second)[0]["result"]["capabilities"]["positionEncoding"] == "utf-8"
    assert answers(first)[0]["result"]["capabilities"].get("positionEncoding", "utf-16") == "utf-16"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n",
        b"Content-Length: 0\r\n\r\n",
        b"Content-Length: 99999999999\r\n\r\n",
        b"Content-Length: 5\r\n\r\n[1,2]",
        b"x" * 5000,
        b"x" * 5000 + b"\r\n\r\n",
        framed({"id": True, "method": "initialize", "params": {}}),
        framed({"id": 5, "method": "initialize", "params": []}),
        framed({"id": 5, "method": "shutdown"}),
    ],
)
def test_nothing_before_the_greeting_harms(talk, raw):
    _, status, errors = talk(raw=raw)
    assert "internal error" not in errors
    assert status in {0, 1}
    if raw.startswith(b"Content-Length: 5\r") or raw in {b"", b"\n"}:
        said, status, _ = talk(hello(PLAIN), *DOWN, raw=raw)
        assert (len(answers(said)), status) == (1, 0)


@pytest.mark.parametrize(
    "raw", first(1, [b"x" * 5000, b"Content-Length: 5\r\n\r\n[1,2]", b"", b"Content-Length: 0\r\n\r\n"])
)
def test_a_process_survives_what_comes_before_the_greeting(tmp_path, raw):
    _, status, errors = talk_to_process(tmp_path, raw=raw)
    assert ("Traceback" in errors, status) == (False, 1)


def test_a_greeting_twice_is_refused_once(talk):
    for number in (1, 2):
        said, _, _ = talk(hello(PLAIN), hello(PLAIN, number), *DOWN)
        assert [["result" in a, "error" in a] for a in said[:2]] == [[True, False], [False, True]]
        assert [a["id"] for a in said[:2]] == [1, number]


def test_a_cancelled_greeting_is_answered_once(talk):
    cancel = {"method": "$/cancelRequest", "params": {"id": 1}}
    said, status, _ = talk(hello(PLAIN), cancel, *DOWN)
    assert (len(answers(said)), "result" in answers(said)[0], status) == (1, True, 0)


@pytest.mark.parametrize(
    "first",
    [
        {"id": 1, "method": "initialize"},
        hello({}),
        hello({"capabilities": []}),
        {"id": 1.5, "method": "initialize", "params": PLAIN},
        {"id": None, "method": "initialize", "params": PLAIN},
        {"method": "initialize", "params": PLAIN},
        {"id": 1, "method": "textDocument/hover", "params": PLAIN},
    ],
)
def test_what_is_odd_is_left_to_the_server(talk, first):
    said, status, _ = talk(first, hello(PLAIN, "then"), *DOWN)
    assert (len(answers(said, "then")), "result" in answers(said, "then")[0], status) == (1, True, 0)
    assert ["error" in m for m in said if m.get("id") != "then" and m.get("id") != 77] == [True] * ("id" in first)


def test_a_client_that_errs_in_a_detail_is_served(talk):
    odd = {"capabilities": {"workspace": {"symbol": {"symbolKind": {"valueSet": ["new"]}}}}, "rootUri": "http://["}
    said, status, errors = talk(hello(odd), *DOWN)
    assert (len(answers(said)), "result" in answers(said)[0], status) == (1, True, 0)
    assert "ignored malformed client capabilities" in errors
