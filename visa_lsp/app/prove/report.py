"""The answers of proofs as JSON objects and as text, in which a refutation has the words of a run."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import to_builtins

from visa_lsp.app.errors import printable
from visa_lsp.app.prove import Cause

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from visa_lsp.app.prove import BufferNeed, ProofResult
    from visa_lsp.app.prove.document import ProvedFile

_ORDER: Final = "bounds", "race", "divergence", "uninitialised"  # of refutations
MAX_LINES: Final = 8  # of one answer, listed by their numbers
MAX_CHARS: Final = 160  # of a line of a launch file, which may have the values of a buffer
_BUFFER: Final = re.compile(r"`[^`]*`")
_MET: Final = re.compile(r"all work items of a group come to the barrier of line (\d+)")
_WRAPS: Final = re.compile(r"the index arithmetic of line (\d+) does not wrap around")
_GROUPS: Final = re.compile(r"\bgroups((?:_[xyz])?)\b")
_SIZE: Final = re.compile(r"(\w+) has at least (.+)")  # that no need states
_LABELS: Final = {"uninitialised": "uninitialised registers"}  # memory that nothing has written is not part of it
_LINES: Final = re.compile(r"\blines? ([\d, and]*\d)\b(?! \()")  # without a place in the source
_ELSEWHERE: Final = "--launches DIR writes the launch files; visa-lsp run DIR/*.launch.yaml shows the faults again"


def results_json(file: ProvedFile) -> list[dict[str, Any]]:
    """Return the answers for a file as JSON objects, each without the keys that it has no value for."""
    return [
        {"property": result.property, "path": printable(file.name)}
        | {
            key: value
            for key, value in to_builtins(result).items()
            if value is not None and (value or key not in ("needs", "faults", "buffer"))
        }
        for result in file.results
    ]


def needs_json(files: Iterable[ProvedFile]) -> list[dict[str, str]]:
    """Return the least size of each buffer as JSON objects."""
    return [
        {
            "path": printable(file.name),
            "kernel": kernel,
            "buffer": need.buffer,
            "elements": need.elements,
            "unit": need.unit,
        }
        for file in files
        for kernel in dict.fromkeys(one.kernel for one in file.results)
        for need in _needs_of([one for one in file.results if one.kernel == kernel])
    ]


def group_refutations(results: Iterable[ProofResult]) -> dict[tuple[str, str, str], list[ProofResult]]:
    """Return the refutations of each launch, by kernel, property and text of the launch file."""
    groups: dict[tuple[str, str, str], list[ProofResult]] = {}
    for one in results:
        if one.launch is not None:
            groups.setdefault((one.kernel, one.property, one.launch), []).append(one)
    return groups


def as_text(files: Sequence[ProvedFile], written: Mapping[tuple[str, str, str], str] | None = None) -> str:
    """Return the answers as text: each unproved line, and counts of the rest with their assumptions.

    ``written`` has the paths of launch files by kernel, property and text; None if a report has no launch files.
    """
    lines: list[str] = []
    for file in files:
        name = printable(file.name)
        if not file.results:
            lines.append(f"{name}: nothing to prove: no memory is accessed, no register is read, there is no barrier")
        for kernel in dict.fromkeys(one.kernel for one in file.results):
            lines += _kernel_lines(name, kernel, [one for one in file.results if one.kernel == kernel], written)
    return "".join(f"{line}\n" for line in lines)


def _kernel_lines(
    name: str, kernel: str, results: Sequence[ProofResult], written: Mapping[tuple[str, str, str], str] | None
) -> list[str]:
    lines: list[str] = []
    groups = group_refutations(results)
    # An access beyond the end may race, too, with one that is right.
    for key, refuted in sorted(groups.items(), key=lambda group: _ORDER.index(group[0][1])):
        lines += _refutation_lines(name, key, refuted, written or {})
    # Instructions for other lanes of a refuted statement have its mistake too.
    statements = {_statement(one) for one in results if one.launch is not None and one.source}
    open_ = [one for one in results if one.answer != "proved" and one.launch is None]
    hidden = Counter(one.property for one in open_ if _statement(one) in statements)
    shown = [one for one in open_ if _statement(one) not in statements]
    for (property_, answer, buffer, reason), ones in _group_by_reason(shown).items():
        why = f"{': ' if reason.startswith('time') else ', because '}{printable(reason)}" if reason else ""
        many = f" for {len(ones)} accesses" if len(ones) > 1 and buffer else ""
        of = f"{many or ' for the access'} of `{buffer}`" if buffer else ""
        places = [f"lines {_list_lines(ones)}"] if len(ones) > 1 else []
        places += dict.fromkeys(_shorten(one.source) for one in ones if one.source)
        at = f" ({', '.join(places[: 1 + MAX_LINES])})" if places else ""
        lines.append(f"{name}:{ones[0].line}: {property_} {answer}{of}{why}{at}")
    for property_ in dict.fromkeys(one.property for one in results):
        counts = Counter(one.answer for one in results if one.property == property_)
        words = [f"{counts[word]} {word}" for word in ("proved", "refuted", "bounded", "unknown") if word in counts]
        if hidden[property_]:
            part = f"{hidden[property_]} of them " if hidden[property_] < counts["unknown"] + counts["bounded"] else ""
            words[-1] += f" ({part}at a refuted statement)"
        lines.append(f"{name}: {printable(kernel)}: {_LABELS.get(property_, property_)}: {', '.join(words)}")
    if written is not None and any(key not in written for key in groups):
        lines.append(f"  {_ELSEWHERE}")
    needs = _needs_of(results)
    # A size that no need states is printed like any other assumption.
    stated = tuple([f"{need.buffer} has at least " for need in needs])
    assumed = dict.fromkeys(
        words for one in results if one.answer == "proved" for words in one.assumptions if not words.startswith(stated)
    )
    overrun = {one.buffer for one in results if one.property == "bounds" and one.answer == "refuted"}
    sizes = [size for words in assumed if (size := _SIZE.fullmatch(words)) is not None]
    for size in sizes:
        del assumed[size[0]]
    if assumed:
        is_all = all(one.answer == "proved" for one in results)
        lines.append(f"  {'proved' if is_all else 'the proved answers hold'} for launches in which")
        sources = {one.line: one.source for one in results if one.source}
        implied = {f"{words[:-8]}not negative" for words in assumed if words.endswith(" is positive")}
        missed = {one.line for one in results if one.property == "divergence" and one.answer == "refuted"}
        for condition in _join_wraps([one for one in assumed if one not in implied], sources):
            met = _MET.fullmatch(condition)
            refuted_above = ", which is refuted above" if met is not None and int(met[1]) in missed else ""
            named = "" if "(line" in condition else _list_sources(condition, sources)
            lines.append(f"  - {_shorten(condition)}{named}{refuted_above}")
    if needs or sizes:
        lines.append("  needs these sizes of buffers")
        undecided = {one.buffer for one in results if one.property == "bounds" and one.answer != "proved"}
        for size in sizes:
            if size[1] in overrun:
                remark = " for the proved accesses; no size was found that suffices for the refuted one"
            elif size[1] in undecided:
                remark = "; accesses that are not decided may need more"
            else:
                remark = " suffice; fewer may, too"
            lines.append(f"  - {size[1]}: {_name_counts(size[2])}{remark}")
        for need in needs:
            unit = need.unit.removesuffix("s") if need.elements == "1" else need.unit
            unit = f"{unit} of {need.vector}" if need.vector else unit
            elements = _name_counts(need.elements)
            amount = f"{elements} {unit}"
            if need.exceeds is not None and need.buffer in overrun:
                amount += f" as the kernel is now; the launch that refutes has {need.exceeds}"
            elif need.exceeds is not None:
                amount += f", more than the natural size {need.exceeds}"
            lines.append(f"  - {need.buffer}: {amount}".replace(" // ", " / "))  # as in C
        sized = {need.buffer for need in needs} | {size[1] for size in sizes} | overrun
        if unsized := sorted({one.buffer for one in results if one.buffer and _has_no_size(one)} - sized):
            lines.append(f"  - {', '.join(unsized)}: no size is known, as said above")
    left = overrun - {need.buffer for need in needs} - {size[1] for size in sizes} - {None}
    if left:
        lines += [] if needs or sizes else ["  needs these sizes of buffers"]
        lines.append(f"  - {', '.join(sorted(map(str, left)))}: no size was found that suffices for the refuted access")
    return lines


def _name_counts(words: str) -> str:
    """Return a formula whose numbers of groups are named as OpenCL does: ``groups`` might be an argument."""
    return _GROUPS.sub(r"num_groups\1", words)


def _join_wraps(assumed: Iterable[str], sources: Mapping[int, str]) -> Iterator[str]:
    """Yield assumptions, with the lines of index arithmetic in one of them, by their places in the source if those are known."""
    lines: list[int] = []
    for words in assumed:
        if (found := _WRAPS.fullmatch(words)) is not None:
            lines.append(int(found[1]))
        else:
            yield words
    if lines:
        *others, last = map(str, sorted(lines))
        numbers = f"lines {', '.join(others)} and {last}" if others else f"line {last}"
        if places := dict.fromkeys(_shorten(sources[line]) for line in sorted(lines) if line in sources):
            numbers = f"{', '.join(places)} ({numbers})"
        yield f"the results of the index arithmetic of {numbers} fit into 32 bits"


def _list_sources(assumption: str, sources: Mapping[int, str]) -> str:
    """Return the places in the source of the lines that an assumption names, in parentheses."""
    numbers = [int(number) for words in _LINES.findall(assumption) for number in re.findall(r"\d+", words)]
    places = dict.fromkeys(_shorten(sources[number]) for number in numbers if number in sources)
    return f" ({', '.join(places)})" if places else ""


def _shorten(place: str) -> str:
    """Return words with a place in a source, relative to the working directory if it lies there."""
    return printable(re.sub(rf"(^|\(){re.escape(str(Path.cwd()))}/", r"\1", place))


def _refutation_lines(
    name: str, key: tuple[str, str, str], refuted: Sequence[ProofResult], written: Mapping[tuple[str, str, str], str]
) -> list[str]:
    """Return the lines of a launch that refutes: where, the faults as ``run`` prints them, and the launch."""
    from visa_lsp.app.launch.printing import fault_lines  # loads NumPy

    _, property_, launch = key
    lines = [f"{name}:{_list_lines(refuted)}: {property_} refuted"]
    faults = {fault["text"]: fault for one in refuted for fault in one.faults}
    lines += [f"  {line}" for fault in _group_faults(faults.values()) for line in fault_lines("fault", fault)]
    if key in written:
        return [*lines, f"    launch file: {written[key]}"]
    return [*lines, "    launch:", *(f"      {_cut(line)}" for line in launch.splitlines())]


def _group_faults(faults: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the first fault of each pair of source lines and buffer with the count of its likes, as ``run`` does."""
    groups: dict[object, dict[str, Any]] = {}
    for fault in faults:
        buffer = found[0] if (found := _BUFFER.search(fault["message"])) else ""
        key = (frozenset((fault["source"], fault["other_source"])), buffer) if fault["source"] else len(groups)
        known = groups.setdefault(key, fault)
        if known is not fault:
            groups[key] = {**known, "count": known["count"] + fault["count"]}
    return list(groups.values())


