"""The command ``visa-lsp mcp``: a server of the Model Context Protocol on standard input and output, for agents.

Invariant: standard output carries the protocol only, and the exit status is 0 however the client ends.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Annotated, Final

from visa_lsp import __version__
from visa_lsp.app.exits import EXIT_OK, EXIT_USAGE
from visa_lsp.cli.exits import complain
from visa_lsp.cli.options import CommandArguments, Option, seconds_argument

_SECONDS: Final = 120.0
_WAITING: Final = "visa-lsp mcp: this is a server for agents, waiting for a client on standard input (Ctrl-C ends it); see docs/agents.md"


# fmt: off
class Arguments(CommandArguments, kw_only=True):
    """The options of the command."""

    timeout: Annotated[float, Option("SECONDS", f"stop a call after this time; default: {_SECONDS:g}", seconds_argument)] = _SECONDS
# fmt: on


def execute(args: Arguments) -> int:
    """Serve one client and return the exit status."""
    # Since version 2 the SDK has its types in a separate package, and its servers differ from those of version 1.
    if find_spec("mcp") is None or find_spec("mcp_types") is None:
        complain("mcp: the server for agents needs the SDK of the protocol: pip install 'visa-lsp[mcp]'")
        return EXIT_USAGE
    if sys.stdin.isatty():
        print(_WAITING, file=sys.stderr)
    from visa_lsp.mcp.server import serve

    serve(__version__, args.timeout)
    return EXIT_OK
