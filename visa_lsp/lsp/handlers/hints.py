"""Inlay hints, code lenses, document links, inline values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import unquote

from lsprotocol import types

from visa_lsp.companions import stem_of
from visa_lsp.ide.features.code_lens import code_lenses, resolve_lens
from visa_lsp.ide.features.document_links import document_links, yaml_links
from visa_lsp.ide.features.inlay_hints import HintKind, InlayText, inlay_hints
from visa_lsp.ide.features.inline_values import inline_values
from visa_lsp.ide.workspace import Language, OpenDocument
from visa_lsp.ide.zeinfo.info_document import InfoDocument
from visa_lsp.lsp.capabilities import ASSEMBLE, DISASSEMBLE, GEN, RUN, SHOW_REFERENCES
from visa_lsp.lsp.convert import line_range
from visa_lsp.lsp.handlers import info
from visa_lsp.lsp.handlers.embedded_blocks import lenses_of_blocks
from visa_lsp.lsp.transport.protocol import Encoded
from visa_lsp.lsp.visa_server import VisaServer, handles
from visa_lsp.text import units

_COMMAND: Final = {"run": RUN, "assemble": ASSEMBLE, "disassemble": DISASSEMBLE, "gen": GEN}
_TYPE_HINT: Final = types.InlayHintKind.Type.value


@handles(types.TEXT_DOCUMENT_INLAY_HINT)
async def on_inlay_hint(ls: VisaServer, params: types.InlayHintParams) -> Any:
    """Return the hints beside the lines of a range."""
    described = info.info_of(ls, params.text_document)
    if described is not None:
        return info.hints(ls, *described, params.range)
    opened = ls.find_open(params.text_document)
    if opened is None:
        return None
    document = opened.analysis.document
    values = []
    for hint in _hints(ls, opened, params.range.start.line, params.range.end.line):
        column = hint.column
        text = document.line_text(hint.line) if ls.encoding != "utf-32" else ""
        if not text.isascii():
            column = units(text[:column], ls.encoding)
        value: dict[str, Any] = {
            "position": {"line": hint.line, "character": column},
            "label": hint.text,
            "paddingLeft": hint.kind is not HintKind.TYPE,
        }
        if hint.kind is HintKind.TYPE:
            value["kind"] = _TYPE_HINT
        if hint.tooltip:
            value["tooltip"] = hint.tooltip
        values.append(value)
    return Encoded.of(values)


def _hints(ls: VisaServer, opened: OpenDocument, first_line: int, last_line: int) -> tuple[InlayText, ...]:
    """Return the hints that the settings enable; depending on them, types only beside the line of the cursor."""
    settings = ls.documents.settings_for(opened.key)
    shown = settings.hints - {HintKind.TYPE} if settings.type_hints_at_cursor else settings.hints
    hints = inlay_hints(opened.analysis, first_line, last_line, shown, info.input_labels(ls, opened))
    line = ls.cursors.get(opened.key)
    if not settings.type_hints_at_cursor or line is None or not first_line <= line <= last_line:
        return hints
    return (*hints, *inlay_hints(opened.analysis, line, line, (HintKind.TYPE,)))


@handles("visa/didChangeCursor", is_guarded=False)
def did_change_cursor(ls: VisaServer, params: Any) -> None:
    """Store the line of the cursor in a document: ``{uri, line}``, lines from 0."""
    # The library converts values of unknown types to objects.
    uri, line = (params.get(n) if isinstance(params, dict) else getattr(params, n, None) for n in ("uri", "line"))
    if not isinstance(uri, str) or isinstance(line, bool) or not isinstance(line, int):
        return
    opened = ls.documents.get(uri)
    if opened is None or ls.cursors.get(uri) == line:
        return
    ls.cursors[uri] = line
    if ls.documents.settings_for(uri).type_hints_at_cursor:
        ls.refresh("inlay_hint")


@handles(types.TEXT_DOCUMENT_CODE_LENS)
async def on_code_lens(ls: VisaServer, params: types.CodeLensParams) -> list[types.CodeLens] | None:
    """Return the commands above each kernel, or block in a host, without those refused in an untrusted folder."""
    host = ls.host(params.text_document)
    if host is not None:
        return lenses_of_blocks(ls, *host)
    opened = ls.find_open(params.text_document)
    if opened is None or not ls.documents.settings_for(opened.key).code_lens:
        return None
    lenses = []
    for lens in code_lenses(opened.analysis):
        place = types.Range(types.Position(lens.line, 0), types.Position(lens.line, 0))
        if lens.action in _COMMAND:
            if lens.action != "disassemble" and not ls.documents.trusted:
                continue
            argument = {"uri": opened.key, "kernel": lens.name}
            machine_code = ls.machine_code.get(opened.key) if lens.action == "gen" else None
            title = machine_code.title(opened.analysis.document, lens.name) if machine_code is not None else ""
            command = types.Command(title or lens.title, _COMMAND[lens.action], arguments=[argument])
            lenses.append(types.CodeLens(place, command))
        elif lens.action == "references":
            lenses.append(types.CodeLens(place, data={"uri": opened.key, "name": lens.name}))
        else:
            lenses.append(types.CodeLens(place, types.Command(lens.title, "")))
    return lenses


@handles(types.CODE_LENS_RESOLVE)
async def on_code_lens_resolve(ls: VisaServer, lens: types.CodeLens) -> types.CodeLens | None:
    """Count the references of a kernel or function."""
    data: Any = lens.data
    opened = ls.documents.get(str(data.get("uri"))) if isinstance(data, dict) else None
    if opened is None or lens.command is not None:
        return lens
    title = resolve_lens(opened.analysis, str(data.get("name")))
    where = {"line": lens.range.start.line, "character": lens.range.start.character}
    lens.command = types.Command(title, SHOW_REFERENCES, arguments=[opened.key, where, str(data.get("name"))])
    return lens


@handles(types.TEXT_DOCUMENT_DOCUMENT_LINK)
async def on_link(ls: VisaServer, params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
    """Return links from names of files to existing files."""
    opened = ls.documents.get(params.text_document.uri)
    if opened is None:
        return None
    stem = stem_of(PurePosixPath(unquote(opened.key)))
    document = opened.analysis.document
    if opened.language is Language.VISA:
        links = document_links(opened.analysis)
    elif opened.language in (Language.LAUNCH, Language.ZEINFO):
        described = info.info_of(ls, params.text_document)
        if described is not None and not isinstance(described[1], InfoDocument) and described[1].is_read:
            return info.file_links(ls, opened, described[1])
        links = yaml_links(document, stem)
    else:
        return None
    existing_links = []
    for link in links:
        target = ls.files.find_existing(opened.key, link.candidates)
        if target is not None:
            place = line_range(document, link.line, link.span, ls.encoding)
            existing_links.append(types.DocumentLink(place, target=target, tooltip=link.tooltip))
    return existing_links


@handles(types.TEXT_DOCUMENT_INLINE_VALUE)
async def on_inline_value(ls: VisaServer, params: types.InlineValueParams) -> list[types.InlineValueText] | None:
    """Return results of the last run beside their lines."""
    opened = ls.find_open(params.text_document)
    kept = ls.runs.get(params.text_document.uri)
    if opened is None or kept is None:
        return None
    document, (text, run) = opened.analysis.document, kept
    if document.text != text:
        run = replace(run, lines={})  # the results belong to another text, where arguments are found by name
    return [
        types.InlineValueText(line_range(document, value.line, value.span, ls.encoding), value.text)
        for value in inline_values(opened.analysis, run, params.range.start.line, params.range.end.line)
    ]
