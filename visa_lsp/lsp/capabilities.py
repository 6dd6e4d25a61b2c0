"""What the server answers to ``initialize``: all that it can do, said in this one place.

The answer follows from a few words of the client and from nothing else, so it can be given before the server is loaded
(``greeting``), and is what the loaded server gives. Loads no library. Invariant: every method that is offered here has a
handler, and every handler of a method that needs an offer has one; a test compares them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from visa_lsp.ide.features.token_legend import MODIFIERS, TYPES

if TYPE_CHECKING:
    from typing import TypeGuard

    from visa_lsp.text import Encoding

NAME: Final = "visa-lsp"

ASSEMBLE: Final = "visa.assemble"
DISASSEMBLE: Final = "visa.disassemble"
RUN: Final = "visa.run"
SHOW_CONTROL_FLOW: Final = "visa.showControlFlow"
SHOW_ZE_INFO: Final = "visa.showZeInfo"
EXPLAIN: Final = "visa.explain"
LAUNCH_TEMPLATE: Final = "visa.launchTemplate"
# A lens carries this command; the client shows the list that ``textDocument/references`` gives.
SHOW_REFERENCES: Final = "visa.showReferences"

_INCREMENTAL: Final = 2
_OFFERS: Final[dict[str, Any]] = {
    "textDocumentSync": {"openClose": True, "change": _INCREMENTAL, "save": True},
    "completionProvider": {"triggerCharacters": [".", "(", "<", ":", "%", "=", "{"], "resolveProvider": True},
    "hoverProvider": True,
    "signatureHelpProvider": {"triggerCharacters": [" ", "("], "retriggerCharacters": [" ", ","]},
    "declarationProvider": True,
    "definitionProvider": True,
    "typeDefinitionProvider": True,
    "implementationProvider": True,
    "referencesProvider": True,
    "documentHighlightProvider": True,
    "documentSymbolProvider": True,
    "codeActionProvider": {"codeActionKinds": ["quickfix", "source.fixAll"]},
    "codeLensProvider": {"resolveProvider": True},
    "documentLinkProvider": {"resolveProvider": False},
    "workspaceSymbolProvider": {"resolveProvider": False},
    "documentFormattingProvider": True,
    "documentRangeFormattingProvider": True,
    "documentOnTypeFormattingProvider": {"firstTriggerCharacter": "\n", "moreTriggerCharacter": [":", "}"]},
    "foldingRangeProvider": True,
    "selectionRangeProvider": True,
    "executeCommandProvider": {
        "commands": [
            ASSEMBLE,
            DISASSEMBLE,
            RUN,
            SHOW_CONTROL_FLOW,
            SHOW_ZE_INFO,
            EXPLAIN,
            LAUNCH_TEMPLATE,
            SHOW_REFERENCES,
        ]
    },
    "callHierarchyProvider": True,
    "linkedEditingRangeProvider": True,
    "semanticTokensProvider": {
        "legend": {"tokenTypes": list(TYPES), "tokenModifiers": list(MODIFIERS)},
        "range": True,
        "full": {"delta": True},
    },
    "inlineValueProvider": True,
    "inlayHintProvider": {"resolveProvider": False},
    "diagnosticProvider": {"interFileDependencies": True, "workspaceDiagnostics": True, "identifier": NAME},
    "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}, "fileOperations": {}},
}
_PREPARES: Final = ("capabilities", "textDocument", "rename", "prepareSupport")
_ENCODINGS: Final[dict[str, Encoding]] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}


def is_greeting(params: object) -> TypeGuard[dict[str, Any]]:
    """Whether these are parameters of ``initialize``: an object that says what the client can do."""
    return isinstance(params, dict) and isinstance(params.get("capabilities"), dict)


def initialize_result(params: object, version: str) -> dict[str, Any]:
    """The answer to these parameters of ``initialize``, as JSON has them; parts of a wrong type count as absent."""
    capabilities = {
        "positionEncoding": position_encoding(params),
        **_OFFERS,
        # The options may be given only to a client that knows them.
        "renameProvider": {"prepareProvider": True} if _said(params, *_PREPARES) is True else True,
    }
    return {"capabilities": capabilities, "serverInfo": {"name": NAME, "version": version}}


def position_encoding(params: object) -> Encoding:
    """The units to count columns in: the first that the client names and we know."""
    named = _said(params, "capabilities", "general", "positionEncodings")
    for name in named if isinstance(named, list) else ():
        if isinstance(name, str) and name in _ENCODINGS:
            return _ENCODINGS[name]
    return "utf-16"


def _said(value: object, *path: str) -> object:
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
