"""Rules of every scope that nobody has written yet: the engine finds what they find, for it knows rules by what they declare."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Final

import pytest
from corpus import files
from mutants import edit, forget_verdicts

from benchmarks.inputs import generate, kernel
from visa_lsp.analysis import rule_sets
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.checks import run as checks
from visa_lsp.checks.rule import HINT, WARNING, Body, Bound, Check, CheckContext, Diagnostic, Scope, rule
from visa_lsp.checks.support.facts import exec_control, int_attribute, operand_place
from visa_lsp.diagnostics import Fix
from visa_lsp.program.model import General, Immediate
from visa_lsp.sema.model import SymbolKind
from visa_lsp.syntax.tree import Decl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.isa.model import Instruction

TYPES = rule("X001", "word-source", WARNING, __doc__)
VALUES = rule("X002", "odd-factor", WARNING, __doc__)
DECLARED = rule("X003", "twenty-four", WARNING, __doc__)
FIRST = rule("X004", "first-xor", WARNING, __doc__)
OUTLINE = rule("X005", "odd-inputs", WARNING, __doc__)
BODY = rule("X006", "odd-fences", WARNING, __doc__)
TEXT = rule("X007", "even-kernels", WARNING, __doc__)
BEGINNING = rule("X008", "declares-first", HINT, __doc__)
ATTRIBUTE = rule("X009", "three-d-not", HINT, __doc__)
WORDED = rule("X011", "three-arguments", HINT, __doc__)
PLACE = rule("X010", "long-loc", HINT, __doc__)
_MANY: Final = 24
_SPILLED: Final = 3  # the value of the attribute that the rule asks for


def _types(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    for operand in bound.operands[1:]:
        type_ = ctx.facts(body).type_of(operand.value)
        if isinstance(operand.value, General) and type_ is not None and type_.name == "uw":
            yield ctx.report(TYPES, operand_place(bound, operand), "a word is read")


def _values(ctx: CheckContext, _body: Body, bound: Bound) -> Iterator[Diagnostic]:
    for operand in bound.operands:
        value = operand.value
        if isinstance(value, Immediate) and value.bits >= 1 << 16 and value.bits % 1000 == 1:
            yield ctx.report(VALUES, operand_place(bound, operand), f"the factor {value.bits} is odd")


def _declared(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    for symbol in body.symbols:
        if symbol.place is not None and symbol.kind is SymbolKind.GENERAL and symbol.num_elements == _MANY:
            yield ctx.report(DECLARED, symbol.place, "two dozen elements")


def _first(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    value = bound.operands[0].value if bound.operands else None
    symbol = ctx.facts(body).variables.get(value.var) if isinstance(value, General) else None
    if symbol is not None and ctx.first_use(FIRST, body, symbol.name, bound.line):
        fix = ctx.fix("nothing", operand_place(bound, bound.operands[0]), symbol.name)
        yield ctx.report(FIRST, operand_place(bound, bound.operands[0]), f"`{symbol.name}` gets an xor", fixes=(fix,))


def _outline(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    places = [s.input_place for s in body.symbols if s.input is not None and s.input_place is not None]
    if len(places) % 2:
        yield ctx.report(OUTLINE, places[-1], "an odd number of inputs", related=[(places[0], "the first one")])


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    fences = [bound for bound in body.code if bound.row is not None and _is_fence(bound.row)]
    for fence in fences if len(fences) % 2 else ():
        fix = Fix("add one", (ctx.insert_after(fence.line, "    fence_sw"),))
        message = f"an odd number of fences: {len(fences)}"
        yield ctx.report(BODY, ctx.line_place(fence.line), message, fixes=(fix,))


def _is_fence(row: Instruction) -> bool:
    return row.mnemonic == "fence_sw"


def _text(ctx: CheckContext) -> Iterator[Diagnostic]:
    places = [body.place for body in ctx.bound.bodies if body.place is not None]
    for place in places if len(places) % 2 == 0 else ():
        yield ctx.report(TEXT, place, "an even number of kernels")


def _beginning(ctx: CheckContext) -> Iterator[Diagnostic]:
    line, statement = next(ctx.document.statements(), (0, None))
    if isinstance(statement, Decl):
        yield ctx.report(BEGINNING, ctx.line_place(line), "begins with a declaration")


def _attribute(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    if int_attribute(body, "SpillMemOffset") == _SPILLED:
        yield ctx.report(ATTRIBUTE, ctx.line_place(bound.line), "a `not` where three bytes are spilled")


def _worded(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    control = exec_control(bound)
    if control is not None and control.mask_name == "M2" and int_attribute(body, "ArgSize") == _SPILLED:
        yield ctx.report(WORDED, ctx.line_place(bound.line), "an `M2` where three arguments are passed")


def _place(ctx: CheckContext, _body: Body, bound: Bound) -> Iterator[Diagnostic]:
    number = bound.operands[0].value if bound.operands else None
    if isinstance(number, int) and number % 2:
        yield ctx.report(PLACE, ctx.line_place(bound.line), f"the line {number} is odd")


def _named(*mnemonics: str):
    return lambda row: row.mnemonic in mnemonics


MADE_UP = (
    Check(TYPES, instruction=_types, wants=_named("mov")),
    Check(VALUES, instruction=_values, wants=_named("mul"), reads_values=True),
    Check(DECLARED, body=_declared),
    Check(FIRST, instruction=_first, wants=_named("xor")),
    Check(OUTLINE, body=_outline, scope=Scope.OUTLINE),
    Check(BODY, body=_body, scope=Scope.BODY, wants=_is_fence),
    Check(TEXT, text=_text, scope=Scope.TEXT),
    Check(BEGINNING, text=_beginning, scope=Scope.TEXT),
    Check(ATTRIBUTE, instruction=_attribute, wants=_named("not"), attributes=("SpillMemOffset",)),
    Check(WORDED, instruction=_worded, wants=_named("or"), attributes=("ArgSize",), attribute_words=("M2",)),
    Check(PLACE, instruction=_place, wants=_named(".loc"), reads_values=True),
)
DECLS = (
    ".decl V9001 v_type=G type=d num_elts=8 align=GRF\n.decl V9002 v_type=G type=d num_elts=8 align=GRF\n"
    ".decl V9003 v_type=G type=w num_elts=8 align=GRF\n.decl V9004 v_type=G type=uw num_elts=8 align=GRF\n"
    ".decl V9005 v_type=G type=d num_elts=24 align=GRF\n"
)
LAST = (
    '\n*/\n.kernel "last{}"\n.decl V9006 v_type=G type=d num_elts=8 align=GRF\n.input V9006 offset=64 size=32\n'
    ".kernel_attr ArgSize=3\n    or (M2, 4) V9006(0,0)<1> V9006(0,0)<1;1,0> V9006(0,0)<1;1,0>\n    fence_sw\n    ret (M1, 1)\n"
)


def _line(pick: random.Random) -> str:
    """Return a line that a made-up rule looks at, as often as not with a finding."""
    number = pick.choice((65001, 66001, 99001, 70000, 70002, 524289, pick.randrange(1 << 16, 1 << 20)))
    return pick.choice((
        f"    mul (M1, 8) V9001(0,0)<1> V9001(0,0)<1;1,0> 0x{number:x}:d",
        f"    MUL (M1, 8) V9001(0,0)<1> V9002(0,0)<1;1,0> 0x{number:05x}:d // note",
        f"    mul (M1, 8) V9001(0,0)<1> 0x{number:x}:d V9001(0,0)<1;1,0>",
        f"    add (M1, 8) V9001(0,0)<1> V9001(0,0)<1;1,0> 0x{number:x}:d",
        "    mov (M1, 8) V9003(0,0)<1> V9004(0,0)<1;1,0>", "    mov (M1, 8) V9003(0,0)<1> V9003(0,0)<1;1,0>",
        "    mov (M1, 8) V9001(0,0)<1> V9004(0,0)<1;1,0>",
        "    xor (M1, 8) V9001(0,0)<1> V9001(0,0)<1;1,0> V9002(0,0)<1;1,0>",
        "    xor (M1, 8) V9002(0,0)<1> V9001(0,0)<1;1,0> V9002(0,0)<1;1,0>",
        "    not (M1, 8) V9001(0,0)<1> V9002(0,0)<1;1,0>",
        f"    or ({pick.choice(('M1', 'M2', 'M2', 'M2'))}, 4) V9001(0,0)<1> V9002(0,0)<1;1,0> V9002(0,0)<1;1,0>", "    fence_sw", f".loc {number}", f".loc {number % 50}",
    ))  # fmt: skip


def _numbers(text: str, most: int, pick: random.Random) -> str:
    """Return the text with made-up lines: a few of each kind, and many that differ only in the value of a number."""
    lines = text.split("\n")
    at = next((n for n, line in enumerate(lines) if line.startswith(".kernel ")), -1) + 1
    code = [n for n, line in enumerate(lines) if n >= at and line.startswith("    ")] or [len(lines) - 1]
    for place in sorted(pick.choices(code, k=most), reverse=True):
        lines.insert(place, _line(pick))
    many = [f"    mul (M1, 8) V9001(0,0)<1> V9002(0,0)<1;1,0> 0x{0x10000 + 2 * n:x}:d" for n in range(most * 3)]
    lines[code[0] : code[0]] = many
    lines[at:at] = (DECLS + ".kernel_attr SpillMemOffset=3\n.kernel_attr ArgSize=3").split("\n")
    return "\n".join(lines)


def _edit(pick: random.Random, text: str) -> tuple[int, int, str]:
    """Return a random edit, most often one that changes what a made-up rule says."""
    kind = pick.randrange(10)
    if kind == 0:
        return edit(pick, text)
    line = text.rfind("\n", 0, pick.randrange(len(text) + 1)) + 1
    end = text.find("\n", line) + 1 or len(text)
    found = [m.span() for m in re.finditer(r"(?<=0x)[0-9a-f]{5}(?=:)|(?<=\.loc )[0-9]+", text[line : line + 5000])]
    if kind <= 3 and found:
        start, stop = pick.choice(found)
        return line + start, line + stop, f"{pick.choice((65001, 66001, 70000, 131072)):05x}"
    if kind == 4:
        wanted = pick.choice((
            ("num_elts=8", "num_elts=24"), ("num_elts=24", "num_elts=8"), ("type=w ", "type=uw "), ("type=uw ", "type=w "),
            ("SpillMemOffset=3", "SpillMemOffset=4"), ("SpillMemOffset=4", "SpillMemOffset=3"), ("ArgSize=3", "ArgSize=4"), ("ArgSize=4", "ArgSize=3"), (".version", "// .version"),
        ))  # fmt: skip
        at = text.find(wanted[0])
        if at >= 0:
            return at, at + len(wanted[0]), wanted[1]
    if kind == 5:
        return line, end, ""
    if kind == 6:
        at = text.find("\n.kernel_attr") + 1
        more = pick.choice((".input V9001 offset=512 size=32\n", ".input V9002 offset=544 size=32\n", ""))
        return at, at, more
    if kind == 7 and pick.random() < 0.3:
        more = pick.choice(('.kernel "other"\n', "/*\n", "*/\n", ".decl Q v_type=G type=uw num_elts=24\n"))
        at = pick.choice((0, line))
        return at, at, more
    return line, line, _line(pick) + "\n"


def _forget() -> None:
    checks._visits.cache_clear()
    checks._chosen.cache_clear()
    rule_sets.rule_sets.cache_clear()
    forget_verdicts()


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register the made-up rules during a test."""
    monkeypatch.setattr(checks, "CHECKS", (*checks.CHECKS, *MADE_UP))
    _forget()
    yield
    monkeypatch.undo()
    _forget()


