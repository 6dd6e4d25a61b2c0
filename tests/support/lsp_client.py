"""What tests of the server over stdio share: the command that starts it, a real kernel in a folder, places in a text."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from corpus import place
from lsprotocol import types
from pytest_lsp import ClientServerConfig, client_capabilities

ROOT = Path(__file__).parents[2]
SERVER = [sys.executable, "-m", "visa_lsp.cli.serve"]

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

    def item(self, text: str | None = None, version: int = 1) -> types.TextDocumentItem:
        return types.TextDocumentItem(self.uri, "visa", version, self.text if text is None else text)

    @property
    def identifier(self) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri)


def saxpy(folder: Path) -> Kernel:
    """The compiler's dump of saxpy with its ze_info and a launch file."""
    source = place("run/TGLLP/axpy")
    shutil.copy(source / "saxpy.visaasm", folder)
    shutil.copy(source / "axpy.zeinfo.yaml", folder / "saxpy.zeinfo.yaml")
    (folder / "saxpy.launch.yaml").write_text(LAUNCH)
    path = folder / "saxpy.visaasm"
    return Kernel(path, path.read_text())


def at(text: str, needle: str, inside: int = 0) -> types.Position:
    """The position of a piece of an ASCII text, ``inside`` characters further on."""
    offset = text.index(needle) + inside
    line = text.count("\n", 0, offset)
    return types.Position(line, offset - (text.rfind("\n", 0, offset) + 1))


def line_of(text: str, needle: str) -> int:
    return at(text, needle).line


REFRESHES = (
    types.WORKSPACE_DIAGNOSTIC_REFRESH, types.WORKSPACE_INLAY_HINT_REFRESH, types.WORKSPACE_CODE_LENS_REFRESH,
    types.WORKSPACE_INLINE_VALUE_REFRESH, types.WORKSPACE_SEMANTIC_TOKENS_REFRESH,
)  # fmt: skip


def answering(client):
    """A client that answers what real ones answer; ``client.registered`` and ``client.refreshed`` keep what was asked."""
    client.registered, client.refreshed = [], []

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams) -> None:
        client.registered.extend(params.registrations)

    for method in REFRESHES:

        def refreshed(*_params: object, method: str = method) -> None:
            client.refreshed.append(method)

        if method not in client.protocol.fm.features:
            client.feature(method)(refreshed)
    return client


def plain(value: object):
    """A command's answer as dictionaries and lists, as which it travelled."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


async def no_process_left(client) -> bool:
    """Whether the server's processes for runs are gone, waited for."""
    server = client._server.pid
    end = time.monotonic() + 60
    while time.monotonic() < end:
        listing = await asyncio.create_subprocess_exec(
            "ps", "-o", "args=", "--ppid", str(server), stdout=asyncio.subprocess.PIPE
        )
        children, _ = await listing.communicate()
        if b"services.runs" not in children:
            return True
        await asyncio.sleep(0.05)
    return False


@contextlib.asynccontextmanager
async def session(**params):
    """A client of a real server that can do what VS Code can."""
    client = await ClientServerConfig(server_command=SERVER).start()
    capabilities = client_capabilities("visual_studio_code")
    try:
        await answering(client).initialize_session(types.InitializeParams(capabilities=capabilities, **params))
        yield client
    finally:
        await client.shutdown_session()
        await client.stop()


async def command(client, name, argument):
    """The answer of a command of the server, as plain values."""
    return plain(await client.workspace_execute_command_async(types.ExecuteCommandParams(name, [argument])))
