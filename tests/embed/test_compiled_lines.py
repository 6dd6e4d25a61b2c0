"""What a compiler says against a line of inline assembly stands at that line of the string, at the client's columns."""

from __future__ import annotations

import pytest
from finalizer import why_missing
from lsp_client import command, open_text

from visa_lsp.embed.compiled_lines import place_of_line
from visa_lsp.embed.host_text import HostText
from visa_lsp.embed.languages import Host

TEXT = """__attribute__((intel_reqd_sub_group_size(16))) kernel void k(global int *d) {
  int x = d[0], y = 2;
  __asm__ volatile("mov (M1, 16) %0(0,0)<1> 0x1:d\\n" : "=rw"(x));
  __asm__ volatile("mov (M1, 16) %0(0,0)<1> 0x1:d\\n"
    /* é😀 */ "add  (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0> nope(0,0)<1;1,0>\\n" : "+rw"(x) : "rw"(y));
  d[0] = x;
}
"""
LINE = "add  (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0> nope(0,0)<1;1,0>"


def test_a_line_is_found_whatever_the_compiler_calls_its_operands():
    host = HostText.of(TEXT, Host.OPENCL)
    span = place_of_line(host, "add (M1, 16) V0039(0,0)<1> V0040(0,0)<1;1,0> nope(0,0)<1;1,0>")
    assert TEXT[span.start : span.end] == LINE
    span = place_of_line(host, "mov (M1, 16) V1(0,0)<1> 0x1:d")
    assert span.start == TEXT.index("mov")
    assert place_of_line(host, "sub (M1, 16) V1(0,0)<1> 0x1:d") is None
    assert place_of_line(host, "") is None


async def check(client, uri, text, language="opencl"):
    open_text(client, uri, text, language)
    return await command(client, "visa.checkWithCompiler", {"uri": uri, "device": "pvc"})


@pytest.mark.skipif(bool(why_missing()), reason=why_missing() or "there is a compiler")
async def test_the_compiler_is_asked_about_the_open_text_in_a_trusted_workspace(client, tmp_path):
    file = tmp_path / "k.cl"
    file.write_text("what is saved is not compiled")
    answer = await check(client, file.as_uri(), TEXT)
    assert (answer["ok"], answer["compiled"], answer["device"]) == (True, False, "pvc")
    [finding] = answer["findings"]
    assert finding["severity"] == "error"
    assert "nope: unbound identifier" in finding["message"]
    line = TEXT.split("\n")[4]
    start = len(line[: line.index("add")].encode("utf-16-le")) // 2
    assert finding["range"] == {
        "start": {"line": 4, "character": start},
        "end": {"line": 4, "character": start + len(LINE)},
    }
    right = await check(client, file.as_uri(), TEXT.replace("nope", "%0"))
    assert (right["compiled"], right["findings"]) == (True, [])


async def test_nothing_is_compiled_without_trust(servers, tmp_path):
    async with servers.client(trusted=False) as client:
        answer = await check(client, (tmp_path / "k.cl").as_uri(), TEXT)
        assert (answer["ok"], answer["untrusted"]) == (False, True)


async def test_what_is_no_opencl_is_not_compiled(client, tmp_path):
    answer = await check(client, (tmp_path / "k.cpp").as_uri(), TEXT, "cpp")
    assert not answer["ok"]
    assert "not an OpenCL source" in answer["error"]
