"""The answer to ``initialize``: what it offers is what is handled, for every client, and it is never refused for a detail."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_lsp
from lsprotocol import types
from lsprotocol.converters import get_converter
from tiers import first

from visa_lsp.ide.features.token_legend import TYPES
from visa_lsp.lsp.capabilities import is_greeting
from visa_lsp.lsp.server import create_server

if TYPE_CHECKING:
    from visa_lsp.lsp.visa_server import VisaServer

SEED = 20
CLIENTS = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))["capabilities"]
    for path in sorted((Path(pytest_lsp.__file__).parent / "clients").glob("*.json"))
}
# What Helix says of itself, shortened; the others are documents that a test library has.
CLIENTS["helix"] = {
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "didChangeConfiguration": {"dynamicRegistration": False},
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": False},
        "fileOperations": {"willRename": True, "didRename": True},
    },
    "textDocument": {
        "completion": {"completionItem": {"snippetSupport": True, "deprecatedSupport": True}},
        "hover": {"contentFormat": ["markdown"]},
        "rename": {"dynamicRegistration": False, "prepareSupport": True, "honorsChangeAnnotations": False},
        "publishDiagnostics": {"versionSupport": True, "tagSupport": {"valueSet": [1, 2]}},
    },
    "window": {"workDoneProgress": True},
    "general": {"positionEncodings": ["utf-8", "utf-32", "utf-16"]},
}
CLIENTS["nothing"] = {}


def everything() -> dict[str, Any]:
    """Return the capabilities that any of the clients has."""
    whole: dict[str, Any] = {}

    def lay(over: dict[str, Any], under: dict[str, Any]) -> None:
        for key, part in over.items():
            if isinstance(part, dict) and isinstance(under.get(key), dict):
                lay(part, under[key])
            else:
                under[key] = json.loads(json.dumps(part))

    for capabilities in CLIENTS.values():
        lay(capabilities, whole)
    return whole


class Sent:
    """Takes what a server says."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def write(self, data: bytes) -> None:
        self.messages.append(json.loads(data.partition(b"\r\n\r\n")[2]))

    def close(self) -> None:
        """Nothing is open."""


async def initialized(params: object) -> tuple[VisaServer, dict[str, Any]]:
    """Return a server that was asked, and its answer."""
    server, sent = create_server("0"), Sent()
    server.protocol.set_writer(sent)
    server.protocol.handle_message({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    await asyncio.sleep(0)
    (answer,) = [message for message in sent.messages if message.get("id") == 1]
    return server, answer


async def test_the_answer_is_of_the_protocols_form_and_has_what_the_client_may_get():
    for name, capabilities in CLIENTS.items():
        _, answer = await initialized({"capabilities": capabilities})
        result = answer["result"]
        assert get_converter().unstructure(get_converter().structure(result, types.InitializeResult)) == result, name
        offered = result["capabilities"]
        prepares = capabilities.get("textDocument", {}).get("rename", {}).get("prepareSupport")
        assert offered["renameProvider"] == ({"prepareProvider": True} if prepares else True), name
        assert "visa.run" in offered["executeCommandProvider"]["commands"]
        assert offered["codeLensProvider"] == {"resolveProvider": True}
        assert offered["semanticTokensProvider"]["legend"]["tokenTypes"] == list(TYPES)


@pytest.mark.parametrize(
    ("encodings", "chosen"),
    [
        (["utf-32", "utf-8"], "utf-32"),
        (["utf-7", "utf-8"], "utf-8"),
        (["utf-7"], "utf-16"),
        ([], "utf-16"),
        ("utf-8", "utf-16"),
        ([8, None, "utf-8"], "utf-8"),
        ({"utf-8": True}, "utf-16"),
    ],
)
async def test_the_first_known_encoding_is_taken(encodings, chosen):
    server, answer = await initialized({"capabilities": {"general": {"positionEncodings": encodings}}})
    assert answer["result"]["capabilities"]["positionEncoding"] == server.encoding == chosen


ODD = [
    5,
    -1.5,
    "x",
    "\0",
    "\ud800",
    "http://[",
    [],
    [None],
    ["a"],
    {},
    {"a": 1},
    None,
    True,
    10**30,
    [{"uri": "http://["}],
]


@pytest.mark.parametrize("count", first(1, [5, 300]))
async def test_no_odd_detail_keeps_a_client_out(count):
    members = ("processId", "rootPath", "rootUri", "workspaceFolders", "trace", "clientInfo", "initializationOptions")
    for odd in ODD:
        _, answer = await initialized({"capabilities": {}, **dict.fromkeys(members, odd)})
        assert "result" in answer, odd
    chance = random.Random(SEED)
    for _ in range(count):
        capabilities = spoilt(everything(), chance)
        _, answer = await initialized({"capabilities": capabilities})
        assert "result" in answer, capabilities


def spoilt(whole: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Return the object with some members replaced by odd values."""
    for _ in range(chance.randint(1, 4)):
        part = whole
        while part:
            key = chance.choice(list(part))
            if not isinstance(part[key], dict) or chance.random() < 0.3:
                part[key] = chance.choice(ODD)
                break
            part = part[key]
    return whole


async def test_what_can_be_read_of_an_odd_client_counts():
    kinds = {"symbolKind": {"valueSet": [1, "new"]}, "dynamicRegistration": True}
    params = {"processId": 7, "capabilities": {"workspace": {"symbol": kinds, "configuration": True}, "window": 3}}
    server, answer = await initialized(params)
    assert "result" in answer
    workspace = server.client_capabilities.workspace
    assert workspace.configuration is True
    assert workspace.symbol.dynamic_registration is True
    assert server.process_id == 7


@pytest.mark.parametrize("params", [None, [], {}, 5, "x", {"capabilities": None}, {"capabilities": []}, [{}]])
async def test_what_is_no_greeting_is_refused(params):
    assert not is_greeting(params)
    _, answer = await initialized(params)
    assert answer["error"]["code"] == -32602
