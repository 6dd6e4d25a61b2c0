"""The report of ``visa-lsp run``, as text and as JSON, and of the server's run command.

Knows values of ``report`` only; loads no NumPy.

The JSON report of a launch has these keys: ``launch`` (the launch file), ``kernel``, ``platform``, ``engine``,
``buffers`` (``arg``, ``name``, ``title`` with both, ``dtype``, ``shape``, ``written`` where the kernel has stored into it,
``changed`` where it holds other bytes than before, ``image`` with ``width``, ``height``, ``depth``, ``channels`` and
``format`` of an image or null, ``head`` with the first values, ``path`` of the file written or
null), ``expectations`` (``arg``, ``ok``, ``message``; where it does not hold also ``title``, ``expected`` with ``dtype``,
``shape`` and ``head``, and ``differences``: ``count``, ``of`` all elements, ``largest`` with ``value`` and ``at`` of the
``absolute``, ``relative`` and ``ulp`` error as far as there are any, ``unordered``, which counts elements where one side
is NaN or infinite, ``text`` with all that in words, ``first`` with ``at``, ``got`` and ``expected``; null where size or type
are others), ``faults`` (``kind``, ``message``, ``text`` with all in one
line, ``kernel``, ``group``,
``thread``, ``lane``, ``items`` with ``lane``, ``global`` and ``local`` id of each work item in question, ``other_items`` (the
same of the other party, where known), ``instruction``, ``line`` from 1 or null, ``address``, ``other``, ``place``, ``excerpt``,
``other_place``, ``other_excerpt``, ``count`` (the number of faults at the same lines of the source; this is the first); ``source``, ``source_excerpt``, ``other_source`` and ``other_source_excerpt`` say the same
of the source that the text was compiled from, where its ``FILE`` and ``LOC`` lines name it, ``index`` and ``index_excerpt`` of
the line there that computes the index of the element, ``condition`` and
``condition_excerpt`` of the branch there on which an access out of bounds depends, ``is_unguarded`` whether it depends on
none, ``no_barrier`` the ways between the places of a race in one group that no barrier stands on, each with ``from`` and
``to``),
``more_faults`` (how many were found beyond ``--max-errors``), ``findings`` (the same, for findings that are not faults),
``messages`` (what is recorded instead of carried out: ``kind``, ``reason``, ``count``, ``kernel``, ``group``, ``thread``,
``instruction``, ``line``, ``payload`` with ``operand``, ``bytes`` and a hexadecimal ``head``, ``place``, ``excerpt``),
``threads``, ``groups``, ``instructions``, ``opcodes`` (counts by mnemonic), ``barriers``, ``bytes_read``, ``bytes_written``,
``printed``, ``notes``, ``assumed`` (sentences; empty for a launch file), ``time`` (wall seconds: ``load`` from the text to its
dispatch, ``compile`` for making machine code, ``run`` with those of the kernel alone, run by run), ``replayed_groups`` (how many
groups the interpreter ran again because a check had stopped compiled code), ``ok``, with ``--counts`` and ``--profile`` also
``profile``, as module ``profile`` says; without a launch file also ``launch_text``, the text of one that says the same. What is
only written (``--init``) has ``launch``, ``ok``, ``written`` (files), ``assumed`` and ``launch_text``. One that could not be made
has ``launch``, ``ok`` and ``error``. One launch gives one object, several give an array.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from visa_lsp.app.launch.expectation_words import (
    base64_of,
    difference_lines,
    expectation_values,
    finite,
    index_words,
    numbers,
)
from visa_lsp.app.launch.profile import profile_lines, profile_values
from visa_lsp.sim.faults import FaultKind, WorkItem, items_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from visa_lsp.app.launch.report import BufferReport, RunReport
    from visa_lsp.sim.dispatch import RecordedMessages
    from visa_lsp.sim.faults import Fault
    from visa_lsp.sim.launch.config import Array

_HEAD: Final = 8
_DESCRIPTORS: Final = ("desc", "exdesc")
_PAYLOAD_HEAD: Final = 64  # bytes


class Outcome(Struct, frozen=True):
    """A launch for the report: its name and either a report with the files written, or an error line and status.

    For a generated launch ``launch_text`` is the text of its launch file. A launch that is only written has no report, but the
    assumptions ``assumed`` and the files ``written``. ``next_step`` is a command for a failed expectation.
    """

    name: str
    report: RunReport | None = None
    paths: tuple[str | None, ...] = ()
    error: str = ""
    status: int = 0
    launch_text: str = ""
    assumed: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    next_step: str = ""


# The report as text.


def text_lines(outcome: Outcome, *, timed: bool = False) -> Iterator[str]:
    """Yield the printed report of one launch; if ``timed``, with its times."""
    report = outcome.report
    if report is None and outcome.written:
        yield f"{', '.join(outcome.written)}: written"
        for sentence in outcome.assumed:
            yield f"  assumed: {sentence}"
        return
    if report is None:
        yield outcome.error
        return
    yield (
        f"{outcome.name}: kernel {report.kernel} on {report.platform}, {report.engine}: "
        f"{counted(report.result.groups, 'group')}, {counted(report.result.threads, 'thread')}, {counted(report.instructions, 'instruction')}"
    )
    counts = sorted(report.result.instructions.items(), key=lambda item: (-item[1], item[0]))
    if counts:
        yield f"  opcodes: {', '.join(f'{word} {count}' for word, count in counts)}"
    barriers = f", {counted(report.result.barriers, 'barrier arrival')}" if report.result.barriers else ""
    yield f"  memory: {report.result.reads} bytes read, {report.result.writes} bytes written{barriers}"
    if timed:
        yield f"  time: {_time(report)}"
    for sentence in report.assumed:
        yield f"  assumed: {sentence}"
    for note in report.notes:
        yield f"  note: {note}"
    failed = {e.arg for e in report.expectations if not e.ok}
    buffers = list(zip(report.buffers, outcome.paths or (None,) * len(report.buffers), strict=True))
    for buffer, path in sorted(buffers, key=lambda entry: entry[0].arg not in failed):
        yield from _buffer_lines(report, buffer, path)
    if report.values:
        values = (f"{value.name or value.arg} = {_head(value.array)}" for value in report.values)
        yield f"  values: {', '.join(values)}"
    for expectation in report.expectations:
        words = "holds" if expectation.ok else f"FAILED, {expectation.message}"
        yield f"  expect arg {expectation.arg if expectation.ok else _name_argument(report, expectation.arg)}: {words}"
    for kind, is_found in report.expected_faults.items():
        yield f"  expect fault {kind}: {'holds' if is_found else 'FAILED, none was found'}"
    for line in report.printed.splitlines():
        yield f"  printed: {line}"
    for fault in report.faults:
        yield from fault_lines("fault", fault_values(report, fault))
    for fault in report.findings:
        is_expected = fault.kind.value in report.expected_faults
        yield from fault_lines("expected fault" if is_expected else "note", fault_values(report, fault))
    if report.more_faults:
        yield f"  {counted(report.more_faults, 'more fault')}: a larger --max-errors prints more"
    for sent in report.result.sent:
        yield from _print_message(report, sent)
    if report.profile is not None:
        for line in profile_lines(report.profile, report.sources):
            yield f"  {line}"
    if outcome.next_step:
        yield f"  for the cause: {outcome.next_step}"
    yield f"  {verdict(report)}"


def cause_option(report: RunReport) -> str:
    """Return the option of ``visa-lsp why`` for the first element that is not as expected; empty if all are."""
    for expectation in report.expectations:
        wrong = expectation.mismatch
        buffer = next((buffer for buffer in report.buffers if buffer.arg == expectation.arg), None)
        if wrong is not None and wrong.first and buffer is not None:
            words = f"{buffer.name or buffer.arg}{index_words(wrong.first[0], buffer.array.shape)}"
            return f"--value {shlex.quote(words)}"
    return ""


def verdict(report: RunReport) -> str:
    """Return the last line of a report."""
    if not report.ok:
        return "FAILED"
    if report.expectations or report.expected_faults:
        return "ok"
    watched = "no fault found" if report.is_watched else "nothing was checked"
    return f"ran, {watched}; no result was compared"


def failure_line(report: RunReport) -> str:
    """Return the first failure of a report in a line: a fault with its place, else an expectation."""
    if report.faults:
        fault = report.faults[0]
        place = f"line {fault.line + 1}: " if fault.line >= 0 else ""
        others = (
            f" (and {counted(len(report.faults) + report.more_faults - 1, 'more fault')})"
            if len(report.faults) > 1
            else ""
        )
        return f"{fault.kind.value}: {place}{fault.message}{others}"
    failed = next((e for e in report.expectations if not e.ok), None)
    if failed is not None:
        return f"arg {_name_argument(report, failed.arg)}: {failed.message}"
    missing = next((kind for kind, is_found in report.expected_faults.items() if not is_found), "")
    return f"the expected fault {missing} was not found" if missing else verdict(report)


def fault_lines(word: str, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the printed lines of a fault, given as in JSON; ``prove`` adds the elements that both parties access, and what leads to them."""
    yield f"  {word}: {values['text']}"
    parties = ("source", "source_excerpt"), ("other_source", "other_source_excerpt")
    for number, (place, excerpt) in enumerate(
        dict.fromkeys((values[place], values[excerpt]) for place, excerpt in parties)
    ):
        if place:
            who = "other party: " if number else ""
            yield f"    {who}{place.removeprefix(f'{Path.cwd()}/')}" + (f": {excerpt}" if excerpt else "")
    if values["index"]:
        yield f"    its index: {values['index'].removeprefix(f'{Path.cwd()}/')}: {values['index_excerpt']}"
    if values.get("access"):
        access, other = (
            values.get(key, "") + (f" ({values[f'{key}_at']} here)" if values.get(f"{key}_at") else "")
            for key in ("access", "other_access")
        )
        whose = "both parties access" if other and access == other else "accesses"
        yield f"    {whose} {access}" + (f", the other party {other}" if other and access != other else "")
    if values.get("contents"):
        is_race = values["kind"] == FaultKind.RACE.value
        why = (
            ": equal values lead two work items to it, whom only an atomic orders"
            if is_race
            else "; other contents lead it elsewhere"
        )
        yield f"    its element depends on {values['contents']}{why}"
    if values["condition"]:
        place = values["condition"].removeprefix(f"{Path.cwd()}/")
        yield f"    guarded by {place}" + (f": {values['condition_excerpt']}" if values["condition_excerpt"] else "")
    if values["is_unguarded"]:
        yield "    no condition is above it: all work items execute it"
    if values["no_barrier"] and not values.get("contents"):
        yield f"    {no_barrier_words(values['no_barrier'])}"
    for who, key in (("work items", "items"), ("of the other party", "other_items")):
        if values[key]:
            yield f"    {who}: {items_words(values[key])}"
    parties = ("place", "excerpt"), ("other_place", "other_excerpt")
    for place, excerpt in dict.fromkeys((values[place], values[excerpt]) for place, excerpt in parties):
        if excerpt:
            yield f"    {place}: {excerpt}"
    if values["count"] > 1:
        lines = "this line" if values["other_source"] in ("", values["source"]) else "these lines"
        yield f"    and {values['count'] - 1} more of this kind at {lines}"


