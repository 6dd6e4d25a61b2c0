"""Common parts of tests of the server over stdio: the command that starts it, a real kernel in a folder, places in a text."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import pytest
import pytest_asyncio
from corpus import place
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import register_lsp_features

from visa_lsp.isa.table import TABLE

ROOT = Path(__file__).parents[2]
SUMMARY = TABLE.by_mnemonic["mad"][0].summary
SERVER = [sys.executable, "-m", "visa_lsp"]

LAUNCH = """\
kernel: saxpy
file: saxpy.visaasm
ze_info: saxpy.zeinfo.yaml
platform: TGLLP
groups: [3, 1, 1]
local_size: [32, 1, 1]
args:
  - {buffer: {dtype: float32, shape: [80], init: ones}}
  - {buffer: {dtype: float32, shape: [80], init: arange}}
  - {value: 2.5, dtype: float32}
  - {value: 70, dtype: int32}
expect:
  - {arg: 0, values: [EXPECTED]}
""".replace("EXPECTED", ", ".join(str(2.5 * i + 1 if i < 70 else 1.0) for i in range(80)))


# A kernel that never ends.
ENDLESS = """.version 4.1
.kernel "endless"
.decl V32 v_type=G type=d num_elts=8 align=GRF
again:
    mov (M1, 8) V32(0,0)<1> 0x1:d
    jmp (M1, 1) again
    ret (M1, 1)
"""

# A launch file beside that of saxpy: a key that is misspelt, and an argument that its kernel does not take so.
BROKEN = LAUNCH.replace("local_size:", "local-size:").replace("{value: 70, dtype: int32}", "{local: 70}")
BROKEN_FOUND = [("V801", 6), ("V812", 11)]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A text in a folder of its own."""

    path: Path
    text: str

    @property
    def uri(self) -> str:
        return self.path.as_uri()

    @property
    def identifier(self) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri)


def saxpy(folder: Path) -> Kernel:
    """Return the compiler's dump of saxpy with its ze_info and a launch file."""
    source = place("run/TGLLP/axpy")
    shutil.copy(source / "saxpy.visaasm", folder)
    shutil.copy(source / "axpy.zeinfo.yaml", folder / "saxpy.zeinfo.yaml")
    (folder / "saxpy.launch.yaml").write_text(LAUNCH)
    path = folder / "saxpy.visaasm"
    return Kernel(path, path.read_text())


def at(text: str, needle: str, inside: int = 0) -> types.Position:
    """Return the position of a piece of an ASCII text, ``inside`` characters further on."""
    offset = text.index(needle) + inside
    line = text.count("\n", 0, offset)
    return types.Position(line, offset - (text.rfind("\n", 0, offset) + 1))


def line_of(text: str, needle: str) -> int:
    return at(text, needle).line


REFRESHES = (
    types.WORKSPACE_DIAGNOSTIC_REFRESH, types.WORKSPACE_INLAY_HINT_REFRESH, types.WORKSPACE_CODE_LENS_REFRESH,
    types.WORKSPACE_INLINE_VALUE_REFRESH, types.WORKSPACE_SEMANTIC_TOKENS_REFRESH, types.WORKSPACE_FOLDING_RANGE_REFRESH,
)  # fmt: skip


def make_answering(client):
    """Return a client that answers what real ones answer; ``client.registered`` and ``client.refreshed`` record the
    server's requests.
    """
    client.registered, client.refreshed = [], []

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams) -> None:
        client.registered.extend(params.registrations)

    for method in REFRESHES:

        def refresh(*_params: object, method: str = method) -> None:
            client.refreshed.append(method)

        if method not in client.protocol.fm.features:
            client.feature(method)(refresh)
    return client


def plain(value: object):
    """Return a command's answer as the dictionaries and lists that were sent."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


async def no_process_left(client) -> bool:
    """Wait for the server's processes for runs to end; return whether they have."""
    server = client._server.pid
    end = time.monotonic() + 60
    while time.monotonic() < end:
        listing = await asyncio.create_subprocess_exec(
            "ps", "-o", "args=", "--ppid", str(server), stdout=asyncio.subprocess.PIPE
        )
        children, _ = await listing.communicate()
        if b"jobs.run_process" not in children:
            return True
        await asyncio.sleep(0.05)
    return False


class SharedClient(LanguageClient):
    """The client of a server that many tests use. What a test leaves behind, `tidy` takes back."""

    def __init__(self) -> None:
        super().__init__(converter_factory=default_converter)
        register_lsp_features(self)
        self._documents: set[str] = set()

    async def begin(self, capabilities: types.ClientCapabilities, trusted: bool) -> None:
        """Start the server and greet it."""
        await self.start_io(*SERVER)
        params = types.InitializeParams(capabilities=capabilities, initialization_options={"trusted": trusted})
        self.said = await make_answering(self).initialize_session(params)
        self._trusted = trusted
        found = self.protocol.fm
        self._handlers = [(kept, dict(kept)) for kept in (found.features, found.builtin_features)]

    @property
    def alive(self) -> bool:
        """True if the server takes requests."""
        return self.error is None and self._server.returncode is None

    async def tidy(self) -> None:
        """Close what is open, forget what the server has said, answer as in the beginning."""
        for kept, first in self._handlers:
            kept.clear()
            kept.update(first)
        for uri in tuple(self._documents):
            self.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
        self.protocol.notify("visa/didChangeTrust", {"trusted": self._trusted})
        await command(self, "visa.explain", "mov")  # the messages about the closing precede the answer
        for said in (self.refreshed, self.diagnostics, self.messages, self.shown_documents, self.progress_reports):
            said.clear()

    def text_document_did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self._documents.add(params.text_document.uri)
        super().text_document_did_open(params)

    def text_document_did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._documents.discard(params.text_document.uri)
        super().text_document_did_close(params)

    def set_configuration(self, *_: object, **__: object) -> None:
        raise TypeError("a test that changes settings needs a session of its own")

    def workspace_did_change_configuration(self, *_: object) -> None:
        self.set_configuration()


