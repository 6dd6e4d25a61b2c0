"""Blocks of vISA in other languages as texts of their own: opened, and written back.

The text that a client shows is a document like any other, under a URI of its own; the server keeps nothing of it. What was changed
comes back as edits of the host, which the client applies: a block that has changed there meanwhile is not written over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

from lsprotocol import types

from visa_lsp.embed.block_text import BlockRefused, block_text, blocks_of
from visa_lsp.embed.write_back import edits_of
from visa_lsp.lsp.capabilities import OPEN_BLOCK, WRITE_BLOCK
from visa_lsp.lsp.convert import raw_edits, raw_range, to_offset
from visa_lsp.lsp.handlers.commands import BadArgument, options_of

if TYPE_CHECKING:
    from visa_lsp.embed.host_text import HostText
    from visa_lsp.ide.workspace import OpenDocument
    from visa_lsp.lsp.services import Result
    from visa_lsp.lsp.session import VisaServer

SCHEME: Final = "visa-block"
_DIGITS: Final = 10


def register(server: VisaServer) -> None:
    """Declare the handlers of this module."""
    server.command(OPEN_BLOCK)(on_open_block)
    server.command(WRITE_BLOCK)(on_write_block)


def lenses_of_blocks(ls: VisaServer, opened: OpenDocument, host: HostText) -> list[types.CodeLens] | None:
    """A lens above each block, which opens it; none where lenses are turned off."""
    if not ls.documents.settings_for(opened.key).code_lens:
        return None
    found = []
    for number, (span, _, _) in enumerate(blocks_of(host)):
        line = opened.document.position(span.start)[0]
        place = types.Range(types.Position(line, 0), types.Position(line, 0))
        argument = {"uri": opened.key, "block": number}
        found.append(types.CodeLens(place, types.Command("Open as vISA", OPEN_BLOCK, arguments=[argument])))
    return found


async def on_open_block(ls: VisaServer, arguments: list[Any], _token: Any) -> Result:
    """Give a block of a host as a text: the one of number ``block``, else the one at ``line`` and ``character``, from 0.

    The answer has ``block``, its number, ``text``, ``uri``, what the text may be called, and ``range``, its place in the host.
    """
    try:
        options = options_of(arguments, second="block")
        opened, host = _host(ls, options)
        number = _number(options, "block")
        if number is None:
            number = _at(ls, opened, host, options)
        known = block_text(host, number, _name(opened.key))
    except (BadArgument, BlockRefused) as problem:
        return {"ok": False, "error": str(problem)}
    return {
        "ok": True,
        "block": known.number,
        "text": known.text,
        "uri": f"{SCHEME}:/{quote(_name(opened.key))}.{known.number + 1}.visaasm?{quote(opened.key, safe='')}",
        "range": raw_range(opened.document, known.span, ls.encoding),
    }


async def on_write_block(ls: VisaServer, arguments: list[Any], _token: Any) -> Result:
    """Give the edits of the host that a changed text of block ``block`` is; ``before`` is the text that was opened.

    The answer has ``edit``, a workspace edit for the client to apply, and ``changed``, whether it has anything in it.
    """
    try:
        options = options_of(arguments)
        opened, host = _host(ls, options)
        number, before, text = (_needed(options, name) for name in ("block", "before", "text"))
        edits = edits_of(host, _number({"block": number}, "block") or 0, _name(opened.key), before, text)
    except (BadArgument, BlockRefused) as problem:
        return {"ok": False, "error": str(problem)}
    changes = {opened.key: raw_edits(opened.document, edits, ls.encoding)}
    return {"ok": True, "changed": bool(edits), "edit": {"changes": changes}}


def _host(ls: VisaServer, options: dict[str, str]) -> tuple[OpenDocument, HostText]:
    found = ls.host(types.TextDocumentIdentifier(options["uri"]))
    if found is None:
        raise BadArgument(f"`{options['uri']}` is not open as a text with vISA in its strings")
    return found


def _needed(options: dict[str, str], name: str) -> str:
    if name not in options:
        raise BadArgument(f"the object has no `{name}`")
    return options[name]


def _number(options: dict[str, str], name: str) -> int | None:
    """An option that is a number from 0; None where it is not given."""
    value = options.get(name)
    if value is not None and not (value.isdecimal() and len(value) < _DIGITS):
        raise BadArgument(f"`{name}` must be a number from 0")
    return None if value is None else int(value)


def _at(ls: VisaServer, opened: OpenDocument, host: HostText, options: dict[str, str]) -> int:
    """The number of the block at a place; of one line the first that stands there."""
    line, character = _number(options, "line"), _number(options, "character")
    if line is None:
        raise BadArgument("the object has neither `block` nor `line`")
    start = to_offset(opened.document, types.Position(line, character or 0), ls.encoding)
    end = to_offset(opened.document, types.Position(line + 1, 0), ls.encoding) if character is None else start
    for number, (span, _, _) in enumerate(blocks_of(host)):
        if span.start <= end and start <= span.end:
            return number
    raise BadArgument(f"there is no vISA at line {line + 1} of {_name(opened.key)}")


def _name(uri: str) -> str:
    """The last part of a URI as a user knows it."""
    return " ".join(unquote(uri.rpartition("/")[2]).split()) or uri
