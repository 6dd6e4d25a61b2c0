"""Random kernels of mixed types for ``benchmarks.read``: OpenCL C, compiled, with launches of seeded inputs."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import numpy as np

from visa_lsp.sim.launch.config import BufferArg, LaunchConfig, ValueArg

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SIZES: Final = {
    "char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "long": 8, "ulong": 8, "half": 2, "float": 4, "double": 8,
}  # fmt: skip
INTS: Final = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
ITEMS: Final = 64
DTYPES: Final = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "long": "i8", "ulong": "u8", "half": "f2",
    "float": "f4", "double": "f8",
}  # fmt: skip


class Kernel:
    """A random kernel: its source, and the types of its arguments."""

    def __init__(self, name: str, seed: int, *, doubles: bool) -> None:
        self.name, self.seed, self.random = name, seed, random.Random(seed)
        reals = ["half", "float", "float", *(["double"] if doubles else [])]
        self.types = [*INTS, *INTS, *reals]
        self.inputs = [self.random.choice(self.types) for _ in range(3)]
        self.outputs = [self.random.choice(self.types) for _ in range(2)]
        self.values = [self.random.choice(self.types) for _ in range(2)]
        self.variables: list[tuple[str, str]] = []
        self.lines: list[str] = []
        self.depth = 0
        self.number = 0
        self._write()

    # ---- expressions

    def _leaf(self, type_: str) -> str:
        pick = self.random.random()
        if pick < 0.7 and self.variables:
            name, own = self.random.choice(self.variables)
            return (
                name
                if own == type_
                else f"({type_}){name}"
                if self.random.random() < 0.6 or self._real(own) != self._real(type_)
                else self._convert(name, own, type_)
            )
        if self._real(type_):
            suffix = {"half": "h", "float": "f", "double": ""}[type_]
            return f"{self.random.choice(['0.5', '1.0', '-2.25', '3.0', '100.0'])}{suffix}"
        number = self.random.choice(
            (0, 1, 2, 3, 7, 15, 100, 127, -1, -5, 255 if SIZES[type_] > 1 else 77, 1000 if SIZES[type_] > 1 else 3)
        )
        return f"({type_}){number}" if number >= 0 else f"({type_})({number})"

    def _convert(self, text: str, own: str, type_: str) -> str:
        if self._real(own) and self._real(type_):
            return f"convert_{type_}({text})"
        return f"convert_{type_}{'_sat' if not self._real(type_) and (self._real(own) or self.random.random() < 0.6) else ''}({text})"

    def _real(self, type_: str) -> bool:
        return type_ in ("half", "float", "double")

    def _expression(self, type_: str, depth: int) -> str:
        if depth <= 0:
            return self._leaf(type_)
        a, b = self._expression(type_, depth - 1), self._expression(type_, depth - self.random.choice((1, 2)))
        if self._real(type_):
            return self.random.choice((
                f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"fmin({a}, {b})", f"fmax({a}, {b})", f"fabs({a})", f"-({a})",
                f"mad({a}, {b}, {self._leaf(type_)})", f"({self._condition(depth - 1)} ? {a} : {b})", f"floor({a})",
                f"({type_})({self._expression(self.random.choice(self.types), depth - 1)})",
            ))  # fmt: skip
        bits = 8 * SIZES[type_]
        other = self.random.choice(self.types)
        inner = self._expression(other, depth - 1)
        return self.random.choice((
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} & {b})", f"({a} | {b})", f"({a} ^ {b})", f"(~{a})", f"(-{a})",
            f"({a} << {self.random.randrange(bits)})", f"({a} >> {self.random.randrange(bits)})", f"({a} >> ({b} & {bits - 1}))",
            f"({a} << ({b} & {bits - 1}))", f"min(({type_})({a}), ({type_})({b}))", f"max(({type_})({a}), ({type_})({b}))",
            f"clamp(({type_})({a}), ({type_})1, ({type_})100)", f"({self._condition(depth - 1)} ? ({type_})({a}) : ({type_})({b}))",
            self._convert(f"({other})({inner})", other, type_), f"({type_})({inner})" if not self._real(other) else self._convert(f"({other})({inner})", other, type_),
            f"add_sat(({type_})({a}), ({type_})({b}))", f"sub_sat(({type_})({a}), ({type_})({b}))", f"({a} + ({type_})({self._condition(depth - 1)}))",
            f"mul_hi(({type_})({a}), ({type_})({b}))" if bits <= 32 else f"({a} * {b})", f"popcount(({type_})({a}))", f"rotate(({type_})({a}), ({type_}){self.random.randrange(bits)})",
            self._pick_byte(type_, a), *(self._divisions(type_, a, b) if bits <= 32 else ()),
        ))  # fmt: skip

    def _divisions(self, type_: str, a: str, b: str) -> tuple[str, str]:
        """Return a quotient and a remainder whose divisors are neither 0 nor -1, for which OpenCL gives any value."""
        if type_.startswith("u"):
            divisor = f"(({type_})({b}) | ({type_})1)"
        else:
            divisor = f"(({type_})(({b}) & 15) {self.random.choice('+-')} ({type_}){self.random.choice((2, 17))})"
        return f"(({type_})({a}) / ({type_}){divisor})", f"(({type_})({a}) % ({type_}){divisor})"

    def _pick_byte(self, type_: str, a: str) -> str:
        vector = self.random.choice(("uchar4", "char4"))
        part = self.random.choice("xyzw")
        return f"({type_})as_{vector}((uint)({a})).{part}"

    def _condition(self, depth: int) -> str:
        type_ = self.random.choice(self.types)
        a, b = self._expression(type_, depth), self._expression(type_, depth - 1)
        return f"(({type_})({a}) {self.random.choice(('<', '<=', '>', '>=', '==', '!='))} ({type_})({b}))"

    # ---- statements

    def _line(self, text: str) -> None:
        self.lines.append("    " * (self.depth + 1) + text)

    def _declare(self, depth: int) -> None:
        type_ = self.random.choice(self.types)
        text = self._expression(type_, depth)
        name = f"v{self.number}"
        self.number += 1
        self._line(f"{type_} {name} = {text};")
        self.variables.append((name, type_))

    def _assign(self) -> None:
        named = [v for v in self.variables if v[0].startswith("v")]
        if not named:
            return
        name, type_ = self.random.choice(named)
        self._line(f"{name} {self.random.choice(('=', '+=', '-='))} {self._expression(type_, 2)};")

    def _block(self, count: int) -> None:
        kept = list(self.variables)
        self.depth += 1
        for _ in range(count):
            self._statement()
        self.depth -= 1
        self.variables = kept

    def _statement(self) -> None:
        pick = self.random.random()
        if self.depth > 2 or pick < 0.35:
            self._declare(2)
        elif pick < 0.65:
            self._assign()
        elif pick < 0.8:
            self._line(f"if ({self._condition(1)}) {{")
            self._block(2)
            if self.random.random() < 0.5:
                self._line("} else {")
                self._block(2)
            self._line("}")
        elif pick < 0.92:
            name = f"k{self.number}"
            self.number += 1
            self._line(f"for (int {name} = 0; {name} < (n & 7); {name}++) {{")
            self.variables.append((name, "int"))
            self._block(2)
            if self.random.random() < 0.5:
                self._line(f"    if ({self._condition(1)}) {self.random.choice(('break', 'continue'))};")
                self.depth += 1
                self._assign()
                self.depth -= 1
            self.variables = [v for v in self.variables if v[0] != name]
            self._line("}")
        else:
            self._line(f"switch ((int)({self._expression('int', 1)}) & 3) {{")
            for case in range(3):
                self._line(f"case {case}: {{")
                self._block(1)
                self._line("    break; }" if self.random.random() < 0.8 else "    }")
            self._line("default: ;")
            self._line("}")

    def _write(self) -> None:
        inputs = ", ".join(f"global const {t} *in{n}" for n, t in enumerate(self.inputs))
        outputs = ", ".join(f"global {t} *out{n}" for n, t in enumerate(self.outputs))
        values = ", ".join(f"{t} s{n}" for n, t in enumerate(self.values))
        head = f"kernel void {self.name}({inputs}, {outputs}, {values}, int n) {{"
        self._line("int i = get_global_id(0);")
        self.variables = [("i", "int"), ("n", "int"), *((f"s{n}", t) for n, t in enumerate(self.values))]
        for number, type_ in enumerate(self.inputs):
            self._line(f"{type_} v{self.number} = in{number}[i{self.random.choice(('', '', ' + 1', ' ^ 1'))}];")
            self.variables.append((f"v{self.number}", type_))
            self.number += 1
        if self.random.random() < 0.3:
            type_ = self.inputs[0]
            self._line(f"{type_}4 w = vload4(i, in0);")
            self._line(f"w = w + w.{self.random.choice(('wzyx', 'yyxx', 'xzyw'))};")
            self.variables += [(f"w.{part}", type_) for part in "xyzw"]
        for _ in range(self.random.randrange(2, 7)):
            self._statement()
        for number, type_ in enumerate(self.outputs):
            self._line(f"out{number}[i] = {self._expression(type_, 2)};")
        self.source = "\n".join([head, *self.lines, "}"])

    def launch(self) -> LaunchConfig:
        """Return a launch of the kernel with seeded inputs."""
        seed = np.random.default_rng(self.seed)
        args: list[object] = []
        args += [BufferArg(_numbers(seed, type_, 4 * ITEMS + 8)) for type_ in self.inputs]
        args += [BufferArg(np.zeros(ITEMS + 1, DTYPES[type_])) for type_ in self.outputs]
        args += [ValueArg(_numbers(seed, type_, 1)) for type_ in self.values]
        args.append(ValueArg(np.array([int(seed.integers(1, 8))], np.int32)))
        return LaunchConfig(kernel=self.name, groups=(2, 1, 1), local_size=(ITEMS // 2, 1, 1), args=tuple(args))  # type: ignore[arg-type]


def _numbers(seed: np.random.Generator, type_: str, count: int) -> np.ndarray[tuple[int], np.dtype[np.generic]]:
    kind = np.dtype(DTYPES[type_])
    if kind.kind == "f":
        values = seed.choice([0.0, 0.5, -1.0, 3.75, 100.0, -77.25, 1000.0], count) * seed.choice(
            [1.0, 1.0, 7.0, 0.125], count
        )
        return values.astype(kind)
    info = np.iinfo(kind)
    small = seed.integers(0, 20, count).astype(kind)
    wide = seed.integers(info.min, info.max, count, dtype=kind, endpoint=True)
    edge = seed.choice(np.array([info.min, info.max, 0, 1], kind), count)
    return np.where(seed.random(count) < 0.4, small, np.where(seed.random(count) < 0.7, wide, edge)).astype(kind)


def make_programs(
    count: int, seed: int, folder: Path, device: str, ocloc: str = "", per_file: int = 20
) -> list[tuple[Kernel, Path]]:
    """Compile so many kernels; return each with its text. Files that the compiler refuses are left out."""
    programs: list[tuple[Kernel, Path]] = []
    numbers = iter(range(seed * 1_000_003, (seed + 1) * 1_000_003))
    doubles = device == "pvc"
    while len(programs) < count:
        kernels = [
            Kernel(f"r{number % 1_000_003}", number, doubles=doubles)
            for number, _ in zip(numbers, range(min(per_file, count - len(programs))), strict=False)
        ]
        programs += _compile(kernels, folder / f"f{kernels[0].name}", device, ocloc, doubles=doubles)
    return programs[:count]


def _compile(
    kernels: Sequence[Kernel], folder: Path, device: str, ocloc: str, *, doubles: bool
) -> list[tuple[Kernel, Path]]:
    folder.mkdir(parents=True, exist_ok=True)
    heads = [
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable",
        *(["#pragma OPENCL EXTENSION cl_khr_fp64 : enable"] if doubles else []),
    ]
    (folder / "k.cl").write_text("\n\n".join([*heads, *(kernel.source for kernel in kernels)]) + "\n")
    command = [
        sys.executable,
        "-m",
        "visa_lsp",
        "compile",
        "k.cl",
        "--device",
        device,
        "-o",
        ".",
        *(["--ocloc", ocloc] if ocloc else []),
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        if len(kernels) == 1:
            print("refused:", (done.stderr + done.stdout)[:600].replace("\n", " "))
            return []
        half = len(kernels) // 2
        return [
            one for number, part in enumerate((kernels[:half], kernels[half:]))
            for one in _compile(part, folder / str(number), device, ocloc, doubles=doubles)
        ]  # fmt: skip
    return [
        (kernel, folder / f"{kernel.name}.visaasm")
        for kernel in kernels
        if (folder / f"{kernel.name}.visaasm").exists()
    ]
