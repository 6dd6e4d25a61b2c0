"""The server's answer to ``initialize``: the features of its handlers, with options.

The answer depends only on a few words of the client. Invariant: every method offered here has a handler, and
every handler of a method that must be offered is offered; a test compares them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeGuard

from visa_lsp.ide.features.token_legend import MODIFIERS, TYPES

if TYPE_CHECKING:
    from visa_lsp.text import Encoding

NAME: Final = "visa-lsp"

ASSEMBLE: Final = "visa.assemble"
DISASSEMBLE: Final = "visa.disassemble"
RUN: Final = "visa.run"
GEN: Final = "visa.gen"
OPEN_BLOCK: Final = "visa.openBlock"
RUN_BLOCK: Final = "visa.runBlock"
# The command of a lens; the client shows the result of ``textDocument/references``.
SHOW_REFERENCES: Final = "visa.showReferences"
# A client that sends the line of its cursor gets hints for that line: ``{uri, line}``.

# The capabilities that follow from the handlers alone, as JSON values; a test compares them with the handlers.
# fmt: off
OFFERED: Final[dict[str, Any]] = {
    "callHierarchyProvider": True,
    "codeActionProvider": True,
    "codeLensProvider": {"resolveProvider": True},
    "completionProvider": {},
    "declarationProvider": True,
    "definitionProvider": True,
    "diagnosticProvider": {"interFileDependencies": False, "workspaceDiagnostics": True},
    "documentFormattingProvider": True,
    "documentHighlightProvider": True,
    "documentLinkProvider": {"resolveProvider": False},
    "documentRangeFormattingProvider": True,
    "documentSymbolProvider": True,
    "executeCommandProvider": {"commands": [
        "visa.assemble", "visa.disassemble", "visa.zebin", "visa.diff", "visa.read", "visa.run",
        "visa.why", "visa.stats", "visa.runAll", "visa.gen", "visa.compile", "visa.checkWithCompiler",
        "visa.prove", "visa.showControlFlow", "visa.showZeInfo", "visa.explain", "visa.words",
        "visa.platformOf", "visa.launchTemplate", "visa.instructionsOf", "visa.showReferences",
        "visa.openBlock", "visa.runBlock", "visa.writeBlock",
    ]},
    "foldingRangeProvider": True,
    "hoverProvider": True,
    "implementationProvider": True,
    "inlayHintProvider": {"resolveProvider": False},
    "inlineValueProvider": True,
    "linkedEditingRangeProvider": True,
    "referencesProvider": True,
    "renameProvider": True,
    "selectionRangeProvider": True,
    "signatureHelpProvider": {},
    "textDocumentSync": {"openClose": True, "change": 2, "save": True},
    "typeDefinitionProvider": True,
    "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}, "fileOperations": {}},
    "workspaceSymbolProvider": {"resolveProvider": False},
}
# fmt: on
# Options, and requests that need options; handlers do not imply them.
_OPTIONS: Final[dict[str, Any]] = {
    "completionProvider": {"triggerCharacters": [".", "(", "<", ":", "%", "=", "{"], "resolveProvider": True},
    "signatureHelpProvider": {"triggerCharacters": [" ", "("], "retriggerCharacters": [" ", ","]},
    "codeActionProvider": {"codeActionKinds": ["quickfix", "source.fixAll", "refactor.rewrite"]},
    "documentRangeFormattingProvider": {"rangesSupport": True},
    "documentOnTypeFormattingProvider": {"firstTriggerCharacter": "\n", "moreTriggerCharacter": [":", "}"]},
    "semanticTokensProvider": {
        "legend": {"tokenTypes": list(TYPES), "tokenModifiers": list(MODIFIERS)},
        "range": True,
        "full": {"delta": True},
    },
    "diagnosticProvider": {"interFileDependencies": True, "workspaceDiagnostics": True, "identifier": NAME},
}
_PREPARES: Final = ("capabilities", "textDocument", "rename", "prepareSupport")
_ENCODINGS: Final[dict[str, Encoding]] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}


def is_greeting(params: object) -> TypeGuard[dict[str, Any]]:
    """Return whether these are parameters of ``initialize``: an object with the capabilities of the client."""
    return isinstance(params, dict) and isinstance(params.get("capabilities"), dict)


def initialize_result(params: object, version: str) -> dict[str, Any]:
    """Return the answer to parameters of ``initialize``, as JSON values; parts of a wrong type count as absent."""
    capabilities = {
        "positionEncoding": position_encoding(params),
        **OFFERED,
        **_OPTIONS,
        # The options may be sent only to a client that knows them.
        "renameProvider": {"prepareProvider": True} if _read_value(params, *_PREPARES) is True else True,
    }
    return {"capabilities": capabilities, "serverInfo": {"name": NAME, "version": version}}


def position_encoding(params: object) -> Encoding:
    """Return the units of columns: the first known ones that the client names."""
    named = _read_value(params, "capabilities", "general", "positionEncodings")
    for name in named if isinstance(named, list) else ():
        if isinstance(name, str) and name in _ENCODINGS:
            return _ENCODINGS[name]
    return "utf-16"


def _read_value(value: object, *path: str) -> object:
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
