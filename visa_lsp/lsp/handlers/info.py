"""Requests about ze_info documents and launch files: finds their related files and converts the answers of ``ide``.

Registers no handlers: the handler of a method calls this module for documents of these languages.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lsprotocol import types

from visa_lsp.companions import stem_of
from visa_lsp.ide.index.focus import header_lines, header_of
from visa_lsp.ide.index.text_index import index_of
from visa_lsp.ide.workspace import Language, OpenDocument
from visa_lsp.ide.zeinfo.described_inputs import (
    HeldArgument,
    arguments_in,
    inputs_told,
    kernel_at,
    kernel_names,
    place_in_document,
    simd_size_of,
)
from visa_lsp.ide.zeinfo.info_document import InfoDocument
from visa_lsp.ide.zeinfo.input_words import labels, pages
from visa_lsp.lsp.convert import position, range_of
from visa_lsp.program.suffixes import TEXTS
from visa_lsp.syntax.document import Document
from visa_lsp.syntax.memo import Key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.ide.launchfile.launch_document import LaunchDocument
    from visa_lsp.ide.yaml.schema_answers import YamlSymbol
    from visa_lsp.lsp.visa_server import VisaServer

# The vISA text beside a ze_info document, for a state of its file and a platform.
_ANALYSIS: Final = Key["Analysis | None"]()
# Limits the documents that are searched and read for one request; no compiled text has more kernels.
_MAX_KERNELS: Final = 64
_START: Final = types.Position(0, 0)
_SYMBOL: Final = {
    "kernel": types.SymbolKind.Module,
    "function": types.SymbolKind.Function,
    "argument": types.SymbolKind.Field,
}


# For the serial of a ze_info document and its texts, each with the stamp of its state.
_INFO: Final = Key[InfoDocument]()


def info_of(
    ls: VisaServer, identifier: types.TextDocumentIdentifier
) -> tuple[OpenDocument, InfoDocument | LaunchDocument] | None:
    """Return the open document of a request: ze_info with its texts, or a launch file with its folder."""
    opened = ls.documents.get(identifier.uri)
    if opened is not None and opened.language is Language.LAUNCH:
        return opened, _launch_of(ls, opened)
    if opened is None or opened.language is not Language.ZEINFO:
        return None
    text = opened.analysis.document.text
    partners = tuple(partners_of(ls, opened.key, text))
    key = (opened.serial, tuple((name, _mark(ls, name, a)) for name, a in partners))
    return opened, opened.analysis.views.fact(_INFO, lambda: InfoDocument(text, partners), key)


def _launch_of(ls: VisaServer, opened: OpenDocument) -> LaunchDocument:
    # Imported here because few sessions open a launch file.
    from visa_lsp.ide.launchfile.launch_document import LaunchDocument
    from visa_lsp.launchfile.folder import LaunchFolder

    path = ls.files.path_of(opened.key)
    # The text may name files of other machines, which are opened only when the user runs it.
    folder = LaunchFolder(Path(path), trusted=False, beside=ls.files.beside) if path is not None else None
    return LaunchDocument(opened.analysis.document.text, folder)


def _mark(ls: VisaServer, name: str, analysis: Analysis) -> int:
    opened = ls.documents.get(name)
    return opened.serial if opened is not None else id(analysis)


def partners_of(ls: VisaServer, uri: str, text: str) -> list[tuple[str, Analysis]]:
    """Return the vISA texts described by a document: those beside it with its name, or with the name of a kernel."""
    path = ls.files.path_of(uri)
    if path is None:
        return []
    where = Path(path)
    partners = []
    for name in dict.fromkeys((stem_of(where), *kernel_names(text))):
        if not _plain(name):
            continue
        for suffix in TEXTS:
            analysis = _analysis(ls, where.with_name(name + suffix))
            if analysis is not None:
                partners.append((ls.files.uri_of(where.with_name(name + suffix)), analysis))
                break
    return partners


def _analysis(ls: VisaServer, path: Path) -> Analysis | None:
    opened = ls.files.find_open(path)
    if opened is not None:
        return opened.analysis
    uri, stamp = ls.files.uri_of(path), ls.files.stamp(path)
    if stamp is None:
        return None
    platform = ls.documents.platform_name(uri)
    return ls.files.memo(uri).fact(_ANALYSIS, lambda: ls.files.analysis(path), (stamp, platform))


def text_at(ls: VisaServer, uri: str) -> Document | None:
    """Return the text of any document for conversion: the open text, else that of its file."""
    opened = ls.documents.get(uri)
    if opened is not None:
        return opened.document
    path = ls.files.path_of(uri)
    text = ls.files.text(Path(path)) if path is not None else None
    return Document.parse(text) if text is not None else None


def definition(ls: VisaServer, uri: str, info: InfoDocument | LaunchDocument, offset: int) -> types.Location | None:
    """Return the target of an offset: for ze_info a place in the text, for a launch file a place in another file."""
    if not isinstance(info, InfoDocument):
        place = info.definition(offset)
        if place is None or info.folder is None:
            return None
        path, span = place
        start = types.Position(0, 0)
        text = Document.parse(info.folder.text(path)) if span.end else None
        where = range_of(text, span, ls.encoding) if text is not None else types.Range(start, start)
        return types.Location(ls.files.uri_of(path), where)
    target = info.definition(offset)
    text = text_at(ls, target[0]) if target is not None else None
    if target is None or text is None:
        return None
    return types.Location(target[0] or uri, range_of(text, target[1], ls.encoding))


def place_in_info(ls: VisaServer, opened: OpenDocument, offset: int) -> types.Location | None:
    """Return the place in ze_info of the input or kernel at an offset of the text beside it."""
    path = ls.files.path_of(opened.key)
    document = opened.analysis.document
    line = document.position(offset)[0]
    group = index_of(document).group_at(line)
    if path is None or line not in header_lines(document, group.name):
        return None
    # Without the code, whose binding takes seconds in a long text.
    header = header_of(opened.analysis, group.name)
    kernel = kernel_at(header, offset)
    for description in ls.files.beside.descriptions(kernel, Path(path)) if kernel is not None else ():
        span = None if description.is_zebin else place_in_document(description.text, header, offset)
        if span is not None:
            place = range_of(Document.parse(description.text), span, ls.encoding)
            return types.Location(ls.files.uri_of(description.path), place)
    return None


def launch_file(ls: VisaServer, opened: OpenDocument, offset: int) -> types.Location | None:
    """Return the start of the launch file for the kernel at an offset: that with the name of the text, else of the kernel."""
    path = ls.files.path_of(opened.key)
    document = opened.analysis.document
    group = index_of(document).group_at(document.position(offset)[0])
    names = (stem_of(Path(path)) if path is not None else "", group.name)
    target = ls.files.find_existing(opened.key, tuple(f"{name}.launch.yaml" for name in names if _plain(name)))
    return types.Location(target, types.Range(_START, _START)) if target is not None else None


def _plain(name: str) -> bool:
    """Return whether a name may be that of a file in the same folder."""
    return bool(name) and not any(sign in name for sign in "/\\\0")


@dataclass(frozen=True, slots=True)
class _Inputs:
    """The cached contents of a kernel's inputs, with the lines that declare them and the state of the ze_info document."""

    header: tuple[str, ...]
    path: Path | None
    state: object
    contents: Mapping[str, tuple[HeldArgument, ...]]


