"""``visa-lsp`` without a command: the language server on standard input and output, or on a socket.

Builds the services that the server may not import: assembling (sema, codec) and running (the run command's rooms). They
are loaded when first used, so that the server starts without NumPy. Invariant: standard output carries the protocol only.
"""

from __future__ import annotations

import logging
import math
import os
import sys
import tempfile
from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from visa_lsp import __version__

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from visa_lsp.cli.launchrun import RunReport
    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.lsp.services import Result

_HEAD: Final = 16


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of the server."""
    parser.add_argument("--tcp", metavar="HOST:PORT", help="listen on a socket instead of standard input and output")
    parser.add_argument("--stdio", action="store_true", help="talk on standard input and output (the default)")
    parser.add_argument("--log", metavar="FILE", help="write the server's log there; default: warnings on standard error")


def serve(args: Namespace) -> int:
    """Run the server until its client ends it; gives the exit status."""
    services = import_module("visa_lsp.lsp.services").Services(assemble_text, run_text)
    if args.log:
        logging.basicConfig(filename=args.log, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    else:
        logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    server = import_module("visa_lsp.lsp.server").create_server(services, __version__)
    if args.tcp:
        host, _, port = args.tcp.rpartition(":")
        if not port.isdigit() or int(port) > 65535:
            print(f"visa-lsp: --tcp wants HOST:PORT, not '{args.tcp}'", file=sys.stderr)
            return 2
        try:
            server.start_tcp(host or "127.0.0.1", int(port))
        except OSError as error:
            print(f"visa-lsp: cannot listen on {args.tcp}: {error.strerror or error}", file=sys.stderr)
            return 2
        return 0
    server.start_io()
    return 0


def _findings(text: str, diagnostics: Sequence[Diagnostic]) -> list[dict[str, Any]]:
    """Findings as JSON objects, lines and columns from 1, with the keys of ``--check --format json``."""
    lines = import_module("visa_lsp.text").LineIndex(text)
    found = []
    for d in diagnostics:
        line, column = lines.position(d.span.start)
        end_line, end_column = lines.position(d.span.end)
        found.append(
            {
                "line": line + 1,
                "column": column + 1,
                "end_line": end_line + 1,
                "end_column": end_column + 1,
                "severity": d.severity.value,
                "code": d.code,
                "name": d.name,
                "message": d.message,
            }
        )
    return found


# ---- assembling ----


def assemble_text(text: str, path: str | None, platform: str | None) -> Result:
    """Write the object of a text beside its file (a text without a file: into a new temporary folder)."""
    encode = import_module("visa_lsp.codec.encode").encode
    codec_error = import_module("visa_lsp.codec.errors").CodecError
    result = import_module("visa_lsp.sema.lower").assemble(text, platform)
    analysis = import_module("visa_lsp.ide.analysis").Analysis.of(text, platform)
    diagnostics = analysis.diagnostics
    answer: Result = {"ok": False, "path": None, "bytes": 0, "diagnostics": _findings(text, diagnostics)}
    if result.module is None or any(d.severity.value == "error" for d in diagnostics):
        return {**answer, "error": "the text has errors"}
    try:
        data = encode(result.module)
        target = _object_path(path)
        write_whole(target, data)
    except codec_error as error:
        return {**answer, "error": f"the text has no object form: {error}"}
    except OSError as error:
        return {**answer, "error": f"the object cannot be written: {error.strerror or error}"}
    return {**answer, "ok": True, "path": str(target), "bytes": len(data)}


def _object_path(path: str | None) -> Path:
    if path is None:
        return Path(tempfile.mkdtemp(prefix="visa-lsp-")) / "untitled.isa"
    return Path(path).with_suffix(".isa")


def write_whole(target: Path, data: bytes) -> None:
    """Write a file by way of a temporary one beside it, so that it is complete or untouched."""
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


# ---- running ----


def run_text(text: str, path: str | None, launch_path: str | None, platform: str | None) -> Result:
    """Run a text as its launch file says; the answer holds heads of buffers, expectations and faults as values."""
    try:
        import_module("numpy")
    except ModuleNotFoundError:
        return {"ok": False, "error": "running kernels needs NumPy: pip install 'visa-lsp[run]'"}
    runner = import_module("visa_lsp.cli.launchrun")
    source = Path(path) if path else None
    launch = Path(launch_path) if launch_path else None
    if launch is None and source is not None:
        launch = source.with_name(source.name.rpartition(".")[0] + ".launch.yaml")
    if launch is None:
        return {"ok": False, "error": "a document without a file needs a launch file: give `launch`"}
    if not launch.is_file():
        return {"ok": False, "error": f"there is no launch file '{launch}'"}
    try:
        read = import_module("visa_lsp.cli.launchfile").read_launch_file(launch)
        report = runner.run_text(text, read, path=source or read.file, platform=platform)
    except runner.TextProblems as problems:
        return {"ok": False, "error": "the text has errors", "diagnostics": _findings(problems.text, problems.diagnostics)}
    except (runner.LaunchError, OSError) as error:
        return {"ok": False, "error": str(error), "launch": str(launch)}
    return {"launch": str(launch), **_report(report)}


def _report(report: RunReport) -> Result:
    """A run as JSON values."""
    return {
        "ok": report.ok,
        "kernel": report.kernel,
        "platform": report.platform,
        "engine": report.engine,
        "buffers": [
            {
                "arg": b.arg,
                "name": b.name,
                "dtype": b.array.dtype.name,
                "shape": list(b.array.shape),
                "head": [_plain(v, b.array.dtype.name) for v in b.array.reshape(-1)[:_HEAD].tolist()],
            }
            for b in report.buffers
        ],
        "expectations": [{"arg": e.arg, "ok": e.ok, "message": e.message} for e in report.expectations],
        "faults": [
            {
                "kind": f.kind.value,
                "message": f.message,
                "text": str(f),
                "kernel": f.kernel,
                "group": list(f.group),
                "thread": f.thread,
                "lane": f.lane,
                "instruction": f.instruction,
                "line": f.line + 1 if f.line >= 0 else None,
            }
            for f in report.faults
        ],
        "threads": report.threads,
        "groups": report.groups,
        "instructions": report.instructions,
        "notes": list(report.notes),
    }


def _plain(value: Any, dtype: str) -> Any:
    """A number that JSON has: singles by the digits that matter, what is not finite by its name."""
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return str(value)
    return float(f"{value:.9g}") if dtype == "float32" else value


def main() -> int:
    """Start the server from a command line of its own."""
    parser = ArgumentParser(prog="visa-lsp", description="Language server for vISA assembly.")
    add_arguments(parser)
    return serve(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
