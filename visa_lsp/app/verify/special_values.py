"""Values of arguments that let mistakes of machine code show: numbers of the text, edges of types, small numbers.

Arguments are in the words of launch files. Numbers of a text are its immediates, those of comparisons first.
"""

from __future__ import annotations

from itertools import cycle, zip_longest
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeGuard

import numpy as np

from visa_lsp.isa.model import Trait
from visa_lsp.program.model import Immediate
from visa_lsp.sim.launch.config import BufferArg, ImageArg, SamplerArg, ValueArg
from visa_lsp.sim.values import immediate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.app.launch.unit import OpenedLaunch
    from visa_lsp.sim.launch.config import Array

RANDOM_TYPES: Final = frozenset(
    {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)} | {"float16", "float32", "float64"}
)
_MAX_CONSTANTS: Final = 12  # of a text, of each kind, in a buffer
_LARGEST: Final = (3, 1)  # of integers among the arguments, by turn
_USUAL: Final = 1.5  # largest value of an argument without a special meaning
_SMALL: Final = (0, 1, 2, 3, 5, 11, 29)
_FLOATS: Final = (0.0, -0.0, 1.0, -1.0, 0.5, 2.75, -3.25, 17.0, 1e-3, 1e10, -1e30, 1e-40)
_FEW_FLOATS: Final = (0.0, 1e10, -1e-40, float("inf"), float("nan"), -3.25)
_FRACTIONS: Final = (-0.75, -0.3125, 0.03125, 0.4375, -0.09375)  # that half floats hold exactly
_TWO_VALUES: Final = (1, 1, 0, 1, 0)
_LARGE: Final = 1000
_SMALL_SIDE: Final = 11  # texels
_APART: Final = 0x7_0000_0000  # between the addresses of buffers
_DISTANCE: Final = 192  # bytes of a buffer from the start of its surface, by their number


