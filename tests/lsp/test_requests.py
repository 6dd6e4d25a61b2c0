"""Every request once over stdio, with a real dump: that the rim converts what ``ide`` answers."""

from __future__ import annotations

import pytest
from lsp_client import ask, at, change_text, line_of, open_text, saxpy, send_settings, session
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.features.semantic_tokens import semantic_tokens


async def test_references_and_highlights(client, kernel):
    place = at(kernel.text, "V0061(0,0)<1;1,0>")
    context = types.ReferenceContext(include_declaration=True)
    found = await ask(client, "references", context, kernel.identifier, place)
    lines = [location.range.start.line for location in found]
    assert [line_of(kernel.text, t) for t in (".decl V0061", "gather4_scaled.R (M1", "mad (M1")] == lines
    marks = await ask(client, "documentHighlight", kernel.identifier, place)
    kinds = types.DocumentHighlightKind
    assert [m.kind for m in marks] == [kinds.Text, kinds.Write, kinds.Read]


async def test_type_definition_is_the_alias_base(client, kernel):
    [link] = await ask(client, "typeDefinition", kernel.identifier, at(kernel.text, "V0059.0"))
    assert link.target_selection_range.start == at(kernel.text, ".decl V0057", 6)


async def test_outline_folding_and_colours(client, kernel):
    [outline] = await ask(client, "documentSymbol", kernel.identifier)
    assert outline.name == "saxpy"
    groups = {group.name: group for group in outline.children}
    assert {name: group.detail for name, group in groups.items()} == {"Inputs": "14", "Blocks": "3", "Variables": "40"}
    assert {"V0032", "P1"} <= {child.name for child in groups["Variables"].children}
    assert [child.name for child in groups["Blocks"].children] == ["_main_0", "_0_005", "_0_004"]
    inside = [*outline.children, *(child for group in outline.children for child in group.children)]
    assert all(s.range.start <= s.selection_range.start <= s.selection_range.end <= s.range.end for s in inside)
    for group in outline.children:
        assert all(group.range.start <= c.range.start <= c.range.end <= group.range.end for c in group.children)
    folds = await ask(client, "foldingRange", kernel.identifier)
    assert line_of(kernel.text, "/// VISA Predefined") in {fold.start_line for fold in folds}
    full = await ask(client, "semanticTokens/full", kernel.identifier)
    assert len(full.data) % 5 == 0
    line = line_of(kernel.text, "mad (M1")
    lines = types.Range(types.Position(line, 0), types.Position(line, 10))
    part = await ask(client, "semanticTokens/range", kernel.identifier, lines)
    assert list(part.data[:3]) == [line, 4, 3]
    found = await client.workspace_symbol_async(types.WorkspaceSymbolParams("v0061"))
    assert [symbol.name for symbol in found] == ["V0061"]


async def test_colours_of_a_long_text_with_scopes(client, tmp_path):
    scope = "{\n.decl V50 v_type=A num_elts=1\n    addr_add (M1, 1) V50(0)<1> &V40 0:w\n}\n\n"
    text = f'.version 4.1\n.kernel "k"\n.decl V40 v_type=G type=d num_elts=8\n{scope * 250}'
    here = open_text(client, (tmp_path / "k.visaasm").as_uri(), text)
    full = await ask(client, "semanticTokens/full", here)
    found, line, column = [], 0, 0
    for down, right, length in zip(full.data[::5], full.data[1::5], full.data[2::5], strict=True):
        line, column = line + down, right if down else column + right
        found.append((line, column, length))
    tokens = semantic_tokens(Analysis.of(text))
    assert found == [(t.line, t.span.start, t.span.end - t.span.start) for t in tokens]