# By kernel, for a state of a text's folder and the text's platform.
_INPUTS: Final = Key[dict[str, _Inputs]]()


def inputs_beside(
    ls: VisaServer, opened: OpenDocument, kernel: str
) -> tuple[Mapping[str, tuple[HeldArgument, ...]], str]:
    """Return the contents of a kernel's inputs by the ze_info beside its text, and that document's name; empty if there is none.

    The document is searched again when the folder, the document or the lines of the inputs have changed.
    """
    path = ls.files.path_of(opened.key)
    header = tuple(map(opened.analysis.document.line_text, header_lines(opened.analysis.document, kernel)))
    if path is None or not header:
        return {}, ""
    place = Path(path)
    folder, platform = ls.files.stamp_place(place.parent), ls.documents.platform_name(opened.key)
    kept = ls.files.memo(opened.key).fact(_INPUTS, dict[str, _Inputs], (folder, platform))
    inputs = kept.get(kernel)
    if inputs is None or inputs.header != header or inputs.state != _state(ls, inputs.path):
        analysis = header_of(opened.analysis, kernel)
        description = ls.files.beside.description(kernel, place, simd_size=simd_size_of(analysis, kernel))
        contents = inputs_told(description.text, analysis, kernel) if description is not None else {}
        where = description.path if description is not None else None
        inputs = kept[kernel] = _Inputs(header, where, _state(ls, where), contents)
    return inputs.contents, inputs.path.name if inputs.path is not None else ""


