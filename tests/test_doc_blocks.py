"""Every block of code in the documents is carried out or checked; the few that cannot be stand here, with the reason."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from doc_blocks import Block, blocks_of
from ruamel.yaml import YAML
from tiers import first

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.settings import interpret
from visa_lsp.cli.main import PROGRAM, main
from visa_lsp.isa.rows import arith, shapes

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
PAGES = [
    ROOT / "README.md",
    ROOT / "vscode-extension" / "README.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "rules" not in path.parts and path not in TUTORIALS),
]
# Pages of whose blocks another test carries out all.
ELSEWHERE = {
    "docs/format.md": "test_docs.py assembles them and reads the objects",
    "docs/python.md": "test_python_page.py runs them as doctests",
    "docs/performance.md": "cli/test_performance_stories.py types the commands and compares what they print",
}
# By the beginning of a block: why nothing carries it out.
NOT_RUN = {
    "python3 -m venv": ".ci/run does it, in an empty environment",
    "pip install": ".ci/run does it, in an empty environment; tests/test_packages.py does it with each extra",
    "npm ci": "tests/editors/test_vscode.py does it, in a copy of the extension",
    "IGC_ShaderDumpEnable=1": "needs a compiler; tests/toolchain compiles so where there is one",
    "[(PREDICATE)]": "the shape of a line, whose words in capitals the page explains",
    "$ visa-lsp compile FILE.cl": "needs the source of another project; the forms are those of tests/cli/test_compile_command.py",
    "flowchart": "test_docs.py compares the picture with the rooms",
    "visa-lsp exec": "needs a program and OpenCL; tests/opencl runs such programs",
    "VISA_LSP_EXEC_HOST=": "needs Intel's OpenCL for CPUs and a program of SYCL; tests/opencl has unified shared memory over pocl",
    "apt-get install gcc opencl-headers": ".ci/run installs these packages",
    "#define CL_TARGET_OPENCL_VERSION": "tests/opencl compiles and runs programs like this",
    "gcc sums.c": "needs OpenCL; tests/opencl compiles and runs such programs",
    "visa-lsp run found/": "needs the capture of the step above; tests/opencl runs captures",
    "visa-lsp mcp": "waits for an agent; tests/mcp starts it",
    '{"mcpServers"': "settings of a client of others; tests/mcp starts the server as they say",
    "CLI_CaptureReplay=1": "needs the intercept layer; tests/captures has what it wrote",
    "TRITON_XPU_ENABLE_DUMP": "needs a GPU and Triton; tests/captures writes what it writes",
    "dask scheduler": "waits for work on several machines; tests/cluster starts schedulers and workers",
    "expect:\n  - {expr:": "a part of a launch file; tests/sim_launch/test_launch_conditions.py runs each of its forms",
    "next_element.cl: k.visaasm": "needs a compiler; tests/prove has proofs of the same form",
    "  needs these sizes": "a part of a report; tests/prove/test_prove.py compares the needs of kernels",
    "$ visa-lsp verify bfnw": "needs a finalizer and iga64; tests/eu/test_runs.py finds the difference in kept machine code",
    "hazard: mad": "a part of a report; tests/eu/test_runs.py takes waits away and reads what is missing",
    "hazard: line": "a part of a report; tests/eu/test_machine_runs.py gives an instruction of a line other lanes",
    "docker": "needs a container engine; tests/test_ci_recipes.py does the steps of the recipe in an empty environment",
}
VARIABLES = "".join(f".decl V{n} v_type=G type=d num_elts=16 align=GRF\n" for n in (33, 34))


@pytest.fixture
def examples(tmp_path, monkeypatch):
    """Return a copy of the folder `examples`, which is the current one."""
    folder = shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(folder)
    return folder


def lacking(shown: str, printed: str) -> list[str]:
    """Return the lines of a page that were not printed; one that ends in ``...`` is the beginning of a line."""
    lines = [line.strip() for line in printed.splitlines()]
    return [
        line
        for line in map(str.strip, shown.splitlines())
        if line not in lines
        and not (line.endswith("...") and any(found.startswith(line.removesuffix("...").rstrip()) for found in lines))
    ]


def printed(*words: str, folder: Path | None = None) -> str:
    """Return the output of a command on both streams."""
    said = io.StringIO()
    with chdir(folder or "."), redirect_stdout(said), redirect_stderr(said):
        status = main([*words])
    assert status in (0, 1), said.getvalue()
    return said.getvalue()


# ---- tutorials: files are written, commands typed, in the order of the page


@pytest.mark.parametrize(
    "page", first(2, sorted(TUTORIALS, key=lambda page: page.stem == "ci")), ids=lambda page: page.stem
)
def test_a_tutorial_does_what_it_says(page: Path, examples: Path):
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "NO_COLOR": "1"}
    environment |= {"PYTHONPATH": str(ROOT), "VISA_LSP_CACHE": "off", "PYTEST_ADDOPTS": "-p no:cacheprovider"}
    typed = 0
    for block in blocks_of(page.read_text(encoding="utf-8")):
        if block.name:
            (examples / block.name).write_text(block.text, encoding="utf-8")
        if block.kind == "console":
            parts = re.split(r"^\$ (.*)\n", block.text, flags=re.MULTILINE)[1:]
            for command, shown in zip(parts[::2], parts[1::2], strict=True):
                done = subprocess.run(
                    ["sh", "-c", command], env=environment, capture_output=True, text=True, timeout=300, check=False
                )
                assert done.returncode in (0, 1), command + done.stdout + done.stderr
                assert lacking(shown, done.stdout + done.stderr) == [], (command, done.stdout, done.stderr)
                assert shown or not done.returncode, (command, done.stdout)
                typed += 1
        elif block.kind == "visa":
            assert not Analysis.of(block.text, "TGLLP").diagnostics
        elif block.kind == "yaml":
            check_yaml(block)
        else:
            # Excerpts of texts: tests/read/test_ten_kernels.py compares them with the corpus.
            assert block.kind in ("c", "asm") or block.text.startswith("docker"), (page.name, block.line)
    assert typed


# ---- the other pages


def check_words(block: Block) -> None:
    """Lines of ``visa-lsp``: the command is one, and so is each option that is named."""
    for line in block.text.splitlines():
        for said in re.findall(r"visa-lsp [^#]*?(?=  |visa-lsp|$)", line.partition("#")[0]):
            _, word, *_ = said.split()
            command = "check" if word == "--check" else word
            help_ = PROGRAM.parser_of(command).format_help()
            for action in re.findall(r"\b(?:check|emit)\b", said) if command == "zeinfo" else ():
                help_ += printed("zeinfo", action, "--help")
            for option in re.findall(r"(?<![\w'-])--?[a-z][a-z-]*", said.replace(" -g", "")):
                known = re.search(rf"(?<![\w-]){option}\b", help_)
                assert known or option in {"--check", "-noschedule"}, (command, option, line)


def check_yaml(block: Block) -> None:
    """YAML that is YAML; of the action and the hooks, that they have what is named."""
    (value,) = value if isinstance(value := YAML(typ="safe").load(block.text), list) else [value]
    if "uses" in value:
        action = YAML(typ="safe").load((ROOT / ".github/actions/check/action.yml").read_text(encoding="utf-8"))
        assert set(value["with"]) <= set(action["inputs"])
    if "hooks" in value:
        hooks = YAML(typ="safe").load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
        assert {hook["id"] for hook in value["hooks"]} <= {hook["id"] for hook in hooks}


def check_launch(block: Block) -> None:
    """Check a launch file of the page: only its files may be missing."""
    Path("page.launch.yaml").write_text(block.text.replace("average.npy", "mandelbrot.npy"), encoding="utf-8")
    assert main(["check", "page.launch.yaml", "--ignore", "V8"]) == 0
    check_yaml(block)


def check_settings(block: Block) -> None:
    """Check settings: each is known and has a valid value."""
    table = tomllib.loads(block.text)["tool"]
    if "visa-lsp" in table:
        interpret(table["visa-lsp"], Path("pyproject.toml"))


def check_keys(block: Block) -> None:
    """Check the shape of an answer in JSON: a command prints every key."""
    Path("wrong.visaasm").write_text(Path("saxpy.visaasm").read_text().replace("shl (", "shll ("))
    marks = Path("saxpy.visaasm").read_text().replace("    add (", '    FILE "k.cl"\n    LOC 7\n    add (', 1)
    Path("marked.visaasm").write_text(marks)
    commands = (
        ["check", "wrong.visaasm"], ["diff", "saxpy.visaasm", "average.visaasm"], ["read", "marked.visaasm"],
        ["why", "saxpy.visaasm", "--value", "y[37]"],
    )  # fmt: skip
    said = [set(re.findall(r'"(\w+)":', printed(*command, "--format", "json"))) for command in commands]
    keys = set(re.findall(r'"(\w+)"(?=[:,}])', block.text)) - {"k", "change", "kernel", "saxpy", "instruction"}
    assert keys
    assert any(keys <= found for found in said), (keys, said)


def check_task(block: Block) -> None:
    """Check a task or a launch configuration of VS Code: its keys and words are those of the extension."""
    package = json.loads((ROOT / "vscode-extension" / "package.json").read_text(encoding="utf-8"))
    (task,), (debugger,) = package["contributes"]["taskDefinitions"], package["contributes"]["debuggers"]
    shown = json.loads(block.text)
    assert shown.pop("type") == task["type"] == debugger["type"]
    if "request" in shown:
        assert set(shown) - {"request", "name"} <= set(
            debugger["configurationAttributes"][shown["request"]]["properties"]
        )
        return
    assert set(task["required"]) <= set(shown) <= set(task["properties"])
    assert shown["task"] in task["properties"]["task"]["enum"]


def check_gen(block: Block) -> None:
    """Check the keys of the JSON that the finalizer's output of the example gives."""
    if shutil.which("GenX_IR") is None:
        pytest.skip("GenX_IR is not installed: apt-get install libigc-tools")
    if not block.text.startswith("{"):
        assert lacking(block.text.partition("\n")[2], printed("gen", "saxpy.visaasm")) == []
        return
    (shown,) = json.loads(block.text)["kernels"]
    (kernel,) = json.loads(printed("gen", "saxpy.visaasm", "--format", "json"))["kernels"]
    assert {name: kernel[name] for name in shown if name not in {"lines", "registers"}} == {
        name: value for name, value in shown.items() if name not in {"lines", "registers"}
    }
    assert set(shown["lines"][0]) <= set(kernel["lines"][0])


