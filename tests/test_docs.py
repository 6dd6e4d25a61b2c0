"""``docs/format.md`` and the map of the rooms against the code that they describe, and what comments say of documents."""

from __future__ import annotations

import functools
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from import_graph import find_reached

from tests.test_layers import ALLOWED
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.assemble import assemble_text
from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode, instruction_offsets
from visa_lsp.codec.instruction_reader import OLD_FIELDS, OLD_TYPED_UNTIL
from visa_lsp.codec.object_reader import summary
from visa_lsp.codec.records import MAGIC, WRITTEN_VERSION, ObjectLayout
from visa_lsp.diagnostics import has_errors
from visa_lsp.isa import lsc_codes, predefined
from visa_lsp.isa.attributes import ATTRIBUTES
from visa_lsp.isa.model import Dialect, FieldKind
from visa_lsp.isa.operands import ALIGN_CODE, REGION_CODE, align_bytes
from visa_lsp.isa.platforms import PLATFORMS
from visa_lsp.isa.types import TYPE_BY_CODE
from visa_lsp.syntax.build import _STATEMENT as STATEMENTS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```visa\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
# What is written by hand: no corpus, no binary file, nothing that a build leaves behind.
WRITTEN = [
    *(ROOT.glob("*.md")),
    ROOT / "pyproject.toml",
    *(
        path
        for folder in ("visa_lsp", "tests", "benchmarks", "docs", "grammar", "vscode-extension", "examples")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".md", ".ppeg", ".ts", ".js", ".mjs", ".json", ".sh", ".yaml", ".el", ".lua", ".toml"}
        and not {"node_modules", "dist", "out", "__pycache__"} & set(path.parts)
        and (ROOT / "tests" / "own" / "dev") not in path.parents
    ),
]


def section(heading: str) -> str:
    """Return the text under a heading, up to the next one."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, f"docs/format.md has no section {heading!r}"
    return found[1]


def rows(heading: str) -> list[list[str]]:
    """Return the cells of all table lines of a section, without the lines of dashes."""
    lines = [line for line in section(heading).splitlines() if line.startswith("|") and not line.startswith("| ---")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def columns(heading: str, *names: str) -> list[tuple[str, ...]]:
    """Return the rows of the table of a section whose first cells are ``names``, as many cells of each."""
    table, inside = [], False
    for cells in rows(heading):
        head = tuple(cells[: len(names)])
        if head == names:
            inside = True
        elif inside and len(cells) >= len(names):
            table.append(head)
    return table


def slug(heading: str) -> str:
    return re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-")


def headings(text: str) -> list[str]:
    return re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)


# ---- what comments point to


def test_nothing_names_a_document_that_is_not_here():
    outside = re.compile(r"\b(?:STYLE|DESIGN|REAL_FORMAT)\b|\b[Ss]ection [0-9]|/wor[k]/")
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in WRITTEN
        if path != Path(__file__)
        for line in path.read_text(encoding="utf-8").splitlines()
        if outside.search(line)
    ]
    assert not found


def test_pages_that_comments_name_exist():
    named = {
        (path, page)
        for path in WRITTEN
        for page in re.findall(r"(?<![\w/.-])docs/[a-z0-9_/-]+\.md", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 20
    assert not [(str(path.relative_to(ROOT)), page) for path, page in named if not (ROOT / page).exists()]


def test_sections_that_comments_name_exist():
    named = [
        (path.relative_to(ROOT), heading)
        for path in WRITTEN
        for heading in re.findall(r"docs/format\.md, \"([^\"]+)\"", path.read_text(encoding="utf-8"))
    ]
    assert len(named) > 5
    there = headings(PAGE)
    assert not [(str(path), heading) for path, heading in named if heading not in there]


def test_links_of_pages_lead_somewhere():
    pages = [path for path in WRITTEN if path.suffix == ".md" and (ROOT / "docs" / "changes") not in path.parents]
    for page in pages:
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target, anchor in re.findall(r"\]\(([A-Za-z0-9_/.-]*)(?:#([a-z0-9_-]+))?\)", text):
            goal = page.parent / target if target else page
            assert goal.exists(), f"{page.relative_to(ROOT)}: {target}"
            if anchor:
                there = [slug(h) for h in headings(goal.read_text(encoding="utf-8"))]
                assert anchor in there, f"{page.relative_to(ROOT)}: {target}#{anchor}"


def test_the_readme_lists_every_page():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert not [page.name for page in (ROOT / "docs").glob("*.md") if f"docs/{page.name}" not in readme]


# ---- the map and the recipes

GUIDES = [ROOT / "docs" / "architecture.md", ROOT / "docs" / "CONTRIBUTING.md", *(ROOT / "visa_lsp").rglob("README.md")]
SOURCES = [ROOT, ROOT / "visa_lsp", ROOT / "visa_lsp" / "isa"]


def test_the_map_has_every_room_and_what_it_uses():
    text = GUIDES[0].read_text(encoding="utf-8").partition("## Names of files")[0]
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", text, re.MULTILINE)
    uses = {room: set(re.findall(r"`(\w+)`", names)) for room, names in rows}
    package = ROOT / "visa_lsp"
    rooms = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert set(uses) == rooms - {"__init__"}
    assert set(re.findall(r"\w+", " ".join(re.findall(r'^    f\d\["\d .*: (.*)"\]', text, re.MULTILINE)))) == set(uses)
    assert not {(room, name) for room, names in uses.items() for name in names - ALLOWED[room]}
    reached = {room: find_reached(uses, room) for room in uses}
    assert not {(room, name) for room, names in reached.items() for name in ALLOWED[room] - names}


@functools.cache
def words_of_sources() -> set[str]:
    return {
        word
        for path in WRITTEN
        if path.suffix != ".md"
        for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))
    }


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: str(page.relative_to(ROOT)))
def test_guides_name_files_and_modules_that_exist(page: Path):
    words = re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
    paths = [w for word in words for w in word.split() if re.fullmatch(r"\.?[a-z_][\w.-]*(?:/[\w.-]+)+/?", w)]
    paths = [path for path in paths if not path.startswith("textDocument/")]
    assert len(paths) > 1
    assert not [
        path for path in paths if not any((folder / path).exists() for folder in SOURCES) and not TO_BE.search(path)
    ]
    modules = {m for word in words for m in re.findall(r"python -m ([a-z_.]+)", word)}
    assert not [module for module in modules if find_spec(module) is None]
    # Names of Python: those of several words, so that no word of English and of vISA is taken for one.
    names = [re.fullmatch(r"(?:\w+\.)*(_?[A-Za-z]+_\w+|[A-Z][a-z]+[A-Z]\w*)(?:\(\))?", word) for word in words]
    assert not {name[1] for name in names if name} - words_of_sources()


# The files of a recipe that are still to be written: their names have capitals.
TO_BE = re.compile(r"[A-Z]{4,}\.(?:py|md)$|^build/")


# ---- the blocks of code


@pytest.mark.parametrize("text", BLOCKS, ids=[f"line-{PAGE[: PAGE.index(b)].count(chr(10)) + 1}" for b in BLOCKS])
def test_blocks_of_code_are_sound(text: str):
    if ".version 4.2" in text:
        assert not Analysis.of(text, "DG2").diagnostics
        return
    result = assemble_text(text)
    assert not has_errors(result.diagnostics)
    assert result.data is not None
    assert encode(decode(result.data)) == result.data


def test_each_dialect_has_a_block():
    assert [name.strip("`") for name, *_ in rows("Dialects")[1:]] == ["4.1", "4.2", "seed"]
    assert {d.value for d in Dialect} == {"4.1", "4.2", "seed"}
    assert any(".version 4.2" in block for block in BLOCKS)
    assert any(block.index(".kernel") < block.index(".version") for block in BLOCKS)


