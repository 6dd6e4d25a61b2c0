"""Names are found while the directory is being filled, after it is full, and after edits, as by a look at every line."""

import random
import re

import pytest

from visa_lsp.ide.index.directory import Directory
from visa_lsp.ide.index.text_index import index_of
from visa_lsp.syntax.document import Document

DECL = re.compile(r"\.decl (\w+) (.*?)$", re.MULTILINE)


def text_of(draw: random.Random) -> str:
    lines = [".version 4.1", '.kernel "k"']
    for number in range(3000):
        alias = f" alias=<V{draw.randrange(number)}, 0>" if number and draw.random() < 0.3 else ""
        lines.append(f".decl V{draw.randrange(2500)} v_type=G type=d num_elts=8 align=GRF{alias}")
    return "\n".join([*lines, "    ret (M1, 1)", ""])


def check(document: Document, draw: random.Random) -> None:
    index, text = index_of(document), document.text
    lines = text.split("\n")
    group = index.groups[-1]
    names = {f"V{draw.randrange(2500)}" for _ in range(3)} | {"nowhere"}
    wanted = {
        (number, match[1], match[2])
        for number, line in enumerate(lines)
        if (match := DECL.match(line)) and match[1] in names
    }
    assert {(n, name, rest.strip()) for n, name, rest in index.declarations(group, names)} == wanted
    for name in names:
        aliases = {m[1] for m in DECL.finditer(text) if f"alias=<{name}," in m[2]}
        assert set(index.aliases(group, {name})) == aliases


@pytest.mark.parametrize("seed", range(3))
def test_names_are_found_however_far_the_directory_is(seed):
    draw = random.Random(seed)
    document = Document.parse(text_of(draw))
    for step in range(12):
        check(document, draw)
        if step % 3 == 2:
            at = draw.randrange(100, len(document) - 100)
            start = document.line_start(document.position(at)[0])
            name = draw.randrange(2500)
            new = f".decl V{name} v_type=G type=d num_elts=8 align=GRF alias=<V{draw.randrange(2500)}, 0>\n"
            document = document.edit(start, start + draw.choice((0, 40)), new)


def test_the_first_question_takes_in_only_a_part():
    draw = random.Random(9)
    document = Document.parse(text_of(draw))
    index = index_of(document)
    list(index.declarations(index.groups[-1], ["V1"]))
    taken = document.session.part(Directory)._parts
    assert 0 < len(taken) < len(index.parts) - 1
    check(document, draw)
