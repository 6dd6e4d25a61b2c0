"""Builds the programs of a host: compiles, links, caches the result on disk, and loads kernels for launches.

Each program has a folder with its source and texts, so that reports can quote lines. Knows nothing of OpenCL's API.
Invariant: a program is compiled once per source, options, device and compiler; a kernel is loaded once.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import itertools
import os
import re
import shlex
import zlib
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct, field

import visa_lsp
from visa_lsp.app.compile.outputs import file_name
from visa_lsp.app.errors import UserError
from visa_lsp.app.exec.model import (
    BuildRequest,
    CompiledProgram,
    KernelParameter,
    ProgramBuild,
    ProgramForm,
    ProgramKernel,
    Step,
    Verdict,
)
from visa_lsp.app.external_tools import MissingToolError, find_ocloc
from visa_lsp.app.launch.body_source import BodySource
from visa_lsp.app.launch.ready_run import makings
from visa_lsp.disk_cache import open_for_user
from visa_lsp.isa.platforms import Platform, device_for
from visa_lsp.program.elements import cl_element, element_bytes
from visa_lsp.program.packed import pack, unpack
from visa_lsp.safe_io import is_regular
from visa_lsp.sim.launch.config import DataSection, LaunchConfig
from visa_lsp.sim.launch.world import kept_sections
from visa_lsp.text import decode_text, encode_text, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from visa_lsp.disk_cache import Kept
    from visa_lsp.program.model import Module
    from visa_lsp.program.payload import KernelInfo
    from visa_lsp.sim.jit.code_cache import Makings
    from visa_lsp.sim.launch.prepare import PreparedLaunch

BINARY_HEAD: Final = b"visa-lsp program\n"
_CACHE_BYTES: Final = 48 << 20
_READING_ROOMS: Final = (
    "app",
    "app/exec",
    "app/launch",
    "analysis",
    "codec",
    "isa",
    "isa/rows",
    "program",
    "sema",
    "syntax",
    "zeinfo",
)  # that read a text or a ze_info
_MAX_LISTED_FILES: Final = 5_000  # of folders of includes, to notice a changed one
# Of the host's current folder, searched for the file with the source of a program.
_MAX_SEARCHED_FOLDERS: Final = 200
_MAX_DEPTH: Final = 3
_SOURCE_SUFFIXES: Final = (".cl", ".clc", ".ocl", ".opencl")
_INCLUDED_SUFFIXES: Final = (
    *_SOURCE_SUFFIXES,
    ".h",
    ".hh",
    ".hpp",
    ".hxx",
    ".clh",
    ".c",
    ".cc",
    ".cpp",
    ".cu",
    ".inc",
    ".inl",
    ".def",
)
_LIBRARY: Final = "-create-library"  # of a link: the result is a part of later ones
_INCLUDE: Final = re.compile(r"^(-I)\s*(.*)$")
_RAGGED: Final = re.compile(r"^(?!.*-cl-uniform-work-group-size).*-cl-std=CL[23]", re.DOTALL)
_PART_START: Final = re.compile(rb'^#line 1 "part(?=[\d.]+\.cl"$)', re.MULTILINE)
_POINTER_KINDS: Final = {"__local": "local", "__global": "buffer", "__constant": "buffer"}


class _Container(msgspec.Struct, frozen=True):
    """The bytes that a host gets as the program's binary."""

    form: str
    data: bytes
    options: str
    step: str
    headers: tuple[tuple[str, bytes], ...] = ()


class KeptLaunch(Struct, eq=False):
    """What the last launch of a kernel was prepared from, and to: an equal launch uses it again."""

    facts: tuple[object, ...]
    config: LaunchConfig
    prepared: PreparedLaunch | None = None


