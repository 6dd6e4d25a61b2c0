"""Generates the pages of the instructions: the text of `explain` for each row, its record in an object, and an executed form.

A page for each mnemonic, and a list of all. The data are the table and the forms of `forms`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from visa_lsp.app.explain import instruction_text
from visa_lsp.generate.site.forms import OpcodeForm, find_in_texts, forms
from visa_lsp.generate.support_records import record_of
from visa_lsp.generate.support_table import explain_unsimulated
from visa_lsp.isa.table import TABLE
from visa_lsp.sim.effects import EFFECTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from visa_lsp.isa.model import Instruction

FOLDER: Final = "reference/instructions"
_HEAD: Final = """# Instructions

A page for each mnemonic, made from the instruction table: syntax, operands, what it does, its record in an object, where it
exists, and a line that is checked, assembled and carried out when this site is built. [One table](../../instructions.md) has them all with
what is parsed, encoded and simulated.
"""
_STATE: Final = """The declarations are those of `tests/own/template.visaasm.part`. Sixteen lanes are active; each variable counts up from
a number of its own, those of 64 bits without a sign hold addresses of surface 0, and the dwords of surfaces count from 0, as floats where an
operand is one."""


def pages(root: Path) -> dict[str, str]:
    """Return the pages by their names in the site. Raises OSError if the corpus of the repository is missing."""
    opcode_pages = {f"{FOLDER}/{page_name(name)}.md": _page(root, name) for name in TABLE.by_mnemonic}
    return {f"{FOLDER}/index.md": "\n".join(_index()) + "\n", **opcode_pages}


def page_name(mnemonic: str) -> str:
    """Return a file name for a mnemonic that is unique on every file system, even for names that differ only in case."""
    plain = mnemonic.strip(".").replace(".", "-")
    marks = [
        word for word, holds in (("directive", mnemonic.startswith(".")), ("capital", plain != plain.lower())) if holds
    ]
    return "-".join([plain.lower(), *marks])


def _index() -> Iterator[str]:
    yield _HEAD
    families: dict[str, dict[str, str]] = defaultdict(dict)
    for row in TABLE.rows:
        families[row.family].setdefault(row.mnemonic, row.summary)
    for family, members in families.items():
        yield f"## {family.replace('_', ' ')}\n\n| mnemonic | what it does |\n| --- | --- |"
        yield from (f"| [`{name}`]({page_name(name)}.md) | {summary} |" for name, summary in members.items())
        yield ""


def _page(root: Path, mnemonic: str) -> str:
    rows = TABLE.by_mnemonic[mnemonic]
    parts = [f"# {mnemonic}"]
    several = len(rows) > 1
    for number, row in enumerate(rows, 1):
        _, _, text = instruction_text(row).partition("\n\n")
        if several:
            parts.append(f"## OpcodeForm {number} of {len(rows)}: `{row.syntax}`")
            text = text.replace("\n## ", "\n### ")
        parts += [
            text,
            _lower(several, "Encoding"),
            _format_encoding(row),
            _lower(several, "Simulation"),
            _simulation(row),
        ]
    parts += ["## Example", *_example(root, mnemonic)]
    return "\n\n".join(parts) + "\n"


def _lower(several: bool, heading: str) -> str:
    return f"{'###' if several else '##'} {heading}"


def _format_encoding(row: Instruction) -> str:
    if row.opcode is None:
        return "No object has it: the object format ended with text 4.1, and this is a word of another text."
    return (
        f"Opcode `0x{row.opcode:02X}`, and behind it {record_of([row])}. The kinds of items are those of "
        "[instruction records](../../format.md#instruction-records)."
    )


def _simulation(row: Instruction) -> str:
    reason = explain_unsimulated(row, EFFECTS)
    return "`visa-lsp run` carries it out." if reason is None else f"`visa-lsp run` records it only: {reason}."


def _example(root: Path, mnemonic: str) -> Iterator[str]:
    form = forms(root).get(mnemonic)
    if form is not None:
        yield from _show_form(form)
        return
    seen = find_in_texts(root).get(mnemonic)
    if seen is None:
        yield "The corpus of the project has no line of it."
        return
    yield f"From `{seen.path}`, a text that the tests check from end to end:"
    yield f"```visa\n{seen.line}\n```"


def _show_form(form: OpcodeForm) -> Iterator[str]:
    yield f"```visa\n{form.line}\n```"
    if form.record is not None:
        yield f"is sound on {form.platform}, and in an object these bytes:"
        yield f"```text\n{form.record.hex(' ')}\n```"
    else:
        yield f"is sound on {form.platform}, as text 4.2; no object has it."
    if form.changes:
        yield f"The table shows the state before and behind the instruction. {_STATE}"
        table = ["| | before | after |", "| --- | --- | --- |"]
        yield "\n".join([*table, *(f"| `{name}` | {before} | {after} |" for name, before, after in form.changes)])
    else:
        yield "Carried out by one thread alone, it changes no register and no surface."
