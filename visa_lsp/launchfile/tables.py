"""The table of all keys of a launch file, with type, default, description and example.

Validation, completion, hover, ``docs/launch.md`` and the JSON schema derive from it. No key changes its meaning.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from visa_lsp.isa.glossary import FAULTS, GROUPS
from visa_lsp.isa.platforms import DEFAULT_PLATFORM, PLATFORMS
from visa_lsp.launchfile.formulas import ARRAY_FUNCTIONS, FUNCTIONS, MAX_EXPRESSION_CHARS, MAX_EXPRESSION_DEPTH
from visa_lsp.program.elements import DTYPES, element_bytes, is_float
from visa_lsp.zeinfo.schema import SchemaKey, SchemaTable, SchemaWord

ROOT: Final = "LaunchFile"


def _words(**docs: str) -> tuple[SchemaWord, ...]:
    return tuple(SchemaWord(name, doc) for name, doc in docs.items())


def _dtype(name: str) -> SchemaWord:
    kind = "a float" if is_float(name) else "an unsigned number" if name.startswith("u") else "a signed number"
    return SchemaWord(name, f"{kind} of {element_bytes(name)} byte{'s' * (element_bytes(name) > 1)}")


_DTYPES: Final = tuple(_dtype(name) for name in DTYPES)
_PLATFORMS: Final = tuple(SchemaWord(p.name, p.doc) for p in PLATFORMS)
_MODES: Final = _words(
    gpgpu="thread groups of work items: `groups` and `local_size`",
    media="threads of a media walker, each with its place in a plane: `threads`",
)
_FAULTS: Final = tuple(SchemaWord(term.name, term.doc) for term in GROUPS[FAULTS])
_ACCESSES: Final = _words(
    readonly="a store is a fault",
    writeonly="a load is a fault",
    readwrite="loads and stores are allowed",
)
_INITS: Final = _words(
    zeros="every element is 0",
    ones="every element is 1",
    arange="0, 1, 2, ...",
    cycle="0, 1, ..., 15, repeated: values with duplicates, for kernels that count or sort",
    random="random elements with seed 0; `init: {random: SEED}` sets another seed",
    undefined="zeros that count as uninitialised: `--checks uninitialised` reports their use",
)
_ADDRESSES: Final = _words(
    none="coordinates outside of the image are undefined",
    clamp_to_edge="coordinates outside of the image read the nearest texel",
    clamp="coordinates outside of the image read the border colour, which is 0",
    repeat="the image is repeated; for normalized coordinates",
    mirrored_repeat="the image is repeated, every second copy mirrored; for normalized coordinates",
)
_ORDERS: Final = _words(bgra="blue, green, red, alpha")
_FILTERS: Final = _words(nearest="the texel at the coordinates", linear="the average of the surrounding texels")
# Texel formats of an element type, the default first.
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
    SchemaWord(
        name,
        f"of {dtype}: texels read as "
        + (
            "0.0 to 1.0" if name.startswith("unorm") else "-1.0 to 1.0" if name.startswith("snorm") else "what they are"
        ),
    )
    for dtype, names in TEXELS.items()
    for name in names
)

_DTYPE: Final = SchemaKey(
    "dtype", "word", "The type of each element. An `npy` file has its own.", "dtype: float32", words=_DTYPES
)
_SHAPE: Final = SchemaKey("shape", "axes", "The number of elements on each axis; the last axis is contiguous in memory.", "shape: [64, 4]", default="that of `values` or `npy`")  # fmt: skip
_CONTENTS: Final = (
    SchemaKey("init", "contents", "The elements before the run.", "init: arange", default="zeros", words=_INITS),
    SchemaKey("values", "numbers", "The elements themselves, instead of `init`.", "values: [1, 2, 3]"),
    SchemaKey("repeat", "numbers", "Elements that are repeated until the shape is full, instead of `init`.", "repeat: [0, 1, 7]"),
    SchemaKey("npy", "file", "A NumPy file with the elements, instead of `init`.", "npy: in.npy"),
    SchemaKey("random", "seed", "Random elements with this seed, instead of `init`: floats from 0 to 1, integers over the whole range of the type.", "random: 7"),
)  # fmt: skip
# Contents that are never undefined.
_DEFINED: Final = replace(_CONTENTS[0], words=tuple(word for word in _INITS if word.name != "undefined"))
_ACCESS: Final = SchemaKey("access", "word", "The accesses that the kernel may make; written inside the buffer or image, or beside it.", "access: readonly", default="the ze_info's `access_type`", words=_ACCESSES)  # fmt: skip

_LAUNCH: Final = SchemaTable(
    ROOT, what="a launch file", doc="The launch of a kernel and its expected results: `NAME.launch.yaml` beside `NAME.visaasm`.",
    keys=(
        SchemaKey("kernel", "text", "The name of the kernel to run.", "kernel: saxpy", default="the only kernel"),
        SchemaKey("file", "file", "The program: a text or an object.", "file: saxpy.visaasm", default="the sibling `NAME.visaasm`, else `NAME.isa`"),
        SchemaKey("files", "file[]", "Further texts and objects of the program: functions that the kernel calls.", "files: [helpers.visaasm]", default="none"),
        SchemaKey("ze_info", "file", "The description of the kernel's arguments: a ze_info document or a zebin.", "ze_info: saxpy.zeinfo.yaml", default="a document in the folder that describes the kernel, `NAME.zeinfo.yaml` first"),
        SchemaKey("zebin", "file", "A zebin: its ze_info, and the program's constant data, strings and symbols.", "zebin: saxpy.zebin", default="a zebin in the folder that describes the kernel"),
        SchemaKey("symbols", "Symbol{}", "The data of symbols whose address the program takes (`faddr`), by name, if there is no zebin.", "symbols: {TAB: {dtype: int32, values: [1, 2, 3]}}", default="none"),
        SchemaKey("memory", "Memory[]", "Memory at fixed addresses, such as shared virtual memory, to which arguments (`pointer`) and pointers in memory lead.", "memory: [{address: 0x10000, dtype: int32, shape: [64]}]", default="none"),
        SchemaKey("platform", "word", "The platform to simulate, or a device of it. The option `--platform` overrides it.", "platform: TGLLP", default=f"the zebin's, else {DEFAULT_PLATFORM}", words=_PLATFORMS),
        SchemaKey("groups", "sizes", "The number of thread groups on each axis. With `local_size: [256]`, `groups: [4]` are 1024 work items.", "groups: [4, 1, 1]"),
        SchemaKey("threads", "pair", "The number of threads that a media walker starts, instead of `groups`. Needs `mode: media`.", "threads: [8, 4]"),
        SchemaKey("mode", "word", "The dispatch of threads.", "mode: media", default="gpgpu", words=_MODES),
        SchemaKey("local_size", "sizes", "The number of work items of a group on each axis.", "local_size: [256, 1, 1]", default="the size that the kernel requires by its ze_info"),
        SchemaKey("global_size", "sizes", "The number of work items of the launch on each axis, instead of `groups`: the last group of an axis may be partly filled.", "global_size: [1000, 1, 1]"),
        SchemaKey("global_offset", "offsets", "The offset of the global ids, in work items.", "global_offset: [0, 8, 0]", default="[0, 0, 0]"),
        SchemaKey("work_dim", "dimensions", "The number of dimensions that the kernel sees (`get_work_dim`).", "work_dim: 2", default="2 for two numbers in `groups` or `global_size`, else the last axis with more than one work item"),
        SchemaKey("args", "arguments", "The arguments: a list in the order of the kernel's parameters, or a map from the names of ze_info or of the `.input` lines.", "args: [{buffer: {dtype: float32, shape: [64], init: ones}}, {value: 2.5}]", default="none"),
        SchemaKey("sweep", "Sweep", "The points that `run --sweep` runs: the product of its axes. Without `--sweep` the first point runs.", "sweep: {local_size: [[16, 1, 1], [256, 1, 1]], platform: [TGLLP, DG2]}", default="one point"),
        SchemaKey("expect", "Expectation[]", "The expected contents of buffers and images after the run. The first differences are reported.", "expect: [{arg: 0, values: [1, 2, 3], rtol: 1.0e-6}]", default="no comparison"),
        SchemaKey("expect_faults", "word[]", "The kinds of fault that the run must find. Such faults are reported as notes; a kind that is not found fails the run, unless `--checks` omits it.", "expect_faults: [data-race]", default="none", words=_FAULTS),
    ),
)  # fmt: skip
_ARGUMENT: Final = SchemaTable(
    "Argument", what="an argument", doc="One argument: exactly one of `buffer`, `pointer`, `value`, `values`, `local`, `image` and `sampler`.",
    keys=(
        SchemaKey("buffer", "Buffer?", "Memory whose address the kernel gets, or a surface. `null` passes no buffer: address 0, an unbound surface.", "buffer: {dtype: float32, shape: [64], init: ones}"),
        SchemaKey("pointer", "address", "An address in `memory`.", "pointer: 0x10000"),
        SchemaKey("value", "numbers", "A number passed by value, or a list for a vector.", "value: 2.5"),
        SchemaKey("values", "numbers", "A vector passed by value. A vector of three takes four numbers.", "values: [1, 2, 3, 4]"),
        SchemaKey("dtype", "word", "The type of `value` or `values`.", "dtype: float32", default="the parameter's", words=_DTYPES),
        SchemaKey("local", "bytes", "The number of bytes of shared local memory.", "local: 1024"),
        SchemaKey("image", "Image", "An image.", "image: {dtype: uint8, shape: [64, 64, 4], npy: in.npy}"),
        SchemaKey("sampler", "Sampler", "The sampler state: the mapping from coordinates to texels.", "sampler: {address: clamp_to_edge, filter: linear}"),
        _ACCESS,
    ),
)  # fmt: skip
_BUFFER: Final = SchemaTable(
    "Buffer", what="a buffer", doc="Memory with its initial contents, from one of `init`, `values`, `repeat`, `npy` and `random`.",
    keys=(
        _DTYPE, _SHAPE, *_CONTENTS,
        SchemaKey("unwritten", "ranges", "The bytes that count as uninitialised, each range from its first byte to that behind its last.", "unwritten: [[0, 64], [128, 256]]", default="none"),
        _ACCESS,
    ),
)  # fmt: skip
_IMAGE: Final = SchemaTable(
    "Image", what="an image", doc="An image with its initial contents. Its axes are depth or layer, height, width and channel; a last "
    "axis of 1, 2 or 4 after another one is the channel.",
    keys=(
        _DTYPE, _SHAPE, *_CONTENTS,
        SchemaKey("format", "word", "The format of a texel.", "format: uint8", default="normalized for 8 and 16 bits, else the numbers themselves", words=_FORMATS),
        SchemaKey("channels", "channels", "The number of channels of a texel.", "channels: 4", default="that of the shape"),
        SchemaKey("order", "word", "The order of channels that kernels can query. Texels in files are red first.", "order: bgra", default="that of the channels", words=_ORDERS),
        _ACCESS,
    ),
)  # fmt: skip
_SAMPLER: Final = SchemaTable(
    "Sampler", what="a sampler", doc="The sampler state: the mapping from coordinates to texels.",
    keys=(
        SchemaKey("address", "word", "The result of reads outside the image.", "address: clamp_to_edge", default="none", words=_ADDRESSES),
        SchemaKey("filter", "word", "The filter for reads.", "filter: linear", default="nearest", words=_FILTERS),
        SchemaKey("normalized", "bool", "Whether coordinates range from 0 to 1 over the image.", "normalized: true", default="false"),
    ),
)  # fmt: skip
_SYMBOL: Final = SchemaTable(
    "Symbol", what="a buffer", doc="The data of a symbol, from one of `init`, `values`, `repeat`, `npy` and `random`.",
    keys=(_DTYPE, _SHAPE, _DEFINED, *_CONTENTS[1:]),
)  # fmt: skip
_MEMORY: Final = SchemaTable(
    "Memory", what="memory", doc="Memory at an address, with its initial contents from one of `init`, `values`, `repeat`, `npy` and `random`.",
    keys=(SchemaKey("address", "address", "The address of the first byte.", "address: 0x10000"), *_SYMBOL.keys),
)  # fmt: skip
_INIT: Final = SchemaTable(
    "Init", what="init", doc="The initial contents: exactly one of these.",
    keys=tuple(key for key in _CONTENTS if key.name != "init"),
)  # fmt: skip
_EXPECTATION: Final = SchemaTable(
    "Expectation", what="an expectation", doc="The expected contents of a buffer or image: exactly one of `values`, `npy`, `expr` and "
    "`reference`. The comparison is exact unless a tolerance is given; an element passes if it meets one of them.",
    keys=(
        SchemaKey("arg", "argument", "The argument to compare: its index from 0 if `args` is a list, its name if it is a map. Optional with `expr` and `reference`.", "arg: 0"),
        SchemaKey("npy", "file", "A NumPy file with the expected elements.", "npy: out.npy"),
        SchemaKey("values", "numbers", "The expected elements.", "values: [1.0, 3.5, 6.0]"),
        SchemaKey(
            "expr", "expression", "The expected value as a NumPy expression: a comparison (`==`, `!=`, `<`, `<=`, `>`, `>=`) that "
            "holds for all elements, or with `arg` the value of that argument. Names are those of arguments (`arg0` is always "
            "argument 0), a name followed by `0` is the argument before the run, and the axes of the sweep. "
            "Axes are numbers: `reshape(x, 4, 16)`. Beside the operators of expressions in a sweep there are `@ & | ~ << >>`, indices and slices `x[1:]`, and functions: "
            + ", ".join(f"`{name}`" for name in ARRAY_FUNCTIONS) + ".",
            'expr: "y == 2.5 * x + y0"',
        ),
        SchemaKey("reference", "file", "A program that runs with the same arguments and gives the expected results: a text, an object, or OpenCL C (`.cl`), which pyopencl runs on this machine. Without `arg` all buffers and images that it changes are compared.", "reference: other.visaasm"),
        SchemaKey("dtype", "word", "The type of `values`.", "dtype: float32", default="the buffer's", words=_DTYPES),
        SchemaKey("rtol", "tolerance", "The relative tolerance, multiplied by the expected value; added to `atol`.", "rtol: 1.0e-6", default="0"),
        SchemaKey("atol", "tolerance", "The absolute tolerance.", "atol: 1.0e-6", default="0"),
        SchemaKey("ulp", "places", "The tolerance in units in the last place.", "ulp: 4", default="0"),
    ),
)  # fmt: skip
# The keys that may be axes: those with one plain value.
_AXES: Final = {
    "kernel": "kernel: [saxpy, saxpy_wide]",
    "file": "file: [old.visaasm, new.visaasm]",
    "platform": "platform: [TGLLP, DG2]",
    "groups": "groups: [1, [4, 2, 1]]",
    "local_size": "local_size: [[16, 1, 1], [256, 1, 1]]",
    "global_size": "global_size: [1, 1000, 65536]",
    "global_offset": "global_offset: [0, [0, 8, 0]]",
}
_SWEEP: Final = SchemaTable(
    "Sweep", what="a sweep", doc="The axes of a sweep, each with a list of values; there is a point for every combination, the last "
    "axis varying fastest. An axis named like a key replaces that key. Any other axis is a number "
    "that expressions may use: wherever a number is expected, a launch file with a sweep may have an expression of numbers, "
    "these names, `+ - * / // % **`, brackets and " + ", ".join(f"`{name}`" for name in FUNCTIONS) + ", such as "
    "`groups: [ceil(n / 256), 1, 1]`, `shape: [n]` or `{value: n}`; in a list `[...]` an expression with commas needs quotes. "
    f"An expression has at most {MAX_EXPRESSION_CHARS} characters, {MAX_EXPRESSION_DEPTH} levels, and numbers of at most 128 bits. "
    "An axis `seed` is also the seed of `init: random`.",
    keys=tuple(
        replace(row, type=f"{row.type}[]", example=_AXES[row.name], default="", doc=f"Values for `{row.name}`.")
        for row in _LAUNCH.keys if row.name in _AXES
    ),
    others="any other name: a list of numbers",
)  # fmt: skip

TABLES: Final = {
    table.name: table
    for table in (_LAUNCH, _ARGUMENT, _BUFFER, _IMAGE, _SAMPLER, _SYMBOL, _MEMORY, _INIT, _SWEEP, _EXPECTATION)
}
# Hints for unknown keys of other tools and languages.
GROUPS_AND_ITEMS: Final = (
    "groups counts thread groups and local_size the work items of one group, so that groups: [4, 1, 1] and "
    "local_size: [256, 1, 1] are 1024 work items; use global_size instead of groups if the last groups are not full"
)
EXPLAINED: Final = dict.fromkeys(
    ("global_work_size", "local_work_size", "global", "work_items", "items"), GROUPS_AND_ITEMS
)


def words_of(table: str, key: str) -> tuple[str, ...]:
    """Return the words of a key of a table."""
    row = TABLES[table].get(key)
    return tuple(word.name for word in row.words) if row is not None else ()
