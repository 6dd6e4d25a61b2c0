"""Does `check` judge one-instruction texts as the finalizer of 2026 does? Prints the disagreements by platform and kind.

Kinds: `false error` (the finalizer accepts, `check` reports an error), `false warning` (the same, a warning), `miss`
(the finalizer rejects the text or crashes, `check` reports neither).
Usage: python -m benchmarks.newest_forms [--platform NAME] [--kind WORD] [--show N]; exit status 1 for a false error or
below 99 %.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import sys
from collections import Counter
from typing import TYPE_CHECKING

from benchmarks.inputs import CORPUS
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FORMS = CORPUS / "forms2026"
_WANTED = 0.99
# ocloc compiles for these with the Efficient64b dialect, which a text says in a comment.
_EFFICIENT64B = frozenset({"XE3P_CRI", "NVL"})
_OPTION = "//Build option: -enableEfficient64b\n"


def load_whole_text(folder: Path) -> Callable[[str], str]:
    """Return the function of the corpus that puts declarations around a statement."""
    spec = importlib.util.spec_from_file_location("whole_text", folder / "whole_text.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    whole_text: Callable[[str], str] = module.whole_text
    return whole_text


def text_of(whole_text: Callable[[str], str], platform: str, statement: str) -> str:
    """Return the text that the finalizer judged."""
    return whole_text(statement) + (_OPTION if platform in _EFFICIENT64B else "")


def kind_of(verdict: str, platform: str, text: str) -> tuple[str, str]:
    """Return the kind of disagreement, empty for none, and the codes of our findings."""
    found = Analysis.of(text, platform).diagnostics
    errors = [d.code for d in found if d.severity is Severity.ERROR]
    warnings = [d.code for d in found if d.severity is Severity.WARNING]
    if verdict == "accept":
        kind = "false error" if errors else "false warning" if warnings else ""
        return kind, " ".join(errors or warnings)
    return "" if errors or warnings else "miss", verdict


def disagreements(rows: list[dict[str, str]]) -> Iterator[tuple[dict[str, str], str, str]]:
    """Yield each row that is judged differently, the kind, and its source."""
    whole_text = load_whole_text(FORMS)
    for row in rows:
        kind, codes = kind_of(row["verdict"], row["platform"], text_of(whole_text, row["platform"], row["statement"]))
        if kind:
            yield row, kind, codes


def main() -> int:
    """Compare, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--platform", default="", help="only rows of this platform")
    parser.add_argument("--kind", default="", help="print only this kind of disagreement")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print at most N rows of each reason")
    options = parser.parse_args()
    if not FORMS.is_dir():
        print("the corpus is missing: nothing to compare")
        return 0
    with (FORMS / "forms.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    rows = [row for row in rows if options.platform in ("", row["platform"])]
    counts: Counter[tuple[str, str]] = Counter()
    reasons: dict[tuple[str, str], list[str]] = {}
    for row, kind, codes in disagreements(rows):
        counts[row["platform"], kind] += 1
        why = codes if kind != "miss" else f"{codes}: {row['reason']}"
        reasons.setdefault((kind, why), []).append(f"{row['platform']}: {row['statement']}")
    for (platform, kind), count in sorted(counts.items()):
        print(f"{count:6} {platform:9} {kind}")
    for (kind, why), lines in sorted(reasons.items(), key=lambda item: -len(item[1])):
        if options.show and options.kind in ("", kind):
            print(f"{len(lines):6} {kind}: {why}")
            print("".join(f"         {line}\n" for line in lines[: options.show]), end="")
    wrong = sum(count for (_, kind), count in counts.items() if kind != "false warning")
    errors = sum(count for (_, kind), count in counts.items() if kind == "false error")
    share = 1 - wrong / max(len(rows), 1)
    print(f"{len(rows)} verdicts, {wrong} judged differently, {share:.2%} agree; {errors} false errors")
    return 0 if not errors and share >= _WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
