"""Generates the table of protocol methods in ``docs/editors/protocol.md``.

Each row has the use of a method, or the reason why it is not used. The answered methods follow from the handlers, the
sent ones from the sources; the reasons are here. Invariant: a method of the protocol has a reason if and only if it is
neither handled nor sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lsprotocol import types

from visa_lsp.generate.page_parts import table, with_part
from visa_lsp.lsp import server

FILE: Final = "docs/editors/protocol.md"
# The methods that the message layer handles itself.
_TRANSPORT: Final = frozenset(
    (
        "shutdown", "exit", "workspace/executeCommand", "window/workDoneProgress/cancel", "$/setTrace",
        "$/cancelRequest", "$/progress",
    )
)  # fmt: skip
_FILES: Final = "the files of a folder are watched (`workspace/didChangeWatchedFiles`); none is named in a text"
_NOTEBOOKS: Final = "notebooks are Python; their cells are documents of the Python server"
_TYPES: Final = "types of vISA derive from none"
_SAVING: Final = "nothing has to be done before a text is saved; editors format it with `textDocument/formatting`"
_COLOURS: Final = "texts have no colours"
REASONS: Final = {
    "client/unregisterCapability": "what is registered stays to the end",
    "codeAction/resolve": "actions have their edits from the beginning",
    "documentLink/resolve": "links have their targets from the beginning",
    "inlayHint/resolve": "hints have all that they say from the beginning",
    "workspaceSymbol/resolve": "symbols have their places from the beginning",
    "textDocument/documentColor": _COLOURS,
    "textDocument/colorPresentation": _COLOURS,
    "textDocument/inlineCompletion": "what a row of the table dictates, `textDocument/completion` offers; the rest would be guessed",
    "textDocument/moniker": "no index of packages knows names of vISA",
    "textDocument/prepareTypeHierarchy": _TYPES,
    "typeHierarchy/subtypes": _TYPES,
    "typeHierarchy/supertypes": _TYPES,
    "textDocument/willSave": _SAVING,
    "textDocument/willSaveWaitUntil": _SAVING,
    "window/showDocument": "answers of commands name files and places; the client opens them",
    "window/showMessage": "a failure is the answer of its command, or a line of the log",
    "window/showMessageRequest": "the user is asked nothing",
    "workspace/applyEdit": "edits are answers, which the client applies",
    "workspace/semanticTokens/refresh": "colours follow from the text alone",
    "workspace/textDocumentContent/refresh": "the text of an object is made when it is opened",
    "workspace/workspaceFolders": "the client names its folders at the start, and each change of them",
    "workspace/willCreateFiles": _FILES,
    "workspace/willDeleteFiles": _FILES,
    "workspace/willRenameFiles": _FILES,
    "workspace/didCreateFiles": _FILES,
    "workspace/didDeleteFiles": _FILES,
    "workspace/didRenameFiles": _FILES,
    "notebookDocument/didOpen": _NOTEBOOKS,
    "notebookDocument/didChange": _NOTEBOOKS,
    "notebookDocument/didClose": _NOTEBOOKS,
    "notebookDocument/didSave": _NOTEBOOKS,
    "telemetry/event": "the server reports nothing about its users",
}


def generate_files(root: Path) -> dict[str, str]:
    """Return the page with a row for each method. Raises ValueError as ``rows``."""
    return with_part(root, FILE, table(("method", "from", "state"), rows()))


def rows() -> Iterator[tuple[str, str, str]]:
    """Yield each method of the protocol, its sender, and its use by the server.

    Raises ValueError for a method without a state, and for a used method with a reason.
    """
    handled = {*server.create_server("").protocol.fm.features} | _TRANSPORT
    sources = "\n".join(path.read_text(encoding="utf-8") for path in Path(server.__file__).parent.rglob("*.py"))
    for method in sorted(types.METHOD_TO_TYPES, key=lambda name: (name.startswith("$"), name)):
        of_server = types.message_direction(method) == "serverToClient"
        is_done = _is_sent(method, sources) if of_server else method in handled
        if is_done is (method in REASONS):
            raise ValueError(f"{method}: {'has a reason and is done' if is_done else 'is not done and has no reason'}")
        state = "yes" if is_done else f"no: {REASONS[method]}"
        yield (
            f"`{method}`",
            "server" if of_server else "both" if method in ("$/progress", "$/cancelRequest") else "client",
            state,
        )


def _is_sent(method: str, sources: str) -> bool:
    """Return whether the sources of the server call the function of a method, or name the method."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])|/", "_", method.removeprefix("$/")).lower()
    return re.search(rf"\b{name}(?:_async)?\(|\btypes\.{name.upper()}\b", sources) is not None
