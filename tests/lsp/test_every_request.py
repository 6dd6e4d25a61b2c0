"""The requests beyond the first slice, each over stdio on a real dump."""

from __future__ import annotations

import asyncio
import itertools
import json
import re

import pytest
from lsp_client import SUMMARY, ask, at, change_text, command, line_of, open_text, plain, saxpy, send_settings, session
from lsprotocol import types

from benchmarks.inputs import kernel as long_kernel
from visa_lsp.cli.main import main
from visa_lsp.zeinfo.pack import pack_zebin


def lines(first: int, last: int) -> types.Range:
    return types.Range(types.Position(first, 0), types.Position(last, 0))


async def test_on_type_formatting_shapes_the_line_that_was_finished(client, kernel):
    line = line_of(kernel.text, "mad (M1")
    broken = kernel.text.split("\n")
    broken[line] = "  mad   (M1,16) V0065(0,0)<1>   V0034(0,0)<0;1,0> V0061(0,0)<1;1,0> V0065(0,0)<1;1,0>"
    broken.insert(line + 1, "")
    text = "\n".join(broken)
    change_text(client, kernel.uri, 2, text)
    options = types.FormattingOptions(4, insert_spaces=True)
    edits = await ask(client, "onTypeFormatting", kernel.identifier, types.Position(line + 1, 0), "\n", options)
    assert edits[0].new_text == "    mad (M1, 16) V0065(0,0)<1> V0034(0,0)<0;1,0> V0061(0,0)<1;1,0> V0065(0,0)<1;1,0>"
    assert edits[1].new_text == "    "


async def test_token_deltas_say_what_changed(client, kernel):
    first = await ask(client, "semanticTokens/full", kernel.identifier)
    assert first.result_id
    place = at(kernel.text, "mad (M1")
    edit = types.TextDocumentContentChangePartial(types.Range(place, place), "\n\n")
    change_text(client, kernel.uri, 2, edit)
    delta = await ask(client, "semanticTokens/full/delta", kernel.identifier, first.result_id)
    whole = await ask(client, "semanticTokens/full", kernel.identifier)
    data = list(first.data)
    assert delta.edits
    for change in sorted(delta.edits, key=lambda e: e.start, reverse=True):
        data[change.start : change.start + change.delete_count] = change.data or []
    assert data == list(whole.data)
    again = await ask(client, "semanticTokens/full/delta", kernel.identifier, whole.result_id)
    assert again.edits == [] or list(again.edits) == []


def set_hints(client, **hints):
    send_settings(client, {"visa": {"inlayHints": hints}})


@pytest.mark.full
async def test_type_hints_are_off_or_on_or_of_the_cursors_line(tmp_path):
    kernel = saxpy(tmp_path)
    async with session(settings={}) as client:
        open_text(client, kernel.uri, kernel.text)
        await _hints_follow_settings_and_cursor(client, kernel)


async def _hints_follow_settings_and_cursor(client, kernel):
    line = line_of(kernel.text, "mad (M1")

    async def labels():
        found = await ask(client, "inlayHint", kernel.identifier, lines(line - 1, line + 1))
        return [(h.position.line - line, h.label) for h in found if h.kind is types.InlayHintKind.Type]

    assert await labels() == []
    set_hints(client, types="on")
    every = await labels()
    assert [label for place, label in every if place == 0] == [":f", ":f", ":f", ":f"]
    assert {place for place, _ in every} > {0}
    set_hints(client, types="cursorLine")
    assert await labels() == [], "no client has told the line of a cursor"
    for cursor in (line, line + 1, line):
        client.protocol.notify("visa/didChangeCursor", {"uri": kernel.uri, "line": cursor})
        assert await labels() == [pair for pair in every if pair[0] == cursor - line]
    for wrong in ({"uri": kernel.uri, "line": "1"}, {"uri": kernel.uri}, {"line": 1}, {"uri": 1, "line": True}, {}):
        client.protocol.notify("visa/didChangeCursor", wrong)
    assert await labels() == [pair for pair in every if pair[0] == 0]
    for old, shown in ((True, every), (False, [])):
        set_hints(client, types=old)
        assert await labels() == shown


