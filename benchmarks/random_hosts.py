"""Random host programs in C for OpenCL, which print the bytes that their commands leave in memory.

Their kernels are those of ``random_kernels``. Commands are in three queues, one of them out of order; an event orders each
command after those that touch the same memory, so that what a program prints is determined.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from benchmarks.random_kernels import RandomKernel, random_kernel, random_source

if TYPE_CHECKING:
    from random import Random

HEAD = """#include "host.h"
#define EVENTS(...) sizeof((cl_event[]){__VA_ARGS__}) / sizeof(cl_event), (cl_event[]){__VA_ARGS__}

static cl_command_queue queues[3];
static const char *program_name;

/* Return memory with bytes that depend on a number. */
static unsigned char *bytes(size_t size, unsigned seed) {
  unsigned char *all = aligned_alloc(4096, (size + 4096) & ~(size_t)4095);
  for (size_t i = 0; i < size; i++) seed = seed * 1103515245 + 12345, all[i] = seed >> 16;
  return all;
}
static void show(const char *what, const void *data, size_t size) {
  unsigned long hash = 14695981039346656037u;
  for (size_t i = 0; i < size; i++) hash = (hash ^ ((unsigned char *)data)[i]) * 1099511628211u;
  printf("%s %s %zu bytes %016lx", program_name, what, size, hash);
  for (size_t i = 0; getenv("DUMP") && i < size; i++) printf(i % 4 ? "%02x" : " %02x", ((unsigned char *)data)[i]);
  printf("\\n");
}
static void show_buffer(const char *what, cl_mem m, size_t size) {
  unsigned char *data = bytes(size, 1);
  OK(clEnqueueReadBuffer(queues[0], m, CL_TRUE, 0, size, data, 0, NULL, NULL));
  show(what, data, size);
  free(data);
}
static cl_mem part(cl_mem m, size_t origin, size_t size) {
  cl_buffer_region region = {origin, size};
  cl_int e;
  cl_mem made = clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &e);
  OK(e);
  return made;
}
static cl_mem make(cl_mem_flags flags, size_t size, void *data) {
  cl_int e;
  cl_mem made = clCreateBuffer(context, flags, size, data, &e);
  OK(e);
  return made;
}
static cl_mem make_image(cl_mem_flags flags, cl_channel_order order, cl_channel_type type, size_t w, size_t h, size_t d, void *data) {
  cl_image_format format = {order, type};
  cl_image_desc shape = {.image_type = d ? CL_MEM_OBJECT_IMAGE3D : h ? CL_MEM_OBJECT_IMAGE2D : CL_MEM_OBJECT_IMAGE1D, .image_width = w, .image_height = h, .image_depth = d};
  cl_int e;
  cl_mem made = clCreateImage(context, flags, &format, &shape, data, &e);
  OK(e);
  return made;
}
static void set_sampler(cl_kernel k, int n, cl_addressing_mode mode) {
  cl_int e;
  cl_sampler s = clCreateSampler(context, CL_FALSE, mode, CL_FILTER_NEAREST, &e);
  OK(e), OK(clSetKernelArg(k, n, sizeof s, &s)); /* not released, because a kernel does not retain it */
}
static void *map(cl_command_queue q, cl_mem m, cl_map_flags flags, size_t at, size_t size, cl_uint n, const cl_event *w) {
  cl_int e;
  void *made = clEnqueueMapBuffer(q, m, CL_TRUE, flags, at, size, n, w, NULL, &e);
  OK(e);
  return made;
}
static void begin(const char *name) {
  cl_int e;
  program_name = name;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
  OK(e);
  for (int i = 0; i < 3; i++) queues[i] = clCreateCommandQueue(context, device, i == 1 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0, &e), OK(e);
}
static void end(void) {
  for (int i = 0; i < 3; i++) OK(clFinish(queues[i])), OK(clReleaseCommandQueue(queues[i]));
  OK(clReleaseContext(context));
}
"""
_ALIGNMENT = 128


_CHANNELS = {"CL_RGBA": 4}  # not CL_R, of which pocl 3.1 reads an alpha of 0, and not 1 as OpenCL has it
_TEXELS = {
    "uint": {"CL_UNSIGNED_INT8": 1, "CL_UNSIGNED_INT16": 2, "CL_UNSIGNED_INT32": 4},
    "int": {"CL_SIGNED_INT8": 1, "CL_SIGNED_INT16": 2, "CL_SIGNED_INT32": 4},
}


@dataclass
class _Buffer:
    """A buffer or a part of one; ``root`` is the whole. ``events`` are those of commands that touched it, with their queue."""

    name: str
    size: int
    root: _Buffer | None = None
    writers: list[tuple[int, int]] = field(default_factory=list)
    readers: list[tuple[int, int]] = field(default_factory=list)
    shape: tuple[int, ...] = ()  # of an image
    base: str = ""
    texel: int = 0

    @property
    def whole(self) -> _Buffer:
        return self.root or self


class RandomHost:
    """A random program, written command by command; ``text`` is a C function of its name."""

    def __init__(self, random: Random, name: str, commands: int = 14) -> None:
        self.random = random
        self.name = name
        self.lines: list[str] = []
        self.buffers: list[_Buffer] = []
        self.images: list[_Buffer] = []
        self.events = 0
        self.values = 0
        self.user_event: int | None = None
        self.kernels = [random_kernel(random, f"k{n}") for n in range(random.randrange(2, 5))]
        for _ in range(random.randrange(3, 6)):
            self._add_buffer()
        choices = (
            [self._launch] * 8 + [self._fill, self._copy, self._copy_rectangle, self._write, self._write_rectangle]
            + [self._map, self._show_part, self._add_part, self._add_part, self._synchronise, self._gate, self._image_command]
        )  # fmt: skip
        for _ in range(commands):
            random.choice(choices)()
        self._open_gate()
        self.lines += ["for (int i = 0; i < 3; i++) OK(clFinish(queues[i]));"]
        roots = [b for b in self.buffers if b.root is None]
        self.lines += [f'show_buffer("{b.name}", {b.name}, {b.size});' for b in roots]
        for image in self.images:
            self._show_image(image)
        self.lines += [f"OK(clReleaseMemObject({b.name}));" for b in (*reversed(self.buffers), *self.images)]

    @property
    def text(self) -> str:
        """The function in C."""
        source = random_source(self.kernels)
        quoted = "\n".join(
            '    "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"' for line in source.splitlines()
        )
        head = [
            f'begin("{self.name}");', f"static const char source[] =\n{quoted};", 'cl_program program = build(source, "");', "cl_int e;",
            *(f'cl_kernel {k.name} = clCreateKernel(program, "{k.name}", &e); OK(e);' for k in self.kernels),
            f"cl_event ev[{self.events + 1}];", "(void)ev;",
        ]  # fmt: skip
        tail = [
            f"for (int i = 0; i < {self.events}; i++) OK(clReleaseEvent(ev[i]));",
            *(f"OK(clReleaseKernel({k.name}));" for k in self.kernels), "OK(clReleaseProgram(program));", "end();",
        ]  # fmt: skip
        return (
            f"static void {self.name}(void) {{\n"
            + "".join(f"  {line}\n" for line in [*head, *self.lines, *tail])
            + "}\n"
        )

    def _seed(self) -> int:
        return self.random.getrandbits(30)

    def _pick(self, size: int = 0, apart: tuple[_Buffer, ...] = ()) -> _Buffer:
        """Return a buffer of at least ``size`` bytes that shares no bytes with others; a new one if there is none."""
        fitting = [b for b in self.buffers if b.size >= size and all(b.whole is not other.whole for other in apart)]
        return self.random.choice(fitting) if fitting else self._add_buffer(size)

    def _add_buffer(self, size: int = 0) -> _Buffer:
        random = self.random
        size = max(size, random.choice([256, 512, 1000, 1024, 2052, 4096, random.randrange(300, 3000)]))
        b = _Buffer(f"b{len(self.buffers)}", size)
        data = f"bytes({size}, {self._seed()})"
        flags = random.choice(
            [
                "CL_MEM_COPY_HOST_PTR",
                "CL_MEM_COPY_HOST_PTR",
                "CL_MEM_USE_HOST_PTR",
                "CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR",
                "0",
            ]
        )
        self.buffers.append(b)
        self.lines.append(f"cl_mem {b.name} = make({flags}, {size}, {data if flags != '0' else 'NULL'});")
        if flags == "0":
            self._write_range(b, 0, size)
        return b

    def _add_part(self) -> None:
        wholes = [b for b in self.buffers if b.root is None and b.size > 2 * _ALIGNMENT]
        whole = self.random.choice(wholes) if wholes else self._add_buffer(1024)
        origin = self.random.randrange(whole.size // _ALIGNMENT) * _ALIGNMENT
        size = self.random.randrange(1, whole.size - origin + 1)
        b = _Buffer(f"b{len(self.buffers)}", max(1, size // 8 * 8) if size >= 8 else size, whole)
        self.buffers.append(b)
        self.lines.append(f"cl_mem {b.name} = part({whole.name}, {origin}, {b.size});")

    def _waits(self, queue: int, reads: list[_Buffer], writes: list[_Buffer]) -> list[int]:
        """Return the events that a command has to wait for."""
        earlier = [pair for b in reads for pair in b.whole.writers]
        earlier += [pair for b in writes for pair in (*b.whole.writers, *b.whole.readers)]
        waits = {event for event, other in earlier if other != queue or queue == 1 or self.random.random() < 0.1}
        if self.user_event is not None and self.random.random() < 0.5:
            waits.add(self.user_event)
        return sorted(waits)

    def _event(self) -> int:
        self.events += 1
        return self.events - 1

    def _enqueue(self, call: str, queue: int, reads: list[_Buffer], writes: list[_Buffer]) -> None:
        """Write a command, whose call has ``{wait}`` and ``{event}``."""
        waits, event = self._waits(queue, reads, writes), self._event()
        for b in writes:
            b.whole.writers, b.whole.readers = [(event, queue)], []
        for b in reads:
            b.whole.readers.append((event, queue))
        listed = f"EVENTS({', '.join(f'ev[{n}]' for n in waits)})" if waits else "0, NULL"
        self.lines.append(f"OK({call.format(q=f'queues[{queue}]', wait=listed, event=f'&ev[{event}]')});")

    def _queue(self) -> int:
        return self.random.randrange(3)

    def _write_range(self, b: _Buffer, at: int, size: int) -> None:
        call = f"clEnqueueWriteBuffer({{q}}, {b.name}, CL_FALSE, {at}, {size}, bytes({size}, {self._seed()}), {{wait}}, {{event}})"
        self._enqueue(call, self._queue(), [], [b])

    def _range(self, b: _Buffer) -> tuple[int, int]:
        at = self.random.randrange(b.size)
        return at, self.random.randrange(1, b.size - at + 1)

    def _write(self) -> None:
        b = self._pick()
        self._write_range(b, *self._range(b))

    def _fill(self) -> None:
        b, size = self._pick(256), self.random.choice([1, 2, 4, 8, 16, 32, 64, 128])
        at = self.random.randrange(b.size // size)
        count = self.random.randrange(1, b.size // size - at + 1)
        self._enqueue(
            f"clEnqueueFillBuffer({{q}}, {b.name}, bytes({size}, {self._seed()}), {size}, {at * size}, {count * size}, {{wait}}, {{event}})",
            self._queue(), [], [b],
        )  # fmt: skip

    def _copy(self) -> None:
        a = self._pick()
        b = self._pick(1, (a,))
        size = self.random.randrange(1, min(a.size, b.size) + 1)
        at, to = self.random.randrange(a.size - size + 1), self.random.randrange(b.size - size + 1)
        self._enqueue(
            f"clEnqueueCopyBuffer({{q}}, {a.name}, {b.name}, {at}, {to}, {size}, {{wait}}, {{event}})",
            self._queue(),
            [a],
            [b],
        )

    def _rectangle(self, size: int) -> tuple[list[int], int, int, list[int]]:
        """Return the origin, pitches and region of a rectangle in ``size`` bytes: at most 4 bytes wide, 3 high and 2 deep, times 5."""
        random = self.random
        region = [random.randrange(1, 21), random.randrange(1, 4), random.randrange(1, 3)]
        row = 24
        slice_bytes = row * 4
        origin = [random.randrange(0, 24 - region[0] + 1), random.randrange(0, 5 - region[1]), 0]
        assert origin[0] + row * (origin[1] + region[1]) + slice_bytes * region[2] <= size
        return origin, row, slice_bytes, region

    def _copy_rectangle(self) -> None:
        a = self._pick(400)
        b = self._pick(400, (a,))
        from_origin, row, plane, region = self._rectangle(400)
        to_origin = [min(from_origin[0], 24 - region[0]), 4 - region[1], 0]
        numbers = ", ".join(f"(size_t[]){{{{{', '.join(map(str, n))}}}}}" for n in (from_origin, to_origin, region))
        self._enqueue(
            f"clEnqueueCopyBufferRect({{q}}, {a.name}, {b.name}, {numbers}, {row}, {plane}, {row}, {plane}, {{wait}}, {{event}})",
            self._queue(), [a], [b],
        )  # fmt: skip

    def _write_rectangle(self) -> None:
        b = self._pick(400)
        origin, row, plane, region = self._rectangle(400)
        numbers = ", ".join(f"(size_t[]){{{{{', '.join(map(str, n))}}}}}" for n in (origin, [0, 0, 0], region))
        self._enqueue(
            f"clEnqueueWriteBufferRect({{q}}, {b.name}, CL_FALSE, {numbers}, {row}, {plane}, 0, 0, bytes({prod(region)}, {self._seed()}), {{wait}}, {{event}})",
            self._queue(), [], [b],
        )  # fmt: skip

    def _map(self) -> None:
        """Map a range, change some of it, and unmap."""
        self._open_gate()
        b, queue = self._pick(), self._queue()
        at, size = self._range(b)
        waits = self._waits(queue, [], [b])
        listed = f"EVENTS({', '.join(f'ev[{n}]' for n in waits)})" if waits else "0, NULL"
        self.values += 1
        m = f"m{self.values}"
        if self.random.random() < 0.5:
            self.lines.append(
                f"unsigned char *{m} = map(queues[{queue}], {b.name}, CL_MAP_READ | CL_MAP_WRITE, {at}, {size}, {listed});"
            )
            self.lines.append(f'show("{m} of {b.name}", {m}, {size});')
            self.lines.append(f"for (size_t i = 0; i < {size}; i += {self.random.randrange(1, 9)}) {m}[i] += i;")
        else:
            self.lines.append(
                f"unsigned char *{m} = map(queues[{queue}], {b.name}, CL_MAP_WRITE_INVALIDATE_REGION, {at}, {size}, {listed});"
            )
            self.lines.append(f"memcpy({m}, bytes({size}, {self._seed()}), {size});")
        self._enqueue(f"clEnqueueUnmapMemObject({{q}}, {b.name}, {m}, {{wait}}, {{event}})", queue, [], [b])

    def _show_part(self) -> None:
        """Read a range or a rectangle without blocking, then wait for its event."""
        self._open_gate()
        b = self._pick(400)
        self.values += 1
        m = f"m{self.values}"
        if self.random.random() < 0.5:
            at, size = self._range(b)
            call = f"clEnqueueReadBuffer({{q}}, {b.name}, CL_FALSE, {at}, {size}, {m}, {{wait}}, {{event}})"
        else:
            origin, row, plane, region = self._rectangle(400)
            size = prod(region)
            numbers = ", ".join(f"(size_t[]){{{{{', '.join(map(str, n))}}}}}" for n in (origin, [0, 0, 0], region))
            call = f"clEnqueueReadBufferRect({{q}}, {b.name}, CL_FALSE, {numbers}, {row}, {plane}, 0, 0, {m}, {{wait}}, {{event}})"
        self.lines.append(f"unsigned char *{m} = bytes({size}, 1);")
        self._enqueue(call, self._queue(), [b], [])
        self.lines.append(f"OK(clWaitForEvents(1, &ev[{self.events - 1}]));")
        self.lines.append(f'show("{m} of {b.name}", {m}, {size});')

    def _synchronise(self) -> None:
        """Write a call that orders commands, or flushes them."""
        queue, event = self._queue(), None
        choice = self.random.randrange(4)
        if choice == 0:
            self._open_gate()
            self.lines.append(f"OK(clFinish(queues[{queue}]));")
        elif choice == 1:
            self.lines.append(f"OK(clFlush(queues[{queue}]));")
        else:
            name, event = ("Barrier", "Marker")[choice - 2], self._event()
            self.lines.append(f"OK(clEnqueue{name}WithWaitList(queues[{queue}], 0, NULL, &ev[{event}]));")

    def _gate(self) -> None:
        """Create a user event that later commands may wait for."""
        self._open_gate()
        self.user_event = self._event()
        self.lines.append(f"ev[{self.user_event}] = clCreateUserEvent(context, &e); OK(e);")

    def _open_gate(self) -> None:
        if self.user_event is not None:
            self.lines.append(f"OK(clSetUserEventStatus(ev[{self.user_event}], CL_COMPLETE));")
            self.user_event = None

    def _launch(self) -> None:
        k = self.random.choice(self.kernels)
        offset, size, local = self._sizes(k)
        reads: list[_Buffer] = []
        writes: list[_Buffer] = []
        for n, p in enumerate(k.parameters):
            if p.kind in ("in", "constant"):
                b = self._pick(p.type.size * p.elements, tuple(writes))
                reads.append(b)
                self.lines.append(f"set({k.name}, {n}, {b.name});")
            elif p.kind in ("out", "bins"):
                b = self._pick(p.type.size * 4, (*reads, *writes))
                writes.append(b)
                self.lines.append(f"set({k.name}, {n}, {b.name});")
            elif p.kind.startswith("image"):
                b = self._pick_image(p.type.base, p.elements, (*reads, *writes))
                (reads if p.kind == "image in" else writes).append(b)
                self.lines.append(f"set({k.name}, {n}, {b.name});")
            elif p.kind == "sampler":
                self.lines.append(
                    f"set_sampler({k.name}, {n}, {self.random.choice(['CL_ADDRESS_CLAMP', 'CL_ADDRESS_CLAMP_TO_EDGE'])});"
                )
            elif p.kind == "count":
                self.lines.append(f"set_number({k.name}, {n}, {writes[-1].size // k.parameters[n - 1].type.size});")
            elif p.kind == "local":
                self.lines.append(f"OK(clSetKernelArg({k.name}, {n}, {p.type.size * prod(local or [1])}, NULL));")
            else:
                self.lines.append(f"OK(clSetKernelArg({k.name}, {n}, {p.type.size}, bytes(64, {self._seed()})));")
        words = [f"(size_t[]){{{{{', '.join(map(str, n))}}}}}" if n else "NULL" for n in (offset, size, local)]
        self._enqueue(
            f"clEnqueueNDRangeKernel({{q}}, {k.name}, {len(size)}, {', '.join(words)}, {{wait}}, {{event}})",
            self._queue(),
            reads,
            writes,
        )

    def _pick_image(self, base: str = "", axes: int = 0, apart: tuple[_Buffer, ...] = ()) -> _Buffer:
        fitting = [i for i in self.images if i not in apart and base in ("", i.base) and axes in (0, len(i.shape))]
        if fitting and self.random.random() < 0.8:
            return self.random.choice(fitting)
        random = self.random
        base, axes = base or random.choice(list(_TEXELS)), axes or random.choice([1, 2, 3])
        shape = tuple(random.randrange(1, (60, 20, 8)[axes - 1]) for _ in range(axes))
        order, channel = random.choice(list(_CHANNELS)), random.choice(list(_TEXELS[base]))
        texel = _CHANNELS[order] * _TEXELS[base][channel]
        image = _Buffer(f"i{len(self.images)}", texel * prod(shape), None, [], [], shape, base, texel)
        self.images.append(image)
        dimensions = ", ".join(map(str, (*shape, 0, 0)[:3]))
        flags = random.choice(["CL_MEM_COPY_HOST_PTR", "CL_MEM_USE_HOST_PTR", "0"])
        data = "NULL" if flags == "0" else f"bytes({image.size}, {self._seed()})"
        self.lines.append(f"cl_mem {image.name} = make_image({flags}, {order}, {channel}, {dimensions}, {data});")
        if flags == "0":
            self._image_write(image)
        return image

    @staticmethod
    def _box(numbers: tuple[int, ...], rest: int) -> str:
        return f"(size_t[]){{{{{', '.join(map(str, (*numbers, rest, rest)[:3]))}}}}}"

    def _part_of(self, image: _Buffer) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        """Return origin, region and bytes of a part of an image."""
        origin = tuple(self.random.randrange(n) for n in image.shape)
        region = tuple(self.random.randrange(1, n - at + 1) for n, at in zip(image.shape, origin, strict=True))
        return origin, region, prod(region) * image.texel

    def _image_write(self, image: _Buffer) -> None:
        self._enqueue(
            f"clEnqueueWriteImage({{q}}, {image.name}, CL_FALSE, {self._box((0,), 0)}, {self._box(image.shape, 1)}, 0, 0, "
            f"bytes({image.size}, {self._seed()}), {{wait}}, {{event}})", self._queue(), [], [image],
        )  # fmt: skip

    def _show_image(self, image: _Buffer) -> None:
        self.values += 1
        self.lines += [
            f"unsigned char *m{self.values} = bytes({image.size}, 1);",
            f"OK(clEnqueueReadImage(queues[0], {image.name}, CL_TRUE, {self._box((0,), 0)}, {self._box(image.shape, 1)}, 0, 0, m{self.values}, 0, NULL, NULL));".replace(
                "{{", "{"
            ).replace("}}", "}"),
            f'show("{image.name}", m{self.values}, {image.size});',
        ]

    def _image_command(self) -> None:
        """Write, fill or copy a part of an image, or map it."""
        image = self._pick_image()
        origin, region, size = self._part_of(image)
        place, extent = self._box(origin, 0), self._box(region, 1)
        match self.random.randrange(6):
            case 0:
                self._image_write(image)
            case 1:
                values = ", ".join(str(self.random.randrange(128)) for _ in range(4))
                self._enqueue(
                    f"clEnqueueFillImage({{q}}, {image.name}, (cl_uint[]){{{{{values}}}}}, {place}, {extent}, {{wait}}, {{event}})",
                    self._queue(), [], [image],
                )  # fmt: skip
            case 2:
                b = self._pick(size)
                at = self.random.randrange((b.size - size) // 4 + 1) * 4
                self._enqueue(
                    f"clEnqueueCopyImageToBuffer({{q}}, {image.name}, {b.name}, {place}, {extent}, {at}, {{wait}}, {{event}})",
                    self._queue(), [image], [b],
                )  # fmt: skip
            case 3:
                b = self._pick(size)
                at = self.random.randrange((b.size - size) // 4 + 1) * 4
                self._enqueue(
                    f"clEnqueueCopyBufferToImage({{q}}, {b.name}, {image.name}, {at}, {place}, {extent}, {{wait}}, {{event}})",
                    self._queue(), [b], [image],
                )  # fmt: skip
            case 4:
                self._open_gate()
                queue = self._queue()
                waits = self._waits(queue, [], [image])
                listed = f"EVENTS({', '.join(f'ev[{n}]' for n in waits)})" if waits else "0, NULL"
                self.values += 1
                m = f"m{self.values}"
                flags = self.random.choice(["CL_MAP_READ | CL_MAP_WRITE", "CL_MAP_WRITE_INVALIDATE_REGION"])
                boxes = f"{place}, {extent}".replace("{{", "{").replace("}}", "}")
                self.lines += [
                    f"size_t row{m}, slice{m};",
                    f"unsigned char *{m} = clEnqueueMapImage(queues[{queue}], {image.name}, CL_TRUE, {flags}, {boxes}, &row{m}, &slice{m}, {listed}, NULL, &e); OK(e);",
                    f"for (size_t i = 0; i < {region[0] * image.texel}; i++) {m}[i] = {'i' if 'INVALIDATE' in flags else m + '[i] + i'};",
                ]
                if "INVALIDATE" in flags and len(region) > 1:  # the rest of the region would be undefined
                    self.lines.append(
                        f"for (size_t z = 0; z < {(*region, 1, 1)[2]}; z++) for (size_t y = 0; y < {region[1]}; y++) memset({m} + z * slice{m} + y * row{m}, 9, {region[0] * image.texel});"
                    )
                self._enqueue(
                    f"clEnqueueUnmapMemObject({{q}}, {image.name}, {m}, {{wait}}, {{event}})", queue, [], [image]
                )
            case _:
                self._show_part()

    def _sizes(self, k: RandomKernel) -> tuple[list[int] | None, list[int], list[int] | None]:
        random = self.random
        dimensions = random.choice([1, 1, 2, 3])
        offset = [random.randrange(40) for _ in range(dimensions)] if random.random() < 0.3 else None
        if k.is_single:
            return offset, [1] * dimensions, random.choice([None, [1] * dimensions])
        local = [
            [random.choice([1, 3, 8, 16, 32, 37, 64])],
            [random.choice([1, 4, 8, 5]), random.choice([1, 4, 3])],
            [4, 2, random.choice([1, 3])],
        ][dimensions - 1]
        groups = [random.randrange(1, 7 if dimensions == 1 else 4) for _ in range(dimensions)]
        if k.is_local or random.random() < 0.6:
            return offset, [a * b for a, b in zip(local, groups, strict=True)], local
        ragged = [
            [random.randrange(1, 400)],
            [random.randrange(1, 40), random.randrange(1, 12)],
            [random.randrange(1, 9) for _ in range(3)],
        ]
        return offset, ragged[dimensions - 1], None
