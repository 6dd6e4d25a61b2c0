"""ze_info in an editor, over stdio: findings with the place in the text, hover, the way to the ``.input`` and back, fixes.

The documents and texts are the compiler's, from the corpus; each test plants what it looks for.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from corpus import place
from lsp_client import ask, at, change_text, close_text, edited, line_of, open_text
from lsprotocol import types

if TYPE_CHECKING:
    from pytest_lsp import LanguageClient


class Pair:
    """A document and the text of one of its kernels, in a folder of their own."""

    def __init__(self, folder: Path, source: str, kernel: str) -> None:
        where = place(f"run/TGLLP/{source}")
        self.document = Path(shutil.copy(where / f"{source}.zeinfo.yaml", folder))
        self.kernel = Path(shutil.copy(where / f"{kernel}.visaasm", folder))
        self.yaml = self.document.read_text()
        self.text = self.kernel.read_text()
        self.here = types.TextDocumentIdentifier(self.document.as_uri())
        self.there = types.TextDocumentIdentifier(self.kernel.as_uri())

    def open(self, client: LanguageClient, yaml: str | None = None, text: str | None = None) -> None:
        """Open the document, and the text too if one is given."""
        self.yaml = self.yaml if yaml is None else yaml
        open_text(client, self.here.uri, self.yaml, "yaml")
        if text is not None:
            self.text = text
            open_text(client, self.there.uri, text)


@pytest.fixture
def saxpy(tmp_path) -> Pair:
    return Pair(tmp_path, "axpy", "saxpy")


@pytest.fixture
def conv(tmp_path) -> Pair:
    """Return the document has the name of the source, the text that of the kernel."""
    return Pair(tmp_path, "blur", "smooth")


async def findings(client, pair) -> list[types.Diagnostic]:
    report = await ask(client, "diagnostic", pair.here)
    return list(report.items)


async def test_the_compilers_document_has_no_findings(client, conv):
    conv.open(client)
    assert await findings(client, conv) == []


async def test_a_disagreement_names_the_place_in_the_text(client, saxpy):
    saxpy.open(client, saxpy.yaml.replace("simd_size:       32", "simd_size:       16"))
    (found,) = await findings(client, saxpy)
    assert (found.code, found.severity) == ("V721", types.DiagnosticSeverity.Warning)
    assert found.range.start == at(saxpy.yaml, "simd_size:       16", 17)
    (other,) = found.related_information
    assert other.location.uri == saxpy.there.uri
    assert other.location.range.start.line == line_of(saxpy.text, ".kernel_attr SimdSize=32")
    assert "SimdSize=32" in other.message


async def test_what_is_typed_in_the_text_is_compared(client, saxpy):
    saxpy.open(client, text=saxpy.text.replace(".input V0034 offset=272 size=4", ".input V0034 offset=272 size=8"))
    found = await findings(client, saxpy)
    assert "V0034" in found[0].message
    assert found[0].related_information[0].location.range.start.line == line_of(saxpy.text, ".input V0034")


async def test_findings_are_published_without_being_asked_for(client, saxpy):
    saxpy.open(client, saxpy.yaml.replace("grf_count:       128", "grf_count:       many"))
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    published = client.diagnostics.get(saxpy.here.uri, [])
    assert [d.code for d in published] in (["V701"], [])  # a client that asks is not told twice
    assert [d.code for d in await findings(client, saxpy)] == ["V701"]


async def test_hover_says_what_a_key_means_and_where_an_argument_lies(client, saxpy):
    saxpy.open(client)
    found = await ask(client, "hover", saxpy.here, at(saxpy.yaml, "grf_count", 2))
    assert "**grf_count** (ExecutionEnv)" in found.contents.value
    assert "Required." in found.contents.value
    place = at(saxpy.yaml, "arg_byvalue", 3)
    found = await ask(client, "hover", saxpy.here, place)
    assert "bytes 272 to 275" in found.contents.value
    assert "`.input V0034`" in found.contents.value


async def definition(client, document, place) -> list[tuple[str, int]]:
    found = await ask(client, "definition", document, place)
    found = found if isinstance(found, list) else [found] if found is not None else []
    return [
        (f.target_uri, f.target_selection_range.start.line)
        if isinstance(f, types.LocationLink)
        else (f.uri, f.range.start.line)
        for f in found
    ]


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ("arg_byvalue", ".input V0034"),
        ("buffer_address", ".input V0067"),
        ("enqueued_local_size", ".input V0039"),
        ("arg_bypointer", ".input V0067"),  # the surface has no bytes: its address does
        ("local_id\n", ".input V0040"),
        ("bti_value:       1\n        arg_index", ".input V0068"),
        ("buffer_offset", ".input V0046"),
    ],
)
async def test_definition_of_an_argument_is_its_input(client, saxpy, entry, line):
    saxpy.open(client)
    inside = entry.rfind("arg_index") if "arg_index" in entry else 3
    found = await definition(client, saxpy.here, at(saxpy.yaml, entry, inside))
    assert found == [(saxpy.there.uri, line_of(saxpy.text, line))]


async def test_definition_of_an_input_is_its_declaration_and_its_argument(client, conv):
    conv.open(client, text=conv.text)
    found = await definition(client, conv.there, at(conv.text, ".input V0034", 8))
    kernel = conv.yaml.index("name:            smooth")
    entry = conv.yaml.index("arg_byvalue", kernel)
    assert found == [
        (conv.there.uri, line_of(conv.text, ".decl V0034 ")),
        (conv.here.uri, conv.yaml.count("\n", 0, entry)),
    ]


async def test_implementation_of_an_input_is_its_argument_and_reads_only_the_head_of_its_kernel(client, conv):
    code = "    mov (M1, 1) V99999(0,0)<1> 0x0:d\n"
    text = conv.text.replace("    ret (M1, 1)", code * 300 + "    ret (M1, 1)")
    conv.open(client, text=text)
    place = at(text, ".input V0034", 8)
    found = await ask(client, "implementation", conv.there, place)
    assert found.uri == conv.here.uri, "errors in the code do not matter"
    assert "arg_byvalue" in conv.yaml.splitlines()[found.range.start.line]
    place = at(text, "V99999", 2)
    assert await ask(client, "implementation", conv.there, place) is None


async def test_a_kernels_name_leads_there_and_back(client, conv):
    conv.open(client, text=conv.text)
    found = await definition(client, conv.here, at(conv.yaml, "smooth", 1))
    assert found == [(conv.there.uri, line_of(conv.text, '.kernel "smooth"'))]
    back = await definition(client, conv.there, at(conv.text, '.kernel "smooth"', 10))
    assert (conv.here.uri, line_of(conv.yaml, "smooth")) in back


async def applied(client, pair, title: str) -> str:
    """Return the document after a quick fix of this title."""
    items = await findings(client, pair)
    whole = types.Range(types.Position(0, 0), types.Position(pair.yaml.count("\n"), 0))
    context = types.CodeActionContext(diagnostics=items, only=[types.CodeActionKind.QuickFix])
    actions = await ask(client, "codeAction", pair.here, whole, context)
    action = next(a for a in actions if a.title.startswith(title))
    return edited(pair.yaml, action.edit.changes[pair.here.uri])


@pytest.mark.parametrize(
    ("old", "new", "title"),
    [
        ("      grf_count:       128\n", "", "add "),
        ("simd_size:       32", "simd_size:       8", "change to 32"),
        ("access_type:     readwrite", "access_type:     readwritten", "change to "),
        ("has_no_stateless_write: true", "has_stack_calls: true", "change to false"),
    ],
)
async def test_quick_fixes_leave_nothing_to_find(client, saxpy, old, new, title):
    saxpy.open(
        client, saxpy.yaml.replace("'1.20'", "'1.14'" if "readwritten" in new else "'1.20'").replace(old, new, 1)
    )
    before = [d.code for d in await findings(client, saxpy)]
    fixed = await applied(client, saxpy, title)
    change_text(client, saxpy.here.uri, 2, fixed)
    after = [d.code for d in await findings(client, saxpy)]
    assert len(after) == len(before) - 1


async def test_inlay_hints_give_the_bytes(client, saxpy):
    saxpy.open(client)
    whole = types.Range(types.Position(0, 0), types.Position(saxpy.yaml.count("\n"), 0))
    found = await ask(client, "inlayHint", saxpy.here, whole)
    by_line = {hint.position.line: hint.label for hint in found}
    line = line_of(saxpy.yaml, "arg_byvalue") + 2
    assert by_line[line] == "bytes 272..275, .input V0034"


async def test_arguments_are_named_beside_inputs_in_hover_and_in_the_outline_before_any_run(client, saxpy):
    """The document is found by the kernel's name in it, and counts as it is open, saved or not."""
    saxpy.open(client, text=saxpy.text)
    lines = saxpy.text.count("\n")

    async def hints() -> dict[str, str]:
        where = types.Range(types.Position(0, 0), types.Position(lines, 0))
        found = await ask(client, "inlayHint", saxpy.there, where)
        rows = saxpy.text.split("\n")
        return {" ".join(rows[h.position.line].split()[:2]): h.label for h in found}

    before = await hints()
    assert before[".input V0034"] == before[".decl V0034"] == "a: float"
    assert before[".input V0035"] == "n: int"
    assert ".decl V0032" not in before
    place = at(saxpy.text, ".decl V0034", 7)
    shown = await ask(client, "hover", saxpy.there, place)
    assert "**a**: `float`, `arg_byvalue`" in shown.contents.value
    assert "by `axpy.zeinfo.yaml`" in shown.contents.value
    [kernel] = await ask(client, "documentSymbol", saxpy.there)
    inputs = {child.name: child.detail for child in kernel.children[0].children}
    assert inputs["V0034"].startswith("a: float, bytes ")
    renamed = saxpy.yaml.replace("name:            a\n", "name:            factor\n")
    assert renamed != saxpy.yaml
    change_text(client, saxpy.here.uri, 2, renamed)
    assert (await hints())[".input V0034"] == "factor: float"
    close_text(client, saxpy.here)
    assert (await hints())[".input V0034"] == "a: float"
    saxpy.document.unlink()
    assert ".input V0034" not in await hints()