class SpecialValues:
    """Special values for the arguments of a launch."""

    def __init__(self, opened: OpenedLaunch) -> None:
        self.opened, self.config = opened, opened.launch.config
        self.kernel = opened.ready().prepared.dispatch.kernel
        self.constants = _constants(self.kernel.instructions)

    def arguments(self, turn: int) -> dict[Any, Any]:
        """Return values for all arguments in turn 0 or 1; integers are at most those of the launch, as they may be sizes."""
        args = self.buffers(turn)
        for number, (key, arg) in enumerate(self.config.by_key.items()):
            if _is_value(arg) and arg.array.size == 1:
                pool = self._pool(arg.array.dtype, number, turn)
                value = pool[0] if arg.array.dtype.kind == "f" else max(0, min(arg.array.item(), _LARGEST[turn]))
                args[key] = {"value": value, "dtype": arg.array.dtype.name}
        return args

    def buffers(self, turn: int) -> dict[Any, Any]:
        """Return contents for the buffers and images; from turn 2 on with further numbers of the text. Images are smaller than most launches."""
        return self.images(turn + 1, _SMALL_SIDE) | {
            key: {"buffer": {**shape_of(arg), "init": {"repeat": self._pool(arg.array.dtype, number, turn)}}}
            for number, (key, arg) in enumerate(self.config.by_key.items())
            if isinstance(arg, BufferArg) and arg.array.dtype.name in RANDOM_TYPES
        }

    def random(self) -> dict[Any, Any]:
        """Return random contents for the buffers and images, over the whole range of integers; samplers with the rules that need code of their own."""
        return (
            self.images(0)
            | self._samplers()
            | {
                key: {"buffer": {**shape_of(arg), "init": {"random": number + 1}}}
                for number, (key, arg) in enumerate(self.config.by_key.items())
                if isinstance(arg, BufferArg) and arg.array.dtype.name in RANDOM_TYPES
            }
        )

    def alike(self) -> dict[Any, Any]:
        """Return one short row of two values for all buffers, so that what a kernel compares is equal in some lanes, however long it is.

        Integers that are no size of the launch are small.
        """
        args, sides = dict[Any, Any](), np.multiply(self.config.groups, self.config.local_size or 1)
        sizes = {*sides.tolist(), int(sides[0] * sides[1]), int(sides.prod())}
        for key, arg in self.config.by_key.items():
            if isinstance(arg, BufferArg) and arg.array.dtype.name in RANDOM_TYPES:
                args[key] = {"buffer": {**shape_of(arg), "init": {"repeat": list(_TWO_VALUES)}}}
            elif (
                _is_value(arg)
                and arg.array.size == 1
                and arg.array.dtype.kind in "iu"
                and arg.array.item() not in sizes
            ):
                args[key] = _value(arg.array, max(0, min(arg.array.item(), _LARGEST[0])))
        return args

    def images(self, turn: int, side: int | None = None) -> dict[Any, Any]:
        """Return random texels for the images, with at most ``side`` on each axis."""
        args = dict[Any, Any]()
        for number, (key, arg) in enumerate(self.config.by_key.items()):
            if isinstance(arg, ImageArg) and arg.array.dtype.name in RANDOM_TYPES:
                *axes, channels = arg.array.shape if arg.channels else (*arg.array.shape, 0)
                shape = [min(axis, side or axis) for axis in axes] + [channels] * bool(arg.channels)
                seed = turn * len(self.config.by_key) + number
                args[key] = {"image": {"dtype": arg.array.dtype.name, "shape": shape, "init": {"random": seed}}}
        return args

    def _samplers(self) -> dict[Any, Any]:
        """Return samplers with a border and the nearest texel, for which compilers compare coordinates with zero; normalized ones stay."""
        state = {"address": "clamp", "filter": "nearest", "normalized": False}
        samplers = ((key, arg) for key, arg in self.config.by_key.items() if isinstance(arg, SamplerArg))
        return {key: {"sampler": state} for key, arg in samplers if not arg.normalized}

    def apart(self, args: dict[Any, Any]) -> tuple[dict[Any, Any], list[dict[str, Any]]]:
        """Return arguments with buffers of ``args`` as pointers into memory, and that memory.

        Addresses differ in their upper halves, and each buffer begins at another distance from the start of its surface.
        """
        memory, moved = list[dict[str, Any]](), dict(args)
        for number, (key, arg) in enumerate(args.items()):
            buffer = arg.get("buffer")
            if buffer is not None:
                size = np.dtype(buffer["dtype"]).itemsize
                address, before = _APART + number * _APART, _DISTANCE * (number + 1) // size
                memory.append({**buffer, "address": address, "shape": [int(np.prod(buffer["shape"])) + before]})
                moved[key] = {"pointer": address + before * size}
        return moved, memory

    def distinct(self) -> dict[Any, Any]:
        """Return small values that differ from each other for numbers that are equal in the launch.

        Vectors of integers are as large as the launch, less one. Floats are fractions, with which loops go on until some lanes leave them.
        """
        config, args, fractions = self.config, dict[Any, Any](), cycle(_FRACTIONS)
        sides = np.subtract(np.multiply(config.groups, config.local_size or 1), 1).clip(1).tolist()
        for number, (key, arg) in enumerate(config.by_key.items()):
            if not _is_value(arg) or not (arg.array.ravel() <= _USUAL).all():
                continue
            args[key] = _value(arg.array, arg.array.ravel()[0].item() + number % len(_LARGEST))
            if arg.array.size > 1 and arg.array.dtype.kind in "iu" and arg.array.dtype.itemsize > 1:
                args[key]["values"] = (sides + [1] * arg.array.size)[: arg.array.size]
            elif arg.array.dtype.kind == "f":
                args[key] = _value(arg.array, next(fractions))
        return args

    def large(self, side: int) -> dict[Any, Any]:
        """Return integers of at least ``side``, each another."""
        arguments = enumerate(self.config.by_key.items())
        return {
            key: _value(arg.array, min(side + number, np.iinfo(arg.array.dtype).max))
            for number, (key, arg) in arguments
            if _is_value(arg) and arg.array.dtype.kind in "iu"
        }

    def scalars(self) -> dict[Any, list[dict[str, Any]]]:
        """Return values for each argument by value: edges, and those around the numbers of the text."""
        return {
            key: [_value(arg.array, n) for n in {repr(n): n for n in self._few(arg.array)}.values()]
            for key, arg in self.config.by_key.items()
            if _is_value(arg)
        }

    def _few(self, array: Array) -> Iterator[int | float]:
        if array.dtype.kind == "f":
            largest = float(np.finfo(array.dtype).max)
            yield from (n for n in _FEW_FLOATS if not abs(n) > largest or n == np.inf)
            yield from (1.25 * n for n in self.constants[:_MAX_CONSTANTS])
            return
        limits = np.iinfo(array.dtype)
        near = (n + step for n in self.constants[:_MAX_CONSTANTS] if isinstance(n, int) for step in (0, 1, -1))
        edges = (0, 1, -1, array.max().item() + 1, 2, _LARGE, limits.max, limits.min)
        for number in (number for pair in zip_longest(edges, near) for number in pair):
            if number is not None and limits.min <= number <= limits.max:
                yield number

    def _pool(self, dtype: np.dtype[Any], number: int, turn: int) -> list[int | float]:
        """Return values of a type, in a random order: numbers of the text with their neighbours, edges of the type, small ones."""
        pick = np.random.default_rng(number + turn * len(self.config.by_key))
        start = max(0, turn - 1) * _MAX_CONSTANTS % max(1, len(self.constants))
        constants = self.constants[start:] + self.constants[:start]
        pool: list[int | float]
        if dtype.kind == "f":
            largest = float(np.finfo(dtype).max)
            own = [float(n) for n in constants if abs(n) < largest / 2][:_MAX_CONSTANTS]
            usual = [n for n in _FLOATS if abs(n) <= largest]
            pool = [*usual, *own, *(1.25 * n for n in own), *pick.uniform(-40, 40, 12).round(2).tolist()]
        else:
            limits = np.iinfo(dtype)
            near = [n + step for n in constants[:_MAX_CONSTANTS] if isinstance(n, int) for step in (-1, 0, 1)]
            wanted = [*_SMALL, -1, limits.min, limits.max, *near, *pick.integers(0, 120, 12).tolist()]
            pool = [n for n in wanted if limits.min <= n <= limits.max]
        pool = list({repr(n): n for n in pool}.values())  # -0.0 is not 0.0
        pool = [pool[n] for n in pick.permutation(len(pool)).tolist()]
        return pool if len(pool) % 2 else [*pool, pool[0]]  # so that strides meet every value