async def test_inlay_hints(client, kernel):
    line = line_of(kernel.text, "0x4c0:ud")
    found = await ask(client, "inlayHint", kernel.identifier, lines(line, line))
    assert "= 1216" in [h.label for h in found]
    line = line_of(kernel.text, "_0_004:")
    [branches] = await ask(client, "inlayHint", kernel.identifier, lines(line, line))
    assert branches.label == "1 branch"
    change_text(
        client, kernel.uri, 2, types.TextDocumentContentChangePartial(lines(line, line), 'FILE "src/a.cl"\nLOC 12\n')
    )
    found = await ask(client, "inlayHint", kernel.identifier, lines(line, line + 1))
    assert [h.label for h in found] == ["a.cl:12"]


async def test_code_lenses_and_their_references(client, kernel):
    found = await ask(client, "codeLens", kernel.identifier)
    titles = [lens.command.title for lens in found if lens.command]
    assert titles[:3] == ["Run", "Assemble", "Disassemble"]
    assert titles[3].startswith("32 instructions, 40 variables"), titles
    assert all(lens.command for lens in found), "nothing names this kernel"


async def test_only_what_is_called_has_a_lens_of_its_references(client, tmp_path):
    uri = (tmp_path / "calls.visaasm").as_uri()
    idle = '.global_function "idle" // fcall (M1, 1) idle 0 0\n    fret (M1, 1)\n'
    text = CALLS + idle
    open_text(client, uri, text)
    here = types.TextDocumentIdentifier(uri)
    found = await ask(client, "codeLens", here)
    [lens] = [lens for lens in found if lens.command is None]
    assert lens.range.start.line == line_of(text, '.global_function "helper"')
    assert (await client.code_lens_resolve_async(lens)).command.title == "1 reference"
    change_text(client, uri, 2, text.replace("fcall (M1, 16) helper 1 1", ""))
    assert (await client.code_lens_resolve_async(lens)).command.title == "references"


async def test_selection_ranges_grow(client, kernel):
    place = at(kernel.text, "V0061(0,0)<1;1,0>", 2)
    [smallest] = await ask(client, "selectionRange", kernel.identifier, [place])
    sizes, current = [], smallest
    while current is not None:
        sizes.append((current.range.start, current.range.end))
        current = current.parent
    assert sizes[0] == (at(kernel.text, "V0061(0,0)<1;1,0>"), at(kernel.text, "V0061(0,0)<1;1,0>", 5))
    assert len(sizes) >= 6
    assert all(b[0] <= a[0] and a[1] <= b[1] for a, b in itertools.pairwise(sizes))


async def test_labels_are_edited_together(client, kernel):
    found = await ask(client, "linkedEditingRange", kernel.identifier, at(kernel.text, "_0_004:", 2))
    assert {r.start.line for r in found.ranges} == {line_of(kernel.text, "goto (M1"), line_of(kernel.text, "_0_004:")}
    assert await ask(client, "linkedEditingRange", kernel.identifier, at(kernel.text, "V0061(0,0)")) is None


CALLS = """.version 4.1
.kernel "main"
.decl V32 v_type=G type=d num_elts=16
_main:
    call (M1, 16) SUB
    fcall (M1, 16) helper 1 1
    ret (M1, 1)
.function "SUB"
SUB:
    mov (M1, 16) V32(0,0)<1> V32(0,0)<1;1,0>
    ret (M1, 16)
.global_function "helper"
    fret (M1, 1)
"""


