"""A wrong shift in a reduction of two hundred lines: found and mended with the tools alone, by few and short messages."""

import json
import shutil
from pathlib import Path

import pytest
from agents import agent

from visa_lsp.mcp.pages import tokens_of

REDUCTION = Path(__file__).parent / "reduction"
MOST_CALLS, MOST_TOKENS = 6, 2_500


@pytest.mark.full
async def test_a_wrong_shift_is_found_and_mended(tmp_path):
    folder = tmp_path / "work"
    shutil.copytree(REDUCTION, folder)
    spent, calls = 0, 0
    async with agent(folder) as found:

        async def ask(tool, **arguments):
            nonlocal spent, calls
            calls += 1
            answer = await found.call(tool, **arguments)
            spent += tokens_of(json.dumps(arguments)) + tokens_of(json.dumps(answer, separators=(",", ":")))
            return answer

        wrong = await ask("run", path="reduce.launch.yaml")
        assert "[1] is 4064, expected 6112" in wrong["failed"][0]["message"]
        # The result of the first group is right: the place of the others' elements is wrong.
        code = (await ask("read", path="reduce.visaasm", max_tokens=400))["text"]
        load = next(line for line in code.split("\n") if "x[group_id(0) * 32 + " in line)
        first, last = load.partition("|")[0].split("-")
        lines = (await ask("read", path="reduce.visaasm", first_line=int(first), last_line=int(last), visa=True))[
            "text"
        ]
        number, _, shift = next(line for line in lines.split("\n") if "0x5:d" in line).partition("| ")
        edit = {"line": int(number), "new_text": shift.replace("0x5:d", "0x6:d")}
        assert (await ask("check", path="reduce.visaasm", edits=[edit], write=True, max_tokens=400))["ok"]
        assert (await ask("run", path="reduce.launch.yaml"))["ok"]
    assert calls <= MOST_CALLS
    assert spent <= MOST_TOKENS
