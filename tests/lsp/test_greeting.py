"""The answer to ``initialize`` from memory: the same as the server's own, once, and only to the same client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

SERVER = (sys.executable, "-c", "from visa_lsp.cli.main import main; raise SystemExit(main())")
PLAIN: dict[str, Any] = {"capabilities": {}}
PULLING: dict[str, Any] = {"capabilities": {"textDocument": {"diagnostic": {"dynamicRegistration": True}}}}
DOWN = [{"id": 77, "method": "shutdown"}, {"method": "exit"}]


def framed(message: dict[str, Any]) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def talk(folder, *messages: dict[str, Any], raw: bytes = b"") -> tuple[list[dict[str, Any]], int, str]:
    """Everything that a server says to some messages, its exit status, and its standard error."""
    sent = raw + b"".join(map(framed, messages))
    env = {**os.environ, "VISA_LSP_CACHE": str(folder)}
    done = subprocess.run(SERVER, input=sent, capture_output=True, env=env, timeout=120, check=False)
    said, rest = [], done.stdout
    while rest:
        head, _, rest = rest.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split()[0])
        said.append(json.loads(rest[:length]))
        rest = rest[length:]
    return said, done.returncode, done.stderr.decode()


def hello(params: dict[str, Any], number: object = 1) -> dict[str, Any]:
    return {"id": number, "method": "initialize", "params": params}


def answers(said: list[dict[str, Any]], number: object = 1) -> list[dict[str, Any]]:
    return [m for m in said if m.get("id") == number and ("result" in m or "error" in m)]


@pytest.mark.parametrize("params", [PLAIN, PULLING])
def test_the_second_server_says_the_same(tmp_path, params):
    first, status, _ = talk(tmp_path, hello({**params, "processId": 1}), *DOWN)
    assert (len(answers(first)), status) == (1, 0)
    second, status, errors = talk(tmp_path, hello({**params, "processId": None, "rootUri": "file:///x"}, "a"), *DOWN)
    assert (len(answers(second, "a")), status, errors) == (1, 0, "")
    assert answers(second, "a")[0]["result"] == answers(first)[0]["result"]
    assert second[0]["id"] == "a"


def remember(folder, change) -> None:
    """Change each kept answer, checksums and all."""
    import zlib

    (path,) = folder.glob("initialize-*")
    mark, *lines = path.read_bytes().split(b"\n")
    out = [mark]
    for line in filter(None, lines):
        _, key, value = line.split(b"\t", 2)
        rest = key + b"\t" + json.dumps(change(json.loads(value))).encode()
        out.append(b"%08x\t%s" % (zlib.crc32(rest), rest))
    path.write_bytes(b"\n".join([*out, b""]))


def test_it_is_the_kept_answer_that_comes_first_and_a_wrong_one_is_replaced(tmp_path):
    talk(tmp_path, hello(PLAIN), *DOWN)
    remember(tmp_path, lambda answer: {**answer, "serverInfo": {"name": "another"}})
    second, _, errors = talk(tmp_path, hello(PLAIN), *DOWN)
    assert [a["result"]["serverInfo"]["name"] for a in answers(second)] == ["another"]
    assert "older server" in errors
    third, _, errors = talk(tmp_path, hello(PLAIN), *DOWN)
    assert [a["result"]["serverInfo"]["name"] for a in answers(third)] == ["visa-lsp"]
    assert errors == ""


def test_another_client_is_another_answer(tmp_path):
    first, _, _ = talk(tmp_path, hello(PLAIN), *DOWN)
    second, _, _ = talk(tmp_path, hello({"capabilities": {"general": {"positionEncodings": ["utf-8"]}}}), *DOWN)
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
def test_nothing_before_the_greeting_harms(tmp_path, raw):
    alone, status, errors = talk(tmp_path, raw=raw)
    assert "internal error" not in errors
    assert status in {0, 1}
    assert talk(tmp_path, raw=raw) == (alone, status, errors)
    if raw.startswith(b"Content-Length: 5\r") or raw in {b"", b"\n"}:
        said, status, _ = talk(tmp_path, hello(PLAIN), *DOWN, raw=raw)
        assert (len(answers(said)), status) == (1, 0)


def test_a_greeting_twice_is_refused_once(tmp_path):
    for _ in range(2):
        said, _, _ = talk(tmp_path, hello(PLAIN), hello(PLAIN, 2), *DOWN)
        assert "result" in answers(said)[0]
        assert "error" in answers(said, 2)[0]
