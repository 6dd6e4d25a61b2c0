"""Compiles OpenCL C or SPIR-V to texts: calls ``ocloc`` once per device and sorts its dump into kernels and functions.

The compiler tries several SIMD sizes; a discarded attempt has a text but no listing and is omitted. The ze_info shows
which of several finished attempts is in the program; callers select it. Invariant: the dump stays in the temporary
folder.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from visa_lsp.children import temporary_folder
from visa_lsp.safe_io import MIB, read_file
from visa_lsp.toolchain.build_log import BuildMessage, messages_in, misuse_of_build
from visa_lsp.toolchain.confine import confine_command
from visa_lsp.toolchain.listing import GenListing, read_listing
from visa_lsp.toolchain.process import ToolError, run_program

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS: Final = 120.0
# An empty kernel that the compiler adds to programs with symbols.
COMPILERS_OWN: Final = "Intel_Symbol_Table_Void_Program"
_MAX_FILE_BYTES: Final = 256 * MIB
_OUTPUT: Final = "program"
_TEXT: Final = re.compile(r"(?P<stem>.*_simd(?P<simd>\d{1,3})_.+?)(?P<function>_f\d+)?\.visaasm")
_NAME: Final = re.compile(r'^\.(kernel|global_function)\s+"?([^"\s]+)', re.MULTILINE)
_IR: Final = (".ll", ".spv", ".spvasm")
_HASHED: Final = re.compile(r"^.*?_asm[0-9a-f]{16}_?")
_SPIRV: Final = (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03")
_FOLDER: Final = re.compile(r'(?:^|\s)-I\s*("[^"]*"|\S+)')
# Parts of any source that includes a file, also over several lines.
_INCLUDES: Final = (b"#", b"%:", b"??=")


@dataclass(frozen=True, slots=True)
class CompilerCall:
    """A call of the compiler: its path, its name of the device, options, the time limit, and the stop check.

    ``is_confined``: the compiler opens no files but the source, as far as the system can prevent it.
    """

    tool: str
    device: str
    options: str = ""
    seconds: float = SECONDS
    stop: Callable[[], bool] | None = None
    is_confined: bool = False


@dataclass(frozen=True, slots=True)
class CompiledText:
    """The text of a kernel or function from the compiler, and its listing, if there is one.

    Texts with the same ``attempt`` belong together.
    """

    name: str
    is_kernel: bool
    simd: int
    attempt: str
    text: str
    listing_text: str = ""

    @property
    def listing(self) -> GenListing:
        """The parsed listing."""
        return read_listing(self.listing_text)


@dataclass(frozen=True, slots=True)
class Compiled:
    """The result for a source: the program (None on errors), its texts, and the output of the compiler.

    ``ir`` is the intermediate code by suffix of its file. ``failure`` is a message about a failure of the compiler itself.
    """

    program: bytes | None
    texts: tuple[CompiledText, ...] = ()
    messages: tuple[BuildMessage, ...] = ()
    ir: dict[str, bytes] = field(default_factory=dict)
    failure: str = ""


def compile_source(source: Path, data: bytes, call: CompilerCall) -> Compiled:
    """Compile a source or SPIR-V with the bytes ``data`` for one device.

    Raises ToolError if the compiler cannot start, or does not know the device or an option.
    """
    with temporary_folder() as folder:
        command = [call.tool, "compile", "-file", str(source), "-device", call.device, "--format", "zebin"]
        command += ["-spirv_input"] if data.startswith(_SPIRV) else []
        command += ["-output", _OUTPUT, "-output_no_suffix"]  # releases since 2025 still append .bin
        options = call.options if call.is_confined else _with_includes(call.options, source, data)
        command += ["-options", options] if options else []
        ran = run_program(
            confine_command(command, folder, [source, *_folders_of(options)]) if call.is_confined else command,
            folder, call.seconds, environment=_environment(), stop=call.stop,
        )  # fmt: skip
        problem = misuse_of_build(ran.said)
        if problem:
            raise ToolError(problem)
        program = _read(folder / _OUTPUT) or _read(folder / f"{_OUTPUT}.bin")
        inline = [_read_text(path) for path in sorted(folder.glob("*.inline.visaasm"))]
        messages = messages_in(ran.said, inline, str(source))
        if ran.failure or not program:
            return Compiled(None, (), messages, failure=ran.failure or _last_words(data, ran.said, ran.status))
        return Compiled(program, tuple(_texts(folder)), messages, _intermediate(folder))


def _environment() -> dict[str, str]:
    """Return the environment of this process, with all dumps directed to the current folder of the compiler."""
    kept = {name: value for name, value in os.environ.items() if not (name.startswith("IGC_") and "Dump" in name)}
    return {**kept, "IGC_ShaderDumpEnable": "1", "IGC_DumpToCurrentDir": "1"}


def _with_includes(options: str, source: Path, data: bytes) -> str:
    """Return the options with the folder of the source for includes, which the compiler does not search by default."""
    folder = str(source.parent)
    if '"' in folder or not any(sign in data for sign in _INCLUDES):
        return options
    return f'{options} -I "{folder}"'.strip()


def _folders_of(options: str) -> list[Path]:
    """Return the folders of the options ``-I``."""
    return [Path(folder.strip('"')) for folder in _FOLDER.findall(options)]


def _last_words(source: bytes, said: str, status: int) -> str:
    if b"kernel" not in source and not source.startswith(_SPIRV):
        return "found no kernel: expected `kernel void`"
    lines = [
        line.strip() for line in said.splitlines() if line.strip() and not line.startswith(("Command was", "Build "))
    ]
    return f"ended with status {status}" + (f": {lines[-1][:200]}" if lines else "")


def _read(path: Path) -> bytes:
    try:
        return read_file(path, _MAX_FILE_BYTES, own=True)
    except OSError:
        return b""


def _read_text(path: Path) -> str:
    return _read(path).decode("utf-8", "surrogateescape")


def _texts(folder: Path) -> list[CompiledText]:
    """Return the texts of finished attempts, kernels before functions."""
    texts = []
    for path in sorted(folder.glob("*.visaasm")):
        match = _TEXT.fullmatch(path.name)
        if match is None or path.name.endswith(".inline.visaasm"):
            continue
        listing = _read_text(folder / f"{match['stem']}.asm")
        text = _read_text(path)
        named = _NAME.search(text)
        if not listing or named is None or named[2] == COMPILERS_OWN:
            continue
        is_function = named[1] != "kernel"
        texts.append(
            CompiledText(
                named[2], not is_function, int(match["simd"]), match["stem"], text, "" if is_function else listing
            )
        )
    return sorted(texts, key=lambda text: not text.is_kernel)


def _intermediate(folder: Path) -> dict[str, bytes]:
    """Return the intermediate code by suffix of its file: ``optimized.ll``, ``simd32_entry_0001.visa.ll``, ``spv``."""
    code_by_suffix = {}
    for path in sorted(folder.iterdir()):
        if path.suffix in _IR and _HASHED.match(path.name):
            code_by_suffix[_HASHED.sub("", path.name).lstrip("._")] = _read(path)
    return code_by_suffix
