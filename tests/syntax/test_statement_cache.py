"""The cache of statements: what comes from it is what the grammar says, whatever happened to the file."""

from __future__ import annotations

import random
import zlib
from typing import TYPE_CHECKING

import msgspec
import pytest
from tiers import first

from visa_lsp.build_id import digest
from visa_lsp.cli.main import main
from visa_lsp.disk_cache import MAX_BYTES, Kept
from visa_lsp.syntax.parse import Parser
from visa_lsp.syntax.shapes import split
from visa_lsp.syntax.statement_cache import StatementCache, pack_tree, statement_cache_of_user

if TYPE_CHECKING:
    from pathlib import Path

LINES = (
    ".version 4.1",
    '.kernel "saxpy"',
    ".decl V0032 v_type=G type=d num_elts=8 align=hword alias=<%r0, 0>",
    ".input V0032 offset=32 size=4",
    '.kernel_attr Target="cm"',
    "    mad (M1, 16) V0040(0,0)<1> V0041(0,0)<1;1,0> V0042(0,0)<0;1,0> 0x3f800000:f",
    "    (!P1) goto (M1, 8) done_1",
    "    add.sat (M1_NM, 8) V1(1,2)<2> (-)V2(0,0)<1;1,0> -3:w",
    "    lsc_load.ugm (M1, 1) V3:d32x8t flat[V4]:a64",
    "done_1:",
    "{",
)


def parser_at(path: Path, mark: str = "mark") -> Parser:
    return Parser(StatementCache(Kept(path, mark)))


def filled(path: Path) -> Path:
    parser = parser_at(path)
    for line in LINES:
        parser.line(line)
    assert parser.full_parses == len(LINES)
    parser.flush()
    return path


def test_a_second_process_asks_no_grammar(tmp_path):
    filled(tmp_path / "shapes")
    parser, plain = parser_at(tmp_path / "shapes"), Parser()
    others = [line.replace("V00", "W9").replace("0x3f800000", "0x40490fdb").replace("-3", "-77") for line in LINES]
    for line in (*LINES, *others):
        assert parser.line(line) == plain.line(line), line
    assert parser.full_parses == 0


def test_another_mark_makes_another_shelf(tmp_path):
    filled(tmp_path / "shapes")
    parser = parser_at(tmp_path / "shapes", "another")
    parser.line(LINES[0])
    assert parser.full_parses == 1
    assert parser.cache is not None
    parser.flush()
    assert (tmp_path / "shapes").read_bytes().startswith(b"another\n")


def test_two_processes_may_append(tmp_path):
    first, second = parser_at(tmp_path / "shapes"), parser_at(tmp_path / "shapes")
    for parser, lines in ((first, LINES[:6]), (second, LINES[4:])):
        for line in lines:
            parser.line(line)
    for parser in (first, second, first):
        assert parser.cache is not None
        parser.flush()
    third = parser_at(tmp_path / "shapes")
    for line in LINES:
        third.line(line)
    # The one that began the file may have been replaced by the other, which saw no file either.
    assert third.full_parses <= 4


@pytest.mark.parametrize("seed", first(10, range(40)))
def test_a_damaged_file_is_only_less_of_a_shelf(tmp_path, seed):
    path, chooser = filled(tmp_path / "shapes"), random.Random(seed)
    data = bytearray(path.read_bytes())
    for _ in range(chooser.choice((1, 3, 30))):
        where = chooser.randrange(len(data))
        what = chooser.random()
        if what < 0.5:
            data[where] = chooser.randrange(256)
        elif what < 0.8:
            del data[where : where + chooser.randrange(1, 50)]
        else:
            data[where:where] = bytes(chooser.randrange(256) for _ in range(9))
    path.write_bytes(bytes(data))
    parser, plain = parser_at(path), Parser()
    for line in LINES:
        assert parser.line(line) == plain.line(line), line


@pytest.mark.parametrize(
    "tree",
    [
        b"null",
        b"7",
        b"[]",
        b"[999]",
        b"[1]",
        b'["Word"]',
        b"[-1, 2, 3]",
        b"[22, 1, 2, 3, 4, 5, [-1], null]",
        b"[" * 5000 + b"]" * 5000,
        b"{",
    ],
)  # fmt: skip
def test_an_entry_of_nonsense_is_no_entry(tmp_path, tree):
    line = LINES[5]
    rest = msgspec.json.encode(split(line)[0]) + b"\t[" + msgspec.json.encode(line) + b"," + tree + b"]"
    (tmp_path / "shapes").write_bytes(b"mark\n%08x\t%s\n" % (zlib.crc32(rest), rest))
    parser = parser_at(tmp_path / "shapes")
    assert parser.line(line) == Parser().line(line)


@pytest.mark.parametrize("kind", [int, bool, str, float])
def test_nothing_of_the_file_is_executed(tmp_path, kind):
    """A template is compiled from a tree: texts where it has numbers and flags must not come into its code."""

    def poisoned(value: object) -> object:
        if isinstance(value, list):
            return [value[0], *map(poisoned, value[1:])]
        return "exit('executed')" if type(value) is kind else value

    line = "  (P1) add.sat (M1, 1) V1(0,0)<1> V2(0,1)<1;1,0> 1.5:f"
    kept = Kept(tmp_path / "shapes", "mark")
    kept.put(split(line)[0], [line, poisoned(pack_tree(Parser().full(line)))])
    kept.flush()
    parser = parser_at(tmp_path / "shapes")
    for text in (line, line.replace("V1", "V77")):
        found = parser.line(text)
        assert kind is bool or found == Parser().full(text), "flags are believed, as texts in quotes are"


def test_no_room_no_folder_no_rights(tmp_path):
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "big").write_bytes(b"mark\n" + b"x" * (MAX_BYTES + 1))
    for path in (tmp_path / "file" / "shapes", tmp_path / "big"):
        parser = parser_at(path)
        assert parser.line(LINES[0]) == Parser().line(LINES[0])
        assert parser.cache is not None
        parser.flush()
    assert (tmp_path / "big").stat().st_size < MAX_BYTES, "it was not begun again"


def test_half_a_character_is_no_key(tmp_path):
    kept = Kept(tmp_path / "shapes", "mark")
    kept.put("\ud800", 1)
    kept.put("a", "\udcff")
    kept.put("b", 2)
    kept.flush()
    assert (kept.get("\ud800"), kept.get("a")) == (None, None)
    assert Kept(tmp_path / "shapes", "mark").get("b") == 2


def test_the_command_line_fills_the_folder_that_is_named(tmp_path, monkeypatch):
    text = tmp_path / "k.visaasm"
    text.write_text(".version  \t  4.1\n")  # blanks that nobody else writes: the parser of this process has not seen it
    monkeypatch.setenv("VISA_LSP_CACHE", "off")
    assert statement_cache_of_user() is None
    monkeypatch.setenv("VISA_LSP_CACHE", str(tmp_path / "kept"))
    digest.cache_clear()  # as in a process of its own: another test may have asked for it
    main(["check", str(text)])
    kept = {path.name.split("-")[0] for path in (tmp_path / "kept").iterdir()}
    assert kept == {"checked", "identity", "shapes"}
