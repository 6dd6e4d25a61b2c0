"""Commands on blocks of vISA in other languages: open as a text, write back, run.

The text shown by a client is a normal document with its own URI; the server stores nothing about it. Changes are
returned as edits of the host for the client; a block that has changed there meanwhile is not overwritten. The code for
blocks is loaded by the first request for one, because most sessions have none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

from lsprotocol import types
from msgspec import to_builtins

from visa_lsp.lsp.capabilities import OPEN_BLOCK, RUN_BLOCK
from visa_lsp.lsp.convert import raw_edits, raw_range, to_offset
from visa_lsp.lsp.handlers.commands import DIGITS, BadArgument, Call, Work, command, named, options_of
from visa_lsp.lsp.handlers.runs import MadeRun, run_made

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.embed.host_text import HostText
    from visa_lsp.embed.runnable import RunnableBlock
    from visa_lsp.ide.workspace import OpenDocument
    from visa_lsp.lsp.jobs.model import Result
    from visa_lsp.lsp.visa_server import VisaServer

SCHEME: Final = "visa-block"
_KERNEL: Final = "kernel"


def lenses_of_blocks(ls: VisaServer, opened: OpenDocument, host: HostText) -> list[types.CodeLens] | None:
    """Return lenses above each block, which open and run it; empty if lenses are turned off."""
    if not ls.documents.settings_for(opened.key).code_lens:
        return None
    from visa_lsp.embed.block_text import blocks_of

    lenses = []
    for number, (span, _, _) in enumerate(blocks_of(host)):
        line = opened.document.position(span.start)[0]
        place = types.Range(types.Position(line, 0), types.Position(line, 0))
        argument = {"uri": opened.key, "block": number}
        for title, name in (("Open as vISA", OPEN_BLOCK), ("Run this block", RUN_BLOCK)):
            lenses.append(types.CodeLens(place, types.Command(title, name, arguments=[argument])))
    return lenses


@named(OPEN_BLOCK)
async def on_open_block(ls: VisaServer, arguments: list[Any], _token: Any) -> Result:
    """Return a block of a host as a text: block number ``block``, else the block at ``line`` and ``character``, from 0.

    The answer has ``block`` (its number), ``text``, ``uri`` (a name for the text) and ``range`` (its place in the
    host). With ``as`` = ``kernel`` the text is a kernel that can be run, and ``quick`` is its launch.
    """
    from visa_lsp.embed.block_text import BlockRefused, block_text
    from visa_lsp.embed.runnable import runnable_block

    try:
        options = options_of(arguments, second="block")
        opened, host = _host(ls, options)
        number = _chosen(ls, opened, host, options)
        block = block_text(host, number, _name(opened.key))
        kernel = runnable_block(host, number, _name(opened.key)) if _is_kernel(options) else None
    except (BadArgument, BlockRefused) as problem:
        return {"ok": False, "error": str(problem)}
    ending = f"{block.number + 1}{'.run' if kernel is not None else ''}.visaasm"
    answer = {
        "ok": True,
        "block": block.number,
        "text": kernel.text if kernel is not None else block.text,
        "uri": f"{SCHEME}:/{quote(_name(opened.key))}.{ending}?{quote(opened.key, safe='')}",
        "range": raw_range(opened.document, block.span, ls.encoding),
    }
    return {**answer, "quick": kernel.launch} if kernel is not None else answer


@command(RUN_BLOCK, "vISA: running", trusted=True)
def on_run_block(call: Call) -> Work:
    """Run a block as a kernel; the block is chosen as in ``visa.openBlock``; ``quick`` has other contents of its buffers.

    The answer is that of ``visa.run`` with ``block``, ``text`` (the kernel) and ``operands``: the description of each,
    and in ``values`` the final contents of a written one, lane by lane.
    """
    from visa_lsp.embed.block_text import BlockRefused
    from visa_lsp.embed.runnable import runnable_block

    def make(options: dict[str, str]) -> MadeRun:
        opened, host = _host(call.ls, options)
        try:
            block = runnable_block(host, _chosen(call.ls, opened, host, options), _name(opened.key))
        except BlockRefused as problem:
            raise BadArgument(str(problem)) from None
        call.finish = lambda answer: {
            **answer,
            "block": block.number,
            "text": block.text,
            "operands": _describe_operands(block, answer.get("buffers", ())),
        }
        return MadeRun(block.text, block.launch, max((o.buffer_elements for o in block.operands), default=1))

    return run_made(call, make)


def _describe_operands(block: RunnableBlock, buffers: Iterable[Result]) -> list[Result]:
    """Return the operands of a block, with the contents of their buffers after a run."""
    contents = {buffer["arg"]: buffer["head"] for buffer in buffers}
    return [
        {
            **to_builtins(o),
            **({"values": o.by_lane(contents[o.buffer])} if o.written and o.buffer in contents else {}),
        }
        for o in block.operands
    ]


@named("visa.writeBlock")
async def on_write_block(ls: VisaServer, arguments: list[Any], _token: Any) -> Result:
    """Return the edits of the host for a changed text of block ``block``; ``before`` is the text as it was opened.

    The answer has ``edit``, a workspace edit for the client to apply, and ``changed``: the edit is not empty.
    """
    from visa_lsp.embed.block_text import BlockRefused
    from visa_lsp.embed.write_back import edits_of

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
    host = ls.host(types.TextDocumentIdentifier(options["uri"]))
    if host is None:
        raise BadArgument(f"`{options['uri']}` is not open as a text with vISA in its strings")
    return host


def _is_kernel(options: dict[str, str]) -> bool:
    if options.get("as", _KERNEL) != _KERNEL:
        raise BadArgument(f"`as` must be `{_KERNEL}`")
    return "as" in options


def _chosen(ls: VisaServer, opened: OpenDocument, host: HostText, options: dict[str, str]) -> int:
    """Return the number of the block for a call: the named one, else the one at a place."""
    number = _number(options, "block")
    return _at(ls, opened, host, options) if number is None else number


def _needed(options: dict[str, str], name: str) -> str:
    if name not in options:
        raise BadArgument(f"the object has no `{name}`")
    return options[name]


def _number(options: dict[str, str], name: str) -> int | None:
    """Return an option that is a number from 0; None if it is missing."""
    value = options.get(name)
    if value is not None and not (value.isdecimal() and len(value) < DIGITS):
        raise BadArgument(f"`{name}` must be a number from 0")
    return None if value is None else int(value)


def _at(ls: VisaServer, opened: OpenDocument, host: HostText, options: dict[str, str]) -> int:
    """Return the number of the block at a place; the first of several on the line."""
    line, character = _number(options, "line"), _number(options, "character")
    if line is None:
        raise BadArgument("the object has neither `block` nor `line`")
    from visa_lsp.embed.block_text import blocks_of

    start = to_offset(opened.document, types.Position(line, character or 0), ls.encoding)
    end = to_offset(opened.document, types.Position(line + 1, 0), ls.encoding) if character is None else start
    for number, (span, _, _) in enumerate(blocks_of(host)):
        if span.start <= end and start <= span.end:
            return number
    raise BadArgument(f"no vISA at line {line + 1} of {_name(opened.key)}")


def _name(uri: str) -> str:
    """Return the last part of a URI, for messages."""
    return " ".join(unquote(uri.rpartition("/")[2]).split()) or uri
