"""Conversion of the debugger's values to the protocol: sources, lines, paths.

The only place that knows whether a client counts from 0 or from 1. Computes nothing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from visa_lsp.dap.request_arguments import RequestError, table, text, whole

if TYPE_CHECKING:
    from visa_lsp.dap.session import DebugSession
    from visa_lsp.debug.places import BodyText

    Body = dict[str, Any]


def source_of(session: DebugSession, body: BodyText) -> Body:
    """Return the source of a body: its file, or a reference to its listing."""
    if body.path:
        return {"name": os.path.basename(body.path), "path": path_out(session, body.path)}  # noqa: PTH119
    return {"name": f"{body.name} (listing)", "sourceReference": body.number + 1, "presentationHint": "normal"}


def path_out(session: DebugSession, path: str) -> str:
    """Return a path for the client."""
    return Path(path).as_uri() if session.uris and os.path.isabs(path) else path  # noqa: PTH117


def path_in(session: DebugSession, path: str) -> str:
    """Return a path from the client."""
    if session.uris or path.startswith("file://"):
        return unquote(urlsplit(path).path) if path.startswith("file:") else path
    return path


def source_in(session: DebugSession, args: Body) -> tuple[str, int]:
    """Return path and listing number of a request's ``source``, one of them empty. Raises RequestError without either."""
    source = table(args, "source")
    number = whole(source, "sourceReference", 0)
    if number > 0:
        return "", number
    path = text(source, "path", "")
    if not path:
        raise RequestError("'source' has no path and no sourceReference")
    return path_in(session, path), 0


def find_listing(session: DebugSession, number: int) -> BodyText:
    """Return the body of a listing's reference. Raises RequestError for an unknown one."""
    found = next((b for b in session.debugger.places.bodies.values() if b.number + 1 == number and not b.path), None)
    if found is None:
        raise RequestError(f"unknown source {number}")
    return found


def line_out(session: DebugSession, line: int) -> int:
    """Return a line for the client."""
    return line + session.first_line


def line_in(session: DebugSession, line: int) -> int:
    """Return a line from the client, counted from 0."""
    return line - session.first_line