def test_only_the_block_of_the_seed_has_findings_that_say_so():
    for block in BLOCKS:
        codes = {d.code for d in Analysis.of(block, "DG2").diagnostics}
        seeds = codes & {"V118", "V131", "V132", "V230", "V231", "V232", "V233"}
        assert bool(seeds) == ("MUL" in block)


# ---- the tables


def test_statements():
    text = section("Statements")
    for word in (".version", ".kernel", ".global_function", ".function", ".funcdecl", ".decl", ".input", ".parameter"):
        assert f"`{word} " in text
    # One row or more for each kind of line that is something.
    assert set(STATEMENTS) == {
        "version", "decl", "input", "kernel_attr", "body", "bad_directive", "scope", "label", "instruction", "unknown",
    }  # fmt: skip


def test_types():
    expected = [(f"`{t.name}`", str(t.code), str(t.size)) for _, t in sorted(TYPE_BY_CODE.items())]
    found = columns("Declarations", "type", "code", "bytes")
    assert found[: len(expected)] == expected


def test_alignments():
    found = {
        word: (int(code), size)
        for words, code, size in columns("Declarations", "alignment", "code", "bytes")
        for word in re.findall(r"`(\w+)`", words)
    }
    assert {word: code for word, (code, _) in found.items()} == ALIGN_CODE
    for code, size in found.values():
        assert not size.isdigit() or align_bytes(code, 32) == align_bytes(code, 64) == int(size)


