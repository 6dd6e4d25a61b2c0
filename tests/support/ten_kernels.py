"""Ten kernels for ``docs/tutorials/read-a-dump.md``: source, vISA and pseudo-code, made from the project's own corpus.

``python tests/support/ten_kernels.py`` writes them into the page; a test compares. With ``--pictures`` it draws the three side by
side too, which needs ocloc and Chromium.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.app.read.pseudo_code import ReadKernel

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorials" / "read-a-dump.md"
PICTURES = ROOT / "docs" / "images" / "read"
BEGIN, END = "<!-- made by tests/support/ten_kernels.py -->\n", "<!-- end of what is made -->\n"
MAX_LINES = 14  # of vISA for each kernel

# Source, kernel, what to look at.
KERNELS = (
    ("axpy", "saxpy", ("The index is `get_global_id(0)`, which the compiler computes by a multiplication and two additions for 16 lanes each."
     " The two halves of the 32 lanes are one line, and each message is an element of an argument.")),
    ("turn", "straight", "Two-dimensional indices. The parts of an address are written where the address is used."),
    ("bytes", "pack", ("A loop with its test at the end, as the compiler has arranged it; a condition around it excludes the case without a round."
     " `dp4a` is one instruction for a product of four bytes each.")),
    ("gemm", "plain", "An early `return` is a condition around the rest. `fma` stays one operation, because it rounds once."),
    ("masks", "hail", "Each lane leaves the loop at its own time. `P3 ? ... : ...` is `sel`, and the cast in front of `>> 1` shows a shift of a `uint`."),
    ("masks", "uniform_choice", "The condition depends on an argument, which is the same for all lanes: the branches are scalar jumps in the text, and conditions here."),
    ("julia", "julia", ("The condition has two parts in the source and in the pseudo-code. Four bytes are put into one variable"
     " before they are stored at once: `V0081[4 * lane + 1]` is the second byte of a lane's `uchar4`.")),
    ("folds", "total", "Shared local memory is `slm`. OpenCL's barrier is a fence and a barrier. `V0070 / 4` is exact: `V0070` is a multiple of four."),
    ("folds", "running", "The two halves of the array take turns: the number of the half times 256 bytes is part of each address."),
    ("teams", "team_sums", ("Operations of the sub-group are sums over lanes: `V0051[lane + 8]` is the element of another lane."
     " `unmasked` statements are executed in all lanes, and `out[...]` takes a vector of four components.")),
)  # fmt: skip


def source_of(name: str, kernel: str) -> str:
    """Return the kernel's function in its OpenCL source."""
    text = (ROOT / "tests" / "own" / "cl" / f"{name}.cl").read_text(encoding="utf-8")
    found = re.search(rf"^kernel void {kernel}\(.*?^}}\n", text, re.MULTILINE | re.DOTALL)
    assert found is not None, kernel
    return found[0]


def visa_of(kernel: ReadKernel, lines: tuple[str, ...]) -> Iterator[str]:
    """Return the last instructions of the text behind the pseudo-code, and the number of instructions before them."""
    numbers = sorted({number for line in kernel.lines for number in line.visa})
    if len(numbers) > MAX_LINES:
        yield f"... {len(numbers) - MAX_LINES} before"
    for number in numbers[-MAX_LINES:]:
        yield lines[number - 1].partition("///")[0].strip()


def section() -> str:
    """Return the part of the page between the marks."""
    from visa_lsp.app.read.pseudo_code import read_data

    out = []
    for at, (name, kernel, words) in enumerate(KERNELS, 1):
        path = ROOT / "tests" / "own" / "run" / "TGLLP" / name / f"{kernel}.visaasm"
        file = read_data(str(path), path.read_bytes(), None, say=lambda _line: None)
        assert file is not None
        (read,) = file.kernels
        code = "\n".join(line.text for line in read.lines)
        visa = "\n".join(visa_of(read, file.text))
        out.append(
            f"### {at}. `{kernel}`\n\n{words}\n\n![Source, vISA and pseudo-code of {kernel}](../images/read/{kernel}.png)\n\n```c\n{source_of(name, kernel)}```\n\n"
            f"```asm\n{visa}\n```\n\n```c\n{code}\n```\n\n"
        )
    return "".join(out)


def page() -> str:
    """Return the page with the present section."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + "\n" + section() + END + rest.partition(END)[2]


def draw_pictures() -> None:
    """Draw each kernel's source, vISA and pseudo-code as ``visa-lsp read --format html`` shows them."""
    product = (sys.executable, "-m", "visa_lsp")
    with TemporaryDirectory() as name:
        folder = Path(name)
        for source, kernel, _ in KERNELS:
            shutil.copy(ROOT / "tests" / "own" / "cl" / f"{source}.cl", folder)
            page_of_kernel, picture = folder / f"{kernel}.html", PICTURES / f"{kernel}.png"
            if not (folder / f"{kernel}.visaasm").exists():
                _run(folder, *product, "compile", f"{source}.cl", "--device", "tgllp", "-o", ".")
            _run(folder, *product, "read", f"{kernel}.visaasm", "--format", "html", "-o", page_of_kernel.name)
            browser = ("chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1400,560")
            _run(folder, *browser, f"--screenshot={picture}", page_of_kernel.as_uri())


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


if __name__ == "__main__":
    if "--pictures" in sys.argv:
        draw_pictures()
    PAGE.write_text(page(), encoding="utf-8")
