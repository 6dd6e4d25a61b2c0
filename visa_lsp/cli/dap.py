"""The command ``visa-lsp dap``: a debug adapter on standard input and output, or for one client on a port.

Knows streams and sockets; the session is in ``dap``, the run in ``debug``. Invariant: standard output carries the protocol
only, and the exit status is 0 however the client ends.
"""

from __future__ import annotations

import contextlib
import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

from visa_lsp import __version__
from visa_lsp.app.errors import NEEDS_NUMPY
from visa_lsp.app.exits import EXIT_OK, EXIT_USAGE
from visa_lsp.cli.exits import complain
from visa_lsp.cli.options import CommandArguments, Option, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import RawIOBase

    from visa_lsp.dap.state import Launched


# fmt: off
class Arguments(CommandArguments, kw_only=True):
    """The options of the command."""

    port: Annotated[int | None, Option("N", "wait for one client on this port of 127.0.0.1; 0 picks a free port", whole_number(0))] = None
    platform: Annotated[str | None, Option("NAME", "default platform, for launches that name none")] = None
# fmt: on


def execute(args: Arguments) -> int:
    """Serve one client and return the exit status."""
    if find_spec("numpy") is None:
        complain(f"dap: {NEEDS_NUMPY}")
        return EXIT_USAGE
    if args.port is not None:
        return _on_port(args.port, args.platform)
    if sys.stdin.isatty():
        print(
            "visa-lsp dap: this is a debug adapter, waiting for an editor on standard input (Ctrl-C ends it)",
            file=sys.stderr,
        )
    # Standard output is redirected because a stray print would corrupt the protocol.
    source = os.fdopen(os.dup(sys.stdin.fileno()), "rb", buffering=0)
    with contextlib.suppress(OSError), os.fdopen(os.dup(sys.stdout.fileno()), "wb") as target:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        _serve(source, target, args.platform)
    return EXIT_OK


def _on_port(port: int, platform: str | None) -> int:
    import socket

    try:
        server = socket.create_server(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        complain(f"dap: cannot listen on port {port}: {getattr(error, 'strerror', None) or error}")
        return EXIT_USAGE
    with server:
        print(f"visa-lsp dap: listening on 127.0.0.1:{server.getsockname()[1]}", file=sys.stderr, flush=True)
        client, _ = server.accept()
    gone = contextlib.suppress(OSError)  # the client may have closed the connection
    with client, gone, client.makefile("rb", buffering=0) as source, client.makefile("wb") as target:
        _serve(source, target, platform)
    return EXIT_OK


def _serve(source: RawIOBase, target: BinaryIO, platform: str | None) -> None:
    from visa_lsp.dap.open_launch import open_launch
    from visa_lsp.dap.session import DebugSession

    def open_with_platform(arguments: dict[str, Any], say: Callable[[str], None]) -> Launched:
        return open_launch({"platform": platform, **arguments} if platform else arguments, say)

    DebugSession(source, target, open_with_platform, __version__).serve()