def test_predefined_variables():
    found = [row[:3] for row in rows("Predefined variables")[1:]]
    assert found == [[str(v.number), f"`{v.name}`", f"`{v.type.name}`"] for v in predefined.VARIABLES]
    counts = [int(row[3].split(",")[0]) for row in rows("Predefined variables")[1:]]
    assert counts == [v.num_elements for v in predefined.VARIABLES]
    for state in (*predefined.SURFACES, *predefined.SAMPLERS):
        assert f"{state.number} `{state.name}`" in section("Predefined variables")


def test_first_numbers():
    assert rows("Numbers of variables")[1:] == [
        ["general", str(predefined.FIRST_VARIABLE)],
        ["address", str(predefined.FIRST_ADDRESS)],
        ["predicate", str(predefined.FIRST_PREDICATE)],
        ["sampler", str(predefined.FIRST_SAMPLER)],
        ["surface", str(predefined.FIRST_SURFACE)],
        ["label", "0"],
    ]


def test_inputs_of_the_runtime():
    assert rows("Inputs")[1:] == [[str(n), f"`{i.name}`"] for n, i in sorted(predefined.IMPLICIT_INPUTS.items())]


def test_attributes():
    found = {cells[0].strip("`"): cells[1] for cells in rows("Attributes") if cells[0] != "attribute"}
    assert list(found) == [a.name for a in sorted(ATTRIBUTES, key=lambda a: a.of_variable)]
    for attribute in ATTRIBUTES:
        assert found[attribute.name].startswith(attribute.kind.value)
        for value in attribute.values or ():
            assert f"`{value}`" in found[attribute.name]


def test_platforms():
    assert rows("Platforms and registers")[1:] == [
        [f"`{p.name}`", str(p.generation), str(p.grf_bytes), "-" if p.number is None else str(p.number)]
        for p in PLATFORMS
    ]


def test_codes_of_load_store_messages():
    said = {cells[0]: cells[1] for cells in rows("Load/store operands") if len(cells) == 2}
    tables = {
        "address model": {w: c for w, c in lsc_codes.ADDRTYPE.items() if c not in lsc_codes.ADDRTYPE_TEXT_ONLY},
        "address size": {w: c for w, c in lsc_codes.ADDRSIZE.items() if c not in lsc_codes.ADDRSIZE_TEXT_ONLY},
        "data size": {size.text41: size.code for size in lsc_codes.DATASIZES.values()},
        "quad mask": {letter: lsc_codes.chmask_code(letter) for letter in lsc_codes.CHMASK_LETTERS},
        "cache control": {w: c for w, c in lsc_codes.CACHE.items() if c not in lsc_codes.CACHE_TEXT_ONLY},
        "message unit": lsc_codes.SFID,
    }
    for name, codes in tables.items():
        assert said[name] == ", ".join(f"`{word}` {code}" for word, code in codes.items())
    assert said["elements"] == ", ".join(f"{count} {code}" for count, code in lsc_codes.ELEMS.items())
    assert said["order"] == f"plain {lsc_codes.ORDER_PLAIN}, transposed {lsc_codes.ORDER_TRANSPOSED}"


