"""What a start loads."""

from __future__ import annotations

import subprocess
import sys


def loaded(*argv: str) -> set[str]:
    """Return the modules that a line loads, of those that take long."""
    code = (
        "import sys; from visa_lsp.cli.main import main; status = main(sys.argv[1:])\n"
        "slow = {'msgspec', 'logging', 'lsprotocol', 'pygls', 'numpy', 'importlib.metadata'}\n"
        "print('\\n' + ' '.join(['loaded', *slow & set(sys.modules)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *argv], capture_output=True, text=True, timeout=60, check=True, input=""
    )
    return set(done.stdout.rpartition("loaded")[2].split())


def test_a_start_loads_only_what_it_needs(tmp_path):
    text = tmp_path / "k.visaasm"
    text.write_text('.version 4.1\n.kernel "k"\n    ret (M1, 1)\n', encoding="utf-8")
    assert loaded("--version") == {"msgspec"}
    assert loaded("--check", str(text)) == {"msgspec"}
    assert loaded("asm", str(text), "-o", str(tmp_path / "k.isa")) == {"msgspec"}
