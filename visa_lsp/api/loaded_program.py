"""Programs and kernels that can be launched on arrays, in two steps: ``load`` and ``launch``.

Prints nothing. Invariant: the results equal those of ``visa-lsp run`` for the same launch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, SupportsIndex

from visa_lsp.api import html
from visa_lsp.api.context import PlacedAllocations
from visa_lsp.api.launch_arguments import PassedArguments, in_place_of
from visa_lsp.api.loading import LoadedModule, as_text_error, load_program
from visa_lsp.api.result import LaunchResult
from visa_lsp.app.launch.program_info import kernel_info
from visa_lsp.app.launch.ready_run import run_ready
from visa_lsp.app.launch.runner import ready
from visa_lsp.app.ze_info import infer_ze_info
from visa_lsp.program.elements import cl_element, element_bytes, is_float
from visa_lsp.sim.launch.config import Array, BufferArg, LaunchConfig, LaunchError, ValueArg
from visa_lsp.sim.launch.prepare import choose_kernel
from visa_lsp.zeinfo.emit.slots import EmitError
from visa_lsp.zeinfo.read_kernels import read

if TYPE_CHECKING:
    from pathlib import Path

    from visa_lsp.api.context import Context
    from visa_lsp.api.inputs import Source
    from visa_lsp.program.model import Kernel
    from visa_lsp.program.payload import KernelInfo

_MAX_SIZE: Final = (1 << 32) - 1  # of groups and work items in a dimension


def load(path_or_text: Source, platform: str | None = None, ze_info: Source | None = None) -> Program:
    """Load a program: a text, an object, a zebin with vISA, or a launch file with the program that it names.

    A ``str`` with a line break is a text; any other and path-like objects name files; bytes are an object or a zebin, else
    a text. ``platform`` is the target; the default is that of the launch file or the zebin, else TGLLP.
    ``ze_info`` is a document or a zebin, a file or a text; without it the program's folder is searched, as for
    ``visa-lsp run``.

    Raises TextError with the findings for a text with errors, LaunchError for an input that is not a program or an unreadable
    ze_info or launch file, OSError for an unreadable file, and ValueError for an unknown platform.
    """
    return Program(load_program(path_or_text, platform, ze_info))


class Program:
    """A program with its ``kernels`` by name. Created by ``visa_lsp.load``."""

    def __init__(self, loaded: LoadedModule) -> None:
        self._loaded = loaded
        self.path: Path | None = loaded.options.path
        """The file of the program; None for a text or bytes."""
        self.kernels: Mapping[str, LoadedKernel] = {k.name: LoadedKernel(loaded, k) for k in loaded.module.kernels}
        """The kernels by name, in the program's order."""

    def launch(self, **how: Any) -> LaunchResult:
        """Launch the kernel of the launch file, or the only one; the arguments are those of ``LoadedKernel.launch``.

        Raises LaunchError if the kernel is ambiguous, and as that method does.
        """
        return self.kernels[choose_kernel(self._loaded.module, self._loaded.launch.config.kernel).name].launch(**how)

    def __repr__(self) -> str:
        return f"<Program {self.path or 'from a text'}: {', '.join(self.kernels) or 'no kernels'}>"

    def _repr_html_(self) -> str:
        rows = [(kernel.name, kernel.simd_size, kernel.describe_arguments()) for kernel in self.kernels.values()]
        return html.paragraph(self.path or "a text") + html.table(("kernel", "SIMD", "arguments"), rows)


@dataclass(frozen=True, slots=True)
class KernelArgument:
    """A parameter of a kernel: index, name (empty if unknown), a kind such as ``buffer`` or ``value``, and the source type."""

    index: int
    name: str
    kind: str
    type: str

    def __str__(self) -> str:
        what = self.type or self.kind
        return f"{self.name}: {what}" if self.name else what


