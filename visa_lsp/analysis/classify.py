"""Sorts lines by the verdicts on their classes: clean, names missing, judged alone, or waiting for a verdict.

Every function changes only the ``ChunkLines`` of the given lines and returns the subjects that became stale. Binds
nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from visa_lsp.analysis.chunk_findings import ChunkLines
from visa_lsp.analysis.declared_names import NAME
from visa_lsp.analysis.dependencies import Subject
from visa_lsp.analysis.line_classes import with_values
from visa_lsp.analysis.rule_sets import rule_sets
from visa_lsp.analysis.tokens import DECLARATION, LABEL, LATE, SINGLE, UNKNOWN
from visa_lsp.analysis.verdicts import ALONE, CLEAN
from visa_lsp.sema.binding_pass import reads_attributes
from visa_lsp.syntax.bulk import classes, instruction_of, instructions_of
from visa_lsp.syntax.chunk_facts import INPUT, decl_lines, instructions_in
from visa_lsp.syntax.chunks import code_in
from visa_lsp.syntax.parse import MAX_LINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from visa_lsp.analysis.body import Body
    from visa_lsp.analysis.directives import Place
    from visa_lsp.syntax.document import Document

_SINGLE_LABEL: Final = SINGLE + ":"


def classify_chunk(body: Body, document: Document, index: int, offsets: list[int] | None) -> set[Subject]:
    """Classify some lines of a chunk, or all; return their subjects before and after."""
    facts, lines = body.facts[index], body.lines[index]
    stale = set[Subject]()
    if offsets is None:
        stale |= lines.subjects
        lines = body.lines[index] = ChunkLines()
    else:
        stale.update(*map(lines.forget, offsets))
    if facts.strange:
        for offset, line in enumerate(instructions_in(body.chunks[index])):
            if line.strip() and (offsets is None or offset in offsets):
                stale.update(_judge_alone(body, lines, offset, line))
    elif facts.has_code:
        stale |= _classify_code(body, document, index, offsets)
    if facts.decls:
        stale |= _classify_declarations(body, index, offsets)
    if facts.specials:
        stale |= _classify_directives(body, index, offsets)
    return stale


def _classify_code(body: Body, document: Document, index: int, offsets: list[int] | None) -> set[Subject]:
    names, lines, chunk = body.names, body.lines[index], body.chunks[index]
    clean, others, setting = body.verdicts.clean, body.verdicts.others, body.names.setting
    code: Sequence[str] | dict[int, str] = ()
    if offsets is None:
        line_classes = classes(instructions_of(code_in(chunk), body.facts[index]), names.tokens, names.pattern)
    else:
        code = {offset: instruction_of(document.code(body.line(document, (index, offset)))) for offset in offsets}
        line_classes = classes("".join(["\n" + code[o] for o in offsets]), names.tokens, names.pattern)
    readers = rule_sets().value_readers
    irregular = {name for name in names.irregular if name in chunk.text}
    reading = reads_attributes(chunk.text)
    stale = set[Subject]()
    # The common case first: every line is described by its class, and most classes are clean.
    regular = readers is None and not irregular and not reading and setting.parts is None
    new = set(line_classes).difference(clean) if regular else None
    if new is not None and not new and not setting.declared_late:
        return stale
    if offsets is None:
        code = instructions_in(chunk)
    places = enumerate(line_classes) if offsets is None else zip(offsets, line_classes, strict=True)
    for offset, plain in places if new is None else [(o, c) for o, c in places if c in new or LATE in c]:
        line, line_class = code[offset], plain
        if plain == _SINGLE_LABEL and line.rstrip(": \t") in setting.lone:
            continue
        if readers is not None and plain:
            line_class = with_values(plain, line, readers)
        reads = reading and reads_attributes(line)
        if reads:
            line_class += names.said
        if (
            SINGLE in line_class
            or (reads and (index, offset) < body.directives.last_attribute)
            or (irregular and not irregular.isdisjoint(NAME.findall(line)))
            or _is_out_of_place(body, (index, offset), line_class, line)
        ):
            stale.update(_judge_alone(body, lines, offset, line))
        elif line_class not in clean:
            verdict = others.get(line_class)
            if verdict is None:
                lines.waiting[offset] = line_class
            else:
                stale.update(_apply_verdict(body, lines, offset, line, verdict))
    return stale


def _is_out_of_place(body: Body, place: Place, line_class: str, line: str) -> bool:
    """Return whether a line uses a name before its declaration, or a label of another part."""
    setting, names = body.names.setting, body.names
    if setting.parts is not None and LABEL in line_class:
        here = f"{bisect_left(body.directives.parts, place)};"
        if any(not piece.startswith(here) for piece in line_class.split(LABEL)[1:]):
            return True
    late = setting.declared_late.intersection(NAME.findall(line)) if LATE in line_class else ()
    return any(name in names.decl and _find_declaration(body, name) > place for name in late)


def _find_declaration(body: Body, name: str) -> Place:
    index, number = body.names.place(name)
    return index, decl_lines(body.chunks[index])[number]


def _judge_alone(body: Body, lines: ChunkLines, offset: int, line: str) -> list[str]:
    lines.alone.add(offset)
    return body.names.find_coupled(NAME.findall(line)) if len(line) <= MAX_LINE else []


def _apply_verdict(body: Body, lines: ChunkLines, offset: int, line: str, verdict: tuple[int, ...]) -> list[str]:
    """Apply the verdict on a line's class to the line; return the stale subjects."""
    if verdict == ALONE:
        return _judge_alone(body, lines, offset, line)
    if verdict == CLEAN:
        return []
    unknown = [name for _, name, token in body.names.tokens_of(line) if token == UNKNOWN]
    lines.missing[offset] = tuple([unknown[number >> 1] + ":" * (number & 1) for number in verdict])
    return [unknown[number >> 1] for number in verdict]


