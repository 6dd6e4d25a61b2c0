"""Commands on objects and whole programs: assemble, disassemble, compare, read as code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

from lsprotocol import types

from visa_lsp.lsp.capabilities import ASSEMBLE, DISASSEMBLE
from visa_lsp.lsp.handlers.commands import BadArgument, Call, Work, bytes_of, command, is_object, later
from visa_lsp.lsp.visa_server import VisaServer, handles

if TYPE_CHECKING:
    from visa_lsp.embed.host_text import HostText
    from visa_lsp.ide.workspace import OpenDocument
    from visa_lsp.lsp.jobs.model import Result

DISASSEMBLY: Final = "visa/disassembly"
SCHEME: Final = "visa-disassembly"
CODE_SCHEME: Final = "visa-code"


@command(ASSEMBLE, "vISA: assembling", trusted=True)
def on_assemble(call: Call) -> Work:
    """Assemble a document into an object file beside it."""
    call.read()
    return later("command_answers", "assemble_text", call.text, call.path, call.platform)


@command(DISASSEMBLE, "vISA: disassembling")
def on_disassemble(call: Call) -> Work:
    """Return an object file as text; for a text, the text of its object."""
    call.read()
    if call.uri.startswith(f"{SCHEME}:"):
        call.options["uri"] = "file:" + call.uri.partition(":")[2].removesuffix(".visaasm")
    # A separate document with the path of the object and a suffix for its kind.
    shown = f"{SCHEME}:{call.uri.partition(':')[2]}.visaasm"
    text = None if is_object(call.uri) else call.text
    disassemble = later("command_answers", "disassemble", text, call.path, call.platform)
    return lambda: {**disassemble(), "uri": shown}


@handles(DISASSEMBLY, is_guarded=False)
async def on_disassembly(ls: VisaServer, params: Any) -> Result:
    """Return the text that an editor shows for an object file."""
    return await on_disassemble(ls, params, None)


@handles(types.WORKSPACE_TEXT_DOCUMENT_CONTENT, is_guarded=False)
async def on_text_content(
    ls: VisaServer, params: types.TextDocumentContentParams
) -> types.TextDocumentContentResult | None:
    """Return the text of a disassembly or of pseudo-code, for clients of protocol 3.18."""
    if params.uri.startswith(f"{CODE_SCHEME}:"):
        answer = await on_read(ls, [unquote(params.uri.partition("?")[2])], None)
        lines = (line["text"] for kernel in answer.get("kernels", ()) for line in (*kernel["lines"], {"text": ""}))
        answer["text"] = "\n".join(lines)
    else:
        answer = await on_disassemble(ls, {"uri": params.uri}, None)
    return types.TextDocumentContentResult(text=str(answer.get("text") or f"// {answer.get('error')}\n"))


@command("visa.zebin", "vISA: reading the zebin")
def on_zebin(call: Call) -> Work:
    """Return the contents of a zebin: sections, kernels, ze_info, and vISA as text."""
    call.read()
    if call.path is None:
        raise BadArgument("a zebin must be a file")
    return later("zebins", "parts", call.path, call.platform)


@command("visa.diff", "vISA: comparing")
def on_diff(call: Call) -> Work:
    """Compare a text or an object (``uri``) with another one (``other``), open documents or else files.

    The answer has ``kernels`` as in ``visa-lsp diff --format json``, ``a`` and ``b`` (the texts of both with the names
    of the first), and ``rows`` (the pairs of adjacent lines).
    """
    other = call.read(second="other").get("other")
    if other is None:
        raise BadArgument("the object has no `other`, the document to compare with")
    sides = [(bytes_of(call.ls, uri), call.ls.files.path_of(uri) or uri) for uri in (call.uri, other)]
    return later("comparing", "difference", *sides, call.platform)


@command("visa.read", "vISA: reading")
def on_read(call: Call) -> Work:
    """Return the kernels of a text, of an object, or of the blocks of vISA in another language, as pseudo-code.

    The answer is that of ``visa-lsp read --format json`` with ``uri``, a name for the pseudo-code. ``visa`` are lines
    of the document, from 1. For a text with errors the answer is its first error, with its ``line``.
    """
    call.read()
    hosted = call.ls.host(types.TextDocumentIdentifier(call.uri))
    parts = _blocks(*hosted) if hosted is not None else [(call.uri, None if is_object(call.uri) else call.text, None)]
    job = {"path": call.path, "platform": call.platform, "opened": call.beside, "parts": parts}
    shown = f"{CODE_SCHEME}:/{call.uri.rpartition('/')[2]}.visacode?{quote(call.uri, safe='')}"
    return lambda: {**call.ls.reading.read(job), "uri": shown}


def _blocks(opened: OpenDocument, host: HostText) -> list[tuple[str, str, list[int | None]]]:
    """Return, for each block of a host, a name, its text, and the line of the host, from 1, for each of its lines."""
    from visa_lsp.embed.block_text import block_text, blocks_of

    blocks = []
    for number in range(len(blocks_of(host))):
        block = block_text(host, number, opened.key.rpartition("/")[2])
        lines = [None if line is None else line + 1 for line in block.lines_in_host(host)]
        blocks.append((f"{opened.key}#{number}", block.text, lines))
    return blocks
