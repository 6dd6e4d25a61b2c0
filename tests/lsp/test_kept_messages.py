"""Answers that are put together from kept JSON text: after any edits they are those of a text that was just opened."""

from __future__ import annotations

import json
import random
from collections import OrderedDict
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from edits import random_edit
from lsprotocol import types
from tiers import first

from benchmarks.inputs import generate, kernel
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.workspace import Language, OpenDocument, UserSettings
from visa_lsp.lsp.handlers import editing, structure
from visa_lsp.lsp.transport.protocol import Encoded

URI = "file:///kept.visaasm"
TEXT = types.TextDocumentIdentifier(URI)


class Session(SimpleNamespace):
    """As much of a server as these handlers use, with one document."""

    def __init__(self, analysis: Analysis, encoding: str) -> None:
        symbols = types.DocumentSymbolClientCapabilities(hierarchical_document_symbol_support=True)
        capabilities = types.ClientCapabilities(
            text_document=types.TextDocumentClientCapabilities(document_symbol=symbols)
        )
        super().__init__(
            encoding=encoding,
            client_capabilities=capabilities,
            sent_tokens=OrderedDict(),
            files=SimpleNamespace(visa_files=list, path_of=lambda _uri: None),
        )
        self.show(analysis)

    def show(self, analysis: Analysis) -> None:
        """Take the next snapshot."""
        self.document = OpenDocument(URI, 1, analysis, Language.VISA)
        self.documents = Documents({URI: self.document})

    def host(self, _identifier: object) -> None:
        """Return None: the document is not a source of another language."""

    def find_open(self, _identifier: object) -> OpenDocument:
        """Return the one document."""
        return self.document


class Documents(dict[str, OpenDocument]):
    """What a workspace is to handlers: documents by name that are gone through as documents."""

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values())

    def settings_for(self, _key: str) -> UserSettings:
        """Return the settings that nobody has changed."""
        return UserSettings()


async def answer(session: Session, handler: Any, params: Any) -> Any:
    """Return the answer of a handler, as the client reads it."""
    result = await handler(session, params)
    assert isinstance(result, Encoded), handler
    return json.loads(b"".join(result.pieces))


def applied(text: str, edits: list[dict[str, Any]], encoding: str) -> str:
    """Return a text with edits in the client's columns; edits are in order and do not overlap."""
    lines = text.split("\n")

    def code_points(line: int, column: int) -> int:
        width = {"utf-8": lambda ch: len(ch.encode()), "utf-16": lambda ch: 1 + (ch > "\uffff")}.get(encoding)
        if width is None:
            return column
        at = used = 0
        while used < column:
            used += width(lines[line][at])
            at += 1
        return at

    for edit in reversed(edits):
        start, end = edit["range"]["start"], edit["range"]["end"]
        head = lines[start["line"]][: code_points(start["line"], start["character"])]
        tail = lines[end["line"]][code_points(end["line"], end["character"]) :]
        lines[start["line"] : end["line"] + 1] = (head + edit["newText"] + tail).split("\n")
    return "\n".join(lines)


OPTIONS = types.FormattingOptions(4, insert_spaces=True)
REQUESTS = (
    (structure.on_document_symbol, types.DocumentSymbolParams(TEXT)),
    (structure.on_folding_range, types.FoldingRangeParams(TEXT)),
    (structure.on_workspace_symbol, types.WorkspaceSymbolParams("v70")),
    (structure.on_workspace_symbol, types.WorkspaceSymbolParams("")),
)
SHAPE = types.DocumentFormattingParams(TEXT, OPTIONS)


@pytest.mark.parametrize("edits", first(1, [8, 40]))
@pytest.mark.parametrize("seed", first(1, range(3)))
async def test_answers_after_random_edits_equal_those_of_a_fresh_text(seed: int, edits: int) -> None:
    draw = random.Random(seed)
    encoding = ("utf-16", "utf-8", "utf-32")[seed]
    text = kernel(600, seed) if seed % 2 else generate(seed, 500)
    analysis = Analysis.of(text)
    kept = Session(analysis, encoding)
    known = await answer(kept, structure.on_tokens, types.SemanticTokensParams(TEXT))
    for number in range(edits):
        start, end, new = random_edit(text, draw)
        text = text[:start] + new + text[end:]
        analysis = analysis.edit(start, end, new)
        kept.show(analysis)
        if draw.random() < 0.3:
            continue
        where = f"seed {seed}, edit {number}: {start} {end} {new[:40]!r}"
        fresh = Session(Analysis.of(text), encoding)
        for handler, params in REQUESTS:
            assert await answer(kept, handler, params) == await answer(fresh, handler, params), where
        whole = await answer(fresh, structure.on_tokens, types.SemanticTokensParams(TEXT))
        delta = await answer(kept, structure.on_tokens_delta, types.SemanticTokensDeltaParams(TEXT, known["resultId"]))
        data = known["data"]
        for change in reversed(delta["edits"]):
            data[change["start"] : change["start"] + change["deleteCount"]] = change["data"]
        assert data == whole["data"], where
        known = {"resultId": delta["resultId"], "data": data}
        first = draw.randrange(analysis.document.line_count)
        seen = types.Range(types.Position(first, 0), types.Position(first + 70, 0))
        view = types.SemanticTokensRangeParams(TEXT, seen)
        coloured = await answer(kept, structure.on_tokens_range, view)
        assert coloured == await answer(fresh, structure.on_tokens_range, view), where
        # Where the chunks of a text end, and with them the edits, depends on how it came to be; what they make does not.
        shaped = applied(text, await answer(kept, editing.on_formatting, SHAPE), encoding)
        assert shaped == applied(text, await answer(fresh, editing.on_formatting, SHAPE), encoding), where
        assert await answer(Session(Analysis.of(shaped), encoding), editing.on_formatting, SHAPE) == [], where
