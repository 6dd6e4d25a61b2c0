"""Checks a launch file against its kernel: the kernel, and the number, kinds and types of its arguments.

Reports exactly what a run would refuse, in the same words (``program.payload``, ``program.elements``). Invariant: kernels
without ze_info and arguments that are wrong by themselves are skipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.launchfile import rules
from visa_lsp.launchfile.values import (
    GivenArg,
    GivenArray,
    GivenBuffer,
    GivenImage,
    GivenLocal,
    GivenPointer,
    GivenSampler,
    GivenValue,
    LaunchText,
)
from visa_lsp.program.elements import GivenNumbers, element_bytes, is_float, misfit
from visa_lsp.program.payload import KIND_WORDS, KernelInfo, PayloadArgument
from visa_lsp.suggest import nearest
from visa_lsp.zeinfo.source_findings import change_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.launchfile.checks import Checks
    from visa_lsp.launchfile.kernel import MeantKernel
    from visa_lsp.zeinfo.yaml import YamlItem

_GIVEN: Final = {
    GivenBuffer: "buffer", GivenPointer: "buffer", GivenValue: "value", GivenLocal: "local", GivenImage: "image", GivenSampler: "sampler",
}  # fmt: skip
_WANTED: Final = {
    "value": "passed by value: {value: NUMBER}", "buffer": "a buffer: {buffer: {...}}",
    "local": "shared local memory: {local: BYTES}", "image": "an image: {image: {...}}", "sampler": "a sampler: {sampler: {...}}",
}  # fmt: skip


def compare(checks: Checks, launch: LaunchText, meant: MeantKernel) -> None:
    """Add the findings that a run of the kernel would report."""
    root = checks.source.root
    if root is None or not isinstance(root.value, dict):
        return
    if _kernel_is_there(checks, root.value, meant) and meant.info is not None:
        _Arguments(checks, launch, meant.info, root).judge()


def _kernel_is_there(checks: Checks, top: dict[str, YamlItem], meant: MeantKernel) -> bool:
    """Return whether the program and the ze_info that the file names have the kernel; report it if not."""
    named = top.get("kernel")
    if meant.kernels is not None and named is not None and meant.name and meant.name not in meant.kernels:
        near = nearest(meant.name, meant.kernels)
        hint = f"did you mean '{near}'?" if near else f"known kernels: {', '.join(meant.kernels[:40]) or 'none'}"
        words = f"the program has no kernel '{meant.name:.100}'; {hint}"
        checks.add(rules.NO_SUCH_KERNEL, named, words, change_to(checks.source.span(named), near))
        return False
    if meant.kernels is not None and named is None and len(meant.kernels) > 1:
        place = top.get("file") or top.get("args") or checks.source.root
        assert place is not None
        words = f"the program has several kernels; name one: kernel: {' | '.join(meant.kernels[:40])}"
        checks.add(rules.NO_SUCH_KERNEL, place, words)
        return False
    place = named or top.get("ze_info") or top.get("zebin")
    if meant.name and meant.described is not None and meant.name not in meant.described and place is not None:
        near = nearest(meant.name, meant.described)
        hint = f"did you mean '{near}'?" if near and named else f"known kernels: {', '.join(meant.described[:40])}"
        words = f"the ze_info '{meant.told_by}' has no kernel '{meant.name:.100}'; {hint}"
        fixes = change_to(checks.source.span(place), near) if named is not None and meant.kernels is None else ()
        checks.add(rules.NO_SUCH_KERNEL, place, words, fixes)
        return False
    return True


class _Arguments:
    """The arguments of one launch and the parameters of its kernel."""

    def __init__(self, checks: Checks, launch: LaunchText, info: KernelInfo, root: YamlItem) -> None:
        self.checks = checks
        self.launch = launch
        self.info = info
        self.root = root
        assert isinstance(root.value, dict)
        self.item = root.value.get("args")

    def judge(self) -> None:
        if self.item is not None and not isinstance(self.item.value, dict | list):
            return
        for index, given, item in self._pairs():
            if given is not None:
                self._kind(index, given, item)
        if self.item is not None and isinstance(self.item.value, list):
            self._judge_expected_names()

    def _judge_expected_names(self) -> None:
        """Report expectations of a name that no argument has; with a map of arguments the file alone shows them."""
        assert isinstance(self.root.value, dict)
        expect = self.root.value.get("expect")
        names = [name for index in range(self.info.argument_count) if (name := self.info.argument_name(index))]
        for entry in expect.value if expect is not None and isinstance(expect.value, list) else ():
            named = entry.value.get("arg") if isinstance(entry.value, dict) else None
            if (
                named is not None
                and isinstance(named.value, str)
                and named.value.isidentifier()
                and named.value not in names
            ):
                near = nearest(named.value, names) or ""
                hint = (
                    f"did you mean '{near}'?"
                    if near
                    else f"known arguments: {', '.join(names[:40]) or 'without names'}"
                )
                words = f"kernel '{self.info.name}' has no argument '{named.value:.100}'; {hint}"
                self.checks.add(rules.NO_SUCH_ARGUMENT, named, words, change_to(self.checks.source.span(named), near))

    def _pairs(self) -> Iterator[tuple[int, GivenArg | None, YamlItem]]:
        """Yield each argument that both kernel and launch have; report those that only one has."""
        item, args, count = self.item, self.launch.args, self.info.argument_count
        if item is not None and isinstance(item.value, dict) and isinstance(args, dict):
            names = {self.info.argument_name(index): index for index in range(count)}
            unknown = self._unknown(item, names)
            missing = [index for name, index in names.items() if name not in item.value and name not in unknown]
            if missing:
                which = "argument" if len(missing) == 1 else "arguments"
                words = f"kernel '{self.info.name}' needs {which} {self.info.describe_arguments(missing)}, not given"
                self.checks.add(rules.ARGUMENT_COUNT, self.checks.key(self.root, "args"), words)
            yield from ((names[name], args.get(name), entry) for name, entry in item.value.items() if name in names)
            return
        entries = item.value if item is not None and isinstance(item.value, list) else []
        if len(entries) != count:
            expected = f"; expected: {self.info.describe_arguments(range(count))}" if count else ""
            words = f"kernel '{self.info.name}' takes {count} arguments, got {len(entries)}{expected}"
            source = self.checks.source
            place = self.checks.key(self.root, "args") if item is not None else source.span(self.root)
            self.checks.add(rules.ARGUMENT_COUNT, source.span(entries[count]) if len(entries) > count else place, words)
        if isinstance(args, tuple):
            yield from ((index, args[index], entry) for index, entry in enumerate(entries[:count]))

    def _unknown(self, item: YamlItem, names: dict[str, int]) -> set[str]:
        """Report unknown argument names and return the names that they most likely mean."""
        assert isinstance(item.value, dict)
        free = [name for name in names if name and name not in item.value]
        meant = set()
        for name in item.value:
            if name in names:
                continue
            near = nearest(name, free) or ""
            listed = ", ".join([n for n in names if n][:40]) or "without names in the ze_info; give them as a list"
            hint = f"did you mean '{near}'?" if near else f"known arguments: {listed}"
            span = self.checks.key(item, name)
            words = f"kernel '{self.info.name}' has no argument '{name:.100}'; {hint}"
            self.checks.add(rules.NO_SUCH_ARGUMENT, span, words, change_to(span, near))
            meant.add(near)
        return meant

    def _who(self, index: int) -> str:
        name, type_name = self.info.argument_name(index), self.info.type_of(index)
        description = ": ".join(words for words in (name, type_name) if words)
        return f"argument {index}" + (f" ({description})" if description else "")

    def _kind(self, index: int, given: GivenArg, item: YamlItem) -> None:
        entries = [entry for entry in self.info.payload if entry.arg_index == index and entry.kind]
        kind = _GIVEN[type(given)]
        wrong = next((entry.kind for entry in entries if entry.kind != kind), "")
        if wrong:
            words = f"{self._who(index)} is {_WANTED[wrong]}; got {KIND_WORDS[kind]}"
            self.checks.add(rules.ARGUMENT_KIND, item, words)
        elif isinstance(given, GivenValue):
            by_value = [entry for entry in entries if entry.arg_type == "arg_byvalue"]
            words = next((w for entry in by_value if (w := self._misfit(index, given.array, entry))), "")
            if words:
                self.checks.add(rules.ARGUMENT_TYPE, item, words)

    def _misfit(self, index: int, array: GivenArray, entry: PayloadArgument) -> str:
        numbers = array.numbers
        whole, is_padded = self.info.value_size(entry)
        if is_padded and array.typed and len(numbers) * element_bytes(array.dtype) >= whole:
            return ""  # a struct with padding at its end
        fraction = is_float(array.dtype) and not all(_is_whole(number) for number in numbers)
        low, high = (min(numbers), max(numbers)) if numbers else (0, 0)
        given = GivenNumbers(len(numbers), array.dtype, array.typed, low, high, not fraction)
        return misfit(given, whole, self.info.element_of(index), self._who(index))


def _is_whole(number: float) -> bool:
    # Infinity has no fraction; the range check reports it.
    return number in (float("inf"), float("-inf")) or float(number).is_integer()