def _classify_declarations(body: Body, index: int, offsets: list[int] | None) -> set[Subject]:
    """Classify declarations by the verdicts on their tokens."""
    facts, names, lines = body.facts[index], body.names, body.lines[index]
    declared, clean = facts.decls, set[str]() if facts.strange else body.verdicts.decls
    chosen: Iterable[int]
    if offsets is None:
        chosen = [k for k, token in enumerate(map(names.tokens.get, declared)) if token not in clean]
        twice = names.redeclared | names.setting.directives.broken
        if twice:
            chosen = sorted({*chosen, *[k for k, name in enumerate(declared) if name in twice]})
    else:
        decl_offsets = decl_lines(body.chunks[index])
        numbers = [(bisect_left(decl_offsets, offset), offset) for offset in offsets]
        chosen = [k for k, offset in numbers if k < len(decl_offsets) and decl_offsets[k] == offset]
    stale = set[Subject]()
    decl_offsets = decl_lines(body.chunks[index]) if chosen else ()
    for k in chosen:
        token, offset = names.decl_token(declared[k]), decl_offsets[k]
        if token in clean:
            continue
        if token == SINGLE or facts.strange:
            lines.alone.add(offset)
            stale.add(declared[k])
        else:
            lines.waiting[offset] = DECLARATION + token
    return stale


def _classify_directives(body: Body, index: int, offsets: list[int] | None) -> set[Subject]:
    """Mark undeclared inputs, subroutines and irregular directives to be judged as lines, not with the outline."""
    directives, names, lines = body.directives, body.names, body.lines[index]
    stale = set[Subject]()
    start, end = (bisect_left(directives.parts, (chunk_index, 0)) for chunk_index in (index, index + 1))
    for (_, offset), name in zip(directives.parts[start:end], directives.part_names[start:end], strict=True):
        if name in names.setting.lone:
            lines.alone.discard(offset)
            continue
        lines.alone.add(offset)
        if name and (offsets is None or offset in offsets):
            stale.add(name)
    for offset, text in body.facts[index].specials:
        if offsets is not None and offset not in offsets:
            continue
        if (index, offset) in directives.irregular:
            stale.update(_judge_alone(body, lines, offset, text))
        match = INPUT.match(text)
        name = match.group(1) if match is not None else ""
        if name and (
            name not in names.decl or _find_declaration(body, name) > (index, offset) or names.find_coupled((name,))
        ):
            lines.alone.add(offset)
            stale.add(name)
    return stale


def settle(body: Body, group: Iterable[int]) -> set[str]:
    """Apply known verdicts to the waiting lines of chunks; return stale names."""
    verdicts, stale = body.verdicts, set[str]()
    for index in group:
        lines = body.lines[index]
        if not lines.waiting:
            continue
        code = instructions_in(body.chunks[index])
        for offset, line_class in list(lines.waiting.items()):
            if line_class[0] == DECLARATION:
                if line_class[1:] not in verdicts.decls:
                    continue
            elif line_class not in verdicts.clean:
                verdict = verdicts.others.get(line_class)
                if verdict is None:
                    continue
                stale.update(_apply_verdict(body, lines, offset, code[offset], verdict))
            del lines.waiting[offset]
    return stale


def give_up(body: Body, group: Iterable[int]) -> set[str]:
    """Mark the lines of chunks that still wait for a verdict to be judged alone; return stale names."""
    stale = set[str]()
    for index in group:
        lines = body.lines[index]
        if lines.waiting:
            code = instructions_in(body.chunks[index])  # blank for a declaration
            for offset in lines.waiting:
                stale.update(_judge_alone(body, lines, offset, code[offset]))
            lines.waiting.clear()
    return stale


def representatives(body: Body, group: Iterable[int]) -> dict[str, Place]:
    """Return one line of each class that waits for a verdict."""
    return {c: (index, offset) for index in group for offset, c in body.lines[index].waiting.items()}
