"""The grammar file is found in a wheel and in an editable install; the wheel holds what it needs and nothing else."""

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


def test_wheel_ships_the_grammar_that_an_unpacked_copy_reads(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    assert {"visa_lsp/_grammar/visa.ppeg", "visa_lsp/cli/gen/page.css", "visa_lsp/cli/gen/page.js"} <= {*names}
    assert not [n for n in names if n.startswith("tests/")]
    code = "from visa_lsp.syntax import grammar; print(grammar.__file__); grammar.grammar().parse('barrier')"
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert str(tmp_path) in result.stdout