def no_barrier_words(ways: Sequence[Mapping[str, str]]) -> str:
    """Return the ways between the places of a race that no barrier stands on, given as in JSON, in words."""
    start, end = (way.removeprefix(f"{Path.cwd()}/") for way in (ways[0]["from"], ways[0]["to"]))
    if start == end:
        return f"no barrier on the way from {start} back to it"
    return f"no barrier {f'between {start} and' if len(ways) > 1 else f'on the way from {start} to'} {end}"


def items_words(items: Iterable[Mapping[str, Any]]) -> str:
    """Return work items, given as in JSON, in words."""
    return items_text(tuple([WorkItem(item["lane"], tuple(item["global"]), tuple(item["local"])) for item in items]))


def _buffer_lines(report: RunReport, buffer: BufferReport, path: str | None) -> Iterator[str]:
    """Yield the first values of a buffer; with a failed expectation, a mark at the left and the differences below."""
    array = buffer.array
    wrong = [e.mismatch for e in report.expectations if e.arg == buffer.arg and e.mismatch is not None]
    shape = "x".join(str(n) for n in array.shape) or "scalar"
    words = f"{'!' if wrong else ' '} arg {_name_argument(report, buffer.arg)}: {array.dtype.name} {shape}: "
    yield words + _head(array) + (f"  -> {path}" if path else "")
    for mismatch in wrong:
        yield f"{'    expected: ':{len(words)}}{_head(mismatch.expected)}"
        for line in difference_lines(array, mismatch):
            yield f"    {line}"