class LoadedKernel:
    """A kernel of a program that can be launched."""

    def __init__(self, loaded: LoadedModule, kernel: Kernel) -> None:
        self._loaded = loaded
        self._kernel = kernel
        self.name: str = kernel.name
        """The kernel's name."""

    @property
    def simd_size(self) -> int | None:
        """The number of work items of a thread; None if the text does not say it."""
        return self._kernel.int_attribute("SimdSize")

    @cached_property
    def arguments(self) -> tuple[KernelArgument, ...]:
        """The parameters of the kernel by its ze_info, or as far as its text shows them.

        Raises LaunchError if the given ze_info cannot be read or does not describe the kernel.
        """
        options = self._loaded.options
        launch = replace(self._loaded.launch, config=LaunchConfig())
        info, _ = kernel_info(self._kernel, launch, options, [])
        if info is not None:
            return _arguments(info)
        try:
            (inferred,) = read(infer_ze_info([self._kernel], options.platform).text)
        except EmitError:
            return ()
        # The element type of a buffer is unknown here.
        return tuple(replace(a, type="") if a.kind == "buffer" else a for a in _arguments(inferred))

    def launch(
        self,
        groups: int | Sequence[int] | None = None,
        local_size: int | Sequence[int] | None = None,
        args: Sequence[Any] | Mapping[Any, Any] | None = None,
        *,
        global_size: int | Sequence[int] | None = None,
        global_offset: int | Sequence[int] | None = None,
        media_threads: tuple[int, int] | None = None,
        symbols: Mapping[str, Array] | None = None,
        context: Context | None = None,
        checks: str | Sequence[str] = "all",
        engine: str = "auto",
        budget: int | None = None,
        repeat: int = 1,
        threads: int = 1,
        first_fault: bool = False,
    ) -> LaunchResult:
        """Run the kernel; its faults are in the result.

        Parameters
        ----------
        groups, local_size, global_size, global_offset, media_threads
            Sizes as in a launch file: one to three numbers, x first. ``global_size`` counts work items instead of
            ``groups``; ``media_threads`` (two numbers) are the ``threads`` of a media kernel.
        args
            By index (a list) or by name (a dict). A NumPy array is a buffer, which the kernel writes in place; a number of
            NumPy's has its own type, one of Python's that of the parameter; None is a null buffer. ``visa_lsp.Buffer``,
            ``Value``, ``Local``, ``Image`` and ``Sampler`` give more control.
        symbols
            Arrays for the program's data, by name.
        context
            The memory to which pointers in arguments and in memory lead.
        checks
            ``all``, ``none``, or names of checks.
        engine
            ``auto``, ``jit`` or ``interp``.
        budget
            Stop after this many instructions.
        repeat
            Number of runs, each from the same initial memory.
        threads
            Number of threads of this machine for groups; needs ``checks="none"``.
        first_fault
            Stop at the first fault.

        For the kernel of a launch file, missing values are those of the file; a dict of args replaces arguments by name or
        index. The expectations of the file are checked if sizes and arguments are those of the file.

        Raises LaunchError for an invalid launch: an argument that does not fit, an unknown engine or check.
        """
        program = self._loaded
        began = perf_counter() - program.seconds
        for name, number in (("repeat", repeat), ("threads", threads)):
            if not isinstance(number, int) or number < 1:
                raise LaunchError(f"{name}: expected a whole number >= 1, got {number!r:.40}")
        base = program.launch
        meant = base.path is not None and base.config.kernel in (None, self.name)
        config = base.config if meant else LaunchConfig()
        placed = PlacedAllocations(context) if context is not None else None
        passed = PassedArguments(args if args is not None else (), placed)
        sizes = {
            "groups": groups,
            "local_size": local_size,
            "global_size": global_size,
            "global_offset": global_offset,
        }
        said: dict[str, Any] = {name: _triple(name, size) for name, size in sizes.items() if size is not None}
        if "groups" in said and "global_size" in said:
            raise LaunchError("groups and global_size exclude each other: one counts groups, the other work items")
        if "groups" in said:
            said["global_size"] = None
        counts = groups if groups is not None else global_size
        if counts is not None:
            said["dimensions"] = 2 if not isinstance(counts, int) and len(counts) == 2 else 0
        if media_threads is not None:
            said["threads"] = _pair(media_threads)
        if symbols is not None:
            data = {key: PassedArguments([array]).args[0] for key, array in symbols.items()}
            arrays = {key: arg.array for key, arg in data.items() if isinstance(arg, BufferArg | ValueArg)}
            said["symbols"] = {**config.symbols, **arrays}
        if args is not None:
            said["args"] = in_place_of(config.args, passed.args)
            _refuse_other_types(passed.arrays, self.arguments)
        if placed is not None:
            said["memory"] = (*config.memory, *placed.memory)
        if said:
            said["expect"] = ()
        config = replace(config, **said, kernel=self.name)
        options = replace(
            program.options,
            engine=engine,
            checks=checks if isinstance(checks, str) else ",".join(checks) or "none",
            budget=budget,
            repeat=repeat,
            threads=threads,
            first_fault=first_fault,
            began=began,
        )
        with as_text_error():
            launch = replace(base, config=config, conditions={} if said else base.conditions)
            run = ready(program.module, launch, options, program.notes, program.sources)
            try:
                report = run_ready(run)
            finally:
                passed.give_back()
        return LaunchResult(report, passed.arrays)

    def __repr__(self) -> str:
        return f"<kernel {self.name}({self.describe_arguments()})>"

    def _repr_html_(self) -> str:
        try:
            rows = [(argument.index, argument.name, argument.kind, argument.type) for argument in self.arguments]
        except LaunchError as error:
            return html.paragraph(f"kernel {self.name}: {error}")
        title = f"kernel {self.name}" + (f", SIMD{self.simd_size}" if self.simd_size else "")
        return html.paragraph(title) + html.table(("argument", "name", "kind", "type"), rows)

    def describe_arguments(self) -> str:
        """Return the arguments in words, or why they are unknown."""
        try:
            return ", ".join(str(argument) for argument in self.arguments)
        except LaunchError as error:
            return str(error)


