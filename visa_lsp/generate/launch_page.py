"""Generates ``docs/launch.md``: every key of a launch file with type, default, description and an example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.launchfile.tables import ROOT, TABLES
from visa_lsp.zeinfo.schema import VALUES, SchemaKey, SchemaTable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


FILE: Final = "docs/launch.md"
_HEAD: Final = """# Launch files

Made from the table of keys by `python -m visa_lsp.generate`; do not edit.

`NAME.launch.yaml` says how a kernel is run and what is expected of it: `visa-lsp run NAME.visaasm`, or the launch file itself.
File names are relative to the launch file. An unknown key is an error.

```yaml
file: average.visaasm
groups: [1]
local_size: [16]
args:
  - {buffer: {dtype: float32, shape: [16], init: arange}}
  - {value: 16}
expect:
  - {arg: 0, npy: average.npy, rtol: 1.0e-6}
```

`visa-lsp check NAME.launch.yaml` reports all mistakes of a launch file: in its text, in the files that it names, and in the
arguments, as far as the kernel's ze_info has them. The language server reports the same while you type, with completion of keys,
words, files and arguments, hover, links and fixes ([editors](editors/README.md)); the rules are [V800 to V822](rules/README.md).
[launch.schema.json](launch.schema.json) describes the keys as a JSON schema, for editors with YAML but without this server: begin
the file with `# yaml-language-server: $schema=PATH/launch.schema.json`. A schema checks neither files nor kernels.

[running.md](running.md) explains memory and checks, [sweeps.md](sweeps.md) sweeps.
"""
_TITLES: Final = {
    ROOT: "The file", "Argument": "An argument", "Buffer": "A buffer", "Image": "An image", "Sampler": "A sampler",
    "Symbol": "A symbol", "Memory": "Memory", "Init": "Contents", "Sweep": "A sweep", "Expectation": "An expectation",
}  # fmt: skip


def page() -> str:
    """Return the whole page."""
    return "\n".join([_HEAD, *(line for table in TABLES.values() for line in _table(table))])


def _table(table: SchemaTable) -> Iterator[str]:
    yield f"## {_TITLES[table.name]}\n"
    yield f"{table.doc}\n"
    yield "| key | what it takes | default | example |"
    yield "| --- | --- | --- | --- |"
    for row in table.keys:
        yield f"| `{row.name}` | {_takes(row)} | {row.default or '-'} | `{row.example}` |"
    if table.others:
        yield f"| {table.others} | | - | `n: [1, 1000, 65536]` |"
    yield ""
    for row in table.keys:
        yield f"* `{row.name}`: {row.doc}"
        yield from (f"    * `{word.name}`: {word.doc}" for word in row.words if row.name not in _LISTED)
    yield ""


# Types and platforms are omitted from the tables, because a sentence lists them once.
_LISTED: Final = ("dtype", "platform")


def _takes(row: SchemaKey) -> str:
    if row.table:
        link = f"[{_TITLES[row.table].lower()}](#{_TITLES[row.table].lower().replace(' ', '-')})"
        what = {"list": f"a list, each {link}", "map": f"a map from names to {link}"}.get(row.many, link)
    else:
        what = {"list": f"a list, each {VALUES[row.inner]}"}.get(row.many, VALUES[row.inner])
    if row.words and row.type == "word":
        what = ", ".join(f"`{word.name}`" for word in row.words)
    return what + (", or `null`" if row.type.endswith("?") else "")


def generate_files(_: Path) -> dict[str, str]:
    """Return the page for the table of this package."""
    return {FILE: page()}