def _name_argument(report: RunReport, arg: int | str) -> str:
    """Return the title of an argument after the word ``arg``, or its number alone."""
    name = next((buffer.name for buffer in report.buffers if buffer.arg == arg), "")
    return report.title(arg) if name else str(arg)


def _head(array: Array) -> str:
    return ", ".join(str(value) for value in numbers(array, _HEAD)) + (", ..." if array.size > _HEAD else "")


def _sources(report: RunReport, fault: Fault) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return place and line in the source of both parties."""
    return (
        report.source_excerpt(fault.kernel, fault.source),
        report.source_excerpt(fault.other_kernel or fault.kernel, fault.other_source),
    )


def _print_message(report: RunReport, sent: RecordedMessages) -> Iterator[str]:
    """Yield the lines of a recorded message: its count, the reason, and the payload of the first."""
    line = f", line {sent.line + 1}" if sent.line >= 0 else ""
    yield (
        f"  message: {sent.mnemonic} is recorded only, {sent.reason}; sent {counted(sent.count, 'time')}, first by "
        f"{sent.kernel}: group {sent.group}, thread {sent.thread}, instruction {sent.instruction}{line}"
    )
    place, excerpt = report.excerpt(sent)
    if excerpt:
        yield f"    {place}: {excerpt}"
    for name, data in sent.payload:
        if name in _DESCRIPTORS:  # numbers, in the form of the text
            yield f"    {name}: {int.from_bytes(data[:4], 'little'):#x}"
            continue
        rest = "" if len(data) <= _PAYLOAD_HEAD else f" ... {len(data)} bytes"
        yield f"    {name}: {data[:_PAYLOAD_HEAD].hex(' ', 4)}{rest}"


def _time(report: RunReport) -> str:
    """Return the times of loading, compiling and running; for several runs the median and the extremes."""
    from statistics import median  # takes long to load

    time = report.time
    words = [f"load {duration(time.load)}", f"compile {duration(time.compile)}", f"run {duration(median(time.run))}"]
    if len(time.run) > 1:
        extremes = f"{duration(min(time.run))} to {duration(max(time.run))}"
        words[-1] += f" (median of {len(time.run)}, {extremes})"
    if report.result.replayed_groups:
        words.append(f"{counted(report.result.replayed_groups, 'group')} run again by the interpreter")
    return ", ".join(words)


def duration(seconds: float) -> str:
    """Return a time in words: ``2.1 ms``."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def counted(number: int, word: str, several: str = "") -> str:
    """Return a number with its word; ``several`` is a plural that does not just add an s."""
    return f"{number} {word if number == 1 else several or word + 's'}"


