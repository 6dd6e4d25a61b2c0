"""The worker in this process: every job has a result, whatever its arguments are, and nothing is written that nobody asked for."""

import json
import random

import msgspec
import pytest

from visa_lsp.mcp.tools import BY_NAME, TOOLS
from visa_lsp.mcp.worker import Worker
from visa_lsp.safe_io import limit_reading

PATHS = (
    "saxpy.visaasm",
    "average.launch.yaml",
    "TGLLP/deep.base.up.isa",
    "gemm/gemm.zebin",
    "scale.cl",
    "..",
    "/",
    "no",
)
TEXTS = (
    '.version 4.1\n.kernel "k"\n    ret (M1, 1)\n',
    ".version",
    ".kernel \0",
    "groups: [1, 1, 1]\n",
    "groups: [",
    "\U0001f600",
)
WORDS = ("saxpy", "tiles", "mad", "%r0", "DG2", "x", "0")
JUNK = (None, 1, 1.5, True, 1 << 80, [], {}, "", "\0", "x" * 3000, "\ud800")
BY_NAME_OF_MEMBER = {
    **dict.fromkeys(("path", "a", "b", "launch"), PATHS),
    **dict.fromkeys(("text", "a_text", "b_text", "launch_text"), TEXTS),
    **dict.fromkeys(("first_line", "last_line"), (0, 1, 30, 240)),
    "max_tokens": (400, 2000, 100_000),
    "budget": (1, 1000),
    "platform": ("TGLLP", "DG2", "SKL", "PVCXT", "no"),
    "ids": ([], ["x"], ["V101-00000000"]),
    "given": ({}, {"groups": [1, 1, 1]}, {"args": []}, {"odd": 1}),
    "cursor": ("", "", "", "1-000000000000"),
}
OFTEN = {"path", "a", "b", "word", "query"}


@pytest.fixture
def worker():
    """Yield a worker of this process, which may read all files again afterwards."""
    yield Worker()
    limit_reading(None)


def ask(worker, folder, tool, **arguments):
    job = {"tool": tool, "arguments": arguments, "roots": [str(folder)]}
    return json.loads(worker.answer(json.dumps(job).encode()))


def arguments_for(tool, rng):
    """Return arguments of a tool, most of them of the right kind; none that writes."""
    members = [name for name in tool.input_schema()["properties"] if name not in ("fix", "output")]
    chosen = [name for name in members if rng.random() < (0.9 if name in OFTEN else 0.15)]
    values = {name: rng.choice(BY_NAME_OF_MEMBER.get(name, WORDS)) for name in chosen}
    if chosen and rng.random() < 0.2:
        values[rng.choice([*chosen, "odd"])] = rng.choice(JUNK)
    return values


@pytest.mark.parametrize("count", [30, pytest.param(500, marks=pytest.mark.full)])
def test_every_job_has_a_result_of_its_schema(worker, workspace, count, monkeypatch):
    monkeypatch.setenv("VISA_LSP_DEBUG", "1")  # an internal error ends the test
    before = {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()}
    rng = random.Random(count)
    done = 0
    for _ in range(count):
        tool = rng.choice(TOOLS)
        result = ask(worker, workspace, tool.name, **arguments_for(tool, rng))
        assert {*result} in ({"answer", "written"}, {"error"})
        if "answer" in result:
            done += 1
            msgspec.convert(result["answer"], tool.answer)
    assert done > count / 8
    assert {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()} == before


def test_a_page_after_the_first_is_of_the_same_run(worker, workspace, monkeypatch):
    """The answer is kept, so that a file that changes meanwhile does not spoil the pages."""
    arguments = {"path": "mandelbrot.launch.yaml", "buffer": "img", "max_tokens": 400}
    first = ask(worker, workspace, "run", **arguments)["answer"]
    monkeypatch.setattr(type(BY_NAME["run"]), "work", property(lambda _: pytest.fail("it ran again")), raising=False)
    second = ask(worker, workspace, "run", **arguments, cursor=first["cursor"])["answer"]
    assert second["first"] == len(first["values"]) + 1


def test_machine_code_is_made_by_the_finalizer_on_path_alone(worker, workspace, here, monkeypatch):
    """Settings of a folder may come from strangers: a program that they name is not run."""
    (here / "visa-lsp.toml").write_text('finalizer = "./mine"\n', encoding="utf-8")
    program = here / "mine"
    program.write_text("#!/bin/sh\ntouch ran\n", encoding="utf-8")
    program.chmod(0o755)
    (here / "k.visaasm").write_bytes((workspace / "saxpy.visaasm").read_bytes())
    monkeypatch.setenv("PATH", str(here / "empty"))
    assert "GenX_IR" in ask(worker, here, "gen", path="k.visaasm")["error"]
    assert sorted(path.name for path in here.iterdir()) == ["k.visaasm", "mine", "visa-lsp.toml"]
