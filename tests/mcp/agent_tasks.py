"""Forty tasks that an agent does with the tools alone: each a function that gets the agent, in the order of a list."""

from __future__ import annotations

import shutil
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from agents import Agent

    Task = Callable[[Agent], Awaitable[None]]

TASKS: list[Task] = []
SLOW: set[str] = set()  # the names of tasks that take longer than the default tier has time for
_NUMBERS = count(1)
GEMM = "TGLLP/gemm.g.tiles.visaasm"
SAXPY_O0 = "TGLLP/axpy.o0.saxpy.visaasm"
SAXPY = "TGLLP/axpy.g.saxpy.visaasm"
LUT = "TGLLP/lookup.fast.lut.visaasm"


def task(function: Task) -> Task:
    """Take a task into the list."""
    TASKS.append(function)
    return function


def slow(function: Task) -> Task:
    """Take a task into the list, for the full tier."""
    SLOW.add(function.__name__)
    return task(function)


def text_of(agent: Agent, path: str) -> str:
    """Return the text of a file of the agent."""
    return (agent.folder / path).read_text(encoding="utf-8")


def own_folder(agent: Agent) -> Path:
    """Return a new folder below the agent's."""
    folder = agent.folder / f"own{next(_NUMBERS)}"
    folder.mkdir()
    return folder