def _arguments(info: KernelInfo) -> tuple[KernelArgument, ...]:
    kinds = {entry.arg_index: entry.kind for entry in info.payload if entry.kind}
    return tuple(
        KernelArgument(n, info.argument_name(n), kinds.get(n, "buffer"), info.type_of(n))
        for n in range(info.argument_count)
    )


def _triple(name: str, size: int | Sequence[int]) -> tuple[int, int, int]:
    """Return one to three numbers as x, y and z."""
    low = 0 if name == "global_offset" else 1
    given = tuple(size) if isinstance(size, Iterable) else (size,)
    if not 1 <= len(given) <= 3 or not all(_is_whole(n) and low <= n <= _MAX_SIZE for n in given):
        raise LaunchError(f"{name}: expected one to three whole numbers >= {low}, got {size!r:.60}")
    x, y, z = (*(int(n) for n in given), low, low)[:3]
    return x, y, z


def _pair(threads: Sequence[int]) -> tuple[int, int]:
    given = tuple(threads)
    if len(given) != 2 or not all(_is_whole(n) and 1 <= n <= 65535 for n in given):
        raise LaunchError(f"media_threads: expected two whole numbers from 1 to 65535, got {threads!r:.60}")
    return int(given[0]), int(given[1])


def _is_whole(number: object) -> bool:
    return isinstance(number, SupportsIndex) and not isinstance(number, bool)


def _refuse_other_types(arrays: Mapping[int | str, Array], arguments: Sequence[KernelArgument]) -> None:
    """Raise LaunchError for an array whose elements have another size than those of the kernel's pointer, or another kind."""
    for argument in arguments:
        array = arrays.get(argument.index, arrays.get(argument.name))
        element = cl_element(argument.type.rstrip("* ")) if argument.type.endswith("*") else ""
        if array is None or not element or array.dtype.kind not in "biuf":  # records stand for any type
            continue
        if array.dtype.itemsize != element_bytes(element) or (array.dtype.kind == "f") != is_float(element):
            words = f"the array has {array.dtype.name}, but the kernel's type is {argument.type} ({element})"
            key = argument.index if argument.index in arrays else argument.name
            raise LaunchError(f"argument {key}: {words}; convert it with .astype, or .view its bytes", key)
