"""The command ``visa.gen`` over stdio: answers, the lens that tells figures, nothing started where there is no trust."""

import shutil

import pytest
from fake_tools import fake_tool
from lsp_client import ROOT, ask, change_text, command, open_text
from lsprotocol import types

TEXT = '.version 4.1\n.kernel "k"\n.decl V1 v_type=G type=d num_elts=8 align=GRF\n    mov (M1, 8) V1(0,0)<1> 0x1:d\n'


@pytest.fixture
def uri(tmp_path):
    (tmp_path / "k.visaasm").write_text(TEXT)
    return (tmp_path / "k.visaasm").as_uri()


async def lenses(client, uri):
    found = await ask(client, "codeLens", types.TextDocumentIdentifier(uri))
    return [lens.command.title for lens in found if lens.command and lens.command.command == "visa.gen"]


async def test_the_answer_is_that_of_the_command_and_the_lens_tells_the_figures(client, uri, tmp_path):
    tool = fake_tool(tmp_path / "bin", "write_listing()")
    open_text(client, uri, TEXT)
    assert await lenses(client, uri) == ["Machine Code"]
    answer = await command(client, "visa.gen", {"uri": uri, "tool": tool, "platform": "TGLLP", "html": "yes"})
    assert answer["ok"], answer
    assert answer["kernels"][0]["lines"][0]["line"] == 4
    assert answer["figures"] == {"k": "1 Gen instruction, no spill"}
    assert answer["findings"] == []
    assert answer["html"].startswith("<!DOCTYPE html>")
    assert await lenses(client, uri) == [answer["figures"]["k"]]
    change = types.TextDocumentContentChangePartial(types.Range(types.Position(0, 0), types.Position(0, 0)), "// \n")
    change_text(client, uri, 2, change)
    assert await lenses(client, uri) == ["Machine Code"]
    answer = await command(client, "visa.gen", {"uri": uri, "tool": tool})
    assert answer["kernels"][0]["lines"][0]["line"] == 5


async def test_what_the_finalizer_says_is_an_answer(client, uri, tmp_path):
    tool = fake_tool(tmp_path / "bin", "print('near line 5: bad'); sys.exit(1)")
    open_text(client, uri, TEXT)
    answer = await command(client, "visa.gen", {"uri": uri, "tool": tool})
    assert (answer["ok"], answer["kernels"]) == (True, [])
    (finding,) = answer["findings"]
    assert (finding["line"], finding["source"], finding["message"]) == (4, "finalizer", "bad")
    assert await lenses(client, uri) == ["no machine code"]
    answer = await command(client, "visa.gen", {"uri": uri, "tool": str(tmp_path / "none")})
    assert not answer["ok"]
    assert str(tmp_path / "none") in answer["error"]
    assert (await lenses(client, uri))[0] == answer["error"]
    answer = await command(client, "visa.gen", {"uri": uri, "tool": tool, "options": "'open"})
    assert not answer["ok"]


async def test_columns_tie_the_lines_of_gen_and_source_to_those_of_the_text(client, tmp_path):
    tool = fake_tool(tmp_path / "bin", "write_listing()")
    text = TEXT.replace("    mov", '    FILE "somewhere/k.cl"\n    LOC 2\n    mov')
    (tmp_path / "other.cl").write_text("// first\nint second;\n")
    source = (tmp_path / "other.cl").as_uri()
    open_text(client, "untitled:k", text)
    argument = {"uri": "untitled:k", "tool": tool, "platform": "TGLLP", "columns": "yes", "source": source}
    columns = (await command(client, "visa.gen", argument))["columns"]
    (block,) = columns["gen"]
    assert block["living"] == {"3": "V0033"}
    label, line = block["lines"]
    assert (label["number"], label["parts"]) == ("", [["lab", "_k_0:"]])
    assert (line["number"], line["v"]) == ("1", 4)
    assert "".join(text for _, text in line["parts"]).strip().startswith("mov (8|M0)")
    assert [text for kind, text in line["parts"] if kind == "reg"] == ["r3.0", "r1.0"]
    assert (columns["source"]["name"], columns["source"]["path"]) == ("other.cl", str(tmp_path / "other.cl"))
    assert columns["source"]["ties"] == {"6": 2}
    assert [line["s"] for line in columns["source"]["lines"]] == [1, 2, 3]
    answer = await command(client, "visa.gen", {**argument, "source": (tmp_path / "none.cl").as_uri()})
    assert not answer["ok"]
    assert "none.cl: " in answer["error"]