class Servers:
    """Servers by what their clients can do: each is started when a test first requests it, and is there for all tests."""

    def __init__(self) -> None:
        self._clients: dict[tuple[str, str, bool], SharedClient] = {}

    @contextlib.asynccontextmanager
    async def client(self, name: str = "visual_studio_code", encoding: str = "", *, trusted: bool = True):
        """Yield the client of a server, tidied in the end."""
        client = self._clients.get((name, encoding, trusted))
        if client is None or not client.alive:
            client = self._clients[name, encoding, trusted] = SharedClient()
            await client.begin(capabilities_of(name, encoding), trusted)
        yield client
        if client.alive:
            await client.tidy()

    async def stop(self) -> None:
        """End all servers."""
        for client in self._clients.values():
            if client.alive:
                await client.shutdown_session()
            await client.stop()
        self._clients.clear()


STARTED = Servers()  # for the tests of all folders: each folder that imports the fixture has one of its own


def capabilities_of(name: str, encoding: str = "") -> types.ClientCapabilities:
    """Return the capabilities of a client, with the unit of columns that it prefers, if any."""
    found = client_capabilities(name)
    if encoding:
        found.general = found.general or types.GeneralClientCapabilities()
        found.general.position_encodings = [types.PositionEncodingKind(encoding)]
    return found


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def servers():
    """Servers that tests share."""
    yield STARTED
    await STARTED.stop()


@pytest.fixture
async def client(servers):
    """Yield a client with the capabilities of VS Code, on the server that tests share."""
    async with servers.client() as client:
        yield client


@contextlib.asynccontextmanager
async def in_folder(client, folder: Path):
    """Yield the client with a workspace folder."""
    here = types.WorkspaceFolder(folder.as_uri(), folder.name)

    def change(**folders: list[types.WorkspaceFolder]) -> None:
        event = types.WorkspaceFoldersChangeEvent(**{"added": [], "removed": [], **folders})
        client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))

    change(added=[here])
    yield
    change(removed=[here])


@contextlib.asynccontextmanager
async def session(name: str = "visual_studio_code", settings: dict | None = None, folder: str | None = None, **params):
    """Yield a client of a server of its own, perhaps with settings of the user and the same ones of a folder."""
    client = await ClientServerConfig(server_command=SERVER).start()
    if settings is not None:
        client.set_configuration({"visa": settings})
        if folder is not None:
            client.set_configuration({"visa": settings}, scope_uri=folder)
    try:
        capabilities = client_capabilities(name)
        if capabilities.workspace is not None:
            # Newer than the library's documents of clients.
            capabilities.workspace.folding_range = types.FoldingRangeWorkspaceClientCapabilities(refresh_support=True)
        params = types.InitializeParams(capabilities=capabilities, **params)
        client.said = await make_answering(client).initialize_session(params)
        yield client
    finally:
        await client.shutdown_session()
        await client.stop()


def framed(message: dict) -> bytes:
    """Return a message as it is sent."""
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def parted(rest: bytes) -> list[dict]:
    """Return the messages of what a server has sent."""
    said = []
    while rest:
        head, _, rest = rest.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split()[0])
        said.append(json.loads(rest[:length]))
        rest = rest[length:]
    return said


async def command(client, name, *arguments):
    """Return the answer of a command of the server, as plain values."""
    return plain(await client.workspace_execute_command_async(types.ExecuteCommandParams(name, list(arguments))))


def open_text(client, uri: str, text: str, language: str = "visa") -> types.TextDocumentIdentifier:
    """Open a text."""
    item = types.TextDocumentItem(uri, language, 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    return types.TextDocumentIdentifier(uri)


def change_text(client, uri: str, version: int, *changes: types.TextDocumentContentChangeEvent | str) -> None:
    """Send changes of a text; a string is the whole of it."""
    known = types.VersionedTextDocumentIdentifier(version, uri)
    parts = [types.TextDocumentContentChangeWholeDocument(c) if isinstance(c, str) else c for c in changes]
    client.text_document_did_change(types.DidChangeTextDocumentParams(known, parts))


def edited(text: str, edits: Iterable[types.TextEdit]) -> str:
    """Return an ASCII text with the edits of an answer."""
    starts = [0, *accumulate(map(len, text.splitlines(keepends=True)))]

    def offset(place: types.Position) -> int:
        return starts[place.line] + place.character

    for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


def close_text(client, document: types.TextDocumentIdentifier) -> None:
    """Close a text."""
    client.text_document_did_close(types.DidCloseTextDocumentParams(document))


def send_settings(client, settings: object) -> None:
    """Tell the server that the settings have changed."""
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))


async def ask(client, method: str, *arguments, **named):
    """Return the answer to a request about a document: its method without ``textDocument/``, and its parameters in order."""
    method = f"textDocument/{method}"
    return await client.protocol.send_request_async(method, types.METHOD_TO_TYPES[method][2](*arguments, **named))
