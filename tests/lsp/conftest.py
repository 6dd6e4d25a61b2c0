"""Makes ``tests/support`` importable; a client as VS Code, and a kernel that it has open."""

import sys
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from lsp_client import SERVER, answering, saxpy


@pytest_lsp.fixture(config=ClientServerConfig(server_command=SERVER))
async def client(lsp_client: LanguageClient):
    """A client that can what VS Code can."""
    capabilities = client_capabilities("visual_studio_code")
    await answering(lsp_client).initialize_session(types.InitializeParams(capabilities=capabilities))
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def kernel(client, tmp_path):
    """The dump of saxpy, open in the client."""
    found = saxpy(tmp_path)
    client.text_document_did_open(types.DidOpenTextDocumentParams(found.item()))
    return found