# The report as JSON.


def as_json(outcome: Outcome) -> dict[str, Any]:
    """Return one launch as a JSON object."""
    report = outcome.report
    generated = {"launch_text": outcome.launch_text} if outcome.launch_text else {}
    if report is None and outcome.written:
        files, assumed = list(outcome.written), list(outcome.assumed)
        return {"launch": outcome.name, "ok": True, "written": files, "assumed": assumed, **generated}
    if report is None:
        return {"launch": outcome.name, "ok": False, "error": outcome.error}
    values = {**report_values(report), **generated}
    for buffer, path in zip(values["buffers"], outcome.paths, strict=True):
        buffer["path"] = path
    return {"launch": outcome.name, **values}


def report_values(report: RunReport, head: int = _HEAD, *, whole: bool = False) -> dict[str, Any]:
    """Return the report of a launch as a JSON object, with the first ``head`` values of each buffer.

    ``whole``: arrays also have ``data``, their bytes as base64, unless they are too large, and differences have
    ``elements``, a bit for each element, the first in the lowest bit of the first byte, as base64.
    """
    arrays = {buffer.arg: buffer.array for buffer in report.buffers}
    return {
        "kernel": report.kernel,
        "platform": report.platform,
        "engine": report.engine,
        "buffers": [_buffer(buffer, head, whole=whole) for buffer in report.buffers],
        "expectations": [
            expectation_values(e, report.title(e.arg), arrays[e.arg], head=head, whole=whole)
            for e in report.expectations
        ],
        "expected_faults": [{"kind": kind, "ok": is_found} for kind, is_found in report.expected_faults.items()],
        "faults": [fault_values(report, fault) for fault in report.faults],
        "more_faults": report.more_faults,
        "findings": [fault_values(report, fault) for fault in report.findings],
        "messages": [_message_json(report, sent) for sent in report.result.sent],
        "threads": report.result.threads,
        "groups": report.result.groups,
        "instructions": report.instructions,
        "opcodes": dict(sorted(report.result.instructions.items())),
        "barriers": report.result.barriers,
        "bytes_read": report.result.reads,
        "bytes_written": report.result.writes,
        "printed": report.printed,
        "notes": list(report.notes),
        "assumed": list(report.assumed),
        "time": asdict(report.time),
        "replayed_groups": report.result.replayed_groups,
        **({"profile": profile_values(report.profile)} if report.profile is not None else {}),
        "ok": report.ok,
    }


