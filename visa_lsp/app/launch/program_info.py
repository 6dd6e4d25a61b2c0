"""Finds the platform, the ze_info of the kernel and the data of the program for a launch.

Uses the files that the launch names, else those of the folder. Invariant: a note reports a file that does not have the name
of the program.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from visa_lsp.app.launch.linking import list_names
from visa_lsp.app.launch.program import read_bytes
from visa_lsp.app.ze_info import DescribedKernel, find_ze_info, registers_for
from visa_lsp.isa.platforms import Platform, platform_named
from visa_lsp.sim.launch.config import PLATFORM, Arg, DataSection, ImageArg, LaunchError, NullArg, ValueArg
from visa_lsp.text import decode_text
from visa_lsp.zeinfo.emit.emission import emit_with_doubts
from visa_lsp.zeinfo.emit.roles import boundary
from visa_lsp.zeinfo.emit.slots import ArgumentHint, EmitError
from visa_lsp.zeinfo.read_kernels import ZeInfoError, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.launch.launch_file import LaunchFile
    from visa_lsp.app.launch.options import RunOptions
    from visa_lsp.companions import Beside
    from visa_lsp.program.model import Kernel, Module
    from visa_lsp.program.payload import KernelInfo

_ELF: Final = b"\x7fELF"
_DOCUMENT: Final = Path("ze_info")  # the name in messages of a document that is not a file


def platform_told(launch: LaunchFile, options: RunOptions, kernels: Sequence[str] = ()) -> Platform | None:
    """Return the platform of a run: the chosen one, else that of the launch file, else of the zebin; None without any.

    ``kernels`` are those of the program; a zebin of its folder is used if it describes the launched kernel. Raises
    LaunchError for an unknown platform, or if the zebin of the launch is for a platform with other registers or numbers of
    threads.
    """
    chosen = options.platform or launch.platform
    platform = platform_named(chosen) if chosen else None
    if chosen and platform is None:
        raise LaunchError(f"unknown platform '{chosen}'")
    kernel = launch.config.kernel or next(iter(kernels), "")
    for zebin_platform in _platforms_of_zebins(launch, options, kernel, own=platform is not None):
        if platform is None and zebin_platform is not None:
            return zebin_platform
        if platform is not None and zebin_platform is not None and not _same_registers(zebin_platform, platform):
            raise launch.locate(
                LaunchError(
                    f"the platform is {platform.name}, but the zebin is for {zebin_platform.name}, which has other registers and numbers "
                    f"of threads; write platform: {zebin_platform.name}, or omit it",
                    PLATFORM,
                )
            )
    return platform


def _same_registers(platform: Platform, other: Platform) -> bool:
    return (platform.grf_bytes, platform.thread_number) == (other.grf_bytes, other.thread_number)


def _zebins(launch: LaunchFile, options: RunOptions, kernel: str, *, own: bool) -> list[Path]:
    """Return the named files of a launch, else the zebins with the program's name; without ``own``, also one of the folder."""
    if launch.zebin or launch.ze_info:
        return [source for source in (launch.zebin, launch.ze_info) if source is not None]
    places = [place for place in (options.path, launch.path) if place is not None]
    zebins = [path for path in options.finder.own_documents(*places) if path.suffix == ".zebin"]
    if not zebins and not own and kernel:
        zebin = options.finder.zebin(kernel, *places)
        zebins = [zebin.path] if zebin is not None else []
    return zebins


def _platforms_of_zebins(
    launch: LaunchFile, options: RunOptions, kernel: str, *, own: bool
) -> Iterator[Platform | None]:
    """Yield the platforms of the zebins of a launch, as far as they are known."""
    if launch.document is not None:
        yield _platform_of_zebin(launch.document, _DOCUMENT)
        return
    for source in _zebins(launch, options, kernel, own=own):
        if source.is_file():
            yield _platform_of_zebin(read_bytes(source), source)


def _platform_of_zebin(data: bytes, source: Path) -> Platform | None:
    if data[:4] != _ELF:
        return None
    from visa_lsp.app.launch.zebin import platform_of

    return platform_of(data, source)


def kernel_info(
    kernel: Kernel, launch: LaunchFile, options: RunOptions, said: list[str]
) -> tuple[KernelInfo | None, tuple[DataSection, ...]]:
    """Return the ze_info of the kernel and the data of the program; add notes to ``said``.

    The launch file may name a ze_info, a zebin, or both. Otherwise files of the folder are used, preferably those with
    the program's name. Raises LaunchError if that of the launch or the program cannot be read or does not describe the
    kernel.
    """
    places = (options.path, launch.path)
    source = _DOCUMENT if launch.document is not None else launch.ze_info or launch.zebin
    if source is not None:
        data = launch.document if launch.document is not None else read_bytes(source)
        if data[:4] == _ELF:
            text, sections = _program_data(source, data)
            return _info_in(text, kernel, source), sections
        zebin = launch.zebin or _zebin_beside(kernel, options.finder, places, source)
        _, sections = _program_data(zebin) if zebin is not None else ("", ())
        return _info_in(decode_text(data), kernel, source), sections
    described = find_ze_info(kernel, places, options.finder)
    own = options.finder.own_documents(*(place for place in places if place is not None))
    if own and (described is None or described.path not in own):
        # A damaged document with the program's name is an error, because it belongs to the program.
        if described is None:
            return _info_in(_ze_info_text(own[0]), kernel, own[0]), ()
        _infos(_ze_info_text(own[0]), own[0])
    if described is None or described.path is None:
        return _infer_info(kernel, launch, options, said), ()
    if described.path not in own:
        said.append(source_words(described, kernel))
    said += simd_notes(kernel, described, options)
    zebin = described.path if described.is_zebin else _zebin_beside(kernel, options.finder, places, described.path)
    _, sections = _program_data(zebin) if zebin is not None else ("", ())
    return _info_in(described.text, kernel, described.path), sections


