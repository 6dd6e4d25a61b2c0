"""A client as VS Code, and a kernel that it has open."""

import pytest
from lsp_client import client, open_text, saxpy, servers

__all__ = ["client", "servers"]


@pytest.fixture
def kernel(client, tmp_path):
    """Return the dump of saxpy, open in the client."""
    found = saxpy(tmp_path)
    open_text(client, found.uri, found.text)
    return found