async def test_call_hierarchy_and_implementation(client, tmp_path):
    uri = (tmp_path / "calls.visaasm").as_uri()
    open_text(client, uri, CALLS)
    here = types.TextDocumentIdentifier(uri)
    [kernel] = await ask(client, "prepareCallHierarchy", here, at(CALLS, "main"))
    assert (kernel.name, kernel.detail) == ("main", "kernel")
    out = await client.call_hierarchy_outgoing_calls_async(types.CallHierarchyOutgoingCallsParams(kernel))
    assert [(c.to.name, c.from_ranges[0].start.line) for c in out] == [("SUB", 4), ("helper", 5)]
    incoming = await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(out[0].to))
    assert [c.from_.name for c in incoming] == ["main"]
    incoming = await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(out[1].to))
    assert [c.from_.name for c in incoming] == ["main"]
    [link] = await ask(client, "implementation", here, at(CALLS, "helper"))
    assert link.target_selection_range.start.line == line_of(CALLS, ".global_function")
    [link] = await ask(client, "implementation", here, at(CALLS, "SUB"))
    assert link.target_selection_range.start.line == line_of(CALLS, ".function")


async def test_links_lead_to_files_that_exist(client, kernel, tmp_path):
    (tmp_path / "a.cl").write_text("kernel")
    change_text(
        client,
        kernel.uri,
        2,
        types.TextDocumentContentChangePartial(lines(2, 2), 'FILE "/build/src/a.cl"\nFILE "none.cl"\n'),
    )
    found = await ask(client, "documentLink", kernel.identifier)
    assert [link.target for link in found] == [(tmp_path / "a.cl").as_uri()]
    for column, name in ((2, "saxpy.launch.yaml"), (10, "saxpy.zeinfo.yaml")):
        place = types.Position(line_of(kernel.text, ".kernel "), column)
        led = await ask(client, "definition", kernel.identifier, place)
        last = led[-1] if isinstance(led, (list, tuple)) else led
        assert getattr(last, "uri", None) or last.target_uri == (tmp_path / name).as_uri()
    launch = tmp_path / "saxpy.launch.yaml"
    open_text(client, launch.as_uri(), launch.read_text(), "yaml")
    found = await ask(client, "documentLink", types.TextDocumentIdentifier(launch.as_uri()))
    assert [link.target for link in found] == [kernel.uri, (tmp_path / "saxpy.zeinfo.yaml").as_uri()]


async def test_inline_values_after_a_run(client, kernel):
    where = lines(0, 10_000)
    context = types.InlineValueContext(frame_id=0, stopped_location=where)
    assert not await ask(client, "inlineValue", kernel.identifier, where, context)
    answer = await command(client, "visa.run", kernel.uri)
    assert answer["ok"], answer
    found = await ask(client, "inlineValue", kernel.identifier, where, context)
    assert any("float32[80] [1.0, 3.5" in value.text for value in found), found
    assert {"a = 2.5", "n = 70"} <= {value.text for value in found}, found
    place = at(kernel.text, ".input V0034", 8)
    shown = await ask(client, "hover", kernel.identifier, place)
    assert "**a**: `float`" in shown.contents.value
    assert "last run: `2.5`" in shown.contents.value
    assert all(".input" in kernel.text.split("\n")[value.range.start.line] for value in found)


async def test_commands_that_show(client, kernel, tmp_path):
    flow = await command(client, "visa.showControlFlow", {"uri": kernel.uri})
    assert flow["ok"]
    assert flow["dot"].startswith('digraph "saxpy" {')
    assert flow["mermaid"].startswith("flowchart TD")
    assert [block["labels"] for block in flow["blocks"]] == [["_main_0"], ["_0_005"], ["_0_004"]]
    assert [(e["from"], e["to"], e["condition"]) for e in flow["edges"]] == [
        (0, 1, "!(!P1)"),
        (0, 2, "!P1"),
        (1, 2, ""),
    ]
    info = await command(client, "visa.showZeInfo", kernel.uri)
    assert (info["ok"], info["made"]) == (True, False)
    (tmp_path / "saxpy.zeinfo.yaml").unlink()
    made = await command(client, "visa.showZeInfo", kernel.uri)
    assert made["made"], made
    assert "saxpy" in made["text"]
    page = await command(client, "visa.explain", {"word": "mad"})
    assert SUMMARY in page["markdown"]
    assert "`mad`" in (await command(client, "visa.explain", "maad"))["error"]


