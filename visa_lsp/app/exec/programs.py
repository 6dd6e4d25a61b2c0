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
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

import msgspec

from visa_lsp.app.compile.build import BuildSource, build_source, with_lines
from visa_lsp.app.compile.outputs import file_name
from visa_lsp.app.errors import UserError, printable
from visa_lsp.app.exec.model import (
    BuildRequest,
    KernelParameter,
    ProgramBuild,
    ProgramForm,
    ProgramKernel,
    Step,
    Verdict,
)
from visa_lsp.app.external_tools import MissingToolError, settings_for, tool_for
from visa_lsp.app.inputs import STDIN
from visa_lsp.app.kernel_source import with_source
from visa_lsp.app.launch.linking import with_callees
from visa_lsp.app.launch.program import BodySource, link_variables, load_program
from visa_lsp.app.launch.runner import makings
from visa_lsp.companions import Beside
from visa_lsp.diagnostics import Severity
from visa_lsp.disk_cache import open_for_user
from visa_lsp.isa.platforms import Platform, device_for
from visa_lsp.program.elements import cl_element, element_bytes
from visa_lsp.safe_io import is_regular
from visa_lsp.sim.launch.config import DataSection
from visa_lsp.sim.launch.prepare import choose_kernel
from visa_lsp.text import encode_text
from visa_lsp.toolchain.find_tools import OCLOC
from visa_lsp.zeinfo.read_kernels import read

if TYPE_CHECKING:
    from visa_lsp.program.model import Module
    from visa_lsp.program.payload import KernelInfo
    from visa_lsp.sim.jit.code_cache import Makings
    from visa_lsp.zeinfo.zebin import Zebin

BINARY_HEAD: Final = b"visa-lsp program\n"
_CACHE_BYTES: Final = 48 << 20
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
_NOTHING: Final = "visa_lsp_nothing"  # a kernel for sources without one, which the compiler refuses
_INCLUDE: Final = re.compile(r"^(-I)\s*(.*)$")
_RAGGED: Final = re.compile(r"^(?!.*-cl-uniform-work-group-size).*-cl-std=CL[23]", re.DOTALL)
_UNRESOLVED: Final = re.compile(r"undefined reference|unresolved external", re.IGNORECASE)
_PART_START: Final = re.compile(rb'^#line 1 "part(?=[\d.]+\.cl"$)', re.MULTILINE)
# The path of a part of a linked program, in the compiler's folder.
_PART: Final = re.compile(r'"[^"]*/(part[\d.]+\.cl)"')
_POINTER_KINDS: Final = {"__local": "local", "__global": "buffer", "__constant": "buffer"}


class CompiledProgram(msgspec.Struct, frozen=True):
    """A compiled program for the cache: the zebin, and the texts of kernels and functions; or errors without both.

    ``ze_info`` and ``sections``, the fields of DataSection, are those of the zebin, because a reader of ELF files takes 50 ms to load.
    """

    zebin: bytes
    texts: tuple[tuple[str, bool, str], ...]  # name, is a kernel, text
    log: str
    ze_info: str = ""
    sections: tuple[tuple[str, bytes, str, dict[str, int], tuple[tuple[int, str, int], ...]], ...] = ()


class _Container(msgspec.Struct, frozen=True):
    """The bytes that a host gets as the program's binary."""

    form: str
    data: bytes
    options: str
    step: str
    headers: tuple[tuple[str, bytes], ...] = ()


@dataclass(slots=True, eq=False)
class LoadedKernel:
    """A kernel that is ready for launches.

    ``threads`` counts those of its launches so far, ``followed_parts`` and ``compared_seconds`` the launches too large to follow
    all undefined bytes, and the time for further runs of them; ``reads_unwritten`` if a launch has read memory with such bytes;
    ``is_checked`` after the first. ``wrongly_accessed`` are arguments whose wrong access is reported: it is no longer checked, because each group with a
    fault is interpreted, which took 166 s for one launch of hashcat.
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
    wrongly_accessed: set[int] = field(default_factory=set)
    is_checked: bool = False

    def element_of(self, index: int, size: int) -> str:
        """Return the element type of a buffer of ``size`` bytes, by the kernel's pointer; bytes if that does not fit."""
        element = cl_element(self.info.pointee_of(index))
        return element if element and size % element_bytes(element) == 0 else "uint8"


