"""The command ``visa.read`` over stdio: pseudo-code of texts, objects and blocks in strings, with the lines that the editor has."""

import json

from lsp_client import ask, change_text, command, open_text
from lsprotocol import types

from visa_lsp.cli.main import main

HOST = """// comment
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global int *d) {
  int x = d[0];
  __asm__("mov (M1, 16) %0(0,0)<1> 0x5:d\\n"
          "add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %0(0,0)<1;1,0>" : "+rw"(x));
}
"""


async def test_a_text_reads_as_by_the_command_and_after_an_edit_anew(client, kernel, capsys):
    open_text(client, kernel.uri, kernel.text)
    answer = await command(client, "visa.read", {"uri": kernel.uri, "platform": "TGLLP"})
    assert main(["read", str(kernel.path), "--platform", "TGLLP", "--format", "json"]) == 0
    assert answer["kernels"] == json.loads(capsys.readouterr().out)["kernels"]
    content = await client.protocol.send_request_async(
        types.WORKSPACE_TEXT_DOCUMENT_CONTENT, types.TextDocumentContentParams(answer["uri"])
    )
    assert content.text == "\n".join(line["text"] for line in answer["kernels"][0]["lines"]) + "\n"
    for version, text in ((2, f"// first\n{kernel.text}"), (3, f"{kernel.text}    nonsense\n")):
        change_text(client, kernel.uri, version, text)
        again = await command(client, "visa.read", {"uri": kernel.uri, "platform": "TGLLP"})
        if version == 2:
            down = [{**line, "visa": [number + 1 for number in line["visa"]]} for line in answer["kernels"][0]["lines"]]
            assert again["kernels"][0]["lines"] == down
    assert (again["ok"], again["line"]) == (False, kernel.text.count("\n") + 1)
    assert "nonsense" in again["error"]


async def test_an_object_reads_as_the_text_of_its_disassembly(client, kernel, tmp_path):
    assert (await command(client, "visa.assemble", kernel.uri))["ok"]
    answer = await command(client, "visa.read", {"uri": (tmp_path / "saxpy.isa").as_uri(), "platform": "TGLLP"})
    assert answer["kernels"][0]["lines"][0]["text"].startswith("kernel void saxpy(")
    missing = await command(client, "visa.read", {"uri": (tmp_path / "none.isa").as_uri()})
    assert (missing["ok"], "none.isa" in missing["error"]) == (False, True)


async def test_blocks_of_a_host_read_with_the_lines_of_the_host(client):
    open_text(client, "file:///src/k.cl", HOST, "opencl")
    answer = await command(client, "visa.read", {"uri": "file:///src/k.cl"})
    (kernel,) = answer["kernels"]
    assert {number for line in kernel["lines"] for number in line["visa"]} == {5, 6}
    open_text(client, "file:///src/bad.cl", HOST.replace("%0(0,0)<1;1,0> %0", "none(0,0)<1;1,0> %0"), "opencl")
    wrong = await command(client, "visa.read", {"uri": "file:///src/bad.cl"})
    assert (wrong["ok"], wrong["line"], "none" in wrong["error"]) == (False, 6, True)


async def test_hover_of_the_name_of_a_kernel_shows_its_first_lines(client, kernel):
    open_text(client, kernel.uri, kernel.text)
    line = next(number for number, text in enumerate(kernel.text.splitlines()) if text.startswith(".kernel "))
    column = kernel.text.splitlines()[line].index("saxpy")
    answer = await ask(client, "hover", types.TextDocumentIdentifier(kernel.uri), types.Position(line, column + 1))
    assert "```c\nkernel void saxpy(" in answer.contents.value
