"""Dumps, schedules and messages of the finalizer: ``python -m benchmarks.figures [--dumps 400] [--schedules 100]``.

Makes dumps of texts of the corpus by the finalizer and compares every figure that ``stats`` prints of them with the file, by means
of their own: the header by its lines, the instructions by their words, counted line by line. Then compares each row of
``gen --schedule`` on three platforms with the finalizer's table, and counts the rows without a line of machine code, which the
finalizer dropped after scheduling. At last counts the messages of the corpus that ``explain`` knows, each kind at most 25 times,
and how often one of the rules that it names reports the text. Exit status 1 where anything differs.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.inputs import CORPUS
from benchmarks.newest_forms import FORMS, load_whole_text, text_of
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.gen.gen_document import Source, finalize_text
from visa_lsp.app.gen.printing import as_json
from visa_lsp.app.stats.dumps import figures_of_dump
from visa_lsp.toolchain.meanings import meaning_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PLATFORMS = ("TGLLP", "DG2", "PVCXT")
_OUTPUT = re.compile(r"^.*OutputAsmPath.*$", re.MULTILINE)
_SECONDS = 60
_SAMPLES = 25


def main(arguments: Sequence[str] | None = None) -> int:
    """Make dumps and schedules, compare, print; the exit status."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks.figures", description=__doc__, formatter_class=form)
    parser.add_argument("--dumps", type=int, default=400)
    parser.add_argument("--schedules", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(arguments)
    tool = shutil.which("GenX_IR")
    if tool is None:
        print("GenX_IR is not installed: apt-get install libigc-tools")
        return 2
    texts = [
        (path.relative_to(CORPUS).parts[1], path)
        for kind in ("run", "dev")
        for path in sorted((CORPUS / kind).rglob("*.visaasm"))
        if path.relative_to(CORPUS).parts[1] != "stock"
    ]
    random.Random(args.seed).shuffle(texts)
    wrong = _dumps(tool, texts, args.dumps)
    timed = [[one for one in texts if one[0] == platform] for platform in _PLATFORMS]
    shares = [args.schedules // len(timed) + (at < args.schedules % len(timed)) for at in range(len(timed))]
    for platform, own, share in zip(_PLATFORMS, timed, shares, strict=True):
        wrong += _schedules(tool, platform, own, share)
    _messages()
    return 1 if wrong else 0


def _dumps(tool: str, texts: Sequence[tuple[str, Path]], wanted: int) -> int:
    """Compare the figures of dumps, print the counts, and return the number of dumps that differ."""
    done = wrong = 0
    platforms: Counter[str] = Counter()
    for platform, path in texts:
        if done == wanted:
            break
        with tempfile.TemporaryDirectory() as folder:
            dump = _finalize(tool, platform, path, Path(folder))
        if not dump:
            continue  # the finalizer crashes, or gives a function no listing of its own
        done += 1
        platforms[platform] += 1
        figures = figures_of_dump("k.asm", dump)
        ours = {key: getattr(figures, key) for key in _by_hand(dump)}
        if ours != _by_hand(dump):
            wrong += 1
            print(f"{path}: {ours}, by hand {_by_hand(dump)}")
    named = ", ".join(f"{count} {name}" for name, count in sorted(platforms.items()))
    print(f"{done} dumps ({named}): {done - wrong} with the figures of the file, {wrong} without")
    return wrong


def _finalize(tool: str, platform: str, path: Path, folder: Path, *options: str) -> str:
    """Return the listing of a text, made in a folder; empty without one."""
    text = _OUTPUT.sub("", path.read_text(encoding="utf-8"))
    (folder / "k.visaasm").write_text(text, encoding="utf-8")
    command = [tool, "k.visaasm", "-platform", platform, "-output", *options]
    subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=_SECONDS)
    listing = folder / "k.asm"
    return listing.read_text(encoding="utf-8", errors="replace") if listing.is_file() else ""


def _by_hand(dump: str) -> dict[str, int | str | None]:
    """Return the figures of a dump, read by the words of its lines."""
    head = {}
    opcodes: Counter[str] = Counter()
    width = 1
    for line in dump.splitlines():
        words = line.split()
        if line.startswith("//."):
            key, _, rest = line[3:].replace("\t", " ").partition(" ")
            head.setdefault(key if key not in ("RA", "spill", "private") else f"{key} {rest.split()[0]}", rest)
        elif words and not words[0].startswith("//") and not line.partition("//")[0].rstrip().endswith(":"):
            masked = not words[0].startswith("(W")
            words = words[words[0].startswith("(") :]
            opcodes[words[0].split(".")[0]] += 1
            if masked and len(words) > 1 and "|M" in words[1]:
                size, _, first = words[1].strip("()").partition("|M")
                width = max(width, int(size) + int(first))
    grf = re.search("numGRF=([0-9]+)", head.get("thread_config", ""))
    return {
        "name": head["kernel"].strip('"'),
        "platform": head["platform"],
        "instructions": int(head["instCount"]),
        "grf": int(grf[1]) if grf else None,
        "simd": width,
        "spill_bytes": int(head.get("spill size", "0 0").split()[-1]),
        "private_bytes": int(head.get("private memory", "0 0").split()[-1]),
        "allocation": head["RA type"].split()[-1],
        "spills": dump.count(" spill: ") + dump.count("//  spill to "),
        "fills": dump.count(" fill: ") + dump.count("//  fill from "),
        "dpas": opcodes["dpas"] + opcodes["dpasw"],
        # Untyped messages of the LSC are printed by their meaning, with their descriptor behind.
        "sends": sum(count for name, count in opcodes.items() if name.startswith("send")) + dump.count("; desc:0x"),
        "syncs": opcodes["sync"],
    }


def _schedules(tool: str, platform: str, texts: Sequence[tuple[str, Path]], wanted: int) -> int:
    """Compare the rows of schedules, print the counts, and return the number of texts that differ."""
    done = wrong = rows = placed = 0
    for _, path in texts:
        if done == wanted:
            break
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            if not _finalize(tool, platform, path, folder, "-dumpSchedule", "-printregusage"):
                continue
            table = {
                (int(file.name.split(".bb")[1].split(".")[0]), row)
                for file in folder.glob("*.schedule")
                for row in _table(file.read_text(encoding="utf-8", errors="replace"))
            }
        document = finalize_text(
            Source(path.name, path.read_text(encoding="utf-8"), platform), tool, (), _SECONDS, schedule=True
        )
        kernels = as_json(document)["kernels"]
        ours = [row for kernel in kernels for row in kernel.get("schedule", ())]
        done += 1
        rows += len(ours)
        placed += sum(row["line"] is not None or row["instruction"].endswith(":") for row in ours)
        # Instructions that are issued as one have a row in the finalizer's table.
        if {(row["block"], (row["cycle"], row["instruction"])) for row in ours if row["cycles"]} != table:
            wrong += 1
            print(f"{path}: the rows differ")
    print(
        f"{platform}: {done} schedules, {done - wrong} equal to the finalizer's table; of {rows} rows {rows - placed} without code"
    )
    return wrong


def _messages() -> None:
    """Print how many messages of the corpus are known, and how many have a rule that reports their text."""
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for message, platform, text in _complaints():
        kind = re.sub(r"\d+|unexpected.*", "", message)
        kinds[kind] += 1
        if kinds[kind] > _SAMPLES:
            continue
        meaning = meaning_of(message)
        counts["messages"] += 1
        counts["known"] += meaning is not None
        codes = {finding.code for finding in Analysis.of(text, platform).diagnostics}
        counts["reported"] += meaning is not None and not codes.isdisjoint(meaning.rules)
    print(
        f"{counts['messages']} messages: {counts['known']} known, {counts['reported']} reported by a rule that is named"
    )


def _complaints() -> Iterator[tuple[str, str, str]]:
    """Yield the messages of the corpus, with the platform and the text."""
    rows = _rows(FORMS / "forms.tsv")
    whole_text = load_whole_text(FORMS) if rows else str
    for row in rows:
        if row["verdict"] == "reject":
            yield row["reason"], row["platform"], text_of(whole_text, row["platform"], row["statement"])
    for row in _rows(CORPUS / "errors/verdicts.tsv"):
        text = CORPUS / "errors" / f"{row['id']}.visaasm"
        for message in (row["stderr"], row["verifier_messages"]):
            if message and text.is_file():
                yield message, row["platform"], text.read_text(encoding="utf-8", errors="replace")


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _table(schedule: str) -> list[tuple[int, str]]:
    """Return the cycles and instructions of a table of the finalizer."""
    found = []
    for line in schedule.splitlines():
        words = line.split("]I", 1)
        if len(words) == 2:
            cycle = int(line[:5])
            found.append((cycle, words[1].partition(" ")[2].strip().rstrip(",").split(":, ")[0].rstrip(",")))
    return found


if __name__ == "__main__":
    raise SystemExit(main())