async def test_stats_are_those_of_the_command_line(client, kernel, tmp_path, capsys):
    path = tmp_path / "saxpy.visaasm"
    path.write_text(kernel.text)
    answer = await command(client, "visa.stats", {"uri": kernel.uri, "platform": "TGLLP"})
    assert answer["ok"], answer
    assert main(["stats", str(path), "--platform", "TGLLP", "--format", "json"]) == 0
    [mine], [theirs] = answer["kernels"], json.loads(capsys.readouterr().out)["kernels"]
    assert mine | {"path": ""} == theirs | {"path": ""}
    assert (await command(client, "visa.assemble", kernel.uri))["ok"]
    of_object = await command(client, "visa.stats", (tmp_path / "saxpy.isa").as_uri())
    assert of_object["kernels"][0]["pressure"]["max"] == mine["pressure"]["max"]
    lives = await command(client, "visa.stats", {"uri": kernel.uri, "platform": "TGLLP", "lives": "all"})
    [kernel_with_lives] = lives["kernels"]
    runs = {one["name"]: one["runs"] for one in kernel_with_lives.pop("lives")}
    assert kernel_with_lives == mine
    for variable in mine["pressure"]["live"]:
        assert [variable["first"], variable["last"]] in runs[variable["name"]]
    gone = await command(client, "visa.stats", (tmp_path / "gone.isa").as_uri())
    assert (gone["ok"], "gone.isa" in gone["error"]) == (False, True)


async def test_an_edit_ends_the_counting_of_a_text(client, kernel):
    uri = kernel.uri.replace("saxpy", "long")
    open_text(client, uri, long_kernel(20_000))
    counting = asyncio.ensure_future(command(client, "visa.stats", uri))
    edit = types.TextDocumentContentChangePartial(lines(2, 2), "// edited\n")
    versions = itertools.count(2)
    while not counting.done():  # whenever the counting begins, an edit comes behind it
        change_text(client, uri, next(versions), edit)
        await asyncio.wait([counting], timeout=0.2)
    assert (counting.result()["ok"], counting.result()["edited"]) == (False, True)


async def test_a_text_with_errors_has_findings_instead_of_figures(client, kernel):
    uri = kernel.uri.replace("saxpy", "bad")
    open_text(client, uri, kernel.text.replace("mad (M1", "mdd (M1"))
    answer = await command(client, "visa.stats", uri)
    assert answer["ok"] is False
    assert answer["diagnostics"][0]["line"] == line_of(kernel.text, "mad (M1") + 1


async def test_objects_are_shown_as_their_disassembly(client, kernel, tmp_path):
    assert (await command(client, "visa.assemble", kernel.uri))["ok"]
    uri = (tmp_path / "saxpy.isa").as_uri()
    shown = await command(client, "visa.disassemble", {"uri": uri})
    assert shown["ok"], shown
    assert '.kernel "saxpy"' in shown["text"]
    assert shown["uri"].startswith("visa-disassembly:")
    again = plain(await client.protocol.send_request_async("visa/disassembly", {"uri": uri}))
    assert again["text"] == shown["text"]
    content = await client.protocol.send_request_async(
        types.WORKSPACE_TEXT_DOCUMENT_CONTENT, types.TextDocumentContentParams(shown["uri"])
    )
    assert content.text == shown["text"]
    text = await command(client, "visa.disassemble", kernel.uri)
    assert text["text"] == shown["text"]
    (tmp_path / "bad.isa").write_bytes(b"CISA\x04\x01junk")
    bad = await command(client, "visa.disassemble", {"uri": (tmp_path / "bad.isa").as_uri()})
    assert (bad["ok"], bool(bad["error"])) == (False, True)
    # A virtual document is a text like any other.
    open_text(client, shown["uri"], shown["text"])
    hover = await ask(client, "hover", types.TextDocumentIdentifier(shown["uri"]), at(shown["text"], "mad (M1", 1))
    assert SUMMARY in hover.contents.value


