"""The server of `exec`: takes the requests of the layer of each process of a program, and has ``app/exec`` do them.

A connection is a process; its arena, shared memory without a name, comes as a descriptor with the first message. Invariants:
only processes of the user are served; a connection that ends stops its launch; an answer is sent for each request.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import select
import socket
import struct
import threading
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final, Protocol, Self

import numpy as np

from visa_lsp.app.errors import UserError, printable
from visa_lsp.app.exec.launches import LaunchSettings, list_checks
from visa_lsp.app.exec.model import Allocation, BuildRequest, Enqueue, ProgramForm, Refusal, Step, Verdict
from visa_lsp.app.exec.order import Command, CommandKind, Region
from visa_lsp.app.exec.undefined import UNDEFINED_BYTES
from visa_lsp.app.exec.unordered import UnorderedCommands
from visa_lsp.app.launch.body_source import TextProblems
from visa_lsp.opencl.device import (
    ERRORS,
    argument_facts,
    device_facts,
    group_facts,
    kernel_facts,
    max_group_items,
    max_items,
    platform_facts,
)
from visa_lsp.opencl.layer_messages import Answer, Request, WireError, receive_request
from visa_lsp.sim.launch.config import (
    Arg,
    Array,
    BufferArg,
    ImageArg,
    LaunchError,
    LocalArg,
    NullArg,
    SamplerArg,
    ValueArg,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from visa_lsp.app.exec.captures import Captures
    from visa_lsp.app.exec.programs import Programs
    from visa_lsp.app.exec.report import ExecReport
    from visa_lsp.app.exec.unordered import Race
    from visa_lsp.isa.platforms import Platform

# CL_SUCCESS, CL_BUILD_PROGRAM_FAILURE and its likes, by the end of a build and what was wanted.
_FAILURES: Final = {Step.BUILD: -11, Step.COMPILE: -15, Step.LINK: -17}
_OTHER_FAILURES: Final = {Verdict.BAD_OPTIONS: -43, Verdict.NO_COMPILER: -3, Verdict.BAD_BINARY: -42}
_FOREIGN_BINARY: Final = "clCreateProgramWithBinary"
_COMPILED_OBJECT, _LIBRARY, _EXECUTABLE = 1, 2, 4  # cl_program_binary_type
_READ_ONLY, _WRITE_ONLY = 1 << 2, 1 << 1
_KINDS: Final = {"value": "v", "buffer": "b", "local": "l", "image": "i", "sampler": "s"}
_ADDRESSING: Final = {
    0x1130: "none", 0x1131: "clamp_to_edge", 0x1132: "clamp", 0x1133: "repeat", 0x1134: "mirrored_repeat",
}  # fmt: skip
_LINEAR: Final = 0x1141
_CHANNELS: Final = {0x10B0: 1, 0x10B2: 2, 0x10B5: 4, 0x10B6: 4}
_BGRA: Final = 0x10B6
_TEXELS: Final = {
    0x10D0: ("snorm8", "i1"), 0x10D1: ("snorm16", "i2"), 0x10D2: ("unorm8", "u1"), 0x10D3: ("unorm16", "u2"),
    0x10D7: ("sint8", "i1"), 0x10D8: ("sint16", "i2"), 0x10D9: ("sint32", "i4"), 0x10DA: ("uint8", "u1"),
    0x10DB: ("uint16", "u2"), 0x10DC: ("uint32", "u4"), 0x10DD: ("float16", "f2"), 0x10DE: ("float32", "f4"),
}  # fmt: skip
_PEER: Final = struct.Struct("3i")


class ProgressLine(Protocol):
    """A line on a terminal about work that takes long: words, which it shows with the time, until ``show`` replaces them."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def is_due(self) -> bool:
        """Return whether the line is to be replaced."""

    def show(self, words: str) -> None:
        """Replace the line."""


class HostGoneError(Exception):
    """The process that enqueued a launch has ended."""


