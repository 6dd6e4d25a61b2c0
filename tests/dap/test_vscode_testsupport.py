"""Sessions of ``@vscode/debugadapter-testsupport``, the client that VS Code's own adapters are tested with."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from corpus import OWN
from debugging import EXAMPLES

from visa_lsp.cli.main import main
from visa_lsp.debug.scopes import SCOPES

pytestmark = pytest.mark.full  # it fetches a package; what it asks is asked in test_dap_sessions.py too

SCRIPT = Path(__file__).with_name("testsupport_session.mjs")
PACKAGE = "@vscode/debugadapter-testsupport@1.68.0"
SAXPY, MANDELBROT, AVERAGE = (EXAMPLES / f"{name}.visaasm" for name in ("saxpy", "mandelbrot", "average"))
REDUCE, FCALL, SIMD32 = (
    OWN / "run" / f"{name}.visaasm" for name in ("TGLLP/folds/total", "DG2/deep/climb", "TGLLP/axpy/saxpy")
)


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """Return a folder outside of the repository that npm has put the package in."""
    folder = tmp_path_factory.mktemp("testsupport")
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("no node with npm on this machine")
    (folder / "package.json").write_text('{"private": true}')
    command = [npm, "install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", PACKAGE]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=180)
    except subprocess.TimeoutExpired:
        pytest.skip("npm does not reach its registry")
    if done.returncode:
        pytest.skip(f"npm cannot install {PACKAGE}: {done.stderr[-200:]}")
    return folder


def line_with(path, text):
    return next(n for n, line in enumerate(path.read_text().splitlines(), 1) if text in line)


def case(program, text="", filters=(), evaluate=(), steps=("next", "stepIn", "stepBack"), **more):
    """Return the orders of the script: places to stop at, expressions to evaluate at each stop, steps to take."""
    line = line_with(program, text) if text else 0
    return {"program": str(program), "line": line, "filters": filters, "evaluate": evaluate, "steps": steps, **more}


CASES = {
    "saxpy": case(SAXPY, "mad (M1, 16)", evaluate=["index[3]", "y_value[3]", "any(P1)"]),
    "mandelbrot": case(MANDELBROT, "mad (M1", evaluate=["emask"]),
    "a reduction with barriers": case(REDUCE, "    barrier", evaluate=["thread"], steps=("next",)),
    "functions": case(FCALL, "fcall", evaluate=["emask"], steps=("stepIn", "stepOut")),
    "thirty-two lanes": case(SIMD32, "(M1, 32)", evaluate=["lane[31]"]),
    "a faulty one": case(AVERAGE, filters=["bounds"], evaluate=["next[15]"], steps=("stepBack", "next")),
}


@pytest.fixture(scope="module")
def seen(modules, tmp_path_factory):
    """Return the events that the client has seen, by the name of the case."""
    folder = tmp_path_factory.mktemp("sessions")
    adapter, cases = folder / "adapter.py", folder / "cases.json"
    adapter.write_text("import sys\nfrom visa_lsp.cli.main import main\nsys.argv[1:] = ['dap']\nsys.exit(main())\n")
    cases.write_text(json.dumps(list(CASES.values())))
    done = subprocess.run(
        ["node", str(SCRIPT), str(modules), sys.executable, str(adapter), str(cases)],
        capture_output=True, text=True, check=False, timeout=400,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(zip(CASES, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_a_session_of_the_client_stops_looks_steps_and_ends_as_a_run_does(seen, name, capsys):
    said, (first, *behind) = CASES[name], seen[name]["seen"]
    program = Path(said["program"])
    if said["line"]:
        assert first["line"] == said["line"]
    assert tuple(first["scopes"]) == SCOPES
    assert first["names"]
    assert len(behind) == len(said["steps"])
    assert seen[name]["exitCode"] == main(["run", str(program), "--engine", "interp"])
    capsys.readouterr()


def test_values_and_places_are_those_that_the_kernels_have(seen):
    first, second, third, back = seen["saxpy"]["seen"]
    assert first["values"] == ["3", "1", "true"]
    assert second["values"] == ["3", "8.5", "true"]
    assert [stop["line"] - first["line"] for stop in (second, back)] == [1, 1]
    assert third["line"] > second["line"]
    call, inside, behind = seen["functions"]["seen"]
    assert [len(stop["stack"]) for stop in (call, inside, behind)] == [1, 2, 1]
    assert behind["line"] > call["line"]
    assert seen["thirty-two lanes"]["seen"][0]["values"] == ["31"]
    at, before, again = seen["a faulty one"]["seen"]
    assert at["values"] == ["128"]
    assert at["line"] == again["line"] > before["line"]
