"""visa-lsp: language server, assembler, disassembler and simulator for vISA.

The names of the Python interface are loaded at first use, because the command line needs none of them.
"""

# No imports, not even ``__future__`` or ``typing``, because Ctrl-C prints a traceback until the program has started.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from visa_lsp.api.compiling import compile_program
    from visa_lsp.api.context import Allocation, Context, Pointer
    from visa_lsp.api.findings import FindingList, ObjectError, RunFinding, TextError, TextFinding
    from visa_lsp.api.launch_arguments import ImageArgument as Image
    from visa_lsp.api.loaded_program import KernelArgument, LoadedKernel, Program, load
    from visa_lsp.api.result import LaunchResult
    from visa_lsp.api.texts import assemble, check, disassemble
    from visa_lsp.sim.launch.config import BufferArg as Buffer
    from visa_lsp.sim.launch.config import LaunchError
    from visa_lsp.sim.launch.config import LocalArg as Local
    from visa_lsp.sim.launch.config import SamplerArg as Sampler
    from visa_lsp.sim.launch.config import ValueArg as Value

__version__ = "0.1.0"

__all__ = [
    "Allocation",
    "Buffer",
    "Context",
    "FindingList",
    "Image",
    "KernelArgument",
    "LaunchError",
    "LaunchResult",
    "LoadedKernel",
    "Local",
    "ObjectError",
    "Pointer",
    "Program",
    "RunFinding",
    "Sampler",
    "TextError",
    "TextFinding",
    "Value",
    "assemble",
    "check",
    "compile_program",
    "disassemble",
    "load",
]


def __getattr__(name: str) -> "Any":
    """Return a name of the interface. Raises ImportError if it needs NumPy and NumPy is missing."""
    home: Any
    try:
        match name:
            case "assemble" | "check" | "disassemble":
                from visa_lsp.api import texts as home
            case "compile_program":
                from visa_lsp.api import compiling as home
            case "Allocation" | "Context" | "Pointer":
                from visa_lsp.api import context as home
            case "FindingList" | "ObjectError" | "RunFinding" | "TextError" | "TextFinding":
                from visa_lsp.api import findings as home
            case "Buffer" | "Image" | "LaunchError" | "Local" | "Sampler" | "Value":
                from visa_lsp.api import launch_arguments as home
            case "KernelArgument" | "LaunchResult" | "LoadedKernel" | "Program" | "load":
                from visa_lsp.api import loaded_program as home
            case _:
                raise AttributeError(f"module 'visa_lsp' has no attribute '{name}'")
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        from visa_lsp.app.errors import NEEDS_NUMPY

        raise ImportError(NEEDS_NUMPY, name="numpy") from None
    return getattr(home, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