def check_report(block: Block) -> None:
    """Check the output of a run of the named example; a failing run has a wrong expectation."""
    if "[2]: got 6.0" in block.text:
        launch = Path("saxpy.launch.yaml")
        launch.write_text(launch.read_text().replace("1, 3.5, 6,", "1, 3.5, 7,"))
    if "three_bugs.cl" in block.text:
        bugs = ROOT / "tests" / "sim_launch" / "three_bugs"
        texts = sorted(path.name for path in bugs.glob("*.visaasm"))
        assert lacking(block.text, printed("run", *texts, "--engine", "interp", folder=bugs)) == []
        return
    name = "average" if "average" in block.text else "saxpy"
    said = printed("run", f"examples/{name}.visaasm", "--engine", "interp", folder=Path.cwd().parent)
    assert lacking(block.text, said if "examples/" in block.text else said.replace("examples/", "")) == []


def check_visa(block: Block) -> None:
    """Lines of a text, which are sound behind declarations; what a comment silences is not reported."""
    text = re.sub(r"^.*\^.*\n", "", block.text, flags=re.MULTILINE)
    Path("lines.visaasm").write_text(f'.version 4.1\n.kernel "k"\n{VARIABLES}{text}ret (M1, 1)\n')
    assert main(["check", "lines.visaasm", "--ignore", "V3,useless-suppression"]) == 0