@dataclass(slots=True, eq=False)
class Program:
    """A built program: its folder, the facts of its kernels, and those that are loaded.

    ``source_name`` names its source in reports: the file that the host read it from, if there is such a file, else one of its folder.
    """

    number: int
    folder: Path
    request: BuildRequest
    source_name: str
    compiled: CompiledProgram | None = None
    infos: list[KernelInfo] = field(default_factory=list)
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

    def compiler(self) -> str:
        """Return the path of the compiler. Raises MissingToolError with installation advice."""
        return tool_for(OCLOC, self._ocloc, settings_for(STDIN))

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
                program.loaded[info.name] = _load_kernel(program, info, self.platform)
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
        names = {name for name, is_kernel, _ in compiled.texts if is_kernel}
        program.infos = [info for info in read(compiled.ze_info) if info.name in names and info.name != _NOTHING]
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
        compiled = self._builds.get(digest) or self._cached(digest)
        if compiled is None:
            compiled = _run_compiler(program, options, tool, device_for(self.platform.name))
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
        value = self._kept.get(digest) if self._kept is not None else None
        if not isinstance(value, str):
            return None
        try:
            packed = zlib.decompress(base64.b64decode(value))
            return msgspec.msgpack.decode(packed, type=CompiledProgram)
        except (ValueError, zlib.error):
            return None


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


def _run_compiler(program: Program, options: str, tool: str, device: str) -> CompiledProgram:
    """Compile the source in the folder of the program. Raises UserError if the compiler does not know an option."""
    request, data = program.request, program.request.data
    if request.form is ProgramForm.SOURCE and (b"kernel" not in data or request.step is Step.COMPILE):
        data += f"\nkernel void {_NOTHING}(void) {{}}\n".encode()
    path = program.folder / ("input.spv" if request.form is ProgramForm.SPIRV else "input.cl")
    path.write_bytes(data)
    for name, contents in request.headers:
        header = (program.folder / name).resolve()
        if not header.is_relative_to(program.folder.resolve()):
            raise UserError(f"the name of a header leads out of its folder: {printable(name)}")
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_bytes(contents)
    text = data.decode("utf-8", "surrogateescape") if path.suffix == ".cl" else ""
    words = with_lines(f"-cl-kernel-arg-info {options}".strip())
    build = build_source(BuildSource(str(path), data, text), device, words, tool)
    errors = [finding for finding in build.findings if finding.severity is Severity.ERROR]
    name = program.source_name if text else "program.spv"
    log = "".join(
        f"{name}:{f.place.line}:{f.place.column}: {f.severity.value}: {printable(f.message)}\n" for f in build.findings
    )
    if request.step is Step.COMPILE and errors and all(_UNRESOLVED.search(f.message) for f in errors):
        return CompiledProgram(b"-", (), "")
    if build.zebin is not None and request.step is not Step.COMPILE and (missing := _undefined_functions(build.zebin)):
        return CompiledProgram(b"", (), "".join(f"{name}: error: undefined reference to `{f}`\n" for f in missing))
    if build.program is None or build.zebin is None:
        return CompiledProgram(b"", (), log or "the compiler made no program\n")
    texts = tuple(
        (t.name, t.is_kernel, _PART.sub(r'"\1"', t.text.replace(f'FILE "{path}"', 'FILE "input.cl"')))
        for t in build.texts
    )
    from visa_lsp.app.launch.zebin import program_data

    ze_info, sections = program_data(build.program, path)
    parts = tuple((s.name, s.data, s.base, dict(s.symbols), s.pointers) for s in sections)
    return CompiledProgram(build.program, texts, log, ze_info, parts)


def _undefined_functions(zebin: Zebin) -> list[str]:
    """Return the functions that the program calls but does not have; names of the driver begin otherwise than those of sources."""
    defined = {symbol.name for symbol in zebin.symbols if symbol.section > 0}
    names = {one.symbol for one in zebin.relocations if one.section.startswith(".text")} - defined
    return sorted(name for name in names if name and not name.startswith(("INTEL_", "__")))


def _write_texts(program: Program, compiled: CompiledProgram) -> None:
    """Write the texts into the folder of the program, under the name of its source, and the zebin."""
    name = program.source_name
    for kernel, _, text in compiled.texts:
        own = text.replace('FILE "input.cl"', f'FILE "{name}"')
        (program.folder / f"{file_name(kernel)}.visaasm").write_bytes(encode_text(own))
    (program.folder / "program.zebin").write_bytes(compiled.zebin)


def _load_kernel(program: Program, info: KernelInfo, platform: Platform) -> LoadedKernel:
    assert program.compiled is not None
    path = program.folder / f"{file_name(info.name)}.visaasm"
    notes: list[str] = []
    module, sources = load_program(path.read_bytes(), path, platform, notes)
    module = link_variables(module)
    kernel = choose_kernel(module, info.name)
    module = with_callees(module, kernel, path, platform, Beside(), notes, sources)
    info = with_source(info, kernel, program.folder)
    sections = tuple(DataSection(*fields) for fields in program.compiled.sections)
    return LoadedKernel(info.name, module, info, sections, sources, makings(), program)


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
