"""Runs a program under the layer: starts the server, the program with the layer's environment, and waits for its end.

Prints nothing; lines go to a callback. Invariant: when it returns, the program has ended and the folder of the session is gone.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.app.errors import UserError, reason
from visa_lsp.app.external_tools import find_ocloc
from visa_lsp.children import end_program_with_us, temporary_folder
from visa_lsp.opencl.layer import exec_environment, host_entries, layer_library
from visa_lsp.opencl.serve_process import COMMAND, server_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from visa_lsp.app.exec.captures import Captures
    from visa_lsp.app.exec.report import ExecReport
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.opencl.layer_server import ProgressLine

SOCKET: Final = "VISA_LSP_EXEC_SOCKET"
_PLAIN_CHECKS: Final = ("all", "none")
_SOCKET_NAME: Final = "socket"
_MAX_SOCKET_PATH: Final = 100  # Linux allows 107 bytes
_SHORT_FOLDER: Final = Path("/tmp")  # noqa: S108 - the folder made in it is the user's alone
_GRACE_SECONDS: Final = 5.0  # for a program that is asked to end
_KILLED: Final = 128  # and the number of the signal, as shells have it


class ExecOptions(Struct, frozen=True):
    """Options of a run of a program: platform, checks, compiler, which enqueues to write, whether to end it at its first fault.

    ``progress`` makes the line about a launch or build that takes long.
    """

    platform: Platform
    checks: str = "all"
    ocloc: str | None = None
    fail_fast: bool = False
    captures: Captures | None = None
    progress: Callable[[str], ProgressLine] | None = None


class ExecResult(Struct, frozen=True):
    """The exit status of the program, and the report."""

    status: int
    report: ExecReport


def exec_program(command: Sequence[str], options: ExecOptions, say: Callable[[list[str]], None]) -> ExecResult:
    """Run a program; ``say`` gets the lines to print. Raises UserError if it, or what it needs, is not there."""
    if options.checks not in _PLAIN_CHECKS:
        _refuse_unknown(options.checks)
    program = shutil.which(command[0])
    if program is None:
        path = Path(command[0])
        why = "is a folder" if path.is_dir() else "cannot be executed" if path.exists() else "no such program"
        raise UserError(f"{command[0]}: {why}")
    with (
        _handling(signal.SIGTERM, _exit),
        temporary_folder("visa-lsp-exec-") as folder,
        _folder_for_socket(folder) as sockets,
    ):
        find_ocloc(options.ocloc)  # a missing one is an error at once
        environment = exec_environment(layer_library(folder), host_entries(folder))
        environment[SOCKET] = str(sockets / _SOCKET_NAME)
        listener = listen(sockets / _SOCKET_NAME)
        try:
            process = subprocess.Popen(
                [program, *command[1:]],
                env={**os.environ, **environment},
                preexec_fn=end_program_with_us,  # noqa: PLW1509
            )
        except OSError as error:
            raise UserError(f"{command[0]}: {reason(error)}") from None
        ends = _Ending(options.fail_fast, process)
        # Ctrl-C is for the program, which gets it from the terminal too. SIGTERM ends the program, so that there is a report.
        with _handling(signal.SIGINT, signal.SIG_IGN), _handling(signal.SIGTERM, lambda *_: ends.end()):
            report = _serve(listener, folder, options, ends, say)
            status = process.wait()
    return ExecResult(_KILLED - status if status < 0 else status, report)


def _serve(
    listener: socket.socket, folder: Path, options: ExecOptions, ends: _Ending, say: Callable[[list[str]], None]
) -> ExecReport:
    """Serve the program in threads. The server is loaded here, which takes longer than the start of the program beside it."""
    from visa_lsp.app.exec.programs import Programs
    from visa_lsp.app.exec.report import ExecReport
    from visa_lsp.opencl.layer_server import Server

    programs, report = Programs(folder, options.platform, options.ocloc), ExecReport()
    server = Server(programs, report, options.checks, ends.watch(say, report), options.captures, options.progress)
    server.accept(listener)
    return report


def _refuse_unknown(checks: str) -> None:
    """Raise UserError for the name of a check that there is not."""
    from visa_lsp.app.launch.ready_run import refuse_unknown_checks
    from visa_lsp.sim.launch.config import LaunchError

    try:
        refuse_unknown_checks(checks)
    except LaunchError as error:
        raise UserError(str(error)) from None


def listen(path: Path) -> socket.socket:
    """Return a socket at ``path``, which is in a folder of the user alone, that takes connections from now on."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    path.chmod(0o600)
    listener.listen(64)
    return listener


@contextlib.contextmanager
def _folder_for_socket(folder: Path) -> Iterator[Path]:
    """Yield the folder, or another temporary one if the path of a socket in it would be too long for the system."""
    if len(os.fsencode(folder / _SOCKET_NAME)) <= _MAX_SOCKET_PATH:
        yield folder
        return
    if not _SHORT_FOLDER.is_dir():
        raise UserError(
            f"{folder.parent}: the path of temporary files is too long for a socket; TMPDIR names another folder"
        )
    with temporary_folder("visa-lsp-exec-", _SHORT_FOLDER) as short:
        yield short


def print_environment(options: ExecOptions) -> dict[str, str]:
    """Return the environment by which any program runs on the simulator, each process with a server of its own.

    Raises UserError if something that it needs is not there, or there is no cache folder to keep the layer in.
    """
    with temporary_folder("visa-lsp-exec-") as folder:
        find_ocloc(options.ocloc)
        library, vendors = layer_library(folder), host_entries(folder)
        if library.is_relative_to(folder):
            raise UserError("--print-env needs a folder for the layer; VISA_LSP_CACHE names one, and must not be `off`")
    return {
        **exec_environment(library, vendors),
        COMMAND: server_command(options.platform.name, options.checks, options.ocloc),
    }


class _Ending:
    """Ends the program at its first fault, if that is wanted, or when it is asked to."""

    def __init__(self, wanted: bool, process: subprocess.Popen[bytes]) -> None:
        self._wanted, self._process = wanted, process
        self._is_ended = False

    def end(self) -> None:
        """End the program, which gets a few seconds for its own end."""
        if not self._is_ended:
            self._is_ended = True
            self._process.terminate()
            killer = threading.Timer(_GRACE_SECONDS, self._process.kill)
            killer.daemon = True
            killer.start()

    def watch(self, say: Callable[[list[str]], None], report: ExecReport) -> Callable[[list[str]], None]:
        """Return a ``say`` that also ends the program once it has a fault."""
        lock = threading.Lock()

        def say_and_end(lines: list[str]) -> None:
            if lines:
                with lock:
                    say(lines)
            if self._wanted and report.faults:
                self.end()

        return say_and_end


@contextlib.contextmanager
def _handling(number: signal.Signals, handler: Callable[[int, object], object] | signal.Handlers) -> Iterator[None]:
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


def _exit(number: int, _: object) -> None:
    """End by a signal, but remove temporary folders before."""
    sys.exit(_KILLED + number)
