"""The rules about launch files: V800 of one and the files that it names, V810 of it and its kernel, V820 of its sweep.

Each rule's page is what ``explain`` and hover print. Codes are never used twice.
"""

from __future__ import annotations

from typing import Final

from visa_lsp.diagnostics import Rule, Severity


def _rule(
    code: str, name: str, what: str, why: str, example: str, instead: str, severity: Severity = Severity.ERROR
) -> Rule:
    example, instead = (text.replace("\n", "\n    ") for text in (example, instead))
    page = (
        f"{what}\n\nWhy: {why}\n\nExample:\n\n    {example}\n\nInstead:\n\n    {instead}\n\n"
        "Authority: the table of keys that all readers of launch files share (docs/launch.md).\n"
    )
    return Rule(code, name, severity, page)


SYNTAX: Final = _rule(
    "V800", "launch-syntax",
    "The text is not YAML that can be read: a bracket that stays open, a tab, a key given twice, or too many entries.",
    "nothing of the file can be known. Long arrays belong into .npy files, which are read at once.",
    "groups: [4, 1", "groups: [4, 1, 1]",
)  # fmt: skip
UNKNOWN_KEY: Final = _rule(
    "V801", "launch-unknown-key", "A key is not known here: misspelt, or one that belongs elsewhere.",
    "a launch file says all that a run depends on, so that a key without effect is a mistake.",
    "groups: [4]\nlocal-size: [16]", "groups: [4]\nlocal_size: [16]",
)  # fmt: skip
MISSING_KEY: Final = _rule(
    "V802", "launch-missing-key", "A key is missing that the launch cannot do without.",
    "it has no default: how many groups are run, of which type and how long a buffer is.",
    "groups: [1]\nargs: [{buffer: {shape: [64]}}]", "groups: [1]\nargs: [{buffer: {dtype: float32, shape: [64]}}]",
)  # fmt: skip
WRONG_TYPE: Final = _rule(
    "V803", "launch-wrong-type", "A value is not of the type that its key takes.",
    "each key takes a number, a word, a list or a map, and nothing else; quotes make a text of a number.",
    "groups: four", "groups: [4]",
)  # fmt: skip
WRONG_WORD: Final = _rule(
    "V804", "launch-wrong-word", "A value is not one of the words that its key takes.",
    "platforms, element types, first contents, accesses, formats and the states of a sampler have fixed names.",
    "groups: [1]\nargs: [{buffer: {dtype: flaot32, shape: [64]}}]",
    "groups: [1]\nargs: [{buffer: {dtype: float32, shape: [64]}}]",
)  # fmt: skip
RANGE: Final = _rule(
    "V805", "launch-range", "A number is outside of what its key allows, or does not fit its element type.",
    "counts begin at 1, elements have a fixed number of bits, and the memory of a run is bounded.",
    "groups: [0]", "groups: [1]",
)  # fmt: skip
CONFLICT: Final = _rule(
    "V806", "launch-conflict", "Keys exclude each other, or one needs another that is not there.",
    "a launch has either groups or threads, a buffer one source of its contents, an argument one kind.",
    "groups: [1]\nargs: [{value: 1, local: 64}]", "groups: [1]\nargs: [{value: 1}, {local: 64}]",
)  # fmt: skip
SHAPE: Final = _rule(
    "V807", "launch-shape", "Shape, elements, channels and type of an array do not fit each other, or it is too large.",
    "an array has as many elements as its shape says, rows of one length, and at most 1 GiB.",
    "groups: [1]\nargs: [{buffer: {dtype: int32, values: [1, 2, 3], shape: [4]}}]",
    "groups: [1]\nargs: [{buffer: {dtype: int32, values: [1, 2, 3, 4], shape: [4]}}]",
)  # fmt: skip
NO_FILE: Final = _rule(
    "V808", "launch-no-file", "A file that the launch names is not there, or is no regular file.",
    "names are relative to the folder of the launch file.", "groups: [1]\nfile: nowhere.visaasm", "groups: [1]",
)  # fmt: skip
ARRAY_FILE: Final = _rule(
    "V809", "launch-array-file", "A file that is to hold an array is no .npy file that can be read, or holds another type.",
    "only plain arrays of numbers are read; nothing in such a file is ever executed.",
    "groups: [1]\nargs: [{buffer: {npy: text.npy}}]   # saved with numpy.savetxt",
    "groups: [1]\nargs: [{buffer: {npy: array.npy}}]   # saved with numpy.save",
)  # fmt: skip
NO_SUCH_ARGUMENT: Final = _rule(
    "V810", "launch-no-such-argument", "An argument is named that the launch or its kernel does not have.",
    "arguments go by their place from 0, or by the names of ze_info.",
    "groups: [1]\nargs: [{value: 1}]\nexpect: [{arg: 1, values: [1]}]",
    "groups: [1]\nargs: [{buffer: {dtype: int32, shape: [1]}}]\nexpect: [{arg: 0, values: [1]}]",
)  # fmt: skip
ARGUMENT_COUNT: Final = _rule(
    "V811", "launch-argument-count", "The launch has more or fewer arguments than the kernel takes.",
    "each parameter of the kernel needs one argument; ze_info says how many there are.",
    "groups: [1]\nargs: []   # the kernel takes x and n", "groups: [1]\nargs: [{buffer: {dtype: int32, shape: [64]}}, {value: 64}]",
)  # fmt: skip
ARGUMENT_KIND: Final = _rule(
    "V812", "launch-argument-kind", "An argument is not of the kind that the kernel takes there.",
    "a pointer takes a buffer, a pointer to shared local memory takes local, an image an image.",
    "args: [{local: 64}]   # the kernel has `global int *x`", "args: [{buffer: {dtype: int32, shape: [16]}}]",
)  # fmt: skip
ARGUMENT_TYPE: Final = _rule(
    "V813", "launch-argument-type", "A value does not fit the type of its parameter.",
    "its bytes would be read as another number. Without a dtype a value takes the type of the parameter.",
    "args: [{value: 2, dtype: int32}]   # the kernel has `float a`", "args: [{value: 2}]",
)  # fmt: skip
NO_SUCH_KERNEL: Final = _rule(
    "V814", "launch-no-such-kernel", "The kernel that the launch names is not there, or it names none of several.",
    "kernels are found by name.", "kernel: saxpi   # the program has saxpy", "kernel: saxpy",
)  # fmt: skip
SWEEP: Final = _rule(
    "V820", "launch-sweep", "A sweep is not one: an axis without values, an axis that is neither a key nor a name, or too many points.",
    "a launch is run at each point, and a point has a value of each axis.",
    "groups: [1]\nsweep: {n: []}\nargs: [{value: n}]", "groups: [1]\nsweep: {n: [1, 1000]}\nargs: [{value: n}]",
)  # fmt: skip
EXPRESSION: Final = _rule(
    "V821", "launch-expression", "An expression cannot be read or computed.",
    "numbers, + - * / // % **, brackets, the axes of the sweep and some functions are all there is; nothing else is executed.",
    "groups: [m]\nsweep: {n: [1, 2]}\nargs: [{value: n}]", "groups: [n]\nsweep: {n: [1, 2]}\nargs: [{value: n}]",
)  # fmt: skip
IDLE_AXIS: Final = _rule(
    "V822", "launch-idle-axis", "An axis of a sweep changes nothing: no expression names it.",
    "each of its values runs the same launch once more.",
    "groups: [1]\nsweep: {n: [1, 2]}", "groups: [n]\nsweep: {n: [1, 2]}", Severity.WARNING,
)  # fmt: skip

RULES: Final[tuple[Rule, ...]] = (
    SYNTAX, UNKNOWN_KEY, MISSING_KEY, WRONG_TYPE, WRONG_WORD, RANGE, CONFLICT, SHAPE, NO_FILE, ARRAY_FILE,
    NO_SUCH_ARGUMENT, ARGUMENT_COUNT, ARGUMENT_KIND, ARGUMENT_TYPE, NO_SUCH_KERNEL, SWEEP, EXPRESSION, IDLE_AXIS,
)  # fmt: skip
