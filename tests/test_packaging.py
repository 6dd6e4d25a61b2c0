"""The grammar file is found in a wheel and in an editable install; the wheel holds what it needs and nothing else."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from visa_lsp.syntax import grammar

ROOT = Path(__file__).resolve().parents[1]


def test_grammar_is_found_in_this_install():
    text = (ROOT / "grammar" / "visa.ppeg").read_text(encoding="utf-8")
    assert text == grammar.grammar_text()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "--wheel-dir", target, ROOT]
    subprocess.run(command, check=True, capture_output=True)
    return next(target.glob("*.whl"))


@pytest.mark.full
def test_wheel_ships_the_grammar_that_an_unpacked_copy_reads(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    assert {
        "visa_lsp/_grammar/visa.ppeg",
        "visa_lsp/cli/gen/page.css",
        "visa_lsp/cli/gen/page.js",
        "visa_lsp/opencl/layer.c",
    } <= {*names}
    assert not [n for n in names if n.startswith("tests/")]
    code = "from visa_lsp.syntax import nodes; print(nodes.__file__); nodes.grammar()"
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert str(tmp_path) in result.stdout


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Return a process with the wheel's package, a folder with examples, and the folder of the package; no checkout."""
    target, folder = tmp_path_factory.mktemp("installed"), tmp_path_factory.mktemp("examples")
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--quiet", "--target", target, wheel]
    subprocess.run(command, check=True, capture_output=True)
    for path in (ROOT / "examples").glob("saxpy.*"):
        shutil.copy(path, folder)
    environment = {**os.environ, "PYTHONPATH": str(target)}

    def run(*words):
        command = [sys.executable, *words]
        found = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        return found.returncode, found.stdout + found.stderr

    return run, target


@pytest.mark.full
def test_the_interface_of_a_wheel_loads_and_runs(installed):
    run, target = installed
    code = """
import numpy as np, visa_lsp
x, y = np.arange(100, dtype="f4"), np.ones(100, "f4")
kernel = visa_lsp.load("saxpy.visaasm").kernels["saxpy"]
result = kernel.launch(7, 16, {"x": x, "y": y, "a": 2.5, "n": 100})
assert result.ok and (y == 2.5 * x + 1).all()
assert visa_lsp.load("saxpy.launch.yaml").launch().ok
assert visa_lsp.assemble(visa_lsp.disassemble(visa_lsp.assemble("saxpy.visaasm"))) == visa_lsp.assemble("saxpy.visaasm")
print(visa_lsp.__file__)
"""
    status, words = run("-c", code)
    assert (status, words.strip()) == (0, str(target / "visa_lsp" / "__init__.py"))


@pytest.mark.full
def test_the_plugin_of_a_wheel_is_known_to_pytest(installed):
    run, target = installed
    (Path(target) / "where.py").write_text(
        "import visa_lsp\n\n\ndef pytest_report_header():\n    return f'from {visa_lsp.__file__}'\n"
    )
    status, words = run("-m", "pytest", "--visa", "-p", "where", "-p", "no:cacheprovider")
    assert status == 0, words
    assert "1 passed" in words
    assert f"from {target / 'visa_lsp' / '__init__.py'}" in words
