"""From OpenCL C to texts: ``ocloc`` is called once for a device, and its dump is sorted into kernels and functions.

The compiler tries several SIMD sizes; an attempt that it threw away has a text and no listing, and is left out. Knows no
ze_info: which of several finished attempts is in the program is said there. Invariant: nothing of the dump lies outside of
the temporary folder.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from visa_lsp.children import temporary_folder
from visa_lsp.reading import MIB, read_file
from visa_lsp.toolchain.build_log import BuildMessage, messages_in, misuse_of_build
from visa_lsp.toolchain.listing import read_listing
from visa_lsp.toolchain.process import ToolError, run_program

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from visa_lsp.toolchain.listing import GenListing

SECONDS: Final = 120.0
# The compiler's own, in every program with symbols; it does nothing.
COMPILERS_OWN: Final = "Intel_Symbol_Table_Void_Program"
_MAX_FILE_BYTES: Final = 256 * MIB
_OUTPUT: Final = "program"
_TEXT: Final = re.compile(r"(?P<stem>.*_simd(?P<simd>\d{1,3})_.+?)(?P<function>_f\d+)?\.visaasm")
_NAME: Final = re.compile(r'^\.(kernel|global_function)\s+"?([^"\s]+)', re.MULTILINE)
_IR: Final = (".ll", ".spv", ".spvasm")
_HASHED: Final = re.compile(r"^.*?_asm[0-9a-f]{16}_?")
_INCLUDES: Final = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CompilerCall:
    """How the compiler is called: its path, a device by its own name, options for the source, seconds, who may end it."""

    tool: str
    device: str
    options: str = ""
    seconds: float = SECONDS
    stop: Callable[[], bool] | None = None


@dataclass(frozen=True, slots=True)
class CompiledText:
    """The text of a kernel or function as the compiler printed it, and its listing, where there is one.

    Texts of one ``attempt`` belong together.
    """

    name: str
    is_kernel: bool
    simd: int
    attempt: str
    text: str
    listing_text: str = ""

    @property
    def listing(self) -> GenListing:
        """The listing, read."""
        return read_listing(self.listing_text)


@dataclass(frozen=True, slots=True)
class Compiled:
    """What came of a source: the program, None where there is none, its texts, and what the compiler says.

    ``ir`` are the intermediate forms by the ends of their names. ``failure`` says in words what went wrong with the compiler itself.
    """

    program: bytes | None
    texts: tuple[CompiledText, ...] = ()
    messages: tuple[BuildMessage, ...] = ()
    ir: dict[str, bytes] = field(default_factory=dict)
    failure: str = ""


def compile_source(source: Path, data: bytes, call: CompilerCall) -> Compiled:
    """Compile a source, whose bytes ``data`` are, for one device.

    Raises ToolError where the compiler cannot be started, or does not know the device or an option.
    """
    with temporary_folder() as folder:
        command = [call.tool, "compile", "-file", str(source), "-device", call.device, "--format", "zebin"]
        command += ["-output", _OUTPUT, "-output_no_suffix"]  # releases since 2025 put .bin behind it all the same
        options = _with_includes(call.options, source, data)
        ran = run_program(
            [*command, *(["-options", options] if options else [])],
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
    """Ours, with all dumps in the folder that the compiler runs in, and nowhere else."""
    kept = {name: value for name, value in os.environ.items() if not (name.startswith("IGC_") and "Dump" in name)}
    return {**kept, "IGC_ShaderDumpEnable": "1", "IGC_DumpToCurrentDir": "1"}


def _with_includes(options: str, source: Path, data: bytes) -> str:
    """Return the options, and the source's folder for what it includes from there: the compiler does not look there by itself."""
    folder = str(source.parent)
    if not _INCLUDES.search(data) or '"' in folder:
        return options
    return f'{options} -I "{folder}"'.strip()


def _last_words(source: bytes, said: str, status: int) -> str:
    if b"kernel" not in source:
        return "found no kernel: expected `kernel void`"
    lines = [
        line.strip() for line in said.splitlines() if line.strip() and not line.startswith(("Command was", "Build "))
    ]
    return f"ended with status {status}" + (f": {lines[-1][:200]}" if lines else "")


def _read(path: Path) -> bytes:
    try:
        return read_file(path, _MAX_FILE_BYTES)
    except OSError:
        return b""


def _read_text(path: Path) -> str:
    return _read(path).decode("utf-8", "surrogateescape")


def _texts(folder: Path) -> list[CompiledText]:
    """Return the texts of attempts that were finished, functions behind kernels."""
    found = []
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
        found.append(
            CompiledText(
                named[2], not is_function, int(match["simd"]), match["stem"], text, "" if is_function else listing
            )
        )
    return sorted(found, key=lambda one: not one.is_kernel)


def _intermediate(folder: Path) -> dict[str, bytes]:
    """Return the intermediate forms by the ends of their names: ``optimized.ll``, ``simd32_entry_0001.visa.ll``, ``spv``."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.suffix in _IR and _HASHED.match(path.name):
            found[_HASHED.sub("", path.name).lstrip("._")] = _read(path)
    return found