def _same(analysis: Analysis, what: str) -> set[str]:
    """Edited, fresh and full findings are the same; the made-up rules among them."""
    found = analysis.findings.all
    fresh = Analysis.of(analysis.document.text, analysis.platform.name if analysis.platform else None)
    full = fresh.full_diagnostics
    missing, extra = [d for d in full if d not in found], [d for d in found if d not in full]
    assert found == full, f"{what}: missing {missing[:3]}, extra {extra[:3]}"
    assert fresh.findings.all == full, f"{what}, opened anew"
    return {d.code for d in full if d.code.startswith("X")}


def _texts(pick: random.Random, lines: int) -> Iterator[str]:
    yield _numbers(kernel(lines, pick.randrange(100)), min(40, lines // 5), pick)
    yield _numbers(generate(pick.randrange(100), lines), min(40, lines // 5), pick)
    own = [path.read_text(encoding="utf-8") for path in files("dev*/*/*.visaasm")]
    own = [text for text in own if lines // 2 <= text.count("\n") <= lines * 2]
    if own:
        yield _numbers(pick.choice(own), min(40, lines // 5), pick)


@pytest.mark.parametrize(
    ("lines", "edits", "every"),
    [
        (50, 24, 6),
        *(
            pytest.param(*case, marks=pytest.mark.full)
            for case in ((60, 60, 6), (100, 50, 6), (500, 24, 6), (5000, 4, 4))
        ),
    ],
)
def test_every_made_up_rule_is_found(lines: int, edits: int, every: int) -> None:
    pick = random.Random(lines)
    seen: set[str] = set()
    for text in _texts(pick, lines):
        analysis = Analysis.of(text, pick.choice((None, "TGLLP")))
        seen |= _same(analysis, f"{lines} lines")
        for step in range(edits):
            start, end, new = _edit(pick, analysis.document.text)
            analysis = analysis.edit(start, end, new)
            if step % every == every - 1:
                seen |= _same(analysis, f"{lines} lines, edit {step}: {start} {end} {new!r}")
            else:
                assert len(analysis.findings) <= len(analysis.document.text)
        for place, new in ((0, DECLS), (0, "// "), (0, "*/\n"), (-1, LAST.format(1)), (-1, LAST.format(2))):
            at = place if place >= 0 else len(analysis.document.text)
            analysis = analysis.edit(at, at, new)
            seen |= _same(analysis, f"{lines} lines, {new!r} at {at}")
    assert seen == {check.rule.code for check in MADE_UP}


def test_the_first_of_several_is_found_by_an_edit_that_makes_few_classes_new() -> None:
    """One line of each class is judged with the rest, and that of the first class is not the first line."""
    first = "    xor (M1, 8) V9002(0,0)<1> V9001(0,0)<1;1,0> V9002(0,0)<1;1,0>\n"
    muls = "".join(f"    mul (M1, 8) V9001(0,0)<1> V9002(0,0)<1;1,0> 0x{0x10000 + 2 * n:x}:d\n" for n in range(30))
    head = f'.version 4.1\n.kernel "k"\n{DECLS}'
    analysis = Analysis.of(head + first + muls + first + muls + "    ret (M1, 1)\n")
    assert [d.code for d in analysis.findings.all if d.code == FIRST.code] == [FIRST.code]
    edited = analysis.edit(len(head), len(head), ".input V9001 offset=512 size=32\n")
    assert edited.findings.all == edited.full_diagnostics
    back = edited.edit(len(head), edited.document.text.index(first), "")
    assert back.findings.all == analysis.findings.all


def test_a_value_is_told_in_lines_that_differ_in_it_alone() -> None:
    muls = "".join(f"    mul (M1, 8) V9001(0,0)<1> V9002(0,0)<1;1,0> 0x{n:x}:d\n" for n in range(65950, 66050))
    analysis = Analysis.of(f'.version 4.1\n.kernel "k"\n{DECLS}{muls}    ret (M1, 1)\n')
    (found,) = [d for d in analysis.findings.all if d.code == VALUES.code]
    assert analysis.document.text[found.span.start : found.span.end] == "0x101d1:d"
    changed = analysis.edit(found.span.start, found.span.end, "0x101d2:d")
    assert VALUES.code not in {d.code for d in changed.findings.all}
    again = changed.edit(found.span.start, found.span.end, "0x101d1:d")
    assert again.findings.all == analysis.full_diagnostics


@pytest.mark.parametrize(("name", "value"), [("SLMSize", "0"), ("Target", '"cm"')])
def test_what_an_attribute_says_holds_in_long_texts(name: str, value: str) -> None:
    """Rules of the project that ask for an attribute: which do is said by them."""
    lines = "    mov (M1, 8) V9001(0,0)<1> 0x1:d\n" * 70
    text = f'.version 4.1\n.kernel "k"\n{DECLS}.input V9001 offset=32 size=32\n.kernel_attr {name}={value}\n{lines}'
    analysis = Analysis.of(f"{text}    ret (M1, 1)\n")
    assert ("V127" in {d.code for d in analysis.full_diagnostics}) == (name != "Target")
    assert analysis.findings.all == analysis.full_diagnostics
    at = text.index(f"{name}=")
    other = analysis.edit(at, at + len(name), "SimdSize" if name != "SimdSize" else "SLMSize")
    assert other.findings.all == other.full_diagnostics
    back = other.edit(at, at + len("SimdSize"), name)
    assert back.findings.all == analysis.findings.all


def test_another_first_statement_is_another_text(monkeypatch: pytest.MonkeyPatch) -> None:
    # Another rule has something to say of every text that does not begin with its version.
    monkeypatch.setattr(checks, "CHECKS", MADE_UP)
    _forget()
    rest = '.kernel "k"\n' + "    fence_sw\n" * 70 + '.kernel "l"\n.kernel "m"\n' + "    ret (M1, 1)\n"
    analysis = Analysis.of(rest)
    assert BEGINNING.code not in {d.code for d in analysis.findings.all}
    declaring = analysis.edit(0, 0, ".decl V9001 v_type=G type=d num_elts=8 align=GRF\n")
    assert BEGINNING.code in {d.code for d in declaring.findings.all}
    assert declaring.findings.all == declaring.full_diagnostics
