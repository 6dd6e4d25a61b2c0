"""The texts and objects that the inputs of a command name: OpenCL C is compiled first, as ``run`` and ``gen`` do.

Knows options and temporary folders, not what commands do with texts. Invariant: no file is written beside a source.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from visa_lsp.app.errors import UserError, printable
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_USAGE
from visa_lsp.app.inputs import STDIN, STDIN_NAME, is_opencl
from visa_lsp.cli.exits import complain
from visa_lsp.cli.outputs import say

if TYPE_CHECKING:
    from collections.abc import Iterator


class SourceError(UserError):
    """OpenCL C with errors; ``lines`` are those of the compiler."""

    def __init__(self, name: str, lines: tuple[str, ...]) -> None:
        others = f" ({len(lines) - 1} more)" if len(lines) > 1 else ""
        super().__init__(f"{name}: the compiler reports errors: {lines[0] if lines else 'none is named'}{others}")
        self.lines = lines


class TextInputs(ExitStack):
    """The inputs of a command. As a context it keeps the folders of compiled texts, whose paths ``rename`` replaces."""

    def __init__(self, args: Any) -> None:
        super().__init__()
        self._args = args
        self._sources: dict[str, str] = {}  # the folder of compiled texts -> the name of their source
        self.errors: list[dict[str, str]] = []  # of inputs without a text, as JSON has them

    def texts_of(self, path: str, kernel: str | None = None) -> Iterator[tuple[str, str]]:
        """Yield the name and the path of each text of an input, of OpenCL C only that of the ``kernel`` if it is given.

        Raises UserError if OpenCL C cannot be compiled or has no such kernel, and SourceError if it has errors.
        """
        args = self._args
        name = (args.stdin_filename or STDIN_NAME) if path == STDIN else path
        if not is_opencl(name):
            yield name, path
            return
        from visa_lsp.app.compile.build import read_source
        from visa_lsp.app.compile.outputs import file_name
        from visa_lsp.app.launch.body_source import TextProblems
        from visa_lsp.app.launch.opencl import CompilerWords, build_program, kernels_of, unpack_program

        words = CompilerWords(" ".join(args.options or ()), args.ocloc, args.stdin_filename)
        try:
            build = build_program(read_source(path, args.stdin_filename), words, args.platform)
        except TextProblems as problems:
            raise SourceError(name, problems.lines) from None
        program = self.enter_context(unpack_program(build, kernel))
        self._sources[str(program.path.parent)] = name
        for own in kernels_of(build) if kernel is None else [kernel]:
            text = str(program.path.with_name(f"{file_name(own)}.visaasm"))
            yield text, text

    def report(self, name: str, error: UserError) -> int:
        """Print why an input has no text, add it to ``errors``, and return the exit status."""
        self.errors.append({"input": printable(name), "error": printable(str(error))})
        if not isinstance(error, SourceError):
            complain(str(error))
            return EXIT_USAGE
        for line in error.lines:
            say(line)
        return EXIT_FINDINGS

    def rename(self, words: str) -> str:
        """Return words in which compiled texts are named after their source."""
        for folder, source in self._sources.items():
            words = words.replace(f"{folder}/", f"{source}: ")
        return words
