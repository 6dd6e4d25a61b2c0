"""The commands ``visa.assemble`` and ``visa.run``: they work on the open text, saved or not, and answer with values.

Arguments: a document's URI, or an object with ``uri`` and, where wanted, ``platform`` and (for run) ``launch``, the path
or URI of a launch file. The work is done off the event loop. A failure is an answer with ``ok`` false and ``error``.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pygls.uris import to_fs_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.lsp.services import Result
    from visa_lsp.lsp.session import VisaServer

logger = logging.getLogger(__name__)

ASSEMBLE: Final = "visa.assemble"
RUN: Final = "visa.run"


def register(server: VisaServer) -> None:
    """Declare the handlers of this module."""
    server.command(ASSEMBLE)(on_assemble)
    server.command(RUN)(on_run)


class BadArgument(ValueError):  # noqa: N818 - a mistake of the caller, answered with words
    """What a command was given is of no use."""


def _options(arguments: list[Any]) -> dict[str, str]:
    """The named options of a call: of an object, or a URI alone with a launch file behind it."""
    first = arguments[0] if arguments else None
    if isinstance(first, str):
        options: dict[str, Any] = {"uri": first}
        if len(arguments) > 1:
            options["launch"] = arguments[1]
    elif isinstance(first, dict):
        options = dict(first)
    elif first is not None and hasattr(first, "_asdict"):
        options = first._asdict()
    else:
        raise BadArgument("the first argument is the document's URI, or an object with `uri`")
    kept = {key: value for key, value in options.items() if value is not None}
    for key, value in kept.items():
        if not isinstance(value, str):
            raise BadArgument(f"`{key}` must be a string")
    if "uri" not in kept:
        raise BadArgument("the object has no `uri`")
    return kept


def file_path(uri: str) -> str | None:
    """The file of a URI; None for documents that are in no file."""
    if not uri.startswith("file:"):
        return None
    return to_fs_path(uri)


def _text(ls: VisaServer, uri: str) -> str:
    """The text of a document as it is open, else as its file has it."""
    opened = ls.documents.get(uri)
    if opened is not None:
        return opened.analysis.document.text
    path = file_path(uri)
    if path is None:
        raise BadArgument(f"`{uri}` is not open and no file")
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadArgument(f"`{path}` cannot be read: {error}") from error


async def _answer(ls: VisaServer, arguments: list[Any], call: Callable[[str, dict[str, str]], Result]) -> Result:
    """Get the text, do the work on another thread, turn failures into answers."""
    try:
        options = _options(arguments)
        text = _text(ls, options["uri"])
        return await asyncio.get_running_loop().run_in_executor(ls.thread_pool, call, text, options)
    except BadArgument as error:
        return {"ok": False, "error": str(error)}
    except Exception as error:
        logger.exception("a command failed")
        return {"ok": False, "error": f"internal error: {type(error).__name__}: {error}"}


async def on_assemble(ls: VisaServer, arguments: list[Any]) -> Result:
    """Assemble a document into an object file beside it."""

    def work(text: str, options: dict[str, str]) -> Result:
        platform = options.get("platform") or ls.documents.settings.platform or None
        return ls.services.assemble(text, file_path(options["uri"]), platform)

    return await _answer(ls, arguments, work)


async def on_run(ls: VisaServer, arguments: list[Any]) -> Result:
    """Run a document's kernel as a launch file says."""

    def work(text: str, options: dict[str, str]) -> Result:
        platform = options.get("platform") or ls.documents.settings.platform or None
        launch = options.get("launch")
        if launch is not None and launch.startswith("file:"):
            launch = file_path(launch)
        return ls.services.run(text, file_path(options["uri"]), launch, platform)

    return await _answer(ls, arguments, work)
