"""The oracle corpus beside the repository: where it lies, its texts, its one-instruction forms."""

from __future__ import annotations

import csv
import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from visa_lsp.codec.encode import instruction_offsets
from visa_lsp.codec.layout import summary

CORPUS = Path(os.environ.get("VISA_LSP_CORPUS") or Path(__file__).parents[3] / "shared" / "corpus")
SEEDS = CORPUS.parent / "spec" / "seeds"

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no corpus at {CORPUS}")
needs_seeds = pytest.mark.skipif(not SEEDS.is_dir(), reason=f"no seed documents at {SEEDS}")


def reference_texts() -> list[Path]:
    """The texts of ``dev/`` that have a reference object."""
    return sorted(p for p in CORPUS.glob("dev/[A-Z]*/*.visaasm") if p.with_suffix(".isa").exists())


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@dataclass(frozen=True)
class Form:
    """A row of ``forms.tsv`` on one platform."""

    text: str
    platform: str
    status: int
    message: str
    code: bytes

    @property
    def crashes(self) -> bool:
        return self.status < 0


def forms() -> list[Form]:
    """Every form on every platform. A form may hold tabs: the columns count from the right."""
    with (CORPUS / "forms" / "forms.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    out = []
    for row in rows:
        platforms, status, message, code = row[-4:]
        text = "\t".join(row[:-4])
        out += [Form(text, p, int(status), message, bytes.fromhex(code)) for p in platforms.split(",")]
    return out


def framed(form: str) -> tuple[str, range]:
    """A form inside the template that the oracle ran it in, and the lines it stands on."""
    head = (CORPUS / "forms" / "template.visaasm.part").read_text(encoding="utf-8").rstrip("\n").split("\n")
    lines = [f"    {line}" for line in form.split("\\n")]
    labels = ["L1:", "L2:"] if "L1" in form else []
    return "\n".join([*head, *lines, *labels, "    ret (M1, 1)", ""]), range(len(head), len(head) + len(lines))


def code_of_lines(data: bytes, body: object, lines: range) -> bytes:
    """The instruction bytes that these source lines became."""
    outline = summary(data)
    first = (*outline.kernels, *outline.functions)[0]
    code = data[first.offset + first.size - first.code_size : first.offset + first.size]
    starts = [*instruction_offsets(body), len(code)]  # type: ignore[arg-type]
    base = starts[0]
    wanted = [i for i, inst in enumerate(body.instructions) if inst.line in lines]  # type: ignore[attr-defined]
    return code[starts[wanted[0]] - base : starts[wanted[-1] + 1] - base] if wanted else b""


_COMMENT = re.compile(r"\s*//.*")


def code_lines(text: str) -> list[str]:
    """A text without what no object holds: comments, blank lines, ``v_name`` and ``.funcdecl``."""
    out = []
    for line in text.splitlines():
        bare = re.sub(r"\s+v_name=\S+", "", _COMMENT.sub("", line)).strip()
        if bare and not bare.startswith(".funcdecl"):
            out.append(" ".join(bare.split()))
    return out
