"""Random OpenCL C kernels without undefined behaviour: each result depends only on arguments, whatever device runs them.

An element of an output is written by one work item, inputs are never written by the same kernel, indexes are reduced modulo the
number of elements, divisors are odd, and signed arithmetic is done in unsigned types.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

BYTES = {
    "char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "long": 8, "ulong": 8,
}  # fmt: skip
_WIDTHS = (1, 1, 1, 1, 2, 4, 8)
_LINEAR = """
#define AT(d) (get_global_id(d) - get_global_offset(d))
#define LINEAR ((AT(2) * get_global_size(1) + AT(1)) * get_global_size(0) + AT(0))
#define ITEMS (get_global_size(0) * get_global_size(1) * get_global_size(2))
#define LOCAL ((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0))
#define LOCALS (get_local_size(0) * get_local_size(1) * get_local_size(2))
"""


@dataclass(frozen=True)
class Type:
    """An integer type of OpenCL C: base and number of elements."""

    base: str
    width: int = 1

    @property
    def name(self) -> str:
        """The name in OpenCL C."""
        return self.base if self.width == 1 else f"{self.base}{self.width}"

    @property
    def unsigned(self) -> Type:
        """The unsigned type of the same size."""
        return self if self.base[0] == "u" else Type(f"u{self.base}", self.width)

    @property
    def size(self) -> int:
        """The size in bytes."""
        return BYTES[self.base] * self.width


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kind.

    Kinds are ``in``, ``constant``, ``out``, ``count`` (of an output's elements), ``value``, ``local`` (elements per work item),
    ``bins``, ``image in`` and ``image out`` (with ``elements`` axes), ``sampler``.
    """

    kind: str
    name: str
    type: Type
    elements: int = 1

    @property
    def declared(self) -> str:
        """The declaration in the kernel's text."""
        if self.kind.startswith("image"):
            return f"{'read' if self.kind == 'image in' else 'write'}_only image{self.elements}d_t {self.name}"
        if self.kind == "sampler":
            return f"sampler_t {self.name}"
        space = {
            "in": "global const ",
            "constant": "constant ",
            "out": "global ",
            "bins": "global ",
            "local": "local ",
        }.get(self.kind)
        return f"{space}{self.type.name} *{self.name}" if space else f"{self.type.name} {self.name}"


@dataclass(frozen=True)
class RandomKernel:
    """A kernel: its text and parameters; ``is_local`` if it has a barrier, ``is_single`` if one work item is to run it."""

    name: str
    text: str
    parameters: tuple[Parameter, ...]
    is_local: bool = False
    is_single: bool = False


