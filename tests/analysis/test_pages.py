"""What the page of a rule marks is found where the engine that long texts get has to find it.

Each text of a page is checked behind so many harmless lines that it is no short text, behind lines that are almost the
marked ones and have no finding, and after edits that make the marked lines from clean ones.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from each_case import check_each
from markers import DECLARED as DECLARATIONS
from markers import Finding, complete, strip
from mutants import forget_verdicts
from tiers import one_of_each

from visa_lsp.analysis.analysis import CLASSIFIED_FROM_LINES, Analysis
from visa_lsp.checks.registry import CHECKS
from visa_lsp.syntax.document import Document
from visa_lsp.syntax.tree import Instruction

PAGES = sorted((Path(__file__).parents[1] / "checks" / "cases").glob("*.md"))
BLOCK = re.compile(r"^```visa *(?P<words>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
MOST = 3  # near misses of a line
OPT_IN = {check.rule.name for check in CHECKS if not check.default}
NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|(?<![\w.])[0-9]+(?!\w)")
DECLARED = re.compile(r"^\s*\.decl ([A-Za-z_][A-Za-z0-9_]*) (.*)$")


def _engine(page: Path) -> tuple[object, ...]:
    """Return the declarations of the page's rule, by which the engine keeps its findings."""
    check = next((check for check in CHECKS if check.rule.name == page.stem), None)
    if check is None:
        return ()
    by = bool(check.problems), check.instruction is not None, check.body is not None, check.text is not None
    asked = check.default, check.reads_values, bool(check.attributes), bool(check.attribute_words)
    return check.scope, *by, *asked


each_page = pytest.mark.parametrize("page", one_of_each(PAGES, _engine), ids=lambda page: page.stem)


class Case(NamedTuple):
    """A text of a page: its lines with the line of the page's block that each is, -1 for others; and what is marked."""

    lines: list[str]
    origin: list[int]
    marks: list[Finding]
    platform: str | None

    @property
    def text(self) -> str:
        """The whole text; a last line that is empty is its end."""
        return "\n".join(self.lines)

    def with_lines(self, at: int, more: list[str]) -> Case:
        """Return the case with lines put before a line; the findings in them are not marked."""
        lines, origin = list(self.lines), list(self.origin)
        lines[at:at], origin[at:at] = more, [-1] * len(more)
        return self._replace(lines=lines, origin=origin)

    @property
    def marked(self) -> list[int]:
        """The numbers of the marked lines."""
        return sorted({self.origin.index(mark.line) for mark in self.marks if mark.line in self.origin})


def _cases(page: Path) -> Iterator[Case]:
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        stripped, marks = strip(block["text"].removesuffix("\n"))
        text, origin = complete(stripped)
        platform = next((word for word in block["words"].split() if not word.startswith("+")), None)
        # What only an option asks for is not the engine's.
        yield Case(text.split("\n"), origin, [m for m in marks if m.slug not in OPT_IN], platform)


