"""A client as VS Code, whose server is that of other tests too."""

from lsp_client import client, servers

__all__ = ["client", "servers"]