class _Expressions:
    """Random expressions of a type over named variables."""

    def __init__(self, random: Random, names: dict[str, Type]) -> None:
        self.random = random
        self.names = names

    def make(self, wanted: Type, depth: int) -> str:
        """Return an expression that has exactly the type ``wanted``."""
        random = self.random
        if depth <= 0 or random.random() < 0.1:
            return self._leaf(wanted)

        def same(kind: Type = wanted) -> str:
            return self.make(kind, depth - 1)

        u = wanted.unsigned
        match random.randrange(14):
            case 0 | 1:
                text = f"as_{u.name}({same()}) {random.choice('+-*')} as_{u.name}({same()})"
                return f"as_{wanted.name}(({u.name})({text}))"
            case 2:
                return f"({wanted.name})({same()} {random.choice('&|^')} {same()})"
            case 3:
                if random.random() < 0.5:
                    return f"({wanted.name})({same()} >> {same()})"
                return f"as_{wanted.name}(({u.name})(as_{u.name}({same()}) << {same(u)}))"
            case 4:
                name = random.choice(["min", "max", "add_sat", "sub_sat", "hadd", "rhadd", "mul_hi", "rotate"])
                return f"{name}({same()}, {same()})"
            case 5:
                name = random.choice(["clz", "popcount"])
                return f"{name}({same()})"
            case 6:
                name = random.choice(["abs_diff", "abs"])
                arguments = ", ".join(same() for _ in range(2 if name == "abs_diff" else 1))
                return f"as_{wanted.name}({name}({arguments}))"
            case 7:
                low = random.randrange(100)
                return f"clamp({same()}, ({wanted.name}){low}, ({wanted.name}){random.randrange(low, 120)})"
            case 8:
                test = f"{same()} {random.choice(['<', '>', '==', '!=', '<=', '>='])} {same()}"
                if wanted.width == 1:
                    return f"({wanted.name})(({test}) ? {same()} : {same()})"
                return f"select({same()}, {same()}, {test})"
            case 9:
                return f"as_{wanted.name}(({u.name})(as_{u.name}({same()}) {random.choice('/%')} (as_{u.name}({same()}) | ({u.name})1)))"
            case 10:
                other = Type(random.choice(list(BYTES)), wanted.width)
                return f"convert_{wanted.name}{random.choice(['', '_sat'])}({self.make(other, depth - 1)})"
            case 11:
                return f"bitselect({same()}, {same()}, {same()})"
            case 12 if wanted.width > 1:
                order = ",".join(str(random.randrange(wanted.width)) for _ in range(wanted.width))
                return f"shuffle({same()}, ({u.name})({order}))"
            case 13 if wanted.base in ("int", "uint"):
                u16 = f"({wanted.name})0xfff"
                return f"mad24({same()} & {u16}, {same()} & {u16}, {same()})"
            case _:
                return f"({wanted.name})(~{same()})"

    def _leaf(self, wanted: Type) -> str:
        random = self.random
        same = [name for name, kind in self.names.items() if kind == wanted]
        wide = [name for name, kind in self.names.items() if kind.width == wanted.width and kind != wanted]
        scalars = [name for name, kind in self.names.items() if kind.width == 1]
        choice = random.random()
        if same and choice < 0.6:
            return random.choice(same)
        if wide and choice < 0.8:
            return f"convert_{wanted.name}({random.choice(wide)})"
        if scalars and choice < 0.9:
            return f"({wanted.name})(({wanted.base}){random.choice(scalars)})"
        return f"({wanted.name})({random.choice([0, 1, 2, 7, 100, -1, 0x55, random.getrandbits(8 * BYTES[wanted.base] - 1)])})"


def random_kernel(random: Random, name: str) -> RandomKernel:
    """Return a kernel of one of the shapes."""
    shape = random.choice([_map, _map, _map, _tile, _tile, _reduce, _histogram, _single, _image])
    return shape(random, name)


def random_source(kernels: list[RandomKernel]) -> str:
    """Return the text of a program."""
    return _LINEAR + "\n".join(kernel.text for kernel in kernels)


def _type(random: Random) -> Type:
    return Type(random.choice(list(BYTES)), random.choice(_WIDTHS))


def _inputs(random: Random) -> tuple[list[Parameter], list[str], dict[str, Type]]:
    """Return input parameters with their lengths, statements that load from them, and the names that these define."""
    parameters, lines, names = [], [], {"id": Type("uint")}
    for number in range(random.randrange(1, 4)):
        kind = _type(random)
        parameters.append(
            Parameter(random.choice(["in", "in", "constant"]), f"a{number}", kind, random.choice([4, 16, 60, 64, 100]))
        )
        index = random.choice(["id", "id * 3 + 1", "id / 2", "id ^ 5", "id + 3"])
        lines.append(f"{kind.name} x{number} = a{number}[({index}) % {parameters[-1].elements}u];")
        names[f"x{number}"] = kind
    for number in range(random.randrange(3)):
        kind = _type(random)
        parameters.append(Parameter("value", f"s{number}", kind))
        names[f"s{number}"] = kind
    return parameters, lines, names