def _long(case: Case) -> Case:
    """Return the case after harmless lines: comments, and instructions above the first one if these add no finding."""
    long = case.with_lines(0, ["// nothing", ""] * (CLASSIFIED_FROM_LINES // 2 + 1))
    document = Document.parse(case.text)
    first = next((line for line, said in document.statements() if isinstance(said, Instruction)), None)
    if first is None:
        return long
    more = long.with_lines(first + len(long.lines) - len(case.lines), ["    fence_sw", "    fence_sw // nothing"] * 5)
    return more if _faults(more, _full(more)) == [] else long


def _clean_lines(page: Path) -> list[str]:
    """Return the lines of a page's texts that have no finding."""
    found = dict[str, None]()
    for case in _cases(page):
        found.update(dict.fromkeys(x for n, x in enumerate(case.lines) if n not in case.marked and x.strip()))
    return [line for line in found if not line.lstrip().startswith((".kernel ", ".version", "//"))]


def _full(case: Case) -> list[Finding]:
    return _of(case, Analysis.of(case.text, case.platform), full=True)


def _of(case: Case, analysis: Analysis, *, full: bool = False) -> list[Finding]:
    """Return the findings in terms of the page."""
    document, found = analysis.document, []
    for d in analysis.full_diagnostics if full else analysis.findings.all:
        line, start = document.position(d.span.start)
        where = case.origin[line] if line < len(case.origin) else -1
        end = start + d.span.end - d.span.start
        found.append(Finding(where, start, end, d.severity.value, d.name, d.message))
    return sorted(found)


def _faults(case: Case, found: list[Finding]) -> list[str]:
    """How findings differ from what is marked."""
    rest, faults = list(found), []
    for mark in sorted(case.marks):
        place = mark.line, mark.start, mark.end, mark.severity, mark.slug
        hit = next(
            (f for f in rest if (f.line, f.start, f.end, f.severity, f.slug) == place and mark.message in f.message),
            None,
        )
        if hit is None:
            faults.append(f"missing {mark}")
        else:
            rest.remove(hit)
    return faults + [f"unexpected {f}" for f in rest]


def _check(case: Case, analysis: Analysis) -> None:
    """Check that the engine finds the marked findings, and exactly those of the full path."""
    assert analysis.document.text == case.text
    assert not _faults(case, _of(case, analysis)), case.text
    assert analysis.findings.all == Analysis.of(case.text, case.platform).full_diagnostics


def _near_misses(case: Case, at: int, clean: list[str], pick: random.Random) -> Iterator[list[str]]:
    """Lines to be put before a line, that are as it is but for numbers or names and have no finding, nor change another.

    ``clean`` are the lines of the page that are not marked. The declarations that a line needs come before it.
    """
    line = case.lines[at]
    declared = {m[1]: m[2] for m in map(DECLARED.match, case.lines) if m is not None}
    word = re.sub(r"\W.*", "", re.sub(r"^\s*(\([^)]*\)\s*)?\.?", "", line))
    tried = [[other] for other in clean if other != line and re.search(rf"(?<!\w){re.escape(word)}", other)]
    tried += [[NUMBER.sub(lambda m: _other_number(m.group(), pick), line)] for _ in range(6)]
    tried.append([re.sub(r"0[xX]([0-9a-fA-F]+)", lambda m: "0x" + "0" * len(m.group(1)), line)])
    for name, said in declared.items():
        if re.search(rf"\b{name}\b", line):
            types = [re.sub(r"type=[a-z]+\b", f"type={t}", said) for t in ("d", "ud", "f", "w", "uq")]
            for other in (said, re.sub(r"num_elts=[0-9]+", "num_elts=64", said), *types):
                tried.append([f".decl {name}77 {other}", re.sub(rf"\b{name}\b", f"{name}77", line)])
    found = 0
    for some in tried:
        missing = [n for n in DECLARATIONS if n not in declared and re.search(rf"\b{n}\b", some[-1])]
        block = [f".decl {n} v_type={DECLARATIONS[n]}" for n in missing] + some
        near = case.with_lines(at, block)
        if line not in block and not _faults(near, _full(near)):
            yield block
            found += 1
        if found == MOST:
            return


def _other_number(text: str, pick: random.Random) -> str:
    if text[:2] not in ("0x", "0X"):
        return str(max(0, int(text) + pick.choice((-1, 0, 0, 1))))
    digits = "".join(pick.choice("0123456789abcdef") for _ in text[3:])
    return text[:3] + digits


@pytest.mark.full
def test_marks_are_found_in_long_texts() -> None:
    def check(page: Path) -> None:
        for case in _cases(page):
            long = _long(case)
            assert len(long.lines) > CLASSIFIED_FROM_LINES
            forget_verdicts()
            once = Analysis.of(long.text, long.platform)
            _check(long, once)
            # Once more with every verdict known.
            assert Analysis.of(long.text, long.platform).findings.all == once.findings.all

    check_each(PAGES, check, lambda page: page.stem)


@each_page
def test_marks_are_found_behind_near_misses(page: Path) -> None:
    pick, clean = random.Random(page.stem), _clean_lines(page)
    for case in _cases(page):
        long = _long(case)
        for line in long.marked:
            for some in _near_misses(long, line, clean, pick):
                forget_verdicts()
                near = long.with_lines(line, some)
                _check(near, Analysis.of(near.text, near.platform))
                # And in a text that comes after one which had the near miss alone.
                forget_verdicts()
                alone = near._replace(lines=near.lines[: line + len(some)] + near.lines[line + len(some) + 1 :])
                assert isinstance(Analysis.of(alone.text, alone.platform).findings.all, tuple)
                _check(long, Analysis.of(long.text, long.platform))


@each_page
def test_marks_are_found_after_edits(page: Path) -> None:
    pick, clean = random.Random(page.stem), _clean_lines(page)
    for case in _cases(page):
        long = _long(case)
        for line in long.marked:
            near = [some[0] for some in _near_misses(long, line, clean, pick) if len(some) == 1]
            for other in ("", "    // was here", *near[:1]):
                forget_verdicts()
                lines = [*long.lines[:line], other, *long.lines[line + 1 :]]
                analysis = Analysis.of("\n".join(lines), long.platform)
                before = analysis.findings.all
                assert before == analysis.full_diagnostics
                start = sum(map(len, lines[:line])) + line
                edited = analysis.edit(start, start + len(other), long.lines[line])
                _check(long, edited)
                back = edited.edit(start, start + len(long.lines[line]), other)
                assert back.findings.all == before


def test_many_marked_lines_have_near_misses() -> None:
    """The lines that stand in front of marked ones are not an empty list."""
    pick = random.Random(1)
    marked = near = 0
    for page in PAGES[::6]:
        clean = _clean_lines(page)
        for long in map(_long, _cases(page)):
            for line in long.marked:
                marked += 1
                near += any(True for _ in _near_misses(long, line, clean, pick))
    print(f"{near} of {marked} lines")
    assert near > marked / 2
