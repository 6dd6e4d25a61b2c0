"""Programs that stand in for the finalizer and for ocloc, and do what the real ones do only on a bad day."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# What a fake has at hand: the copy of the text, and a way to write a listing for its first body.
LISTING = """\
//.kernel k
//.platform TGLLP
//.thread_config numGRF=128, numAcc=2, numSWSB=16
//.instCount 1
//.declare V0033 (39)  rf=r size=32 type=d alias=+0 align=16 words (r3.0)
_k_0:
        mov (8|M0)               r3.0<1>:d     r1.0<8;8,1>:d                    {Compacted}          // $0
"""
PRELUDE = f'''\
import os, re, signal, subprocess, sys, time
text = open("text.visaasm", errors="replace").read() if os.path.exists("text.visaasm") else ""
names = re.findall(r'OutputAsmPath="([^"]*)"', text)
LISTING = """{LISTING}"""
def write_listing(name=None):
    open(name or names[0], "w").write(LISTING)
'''


def fake_tool(folder: Path, body: str, name: str = "tool") -> str:
    """Write an executable that runs this Python; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{PRELUDE}\n{textwrap.dedent(body)}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)
