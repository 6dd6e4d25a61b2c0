"""The command ``visa.compile`` over stdio: texts and figures of kernels, what the compiler says, nothing started without trust."""

import shutil
from pathlib import Path

import pytest
from fake_tools import fake_tool
from lsp_client import ROOT, command, session

SOURCE = "kernel void k(global int *p) {\n  p[0] = b;\n}\n"


@pytest.fixture
def uri(tmp_path):
    (tmp_path / "k.cl").write_text(SOURCE)
    return (tmp_path / "k.cl").as_uri()


async def test_what_the_compiler_says_has_its_place(client, uri, tmp_path):
    said = "1:2:10: error: use of undeclared identifier 'b'\\nBuild failed with error code: -11"
    tool = fake_tool(tmp_path / "bin", f'print("{said}"); sys.exit(245)')
    answer = await command(client, "visa.compile", {"uri": uri, "tool": tool, "device": "DG2"})
    assert (answer["ok"], answer["device"], answer["kernels"]) == (True, "dg2", [])
    (finding,) = answer["findings"]
    assert (finding["line"], finding["column"], finding["severity"], finding["source"]) == (2, 10, "error", "ocloc")
    assert "'b'" in finding["message"]


async def test_mistakes_are_answers(client, uri, tmp_path):
    answer = await command(client, "visa.compile", {"uri": uri, "tool": str(tmp_path / "none")})
    assert not answer["ok"]
    assert "none: " in answer["error"]
    answer = await command(client, "visa.compile", {"uri": "untitled:k.cl"})
    assert "`untitled:k.cl`" in answer["error"]
    answer = await command(client, "visa.compile", {"uri": (tmp_path / "other.cl").as_uri()})
    assert "other.cl" in answer["error"]
    answer = await command(client, "visa.compile", {"uri": uri, "timeout": "-1"})
    assert "seconds" in answer["error"]


async def test_nothing_is_compiled_where_there_is_no_trust(servers, uri, tmp_path):
    tool = fake_tool(tmp_path / "bin", f'open(r"{tmp_path}/started", "w")')
    async with servers.client(trusted=False) as client:
        assert (await command(client, "visa.compile", {"uri": uri, "tool": tool}))["untrusted"]
        assert not (tmp_path / "started").exists()


@pytest.mark.skipif(shutil.which("ocloc") is None, reason="ocloc is not installed: apt-get install intel-opencl-icd")
async def test_the_real_compiler_gives_the_texts_of_kernels(tmp_path):
    uri = (ROOT / "tests" / "own" / "cl" / "axpy.cl").as_uri()
    folder = tmp_path / "compiled"
    async with session(initialization_options={"compiled": folder.as_uri()}, settings={"platform": "SKL"}) as client:
        answer = await command(client, "visa.compile", {"uri": uri, "device": "TGLLP", "options": "-g"})
        text = Path(answer["kernels"][0]["path"])
        told = await command(client, "visa.platformOf", text.as_uri())
        run = await command(client, "visa.run", {"uri": text.as_uri(), "quick": {}})
    assert text.is_relative_to(folder)
    assert sorted(p.name for p in text.parent.iterdir()) == ["axpy.zebin", "axpy.zeinfo.yaml", "saxpy.asm", text.name]
    assert told == {"ok": True, "platform": "TGLLP", "by": "the compilation", "checked": True}
    assert (run["platform"], [b["name"] for b in run["buffers"]]) == ("TGLLP", ["y", "x"])
    assert (answer["ok"], answer["platform"], answer["findings"]) == (True, "TGLLP", [])
    (kernel,) = answer["kernels"]
    assert kernel["figures"].startswith(f"tgllp SIMD{kernel['simd']}: ")
    assert '.kernel "saxpy"' in kernel["text"]
    assert "LOC 4" in kernel["text"]