def test_kinds_of_record_items():
    assert [cells[0] for cells in rows("Instruction records")[1:]] == [f"`{kind.value}`" for kind in FieldKind]


def test_codes_of_regions():
    codes = ", ".join(f"{'none' if value is None else value} {code}" for value, code in REGION_CODE.items())
    assert codes in section("Operand bytes")


# ---- bytes

HEAD = """\
.version 4.1
.kernel "k"
.decl V v_type=G type=d num_elts=16 align=GRF
.decl F v_type=G type=f num_elts=16 align=GRF
.decl P v_type=P num_elts=16
.decl A v_type=A num_elts=8
.decl T v_type=T num_elts=1
"""
EXAMPLES = [tuple(cell.strip("`") for cell in row) for row in rows("Operand bytes") if row[0].startswith("`")]


def test_there_are_examples_of_every_class():
    assert len(EXAMPLES) > 10


@pytest.mark.parametrize(("text", "record"), EXAMPLES, ids=[text for text, _ in EXAMPLES])
def test_records_are_what_the_assembler_writes(text: str, record: str):
    result = assemble_text(f"{HEAD}{text}\nret (M1, 1)\n")
    assert result.data is not None, result.diagnostics
    assert result.module is not None
    body = summary(result.data).kernels[0]
    end = body.offset + body.size
    length = instruction_offsets(result.module.kernels[0])[1]
    code = result.data[end - body.code_size : end]
    assert code[:length] == bytes.fromhex(record)


_SIZES = {"u8": "B", "u16": "H", "u32": "I", "s16": "h"}


def _items(text: str) -> list[str]:
    """Sizes that a row of the page gives, in ``struct`` notation."""
    return [_SIZES[word] for word in re.findall(r"\b(?:u8|u16|u32|s16)\b", text)]


@pytest.mark.parametrize(
    ("record", "of"),
    [("general variable", "variable"), ("address", "state"), ("label", "label"), ("input", "input")],
)
def test_declaration_records(record: str, of: str):
    row = next(cells for cells in rows("Declaration records")[1:] if cells[0].split(",")[0] == record)
    assert _items(row[1]) == list(getattr(ObjectLayout(WRITTEN_VERSION), of).codes)


