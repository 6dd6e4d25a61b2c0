"""The table of tools in ``docs/agents.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.generate.page_part import table, with_part
from visa_lsp.mcp.tools import TOOLS, AgentTool

if TYPE_CHECKING:
    from pathlib import Path


FILE: Final = "docs/agents.md"
_OF_ALL: Final = ("cursor", "max_tokens")


def generate_files(root: Path) -> dict[str, str]:
    """Return the page with a row for each tool."""
    rows = ((f"`{tool.name}`", tool.description, _arguments(tool)) for tool in TOOLS)
    return with_part(root, FILE, table(("tool", "what it does", "arguments"), rows))


def _arguments(tool: AgentTool) -> str:
    """Return the names of the arguments, the required ones in bold."""
    schema = tool.input_schema()
    wanted = schema.get("required", ())
    names = [name for name in schema["properties"] if name not in _OF_ALL]
    return ", ".join(f"**`{name}`**" if name in wanted else f"`{name}`" for name in names)
