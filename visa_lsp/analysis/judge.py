"""Binds and checks lines: one line of each new class for the verdict, and each line that may have findings.

``judge_pending`` finds the verdicts that lines wait for; ``judge_lines`` updates the kept findings of lines.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from visa_lsp.analysis.chunk_findings import Finding, Kept, names_in
from visa_lsp.analysis.classify import give_up, representatives, settle
from visa_lsp.analysis.declared_names import NAME, names_of
from visa_lsp.analysis.dependencies import Dependency, Need, Subject, names_among
from visa_lsp.analysis.directives import Place
from visa_lsp.analysis.line_classes import LINE_SCOPES, OUTLINE_SCOPES, Judged, judge, verdicts_on
from visa_lsp.analysis.rule_sets import rule_sets
from visa_lsp.analysis.tokens import DECLARATION, SINGLE, UNKNOWN
from visa_lsp.analysis.verdicts import CLEAN, Verdicts
from visa_lsp.checks.support.limits import REPORTED_LINES
from visa_lsp.checks.support.name_index import MAX_RENAMED_USES, is_likened, normalize_spelling
from visa_lsp.syntax.chunk_facts import decl_lines, label_lines
from visa_lsp.syntax.word_search import chunks_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.analysis.body import Body, Setup

# The second pass judges lines that depend on findings of the first; the bound only guards against a loop.
_PASSES: Final = 6


def judge_pending(body: Body, setup: Setup, group: Iterable[int]) -> set[Subject]:
    """Judge the classes that lines of chunks wait for; return stale subjects."""
    pending, stale = representatives(body, group), set[Subject]()
    if pending:
        lines = {body.line(setup.document, place): line_class for line_class, place in pending.items()}
        judged = judge_with_outline(body, setup, _with_declarations(body, setup, lines), lines)
        _learn_verdicts(body, setup, judged, lines)
        judged.forget()
        stale |= settle(body, group)
    return stale | give_up(body, group)


def _learn_verdicts(body: Body, setup: Setup, judged: Judged, classes_of: dict[int, str]) -> None:
    """Store the verdicts on the classes of lines."""
    tokens: dict[int, list[tuple[int, str]] | None] = dict.fromkeys(classes_of)
    code = [line for line, line_class in classes_of.items() if line_class[0] != DECLARATION]
    for line, text in setup.document.codes_at(sorted(code)).items():
        tokens[line] = [(column, token) for column, _, token in body.names.tokens_of(text)]
    news = Verdicts()
    news.clean.clear()
    for line, verdict in verdicts_on(judged, setup.document, tokens).items():
        if tokens[line] is None:
            if verdict == CLEAN:
                news.decls.add(classes_of[line][1:])
        elif verdict is not None:
            news.add(classes_of[line], verdict)
    body.verdicts.learn(news)


def judge_with_outline(body: Body, setup: Setup, lines: set[int], reported: Iterable[int] = ()) -> Judged:
    """Bind and check lines for findings in the ``reported`` ones, and the outline if its findings are unknown."""
    document, wanted = setup.document, set(reported)
    is_due = body.outline.findings is None
    if is_due:
        lines = lines | _lines_for_outline(body, setup)
        wanted |= body.lines_at(document, body.outline.places)
    scopes = OUTLINE_SCOPES if is_due else LINE_SCOPES
    judged = judge(document, sorted(lines), setup.platform, scopes, frozenset(wanted))
    if is_due:
        _keep_outline(body, setup, judged)
    return judged


def _keep_outline(body: Body, setup: Setup, judged: Judged) -> None:
    """Store the findings about the outline, and those in its lines that are judged with it."""
    document, outline = setup.document, body.outline
    places = {body.line(document, place): number for number, place in enumerate(outline.places)}
    special = body.lines_at(document, [(index, offset) for index, offset, _ in body.directives.places])
    outline.findings = []
    for diagnostic in judged.findings:
        line = document.line_at(diagnostic.span.start)
        if diagnostic.name in rule_sets().outline or (line in special and diagnostic.name in rule_sets().line):
            number = places.get(line)
            if number is not None:
                outline.findings.append((number, Finding.of(diagnostic, document)))


def judge_lines(body: Body, setup: Setup, stale: set[Dependency], active: set[int]) -> None:
    """Judge the lines of ``active`` chunks that may have findings but have none kept, and the lines that depend on those."""
    stale = set(stale)
    rechecked, dropped_places = _drop(body, stale)  # the subjects of lines that are judged again are not new
    active.update([index for index, _ in dropped_places])
    joint = set[Subject]()
    for _ in range(_PASSES):
        body.cut = body.find_cut()
        places = _select_lines(body, sorted(active), rechecked)
        if body.cut is not None:
            places = {place for place in places if place < body.cut}
        if not places:
            return
        coupled = _add_coupled_lines(body, setup, places, rechecked)
        required = _with_declarations(body, setup, body.lines_at(setup.document, places | coupled))
        judged = _judge_places(body, setup, places, required)
        news = _keep(body, setup, judged, places, dropped_places)
        judged.forget()
        # Lines with a missing name are judged together with all others that have it. Other shared subjects are known
        # only after a line is judged.
        news = {s for s in news if s not in (stale if isinstance(s, str) else joint)}
        shared = _find_shared_subjects(body, news, places)
        joint |= shared
        stale |= shared
        rechecked, dropped = _drop(body, {*shared})
        dropped_places |= dropped
        active.update([index for index, _ in dropped])


def _find_shared_subjects(body: Body, news: set[Subject], places: set[Place]) -> set[Subject]:
    """Return the new subjects that lines outside ``places`` share, because those lines were judged without them."""
    return {
        subject
        for index, lines in enumerate(body.lines if news else ())
        if not news.isdisjoint(lines.subjects)
        for offset, kept in lines.kept.items()
        if (index, offset) not in places
        for subject in news & kept.subjects
    }


def _judge_places(body: Body, setup: Setup, places: set[Place], required: set[int]) -> Judged:
    """Bind and check lines together with the lines that messages about their missing names need."""
    reported, tokens = body.lines_at(setup.document, places), body.names.tokens
    missing = {name for place in places for name in _names_at(body, setup, place) if tokens[name] == UNKNOWN}
    while True:
        required |= _lines_for_messages(body, setup, missing)
        judged = judge_with_outline(body, setup, required, reported)
        newly_missing = {name for line in reported for name in names_in(judged.missing.get(line, ()))}
        if newly_missing <= missing:
            return judged
        missing |= newly_missing
        judged.forget()


def _drop(body: Body, stale: set[Dependency]) -> tuple[set[Dependency], set[Place]]:
    """Drop findings that depend on something stale; return the subjects to check again, and the lines that lost findings."""
    rechecked, dropped = set(stale), set[Place]()
    for index, lines in enumerate(body.lines) if stale else ():
        if lines.kept and not (stale.isdisjoint(lines.subjects) and stale.isdisjoint(lines.needs)):
            for offset in [o for o, kept in lines.kept.items() if kept.depends_on(stale)]:
                rechecked.update(names_in(lines.missing.get(offset, ())), lines.kept[offset].subjects)
                del lines.kept[offset]
                dropped.add((index, offset))
    return rechecked, dropped


def _select_lines(body: Body, where: Iterable[int], rechecked: set[Dependency]) -> set[Place]:
    """Return the lines to be judged."""
    alone = {(index, o) for index in where for o in body.lines[index].alone if o not in body.lines[index].kept}
    first_uses = [(i, o) for i, o in _first_uses(body, names_among(rechecked)) if o not in body.lines[i].kept]
    return alone.union(first_uses)


def _first_uses(body: Body, names: set[str]) -> Iterator[Place]:
    """Yield the lines whose only mistake is a missing name, if they are the first to use one of these names."""
    unknown = {name for name in names if body.names.tokens[name] == UNKNOWN}
    if not unknown:
        return
    where = [index for index, lines in enumerate(body.lines) if lines.missing or lines.alone]
    chunks = [body.chunks[index] for index in where]
    seen: set[str] = set()
    for position in chunks_with(chunks, unknown) if len(unknown) <= MAX_RENAMED_USES else range(len(chunks)):
        index = where[position]
        lines = body.lines[index]
        for offset in sorted({*lines.missing, *lines.alone}):
            missing = lines.missing.get(offset)
            if missing is None:
                # The missing names of a line that is judged alone are known only after that.
                kept = lines.kept.get(offset)
                seen |= kept.missing if kept is not None else set()
                continue
            new = {name for name in missing if name.removesuffix(":") in unknown} - seen
            if new:
                seen |= new
                yield index, offset
            if len(seen) > REPORTED_LINES:
                return


def _names_at(body: Body, setup: Setup, place: Place) -> frozenset[str]:
    return names_of(setup.document.code(body.line(setup.document, place)))


def _add_coupled_lines(body: Body, setup: Setup, places: set[Place], rechecked: set[Dependency]) -> set[Place]:
    """Return the other lines that findings of lines depend on; for a missing name, at most the number that a message counts."""
    wanted = rechecked.union(*[body.names.find_coupled(_names_at(body, setup, place)) for place in places])
    unknown = {name for name in names_among(wanted) if body.names.tokens[name] == UNKNOWN}
    coupled: set[Place] = set()
    counts: Counter[str] = Counter()
    for index, lines in enumerate(body.lines) if wanted else ():
        if wanted.isdisjoint(lines.subjects) and lines.alone <= lines.kept.keys():
            continue
        coupled.update([(index, o) for o, kept in lines.kept.items() if not wanted.isdisjoint(kept.subjects)])
        for offset in sorted({*lines.missing, *lines.alone}):
            missing = lines.missing.get(offset)
            if missing is not None:
                counted = [n for n in missing if n.removesuffix(":") in unknown and counts[n] <= MAX_RENAMED_USES]
                if counted:
                    counts.update(counted)
                    coupled.add((index, offset))
            elif offset not in lines.kept and not wanted.isdisjoint(_names_at(body, setup, (index, offset))):
                coupled.add((index, offset))
    return coupled


def _keep(body: Body, setup: Setup, judged: Judged, places: set[Place], dropped_places: set[Place]) -> set[Subject]:
    """Store the findings of lines; return the subjects of the lines outside of ``dropped_places``."""
    document, names = setup.document, body.names
    lines_of = {body.line(document, place): place for place in places}
    by_line: dict[int, list[Finding]] = {}
    for diagnostic in judged.findings:
        line = document.line_at(diagnostic.span.start)
        if line in lines_of and diagnostic.name not in rule_sets().outline:
            by_line.setdefault(line, []).append(Finding.of(diagnostic, document))
    news: set[Subject] = set()
    for line, (index, offset) in lines_of.items():
        missing = frozenset(judged.missing.get(line, ()))
        reported: set[Subject] = {*judged.subjects.get(line, ()), *names_in(missing)}
        subjects = reported.union(names.find_coupled(_names_at(body, setup, (index, offset))))
        if (index, offset) not in dropped_places:
            news |= reported
        needs: set[Dependency] = set()
        if any(names.tokens[name] == SINGLE for name in names_among(subjects)):
            needs.add(Need.BRACES)
        for name in names_in(missing):
            if name in names.decl:
                needs.add(Need.BRACES)
            needs |= {Need.LEADING, Need.END, normalize_spelling(name)}
            if is_likened(name):
                needs.add(Need.UNNUMBERED)
        lines = body.lines[index]
        lines.kept[offset] = Kept(tuple(by_line.get(line, ())), frozenset(subjects), frozenset(needs), missing)
    return news


# ---- lines that must be bound together with given lines, so that those get the same findings as in the whole text ----


def _with_declarations(body: Body, setup: Setup, lines: Iterable[int]) -> set[int]:
    """Return the lines, the lines that all others depend on, and the declarations of the names in both."""
    document = setup.document
    required = setup.version_lines.union(lines, body.lines_at(document, body.outline.shaping))
    codes = document.codes_at(sorted(required)).values()
    return required | _declarations(body, setup, set[str]().union(*map(names_of, codes)))


def _declarations(body: Body, setup: Setup, wanted: set[str]) -> set[int]:
    """Return the lines of the declarations, labels and inputs of names, and of the variables that these are aliases of."""
    names, declarations = body.names.with_bases(wanted)
    places = [(index, decl_lines(body.chunks[index])[number]) for index, number in declarations]
    for index in body.names.with_label(names):
        places += [(index, offset) for offset, name in label_lines(body.chunks[index]) if name in names]
    inputs = body.directives.inputs
    places += [place for name in inputs.keys() & names for place in inputs[name]]
    return body.lines_at(setup.document, places)


def _lines_for_messages(body: Body, setup: Setup, missing: set[str]) -> set[int]:
    """Return the lines that messages about missing names need: declarations of similar names, and where to add a line."""
    if not missing:
        return set()
    outline = body.outline
    leading = outline.leading if body.names.redeclared else outline.leading[-1:]
    first_code = [outline.first_code] if outline.first_code is not None else []
    lines = body.lines_at(setup.document, [*outline.last_code, *leading, *first_code])
    wanted = {name for word in missing for name in body.names.spelt_like(word)}
    wanted.update(*[NAME.findall(setup.document.code(line)) for line in lines])
    return lines | _declarations(body, setup, wanted)


def _lines_for_outline(body: Body, setup: Setup) -> set[int]:
    """Return the lines of the outline, the version lines, and the declarations of their names."""
    places = body.lines_at(setup.document, body.outline.places)
    return places | setup.version_lines | _declarations(body, setup, set(body.outline.names))