class LoadedKernel(Struct, eq=False):
    """A kernel that is ready for launches.

    ``threads`` counts those of its launches so far, ``followed_parts`` and ``compared_seconds`` the launches too large to follow
    all undefined bytes, and the time for further runs of them. ``reads_unwritten``: a launch has read memory with such bytes;
    ``writes_others``: it may write shared memory to which no argument points; ``checked_threads``: the most threads of a group of its launches;
    ``latest``: its last launch, if another one like it can use that.
    ``wrongly_accessed`` are arguments whose wrong access is reported: it is no longer checked, because each group with a fault is
    interpreted, which took 166 s for one launch of hashcat.
    """

    name: str
    module: Module
    info: KernelInfo
    sections: tuple[DataSection, ...]
    sources: dict[str, BodySource]
    compiled: Makings
    program: Program
    threads: int = 0
    followed_parts: int = 0
    compared_seconds: float = 0.0
    reads_unwritten: bool = False
    writes_others: bool = False
    wrongly_accessed: set[int] = field(default_factory=set)
    checked_threads: int = 0
    latest: KeptLaunch | None = None

    def element_of(self, index: int, size: int) -> str:
        """Return the element type of a buffer of ``size`` bytes, by the kernel's pointer; bytes if that does not fit."""
        element = cl_element(self.info.pointee_of(index))
        return element if element and size % element_bytes(element) == 0 else "uint8"


class Program(Struct, eq=False):
    """A built program: its folder, the facts of its kernels, and those that are loaded.

    ``source_name`` names its source in reports: the file that the host read it from, if there is such a file, else one of its folder.
    """

    number: int
    folder: Path
    request: BuildRequest
    source_name: str
    compiled: CompiledProgram | None = None
    digest: str = ""
    sections: tuple[DataSection, ...] | None = None  # whose variables keep their values from launch to launch
    infos: tuple[KernelInfo, ...] = ()
    loaded: dict[str, LoadedKernel] = field(default_factory=dict)