def _cut(line: str) -> str:
    """Return a line of a launch file, shortened before the comment with the name of an argument."""
    if len(line) <= MAX_CHARS:
        return line
    text, mark, name = line.rpartition("}  # ")
    comment = f"{mark}{name}" if text and len(name) < MAX_CHARS // 2 else ""
    return f"{line[: MAX_CHARS - 3 - len(comment)]}...{comment}"


def _list_lines(results: Sequence[ProofResult]) -> str:
    numbers = [str(one.line) for one in results]
    return ", ".join(numbers[:MAX_LINES]) + (f" and {len(numbers) - MAX_LINES} more" if numbers[MAX_LINES:] else "")


def _statement(result: ProofResult) -> tuple[str, str | None, str | None]:
    return result.property, result.source, result.buffer


def _group_by_reason(results: Iterable[ProofResult]) -> dict[tuple[str, str, str, str], list[ProofResult]]:
    """Return answers by what they have in common."""
    groups: dict[tuple[str, str, str, str], list[ProofResult]] = {}
    for one in results:
        groups.setdefault((one.property, one.answer, one.buffer or "", one.reason or ""), []).append(one)
    return groups


def _has_no_size(result: ProofResult) -> bool:
    """Return whether an answer says that no arguments and sizes give the size of a buffer."""
    return result.property == "bounds" and result.cause in (Cause.CONTENTS, Cause.OPEN)


def _needs_of(results: Sequence[ProofResult]) -> list[BufferNeed]:
    """Return the needs of buffers that proofs presume a size of.

    Of a buffer with an access that is not decided, the need may be larger.
    """
    answers: dict[str | None, set[str]] = {}
    for one in results:
        if one.property == "bounds" and one.cause is not Cause.SIZE:
            answers.setdefault(one.buffer, set()).add(one.answer)
    overrun = {buffer for buffer, own in answers.items() if "refuted" in own}
    open_ = {buffer for buffer, own in answers.items() if own & {"unknown", "bounded"}} - overrun
    needs = dict.fromkeys(need for one in results for need in one.needs)
    # A need that a launch has and exceeds is none.
    return [need for need in needs if need.buffer not in open_ and (need.exceeds or need.buffer not in overrun)]
