"""Serves one process that has the environment of `visa-lsp exec --print-env`: the layer starts this program for it.

The connection is an inherited descriptor; the report goes to standard error. Ends with the connection.
"""

from __future__ import annotations

import os
import shlex
import socket
import sys
from typing import Final

from visa_lsp.app.errors import UserError, printable
from visa_lsp.children import temporary_folder
from visa_lsp.isa.platforms import DEFAULT_PLATFORM, PLATFORMS, platform_named

COMMAND: Final = "VISA_LSP_EXEC_SERVER"
_DESCRIPTOR: Final = "VISA_LSP_EXEC_DESCRIPTOR"


def server_command(platform: str, checks: str, ocloc: str | None) -> str:
    """Return the shell command by which the layer starts this program."""
    words = [sys.executable, "-P", "-m", __spec__.name, platform, checks, ocloc or ""]
    return f"exec {shlex.join(words)}"


def say_lines(lines: list[str]) -> None:
    """Print lines to standard error, the first of each report after the name of the command."""
    for line in lines:
        print(printable(line if line.startswith(" ") else f"visa-lsp exec: {line}"), file=sys.stderr, flush=True)


def main() -> None:
    """Serve the connection, then print the summary."""
    # Imported here, because `visa-lsp exec` uses this module before it needs the server.
    from visa_lsp.app.exec.programs import Programs
    from visa_lsp.app.exec.report import ExecReport
    from visa_lsp.opencl.layer_server import Server

    platform, checks, ocloc = sys.argv[1:4]
    connection = socket.socket(fileno=int(os.environ.pop(_DESCRIPTOR)))
    report = ExecReport()
    with temporary_folder("visa-lsp-exec-") as folder:
        programs = Programs(folder, platform_named(platform or DEFAULT_PLATFORM) or PLATFORMS[0], ocloc or None)
        Server(programs, report, checks, say_lines).serve(connection)
        say_lines(report.summary())


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        say_lines([str(error)])
