"""The requests of the random sessions: those with a handler in the server, and its commands."""

from __future__ import annotations

from lsprotocol import types

from visa_lsp.lsp.server import create_server


def _requests() -> dict[str, frozenset[str]]:
    """Return the members of the parameters of each request of the protocol that is handled."""
    found = {}
    for method in sorted(create_server("").protocol.fm.features):
        _, answer, params, _ = types.METHOD_TO_TYPES.get(method, (None, None, None, None))
        if answer is not None and method != types.INITIALIZE:
            found[method] = frozenset(getattr(params, "__annotations__", ()))
    return found


_HANDLED = _requests()
_OF_TEXTS = [method for method in _HANDLED if method.startswith("textDocument/")]
# About a place in a document, about a document or a range, and the others.
AT_PLACE = tuple(method for method in _OF_TEXTS if _HANDLED[method] & {"position", "positions"})
WHOLE = tuple(method for method in _OF_TEXTS if method not in AT_PLACE)
OTHER = tuple(method for method in _HANDLED if method not in _OF_TEXTS)
COMMANDS = tuple(create_server("").protocol.fm.commands)
