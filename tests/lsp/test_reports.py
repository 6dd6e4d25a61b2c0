"""What the editor's commands report is what the command line reports: of runs, of made ze_info; and of a text not begun."""

from __future__ import annotations

import json
import subprocess

from lsp_client import ROOT, SERVER, ask, close_text, command, open_text

SENDER = """.version 4.1
.kernel "sender"
.decl V32 v_type=G type=ud num_elts=16 align=GRF
.decl V33 v_type=G type=ud num_elts=16 align=GRF
.decl x v_type=T num_elts=1
.input x offset=64 size=4
.kernel_attr SimdSize=16
    mov (M1, 16) V32(0,0)<1> 0x1000:ud
    raw_sends.1.1.1.1 (M1, 16) 0x12:ud 0x3:ud V32.0 V32.0 V32.0
    mov (M1, 16) V32(0,0)<1> 0x1000:ud
    gather4_scaled.R (M1, 16) x 0x0:ud V32.0 V33.0
    ret (M1, 1)
"""
LAUNCH = """kernel: sender
groups: [1, 1, 1]
local_size: [16, 1, 1]
args:
  x: {buffer: {dtype: float32, shape: [20], init: arange}}
"""
GUESSED = """.version 4.1
.kernel "guessed"
.decl V0032 v_type=G type=d num_elts=8 align=hword
.decl V0033 v_type=G type=d num_elts=8 align=hword alias=<%r0, 0>
.decl V0034 v_type=G type=uq num_elts=1 align=qword
.decl V0035 v_type=G type=d num_elts=1 align=dword
.decl V0036 v_type=G type=uq num_elts=1 align=qword
.decl V0037 v_type=G type=d num_elts=8 align=hword
.decl V0038 v_type=G type=d num_elts=8 align=hword alias=<%r0, 0>
.decl V0039 v_type=G type=d num_elts=8 align=hword
.decl V0040 v_type=G type=d num_elts=3 align=dword
.decl V0043 v_type=G type=uq num_elts=16 align=GRF
.decl V0044 v_type=G type=d num_elts=16 align=GRF
.input V0040 offset=116 size=12
    svm_scatter.4.1 (M1, 16) V0043.0 V0044.0
"""


def told(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Return the findings of the command line."""
    return subprocess.run([*SERVER, *map(str, arguments)], capture_output=True, text=True, check=False, cwd=ROOT)


async def test_a_run_reports_what_the_command_line_does(client, tmp_path):
    path = tmp_path / "sender.visaasm"
    path.write_text(SENDER)
    (tmp_path / "sender.launch.yaml").write_text(LAUNCH)
    answer = await command(client, "visa.run", path.as_uri())
    assert [sent["line"] for sent in answer["messages"]] == [9], answer
    assert {p["operand"]: p["bytes"] for p in answer["messages"][0]["payload"]}["src1"] == 32
    assert {fault["line"] for fault in answer["faults"]} == {11}
    assert answer["findings"] == []
    same = json.loads(told("run", path, "--format", "json").stdout)
    (mine,), (theirs,) = answer.pop("buffers"), same.pop("buffers")
    assert (mine.pop("head")[:8], len(theirs.pop("head"))) == ([float(n) for n in range(8)], 8)
    assert theirs.pop("path") is None
    assert mine == theirs
    for fault in answer["faults"]:  # in words, for the view
        del fault["work_items"], fault["other_work_items"]
    assert answer["time"].keys() == same["time"].keys()
    differ = {"launch", "time"}
    assert {key: answer[key] for key in same if key not in differ} == {k: v for k, v in same.items() if k not in differ}


async def test_a_made_ze_info_comes_with_the_warnings_of_the_command(client, tmp_path):
    path = tmp_path / "guessed.visaasm"
    path.write_text(GUESSED)
    answer = await command(client, "visa.showZeInfo", path.as_uri())
    assert answer["made"], answer
    same = told("zeinfo", "emit", path)
    assert answer["text"] == same.stdout
    lines = [
        f"{path}:{w['line']}:{w['column']}: warning: kernel '{w['kernel']}': {w['message']}" for w in answer["warnings"]
    ]
    assert lines == same.stderr.splitlines()
    assert lines
    (tmp_path / "guessed.zeinfo.yaml").write_text(answer["text"])
    assert (await command(client, "visa.showZeInfo", path.as_uri()))["warnings"] == []


async def test_a_document_that_is_not_begun_has_no_findings(client, tmp_path):
    async def codes(uri: str, text: str) -> list[str]:
        here = open_text(client, uri, text)
        found = await ask(client, "diagnostic", here)
        close_text(client, here)
        return [item.code for item in found.items]

    assert await codes("untitled:Untitled-1", "") == []
    assert await codes("untitled:Untitled-1", " \n\n") == []
    assert await codes("untitled:Untitled-1", "\nmov\n") != []
    path = tmp_path / "empty.visaasm"
    path.write_text("")
    assert await codes(path.as_uri(), "") == ["V003"]
    assert " V003 " in told("check", path, "--format", "concise").stdout
