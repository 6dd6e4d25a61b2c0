"""The changelog from its fragments: ``python .ci/changes.py VERSION DATE``, or ``--draft`` to see what would be there.

Fragments are files ``docs/changes/NAME.KIND.md``; text below the heading of the next version, ``## VERSION (unreleased)``,
stays, and fragments go behind the last line of their kind. Knows nothing of versions but how they are written.
Invariant: no line of the changelog is lost.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
KINDS: Final = ("added", "changed", "deprecated", "removed", "fixed", "security")
HEADING: Final = re.compile(r"^## \[?([^\s\]]+)\]? (?:\(unreleased\)|- \d{4}-\d{2}-\d{2})$", re.MULTILINE)
VERSION: Final = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?")
_WIDTH: Final = 130


def fragments(folder: Path) -> dict[str, list[str]]:
    """Return the texts by their kind, in the order of their names. Raises SystemExit for a name without a kind."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.md")):
        if path.name == "README.md":
            continue
        kind = path.name.split(".")[-2]
        if path.name.count(".") != 2 or kind not in KINDS:
            raise SystemExit(f"{path.name}: a fragment is called NAME.KIND.md, and KIND is one of {', '.join(KINDS)}")
        text = " ".join(path.read_text(encoding="utf-8").split())
        if not text or text.startswith(("-", "*", "#")):
            raise SystemExit(f"{path.name}: a fragment is a sentence or more, without a dash or heading")
        found.setdefault(kind, []).append(text)
    return found


def section(changelog: str, version: str = "") -> str:
    """Return the text below the heading of a version, by default the next one. Raises SystemExit where there is none."""
    places = [*HEADING.finditer(changelog)]
    for number, heading in enumerate(places):
        if heading[1] == version or (not version and heading[0].endswith("(unreleased)")):
            end = places[number + 1].start() if number + 1 < len(places) else len(changelog)
            return changelog[heading.end() : end].strip("\n") + "\n"
    raise SystemExit(f"CHANGELOG.md has no section of {version or 'a version to come'}")


def with_fragments(body: str, texts: dict[str, list[str]]) -> str:
    """Return a section with fragments behind the last line of their kinds; a kind that it lacks is a new heading at its end."""
    for kind, items in texts.items():
        lines = "".join(
            textwrap.fill(item, _WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False) + "\n"
            for item in items
        )
        heading = f"### {kind.capitalize()}\n"
        before, found, rest = body.partition(heading)
        if not found:
            body = f"{body.rstrip()}\n\n{heading}\n{lines}"
            continue
        mine, mark, others = rest.partition("\n### ")
        body = f"{before}{heading}{mine.rstrip()}\n{lines}{mark}{others}"
    return body


def release_changelog(changelog: str, version: str, date: str, texts: dict[str, list[str]]) -> str:
    """Return the changelog with the date of the next version. Raises SystemExit where the version is another one."""
    body = section(changelog)
    heading = next(found for found in HEADING.finditer(changelog) if found[0].endswith("(unreleased)"))
    if heading[1] != version:
        raise SystemExit(f"the version to come is {heading[1]} in CHANGELOG.md, not {version}")
    return changelog.replace(heading[0], f"## [{version}] - {date}").replace(body, with_fragments(body, texts))


def main() -> int:
    """Write the section, or print it."""
    parser = argparse.ArgumentParser(description="Take the fragments of docs/changes into CHANGELOG.md.")
    parser.add_argument("version", nargs="?", help="as it is written: 1.2.3")
    parser.add_argument("date", nargs="?", help="year-month-day")
    parser.add_argument("--draft", action="store_true", help="print the section, and change nothing")
    args = parser.parse_args()
    path, folder = ROOT / "CHANGELOG.md", ROOT / "docs" / "changes"
    changelog, texts = path.read_text(encoding="utf-8"), fragments(folder)
    if args.draft:
        print(with_fragments(section(changelog), texts), end="")
        return 0
    if not (args.version and VERSION.fullmatch(args.version) and re.fullmatch(r"\d{4}-\d\d-\d\d", args.date or "")):
        parser.error("a version such as 1.2.3 and a date such as 2026-01-31 are needed")
    path.write_text(release_changelog(changelog, args.version, args.date, texts), encoding="utf-8")
    for name in folder.glob("*.md"):
        if name.name != "README.md":
            name.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
