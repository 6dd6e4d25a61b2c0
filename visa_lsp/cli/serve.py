"""``visa-lsp`` without a command: the language server on standard input and output, or on a socket.

Invariant: standard output carries the protocol only; the exit status is 0 after an orderly ``shutdown`` and ``exit``, 1
without.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from typing import TYPE_CHECKING, Annotated, Final

from visa_lsp import __version__
from visa_lsp.app.errors import UserError
from visa_lsp.cli.options import CommandArguments, Option, PlatformName, flag

if TYPE_CHECKING:
    from visa_lsp.lsp.visa_server import VisaServer

_WAITING: Final = (
    "visa-lsp: this is a language server, waiting for an editor on standard input (Ctrl-C ends it); `visa-lsp check FILE` "
    "checks a text, `visa-lsp --help` lists all commands"
)


# fmt: off
class Arguments(CommandArguments, kw_only=True):
    """The options of the server."""

    tcp: Annotated[str | None, Option("HOST:PORT", "listen on a socket instead of standard input and output")] = None
    stdio: Annotated[bool, flag("use standard input and output (the default)")] = False
    log: Annotated[str | None, Option("FILE", "write the log to FILE; default: warnings on standard error")] = None
    platform: PlatformName = None
# fmt: on


def execute(args: Arguments) -> int:
    """Run the server until its client ends it and return the exit status."""
    import logging  # here because ``--help`` does not need it

    if args.log:
        _check_log(args.log)
        logging.basicConfig(filename=args.log, level="INFO", format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    else:
        logging.basicConfig(stream=sys.stderr, level="WARNING")
    if not args.tcp and sys.stdin.isatty():
        # Standard input of an editor is a pipe, so a terminal means that a person started the server by hand.
        print(_WAITING, file=sys.stderr)
    from visa_lsp.lsp.server import create_server

    # Long texts keep so many objects that a full collection takes 130 ms; by default one edit in 70 would wait for it.
    gc.set_threshold(50_000)
    server = create_server(__version__)
    if args.tcp:
        return _serve_socket(server, args.tcp)
    server.start_io()
    return int(server.exit_code)


def _check_log(path: str) -> None:
    """Raise UserError if the log cannot be written, because ``logging`` would hang on a FIFO or fail unseen."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0), 0o666))
    except OSError as error:
        why = "this is a FIFO without a reader" if error.errno == errno.ENXIO else error.strerror or str(error)
        raise UserError(f"--log {path}: {why}") from None


def _serve_socket(server: VisaServer, address: str) -> int:
    host, _, port = address.rpartition(":")
    if not (port.isascii() and port.isdigit() and len(port) <= 5) or int(port) > 65535:
        print(f"visa-lsp: --tcp: expected HOST:PORT, got '{address}'", file=sys.stderr)
        return 2
    try:
        server.start_tcp(host or "127.0.0.1", int(port))
    except OSError as error:
        print(f"visa-lsp: cannot listen on {address}: {error.strerror or error}", file=sys.stderr)
        return 2
    return 0
