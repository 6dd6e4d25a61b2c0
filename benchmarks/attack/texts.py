"""Texts: checked on both ways and after edits, assembled, read back, formatted, queried at any place."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec import structs

from benchmarks.attack.core import EXAMPLES, Target, Wrong
from benchmarks.attack.kernels import PLATFORMS, Kernels
from benchmarks.attack.oddities import edit, odd
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.assemble import assemble_text
from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.ide.features.call_hierarchy import callables, find_callees, find_callers, prepare
from visa_lsp.ide.features.code_actions import code_actions, fix_all
from visa_lsp.ide.features.code_lens import code_lenses
from visa_lsp.ide.features.completion import offers
from visa_lsp.ide.features.definition import definition, implementation, type_definition
from visa_lsp.ide.features.document_links import document_links
from visa_lsp.ide.features.flow_text import dot, flow_at, mermaid
from visa_lsp.ide.features.folding import folding_ranges
from visa_lsp.ide.features.formatting import format_on_type, format_text
from visa_lsp.ide.features.hover import hover
from visa_lsp.ide.features.inlay_hints import inlay_hints
from visa_lsp.ide.features.linked_editing import find_linked_places
from visa_lsp.ide.features.outline import outline
from visa_lsp.ide.features.references import highlights, references
from visa_lsp.ide.features.rename import RenameRefused, prepare_rename, rename
from visa_lsp.ide.features.selection_range import selection_ranges
from visa_lsp.ide.features.semantic_tokens import semantic_tokens
from visa_lsp.ide.features.signature import signature_help
from visa_lsp.ide.features.symbols import workspace_symbols
from visa_lsp.ide.suppressions import visible
from visa_lsp.isa.attributes import KERNEL_ATTRIBUTES, AttributeKind
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.text_form import module_text
from visa_lsp.syntax.parse import MAX_LINE
from visa_lsp.text import Span

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable

    from visa_lsp.diagnostics import Diagnostic, Edit
    from visa_lsp.program.model import Attribute, Kernel, Module


_OTHER_VERSION: Final = re.compile(r"^\s*\.version\s+(?!4\s*\.\s*1\b)", re.MULTILINE)


class Case(NamedTuple):
    """A text for a platform, and edits of it, one behind the other."""

    text: str
    platform: str | None
    edits: tuple[tuple[int, int, str], ...]


class Texts(Target):
    """Kernels out of the table and real ones, most of them with something odd in them."""

    name = "texts"
    suffix = ".visaasm"

    def __init__(self) -> None:
        self.real = [path.read_text("utf-8") for path in sorted(EXAMPLES.glob("*.visaasm"))]

    def make(self, draw: random.Random) -> Case:
        """Return a text, short or longer than what is bound as a whole."""
        if draw.random() < 0.12:
            lines = draw.choice(self.real).split("\n")
            at = draw.randrange(len(lines))
            size = draw.choice((10, 40, 100))
            text = "\n".join([*lines[:2], *lines[at : at + size]]) if draw.random() < 0.7 else "\n".join(lines)
        else:
            text = Kernels(draw).text(draw.choice((1, 2, 4, 8, 16, 30, 80)))
        if draw.random() < 0.8:
            text = odd(draw, text)
        edits = []
        now = text
        for _ in range(draw.choice((0, 1, 2, 3))):
            start, end, new = edit(draw, now)
            edits.append((start, end, new))
            now = now[:start] + new + now[end:]
        return Case(text, draw.choice(PLATFORMS), tuple(edits))

    def to_bytes(self, case: Case) -> bytes:
        """Return the text, the rest in a comment behind it."""
        return f"{case.text}\n// platform {case.platform}, edits {case.edits!r}\n".encode("utf-8", "surrogatepass")

    def attempt(self, case: Case, draw: random.Random) -> str:
        """Run every operation on a text."""
        text, platform = case.text, case.platform
        analysis = Analysis.of(text, platform)
        if analysis.document.text != text:
            raise Wrong("the document has another text")
        full = analysis.full_diagnostics
        in_range(text, full)
        same("the short way", analysis.incremental_diagnostics(), full)
        same("the short way, a second time", Analysis.of(text, platform).incremental_diagnostics(), full)
        visible(analysis)
        features(analysis, draw)
        outcome = assemble(text, platform)
        if outcome == "refused" and assemble(without_errors(analysis), platform) == "assembled":
            outcome = "assembled without the lines of errors"
        check_formatting(analysis)
        self._edit(case, analysis, draw)
        same("the second time", Analysis.of(text, platform).full_diagnostics, full)
        return outcome

    def _edit(self, case: Case, analysis: Analysis, draw: random.Random) -> None:
        text = case.text
        for number, (start, end, new) in enumerate(case.edits):
            analysis = analysis.edit(start, end, new)
            text = text[:start] + new + text[end:]
            if analysis.document.text != text:
                raise Wrong(f"another text after edit {number}")
            fresh = Analysis.of(text, case.platform)
            same(f"after edit {number}", analysis.incremental_diagnostics(), fresh.full_diagnostics)
            if draw.random() < 0.3:
                features(analysis, draw)


def same(what: str, found: Iterable[Diagnostic], wanted: Iterable[Diagnostic]) -> None:
    """Check that findings are equal, fixes and related places included."""
    mine, others = tuple(found), tuple(wanted)
    if mine != others:
        extra, missing = Counter(map(_describe, mine)), Counter(map(_describe, others))
        both = extra & missing
        raise Wrong(f"{what} finds {list(extra - both)[:3]} in place of {list(missing - both)[:3]}")


def _describe(finding: Diagnostic) -> str:
    return f"{finding.code} {finding.span} {finding.message} {finding.related!r} {finding.fixes!r}"


def in_range(text: str, found: Iterable[Diagnostic]) -> None:
    """Check that each finding lies in the text and that each fix can be applied."""
    for finding in found:
        spans = [finding.span, *(e.span for fix in finding.fixes for e in fix.edits)]
        spans += [r.span for r in finding.related if not r.path]
        for span in spans:
            if not 0 <= span.start <= span.end <= len(text):
                raise Wrong(f"{finding.code} is at {span}, the text has {len(text)} characters")
        if not finding.message or "\n" in finding.message or len(finding.message) > 1000 + len(text):
            raise Wrong(f"{finding.code} has the message {finding.message[:100]!r} ({len(finding.message)} characters)")


def assemble(text: str, platform: str | None) -> str:
    """Text to bytes to text to bytes; what became of it."""
    first = assemble_text(text, platform)
    in_range(text, first.diagnostics)
    if first.data is None:
        if not any(d.severity.value == "error" for d in first.diagnostics):
            raise Wrong("no object, and no error that says why")
        return "refused"
    printed = module_text(decode(first.data), platform_named(platform) if platform else None)
    second = assemble_text(printed, platform)
    if second.data is None:
        # An escape is longer than its byte, so that a name can be printed in a line longer than is read.
        if max(map(len, printed.split("\n"))) > MAX_LINE:
            return "assembled, a name too long for a line"
        # Objects are 4.1, and so is their text: there what only another version has, or does not check, is an error.
        if _OTHER_VERSION.search(text) or "fccall" in text:
            return "assembled, its text refused as 4.1"
        if _OTHER_VERSION.search(printed):  # for the platforms of 2026, whose text says less
            return "assembled, its text refused as 4.2"
        said = [f"{d.code} {d.message}" for d in second.diagnostics if d.severity.value == "error"]
        raise Wrong(f"our own text is refused: {said[:2]}")
    if second.data == first.data:
        return "assembled"
    # Our text puts a declaration or an attribute behind code in front of it, and its names in the pool likewise.
    if encode(_with_wide_numbers(decode(first.data))) == encode(_with_wide_numbers(decode(second.data))):
        return "assembled, a number that was a text in four bytes"
    again = module_text(decode(second.data), platform_named(platform) if platform else None)
    if again == printed and _late(text):
        return "assembled, names in another order"
    # Objects do not distinguish a variable's address from its value; it is printed in bytes, which have no column past a row.
    if again == printed and any(d.code == "V306" for d in first.diagnostics):
        return "assembled, a column past its register"
    # The assembler stores an empty string as the first of the pool, the body's name, which is printed then.
    if again == printed and re.search(r'(?im)^[ \t]*[.]?FILE[ \t]+""', text):
        return "assembled, a source without a name"
    at = next((i for i, (a, b) in enumerate(zip(first.data, second.data, strict=False)) if a != b), -1)
    raise Wrong(f"other bytes after dis and asm: {len(first.data)} and {len(second.data)}, first at {at}")


def _with_wide_numbers(module: Module) -> Module:
    """Return the module with four bytes for the number of an attribute that has one or two: a text says the number alone."""

    def wide(body: Kernel) -> Kernel:
        attributes = tuple(
            structs.replace(a, size=4, data=a.data.ljust(4, b"\0")) if _is_short_number(body, a) else a
            for a in body.attributes
        )
        return structs.replace(body, attributes=attributes)

    return structs.replace(
        module, kernels=tuple(map(wide, module.kernels)), functions=tuple(map(wide, module.functions))
    )


def _is_short_number(body: Kernel, attribute: Attribute) -> bool:
    name = body.string(attribute.name_index)
    known = KERNEL_ATTRIBUTES.get(name)
    takes_text = known is None or known.kind is AttributeKind.STRING or name == "Target"
    return not takes_text and attribute.size in (1, 2)


def _late(text: str) -> bool:
    """Return whether a declaration is behind an attribute, a label or an instruction of its body."""
    stage = 0  # 1 behind an attribute, 2 behind code
    for line in text.replace("\r", "\n").split("\n"):
        word = line.strip().lstrip("{").strip()
        if word.startswith((".kernel ", ".kernel\t", '.kernel"', ".global_function")):
            stage = 0
        elif word.startswith((".decl", ".input", ".implicit")):
            if stage:
                return True
        elif word.startswith(".kernel_attr"):
            if stage == 2:
                return True
            stage = 1
        elif word and not word.startswith(("//", ".version")):  # .function is code: the record of a label
            stage = 2
    return False


def without_errors(analysis: Analysis) -> str:
    """Return the text without the lines where errors are; a few times, since their consequences show up then."""
    for _ in range(4):
        bad = {analysis.document.position(d.span.start)[0] for d in analysis.diagnostics if d.severity.value == "error"}
        if not bad:
            break
        lines = analysis.document.text.split("\n")
        kept = [line for number, line in enumerate(lines) if number not in bad]
        analysis = Analysis.of("\n".join(kept), analysis.platform.name if analysis.platform else None)
    return analysis.document.text


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with edits that do not overlap."""
    last = len(text)
    for one in sorted(edits, key=lambda e: (e.span.start, e.span.end), reverse=True):
        if not 0 <= one.span.start <= one.span.end <= last:
            raise Wrong(f"edits overlap or leave the text at {one.span}")
        text = text[: one.span.start] + one.new_text + text[one.span.end :]
        last = one.span.start
    return text