def shape_of(arg: BufferArg) -> dict[str, Any]:
    """Return type and shape of a buffer."""
    return {"dtype": arg.array.dtype.name, "shape": list(arg.array.shape)}


def listed(opened: OpenedLaunch, args: dict[Any, Any]) -> Any:
    """Return arguments as a launch file has them: a list by index, or a map by name."""
    config = opened.launch.config
    return [args.get(n) for n in range(len(config.args))] if isinstance(config.args, tuple) else args


def sizes_of(opened: OpenedLaunch) -> dict[str, Any]:
    """Return the sizes of a launch."""
    config = opened.launch.config
    local = {"local_size": list(config.local_size)} if config.local_size is not None else {}
    return {"groups": list(config.groups), **local}


def _is_value(arg: Any) -> TypeGuard[ValueArg]:
    return isinstance(arg, ValueArg) and arg.array.dtype.name in RANDOM_TYPES


def _value(array: Array, number: float) -> dict[str, Any]:
    """Return a value for an argument; further elements of a vector are a step larger each, as far as the type allows."""
    name = array.dtype.name
    if array.size == 1:
        return {"value": number, "dtype": name}
    last = number + array.size if array.dtype.kind == "f" else np.iinfo(array.dtype).max
    return {"values": [min(number + n, last) for n in range(array.size)], "dtype": name}


def _constants(instructions: Iterable[Any]) -> list[int | float]:
    """Return the immediates of a text, those of comparisons first."""
    numbers: list[tuple[bool, int | float]] = []
    for inst in instructions:
        for value in inst.values:
            number = immediate(value, 1)[0].item() if isinstance(value, Immediate) else None
            if number is not None and np.isfinite(float(number)):
                numbers.append((not inst.row.has(Trait.COMPARES), number))
    return list(dict.fromkeys(number for _, number in sorted(numbers, key=itemgetter(0))))
