"""The arguments of the tools, as classes from which the input schemas and the validation of calls are made."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from visa_lsp.mcp.pages import DEFAULT_TOKENS, MAX_TOKENS, MIN_TOKENS

_Platform = Annotated[str, Meta(description="target platform, such as TGLLP or DG2; default: that of the files")]
_Text = Annotated[str, Meta(description="the text itself, in place of the file's")]
_Kernel = Annotated[str, Meta(description="name of a kernel or function")]
_Overwrite = Annotated[bool, Meta(description="let `output` replace a file that no tool of this session wrote")]
_Output = Annotated[str, Meta(description="write the result to this file; nothing is written without it")]


class TextEdit(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Replace lines of a text; with columns, a range as in the edits of a fix. Lines and columns count from 1."""

    line: Annotated[int, Meta(ge=1)]
    new_text: str
    end_line: Annotated[int, Meta(ge=0, description="last line; default: `line`")] = 0
    column: Annotated[int, Meta(ge=0, description="without columns whole lines are replaced")] = 0
    end_column: Annotated[int, Meta(ge=0, description="exclusive")] = 0


_Edits = Annotated[list[TextEdit], Meta(description="edits to the text of `path` or `text`, made before anything else")]


class PagedArguments(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of every tool."""

    cursor: Annotated[str, Meta(description="`cursor` of the page before; all other arguments as before")] = ""
    max_tokens: Annotated[
        int, Meta(ge=MIN_TOKENS, le=MAX_TOKENS, description="longest answer, in tokens of a language model")
    ] = DEFAULT_TOKENS


class OneProgram(PagedArguments, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A program: a file, a text, or the edited text of a file."""

    path: Annotated[str, Meta(description="a text (.visaasm), an object (.isa) or a zebin")] = ""
    text: _Text = ""
    edits: _Edits = []
    platform: _Platform = ""


class CheckArguments(PagedArguments, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of ``check``."""

    path: Annotated[str, Meta(description="a text, a launch file, or a folder of texts")] = ""
    text: _Text = ""
    edits: _Edits = []
    write: Annotated[bool, Meta(description="write the edited or given text to `path`")] = False
    platform: _Platform = ""
    ids: Annotated[list[str], Meta(description="only the findings of these ids, such as those to mend")] = []
    fix: Annotated[bool, Meta(description="write the safe fixes into the file at `path`")] = False


class ExplainArguments(PagedArguments, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of ``explain``."""

    word: Annotated[
        str, Meta(description="an opcode, a code (V101), a %variable, a type, an attribute, a platform, a term")
    ]
    platform: _Platform = ""


class SearchArguments(PagedArguments, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of ``search_instructions``."""

    query: Annotated[
        str,
        Meta(description="words for the effect or name of the instruction, or a function of OpenCL; empty lists all"),
    ]
    platform: _Platform = ""


class ReadArguments(OneProgram, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of ``read``."""

    kernel: _Kernel = ""
    first_line: Annotated[int, Meta(ge=0, description="show the part for the lines of the text from this one")] = 0
    last_line: Annotated[int, Meta(ge=0, description="to this one; default: `first_line`")] = 0
    visa: Annotated[bool, Meta(description="give these lines of the text themselves, such as those to edit")] = False


class AssembleArguments(OneProgram, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of ``assemble``."""

    output: _Output = ""
    overwrite: _Overwrite = False


class DisassembleArguments(PagedArguments, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of ``disassemble``."""

    path: Annotated[str, Meta(description="an object (.isa) or a zebin")]
    platform: _Platform = ""
    output: _Output = ""
    overwrite: _Overwrite = False


class RunArguments(OneProgram, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of ``run``."""

    path: Annotated[str, Meta(description="a text, an object, or a launch file (.launch.yaml) that names one")] = ""
    launch: Annotated[
        str, Meta(description="launch file; default: NAME.launch.yaml beside it, else a generated one")
    ] = ""
    launch_text: Annotated[str, Meta(description="text of a launch file, in place of `launch`")] = ""
    budget: Annotated[int, Meta(ge=0, description="stop after this many instructions; 0: the default limit")] = 0
    ids: Annotated[list[str], Meta(description="only the faults of these ids")] = []
    buffer: Annotated[
        str, Meta(description="give the values of this argument (name or index) in place of the faults")
    ] = ""


class WhyArguments(PagedArguments, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of ``why``."""

    path: Annotated[str, Meta(description="a text, an object, or a launch file (.launch.yaml) that names one")]
    value: Annotated[
        str,
        Meta(description="an element of a buffer, such as y[37]; default: the first failed expectation, else a fault"),
    ] = ""
    fault: Annotated[int, Meta(ge=0, description="explain this fault of the run, counted from 1")] = 0
    launch: Annotated[
        str, Meta(description="launch file; default: NAME.launch.yaml beside it, else a generated one")
    ] = ""
    against: Annotated[str, Meta(description="reference program, such as the text before a change")] = ""
    platform: _Platform = ""


class DiffArguments(PagedArguments, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of ``diff``."""

    a: Annotated[str, Meta(description="a text, an object, or a folder of them")] = ""
    b: Annotated[str, Meta(description="the program or folder to compare with")] = ""
    a_text: _Text = ""
    b_text: _Text = ""
    platform: _Platform = ""


class StatsArguments(OneProgram, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of ``stats``."""

    kernel: Annotated[str, Meta(description="give the variables that live at the peak of this kernel")] = ""


class GenArguments(OneProgram, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of ``gen``."""

    kernel: _Kernel = ""


class TemplateArguments(OneProgram, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of ``launch_template``."""

    kernel: _Kernel = ""
    given: Annotated[
        dict[str, Any], Meta(description="keys of the launch file that are known, such as groups or args")
    ] = {}
    output: _Output = ""
    overwrite: _Overwrite = False
