"""The list of tools for agents.

A tool has an entry here, arguments, an answer, and a function. Does not load the protocol, and loads the work of a tool
only at its call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from visa_lsp.mcp import answers, arguments, comparisons, runs, texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.mcp.pages import ToolAnswer
    from visa_lsp.mcp.places import Roots


class AgentTool(Struct, frozen=True):
    """A tool: its description for the agent, and the types of its arguments and its answer.

    ``work`` is its function. ``reads``: it may read files; ``writes``: it writes a file if the arguments name one.
    """

    name: str
    title: str
    description: str
    arguments: type[arguments.PagedArguments]
    answer: type
    work: Callable[[Any, Roots], ToolAnswer]
    reads: bool = True
    writes: bool = False

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        return _schema(self.arguments)

    def output_schema(self) -> dict[str, Any]:
        """Return the JSON schema of an answer."""
        return _schema(self.answer)


TOOLS: Final = (
    AgentTool(
        "check", "Check vISA",
        "Find the mistakes of vISA texts and launch files: syntax, types, regions, uninitialised and unused variables. "
        "Findings have edits that mend them; `edits` and `write` mend the file.",
        arguments.CheckArguments, answers.CheckAnswer, texts.check, writes=True,
    ),
    AgentTool(
        "explain", "Explain a word",
        "Explain an opcode with its operands and pitfalls, the code of a finding, a %variable, a type, an attribute, a "
        "platform or a term of the glossary.",
        arguments.ExplainArguments, answers.TextAnswer, texts.explain, reads=False,
    ),
    AgentTool(
        "search_instructions", "Search instructions",
        "Find the instruction for something: 'atomic add', 'dot product', or the name that C, OpenCL or another "
        "assembler gives it.",
        arguments.SearchArguments, answers.SearchAnswer, texts.search_instructions, reads=False,
    ),
    AgentTool(
        "read", "Read as code",
        "Show kernels as structured pseudo-code, a third of the length of the text; each line names its lines of vISA.",
        arguments.ReadArguments, answers.ReadAnswer, texts.read,
    ),
    AgentTool(
        "stats", "Count and measure",
        "Count instructions, messages, loops and register pressure of kernels, and name the line of the peak; of native dumps (.asm) spills and sends.",
        arguments.StatsArguments, answers.StatsAnswer, comparisons.stats,
    ),
    AgentTool(
        "diff", "Compare programs",
        "Compare two programs or two folders of dumps apart from names, order of declarations and comments.",
        arguments.DiffArguments, answers.DiffAnswer, comparisons.diff,
    ),
    AgentTool(
        "launch_template", "Make a launch file",
        "Make a launch file for a kernel: sizes and arguments with the assumptions behind them.",
        arguments.TemplateArguments, answers.WrittenTextAnswer, runs.launch_template, writes=True,
    ),
    AgentTool(
        "run", "Run a kernel",
        "Run a kernel on the simulator with all checkers: out-of-bounds accesses, races, uninitialised reads, barriers, and "
        "the expectations of the launch file.",
        arguments.RunArguments, answers.RunAnswer, runs.run,
    ),
    AgentTool(
        "why", "Explain a value",
        "Explain how a value of a run came about, such as `y[37]`, or its first failed expectation or fault: the instructions behind "
        "it with lanes and values, the most telling first; compared with a reference program if `against` is given.",
        arguments.WhyArguments, answers.WhyAnswer, runs.why,
    ),
    AgentTool(
        "assemble", "Assemble",
        "Assemble a text to an object.",
        arguments.AssembleArguments, answers.AssembleAnswer, texts.assemble, writes=True,
    ),
    AgentTool(
        "disassemble", "Disassemble",
        "Show an object or a zebin as text.",
        arguments.DisassembleArguments, answers.WrittenTextAnswer, texts.disassemble, writes=True,
    ),
    AgentTool(
        "gen", "Show machine code",
        "Show the machine code of each line (needs Intel's finalizer GenX_IR).",
        arguments.GenArguments, answers.GenAnswer, comparisons.gen,
    ),
)  # fmt: skip
BY_NAME: Final = {tool.name: tool for tool in TOOLS}


def _schema(type_: Any) -> dict[str, Any]:
    """Return a JSON schema with its object at the root, as the protocol requires."""
    (root,), parts = msgspec.json.schema_components([type_])
    schema: dict[str, Any] = _short(parts.pop(root["$ref"].rpartition("/")[2]))
    return {**schema, "$defs": {name: _short(part) for name, part in parts.items()}} if parts else schema


def _short(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a type without titles and empty defaults, because an agent reads all of it before its first call."""
    members = {
        name: {key: value for key, value in member.items() if key != "default" or value}
        for name, member in schema["properties"].items()
    }
    # Common arguments of all tools are last.
    last = {name: members.pop(name) for name in ("cursor", "max_tokens") if name in members}
    others: dict[str, Any] = {
        key: schema[key] for key in ("required", "additionalProperties") if key in schema and schema[key] != []
    }
    return {"type": "object", "properties": {**members, **last}, **others}
