"""Generates the files of the repository that depend on the code: ``python -m visa_lsp.generate [--check]``.

Writes the stale files and prints their names; with ``--check`` it writes nothing, and the exit status is 1 if there are
any. Files made with other tools are not included: the corpus (``tests/own/make.py``) and the pictures
(``tests/editors/vscode/screenshots``). Golden texts of tests are not included either, because they are read before they
are accepted.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from visa_lsp.generate.files import ROOT, stale, write

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = "python -m visa_lsp.generate"


def main(words: list[str], root: Path = ROOT) -> int:
    """Generate all files of a clone, or report the stale ones."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Make every file that is made from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is stale")
    args = parser.parse_args(words)
    if not (root / "docs" / "rules").is_dir():
        parser.error(f"{root} is not a clone of the repository")
    stale_files = stale(root)
    for name, text in stale_files.items():
        if args.check:
            print(f"{name}: stale; `{COMMAND}` mends it")
        else:
            write(root / name, text)
            print(f"{name}: {'removed' if text is None else 'written'}")
    if not stale_files:
        print("nothing is stale")
    return int(bool(stale_files) and args.check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