@pytest.mark.full
async def test_the_header_is_of_the_kind_that_editors_fold_when_a_text_opens(tmp_path):
    kernel = saxpy(tmp_path)
    texts = ("/// VISA Predefined", ".decl V0032", ".input", ".kernel ", "_0_004:")
    async with session() as client:
        here = open_text(client, kernel.uri, kernel.text)
        for kinds in (("imports", "imports"), ("comment", "region")):
            folds = await ask(client, "foldingRange", here)
            shown = {fold.start_line: fold.kind for fold in folds}
            assert [shown[line_of(kernel.text, text)] for text in texts] == [*kinds, "region", None, None]
            assert (types.WORKSPACE_FOLDING_RANGE_REFRESH in client.refreshed) is (kinds[0] == "comment")
            send_settings(client, {"visa": {"foldHeader": False}})


async def test_completion_with_its_page_and_signature(client, kernel):
    place = at(kernel.text, "V0061(0,0)<1;1,0>")
    offered = await ask(client, "completion", kernel.identifier, place)
    item = next(i for i in offered.items if i.label == "V0062")
    assert item.insert_text_format is types.InsertTextFormat.Snippet
    resolved = await client.completion_item_resolve_async(item)
    assert "general variable" in resolved.documentation.value
    shown = await ask(client, "signatureHelp", kernel.identifier, place)
    assert "mad" in shown.signatures[shown.active_signature].label
    assert shown.active_parameter == 2


async def test_rename_and_its_refusal(client, kernel):
    place = at(kernel.text, "V0061(0,0)<1;1,0>")
    prepared = await ask(client, "prepareRename", kernel.identifier, place)
    assert prepared.placeholder == "V0061"
    edit = await ask(client, "rename", kernel.identifier, place, "x_values")
    assert [e.new_text for e in edit.changes[kernel.uri]] == ["x_values"] * 3
    with pytest.raises(JsonRpcException, match="V0062"):
        await ask(client, "rename", kernel.identifier, place, "V0062")


async def test_formatting(client, kernel):
    options = types.FormattingOptions(tab_size=4, insert_spaces=True)
    edits = await ask(client, "formatting", kernel.identifier, options)
    assert [e.new_text for e in edits] == [".kernel_attr SimdSize=32"]
    line = line_of(kernel.text, "mad (M1")
    lines = types.Range(types.Position(line, 0), types.Position(line + 1, 0))
    assert not await ask(client, "rangeFormatting", kernel.identifier, lines, options)


async def test_several_ranges_are_formatted_at_once_and_no_line_twice(client, kernel):
    attribute, mad = line_of(kernel.text, ".kernel_attr SimdSize"), line_of(kernel.text, "mad (M1")
    options = types.FormattingOptions(tab_size=4, insert_spaces=True)
    ranges = [
        types.Range(types.Position(first, 0), types.Position(last, 0))
        for first, last in ((mad, mad + 1), (attribute, attribute + 1), (attribute - 1, attribute + 2), (0, 1))
    ]
    edits = await ask(client, "rangesFormatting", kernel.identifier, ranges, options)
    assert [(e.range.start.line, e.new_text) for e in edits] == [(attribute, ".kernel_attr SimdSize=32")]
    assert not await ask(client, "rangesFormatting", kernel.identifier, [ranges[0]], options)


async def test_code_action_mends_a_misspelt_mnemonic(client, kernel):
    broken = kernel.text.replace("mad (M1", "madd (M1")
    change_text(client, kernel.uri, 2, broken)
    place = at(broken, "madd (M1")
    context = types.CodeActionContext(diagnostics=[])
    actions = await ask(client, "codeAction", kernel.identifier, types.Range(place, place), context)
    assert "mad" in [edit.new_text for action in actions for edit in action.edit.changes[kernel.uri]]
    assert actions[0].diagnostics[0].code == "V201"


async def test_unknown_documents_and_places_get_empty_answers(client, kernel):
    stranger = types.TextDocumentIdentifier("file:///nowhere/x.visaasm")
    far = types.Position(10**6, 10**6)
    assert await ask(client, "hover", stranger, far) is None
    assert await ask(client, "definition", kernel.identifier, far) is None
    assert await ask(client, "documentSymbol", stranger) is None
