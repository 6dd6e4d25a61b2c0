"""The inputs of the tests: texts, objects, programs, faulty texts and one-instruction forms, wherever they lie.

``tests/own`` is the project's own corpus and always there. A larger one beside the repository (``../shared/corpus``, or
where ``VISA_LSP_CORPUS`` says) has the same layout and only adds to it; tests do not know where a file comes from. With
the option ``--beside`` of pytest, the tests marked `corpus` get the files of the larger one alone.
"""

from __future__ import annotations

import csv
import os
import re
from dataclasses import dataclass
from pathlib import Path

from visa_lsp.codec.encode import instruction_offsets
from visa_lsp.codec.object_reader import summary

OWN = Path(__file__).parents[1] / "own"
BESIDE = Path(os.environ.get("VISA_LSP_CORPUS") or Path(__file__).parents[3] / "shared" / "corpus")
HAS_MORE = BESIDE.is_dir()
HAS_OWN = True
ROOTS = (OWN, BESIDE) if HAS_MORE else (OWN,)


def leave_out_own() -> None:
    """Give only the files of the corpus beside the repository from now on; called before any test is loaded."""
    global HAS_OWN, ROOTS
    HAS_OWN, ROOTS = False, (BESIDE,)


def files(*patterns: str) -> list[Path]:
    """Return the matching files, the project's own first."""
    return [path for root in ROOTS for path in sorted({p for pattern in patterns for p in root.glob(pattern)})]


def place(name: str) -> Path:
    """Return a file or folder by its path in the corpus; a name has one place because both corpora name their sources
    differently.
    """
    return next((root / name for root in (OWN, BESIDE) if (root / name).exists()), OWN / name)


def root_of(path: Path) -> Path:
    return next(root for root in (OWN, BESIDE) if path.is_relative_to(root))


def inside(path: Path) -> Path:
    """Return a path relative to its corpus."""
    return path.relative_to(root_of(path))


def at_least(own: int, more: int) -> int:
    """Return the number that there must be: here, and with what the corpus beside the repository adds."""
    return own * HAS_OWN + more * HAS_MORE


def texts() -> list[Path]:
    """Return every text of a compiler, or written by hand in its style."""
    return [path for part in ("dev", "dev42", "run") for path in files(f"{part}/**/*.visaasm")]


def reference_texts() -> list[Path]:
    """Return the texts that have a reference object."""
    return [path for path in files("dev/[A-Z]*/*.visaasm") if path.with_suffix(".isa").exists()]


def faults() -> list[dict[str, str]]:
    """Return the rows of ``verdicts.tsv``: texts with one fault each. ``path`` is where the text lies."""
    rows = []
    for table in files("errors/verdicts.tsv"):
        with table.open(encoding="utf-8", newline="") as file:
            found = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            rows += [row | {"path": str(table.parent / f"{row['id']}.visaasm")} for row in found]
    return rows


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@dataclass(frozen=True)
class Form:
    """A row of ``forms.tsv`` on one platform; ``root`` is the corpus that it is of, whose template it is in."""

    text: str
    platform: str
    status: int
    message: str
    code: bytes
    root: Path = OWN

    @property
    def crashes(self) -> bool:
        return self.status < 0


def forms() -> list[Form]:
    """Return every form on every platform. A form may hold tabs: the columns count from the right."""
    out = []
    for table in files("forms/forms.tsv"):
        with table.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
        for row in rows:
            platforms, status, message, code = row[-4:]
            text, root = "\t".join(row[:-4]), root_of(table)
            out += [Form(text, p, int(status), message, bytes.fromhex(code), root) for p in platforms.split(",")]
    return out


def frame_form(form: str, root: Path = OWN) -> tuple[str, range]:
    """Return a form inside the template of the oracle, and its lines there."""
    template = OWN / "template.visaasm.part" if root == OWN else root / "forms" / "template.visaasm.part"
    head = template.read_text(encoding="utf-8").rstrip("\n").split("\n")
    lines = [f"    {line}" for line in form.split("\\n")]
    labels = ["L1:", "L2:"] if "L1" in form else []
    return "\n".join([*head, *lines, *labels, "    ret (M1, 1)", ""]), range(len(head), len(head) + len(lines))


def codes_of(data: bytes) -> list[bytes]:
    """Return the instruction bytes of each body of an object, kernels first."""
    outline = summary(data)
    return [data[b.offset + b.size - b.code_size : b.offset + b.size] for b in (*outline.kernels, *outline.functions)]


def code_of_lines(data: bytes, body: object, lines: range) -> bytes:
    """Return the instruction bytes that these source lines became."""
    code = codes_of(data)[0]
    starts = [*instruction_offsets(body), len(code)]  # type: ignore[arg-type]
    base = starts[0]
    wanted = [i for i, inst in enumerate(body.instructions) if inst.line in lines]  # type: ignore[attr-defined]
    return code[starts[wanted[0]] - base : starts[wanted[-1] + 1] - base] if wanted else b""


_COMMENT = re.compile(r"\s*//.*")


def code_lines(text: str) -> list[str]:
    """Return a text without parts that objects lack: comments, blank lines, ``v_name`` and ``.funcdecl``."""
    out = []
    for line in text.splitlines():
        bare = re.sub(r"\s+v_name=\S+", "", _COMMENT.sub("", line)).strip()
        if bare and not bare.startswith(".funcdecl"):
            out.append(" ".join(bare.split()))
    return out
