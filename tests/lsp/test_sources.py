"""Between a text and its source over stdio: from any instruction to its line, and from a line to its instructions."""

from __future__ import annotations

import asyncio
import shutil

import pytest
from corpus import place
from lsp_client import Kernel, ask, at, change_text, command, in_folder, line_of, open_text
from lsprotocol import types

TEXT = place("dev/TGLLP/axpy.g.saxpy.visaasm")
SOURCE = place("cl/axpy.cl")


@pytest.fixture
def dump(tmp_path):
    """Return a folder as a build leaves it: the source, and the text in a folder below."""
    (tmp_path / "dump").mkdir()
    shutil.copy(SOURCE, tmp_path / "axpy.cl")
    shutil.copy(TEXT, tmp_path / "dump" / "axpy.visaasm")
    path = tmp_path / "dump" / "axpy.visaasm"
    return Kernel(path, path.read_text())


async def definition(client, kernel, position):
    return await ask(client, "definition", kernel.identifier, position)


async def test_an_instruction_leads_to_its_source_line_and_a_name_to_its_declaration(client, dump, tmp_path):
    source = (tmp_path / "axpy.cl").as_uri()
    async with in_folder(client, tmp_path):
        open_text(client, dump.uri, dump.text)
        [link] = await definition(client, dump, at(dump.text, "cmp.lt", 1))
        assert (link.target_uri, link.target_range.start) == (source, types.Position(3, 0))
        assert link.origin_selection_range.start == at(dump.text, "cmp.lt")
        [link] = await definition(client, dump, at(dump.text, "ret (M1"))
        assert link.target_range.start.line == 4
        [link] = await definition(client, dump, at(dump.text, "cmp.lt (M1, 16) P1 V0053", 20))
        assert link.target_uri == dump.uri
        assert await definition(client, dump, at(dump.text, "LOC 2")) is not None
        assert await definition(client, dump, at(dump.text, "or (M1_NM")) is None
        (tmp_path / "axpy.cl").unlink()
        assert await definition(client, dump, at(dump.text, "cmp.lt", 1)) is None


@pytest.mark.parametrize(
    ("named", "lies"),
    [
        ("axpy.cl", "dump/axpy.cl"),
        ("ABSOLUTE/other/axpy.cl", "other/axpy.cl"),
        ("/build/of/somebody/src/axpy.cl", "src/axpy.cl"),
        (r"C:\work\axpy.cl", "dump/axpy.cl"),
    ],
)
async def test_sources_are_found_where_builds_leave_them(client, dump, tmp_path, named, lies):
    (tmp_path / "axpy.cl").unlink()
    (tmp_path / lies).parent.mkdir(exist_ok=True)
    shutil.copy(SOURCE, tmp_path / lies)
    text = dump.text.replace("axpy.cl", named.replace("ABSOLUTE", tmp_path.as_posix()))
    async with in_folder(client, tmp_path):
        open_text(client, dump.uri, text)
        [link] = await definition(client, dump, at(text, "cmp.lt"))
        assert link.target_uri == (tmp_path / lies).as_uri()
        back = await command(client, "visa.instructionsOf", {"uri": link.target_uri, "line": 3})
        assert [place["uri"] for place in back["lines"][0]["locations"]] == [dump.uri]


async def test_no_other_machine_is_asked(client, dump, tmp_path):
    (tmp_path / "axpy.cl").unlink()
    for name in ("//host/share/axpy.cl", "\\\\\\\\host\\\\share\\\\axpy.cl"):
        async with in_folder(client, tmp_path):
            text = dump.text.replace("axpy.cl", name)
            open_text(client, dump.uri, text)
            assert await definition(client, dump, at(text, "cmp.lt")) is None


async def test_hover_of_a_mark_shows_the_source(client, dump, tmp_path):
    async with in_folder(client, tmp_path):
        open_text(client, dump.uri, dump.text)
        shown = await ask(client, "hover", dump.identifier, at(dump.text, "LOC 4", 1))
        line = SOURCE.read_text().splitlines()[3].strip()
        assert shown.contents.value.endswith(f"Line 4 of `axpy.cl`\n\n```c\n{line}\n```")


async def test_a_source_line_leads_to_its_instructions_in_every_text_of_the_folder(client, dump, tmp_path):
    source = (tmp_path / "axpy.cl").as_uri()
    (tmp_path / "more").mkdir()
    other = tmp_path / "more" / "second.visaasm"
    other.write_text(dump.text)
    (tmp_path / "more" / "foreign.visaasm").write_text(dump.text.replace("axpy.cl", "axpy2.cl"))
    async with in_folder(client, tmp_path):
        open_text(client, dump.uri, dump.text)
        answer = await command(client, "visa.instructionsOf", {"uri": source})
        assert (answer["ok"], answer["cut"]) == (True, False)
        lines = {line["line"]: line for line in answer["lines"]}
        assert (lines[2]["instructions"], lines[3]["instructions"]) == (14, 46)
        first = line_of(dump.text, "cmp.lt")
        assert [(p["uri"], p["range"]["start"]["line"]) for p in lines[3]["locations"]] == [
            (dump.uri, first),
            (other.as_uri(), first),
        ]
        [line] = (await command(client, "visa.instructionsOf", {"uri": source, "line": 3}))["lines"]
        assert line == lines[3]
        # What is open counts as the editor has it, and a file as it is now.
        change_text(client, dump.uri, 2, dump.text.replace("    LOC 4\n", "    LOC 40\n"))
        other.write_text(dump.text.replace("    LOC 4\n", "    LOC 400\n"))
        answer = await command(client, "visa.instructionsOf", {"uri": source})
        assert [line["line"] for line in answer["lines"]] == [2, 4, 39, 399]


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ({"uri": "untitled:a.cl"}, "is not a file"),
        ({"uri": "file:///a.cl", "line": -1}, "`line` must be a number from 0"),
        ({"uri": "file:///a.cl", "line": 10**30}, "`line` must be a number from 0"),
        ({}, "the object has no `uri`"),
    ],
)
async def test_a_wrong_call_is_answered_in_words(client, argument, words):
    answer = await command(client, "visa.instructionsOf", argument)
    assert answer["ok"] is False
    assert words in answer["error"]


async def test_a_file_that_no_text_names_has_none(client, tmp_path):
    assert await command(client, "visa.instructionsOf", (tmp_path / "no.cl").as_uri()) == {
        "ok": True, "lines": [], "cut": False,
    }  # fmt: skip


async def test_a_text_of_very_many_sources_is_answered_soon(client, tmp_path):
    line = "    mov (M1, 8) V1(0,0)<1> V1(0,0)<1;1,0>\n"
    marks = "".join(f'FILE "{n}/{"x/" * 15}a.cl"\nLOC 1\n{line}' for n in range(4_000))
    path = tmp_path / "k.visaasm"
    path.write_text(f'.version 4.1\n.kernel "k"\nFILE "a.cl"\nLOC 2\n{line}{marks}')
    (tmp_path / "a.cl").write_text("\n\n")
    async with in_folder(client, tmp_path):
        ask = command(client, "visa.instructionsOf", {"uri": (tmp_path / "a.cl").as_uri()})
        answer = await asyncio.wait_for(ask, 30)
        assert {line["line"] for line in answer["lines"]} == {0, 1}
        assert sum(line["instructions"] for line in answer["lines"]) == 100