async def test_completion_of_keys_and_words(client, saxpy):
    yaml = saxpy.yaml.replace("      grf_count:       128\n", "      grf\n").replace(
        "addrmode:        stateful", "addrmode:        st", 1
    )
    saxpy.open(client, yaml)
    for needle, wanted in (("      grf", "grf_count"), ("addrmode:        st", "stateless")):
        place = at(yaml, needle, len(needle))
        found = await ask(client, "completion", saxpy.here, place)
        assert wanted in [item.label for item in found.items]


async def test_outline_has_kernels_and_arguments(client, conv):
    conv.open(client)
    found = await ask(client, "documentSymbol", conv.here)
    assert {"smooth", "box3"} <= {symbol.name for symbol in found}
    assert all(symbol.children for symbol in found if symbol.name == "smooth")


async def test_a_file_called_ze_info_is_known_whatever_the_editor_calls_it(client, saxpy, tmp_path):
    path = tmp_path / "saxpy.ze_info"
    path.write_text(saxpy.yaml)
    text = saxpy.yaml.replace("grf_count:", "grf_cuont:")
    open_text(client, path.as_uri(), text, "plaintext")
    report = await ask(client, "diagnostic", types.TextDocumentIdentifier(path.as_uri()))
    assert sorted(d.code for d in report.items) == ["V702", "V703"]