def _statements(random: Random, names: dict[str, Type], depth: int = 2) -> list[str]:
    """Return statements over the names, and add those that they define."""
    expressions, lines = _Expressions(random, names), []
    for number in range(random.randrange(1, 4)):
        kind = _type(random)
        name = f"t{number}_{depth}_{len(names)}"
        value = expressions.make(kind, 3)
        match random.randrange(6):
            case 0:
                lines += (
                    [
                        f"{kind.name} {name} = {value};",
                        f"for (uint i{name} = 0; i{name} < (id & 7); i{name}++) {name} ^= {expressions.make(kind, 2)} + ({kind.name})i{name};",
                    ]
                    if kind.base[0] == "u"
                    else [f"{kind.name} {name} = {value};"]
                )
            case 1:
                lines += [
                    f"{kind.name} {name} = {value};",
                    f"if ({expressions.make(Type('int'), 2)} > 3) {name} = {expressions.make(kind, 2)};",
                    f"else if (id & 1) {name} = {expressions.make(kind, 1)};",
                ]
            case 2:
                lines += [
                    f"{kind.name} {name};",
                    f"switch ({expressions.make(Type('uint'), 1)} % 4) {{",
                    *(f"  case {n}: {name} = {expressions.make(kind, 2)}; break;" for n in range(3)),
                    f"  default: {name} = {expressions.make(kind, 1)};",
                    "}",
                ]
            case 3:
                lines += [
                    f"{kind.name} p{name}[5];",
                    f"for (uint i{name} = 0; i{name} < 5; i{name}++) p{name}[i{name}] = {value} ^ ({kind.name})i{name};",
                    f"{kind.name} {name} = p{name}[{expressions.make(Type('uint'), 1)} % 5];",
                ]
            case _:
                lines.append(f"{kind.name} {name} = {value};")
        names[name] = kind
    return lines


def _kernel(name: str, parameters: list[Parameter], lines: list[str], **more: bool) -> RandomKernel:
    declared = ", ".join(p.declared for p in parameters)
    body = "".join(f"  {line}\n" for line in ["uint id = LINEAR;", *lines])
    return RandomKernel(name, f"kernel void {name}({declared}) {{\n{body}}}\n", tuple(parameters), **more)


def _map(random: Random, name: str) -> RandomKernel:
    """Return a kernel that computes each element of one or two outputs."""
    parameters, lines, names = _inputs(random)
    lines += _statements(random, names)
    for number in range(random.choice([1, 1, 2])):
        kind = _type(random)
        parameters += [Parameter("out", f"o{number}", kind), Parameter("count", f"n{number}", Type("uint"))]
        value = _Expressions(random, names).make(kind, 3)
        if random.random() < 0.3 and kind.width > 1:
            lines.append(f"if (id < n{number}) vstore{kind.width}({value}, id, (global {kind.base} *)o{number});")
        elif random.random() < 0.2:
            lines.append(f"for (uint at = id; at < n{number}; at += ITEMS) o{number}[at] = {value} ^ ({kind.name})at;")
        else:
            lines.append(f"if (id < n{number}) o{number}[id] = {value};")
    return _kernel(name, parameters, lines)


def _tile(random: Random, name: str) -> RandomKernel:
    """Return a kernel that exchanges values through local memory."""
    parameters, lines, names = _inputs(random)
    lines += _statements(random, names)
    kind, out = _type(random), _type(random)
    parameters += [Parameter("local", "tile", kind), Parameter("out", "o", out), Parameter("count", "n", Type("uint"))]
    lines.append(f"tile[LOCAL] = {_Expressions(random, names).make(kind, 2)};")
    lines.append("barrier(CLK_LOCAL_MEM_FENCE);")
    lines.append(f"{kind.name} y = tile[(LOCAL * {random.randrange(1, 9)} + {random.randrange(9)}) % LOCALS];")
    names["y"] = kind
    lines.append(f"if (id < n) o[id] = {_Expressions(random, names).make(out, 3)};")
    return _kernel(name, parameters, lines, is_local=True)


