"""Links a text with its source: from an instruction to its line, and from a line to its instructions.

Searches the files that texts name: by the full name, then below the text's folder and the folders above it, up to an
open one. Files of other machines are not opened. Invariant: a line of a source is linked to a text if and only if that
text is linked to the file.
"""

from __future__ import annotations

from array import array
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types

from visa_lsp.ide.features.source_lines import SourceLine, Stretch, names_of, source_of, stretches, stretches_of_text
from visa_lsp.ide.prose.markdown import block
from visa_lsp.ide.workspace import Language, OpenDocument
from visa_lsp.lsp.convert import range_of
from visa_lsp.safe_io import read_file
from visa_lsp.syntax.memo import Key
from visa_lsp.text import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.lsp.jobs.model import Result
    from visa_lsp.lsp.visa_server import VisaServer
    from visa_lsp.lsp.work_progress import Work

_MAX_SOURCE_BYTES: Final = 16 << 20
_MAX_PLACES: Final = 20_000
_MAX_SAME_NAMED: Final = 100

# By the file that a text names: flat groups of source line, first and last line of the text, number of instructions.
Sources = dict[str, "array[int]"]
_EACH: Final = 4
_SOURCES: Final = Key[Sources]()


def location(
    ls: VisaServer, opened: OpenDocument, offset: int, *, links: bool
) -> types.Location | list[types.LocationLink] | None:
    """Return the source line of the instruction at an offset; None if the text names none, or the file is missing."""
    source = source_of(opened.analysis, offset)
    if source is None:
        return None
    (file, line), origin = source
    uri = ls.files.existing_near(opened.key, names_of(file))
    if uri is None:
        return None
    start = types.Position(line - 1, 0)
    place = types.Range(start, start)
    if not links:
        return types.Location(uri, place)
    about = range_of(opened.analysis.document, origin, ls.encoding) if origin is not None else None
    return [types.LocationLink(uri, place, place, about)]


def excerpt(ls: VisaServer, uri: str, source: SourceLine) -> str:
    """Return a line of a source that the document ``uri`` names, as a block of Markdown; empty if the file is missing."""
    source_uri = ls.files.existing_near(uri, names_of(source.file))
    opened = ls.documents.get(source_uri) if source_uri is not None else None
    path = ls.files.path_of(source_uri) if source_uri is not None else None
    if path is None:
        return ""
    try:
        text = (
            opened.analysis.document.text if opened else read_file(path, _MAX_SOURCE_BYTES).decode("utf-8", "replace")
        )
    except (OSError, ValueError):
        return ""
    line = next((line for number, line in enumerate(lines_of(text), 1) if number == source.line), "").strip()
    return f"\n\n{block(line, 'c')}" if line else ""


async def instructions_of(ls: VisaServer, path: str, line: int | None, work: Work) -> Result:
    """Return the instructions compiled from a source file in open texts and texts of the open folders, by its lines from 0."""
    counts: dict[int, int] = {}
    places: dict[int, list[dict[str, Any]]] = {}
    listed, looked = 0, 0
    for uri, sources in _texts(ls):
        looked += 1
        await work.step(f"{looked} texts", looked)
        # Limited, because a hostile text may name very many files to cause a long search.
        alike = [file for file in sources if Path(names_of(file)[-1]).name == Path(path).name][:_MAX_SAME_NAMED]
        for file in alike:
            if not _is(ls, uri, file, path):
                continue
            numbers = sources[file]
            for index in range(0, len(numbers), _EACH):
                source, start, end, count = numbers[index : index + _EACH]
                if line is not None and source - 1 != line:
                    continue
                counts[source - 1] = counts.get(source - 1, 0) + count
                listed += 1
                if listed <= _MAX_PLACES:
                    spot = {"start": {"line": start, "character": 0}, "end": {"line": end + 1, "character": 0}}
                    places.setdefault(source - 1, []).append({"uri": uri, "range": spot})
    lines = [
        {"line": number, "instructions": counts[number], "locations": places.get(number, [])}
        for number in sorted(counts)
    ]
    return {"ok": True, "lines": lines, "cut": listed > _MAX_PLACES}


def _is(ls: VisaServer, uri: str, file: str, path: str) -> bool:
    """Return whether the file that a text names is the requested file."""
    source_uri = ls.files.existing_near(uri, names_of(file))
    there = ls.files.path_of(source_uri) if source_uri is not None else None
    try:
        return there is not None and Path(there).samefile(path)
    except (OSError, ValueError):
        return False


def _texts(ls: VisaServer) -> Iterator[tuple[str, Sources]]:
    """Yield each text with the files that it names: open texts first, then the other texts of the folders."""
    for opened in [d for d in ls.documents if d.language is Language.VISA]:
        yield opened.key, _by_file(stretches(opened.analysis.document))
    for path in ls.files.visa_files():
        stamp = ls.files.stamp(path)
        if stamp is None or ls.files.find_open(path) is not None:
            continue
        uri = ls.files.uri_of(path)
        yield uri, ls.files.memo(uri).fact(_SOURCES, partial(_of_file, ls, path), stamp)


def _of_file(ls: VisaServer, path: Path) -> Sources:
    return _by_file(stretches_of_text(ls.files.text(path) or ""))


def _by_file(all_stretches: Iterable[Stretch]) -> Sources:
    sources: Sources = {}
    for (file, line), first_line, last_line, count in all_stretches:
        # Plain numbers, because objects for a folder of dumps would take too much memory.
        sources.setdefault(file, array("q")).extend((line, first_line, last_line, count))
    return sources