def _state(ls: VisaServer, path: Path | None) -> object:
    """Return the stamp of a document's state, open or not; for None, the stamps of open documents that may become it."""
    if path is None:
        return tuple(d.serial for d in ls.documents if d.language is Language.ZEINFO)
    opened = ls.documents.get(ls.files.uri_of(path))
    return opened.serial if opened is not None else ls.files.stamp_place(path)


def input_labels(ls: VisaServer, opened: OpenDocument) -> Callable[[str], dict[str, str]]:
    """Return the labels beside the lines of inputs, by variable, for the first kernels of a text."""
    labels_by_kernel: dict[str, dict[str, str]] = {}

    def of(kernel: str) -> dict[str, str]:
        if kernel not in labels_by_kernel and len(labels_by_kernel) < _MAX_KERNELS:
            labels_by_kernel[kernel] = labels(inputs_beside(ls, opened, kernel)[0])
        return labels_by_kernel.get(kernel, {})

    return of


def input_pages(ls: VisaServer, opened: OpenDocument, kernel: str) -> dict[str, str]:
    """Return a line of Markdown for hover by variable of a kernel's inputs, with the value of the last run."""
    kept = ls.runs.get(opened.key)
    values = kept[1].variables if kept is not None and kept[1].kernel == kernel else {}
    return pages(*inputs_beside(ls, opened, kernel), values)


def arguments_beside(ls: VisaServer, opened: OpenDocument, kernel: str) -> dict[str, HeldArgument]:
    """Return the variables of a kernel's inputs that hold an argument or point to it; empty without ze_info."""
    return arguments_in(inputs_beside(ls, opened, kernel)[0])


def completion_items(
    ls: VisaServer, opened: OpenDocument, info: InfoDocument | LaunchDocument, offset: int
) -> types.CompletionList:
    """Return the completion items at an offset of a ze_info document."""
    document = opened.analysis.document
    items = [
        types.CompletionItem(
            label=item.label,
            kind=types.CompletionItemKind.Property if item.is_key else types.CompletionItemKind.Value,
            detail=item.detail or None,
            documentation=types.MarkupContent(types.MarkupKind.Markdown, item.doc) if item.doc else None,
            filter_text=item.label,
            sort_text=f"{rank:04}",
            text_edit=types.TextEdit(range_of(document, item.span, ls.encoding), item.insert),
        )
        for rank, item in enumerate(info.completions(offset))
    ]
    return types.CompletionList(is_incomplete=False, items=items)


def document_symbols(
    ls: VisaServer, opened: OpenDocument, info: InfoDocument | LaunchDocument
) -> list[types.DocumentSymbol]:
    """Return the outline of a ze_info document."""
    document = opened.analysis.document

    def one(entry: YamlSymbol) -> types.DocumentSymbol:
        return types.DocumentSymbol(
            name=entry.name or "?",
            kind=_SYMBOL.get(entry.kind, types.SymbolKind.Object),
            range=range_of(
                document,
                type(entry.span)(min(entry.whole.start, entry.span.start), max(entry.whole.end, entry.span.end)),
                ls.encoding,
            ),
            selection_range=range_of(document, entry.span, ls.encoding),
            detail=entry.detail or None,
            children=[one(child) for child in entry.children] or None,
        )

    return [one(entry) for entry in info.symbols()]


def file_links(ls: VisaServer, opened: OpenDocument, info: LaunchDocument) -> list[types.DocumentLink]:
    """Return the existing files that a launch file names."""
    document = opened.analysis.document
    return [
        types.DocumentLink(range_of(document, span, ls.encoding), target=ls.files.uri_of(path), tooltip="file")
        for span, path in info.links()
    ]


def hints(
    ls: VisaServer, opened: OpenDocument, info: InfoDocument | LaunchDocument, wanted: types.Range
) -> list[types.InlayHint]:
    """Return the hints of a ze_info document."""
    document = opened.analysis.document
    all_hints = [
        types.InlayHint(position(document, offset, ls.encoding), text, padding_left=True)
        for offset, text in (info.hints() if isinstance(info, InfoDocument) else ())
    ]
    return [hint for hint in all_hints if wanted.start.line <= hint.position.line <= wanted.end.line]