def edited(text: str, edits: list[dict[str, Any]]) -> str:
    """Return a text with the edits of a fix."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for edit in sorted(edits, key=lambda e: (e["line"], e["column"]), reverse=True):
        first = starts[edit["line"] - 1] + edit["column"] - 1
        last = starts[edit["end_line"] - 1] + edit["end_column"] - 1
        text = text[:first] + edit["new_text"] + text[last:]
    return text


def broken(agent: Agent, path: str, old: str, new: str) -> str:
    """Return the text of a file with its first ``old`` replaced."""
    text = text_of(agent, path)
    assert old in text
    return text.replace(old, new, 1)


# ---- find and mend


@task
async def a_dump_without_mistakes_is_told_in_a_line(agent: Agent) -> None:
    assert (await agent.call("check", path=GEMM))["ok"]


@task
async def a_syntax_error_is_found_by_its_line(agent: Agent) -> None:
    text = broken(agent, GEMM, "mov (M1, 16)", "mov (M1, 16")
    line = text[: text.index("mov (M1, 16 ")].count("\n") + 1
    answer = await agent.call("check", path=GEMM, text=text)
    assert (answer["ok"], answer["findings"][0]["line"]) == (False, line)


@task
async def a_misspelt_opcode_is_mended_by_the_fix_of_its_finding(agent: Agent) -> None:
    text = broken(agent, SAXPY_O0, "    mov (", "    mvo (")
    found = (await agent.call("check", path=SAXPY_O0, text=text))["findings"][0]
    mended = edited(text, found["fixes"][0]["edits"])
    assert (await agent.call("check", path=SAXPY_O0, text=mended))["errors"] == 0
    assert mended == text_of(agent, SAXPY_O0)


@task
async def an_undeclared_name_gets_its_declaration(agent: Agent) -> None:
    text = '.version 4.1\n.kernel "k"\n    mov (M1, 8) V40(0,0)<1> 0x0:ud\n    ret (M1, 1)\n'
    found = (await agent.call("check", text=text))["findings"][0]
    assert found["name"] == "undeclared-name"
    assert (await agent.call("check", text=edited(text, found["fixes"][0]["edits"])))["errors"] == 0


@task
async def a_file_is_mended_where_the_agent_says_so(agent: Agent) -> None:
    path = own_folder(agent) / "mend.visaasm"
    path.write_text(broken(agent, SAXPY_O0, ".version 4.1\n", ""), encoding="utf-8")
    name = str(path.relative_to(agent.folder))
    before = path.read_text(encoding="utf-8")
    assert (await agent.call("check", path=name))["errors"] >= 1
    assert path.read_text(encoding="utf-8") == before
    assert (await agent.call("check", path=name, fix=True))["fixed"] >= 1
    assert (await agent.call("check", path=name))["errors"] == 0


@task
async def an_id_stays_when_lines_move(agent: Agent) -> None:
    text = broken(agent, GEMM, "mov (M1, 16)", "mov (M1, 17)")
    first = (await agent.call("check", path=GEMM, text=text))["findings"][0]
    moved = await agent.call(
        "check", path=GEMM, text=text.replace(".kernel ", "// moved\n\n.kernel ", 1), ids=[first["id"]]
    )
    assert [(f["id"], f["line"]) for f in moved["findings"]] == [(first["id"], first["line"] + 2)]


@slow
async def a_folder_of_dumps_is_checked_in_one_call(agent: Agent) -> None:
    answer = await agent.call("check", path="TGLLP")
    assert (answer["ok"], answer["files"]) == (True, len(list((agent.folder / "TGLLP").glob("*.visaasm"))))


@slow
async def many_findings_come_in_pages(agent: Agent) -> None:
    text = text_of(agent, GEMM).replace("(M1, 16)", "(M1, 17)")
    pages = await agent.pages("check", "findings", path=GEMM, text=text)
    ids = [finding["id"] for page in pages for finding in page]
    assert len(pages) > 2
    assert len({*ids}) == len(ids) == text.count("(M1, 17)")


@task
async def a_launch_file_with_a_wrong_key_is_found(agent: Agent) -> None:
    text = text_of(agent, "saxpy.launch.yaml").replace("groups:", "gruops:")
    found = (await agent.call("check", path="saxpy.launch.yaml", text=text))["findings"]
    assert any("groups" in finding["message"] for finding in found)


@slow
async def an_instruction_of_another_platform_is_told(agent: Agent) -> None:
    assert (await agent.call("check", path="DG2/axpy.o0.saxpy.visaasm", platform="DG2"))["errors"] == 0
    assert (await agent.call("check", path="DG2/axpy.o0.saxpy.visaasm", platform="SKL"))["errors"] > 0


# ---- words


@task
async def a_finding_is_explained_by_its_code(agent: Agent) -> None:
    assert "declar" in (await agent.call("explain", word="V101"))["text"]


@task
async def an_instruction_is_explained(agent: Agent) -> None:
    assert "src2" in (await agent.call("explain", word="mad"))["text"]


@task
async def a_register_is_explained(agent: Agent) -> None:
    assert "%r0" in (await agent.call("explain", word="%r0"))["text"]


@task
async def a_term_is_explained(agent: Agent) -> None:
    assert "work item" in (await agent.call("explain", word="work item"))["text"]


@task
async def an_unknown_word_gets_the_nearest(agent: Agent) -> None:
    assert "'barrier'" in await agent.call_refused("explain", word="barier")


@task
async def the_instruction_for_an_atomic_is_found(agent: Agent) -> None:
    found = (await agent.call("search_instructions", query="atomic on memory per lane", max_tokens=1000))[
        "instructions"
    ]
    assert all("atomic" in row["summary"].lower() for row in found[:3])


@task
async def the_instruction_for_a_dot_product_is_found(agent: Agent) -> None:
    found = (await agent.call("search_instructions", query="dot product", platform="TGLLP", max_tokens=1000))[
        "instructions"
    ]
    assert "dp4a" in [row["syntax"].split()[1].split("[")[0] for row in found[:4]]


@slow
async def all_instructions_are_listed_in_pages(agent: Agent) -> None:
    pages = await agent.pages("search_instructions", "instructions", query="")
    rows = [row["id"] for page in pages for row in page]
    assert len({*rows}) == len(rows) > 300


# ---- understand


@slow
async def a_kernel_is_read_as_pseudo_code(agent: Agent) -> None:
    answer = await agent.call("read", path=LUT)
    assert "kernel void lut" in answer["text"]


@task
async def a_region_of_a_kernel_is_read(agent: Agent) -> None:
    text = text_of(agent, GEMM)
    line = text[: text.index("    mul (M1, 16)")].count("\n") + 1
    answer = await agent.call("read", path=GEMM, first_line=line)
    first, _, last = answer["text"].split("|")[0].partition("-")
    assert int(first) <= line <= int(last or first)
    assert "\n" not in answer["text"]


@slow
async def an_object_is_read(agent: Agent) -> None:
    assert (await agent.call("read", path="TGLLP/gemm.g.tiles.isa"))["kernels"] == ["tiles"]


@slow
async def a_kernel_that_is_not_there_is_told(agent: Agent) -> None:
    assert "'tiles'" in await agent.call_refused("read", path=GEMM, kernel="tile")


@task
async def the_peak_of_register_pressure_is_found(agent: Agent) -> None:
    (kernel,) = (await agent.call("stats", path=GEMM))["kernels"]
    assert kernel["pressure"]["max"] > 20
    assert kernel["pressure"]["line"] <= text_of(agent, GEMM).count("\n")


@slow
async def the_variables_at_the_peak_are_told(agent: Agent) -> None:
    answer = await agent.call("stats", path=GEMM, kernel="tiles")
    rows = sum(variable["takes"] for variable in answer["live"])
    assert rows <= answer["kernels"][0]["pressure"]["max"] or "cursor" in answer


@slow
async def the_heaviest_kernel_of_a_folder_is_found(agent: Agent) -> None:
    pages = await agent.pages("stats", "kernels", path="TGLLP")
    kernels = [kernel for page in pages for kernel in page]
    heaviest = max(kernels, key=lambda kernel: kernel["pressure"]["max"])
    assert heaviest["path"].startswith("TGLLP/")


# ---- compare


@slow
async def two_builds_of_a_kernel_are_compared(agent: Agent) -> None:
    answer = await agent.call("diff", a=SAXPY_O0, b=SAXPY)
    assert (answer["same"], answer["different"][0]["name"]) == (False, "saxpy")


@slow
async def a_renamed_copy_is_the_same(agent: Agent) -> None:
    text = text_of(agent, GEMM).replace("V0", "other_")
    assert (await agent.call("diff", a=GEMM, b_text=text))["same"]


@task
async def one_changed_instruction_is_found(agent: Agent) -> None:
    text = broken(agent, GEMM, "    mul (M1, 16)", "    add (M1, 16)")
    line = text_of(agent, GEMM)[: text_of(agent, GEMM).index("    mul (M1, 16)")].count("\n") + 1
    changes = (await agent.call("diff", a=GEMM, b_text=text))["changes"]
    assert any(change["b"][0] <= line <= change["b"][1] for change in changes)


@slow
async def two_folders_of_dumps_are_compared(agent: Agent) -> None:
    answer = await agent.call("diff", a="TGLLP", b="DG2")
    assert not answer["same"]
    assert answer["kernels"] > 5


@task
async def an_object_is_its_text(agent: Agent) -> None:
    assert (await agent.call("diff", a=GEMM, b="TGLLP/gemm.g.tiles.isa"))["same"]


# ---- run


@task
async def the_race_of_average_is_found(agent: Agent) -> None:
    faults = (await agent.call("run", path="average.visaasm"))["faults"]
    (race,) = [fault for fault in faults if fault["kind"] == "data-race"]
    assert (race["line"], race["other_excerpt"].split(".")[0]) == (42, "gather4_scaled")


@task
async def a_fault_is_found_again_by_its_id(agent: Agent) -> None:
    first = (await agent.call("run", path="average.visaasm"))["faults"][0]
    again = (await agent.call("run", path="average.visaasm", ids=[first["id"]]))["faults"]
    assert again == [first]


@task
async def the_cause_of_a_fault_is_explained(agent: Agent) -> None:
    nodes = (await agent.call("why", path="average.visaasm"))["nodes"]
    line = 1 + text_of(agent, "average.visaasm")[
        : text_of(agent, "average.visaasm").index("gather4_scaled.R (M1, 16) x 0x0:ud next")
    ].count("\n")
    assert (nodes[0]["path"], nodes[0]["line"]) == ("average.visaasm", line)
    assert {node["id"] for node in nodes} >= {cause for node in nodes for cause in node["causes"]}


@task
async def average_is_mended_and_runs_without_faults(agent: Agent) -> None:
    """Each work item averages two of its own elements, so that none reads what another writes."""
    text = text_of(agent, "average.visaasm")
    text = text.replace(
        "add (M1, 16) next(0,0)<1> here(0,0)<1;1,0> 0x4:ud", "add (M1, 16) next(0,0)<1> here(0,0)<1;1,0> 0x0:ud"
    )
    launch = text_of(agent, "average.launch.yaml").replace("expect_faults: [out-of-bounds, data-race]", "")
    answer = await agent.call("run", path="average.visaasm", text=text, launch_text=launch)
    assert (answer["ok"], answer["faults"]) == (True, [])


@slow
async def a_failed_expectation_is_told_with_its_first_difference(agent: Agent) -> None:
    launch = text_of(agent, "saxpy.launch.yaml").replace("2.5", "3.5")
    answer = await agent.call("run", path="saxpy.visaasm", launch_text=launch)
    assert not answer["ok"]
    assert answer["failed"]


@slow
async def all_values_of_a_buffer_come_in_pages(agent: Agent) -> None:
    pages = await agent.pages("run", "values", path="mandelbrot.launch.yaml", buffer="img")
    assert sum(map(len, pages)) == 20 * 36 * 4


@slow
async def a_dump_runs_with_a_generated_launch(agent: Agent) -> None:
    answer = await agent.call("run", path=SAXPY)
    assert answer["ok"]
    assert answer["assumed"]


@task
async def a_launch_is_made_changed_and_run(agent: Agent) -> None:
    template = await agent.call("launch_template", path="saxpy.visaasm", given={"groups": [2, 1, 1]})
    answer = await agent.call("run", path="saxpy.visaasm", launch_text=template["text"])
    assert (answer["ok"], answer["groups"]) == (True, 2)


@slow
async def a_launch_file_is_written_and_used(agent: Agent) -> None:
    folder = own_folder(agent)
    shutil.copy(agent.folder / "saxpy.visaasm", folder)
    name = f"{folder.name}/saxpy.visaasm"
    written = await agent.call("launch_template", path=name, output=f"{folder.name}/saxpy.launch.yaml")
    assert written["written"] == [f"{folder.name}/saxpy.launch.yaml"]
    answer = await agent.call("run", path=name)
    assert answer["ok"]
    assert "assumed" not in answer


@slow
async def a_kernel_that_never_ends_is_stopped(agent: Agent) -> None:
    text = '.version 4.1\n.kernel "k"\nagain:\n    jmp (M1, 1) again\n    ret (M1, 1)\n'
    answer = await agent.call("run", text=text, launch_text="groups: [1, 1, 1]\nlocal_size: [16, 1, 1]\n", budget=1000)
    assert [fault["kind"] for fault in answer["faults"]] == ["step-budget"]


@slow
async def a_product_of_matrices_is_run(agent: Agent) -> None:
    answer = await agent.call("run", path="gemm/tiles.visaasm")
    assert answer["kernel"] == "tiles"


# ---- objects and machine code


@slow
async def a_text_goes_to_an_object_and_back(agent: Agent) -> None:
    folder = own_folder(agent).name
    made = await agent.call("assemble", path=GEMM, output=f"{folder}/tiles.isa")
    assert made["bytes"] == (agent.folder / made["written"]).stat().st_size
    back = await agent.call("disassemble", path=f"{folder}/tiles.isa", output=f"{folder}/tiles.visaasm")
    assert (await agent.call("diff", a=GEMM, b=back["written"][0]))["same"]


@slow
async def the_pages_of_a_disassembly_are_its_text(agent: Agent) -> None:
    from visa_lsp.codec.decode import decode
    from visa_lsp.program.text_form import module_text

    pages = await agent.pages("disassemble", "text", path="TGLLP/deep.base.up.isa")
    text = module_text(decode((agent.folder / "TGLLP/deep.base.up.isa").read_bytes()))
    assert "\n".join(pages) == text.rstrip("\n")


@task
async def a_text_with_errors_is_not_assembled(agent: Agent) -> None:
    text = broken(agent, GEMM, "mov (M1, 16)", "mov (M1, 17)")
    answer = await agent.call("assemble", path=GEMM, text=text)
    assert not answer["ok"]
    assert answer["findings"] == (await agent.call("check", path=GEMM, text=text))["findings"]