async def test_two_programs_are_compared_in_the_names_of_the_first(client, kernel, tmp_path):
    text = (tmp_path / "saxpy.visaasm").read_text(encoding="utf-8")
    name = re.search(r"^\.decl (\S+) v_type=G", text, re.MULTILINE)[1]
    other = tmp_path / "other.visaasm"
    renamed = re.sub(rf"(?<!\w){name}(?!\w)", "another", text) + "// said\n"
    other.write_text(renamed, encoding="utf-8")
    told = await command(client, "visa.diff", {"uri": kernel.uri, "other": other.as_uri()})
    assert (told["ok"], told["same"], told["b"]) == (True, True, told["a"])
    line = next(line for line in renamed.splitlines() if line.strip().startswith("ret"))
    other.write_text(renamed.replace(line, f"    fence_sw\n{line}"), encoding="utf-8")
    told = await command(client, "visa.diff", kernel.uri, other.as_uri())
    (change,) = told["kernels"][0]["changes"]
    assert change["what"] == "inserted fence_sw"
    assert told["b"] == told["a"].replace(line, f"    fence_sw\n{line}")
    assert [row for row in told["rows"] if row[2]] == [[None, change["b"][0], "insert"]]
    for bad in ("untitled:x", (tmp_path / "none.visaasm").as_uri()):
        assert not (await command(client, "visa.diff", {"uri": kernel.uri, "other": bad}))["ok"]
    assert "no `other`" in (await command(client, "visa.diff", {"uri": kernel.uri}))["error"]


async def test_a_zebin_is_told_in_parts(client, kernel, tmp_path):
    assert (await command(client, "visa.assemble", kernel.uri))["ok"]
    ze_info = (tmp_path / "saxpy.zeinfo.yaml").read_text()
    path = tmp_path / "saxpy.zebin"
    path.write_bytes(pack_zebin("saxpy", (tmp_path / "saxpy.isa").read_bytes(), ze_info))
    told = await command(client, "visa.zebin", {"uri": path.as_uri()})
    assert told["ok"], told
    assert [(s["name"], s["type"]) for s in told["sections"]][:2] == [
        (".visaasm.saxpy", "VISAASM"),
        (".ze_info", "ZEINFO"),
    ]
    assert told["zeInfo"] == ze_info
    [saxpy] = told["kernels"]
    assert (saxpy["name"], saxpy["simd"], saxpy["arguments"], saxpy["bytes"]) == ("saxpy", 32, 4, None)
    [module] = told["modules"]
    assert (module["name"], module["error"]) == ("saxpy", "")
    assert '.kernel "saxpy"' in module["text"]
    # What is broken is told, and hides nothing else.
    path.write_bytes(pack_zebin("saxpy", b"CISA\x04\x01junk", "kernels: [3]\n"))
    told = await command(client, "visa.zebin", path.as_uri())
    assert (told["ok"], told["kernels"]) == (True, [])
    assert told["zeInfoProblem"].startswith("ze_info:1:")
    assert told["modules"][0]["text"] == ""
    assert told["modules"][0]["error"]
    path.write_bytes(b"no zebin")
    for uri in (path.as_uri(), (tmp_path / "none.zebin").as_uri(), "untitled:x.zebin"):
        bad = await command(client, "visa.zebin", uri)
        assert (bad["ok"], bool(bad["error"])) == (False, True)


async def test_a_native_dump_has_its_figures_and_the_files_of_its_kernel(client, kernel, tmp_path):
    path = tmp_path / "saxpy.asm"
    path.write_text(
        "//.kernel saxpy\n//.platform TGLLP\n//.instCount 1\n//.RA type\tTRIVIAL_RA\n        nop (32|M0) // $0\n"
    )
    [dump] = (await command(client, "visa.stats", path.as_uri()))["dumps"]
    assert dump["summary"] == "saxpy on TGLLP: 1 instruction, SIMD32, no spill, 0 sends, 0 syncs, TRIVIAL_RA"
    assert (dump["visa"], dump["ze_info"]) == (str(tmp_path / "saxpy.visaasm"), str(tmp_path / "saxpy.zeinfo.yaml"))
    other = await command(client, "visa.stats", (tmp_path / "none.asm").as_uri())
    assert (other["ok"], bool(other["error"])) == (False, True)


