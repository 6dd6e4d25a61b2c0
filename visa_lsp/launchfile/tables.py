"""Every key of a launch file, with type, default, prose and an example: the one table of the format.

Validation, completion, hover, ``docs/launch.md`` and the JSON schema are views of it. No key changes its meaning.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from visa_lsp.isa.glossary import FAULTS, GROUPS
from visa_lsp.isa.platforms import DEFAULT_PLATFORM, PLATFORMS
from visa_lsp.launchfile.formulas import ARRAY_FUNCTIONS, FUNCTIONS, MOST_CHARACTERS, MOST_DEPTH
from visa_lsp.launchfile.model import LaunchKey, LaunchTable, LaunchWord
from visa_lsp.program.elements import DTYPES, element_bytes, is_float

ROOT: Final = "LaunchFile"


def _words(**docs: str) -> tuple[LaunchWord, ...]:
    return tuple(LaunchWord(name, doc) for name, doc in docs.items())


def _dtype(name: str) -> LaunchWord:
    kind = "a float" if is_float(name) else "an unsigned number" if name.startswith("u") else "a signed number"
    return LaunchWord(name, f"{kind} of {element_bytes(name)} byte{'s' * (element_bytes(name) > 1)}")


_DTYPES: Final = tuple(_dtype(name) for name in DTYPES)
_PLATFORMS: Final = tuple(LaunchWord(p.name, p.doc) for p in PLATFORMS)
_MODES: Final = _words(
    gpgpu="thread groups of work items: `groups` and `local_size`",
    media="threads of a media walker, each with its place in a plane: `threads`",
)
_FAULTS: Final = tuple(LaunchWord(term.name, term.doc) for term in GROUPS[FAULTS])
_ACCESSES: Final = _words(
    readonly="a store is a fault",
    writeonly="a load is a fault",
    readwrite="loads and stores are allowed",
)
_INITS: Final = _words(
    zeros="every element is 0",
    ones="every element is 1",
    arange="0, 1, 2, ...",
    cycle="0, 1, ..., 15, and again: values that repeat, for what counts or sorts them",
    random="random elements of the seed 0; `init: {random: SEED}` for another one",
    undefined="zeros that a kernel may not count on: `--checks uninitialised` follows them",
)
_ADDRESSES: Final = _words(
    none="coordinates outside are not defined",
    clamp_to_edge="coordinates outside read the nearest texel",
    clamp="coordinates outside read the border, which is 0",
    repeat="the image is repeated; for normalized coordinates",
    mirrored_repeat="the image is repeated, every other time mirrored; for normalized coordinates",
)
_FILTERS: Final = _words(nearest="the texel at the coordinates", linear="the average of the texels around")
# How texels of an element type read, the usual way first.
TEXELS: Final = {
    "uint8": ("unorm8", "uint8"),
    "int8": ("snorm8", "sint8"),
    "uint16": ("unorm16", "uint16"),
    "int16": ("snorm16", "sint16"),
    "uint32": ("uint32",),
    "int32": ("sint32",),
    "float16": ("float16",),
    "float32": ("float32",),
}
_FORMATS: Final = tuple(
    LaunchWord(
        name,
        f"of {dtype}: texels read as "
        + (
            "0.0 to 1.0" if name.startswith("unorm") else "-1.0 to 1.0" if name.startswith("snorm") else "what they are"
        ),
    )
    for dtype, names in TEXELS.items()
    for name in names
)

_DTYPE: Final = LaunchKey(
    "dtype", "word", "The type of each element. An `npy` file tells its own.", "dtype: float32", words=_DTYPES
)
_SHAPE: Final = LaunchKey(
    "shape", "axes", "How many elements there are on each axis, the last one running fastest.", "shape: [64, 4]",
    default="that of `values` or `npy`",
)  # fmt: skip
_CONTENTS: Final = (
    LaunchKey(
        "init", "contents", "What the elements hold before the run.", "init: arange", default="zeros", words=_INITS
    ),
    LaunchKey(
        "values", "numbers", "The elements themselves, in the place of `init`.", "values: [1, 2, 3]"
    ),
    LaunchKey("npy", "file", "A NumPy file with the elements, in the place of `init`.", "npy: in.npy"),
    LaunchKey(
        "random", "seed",
        "Random elements of this seed, in the place of `init`: floats from 0 to 1, integers over the whole range of the type.",
        "random: 7",
    ),
)  # fmt: skip
# The contents of what is always there: nothing of it is undefined.
_DEFINED: Final = replace(_CONTENTS[0], words=tuple(word for word in _INITS if word.name != "undefined"))
_ACCESS: Final = LaunchKey(
    "access", "word", "What the kernel may do with the memory; it may stand inside of the buffer or image, or beside it.",
    "access: readonly", default="the ze_info's `access_type`", words=_ACCESSES,
)  # fmt: skip

_LAUNCH: Final = LaunchTable(
    ROOT, "a launch file", "How a kernel is run and what is expected of it: `NAME.launch.yaml` beside `NAME.visaasm`.",
    (
        LaunchKey("kernel", "text", "The name of the kernel that is run.", "kernel: saxpy", default="the only kernel"),
        LaunchKey(
            "file", "file", "The program: a text or an object.", "file: saxpy.visaasm",
            default="the sibling `NAME.visaasm`, else `NAME.isa`",
        ),
        LaunchKey(
            "files", "file[]", "Further texts and objects of the program: functions that the kernel calls.",
            "files: [helpers.visaasm]", default="none",
        ),
        LaunchKey(
            "ze_info", "file", "What the compiler says of the kernel's arguments: a ze_info document, or a zebin.",
            "ze_info: saxpy.zeinfo.yaml", default="that of the folder which speaks of the kernel, `NAME.zeinfo.yaml` first",
        ),
        LaunchKey(
            "zebin", "file", "A zebin: its ze_info, and the program's constant data, strings and symbols.",
            "zebin: saxpy.zebin", default="that of the folder which speaks of the kernel",
        ),
        LaunchKey(
            "symbols", "Symbol{}", "What the symbols point to that the program takes the address of (`faddr`), by name, "
            "where there is no zebin.", "symbols: {TAB: {dtype: int32, values: [1, 2, 3]}}", default="none",
        ),
        LaunchKey(
            "platform", "word", "The platform that is simulated, or a device of it. The option `--platform` goes first.",
            "platform: TGLLP", default=f"the zebin's, else {DEFAULT_PLATFORM}", words=_PLATFORMS,
        ),
        LaunchKey(
            "groups", "sizes", "How many thread groups are run, on each axis. With `local_size: [256]`, `groups: [4]` are "
            "1024 work items.", "groups: [4, 1, 1]",
        ),
        LaunchKey(
            "threads", "pair", "How many threads a media walker starts, in the place of `groups`. It needs `mode: media`.",
            "threads: [8, 4]",
        ),
        LaunchKey("mode", "word", "How threads are dispatched.", "mode: media", default="gpgpu", words=_MODES),
        LaunchKey(
            "local_size", "sizes", "How many work items a group has, on each axis.", "local_size: [256, 1, 1]",
            default="what the ze_info says that the kernel requires",
        ),
        LaunchKey(
            "global_size", "sizes", "How many work items the launch has, on each axis, in the place of `groups`: the last "
            "group of an axis is filled in part.", "global_size: [1000, 1, 1]",
        ),
        LaunchKey(
            "global_offset", "offsets", "What is added to the global ids, in work items.", "global_offset: [0, 8, 0]",
            default="[0, 0, 0]",
        ),
        LaunchKey(
            "args", "arguments", "The arguments: a list in the order of the kernel's parameters, or a map from the names of "
            "ze_info or of the `.input` lines.", "args: [{buffer: {dtype: float32, shape: [64], init: ones}}, {value: 2.5}]",
            default="none",
        ),
        LaunchKey(
            "sweep", "Sweep", "The points that `run --sweep` runs: the product of its axes. A run without `--sweep` is of the first.",
            "sweep: {local_size: [[16, 1, 1], [256, 1, 1]], platform: [TGLLP, DG2]}", default="one point",
        ),
        LaunchKey(
            "expect", "Expectation[]", "What buffers and images hold after the run. The first differences are reported.",
            "expect: [{arg: 0, values: [1, 2, 3], rtol: 1.0e-6}]", default="nothing is compared",
        ),
        LaunchKey(
            "expect_faults", "word[]", "The kinds of fault that the run has to find. They are notes then, and fail nothing; a kind "
            "that is not found fails the run, unless `--checks` leaves it out.", "expect_faults: [data-race]", default="none",
            words=_FAULTS,
        ),
    ),
)  # fmt: skip
_ARGUMENT: Final = LaunchTable(
    "Argument", "an argument", "One argument: exactly one of `buffer`, `value`, `values`, `local`, `image` and `sampler`.",
    (
        LaunchKey(
            "buffer", "Buffer?", "Memory that the kernel gets the address of, or a surface. `null` is an argument without a "
            "buffer: address 0, nothing bound.", "buffer: {dtype: float32, shape: [64], init: ones}",
        ),
        LaunchKey("value", "numbers", "A number passed by value, or a list for a vector.", "value: 2.5"),
        LaunchKey("values", "numbers", "A vector by value. One of three has four numbers.", "values: [1, 2, 3, 4]"),
        LaunchKey(
            "dtype", "word", "The type of `value` or `values`.", "dtype: float32", default="the parameter's", words=_DTYPES
        ),
        LaunchKey("local", "bytes", "So many bytes of shared local memory.", "local: 1024"),
        LaunchKey("image", "Image", "An image.", "image: {dtype: uint8, shape: [64, 64, 4], npy: in.npy}"),
        LaunchKey(
            "sampler", "Sampler", "How coordinates become texels.", "sampler: {address: clamp_to_edge, filter: linear}"
        ),
        _ACCESS,
    ),
)  # fmt: skip
_BUFFER: Final = LaunchTable(
    "Buffer", "a buffer", "Memory with its first contents, which come from one of `init`, `values`, `npy` and `random`.",
    (_DTYPE, _SHAPE, *_CONTENTS, _ACCESS),
)  # fmt: skip
_IMAGE: Final = LaunchTable(
    "Image", "an image", "An image with its first contents. Its axes are depth or layer, height, width and channel; a last "
    "axis of 1, 2 or 4 behind another one is the channel.",
    (
        _DTYPE, _SHAPE, *_CONTENTS,
        LaunchKey(
            "format", "word", "How the bits of a texel are read and written.", "format: uint8",
            default="normalized for 8 and 16 bits, else the numbers themselves", words=_FORMATS,
        ),
        LaunchKey("channels", "channels", "How many channels a texel has.", "channels: 4", default="told by the shape"),
        _ACCESS,
    ),
)  # fmt: skip
_SAMPLER: Final = LaunchTable(
    "Sampler", "a sampler", "How coordinates become texels.",
    (
        LaunchKey(
            "address", "word", "What coordinates outside of the image read.", "address: clamp_to_edge", default="none",
            words=_ADDRESSES,
        ),
        LaunchKey("filter", "word", "Which texels are read.", "filter: linear", default="nearest", words=_FILTERS),
        LaunchKey(
            "normalized", "flag", "Whether coordinates go from 0 to 1 over the image.", "normalized: true", default="false"
        ),
    ),
)  # fmt: skip
_SYMBOL: Final = LaunchTable(
    "Symbol", "a buffer", "The data of a symbol, from one of `init`, `values`, `npy` and `random`.",
    (_DTYPE, _SHAPE, _DEFINED, *_CONTENTS[1:]),
)  # fmt: skip
_INIT: Final = LaunchTable(
    "Init", "init", "Contents that one word does not tell: exactly one of these.",
    tuple(key for key in _CONTENTS if key.name != "init"),
)  # fmt: skip
_EXPECTATION: Final = LaunchTable(
    "Expectation", "an expectation", "What a buffer or image holds after the run: exactly one of `values`, `npy`, `expr` and "
    "`reference`. Exact where no tolerance is given; an element is right where one of them is kept.",
    (
        LaunchKey(
            "arg", "argument", "Which argument is compared: its place from 0 where `args` is a list, its name where it is a map. "
            "`expr` and `reference` do without.", "arg: 0",
        ),
        LaunchKey("npy", "file", "A NumPy file with what is expected.", "npy: out.npy"),
        LaunchKey("values", "numbers", "What is expected.", "values: [1.0, 3.5, 6.0]"),
        LaunchKey(
            "expr", "expression", "What is expected, as NumPy computes it: a comparison (`==`, `!=`, `<`, `<=`, `>`, `>=`) that "
            "holds for all elements, or with `arg` the value of that argument. Names are those of arguments (`arg0` is argument "
            "0 however it is called), a name with a `0` behind it what the argument held before the run, and axes of the sweep. "
            "Axes are numbers: `reshape(x, 4, 16)`. Beside the operators of a sweep's expressions there are `@ & | ~ << >>`, places and slices `x[1:]`, and functions: "
            + ", ".join(f"`{name}`" for name in ARRAY_FUNCTIONS) + ".",
            'expr: "y == 2.5 * x + y0"',
        ),
        LaunchKey(
            "reference", "file", "A program that is run with the same arguments, and whose results are expected: a text, an object, "
            "or OpenCL C (`.cl`), which pyopencl runs on this machine. Without `arg` all buffers and images that it changes.",
            "reference: other.visaasm",
        ),
        LaunchKey(
            "dtype", "word", "The type of `values`.", "dtype: float32", default="the buffer's", words=_DTYPES
        ),
        LaunchKey("rtol", "tolerance", "How far a value may be off, relative to the expected one; with `atol` the two add up.", "rtol: 1.0e-6", default="0"),
        LaunchKey("atol", "tolerance", "How far a value may be off.", "atol: 1.0e-6", default="0"),
        LaunchKey("ulp", "places", "How many neighbouring floats a value may be off.", "ulp: 4", default="0"),
    ),
)  # fmt: skip
# The keys of a launch file that may be axes: those with one plain value.
_AXES: Final = {
    "kernel": "kernel: [saxpy, saxpy_wide]",
    "file": "file: [old.visaasm, new.visaasm]",
    "platform": "platform: [TGLLP, DG2]",
    "groups": "groups: [1, [4, 2, 1]]",
    "local_size": "local_size: [[16, 1, 1], [256, 1, 1]]",
    "global_size": "global_size: [1, 1000, 65536]",
    "global_offset": "global_offset: [0, [0, 8, 0]]",
}
_SWEEP: Final = LaunchTable(
    "Sweep", "a sweep", "The axes of a sweep, each with a list of values; there is a point for every combination, that of the "
    "last axis running fastest. An axis that is called as a key takes the place of that key. Any other name is a number "
    "that expressions may use: wherever a number is expected, a launch file with a sweep may have an expression of numbers, "
    "these names, `+ - * / // % **`, brackets and " + ", ".join(f"`{name}`" for name in FUNCTIONS) + ", such as "
    "`groups: [ceil(n / 256), 1, 1]`, `shape: [n]` or `{value: n}`; in a list `[...]` one with commas needs quotes. "
    f"It is at most {MOST_CHARACTERS} characters long, {MOST_DEPTH} deep, and its numbers have at most 128 bits. "
    "An axis `seed` is also the seed of `init: random`.",
    tuple(
        replace(row, type=f"{row.type}[]", example=_AXES[row.name], default="", doc=f"Values for `{row.name}`.")
        for row in _LAUNCH.keys if row.name in _AXES
    ),
    others="a name of your own: a list of numbers",
)  # fmt: skip

TABLES: Final = {
    table.name: table for table in (_LAUNCH, _ARGUMENT, _BUFFER, _IMAGE, _SAMPLER, _SYMBOL, _INIT, _SWEEP, _EXPECTATION)
}
# Keys of other tools and languages that mean something here: what is said besides that they are unknown.
GROUPS_AND_ITEMS: Final = (
    "groups counts thread groups and local_size the work items of one group, so that groups: [4, 1, 1] and "
    "local_size: [256, 1, 1] are 1024 work items; global_size stands instead of groups where the last groups are not full"
)
EXPLAINED: Final = dict.fromkeys(
    ("global_work_size", "local_work_size", "global", "work_items", "items"), GROUPS_AND_ITEMS
)


def words_of(table: str, key: str) -> tuple[str, ...]:
    """Return the words that a key of a table takes."""
    row = TABLES[table].get(key)
    return tuple(word.name for word in row.words) if row is not None else ()
