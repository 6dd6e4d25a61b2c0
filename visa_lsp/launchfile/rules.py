"""The rules about launch files: V800 for a file and the files that it names, V810 for its kernel, V820 for its sweep.

``explain`` and hover print the page of each rule. Codes are never reused.
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
    "The text is not valid YAML: an unclosed bracket, a tab, a duplicate key, or too many entries.",
    "the rest of the file cannot be read. Long arrays belong in .npy files, which are read quickly.",
    "groups: [4, 1", "groups: [4, 1, 1]",
)  # fmt: skip
UNKNOWN_KEY: Final = _rule(
    "V801", "launch-unknown-key", "A key is unknown here: it is misspelt or belongs elsewhere.",
    "a launch file holds everything that a run depends on, so a key without effect is a mistake.",
    "groups: [4]\nlocal-size: [16]", "groups: [4]\nlocal_size: [16]",
)  # fmt: skip
MISSING_KEY: Final = _rule(
    "V802", "launch-missing-key", "A required key is missing.",
    "the number of groups and the type and length of a buffer have no default.",
    "groups: [1]\nargs: [{buffer: {shape: [64]}}]", "groups: [1]\nargs: [{buffer: {dtype: float32, shape: [64]}}]",
)  # fmt: skip
WRONG_TYPE: Final = _rule(
    "V803", "launch-wrong-type", "A value has the wrong type for its key.",
    "each key takes a number, a word, a list or a map; a number in quotes is text.",
    "groups: four", "groups: [4]",
)  # fmt: skip
WRONG_WORD: Final = _rule(
    "V804", "launch-wrong-word", "A value is not one of the words of its key.",
    "platforms, element types, first contents, accesses, formats and the states of a sampler have fixed names.",
    "groups: [1]\nargs: [{buffer: {dtype: flaot32, shape: [64]}}]",
    "groups: [1]\nargs: [{buffer: {dtype: float32, shape: [64]}}]",
)  # fmt: skip
RANGE: Final = _rule(
    "V805", "launch-range", "A number is out of the range of its key or its element type.",
    "counts are at least 1, elements have a fixed number of bits, and the memory of a run is limited.",
    "groups: [0]", "groups: [1]",
)  # fmt: skip
CONFLICT: Final = _rule(
    "V806", "launch-conflict", "Two keys exclude each other, or a key needs another one that is missing.",
    "a launch has either groups or threads, a buffer one source of its contents, an argument one kind.",
    "groups: [1]\nargs: [{value: 1, local: 64}]", "groups: [1]\nargs: [{value: 1}, {local: 64}]",
)  # fmt: skip
SHAPE: Final = _rule(
    "V807", "launch-shape", "The shape, elements, channels and type of an array do not match, or the array is too large.",
    "an array has as many elements as its shape says, rows of one length, and at most 1 GiB.",
    "groups: [1]\nargs: [{buffer: {dtype: int32, values: [1, 2, 3], shape: [4]}}]",
    "groups: [1]\nargs: [{buffer: {dtype: int32, values: [1, 2, 3, 4], shape: [4]}}]",
)  # fmt: skip
NO_FILE: Final = _rule(
    "V808", "launch-no-file", "A file that the launch names does not exist or is not a regular file.",
    "names are relative to the folder of the launch file.", "groups: [1]\nfile: nowhere.visaasm", "groups: [1]",
)  # fmt: skip
ARRAY_FILE: Final = _rule(
    "V809", "launch-array-file", "An array file is not a readable .npy file, or has another type.",
    "only plain arrays of numbers are read; nothing in the file is ever executed.",
    "groups: [1]\nargs: [{buffer: {npy: text.npy}}]   # saved with numpy.savetxt",
    "groups: [1]\nargs: [{buffer: {npy: array.npy}}]   # saved with numpy.save",
)  # fmt: skip
NO_SUCH_ARGUMENT: Final = _rule(
    "V810", "launch-no-such-argument", "The launch or its kernel does not have the named argument.",
    "arguments are named by their index from 0 or by the names of ze_info.",
    "groups: [1]\nargs: [{value: 1}]\nexpect: [{arg: 1, values: [1]}]",
    "groups: [1]\nargs: [{buffer: {dtype: int32, shape: [1]}}]\nexpect: [{arg: 0, values: [1]}]",
)  # fmt: skip
ARGUMENT_COUNT: Final = _rule(
    "V811", "launch-argument-count", "The launch has more or fewer arguments than the kernel takes.",
    "each parameter of the kernel in ze_info needs one argument.",
    "groups: [1]\nargs: []   # the kernel takes x and n", "groups: [1]\nargs: [{buffer: {dtype: int32, shape: [64]}}, {value: 64}]",
)  # fmt: skip
ARGUMENT_KIND: Final = _rule(
    "V812", "launch-argument-kind", "An argument has another kind than the parameter of the kernel.",
    "a pointer takes a buffer, a pointer to shared local memory takes local, an image an image.",
    "args: [{local: 64}]   # the kernel has `global int *x`", "args: [{buffer: {dtype: int32, shape: [16]}}]",
)  # fmt: skip
ARGUMENT_TYPE: Final = _rule(
    "V813", "launch-argument-type", "A value does not fit the type of its parameter.",
    "its bytes would be read as another number. Without a dtype a value takes the type of the parameter.",
    "args: [{value: 2, dtype: int32}]   # the kernel has `float a`", "args: [{value: 2}]",
)  # fmt: skip
NO_SUCH_KERNEL: Final = _rule(
    "V814", "launch-no-such-kernel", "The program has no kernel of that name, or it has several and the launch names none.",
    "kernels are found by name.", "kernel: saxpi   # the program has saxpy", "kernel: saxpy",
)  # fmt: skip
SWEEP: Final = _rule(
    "V820", "launch-sweep", "A sweep is invalid: an axis has no values, an axis is neither a key nor a name, or it has too many points.",
    "a launch is run at each point, and a point has a value of each axis.",
    "groups: [1]\nsweep: {n: []}\nargs: [{value: n}]", "groups: [1]\nsweep: {n: [1, 1000]}\nargs: [{value: n}]",
)  # fmt: skip
EXPRESSION: Final = _rule(
    "V821", "launch-expression", "An expression cannot be read or computed.",
    "an expression has only numbers, + - * / // % **, brackets, axes of the sweep and some functions; nothing else is executed.",
    "groups: [m]\nsweep: {n: [1, 2]}\nargs: [{value: n}]", "groups: [n]\nsweep: {n: [1, 2]}\nargs: [{value: n}]",
)  # fmt: skip
IDLE_AXIS: Final = _rule(
    "V822", "launch-idle-axis", "An axis of a sweep changes nothing: no expression names it.",
    "the launch is the same for each of its values.",
    "groups: [1]\nsweep: {n: [1, 2]}", "groups: [n]\nsweep: {n: [1, 2]}", Severity.WARNING,
)  # fmt: skip

RULES: Final[tuple[Rule, ...]] = (
    SYNTAX, UNKNOWN_KEY, MISSING_KEY, WRONG_TYPE, WRONG_WORD, RANGE, CONFLICT, SHAPE, NO_FILE, ARRAY_FILE,
    NO_SUCH_ARGUMENT, ARGUMENT_COUNT, ARGUMENT_KIND, ARGUMENT_TYPE, NO_SUCH_KERNEL, SWEEP, EXPRESSION, IDLE_AXIS,
)  # fmt: skip