def _buffer(buffer: BufferReport, head: int, *, whole: bool) -> dict[str, Any]:
    data = base64_of(buffer.array) if whole else None
    return {
        "arg": buffer.arg,
        "name": buffer.name,
        "title": buffer.title,
        "dtype": buffer.array.dtype.name,
        "shape": list(buffer.array.shape),
        "written": buffer.written,
        "changed": buffer.changed,
        "image": asdict(buffer.image) if buffer.image is not None else None,
        "head": [finite(value) for value in numbers(buffer.array, head)],
        **({"data": data} if data is not None else {}),
    }


def fault_values(report: RunReport, fault: Fault) -> dict[str, Any]:
    """Return a fault as a JSON object."""
    place, excerpt = report.excerpt(fault)
    other_place, other_excerpt = report.other_excerpt(fault)
    (source, source_line), (other_source, other_source_line) = _sources(report, fault)
    condition, condition_line = report.source_excerpt(fault.kernel, fault.condition)
    index, index_line = report.index_excerpt(fault)
    return {
        "kind": fault.kind.value,
        "message": fault.message,
        "text": str(fault),
        "kernel": fault.kernel,
        "group": list(fault.group),
        "thread": fault.thread,
        "lane": fault.lane,
        "items": _items(fault.items),
        "other_items": _items(fault.other_items),
        "instruction": fault.instruction,
        "line": fault.line + 1 if fault.line >= 0 else None,
        "address": fault.address,
        "other": fault.other,
        "place": place,
        "excerpt": excerpt,
        "other_place": other_place,
        "other_excerpt": other_excerpt,
        "source": source,
        "source_excerpt": source_line,
        "other_source": other_source,
        "other_source_excerpt": other_source_line,
        "index": index,
        "index_excerpt": index_line,
        "condition": condition,
        "condition_excerpt": condition_line,
        "is_unguarded": fault.is_unguarded,
        "no_barrier": [{"from": start, "to": end} for start, end in fault.no_barrier],
        "count": fault.count,
    }


def _items(items: tuple[WorkItem, ...]) -> list[dict[str, Any]]:
    return [{"lane": item.lane, "global": list(item.global_id), "local": list(item.local_id)} for item in items]


def _message_json(report: RunReport, sent: RecordedMessages) -> dict[str, Any]:
    place, excerpt = report.excerpt(sent)
    return {
        "kind": sent.mnemonic,
        "reason": sent.reason,
        "count": sent.count,
        "kernel": sent.kernel,
        "group": list(sent.group),
        "thread": sent.thread,
        "instruction": sent.instruction,
        "line": sent.line + 1 if sent.line >= 0 else None,
        "payload": [
            {"operand": name, "bytes": len(data), "head": data[:_PAYLOAD_HEAD].hex()} for name, data in sent.payload
        ],
        "place": place,
        "excerpt": excerpt,
    }
