"""The machine code of a text for the language server: the output of ``visa-lsp gen --format json``, with the figures in words.

Starts the finalizer, so that the server uses it in trusted workspaces only. Invariant: a mistake in the text, a missing
tool or a wrong option gives an answer, not an exception.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from visa_lsp.app.errors import UserError
from visa_lsp.app.external_tools import MissingToolError, split_options
from visa_lsp.app.gen.gen_document import Source, finalize_text, platform_for
from visa_lsp.app.gen.printing import as_json, figures
from visa_lsp.app.inputs import STDIN
from visa_lsp.app.suggestions import seconds_of
from visa_lsp.toolchain.finalize import SECONDS

if TYPE_CHECKING:
    from visa_lsp.lsp.jobs.model import Result, Stop


def machine_code(text: str, path: str | None, options: dict[str, Any], stop: Stop) -> Result:
    """Return the machine code of a text in the editor; ``stop`` ends the finalizer.

    Options: ``platform``, ``tool`` (a path), ``options`` (of the finalizer, in one word), ``timeout`` (seconds),
    ``schedule``, ``html`` and ``columns`` (if not empty, add the finalizer's schedule, a page, the lines of a view),
    ``source`` (the path of the source of the text). ``figures`` are in words, by the names of kernels; ``missing`` is
    true if there is no finalizer.
    """
    place = path or STDIN
    named = options.get("source") or None
    try:
        source = Source(path or "untitled", text, options.get("platform") or platform_for(place, text))
        words = split_options(options.get("options"), "options")
        document = finalize_text(
            source, options.get("tool") or None, words, _seconds(options), place, lambda: stop.asked,
            schedule=bool(options.get("schedule")),
        )  # fmt: skip
        answer: Result = {"ok": True, **as_json(document)}
        answer.setdefault("findings", [])
        answer["figures"] = {kernel.body.name: figures(kernel) for kernel in document.result.kernels}
        if options.get("columns"):
            from visa_lsp.app.gen.view import view_columns

            answer["columns"] = view_columns(document, named)
        if options.get("html"):
            from visa_lsp.app.gen.page import page

            answer["html"] = page([document], named)
    except (UserError, OSError, ValueError) as error:
        return {"ok": False, "error": str(error), "missing": isinstance(error, MissingToolError)}
    if path is not None:
        answer["path"] = str(Path(path))
    return answer


def _seconds(options: dict[str, Any]) -> float:
    """Return the time limit of the finalizer. Raises ValueError for anything but a number of seconds."""
    words = options.get("timeout")
    return SECONDS if words is None else seconds_of(str(words))