class Server:
    """The server of one program and its children."""

    def __init__(
        self,
        programs: Programs,
        report: ExecReport,
        checks: str,
        say: Callable[[list[str]], None],
        captures: Captures | None = None,
        progress: Callable[[str], ProgressLine] | None = None,
    ) -> None:
        self.captures = captures
        self.progress = progress
        self.programs = programs
        self.report = report
        self.checks = checks
        self.say = say
        self.platform: Platform = programs.platform

    def accept(self, listener: socket.socket) -> None:
        """Serve connections to a socket, in threads."""
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        """Serve one process until its connection ends."""
        number = 0
        with connection:
            try:
                number, user, _ = _PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
                if user != os.geteuid():
                    return
                _, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
                if descriptors:
                    _Session(self, connection, number, descriptors[0]).run()
            except (ConnectionError, HostGoneError):
                return  # the process has ended
            except WireError as error:
                self.say([f"the connection to process {number} is closed: {error}"])
            except Exception as error:  # noqa: BLE001 - a mistake of ours is one line, and no kernel runs any more
                words = f"internal error: {type(error).__name__}: {error}"
                self.say(self.report.add_refusal(Refusal(f"the connection to process {number}", words)))


class _Session:
    """The requests of one process."""

    def __init__(self, server: Server, connection: socket.socket, process: int, arena: int) -> None:
        self._server = server
        self._connection = connection
        self._process = process
        self._memory = np.zeros(0, np.uint8)
        self._base = 0
        self._file = arena
        self._settings = LaunchSettings(
            server.platform,
            list_checks(server.checks),
            max_group_items(server.platform),
            self._look_after_host,
        )
        self._line: tuple[ProgressLine, str] | None = None
        self._numbers: dict[int, int] = {}  # of enqueues that have not run, by their command
        self._unordered = UnorderedCommands(self._settings)
        self._blue_first: dict[int, Array] = {}  # the texels of such images of a launch, by place
        self._binaries: list[Refusal] = []  # of which the program has built no other form yet

    def run(self) -> None:
        """Answer requests until the connection ends."""
        operations = {"H": self._greet, "B": self._build, "L": self._launch, "O": self._order, "R": self._refuse}
        while (request := receive_request(self._connection)) is not None:
            operation = operations.get(request.operation)
            if operation is None:
                raise WireError(f"unknown operation {request.operation!r}")
            self._connection.sendall(operation(request).packed())

    @contextlib.contextmanager
    def _showing(self, words: str) -> Iterator[None]:
        """Show a progress line about work, if a terminal is there."""
        if self._server.progress is None:
            yield
            return
        with self._server.progress(words) as line:
            self._line = line, words
            try:
                yield
            finally:
                self._line = None

    def _look_after_host(self, groups: int, completed: int, steps: int) -> None:
        """Raise HostGoneError if the process has ended, so that its launch ends; show how far the launch is."""
        if self._line is not None and self._line[0].is_due():
            self._line[0].show(f"{self._line[1]}: {completed} of {groups} groups, {steps} instructions")
        poll = select.poll()
        poll.register(self._connection, select.POLLRDHUP)
        if poll.poll(0):
            raise HostGoneError

    def _greet(self, request: Request) -> Answer:
        """Map the arena and describe the device."""
        self._base, size, words = request.numbers(3)
        if words != UNDEFINED_BYTES:
            raise WireError("the layer fills memory with another pattern")
        try:
            mapped = mmap.mmap(self._file, size, mmap.MAP_SHARED | getattr(mmap, "MAP_NORESERVE", 0x4000))
        finally:
            os.close(self._file)
        self._memory = np.frombuffer(mapped, np.uint8)
        self._unordered.base = self._memory.ctypes.data
        platform = self._server.platform
        follows = "uninitialised" in self._settings.checks.split(",")
        answer = Answer().number(max_group_items(platform), follows)
        return answer.facts(platform_facts(platform)).facts(device_facts(platform))

    def _refuse(self, request: Request) -> Answer:
        call, number, is_announced = request.text(), request.number(), bool(request.number())
        error = number - (1 << 64) if number >> 63 else number
        reason = f"{ERRORS.get(error, f'error {error}')}: {printable(request.text())}"
        refusal = Refusal(call, reason, is_announced)
        if call == _FOREIGN_BINARY:
            self._binaries.append(refusal)
        self._server.say(self._server.report.add_refusal(refusal))
        return Answer()

    def _build(self, request: Request) -> Answer:
        step, form = Step(request.letter()), ProgramForm(request.letter())
        data, options = request.data(), request.text()
        headers = tuple((request.text(), request.data()) for _ in range(request.number()))
        parts = request.numbers(request.number())
        folder = ""
        with contextlib.suppress(OSError):
            folder = str(Path(f"/proc/{self._process}/cwd").readlink())
        began = perf_counter()
        with self._showing("compiling a program"):
            build = self._server.programs.build(BuildRequest(form, step, data, options, headers, parts, folder))
        self._server.report.add_build(perf_counter() - began, is_program=build.is_executable)
        if build.is_executable and self._binaries and (refusal := self._binaries.pop()) not in self._binaries:
            self._server.report.excuse(refusal)
        status = _OTHER_FAILURES.get(build.verdict, 0 if build.verdict is Verdict.BUILT else _FAILURES[step])
        if build.verdict is Verdict.NO_COMPILER:
            self._server.say(self._server.report.add_refusal(Refusal("clBuildProgram", build.log)))
        answer = Answer().number(status, build.number)
        kind = _EXECUTABLE if build.is_executable else _LIBRARY if build.is_library else _COMPILED_OBJECT
        answer.number(kind if build.number else 0)
        answer.data(build.log).data(build.binary).number(len(build.kernels))
        for kernel in build.kernels:
            answer.data(kernel.name).facts(kernel_facts(kernel)).facts(group_facts(kernel, self._server.platform))
            answer.number(kernel.lanes, max_items(kernel, self._server.platform), *kernel.required, kernel.is_ragged)
            answer.number(len(kernel.parameters))
            for parameter in kernel.parameters:
                answer.number(ord(_KINDS[parameter.kind]), parameter.size).data(parameter.name)
                answer.facts(argument_facts(parameter))
        return answer

    def _launch(self, request: Request) -> Answer:
        """Run a launch; the answer has the output of its printf."""
        server = self._server
        number = 0
        self._blue_first = {}
        with contextlib.ExitStack() as ending:
            try:
                enqueue = self._enqueue(request)
                ending.enter_context(_red_first(list(self._blue_first.values())))
                number = self._numbers.pop(enqueue.command, 0) or server.report.begin()
                kernel = server.programs.kernel(enqueue.program, enqueue.kernel)
                captures = server.captures
                before = captures.save(number, kernel, enqueue) if captures is not None else None
                began = perf_counter()
                with self._showing(f"enqueue {number}: kernel {kernel.name}"):
                    result, races = self._unordered.run(number, kernel, enqueue)
            except (HostGoneError, WireError):
                raise
            except Exception as error:  # noqa: BLE001 - a mistake of ours must not end the program
                is_users = isinstance(error, LaunchError | TextProblems)
                what = str(error) if is_users else f"internal error: {type(error).__name__}: {error}"
                words = " ".join(f"enqueue {number}: {what}".split())
                server.say(server.report.add_refusal(Refusal("clEnqueueNDRangeKernel", words)))
                return Answer().data(b"")
            lines = server.report.add_run(number, kernel, enqueue, result, perf_counter() - began)
            if captures is not None and before is not None:
                try:
                    lines += captures.write(number, kernel, enqueue, before, result)
                except UserError as error:
                    lines.append(str(error))
        server.say(lines)
        self._say_races(races)
        return Answer().data(result.report.printed)

    def _order(self, request: Request) -> Answer:
        """Take the record of what orders commands."""
        unordered, order = self._unordered, self._unordered.order
        while not request.is_at_end:
            letter = request.letter()
            if letter == "e":
                order.name(*request.numbers(2))
            elif letter == "v":
                order.add_host_event(*request.numbers(2))
            elif letter == "x":
                unordered.drop(request.number())
            elif letter == "d":
                order.end([request.number()])
            elif letter == "f":
                order.end_queue(request.number())
            elif letter == "w":
                order.end_events(request.numbers(request.number()))
            elif letter == "s":
                order.set_status(request.number())
                self._say_races(unordered.join_copies())
            else:
                number, queue, is_ordered = request.numbers(3)
                call, waits = request.text(), request.numbers(request.number())
                regions = tuple(_region(*request.numbers(7)) for _ in range(request.number()))
                command = Command(CommandKind(letter), number, queue, bool(is_ordered), call, waits, regions)
                if command.kind is CommandKind.KERNEL:
                    self._numbers[number] = self._server.report.begin()
                self._say_races(unordered.add(command))
        return Answer()

    def _say_races(self, races: list[Race]) -> None:
        for launch, fault in races:
            assert launch.result is not None
            lines = self._server.report.add_faults(launch.number, launch.kernel, launch.enqueue, launch.result, [fault])
            self._server.say(lines)

    def _enqueue(self, request: Request) -> Enqueue:
        program, index, dimensions, *sizes = request.numbers(12)
        command = request.number()
        memory = [self._shared(request) for _ in range(request.number())]
        shared, numbers = tuple(part for part, _ in memory), {part[0]: number for part, number in memory}
        loaded = self._server.programs.program(program)
        allocations: dict[int, Allocation] = {}
        wholes: dict[int, Array] = {}
        args = tuple(
            self._argument(request, number, (shared, numbers), allocations, wholes)
            for number in range(loaded.infos[index].argument_count)
        )
        total, local, offset = sizes[:3], sizes[3:6], sizes[6:]
        return Enqueue(
            program, index, dimensions, (total[0], total[1], total[2]),
            (local[0], local[1], local[2]) if local[0] else None, (offset[0], offset[1], offset[2]),
            args, allocations, shared, numbers, command,
        )  # fmt: skip

    def _shared(self, request: Request) -> tuple[tuple[int, Array], int]:
        """Return address and bytes of shared memory, and the number of its allocation."""
        place, size, number = request.numbers(3)
        return (self._base + place, self._bytes(place, size)), number

    def _bytes(self, place: int, size: int) -> Array:
        if place + size > self._memory.size:
            raise WireError("memory outside of the arena")
        return self._memory[place : place + size]

    def _argument(
        self, request: Request, index: int, shared: tuple[tuple[tuple[int, Array], ...], dict[int, int]],
        allocations: dict[int, Allocation], wholes: dict[int, Array],
    ) -> Arg:  # fmt: skip
        kind = request.letter()
        if kind == "n":
            return NullArg()
        if kind == "v":
            return ValueArg(np.frombuffer(request.data(), np.uint8))
        if kind == "l":
            return LocalArg(request.number())
        if kind == "s":
            address, filtering, normalized = request.numbers(3)
            way = "linear" if filtering == _LINEAR else "nearest"
            return SamplerArg(_ADDRESSING.get(address, "none"), way, bool(normalized))
        if kind == "p":
            return _pointer(request.number(), index, *shared, allocations)
        number, place, size, origin, part, flags, is_alive = request.numbers(7)
        allocations[index] = Allocation(number, size, origin, part, not is_alive)
        access = "readonly" if flags & _READ_ONLY else "writeonly" if flags & _WRITE_ONLY else ""
        whole = wholes.setdefault(place, self._bytes(place, size))
        if not is_alive:
            whole, origin, part = np.zeros(0, np.uint8), 0, 0
        if kind == "b":
            return BufferArg(whole[origin : origin + part], access=access, in_place=True, whole=whole)
        _, width, height, depth, order, data_type = request.numbers(6)
        form, dtype = _TEXELS[data_type]
        texels = whole[origin : origin + part].view(dtype)
        words = "bgra" if order == _BGRA else ""
        if words:
            self._blue_first[place + origin] = texels.reshape(-1, 4)
        dims = width, height, depth
        return ImageArg(texels, form, _CHANNELS[order], dims, access=access, in_place=True, order=words)


@contextlib.contextmanager
def _red_first(images: list[Array]) -> Iterator[None]:
    """Exchange blue and red of texels with blue first for a launch, because the simulator's images have red first."""
    for texels in images:
        texels[:, [0, 2]] = texels[:, [2, 0]]
    try:
        yield
    finally:
        for texels in images:
            texels[:, [0, 2]] = texels[:, [2, 0]]


def _region(is_write: int, *numbers: int) -> Region:
    return Region(bool(is_write), *numbers)


def _pointer(
    address: int,
    index: int,
    shared: tuple[tuple[int, Array], ...],
    numbers: dict[int, int],
    allocations: dict[int, Allocation],
) -> Arg:
    """Return the buffer of a pointer to shared memory: from the pointer to the end of its allocation; else one of no bytes."""
    if not address:
        return NullArg()
    for base, array in shared:
        if base <= address < base + array.size:
            allocations[index] = Allocation(numbers[base], array.size, address - base, array.size - (address - base))
            return BufferArg(array[address - base :], in_place=True, whole=array)
    allocations[index] = Allocation(0, 0, 0, 0)
    return BufferArg(np.zeros(0, np.uint8), in_place=True)