async def test_the_platform_of_a_text_is_that_of_its_files(client, tmp_path):
    path = tmp_path / "k.visaasm"
    path.write_text(".version 4.2\n.kernel k\n    ret (M1, 1)\n//Platform: XE2\n")
    said = {"ok": True, "platform": "BMG", "by": "its comment", "checked": False}
    assert await command(client, "visa.platformOf", path.as_uri()) == said
    path.with_suffix(".launch.yaml").write_text("platform: PTL\n")
    assert await command(client, "visa.platformOf", path.as_uri()) == said | {"platform": "PTL", "by": "k.launch.yaml"}


async def test_the_words_that_can_be_explained(client, kernel):
    told = await command(client, "visa.words")
    words = {word["word"]: word for word in told["words"]}
    assert len(words) == len(told["words"]) > 400
    assert words["mad"] == {"word": "mad", "kind": "instruction", "line": words["mad"]["line"]}
    assert f"{words['mad']['line']}." == SUMMARY
    assert words["V101"]["line"].startswith("undeclared-name: ")
    assert {w["kind"] for w in told["words"]} >= {"rule", "predefined variable", "attribute", "type", "platform"}
    assert all(w["line"] and "\n" not in w["line"] for w in told["words"])


@pytest.mark.full
async def test_a_launch_file_from_ze_info_runs(client, kernel, tmp_path):
    template = await command(client, "visa.launchTemplate", kernel.uri)
    assert template["ok"], template
    assert [a["kind"] for a in template["arguments"]] == ["buffer", "buffer", "value", "value"]
    answer = await command(client, "visa.run", {"uri": kernel.uri, "launchText": template["text"], "data": "base64"})
    assert answer["ok"], answer
    assert answer["buffers"][0]["data"]


async def test_why_is_that_of_the_command_line(client, kernel, tmp_path, capsys):
    (tmp_path / "saxpy.visaasm").write_text(kernel.text)
    answer = await command(client, "visa.why", {"uri": kernel.uri, "value": "y[5]", "most": 3})
    assert answer["ok"], answer
    assert (
        main(["why", str(tmp_path / "saxpy.visaasm"), "--value", "y[5]", "--max-nodes", "3", "--format", "json"]) == 0
    )
    mine = json.loads(capsys.readouterr().out)
    assert [node["text"] for node in answer["nodes"]] == [node["text"] for node in mine["nodes"]]
    same = await command(client, "visa.why", {"uri": kernel.uri, "value": "y[5]", "against": kernel.uri})
    assert len(same["notes"]) == 1
    assert "whole number" in (await command(client, "visa.why", {"uri": kernel.uri, "fault": "x"}))["error"]


async def test_proofs_are_those_of_the_command_line(client, kernel, tmp_path, capsys):
    pytest.importorskip("z3")
    path = tmp_path / "saxpy.visaasm"
    assert main(["prove", str(path), "--property", "bounds", "--assume", "len(y) >= 4 * n", "--format", "json"]) == 0
    mine = json.loads(capsys.readouterr().out)["results"]
    asked = {"uri": kernel.uri, "properties": "bounds", "assume": ["len(y) >= 4 * n"], "timeout": 60}
    answer = await command(client, "visa.prove", asked)
    assert (answer["ok"], answer["results"]) == (True, mine)
    assert f"saxpy: bounds: {len(mine)} proved" in answer["text"]
    for more, words in (
        ({"properties": "race,bonds"}, "did you mean 'bounds'?"),
        ({"assume": "n > 1"}, "`assume` must be a list"),
        ({"timeout": "soon"}, "expected a number of seconds"),
        ({"uri": "untitled:none"}, "is neither open nor a file"),
    ):
        assert words in (await command(client, "visa.prove", {"uri": kernel.uri, **more}))["error"]