def _infer_info(kernel: Kernel, launch: LaunchFile, options: RunOptions, said: list[str]) -> KernelInfo | None:
    """Return ze_info inferred from the program if arguments are given in order; None if they are given by input names."""
    args = launch.config.args
    if boundary(kernel) is None or not isinstance(args, tuple):
        return None
    try:
        where = registers_for(options.platform or launch.platform, [kernel])
        emitted = emit_with_doubts([kernel], where, {kernel.name: [hint_of(arg) for arg in args]})
    except EmitError:
        return None
    said.append(source_words(DescribedKernel(emitted.text, None), kernel))
    return read(emitted.text)[0]


def source_words(described: DescribedKernel, kernel: Kernel) -> str:
    """Return the origin of the ze_info of a kernel as a sentence."""
    if described.path is not None:
        return f"the ze_info is that of {described.path.name}, for kernel '{kernel.name}'"
    return "the ze_info is inferred from the program; visa-lsp zeinfo emit lists the guesses"


def hint_of(arg: Arg) -> ArgumentHint:
    """Return the kind of the kernel's argument, inferred from an argument of the launch."""
    match arg:
        case ImageArg():
            _, height, depth = arg.dims
            return ArgumentHint(
                "image", image_type="image_3d" if depth > 1 else "image_2d" if height > 1 else "image_1d"
            )
        case ValueArg():
            return ArgumentHint("value", arg.array.size, size=arg.array.nbytes if arg.typed else 0)
        case NullArg():
            return ArgumentHint("buffer")
    return ArgumentHint(type(arg).__name__.removesuffix("Arg").lower())


def program_symbols(module: Module, options: RunOptions) -> list[str]:
    """Return the names of data whose address a program takes: names that are not functions of the program or its folder."""
    functions = {body.name for body in module.bodies}
    names = dict.fromkeys(name for body in module.bodies for name in list_names(body, calls=False))
    missing = [name for name in names if name not in functions]
    folder = options.finder.texts_by_body(options.path) if missing and options.path is not None else {}
    return [name for name in missing if name not in folder]


def simd_notes(kernel: Kernel, described: DescribedKernel, options: RunOptions) -> list[str]:
    """Return a note if the ze_info has another SIMD size than the text, because a dump has a text of every size tried."""
    simd = kernel.int_attribute("SimdSize") or 0
    if (
        not simd
        or not described.simd_size
        or simd == described.simd_size
        or options.path is None
        or described.path is None
    ):
        return []
    others = options.finder.texts_of(kernel.name, options.path)
    fits = next((p.name for p in others if f"simd{described.simd_size}" in p.name), None)
    hint = f"; {fits} has that size" if fits else ""
    note = (
        f"the text is SIMD{simd}, but the ze_info of {described.path.name} has simd_size {described.simd_size}: "
        f"the program was built from another text of kernel '{kernel.name}'{hint}"
    )
    return [note]


def _zebin_beside(kernel: Kernel, finder: Beside, places: Sequence[Path | None], document: Path) -> Path | None:
    """Return the zebin with the data of a program: by the name of program or ze_info, else one that describes the kernel."""
    there = [place for place in (*places, document) if place is not None]
    own = next((path for path in finder.own_documents(*there) if path.suffix == ".zebin"), None)
    if own is not None:
        return own
    zebin = finder.zebin(kernel.name, *there)
    return zebin.path if zebin is not None else None


def _program_data(zebin: Path, data: bytes | None = None) -> tuple[str, tuple[DataSection, ...]]:
    from visa_lsp.app.launch.zebin import program_data

    return program_data(read_bytes(zebin) if data is None else data, zebin)


def _ze_info_text(source: Path) -> str:
    data = read_bytes(source)
    return _program_data(source, data)[0] if data[:4] == _ELF else decode_text(data)


def _infos(text: str, source: Path) -> list[KernelInfo]:
    try:
        return read(text)
    except ZeInfoError as error:
        raise LaunchError(error.message, place=f"{source}:{error.line}:{error.column}") from None


def _info_in(text: str, kernel: Kernel, source: Path) -> KernelInfo:
    info = next((info for info in _infos(text, source) if info.name == kernel.name), None)
    if info is None:
        raise LaunchError(f"the ze_info '{source}' has no kernel '{kernel.name}'")
    return info
