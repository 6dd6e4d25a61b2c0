"""The generated parts of pages and settings: tables of rules, report formats, tools for agents, functions of OpenCL, platforms."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from visa_lsp.app.check.formats.table import FORMATS
from visa_lsp.app.rule_registry import OFF, list_rules, page
from visa_lsp.checks.support.rule_page import index_page
from visa_lsp.isa.platforms import PLATFORMS
from visa_lsp.mcp.tools import TOOLS, AgentTool

if TYPE_CHECKING:
    from collections.abc import Iterable

_BEGIN: Final = "<!-- made by python -m visa_lsp.generate -->\n"
_END: Final = "<!-- end -->\n"
_RULES: Final = "docs/rules"
_PACKAGE: Final = "vscode-extension/package.json"
_LAYER: Final = Path(__file__).parents[1] / "opencl" / "layer.c"
_ENTRY: Final = re.compile(r"\b(DIVERT|EXTENSION|REFUSE|ORDER|HOST)\((cl\w+)")
_KINDS: Final = {
    "DIVERT": "done by visa-lsp",
    "EXTENSION": "functions of extensions, done by visa-lsp",
    "ORDER": "done by the host; recorded, because it may order launches",
    "HOST": "done by the host",
    "REFUSE": "refused, with a line in the report",
}


def with_part(root: Path, file: str, part: str) -> dict[str, str]:
    """Return a page with its current generated part. Raises ValueError unless the page has exactly one place for it."""
    text = (root / file).read_text(encoding="utf-8")
    new_text, times = re.subn(f"(?<={_BEGIN}).*?(?={_END})", lambda _: part, text, flags=re.DOTALL)
    if times != 1:
        raise ValueError(f"{file} has {times} places for what is made, not one")
    return {file: new_text}


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of Markdown."""
    names = [*head]
    lines = [names, ["---"] * len(names), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def check_formats(root: Path) -> dict[str, str]:
    """Return the page with a row for each report format."""
    rows = ((f"`{name}`", form.what) for name, form in FORMATS.items())
    return with_part(root, "docs/check.md", table(("name", "what"), rows))


def agent_tools(root: Path) -> dict[str, str]:
    """Return the page with a row for each tool for agents."""
    rows = ((f"`{tool.name}`", tool.description, _arguments(tool)) for tool in TOOLS)
    return with_part(root, "docs/agents.md", table(("tool", "what it does", "arguments"), rows))


def _arguments(tool: AgentTool) -> str:
    """Return the names of the arguments, the required ones in bold."""
    schema = tool.input_schema()
    wanted = schema.get("required", ())
    names = [name for name in schema["properties"] if name not in ("cursor", "max_tokens")]
    return ", ".join(f"**`{name}`**" if name in wanted else f"`{name}`" for name in names)


def opencl_calls(root: Path) -> dict[str, str]:
    """Return the page with a row for each kind of function, from the table of the layer."""
    functions: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    for kind, name in _ENTRY.findall(_LAYER.read_text(encoding="utf-8")):
        functions[kind].append(name)
    rows = ((_KINDS[kind], ", ".join(f"`{name}`" for name in sorted(names))) for kind, names in functions.items())
    return with_part(root, "docs/exec.md", table(("who", "functions"), rows))


def rule_pages(root: Path) -> dict[str, str | None]:
    """Return the list of rules and a page for each, with the text of ``explain``; none for a former rule."""
    pages: dict[str, str | None] = {f"{_RULES}/{path.name}": None for path in sorted((root / _RULES).glob("*.md"))}
    pages[f"{_RULES}/README.md"] = index_page(list_rules(), OFF)
    for rule in list_rules():
        pages[f"{_RULES}/{rule.name}.md"] = page(rule)
    return pages


def extension_settings(root: Path) -> dict[str, str]:
    """Return the ``package.json`` of the VS Code extension with the platforms; the rest of it is written by hand."""
    package = json.loads((root / _PACKAGE).read_text(encoding="utf-8"))
    setting = package["contributes"]["configuration"]["properties"]["visa.platform"]
    setting["enum"] = ["", *(p.name for p in PLATFORMS)]
    setting["enumDescriptions"] = ["Report only what every platform forbids", *(p.doc for p in PLATFORMS)]
    return {_PACKAGE: json.dumps(package, indent=2, ensure_ascii=False) + "\n"}