def check_formatting(analysis: Analysis) -> None:
    """Check that formatting keeps the meaning of the text and is idempotent."""
    before = analysis.document.text
    after = apply_edits(before, format_text(analysis))
    again = Analysis.of(after)
    if more := format_text(again):
        raise Wrong(f"a formatted text is formatted again: {more[0]!r}")
    if "".join(before.split()) != "".join(after.split()):
        raise Wrong("formatting changes more than blanks")
    codes = [d.code for d in analysis.full_diagnostics if d.severity.value in ("error", "warning")]
    platform = analysis.platform.name if analysis.platform else None
    others = [d.code for d in Analysis.of(after, platform).full_diagnostics if d.severity.value in ("error", "warning")]
    if Counter(codes) != Counter(others):
        raise Wrong(
            f"formatting changes findings: {Counter(codes) - Counter(others)}, {Counter(others) - Counter(codes)}"
        )


_EVERYWHERE: Final = (
    hover, offers, definition, implementation, type_definition, references, highlights, prepare_rename,
    signature_help, find_linked_places, selection_ranges,
)  # fmt: skip


def features(analysis: Analysis, draw: random.Random) -> None:
    """Run every editor request, at some places and for the whole text; check that answers stay in the text."""
    document = analysis.document
    size = len(document)
    for feature in _EVERYWHERE:
        for offset in [draw.randrange(size + 1) for _ in range(2)]:
            answer: Any = feature(analysis, offset)
            _inside(feature.__name__, answer, size)
    for offset in (0, size, draw.randrange(size + 1)):
        try:
            edits = rename(
                analysis, offset, draw.choice(("V7777", "x", "", "add", "V32", "a b", "%null", "\U0001f600"))
            )
        except RenameRefused:
            continue
        apply_edits(document.text, edits)
    lines = document.line_count
    first, last = sorted((draw.randrange(lines), draw.randrange(lines)))
    for token in semantic_tokens(analysis):
        if not 0 <= token.span.start < token.span.end <= len(document.line_text(token.line)):
            raise Wrong(f"a token beyond its line: {token}")
    list(semantic_tokens(analysis, first, last))
    for fold in folding_ranges(analysis):
        if not 0 <= fold.first_line < fold.last_line < lines:
            raise Wrong(f"a fold of lines {fold.first_line} to {fold.last_line} of {lines}")
    outline(analysis)
    workspace_symbols(analysis, draw.choice(("", "V", "k", "(((", "*", "\\")))
    inlay_hints(analysis, first, last)
    code_lenses(analysis)
    document_links(analysis)
    flow = flow_at(analysis, line=first)
    if flow is not None:
        dot(document, flow)
        mermaid(document, flow)
    for one in callables(analysis)[:5]:
        find_callers(analysis, one)
        find_callees(analysis, one)
    prepare(analysis, draw.randrange(size + 1))
    format_on_type(analysis, first, draw.choice(("\n", ":", "}")))
    found = analysis.diagnostics
    for offset in (0, draw.randrange(size + 1)):
        code_actions(found, Span(offset, min(size, offset + 40)))
    apply_edits(document.text, fix_all(found))
    for offset in (0, size, draw.randrange(size + 1)):
        if document.offset(*document.position(offset)) != offset and document.text[offset - 1 : offset + 1] != "\r\n":
            raise Wrong(f"offset {offset} is {document.position(offset)}, which is another offset")


def _inside(name: str, answer: Any, size: int) -> None:
    """Check that the span of an answer, or of each of its members, is in the text."""
    for one in answer if isinstance(answer, tuple | list) else (answer,):
        for key in ("span", "origin", "name"):
            span = getattr(one, key, None)
            if hasattr(span, "start") and not 0 <= span.start <= span.end <= size:
                raise Wrong(f"{name} answers {span} in a text of {size}")
