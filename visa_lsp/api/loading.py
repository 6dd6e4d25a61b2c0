"""Loads a program from a path, a text or bytes.

Knows files and their formats, not launches. Invariant: ``visa-lsp run`` would run the same program for the same file.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from visa_lsp.api.findings import TextError, text_findings
from visa_lsp.api.inputs import find_platform, material, path_of
from visa_lsp.app.check.report import findings_of
from visa_lsp.app.inputs import foreign, is_object
from visa_lsp.app.launch.body_source import TextProblems
from visa_lsp.app.launch.file import read_launch_file
from visa_lsp.app.launch.launch_file import LaunchFile
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.program import link_variables, merge_modules
from visa_lsp.app.launch.ready_run import makings
from visa_lsp.app.launch.runner import load_for, program_path
from visa_lsp.companions import LAUNCH
from visa_lsp.sim.launch.config import LaunchConfig, LaunchError
from visa_lsp.zeinfo.zebin import ZebinError, is_elf, read_zebin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from visa_lsp.api.inputs import Material, Source
    from visa_lsp.app.launch.body_source import BodySource
    from visa_lsp.program.model import Module


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModule:
    """A program with its launch file, or an empty one, and its options.

    ``sources`` are the texts of its bodies, ``notes`` the notes of loading, ``seconds`` its duration.
    """

    module: Module
    launch: LaunchFile
    options: RunOptions
    notes: tuple[str, ...]
    sources: Mapping[str, BodySource]
    seconds: float


def load_program(path_or_text: Source, platform: str | None, ze_info: Source | None) -> LoadedModule:
    """Load a program with the arguments of ``load``. Raises LaunchError, TextError, OSError, ValueError."""
    began = perf_counter()
    platform = find_platform(platform)
    path = path_of(path_or_text)
    with as_text_error():
        if path is not None and path.name.endswith(LAUNCH):
            launch = read_launch_file(path, named=True)
            given = material(program_path(launch))
        else:
            launch = LaunchFile(None, None, LaunchConfig())
            given = material(path_or_text)
        if ze_info is not None:
            launch = _add_descriptions(launch, ze_info)
        elif is_elf(given.data):
            launch = replace(launch, document=given.data)
        options = RunOptions(given.path, platform, began=began, compiled=makings())
        notes: list[str] = []
        module, sources = _module(given, launch, options, notes)
    return LoadedModule(module, launch, options, tuple(notes), sources, perf_counter() - began)


def _add_descriptions(launch: LaunchFile, ze_info: Source) -> LaunchFile:
    path = path_of(ze_info)
    document = material(ze_info).data if path is None else None
    return replace(launch, ze_info=path, zebin=None, document=document)


def _module(
    given: Material, launch: LaunchFile, options: RunOptions, notes: list[str]
) -> tuple[Module, dict[str, BodySource]]:
    """Return the program in bytes, with the texts of its bodies."""
    if not is_elf(given.data):
        return _part(given, given.data, launch, options, notes)
    try:
        modules = list(read_zebin(given.data).visa.values())
    except ZebinError as error:
        raise LaunchError(f"cannot read the zebin: {error}", place=given.name) from None
    if not modules:
        raise LaunchError("the zebin has no vISA; load its text and pass the zebin as ze_info", place=given.name)
    return module_of_parts(given, modules, launch, options, notes)


def module_of_parts(
    given: Material, modules: list[bytes], launch: LaunchFile, options: RunOptions, notes: list[str]
) -> tuple[Module, dict[str, BodySource]]:
    """Return one program of several, with the texts of its bodies. Raises LaunchError and TextProblems."""
    module, sources = _part(given, modules[0], launch, options, notes)
    module = link_variables(module)
    for data in modules[1:]:
        further, texts = _part(given, data, launch, options, notes)
        module = merge_modules(module, further)
        sources.update(texts)
    return module, sources


def _part(
    given: Material, data: bytes, launch: LaunchFile, options: RunOptions, notes: list[str]
) -> tuple[Module, dict[str, BodySource]]:
    if other := foreign(given.name, data):
        raise LaunchError(other, place=given.name)
    if not is_object(given.name, data):
        data = data.rstrip(b"\0")
    return load_for(data, launch, options, notes)


@contextmanager
def as_text_error() -> Iterator[None]:
    """Convert TextProblems to TextError with findings."""
    try:
        yield
    except TextProblems as problems:
        findings = findings_of(str(problems.path or "text"), problems.text, problems.diagnostics)
        raise TextError(str(problems), text_findings(findings)) from None