class Programs:
    """The programs of a session, by number."""

    def __init__(self, folder: Path, platform: Platform, ocloc: str | None) -> None:
        self._folder = folder
        self.platform = platform
        self._ocloc = ocloc
        self._known: dict[int, Program] = {}
        self._started = 0
        self._builds: dict[str, CompiledProgram] = {}
        self._lock = Lock()
        self._kept = open_for_user("exec-programs", (), _CACHE_BYTES)
        self._kernels = open_for_user("exec-kernels", _files_of_rooms())

    def compiler(self) -> str:
        """Return the path of the compiler. Raises MissingToolError with installation advice."""
        return find_ocloc(self._ocloc)

    def build(self, request: BuildRequest) -> ProgramBuild:
        """Build, compile or link a program; errors are in the result."""
        with self._lock:
            try:
                return self._build(request)
            except MissingToolError as error:
                return ProgramBuild(Verdict.NO_COMPILER, str(error))
            except UserError as error:
                return ProgramBuild(Verdict.BAD_OPTIONS, str(error))

    def kernel(self, number: int, index: int) -> LoadedKernel:
        """Return a kernel, loaded. Raises LaunchError and TextProblems if the simulator cannot read its text."""
        program = self._known[number]
        info = program.infos[index]
        with self._lock:
            if info.name not in program.loaded:
                program.loaded[info.name] = self._load(program, info)
            return program.loaded[info.name]

    def program(self, number: int) -> Program:
        """Return a program by its number."""
        return self._known[number]

    def _build(self, request: BuildRequest) -> ProgramBuild:
        if request.form is ProgramForm.BINARY:
            try:
                unpacked = msgspec.msgpack.decode(zlib.decompress(request.data[len(BINARY_HEAD) :]), type=_Container)
            except (ValueError, zlib.error):
                return ProgramBuild(Verdict.BAD_BINARY, "the binary is damaged")
            own = msgspec.structs.replace(
                request, form=ProgramForm(unpacked.form), data=unpacked.data, options=unpacked.options,
                step=Step(unpacked.step), headers=unpacked.headers,
            )  # fmt: skip
            return self._build(own)
        if request.step is Step.LINK and request.parts:  # none for a binary, whose source is that of the link
            parts = [self._known[number].request for number in request.parts]
            if len(parts) == 1 and parts[0].form is ProgramForm.SPIRV:
                request = msgspec.structs.replace(request, form=ProgramForm.SPIRV, data=parts[0].data)
            elif any(part.form is ProgramForm.SPIRV for part in parts):
                return ProgramBuild(Verdict.ERRORS, "SPIR-V is linked with nothing else by the simulator")
            else:
                request = _linked(request, parts)
        words = _words(request.options)
        is_library = request.step is Step.LINK and _LIBRARY in words
        if is_library:
            options = shlex.join(word for word in words if word not in (_LIBRARY, "-enable-link-options"))
            request = msgspec.structs.replace(request, step=Step.COMPILE, options=options)
        container = _Container(request.form.value, request.data, request.options, request.step.value, request.headers)
        self._started += 1
        own_name = f"program{self._started}.cl"
        source_name = _find_file(request) or own_name
        program = Program(self._started, self._folder / f"p{self._started}", request, source_name)
        program.folder.mkdir(mode=0o700)
        compiled = self._compile(program)
        if not compiled.zebin:
            return ProgramBuild(Verdict.ERRORS, compiled.log)
        self._known[program.number] = program
        packed = BINARY_HEAD + zlib.compress(msgspec.msgpack.encode(container), 1)
        if request.step is Step.COMPILE:
            return ProgramBuild(Verdict.BUILT, compiled.log, program.number, is_library=is_library, binary=packed)
        program.compiled = compiled
        _write_texts(program, compiled)
        program.infos = self._kept_or(f"{program.digest} infos", lambda: _uncached().read_infos(compiled))
        ragged = _RAGGED.search(request.options) is not None
        kernels = tuple(_facts_of(info, ragged=ragged) for info in program.infos)
        return ProgramBuild(
            Verdict.BUILT, compiled.log, program.number, is_executable=True, binary=packed, kernels=kernels
        )

    def _compile(self, program: Program) -> CompiledProgram:
        """Return the compiled program, from the cache if it is there."""
        request, tool = program.request, self.compiler()
        options = _with_absolute_folders(request.options, request.folder)
        if request.form is ProgramForm.SOURCE and b"#include" in request.data and request.folder:
            options += f' -I "{request.folder}"'  # as a driver compiles in the host's current folder
        about = Path(tool).stat()
        identity = (
            6, self.platform.name, tool, about.st_size, about.st_mtime_ns, request.form.value, request.step.value, options,
            request.headers, _files_of_includes(options, request.data),
        )  # fmt: skip
        digest = hashlib.sha256(msgspec.msgpack.encode(identity) + request.data).hexdigest()
        program.digest = digest
        compiled = self._builds.get(digest) or self._cached(digest)
        if compiled is None:
            device = device_for(self.platform.name)
            compiled = _uncached().compile_program(request, program.folder, program.source_name, options, tool, device)
            if compiled.zebin and self._kept is not None:
                self._kept.put(digest, zlib.compress(msgspec.msgpack.encode(compiled), 6))
                self._kept.flush()
        self._builds[digest] = compiled
        if request.form is ProgramForm.SOURCE and program.source_name == Path(program.source_name).name:
            (program.folder / program.source_name).write_bytes(request.data)
        for part in _PART_START.split(request.data)[1:]:
            name, _, text = part.partition(b"\n")
            (program.folder / f"part{name.decode()}".strip('"')).write_bytes(text)
        return compiled

    def _cached(self, digest: str) -> CompiledProgram | None:
        packed = _unpacked(self._kept, digest)
        with contextlib.suppress(ValueError):
            return msgspec.msgpack.decode(packed, type=CompiledProgram) if packed is not None else None
        return None

    def _load(self, program: Program, info: KernelInfo) -> LoadedKernel:
        """Return a kernel, ready for launches. Raises LaunchError and TextProblems if the simulator cannot read its text."""
        folder = program.folder
        key = f"{program.digest} {program.source_name} {info.name}"
        module, info, files = self._kept_or(key, lambda: _uncached().read_kernel(folder, info, self.platform))
        texts = {
            file: BodySource(str(folder / file), tuple(lines_of(decode_text((folder / file).read_bytes()))))
            for _, file in files
        }
        sources = {body: texts[file] for body, file in files}
        if program.sections is None:
            assert program.compiled is not None
            program.sections = kept_sections(tuple(DataSection(*fields) for fields in program.compiled.sections))
        return LoadedKernel(info.name, module, info, program.sections, sources, makings(), program)

    def _kept_or(self, key: str, make: Callable[[], Any]) -> Any:
        """Return a value of programs from the cache; make it, and store it, if it is not there."""
        if self._kernels is None:
            return make()
        packed = _unpacked(self._kernels, key)
        if packed is not None:
            with contextlib.suppress(ValueError):
                return unpack(packed)
        value = make()
        self._kernels.put(key, zlib.compress(pack(value), 1))
        self._kernels.flush()
        return value