def _reduce(random: Random, name: str) -> RandomKernel:
    """Return a kernel that reduces each group, and adds the results up by an atomic."""
    parameters, lines, names = _inputs(random)
    kind = Type(random.choice(["int", "uint"]))
    operator = random.choice(["+", "^", "|", "&"])
    atomic = {"+": "add", "^": "xor", "|": "or", "&": "and"}[operator]
    parameters += [Parameter("local", "tile", kind), Parameter("bins", "o", kind)]
    lines += [
        f"tile[LOCAL] = {_Expressions(random, names).make(kind, 3)};",
        "uint left = LOCALS;",
        "while (left > 1) {",
        "  uint half_left = (left + 1) / 2;",
        "  barrier(CLK_LOCAL_MEM_FENCE);",
        f"  if (LOCAL < left - half_left) tile[LOCAL] = as_{kind.name}(as_uint(tile[LOCAL]) {operator} as_uint(tile[LOCAL + half_left]));",
        "  left = half_left;",
        "}",
        f"if (LOCAL == 0) atomic_{atomic}(o + get_group_id(0) % 4, tile[0]);",
    ]
    return _kernel(name, parameters, lines, is_local=True)


def _histogram(random: Random, name: str) -> RandomKernel:
    """Return a kernel that updates bins by atomics whose order does not matter."""
    parameters, lines, names = _inputs(random)
    kind = Type(random.choice(["int", "uint"]))
    parameters.append(Parameter("bins", "o", kind))
    value = _Expressions(random, names).make(kind, 2)
    bin_number = _Expressions(random, names).make(Type("uint"), 2)
    lines.append(
        f"atomic_{random.choice(['add', 'sub', 'min', 'max', 'xor', 'or', 'and'])}(o + {bin_number} % 4u, {value});"
    )
    return _kernel(name, parameters, lines)


def _image(random: Random, name: str) -> RandomKernel:
    """Return a kernel that reads an image with a sampler, also outside of it, and writes another image."""
    parameters, lines, names = _inputs(random)
    axes = random.choice([1, 2, 2, 3])
    kind = Type(random.choice(["int", "uint"]), 4)
    suffix = "ui" if kind.base == "uint" else "i"
    parameters += [
        Parameter("image in", "i", kind, axes), Parameter("image out", "o", kind, axes), Parameter("sampler", "s", Type("uint"))
    ]  # fmt: skip
    place = ["AT(0)", "(int2)(AT(0), AT(1))", "(int4)(AT(0), AT(1), AT(2), 0)"][axes - 1]
    near = ["{0}", "(int2)({0}, {1})", "(int4)({0}, {1}, {2}, 0)"][axes - 1].format(
        *(f"((int)AT({axis}) * {random.randrange(1, 4)} + {random.randrange(-3, 4)})" for axis in range(3))
    )
    size = " && ".join(
        f"AT({axis}) < get_image_{word}(o)"
        for axis, word in zip(range(axes), ("width", "height", "depth"), strict=False)
    )
    size += "".join(f" && !AT({axis})" for axis in range(axes, 3))
    lines += _statements(random, names, 1)
    inside = ["{0}", "(int2)({0}, {1})", "(int4)({0}, {1}, {2}, 0)"][axes - 1].format(
        *(f"min((int)AT({axis}), get_image_{word}(i) - 1)" for axis, word in enumerate(("width", "height", "depth")))
    )  # because a read outside is undefined without a sampler
    lines.append(f"{kind.name} y = read_image{suffix}(i, s, {near}) + read_image{suffix}(i, {inside});")
    names["y"] = kind
    lines.append(f"if ({size}) write_image{suffix}(o, {place}, ({_Expressions(random, names).make(kind, 2)}) & 0x7f);")
    return _kernel(name, parameters, lines)


def _single(random: Random, name: str) -> RandomKernel:
    """Return a kernel of one work item that goes through an output, and prints."""
    parameters, lines, names = _inputs(random)
    lines += _statements(random, names)
    kind = Type(random.choice(list(BYTES)))
    parameters += [Parameter("out", "o", kind), Parameter("count", "n", Type("uint"))]
    value = _Expressions(random, names).make(kind, 2)
    lines.append(f"for (uint i = 0; i < n; i++) o[i] = {value} ^ ({kind.name})(i * 7);")
    lines.append(f'printf("{name} %d %u %s\\n", {_Expressions(random, names).make(Type("int"), 2)}, n, "%");')
    return _kernel(name, parameters, lines, is_single=True)
