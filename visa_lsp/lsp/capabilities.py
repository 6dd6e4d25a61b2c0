"""The answer to ``initialize`` as far as handlers do not imply it, and the names of commands that several modules use."""

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

# What handlers do not imply, as JSON values.
OPTIONS: Final[dict[str, Any]] = {
    "textDocumentSync": {"openClose": True, "change": 2, "save": True},
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
_ENCODINGS: Final[dict[str, Encoding]] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}


def is_greeting(params: object) -> TypeGuard[dict[str, Any]]:
    """Return whether these are parameters of ``initialize``: an object with the capabilities of the client."""
    return isinstance(params, dict) and isinstance(params.get("capabilities"), dict)


def position_encoding(params: dict[str, Any]) -> Encoding:
    """Return the units of columns: the first known ones that the client names."""
    general = params["capabilities"].get("general")
    named = general.get("positionEncodings") if isinstance(general, dict) else None
    for name in named if isinstance(named, list) else ():
        if isinstance(name, str) and name in _ENCODINGS:
            return _ENCODINGS[name]
    return "utf-16"