def _unpacked(kept: Kept | None, key: str) -> bytes | None:
    """Return what a cache has under a key, without its compression; None if there is nothing, or nothing that is whole."""
    stored = kept.get(key) if kept is not None else None
    if isinstance(stored, str):
        with contextlib.suppress(ValueError, zlib.error):
            return zlib.decompress(base64.b64decode(stored))
    return None


def _uncached() -> ModuleType:
    from visa_lsp.app.exec import uncached  # takes longer to load than a small program runs

    return uncached


def _files_of_rooms() -> list[os.DirEntry[str]]:
    """Return the files of the package by which a kept kernel is no longer the one that its text gives."""
    package = Path(visa_lsp.__file__).parent
    entries = [entry for room in _READING_ROOMS for entry in os.scandir(package / room) if entry.name.endswith(".py")]
    return sorted(entries, key=lambda entry: entry.path)


def _find_file(request: BuildRequest) -> str:
    """Return the file below the current folder of the host that has exactly the source of a program; empty without one."""
    if request.form is not ProgramForm.SOURCE or not request.folder or not request.data.strip():
        return ""
    walk = itertools.islice(os.walk(request.folder), _MAX_SEARCHED_FOLDERS)
    for folder, folders, names in walk:
        if "program.zebin" in names:  # a capture, whose sources are copies
            continue
        depth = len(Path(folder).relative_to(request.folder).parts)
        folders[:] = sorted(name for name in folders if depth < _MAX_DEPTH and not name.startswith("."))
        for path in (Path(folder, name) for name in sorted(names) if name.endswith(_SOURCE_SUFFIXES)):
            with contextlib.suppress(OSError):
                if path.stat().st_size == len(request.data) and is_regular(path) and path.read_bytes() == request.data:
                    return str(path)
    return ""


def _write_texts(program: Program, compiled: CompiledProgram) -> None:
    """Write the texts into the folder of the program, under the name of its source, and the zebin."""
    name = program.source_name
    for kernel, _, text in compiled.texts:
        own = text.replace('FILE "input.cl"', f'FILE "{name}"')
        (program.folder / f"{file_name(kernel)}.visaasm").write_bytes(encode_text(own))
    (program.folder / "program.zebin").write_bytes(compiled.zebin)