def check_host(block: Block) -> None:
    """Assembly in the strings of a kernel: what comments silence is not reported."""
    Path("host.cl").write_text("kernel void f() {\n" + block.text + "}\n")
    assert main(["check", "--embedded", "host.cl", "--select", "V101,undeclared-name"]) == 0


def check_python(block: Block) -> None:
    """Execute a program, or lines of one of our modules with its names."""
    names: dict[str, object] = {**vars(shapes), **vars(arith), "RULE": None, "_instruction": None}
    from visa_lsp.checks.rule import Check
    from visa_lsp.isa.model import Trait

    names |= {"Check": Check, "Trait": Trait}
    with chdir(".."):
        exec(f"_ = [{block.text}]" if block.text.startswith("lane_row") else block.text, names)  # noqa: S102


def check_read(block: Block) -> None:
    """Pseudo-code of the compiler's saxpy."""
    shutil.copytree(ROOT / "tests" / "own" / "run" / "TGLLP" / "axpy", "axpy")
    assert lacking(block.text, printed("read", "axpy/saxpy.visaasm")) == []


def check_why(block: Block) -> None:
    """Check the causes of an element of the example."""
    assert lacking(block.text, printed("why", "saxpy.visaasm", "--value", "y[37]")) == []


CHECKS: tuple[tuple[str, Callable[[Block], None]], ...] = (
    (r"visa-lsp ", check_words),
    (r"\$ visa-lsp gen|\{\"platform\"", check_gen),
    (r"\{\"type\": \"visa\"", check_task),
    (r"\{\"", check_keys),
    (r"kernel void \w+\(", check_read),
    (r"y\[37\] = ", check_why),
    (r"\[tool\.", check_settings),
    (r"file: ", check_launch),
    (r"- ", check_yaml),
    (r" *(?:\w+/)*\w+\.visaasm: kernel|  (?:expected )?fault: ", check_report),
    (r" *(?:mov|shl) \(", check_visa),
    (r"__asm__", check_host),
    (r"import |lane_row|CHECK = ", check_python),
)


def check_of(block: Block) -> Callable[[Block], None] | None:
    return next((check for start, check in CHECKS if re.match(start, block.text)), None)


BLOCKS = [
    (name, block)
    for page in PAGES
    if (name := page.relative_to(ROOT).as_posix()) not in ELSEWHERE
    for block in blocks_of(page.read_text(encoding="utf-8"))
]
CHECKED = [(name, block) for name, block in BLOCKS if not any(map(block.text.startswith, NOT_RUN))]


def test_every_block_has_a_check_or_a_reason():
    assert len(CHECKED) > 20
    assert not [f"{name}:{block.line}" for name, block in CHECKED if check_of(block) is None]


def test_no_reason_outlives_its_block():
    every = [block.text for page in (*PAGES, *TUTORIALS) for block in blocks_of(page.read_text(encoding="utf-8"))]
    assert not [start for start in NOT_RUN if not any(text.startswith(start) for text in every)]
    assert not [name for name in ELSEWHERE if not (ROOT / name).exists()]


@pytest.mark.parametrize(("name", "block"), CHECKED, ids=[f"{name}-{block.line}" for name, block in CHECKED])
def test_a_block_holds(name: str, block: Block, examples: Path):
    check = check_of(block)
    assert check is not None
    check(block)
