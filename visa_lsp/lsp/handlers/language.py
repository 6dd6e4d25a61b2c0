"""Requests about the token at the cursor: hover, definition, type definition, references, highlights.

Each converts its parameters, calls ``ide``, and converts the result back.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from lsprotocol import types

from visa_lsp.embed import requests
from visa_lsp.ide.features.definition import Target, definition, implementation, type_definition
from visa_lsp.ide.features.hover import hover
from visa_lsp.ide.features.references import ReferenceKind, highlights, references
from visa_lsp.lsp.convert import range_of, raw_range, to_offset
from visa_lsp.lsp.handlers import info, sources
from visa_lsp.lsp.transport.protocol import Encoded
from visa_lsp.lsp.visa_server import VisaServer, handles
from visa_lsp.lsp.work_progress import send_partial

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.embed.host_text import HostText
    from visa_lsp.ide.workspace import OpenDocument
    from visa_lsp.text import Span

_HIGHLIGHT: Final = {
    ReferenceKind.READ: types.DocumentHighlightKind.Read,
    ReferenceKind.WRITE: types.DocumentHighlightKind.Write,
    ReferenceKind.READ_WRITE: types.DocumentHighlightKind.Write,
    ReferenceKind.DECLARED: types.DocumentHighlightKind.Text,
    ReferenceKind.NAMED: types.DocumentHighlightKind.Text,
}

R = TypeVar("R")


class AtPosition(Protocol):
    """The common parameters of requests about a place."""

    text_document: types.TextDocumentIdentifier
    position: types.Position


def place(ls: VisaServer, params: AtPosition) -> tuple[OpenDocument, int] | None:
    """Return the open document and the offset of a request."""
    opened = ls.find_open(params.text_document)
    if opened is None:
        return None
    return opened, to_offset(opened.analysis.document, params.position, ls.encoding)


def place_in_host(ls: VisaServer, params: AtPosition) -> tuple[OpenDocument, HostText, int] | None:
    """Return the open document of another language, its vISA, and the offset of a request."""
    host = ls.host(params.text_document)
    return (*host, to_offset(host[1].document, params.position, ls.encoding)) if host is not None else None


def answer_by_language(
    ls: VisaServer,
    params: AtPosition,
    of_visa: Callable[..., R],
    of_host: Callable[..., R],
    *args: object,
    **options: object,
) -> tuple[OpenDocument, R] | None:
    """Return the open document of a request, and the answer of a feature of vISA, or of vISA in another language."""
    inside = place_in_host(ls, params)
    if inside is not None:
        return inside[0], of_host(inside[1], inside[2], *args, **options)
    spot = place(ls, params)
    return (spot[0], of_visa(spot[0].analysis, spot[1], *args, **options)) if spot is not None else None


_BODY_NAME: Final = re.compile(r'\.(?:kernel|global_function)\s+"?([^"]+?)"?')
_MAX_CODE_LINES: Final = 40  # of a kernel in hover


@handles(types.TEXT_DOCUMENT_HOVER)
async def on_hover(ls: VisaServer, params: types.HoverParams) -> types.Hover | None:
    """Return the explanation of the token; plain text for clients that cannot show Markdown."""
    described = info.info_of(ls, params.text_document)
    spot: tuple[OpenDocument, int] | None
    if described is not None:
        offset = to_offset(described[0].analysis.document, params.position, ls.encoding)
        spot = (described[0], offset)
        result = described[1].hover(offset)
    elif (inside := place_in_host(ls, params)) is not None:
        spot = inside[0], inside[2]
        result = requests.hover(inside[1], inside[2])
    else:
        spot = place(ls, params)
        result = None
        if spot is not None:
            pages = functools.partial(info.input_pages, ls, spot[0])
            code = ls.machine_code.get(spot[0].key)
            register = functools.partial(code.register, spot[0].analysis.document) if code is not None else None
            result = hover(spot[0].analysis, spot[1], pages, register)
    if spot is None or result is None:
        return None
    text = ls.client_capabilities.text_document
    formats = text.hover.content_format if text and text.hover else None
    plain = bool(formats) and types.MarkupKind.Markdown not in (formats or [])
    kind = types.MarkupKind.PlainText if plain else types.MarkupKind.Markdown
    shown = sources.excerpt(ls, spot[0].key, result.source) if result.source is not None else ""
    if described is None and inside is None:
        shown += await _code_of_body(ls, spot[0], result.span)
    content = types.MarkupContent(kind, result.markdown + shown)
    return types.Hover(content, range_of(spot[0].document, result.span, ls.encoding))


async def _code_of_body(ls: VisaServer, opened: OpenDocument, span: Span) -> str:
    """Return the first lines of a body as C, if a span is its name; empty for other spans."""
    document = opened.document
    head = _BODY_NAME.fullmatch(document.line_text(document.line_at(span.start)).partition("//")[0].strip())
    if head is None or document.slice(span).strip('"') != head[1]:
        return ""
    from visa_lsp.lsp.handlers.objects import on_read

    answer = await on_read(ls, [opened.key], None)
    lines = next((k["lines"] for k in answer.get("kernels", ()) if k["name"] == head[1]), ())
    texts = [line["text"] for line in lines[:_MAX_CODE_LINES]]
    rest = [f"// {len(lines) - len(texts)} more lines"] if len(lines) > len(texts) else []
    return "\n\n```c\n" + "\n".join(texts + rest) + "\n```\n" if texts else ""


def _takes_links(ls: VisaServer, kind: str) -> bool:
    """Return whether the client takes links, which have both ranges, as answers to a request."""
    capability = getattr(ls.client_capabilities.text_document, kind, None)
    return bool(capability and capability.link_support)


def _location(
    ls: VisaServer, opened: OpenDocument, target: Target, *, links: bool
) -> types.Location | types.LocationLink:
    document = opened.document
    name = range_of(document, target.name, ls.encoding)
    if not links:
        return types.Location(opened.key, name)
    line = range_of(document, target.line, ls.encoding)
    return types.LocationLink(opened.key, line, name, range_of(document, target.origin, ls.encoding))


def _locations(ls: VisaServer, opened: OpenDocument, target: Target | None, *, links: bool) -> Any:
    """Return a list of one link for clients that know links, else a location."""
    if target is None:
        return None
    location = _location(ls, opened, target, links=links)
    return [location] if links else location


@handles(types.TEXT_DOCUMENT_DEFINITION)
async def on_definition(ls: VisaServer, params: types.DefinitionParams) -> Any:
    """Return the declaration of a name; for the rest of an instruction, its line in the source.

    The target of an argument in ze_info is its ``.input``, and the reverse. The target of a kernel's name is its
    ze_info, that of the word ``.kernel`` its launch file.
    """
    described = info.info_of(ls, params.text_document)
    if described is not None:
        offset = to_offset(described[0].analysis.document, params.position, ls.encoding)
        return info.definition(ls, described[0].key, described[1], offset)
    links = _takes_links(ls, "definition")
    inside = place_in_host(ls, params)
    if inside is not None:
        targets = requests.definition(inside[1], inside[2])
        return [_location(ls, inside[0], target, links=links) for target in targets]
    spot = place(ls, params)
    if spot is None:
        return None
    locations = _locations(ls, spot[0], definition(spot[0].analysis, spot[1]), links=links)
    if locations is None:
        locations = sources.location(ls, *spot, links=links)
    line = spot[0].analysis.document.line_text(params.position.line).lstrip()
    filled = info.place_in_info(ls, spot[0], spot[1]) if line.startswith((".input", ".kernel ")) else None
    if filled is None and locations is None and line.startswith(".kernel "):
        filled = info.launch_file(ls, spot[0], spot[1])
    if filled is None:
        return locations
    if isinstance(locations, list):
        return [*locations, types.LocationLink(filled.uri, filled.range, filled.range)]
    return [locations, filled] if locations is not None else filled


def _locations_by(ls: VisaServer, params: AtPosition, kind: str, find: Callable[[Analysis, int], Target | None]) -> Any:
    """Return the place that a feature of vISA finds, as the client takes answers to requests of a ``kind``."""
    spot = place(ls, params)
    target = find(spot[0].analysis, spot[1]) if spot is not None else None
    return _locations(ls, spot[0], target, links=_takes_links(ls, kind)) if spot is not None else None


@handles(types.TEXT_DOCUMENT_DECLARATION)
async def on_declaration(ls: VisaServer, params: types.DeclarationParams) -> Any:
    """Return the declaration of a name, which is the same place as its definition."""
    return _locations_by(ls, params, "declaration", definition)


@handles(types.TEXT_DOCUMENT_TYPE_DEFINITION)
async def on_type_definition(ls: VisaServer, params: types.TypeDefinitionParams) -> Any:
    """Return the variable at the end of an alias chain."""
    return _locations_by(ls, params, "type_definition", type_definition)


@handles(types.TEXT_DOCUMENT_IMPLEMENTATION)
async def on_implementation(ls: VisaServer, params: types.ImplementationParams) -> Any:
    """Return the body of a called function; for an input, its argument in the ze_info beside the text."""
    spot = place(ls, params)
    locations = _locations_by(ls, params, "implementation", implementation)
    return locations or (info.place_in_info(ls, *spot) if spot is not None else None)


@handles(types.TEXT_DOCUMENT_REFERENCES)
async def on_references(ls: VisaServer, params: types.ReferenceParams) -> Any:
    """Return every place of a name and of its aliases."""
    declarations = params.context.include_declaration
    asked = answer_by_language(ls, params, references, requests.references, declarations=declarations)
    if asked is None:
        return None
    opened, occurrences = asked
    locations = [{"uri": opened.key, "range": raw_range(opened.document, o.span, ls.encoding)} for o in occurrences]
    if params.partial_result_token is None:
        return Encoded.of(locations)
    for start in range(0, len(locations), 500):
        send_partial(ls, params.partial_result_token, locations[start : start + 500])
    return []


@handles(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
async def on_highlight(ls: VisaServer, params: types.DocumentHighlightParams) -> Any:
    """Return the places of a name, with reads and writes distinguished."""
    asked = answer_by_language(ls, params, highlights, requests.highlights)
    if asked is None:
        return None
    document = asked[0].document
    return Encoded.of(
        [{"range": raw_range(document, o.span, ls.encoding), "kind": _HIGHLIGHT[o.use].value} for o in asked[1]]
    )
