"""Broken launch files: each with the code of its one finding, the place (line and column from 1), and words of the message.

``seen`` says that the JSON schema refuses the file too; what it cannot know are files, kernels, shapes, and names that
stand in two places.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Broken(NamedTuple):
    """One broken file."""

    text: str
    code: str
    place: str
    words: str
    seen: bool = True


G: Final = "groups: [1]\n"


def _arg(text: str) -> str:
    return f"{G}args: [{text}]"


BROKEN: Final = (
    Broken("", "V802", "1:1", "is empty"),
    Broken("- 1", "V803", "1:1", "expected a launch file as a map, got a list"),
    Broken("args: []", "V802", "1:1", "'groups' is missing"),
    Broken(f"{G}local-size: [1]", "V801", "2:1", "unknown key 'local-size'; did you mean 'local_size'?"),
    Broken("group: [1]", "V801", "1:1", "did you mean 'groups'?"),
    Broken(f"{G}global_work_size: 4", "V801", "2:1", "groups counts thread groups"),
    Broken("groups: four", "V803", "1:9", "expected a whole number, got the text 'four'"),
    Broken("groups: [0]", "V805", "1:10", "0 is out of range"),
    Broken("groups: [1, 1, 1, 1]", "V805", "1:9", "one to three numbers"),
    Broken("groups: [1.5]", "V803", "1:10", "got the number 1.5"),
    Broken(f"{G}global_size: [4]", "V806", "2:1", "groups and global_size exclude each other"),
    Broken(f"{G}global_offset: [-1]", "V805", "2:17", "expected 0 to"),
    Broken(f"{G}work_dim: 4", "V805", "2:11", "expected 1 to 3"),
    Broken("groups: [1, 2]\nwork_dim: 1", "V806", "2:11", "several work items in dimension 2", seen=False),
    Broken("groups: 2\nwork_dim: 1\nglobal_offset: [9, 8, 0]", "V806", "2:11", "an offset in dimension 2", seen=False),
    Broken(f"{G}platform: TGLP", "V804", "2:11", "did you mean 'tgllp'?"),
    Broken(f"{G}mode: medya", "V804", "2:7", "did you mean 'media'?"),
    Broken("threads: [2, 2]", "V806", "1:1", "needs mode: media"),
    Broken("mode: media", "V806", "1:1", "needs threads"),
    Broken("mode: media\nthreads: [2]", "V805", "2:10", "expected two numbers"),
    Broken("mode: media\nthreads: [2, 2]\nlocal_size: 1", "V806", "3:1", "exclude each other"),
    Broken("mode: media\nthreads: [2, 2]\nglobal_size: [4]", "V806", "3:1", "exclude each other"),
    Broken(f"{G}kernel: [k]", "V803", "2:9", "expected a word, got a list"),
    Broken(f"{G}files: a.visaasm", "V803", "2:8", "expected a list"),
    Broken(f"{G}args: 3", "V803", "2:7", "expected args as a list or a map"),
    Broken(_arg("3"), "V803", "2:8", "expected an argument as a map"),
    Broken(_arg("{}"), "V802", "2:8", "got none"),
    Broken(_arg("{value: 1, local: 2}"), "V806", "2:8", "got value, local"),
    Broken(_arg("{bufer: {}}"), "V801", "2:9", "did you mean 'buffer'?"),
    Broken(_arg("{local: 4, dtype: int8}"), "V806", "2:19", "dtype belongs inside local"),
    Broken(_arg("{local: 4, access: readonly}"), "V806", "2:19", "access belongs to a buffer or an image"),
    Broken(_arg("{image: null}"), "V803", "2:16", "expected an image as a map"),
    Broken(_arg("{local: null}"), "V803", "2:16", "expected a whole number"),
    Broken(_arg("{buffer: {dtype: int8, shape: [1], access: readonly}, access: writeonly}"), "V806", "2:70", "given twice", seen=False),
    Broken(_arg("{local: 0}"), "V805", "2:16", "out of range"),
    Broken(_arg("{value: many}"), "V803", "2:16", "expected a number"),
    Broken(_arg("{buffer: {dtype: float, shape: [2]}}"), "V804", "2:25", "did you mean 'float32'?"),
    *(
        Broken(_arg(f"{{buffer: {{dtype: {given}, shape: [2]}}}}"), "V804", "2:25", f"unknown dtype '{given}'; did you mean '{meant}'")
        for given, meant in (
            ("double", "float64"), ("half", "float16"), ("int", "int32"), ("uint", "uint32"), ("uchar", "uint8"), ("f32", "float32"),
            ("u64", "uint64"),
        )
    ),
    Broken(_arg("{buffer: {shape: [2]}}"), "V802", "2:17", "needs a dtype"),
    Broken(_arg("{buffer: {dtype: int8}}"), "V802", "2:17", "needs a shape"),
    Broken(_arg("{buffer: {dtype: int8, shape: [-2]}}"), "V805", "2:39", "-2 is out of range"),
    Broken(_arg("{buffer: {dtype: int8, shape: [2], init: zeroes}}"), "V804", "2:49", "did you mean 'zeros'?"),
    Broken(_arg("{buffer: {dtype: int8, shape: [2], init: values}}"), "V806", "2:49", "needs its value"),
    Broken(_arg("{buffer: {dtype: int8, shape: [2], init: {}}}"), "V806", "2:49", "init takes one of"),
    Broken(_arg("{buffer: {dtype: int8, init: ones, values: [1]}}"), "V806", "2:43", "one source of its contents"),
    Broken(_arg("{buffer: {dtype: int8, shape: [2], access: read}}"), "V804", "2:51", "did you mean 'readonly'?"),
    Broken(_arg("{image: {dtype: uint8, shape: [2, 2], format: rgba}}"), "V804", "2:54", "unknown format 'rgba'"),
    Broken(_arg("{image: {dtype: uint8, shape: [2, 3], channels: 5}}"), "V805", "2:56", "5 is out of range"),
    Broken(_arg("{sampler: {filter: cubic}}"), "V804", "2:27", "unknown filter 'cubic'"),
    Broken(_arg("{sampler: {normalized: maybe}}"), "V803", "2:31", "expected true or false"),
    Broken(f"{G}symbols: [TAB]", "V803", "2:10", "expected symbols as a map from names"),
    Broken(
        f"{G}symbols: {{TAB: {{dtype: int8, shape: [1], init: undefined}}}}", "V804", "2:48", "can be undefined"
    ),
    Broken(f"{_arg('{value: 1}')}\nexpect: {{arg: 0}}", "V803", "3:9", "expected a list"),
    Broken(f"{_arg('{value: 1}')}\nexpect: [{{values: [1]}}]", "V802", "3:10", "'arg' is missing"),
    Broken(f"{_arg('{value: 1}')}\nexpect: [{{arg: 0}}]", "V802", "3:10", "takes one of npy, values, expr, reference"),
    Broken(f"{_arg('{value: 1}')}\nexpect: [{{arg: 0, values: 1, npy: x.npy}}]", "V806", "3:10", "takes one of npy, values, expr, reference"),
    Broken(f"{_arg('{value: 1}')}\nexpect: [{{arg: 0, values: [1], rtol: -1}}]", "V805", "3:38", "a number >= 0"),
    Broken(f"{_arg('{value: 1}')}\nexpect: [{{arg: [0], values: [1]}}]", "V803", "3:16", "the number or the name"),
    Broken(f"{G}sweep: [1]", "V803", "2:8", "expected a map from axes to lists of values, got a list"),
    Broken(f"{G}sweep: {{}}", "V820", "2:8", "expected 1 to 16 axes, got 0", seen=False),
    Broken(f"{G}sweep: {{n: 3}}", "V803", "2:12", "expected an axis as a list of values, got the number 3"),
    Broken(f"{G}sweep: {{n: []}}", "V820", "2:12", "the axis 'n' has no values"),
    Broken(f"{G}sweep: {{n: [x]}}", "V803", "2:13", "expected a number, got the text 'x'"),
    Broken(f"{G}sweep: {{n: [true]}}", "V803", "2:13", "expected a number"),
    Broken(f"{G}sweep: {{n: [.inf]}}", "V803", "2:13", "expected a number", seen=False),
    Broken(f"{G}sweep: {{args: [1]}}", "V820", "2:9", "the key 'args' cannot be an axis; possible keys", seen=False),
    Broken(f"{G}sweep: {{a-b: [1]}}", "V820", "2:9", "not a valid name in expressions", seen=False),
    Broken(f"{G}sweep: {{ceil: [1]}}", "V820", "2:9", "not a valid name in expressions", seen=False),
    Broken(f"{G}sweep: {{platform: [TGLLP, DG3]}}", "V804", "2:27", "did you mean 'dg2'?; with platform = DG3"),
    Broken(f"{G}sweep: {{local_size: [[1, 2, 3, 4]]}}", "V805", "2:22", "one to three numbers"),
    Broken(f"{G}sweep: {{local_size: [[[1]]]}}", "V803", "2:23", "expected a number, got a list"),
    Broken(f"{G}sweep: {{kernel: [[a]]}}", "V803", "2:18", "expected a value of the key, got a list"),
    Broken(f"{G}sweep: {{kernel: [null]}}", "V803", "2:18", "expected a value of the key, got nothing"),
    Broken("groups: [m]\nsweep: {n: [1]}", "V821", "1:10", "unknown name 'm'; known names: n", seen=False),
    Broken("groups: [n +]\nsweep: {n: [1]}", "V821", "1:10", "'n +' is not an expression", seen=False),
    Broken("groups: ['n.real']\nsweep: {n: [1]}", "V821", "1:10", "is not allowed in an expression", seen=False),
    Broken("groups: ['exit(n)']\nsweep: {n: [1]}", "V821", "1:10", "unknown function 'exit'; known functions: abs, ceil", seen=False),
    Broken("groups: [2 ** 2 ** n]\nsweep: {n: [90]}", "V821", "1:10", "too large", seen=False),
    Broken("groups: [1 / n]\nsweep: {n: [0]}", "V821", "1:10", "division by zero", seen=False),
    Broken("groups: [n / 2]\nsweep: {n: [4, 3]}", "V803", "1:10", "got the number 1.5; with n = 3", seen=False),
    Broken("groups: [n - 1]\nsweep: {n: [4, 1]}", "V805", "1:10", "0 is out of range: expected 1 to 4294967295; with n = 1", seen=False),
    Broken(f"{_arg('{value: 1}')}\nexpect: [{{expr: 'arg0 +', arg: 0}}]", "V821", "3:17", "is not an expression", seen=False),
    Broken(f"{_arg('{value: 1}')}\nexpect: [{{expr: 'arg0 + 1'}}]", "V821", "3:17", "expected a comparison", seen=False),
    Broken(f"{_arg('{value: 1}')}\nexpect: [{{expr: 'open(arg0) == 1'}}]", "V821", "3:17", "unknown function 'open'", seen=False),
    Broken(f"{_arg('{value: 1}')}\nexpect: [{{expr: 3}}]", "V803", "3:17", "expected an expression as text"),
    Broken(f"{_arg('{value: 1}')}\nexpect: [{{expr: arg0 == 1, dtype: int8}}]", "V806", "3:28", "dtype belongs to values"),
    Broken("groups: [1]\nargs: {x: {value: 1}}\nexpect: [{expr: xx == 1}]", "V821", "3:17", "unknown name 'xx'; did you mean 'x'?", seen=False),
    Broken(f"{_arg('{value: 1}')}\nexpect: [{{reference: gone.visaasm}}]", "V808", "3:22", "no such file", seen=False),
    # What no schema can tell.
    Broken("groups: [1", "V800", "1:10", "expected", seen=False),
    Broken("groups: [1]\ngroups: [2]", "V800", "2:1", "duplicate key 'groups'", seen=False),
    Broken(f"{G}file: nowhere.visaasm", "V808", "2:7", "no such file", seen=False),
    Broken(_arg("{buffer: {npy: gone.npy}}"), "V808", "2:23", "no such file", seen=False),
    Broken(_arg("{buffer: {npy: text.npy}}"), "V809", "2:23", "not a .npy file", seen=False),
    Broken(_arg("{buffer: {npy: floats.npy, dtype: int32}}"), "V809", "2:23", "but the dtype is int32", seen=False),
    Broken(_arg("{buffer: {npy: floats.npy, shape: [5]}}"), "V807", "2:23", "5 elements, got 4", seen=False),
    Broken(_arg("{buffer: {dtype: float64, shape: [100000, 100000]}}"), "V807", "2:41", "1 GiB", seen=False),
    Broken(_arg("{buffer: {dtype: uint8, values: [256]}}"), "V805", "2:40", "256 does not fit into uint8", seen=False),
    Broken(_arg("{buffer: {dtype: uint8, values: [1.5]}}"), "V805", "2:40", "1.5 is not a whole number", seen=False),
    Broken(
        _arg("{buffer: {dtype: uint8, values: [[1, 2], [3]]}}"), "V807", "2:49", "rows of different lengths", seen=False
    ),
    Broken(
        _arg("{buffer: {dtype: uint8, values: [1], shape: [2]}}"), "V807", "2:40", "2 elements, got 1", seen=False
    ),
    Broken(_arg("{image: {dtype: int64, shape: [2, 2]}}"), "V804", "2:16", "an image cannot hold int64", seen=False),
    Broken(_arg("{image: {dtype: uint8, shape: [2, 2, 2, 2, 2]}}"), "V807", "2:16", "one to three axes", seen=False),
    Broken(
        f"{_arg('{value: 1}')}\nexpect: [{{arg: 1, values: [1]}}]", "V810", "3:16", "unknown argument 1", seen=False
    ),
    Broken(
        f"{_arg('{value: 1}')}\nexpect: [{{arg: x y, values: [1]}}]", "V810", "3:16", "unknown argument x y, because args is a list",
        seen=False,
    ),
    Broken(
        "groups: [1]\nargs: {x: {value: 1}}\nexpect: [{arg: 0, values: [1]}]", "V810", "3:16", "unknown argument 0, because args is a map", seen=False
    ),
)  # fmt: skip