def _value(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")


def test_a_body_reads_as_the_page_lists_it():
    """A walk over an object of one variable of each class and two inputs, by the page's own table of items."""
    text = (
        HEAD + ".decl S v_type=S num_elts=1\n.input V offset=64 size=64\n.input T offset=32 size=4\nL:\nret (M1, 1)\n"
    )
    data = assemble_text(text).data
    assert data is not None
    assert data[:4] == MAGIC
    assert tuple(data[4:6]) == WRITTEN_VERSION
    assert _value(data, 6, 2) == 1
    at = 8 + 2 + _value(data, 8, 2)
    offset, size, input_offset = (_value(data, at + 4 * i, 4) for i in range(3))
    at += 12
    assert _value(data, at, 4) == 0  # two relocation tables
    assert data[at + 4] == 1  # one Gen binary: platform 0, behind the body, empty
    assert (data[at + 5], _value(data, at + 6, 4), _value(data, at + 10, 4)) == (0, offset + size, 0)
    assert _value(data, at + 14, 4) == 0  # neither file variables nor functions
    assert offset == at + 18
    layout = ObjectLayout(WRITTEN_VERSION)
    records = {
        "number of general variables": (layout.variable.size, 2), "number of address variables": (layout.state.size, 1),
        "number of predicates": (layout.state.size, 1), "number of labels": (layout.label.size, 1),
        "number of samplers": (layout.state.size, 1), "number of surfaces": (layout.state.size, 1),
        "number of vme variables": (layout.state.size, 0), "number of inputs": (layout.input.size, 2),
    }  # fmt: skip
    widths = {"u8": 1, "u16": 2, "u32": 4}
    at, seen = offset, []
    numbers: dict[str, int] = {}
    for item, kind, *_ in rows("Body")[1:]:
        if item == "input size, return value size":
            continue  # functions only
        if item == "instructions":
            break
        if item == "number of inputs":
            assert at == input_offset
        seen.append(item)
        numbers[item] = _value(data, at, widths[kind])
        at += widths[kind]
        if item == "number of strings":
            for _ in range(numbers[item]):
                at = data.index(b"\0", at) + 1
        elif item in records:
            width, count = records[item]
            assert numbers[item] == count, item
            at += width * count
        elif item == "number of attributes":
            assert numbers[item] == 1
            at += layout.attribute.size + 1
    assert set(records) <= set(seen)
    assert numbers["entry"] == at - offset
    assert numbers["size"] == size - (at - offset)


def test_the_pool_begins_as_the_page_says():
    data = assemble_text(HEAD + ".kernel_attr SimdSize=16\ngoto (M1, 16) L\nL:\nret (M1, 1)\n").data
    assert data is not None
    strings = decode(data).kernels[0].strings
    assert "28 strings" in section("String pool")
    assert strings[1:29] == predefined.POOL_PREFIX
    assert strings[29:] == ("V", "F", "P", "A", "T", "SimdSize", "L", "Target")


@pytest.mark.parametrize(
    ("before", "what"),
    [((3, 7), "name_length"), ((3, 5), "input_count"), ((3, 4), "index")],
)
def test_widths_of_older_versions(before: tuple[int, int], what: str):
    """The page has a row for each version at which the width of an item changes, and the width changes there."""
    last = (before[0], before[1] - 1)
    assert getattr(ObjectLayout(last), what) != getattr(ObjectLayout(before), what)
    assert f"{before[0]}.{before[1]}" in [cells[0] for cells in rows("Older versions")[1:]]


def test_items_of_older_versions():
    said = {cells[0] for cells in rows("Older versions")[1:]}
    changes = {old.until for old in OLD_FIELDS} | {OLD_TYPED_UNTIL, (3, 7), (3, 5), (3, 4)}
    assert said == {f"{major}.{minor}" for major, minor in changes}


# ---- what the page says of single lines


@pytest.mark.parametrize(
    ("line", "sound"),
    [
        ("mov (M1, 16) V(0,0)<1> 0x1 :d", True),
        ("mov (M1, 16) V(0,0)<1> 0x1: d", False),
        ("add(M1,16)V(0,0)<1>V(0,0)<1;1,0>0x1:d", True),
        ("mov (M1, 1) F(0,0)<1> 1.5e+2:f", True),
        ("mov (M1, 1) F(0,0)<1> 1.5e2:f", False),
        ("mov (M1, 1) F(0,0)<1> 1.5:hf", False),
        ("mov (8) V<1> 1:D", True),
        ("(P) max (M1, 16) V(0,0)<1> V(0,0)<1;1,0> 1:d", True),
        ("barrier /* over\nlines */\nbarrier", True),
        ("  L:", False),
        ('L$-x:\ngoto (M1, 16) "L$-x"', True),
        ("fcall (M1, 1) f 0 0", True),
        ('fcall (M1, 1) "f" 0 0', False),
        ('faddr "f" V(0,0)<1>', True),
        ("{\n.decl V v_type=G type=d num_elts=1\n}", True),
        (".decl V v_type=G type=d num_elts=1", False),
        (".decl V20 v_type=G type=d num_elts=1", False),
        (".decl V21 v_type=G type=d num_elts=1", True),
        (".decl T2 v_type=T num_elts=1", False),
        (".decl W v_type=G type=d num_elts=1 align=1", False),
        (".decl W v_type=G type=d num_elts=1 attrs={Nothing}", False),
        (".kernel_attr Nothing=1", True),
        ('.kernel_attr Entry="abc"', False),
    ],
)
def test_lines(line: str, sound: bool):
    result = assemble_text(f"{HEAD}{line}\nret (M1, 1)\n")
    assert (result.data is not None) == sound, result.diagnostics
