"""Ten kernels for ``docs/tutorials/read-a-dump.md``: source, vISA and pseudo-code, made from the project's own corpus.

``python tests/support/ten_kernels.py`` writes them into the page; a test compares.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.app.read.document import ReadKernel

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorials" / "read-a-dump.md"
BEGIN, END = "<!-- made by tests/support/ten_kernels.py -->\n", "<!-- end of what is made -->\n"
MAX_LINES = 14  # of vISA for each kernel

# Source, kernel, what to look at.
KERNELS = (
    ("axpy", "saxpy", ("The index is `get_global_id(0)`, which the compiler spells out: a multiplication and two additions for 16 lanes each."
     " The two halves of the 32 lanes are one line, and each message is an element of an argument.")),
    ("turn", "straight", "Two-dimensional indices. What the addresses are made of stands where they are used."),
    ("bytes", "pack", ("A loop that the compiler has turned: its test is behind it, and a condition around it keeps out the case of no round."
     " `dp4a` is one instruction for a product of four bytes each.")),
    ("gemm", "plain", "An early `return` is a condition around the rest. `fma` stays one operation, as its rounding is."),
    ("masks", "hail", "Each lane leaves the loop at a time of its own. `P3 ? ... : ...` is `sel`, and `>> 1` of a `uint` says so by its cast."),
    ("masks", "uniform_choice", "An argument that is the same for all lanes: the branches are scalar jumps in the text, and conditions here."),
    ("julia", "julia", ("The condition has two parts in the source and in the pseudo-code. Four bytes are put into one variable"
     " before they are stored at once: `V0081[4 * lane + 1]` is the second byte of a lane's `uchar4`.")),
    ("folds", "total", "Shared local memory is `slm`. A barrier is a fence and a barrier. `V0070 / 4` is exact: `V0070` is a multiple of four."),
    ("folds", "running", "The two halves of the array take turns: the number of the half times 256 bytes is part of each address."),
    ("teams", "team_sums", ("Operations of the sub-group are sums over lanes: `V0051[lane + 8]` is what another lane has."
     " `unmasked` is done in all lanes, and `out[...]` takes a vector of four components.")),
)  # fmt: skip


def source_of(name: str, kernel: str) -> str:
    """The kernel's function in its OpenCL source."""
    text = (ROOT / "tests" / "own" / "cl" / f"{name}.cl").read_text(encoding="utf-8")
    found = re.search(rf"^kernel void {kernel}\(.*?^}}\n", text, re.MULTILINE | re.DOTALL)
    assert found is not None, kernel
    return found[0]


def visa_of(kernel: ReadKernel, lines: tuple[str, ...]) -> Iterator[str]:
    """The last instructions of the text behind the pseudo-code, and how many stand before them."""
    numbers = sorted({number for line in kernel.lines for number in line.visa})
    if len(numbers) > MAX_LINES:
        yield f"... {len(numbers) - MAX_LINES} before"
    for number in numbers[-MAX_LINES:]:
        yield lines[number - 1].partition("///")[0].strip()


def section() -> str:
    """What stands in the page between the marks."""
    from visa_lsp.app.read.document import read_data

    out = []
    for at, (name, kernel, words) in enumerate(KERNELS, 1):
        path = ROOT / "tests" / "own" / "run" / "TGLLP" / name / f"{kernel}.visaasm"
        file = read_data(str(path), path.read_bytes(), None, say=lambda _line: None)
        assert file is not None
        (read,) = file.kernels
        code = "\n".join(line.text for line in read.lines)
        visa = "\n".join(visa_of(read, file.text))
        out.append(
            f"### {at}. `{kernel}`\n\n{words}\n\n```c\n{source_of(name, kernel)}```\n\n"
            f"```asm\n{visa}\n```\n\n```c\n{code}\n```\n\n"
        )
    return "".join(out)


def page() -> str:
    """The page with the section as it is now."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + "\n" + section() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