def _linked(request: BuildRequest, parts: list[BuildRequest]) -> BuildRequest:
    """Return a request for one source made of several, each under the macros of its own options."""
    texts, options, headers = [], [request.options], dict[str, bytes]()
    for number, part in enumerate(parts, 1):
        macros = [word[2:].partition("=") for word in _words(part.options) if word.startswith("-D") and len(word) > 2]
        options += [word for word in _words(part.options) if not word.startswith("-D")]
        head = "".join(f"#define {name} {value or ('' if equals else '1')}\n" for name, equals, value in macros)
        foot = "".join(f"#undef {name.partition('(')[0]}\n" for name, _, _ in macros)
        data = _PART_START.sub(b'#line 1 "part%d.' % number, part.data)  # of a library
        texts.append(f'{head}#line 1 "part{number}.cl"\n'.encode() + data + f"\n{foot}".encode())
        headers.update(part.headers)
    return msgspec.structs.replace(
        request, form=ProgramForm.SOURCE, data=b"".join(texts), headers=tuple(headers.items()),
        options=shlex.join(dict.fromkeys(word for line in options for word in _words(line))),
    )  # fmt: skip


def _words(options: str) -> list[str]:
    """Return the words of build options, with the value of a separate ``-D`` or ``-I`` joined to it."""
    try:
        words = shlex.split(options)
    except ValueError:
        words = options.split()
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] in ("-D", "-I"):
            joined[-1] += word
        else:
            joined.append(word)
    return joined


def _with_absolute_folders(options: str, folder: str) -> str:
    """Return options whose folders of includes are absolute, because the compiler runs elsewhere."""
    if "-I" not in options:
        return options
    words = [
        f"-I {Path(folder, match[2])}" if (match := _INCLUDE.match(word)) else word.replace('"', '\\"')
        for word in _words(options)
    ]
    return " ".join(words)


def _files_of_includes(options: str, source: bytes) -> list[tuple[str, int, int]]:
    """Return name, size and date of the files below the folders of includes, by which a change is noticed.

    Files with other suffixes count only if the source names them, because programs write into their current folder.
    """
    files: list[tuple[str, int, int]] = []
    for folder in (word.strip('"') for word in re.findall(r'-I ("[^"]*"|\S+)', options)):
        for root, _, names in os.walk(folder):
            for name in names[: _MAX_LISTED_FILES - len(files)]:
                if not name.endswith(_INCLUDED_SUFFIXES) and os.fsencode(name) not in source:
                    continue
                with contextlib.suppress(OSError):
                    about = os.stat(f"{root}/{name}")  # noqa: PTH116 - quicker, for thousands of files
                    files.append((f"{root}/{name}", about.st_size, about.st_mtime_ns))
            if len(files) >= _MAX_LISTED_FILES:
                break
    return sorted(files)


def _facts_of(info: KernelInfo, *, ragged: bool) -> ProgramKernel:
    parameters = tuple(_parameter(info, index) for index in range(info.argument_count))
    required = info.env.required_work_group_size
    private = sum(buffer.size for buffer in info.thread_buffers if buffer.usage == "private_space")
    return ProgramKernel(
        info.name, parameters, info.env.simd_size, required, info.env.slm_size, private or info.env.private_size, ragged,
        " ".join(f"{key}({value})" for key, value in info.user_attributes),
    )  # fmt: skip


def _parameter(info: KernelInfo, index: int) -> KernelParameter:
    fact = next((a for a in info.arguments if a.index == index), None)
    entry = next((p for p in info.payload if p.arg_index == index and p.kind), None)
    type_name, _, size = (fact.type_name if fact is not None else "").partition(";")
    address = fact.address_qualifier if fact is not None else ""
    kind = entry.kind if entry is not None else ""
    if not kind:  # an argument that the program does not use has no entry
        pointed = _POINTER_KINDS.get(address, "value")
        kind = "image" if type_name.startswith("image") else "sampler" if type_name == "sampler_t" else pointed
    return KernelParameter(
        fact.name if fact is not None else "", kind, type_name, int(size) if kind == "value" and size.isdecimal() else 0,
        address, *((fact.access_qualifier, fact.type_qualifiers) if fact is not None else ("", "")),
    )  # fmt: skip