async def test_hover_tells_where_a_variable_was_put_until_the_text_changes(client, uri, tmp_path):
    tool = fake_tool(tmp_path / "bin", "LISTING = LISTING.replace('V0033', 'V1'); write_listing()")
    place = types.Position(3, TEXT.splitlines()[3].index("V1"))
    here = open_text(client, uri, TEXT)
    before = (await ask(client, "hover", here, place)).contents.value
    assert "machine code" not in before
    assert (await command(client, "visa.gen", {"uri": uri, "tool": tool, "platform": "DG2"}))["ok"]
    after = (await ask(client, "hover", here, place)).contents.value
    assert after == before + "  \nin the machine code: r3.0 on DG2"
    end = types.Range(types.Position(4, 0), types.Position(4, 0))
    change_text(client, uri, 2, types.TextDocumentContentChangePartial(end, "// \n"))
    assert (await ask(client, "hover", here, place)).contents.value == before


async def test_a_text_that_shows_its_platform_keeps_it_while_it_is_edited(client, uri, tmp_path):
    tool = fake_tool(tmp_path / "bin", "write_listing()")
    open_text(client, uri, "// GRF size: 64 bytes (said)\n" + TEXT)
    assert (await command(client, "visa.gen", {"uri": uri, "tool": tool}))["platform"] == "PVCXT"
    place = types.Range(types.Position(0, 0), types.Position(0, 3))
    for version, words in enumerate(("nonsense ", "more "), 2):
        change_text(client, uri, version, types.TextDocumentContentChangePartial(place, words))
        answer = await command(client, "visa.gen", {"uri": uri, "tool": tool if version == 2 else "none"})
        assert answer.get("platform", "PVCXT") == "PVCXT"
    assert (await command(client, "visa.gen", {"uri": uri, "tool": tool}))["platform"] == "PVCXT"
    assert (await command(client, "visa.gen", {"uri": uri, "tool": tool, "platform": "DG2"}))["platform"] == "DG2"
    assert (await command(client, "visa.gen", {"uri": uri, "tool": tool}))["platform"] == "TGLLP"


async def test_the_time_that_the_finalizer_may_take_is_an_option(client, uri, tmp_path):
    tool = fake_tool(tmp_path / "bin", "time.sleep(600)")
    open_text(client, uri, TEXT)
    answer = await command(client, "visa.gen", {"uri": uri, "tool": tool, "timeout": "0.3"})
    (finding,) = answer["findings"]
    assert finding["name"] == "finalizer-failure"
    assert "0.3" in finding["message"]
    answer = await command(client, "visa.gen", {"uri": uri, "tool": tool, "timeout": "soon"})
    assert (answer["ok"], "'soon'" in answer["error"]) == (False, True)


async def test_nothing_is_started_where_there_is_no_trust(servers, uri, tmp_path):
    tool = fake_tool(tmp_path / "bin", f'open(r"{tmp_path}/started", "w"); write_listing()')
    (tmp_path / "visa-lsp.toml").write_text(f'finalizer = "{tool}"\n')
    async with servers.client(trusted=False) as client:
        open_text(client, uri, TEXT)
        answer = await command(client, "visa.gen", {"uri": uri})
        assert answer["untrusted"]
        assert await lenses(client, uri) == []
        assert not (tmp_path / "started").exists()
        client.protocol.notify("visa/didChangeTrust", {"trusted": True})
        assert (await command(client, "visa.gen", {"uri": uri}))["ok"]
        assert (tmp_path / "started").exists()


@pytest.mark.skipif(shutil.which("GenX_IR") is None, reason="GenX_IR is not installed: apt-get install libigc-tools")
async def test_the_real_finalizer_answers_with_an_unsaved_text(client, uri):
    open_text(client, uri, (ROOT / "examples" / "saxpy.visaasm").read_text())
    answer = await command(client, "visa.gen", {"uri": uri, "platform": "DG2"})
    assert answer["platform"] == "DG2"
    (kernel,) = answer["kernels"]
    assert kernel["gen_instructions"] == sum(len(line["gen"]) for line in kernel["lines"]) > 0
    assert answer["figures"]["saxpy"].startswith(f"{kernel['gen_instructions']} Gen instruction")
