"""The two programs of a comparison, and one launch of either.

An object is compared as the text that ``visa-lsp dis`` prints of it, because reports need lines. Knows no sweeps.
Invariant: a program is assembled once per platform.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from visa_lsp.app.errors import UserError
from visa_lsp.app.inputs import foreign, is_object
from visa_lsp.app.launch import runner
from visa_lsp.app.launch.program import decode_object, load_program, module_of_text, sources_of
from visa_lsp.app.launch.program_info import platform_told
from visa_lsp.program.text_form import module_text

if TYPE_CHECKING:
    from visa_lsp.app.launch.body_source import BodySource
    from visa_lsp.app.launch.launch_file import LaunchFile
    from visa_lsp.app.launch.options import RunOptions
    from visa_lsp.app.launch.ready_run import ReadyRun
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.model import Module


@dataclass(frozen=True, slots=True)
class ComparedProgram:
    """A text or an object: its name, path and bytes."""

    name: str
    path: Path
    data: bytes
    _made: dict[str, tuple[Module, dict[str, BodySource]]] = field(default_factory=dict)

    @property
    def is_object(self) -> bool:
        """True if this is an object."""
        return is_object(self.path, self.data)

    def make_program(self, platform: Platform | None) -> tuple[Module, dict[str, BodySource]]:
        """Return the program for a platform (None if unknown) and the lines of its bodies.

        Raises TextProblems for a text with errors, and LaunchError for an input that is not a program.
        """
        name = platform.name if platform else ""
        program = self._made.get(name)
        if program is None:
            program = self._made[name] = self._make(platform)
        return program

    def _make(self, platform: Platform | None) -> tuple[Module, dict[str, BodySource]]:
        if not self.is_object:
            return load_program(self.data, self.path, platform, [])
        carried = decode_object(self.data, self.path)
        text = module_text(carried, platform)
        try:
            module = module_of_text(text, self.path, platform, [], judged=False)
        except runner.TextProblems:
            return carried, {}  # an object without a text form can still run
        return module, sources_of(module, text, self.path, judged=False)

    def ready(self, launch: LaunchFile, options: RunOptions) -> ReadyRun:
        """Prepare a launch. Raises as ``runner.ready`` and ``make_program``.

        The kernel is the one that the launch names; if there is none of that name, the only one.
        """
        options = replace(options, path=self.path)
        module, sources = self.make_program(platform_told(launch, options))
        name = launch.config.kernel
        names = [kernel.name for kernel in module.kernels]
        if name is not None and name not in names and len(names) == 1:
            config = replace(launch.config, kernel=names[0])
            launch = replace(launch, config=config, ze_info=None, zebin=None, document=None)
        return runner.ready(module, launch, options, (), sources)


def program_at(name: str) -> ComparedProgram:
    """Return the program of a file. Raises UserError if it cannot be read, or is neither a text nor an object."""
    path = Path(name)
    if not path.exists() or path.is_dir():
        raise UserError(f"{name}: {'is a directory' if path.is_dir() else 'no such file'}")
    try:
        program = ComparedProgram(name, path, runner.read_bytes(path, named=True))
        other = "" if program.is_object else foreign(name, program.data)
        if other:
            raise UserError(f"{name}: {other}")
        # Checked now, so that a wrong input is reported before anything runs.
        if program.is_object:
            decode_object(program.data, path)
    except runner.LaunchError as error:
        raise UserError(str(error)) from None
    return program
