"""Builds launch configurations with arrays from launch files (``NAME.launch.yaml``) that ``launchfile`` has validated.

Knows files, not kernels. The first mistake of a file is a ``LaunchError`` with file, line and column; ``visa-lsp check``
reports all of them. Invariant: nothing larger than the limit of a launch is allocated.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from visa_lsp.app.launch.arrays import create_array
from visa_lsp.app.launch.launch_file import LaunchFile
from visa_lsp.diagnostics import Severity
from visa_lsp.launchfile.folder import LaunchFolder
from visa_lsp.launchfile.read_launch import read_launch
from visa_lsp.launchfile.source import launch_source
from visa_lsp.launchfile.values import (
    GivenArg,
    GivenArray,
    GivenBuffer,
    GivenImage,
    GivenLocal,
    GivenPointer,
    GivenSampler,
    GivenValue,
    LaunchText,
    SweepPoint,
)
from visa_lsp.safe_io import read_file
from visa_lsp.sim.launch.config import (
    Arg,
    Array,
    BufferArg,
    Expectation,
    ImageArg,
    LaunchConfig,
    LaunchError,
    LocalArg,
    NullArg,
    PlacedMemory,
    SamplerArg,
    ValueArg,
)

if TYPE_CHECKING:
    from pathlib import Path


def read_launch_file(path: Path, *, named: bool = False, point: SweepPoint = ()) -> LaunchFile:
    """Read a launch file at a point of its sweep; one that the user ``named`` may be a pipe.

    Raises LaunchError with a place if the file cannot be read, is not UTF-8, or is invalid.
    """
    return parse_launch(launch_file_text(path, named=named), path, point)


def launch_file_text(path: Path, *, named: bool = False) -> str:
    """Return the text of a launch file. Raises LaunchError with a place if it cannot be read or is not UTF-8."""
    try:
        return read_file(path, named=named).decode("utf-8")
    except UnicodeDecodeError as error:
        raise LaunchError(f"is not UTF-8 text (byte {error.start})", place=str(path)) from None
    except (OSError, ValueError) as error:
        raise LaunchError(f"cannot be read: {getattr(error, 'strerror', None) or error}", place=str(path)) from None


def parse_launch(text: str, path: Path, point: SweepPoint = ()) -> LaunchFile:
    """Parse the text of a launch file; ``path`` is the base of file names and the name in errors.

    With a sweep, return the launch at ``point``, by default the first.

    Raises LaunchError with line and column from 1 if the text is not YAML or has invalid keys or values.
    """
    source = launch_source(text)
    if source.error is not None:
        raise LaunchError(source.error.message, place=f"{path}:{source.error.line}:{source.error.column}")
    launched, findings = read_launch(source, LaunchFolder(path), point)
    wrong = next((d for d in findings if d.severity is Severity.ERROR), None)
    if wrong is not None:
        line, column = source.index.position(wrong.span.start)
        raise LaunchError(wrong.message, place=f"{path}:{line + 1}:{column + 1}")
    return replace(_Maker(path).launch(launched), point=point)


class _Maker:
    """Builds the configuration of a valid launch file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._memory: tuple[PlacedMemory, ...] = ()

    def launch(self, said: LaunchText) -> LaunchFile:
        args = said.args
        memory = tuple(
            PlacedMemory(f"memory at {region.address:#x}", self._array(region.array), region.address)
            for region in said.memory
        )
        self._memory = memory
        expect = tuple(
            Expectation(e.arg, self._array(e.array), e.array.typed, rtol=e.rtol, atol=e.atol, ulp=e.ulp)
            for e in said.expect
            if e.array is not None and e.arg is not None
        )
        config = LaunchConfig(
            kernel=said.kernel,
            groups=said.groups,
            local_size=said.local_size,
            global_size=said.global_size,
            global_offset=said.global_offset,
            dimensions=said.dimensions,
            threads=said.threads,
            expect=expect,
            args={name: self._arg(given) for name, given in args.items()}
            if isinstance(args, dict)
            else tuple(map(self._arg, args)),
            memory=memory,
            symbols={name: self._array(given) for name, given in said.symbols.items()},
        )
        return LaunchFile(
            self.path,
            said.file,
            config,
            files=said.files,
            ze_info=said.ze_info,
            zebin=said.zebin,
            platform=said.platform,
            places={key: f"{self.path}:{line}:{column}" for key, (line, column) in said.places.items()},
            reads=tuple(said.reads),
            sweep=said.sweep,
            names=said.names,
            expect_faults=said.expect_faults,
            conditions={number: e for number, e in enumerate(said.expect) if e.array is None},
        )

    def _arg(self, given: GivenArg | None) -> Arg:
        match given:
            case GivenBuffer(array=None) | None:
                return NullArg()
            case GivenBuffer():
                assert given.array is not None
                array = self._array(given.array)
                if not given.unwritten:
                    return BufferArg(array, given.undefined, given.access)
                written = np.ones(array.nbytes, bool)
                for start, end in given.unwritten:
                    written[start:end] = False
                return BufferArg(array, undefined=True, access=given.access, defined=written)
            case GivenPointer():
                placed = self._memory[given.memory]
                start, whole = given.address - placed.address, placed.array.reshape(-1)
                elements = whole if start % whole.itemsize == 0 else whole.view(np.uint8)
                return BufferArg(elements[start // elements.itemsize :], whole=placed.array)
            case GivenValue():
                return ValueArg(self._array(given.array), given.array.typed)
            case GivenLocal():
                return LocalArg(given.size)
            case GivenImage():
                array = self._array(given.array)
                facts = given.format, given.channels, given.dims, given.undefined, given.access
                return ImageArg(array, *facts, order=given.order)
            case GivenSampler():
                return SamplerArg(given.address, given.filter, given.normalized)

    def _array(self, given: GivenArray) -> Array:
        try:
            return create_array(given)
        except (OSError, ValueError) as error:  # the file has changed since it was validated
            line, column = given.place
            words = getattr(error, "strerror", None) or str(error)
            raise LaunchError(words, place=f"{self.path}:{line}:{column}") from None
