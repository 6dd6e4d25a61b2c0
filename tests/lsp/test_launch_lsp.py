"""Launch files in an editor, over stdio: findings, completion, hover, links and fixes, on texts that are no YAML too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsp_client import LAUNCH, ask, at, edited, open_text, saxpy
from lsprotocol import types

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_lsp import LanguageClient

ERROR = types.DiagnosticSeverity.Error


class Launch:
    """The launch file of saxpy in a folder with its text and ze_info, open as a text of one's own."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self.kernel = saxpy(folder)
        self.path = folder / "saxpy.launch.yaml"
        self.here = types.TextDocumentIdentifier(self.path.as_uri())
        self.text = LAUNCH

    def open(self, text: str, language: str = "yaml") -> None:
        self.text = text
        open_text(self.client, self.here.uri, text, language)

    def open_marked(self, text: str) -> types.Position:
        """Open a text without its mark; gives the place of it."""
        before = text[: text.index("^")]
        self.open(text.replace("^", "", 1))
        return types.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)

    async def findings(self) -> list[types.Diagnostic]:
        report = await ask(self.client, "diagnostic", self.here)
        return list(report.items)

    async def completed(self, text: str) -> dict[str, types.CompletionItem]:
        place = self.open_marked(text)
        found = await ask(self.client, "completion", self.here, place)
        return {item.label: item for item in found.items}

    async def hover(self, text: str) -> str:
        place = self.open_marked(text)
        found = await ask(self.client, "hover", self.here, place)
        return found.contents.value if found is not None else ""

    async def definition(self, text: str) -> tuple[str, int] | None:
        place = self.open_marked(text)
        found = await ask(self.client, "definition", self.here, place)
        return found and (found.uri.rpartition("/")[2], found.range.start.line)

    async def fix(self, title: str) -> str:
        """Return the text after the only fix with a title, of all that the first finding's place offers."""
        (found,) = await self.findings()
        context = types.CodeActionContext([found])
        actions = await ask(self.client, "codeAction", self.here, found.range, context)
        (action,) = [a for a in actions if a.title == title]
        return edited(self.text, action.edit.changes[self.here.uri])


@pytest.fixture
def launch(client, tmp_path):
    return Launch(client, tmp_path)


# ---- findings


async def test_a_good_launch_file_has_no_findings(launch):
    launch.open(LAUNCH)
    assert await launch.findings() == []


@pytest.mark.parametrize("language", ["yaml", "visa-launch"])
async def test_every_mistake_is_found_at_its_place(launch, language):
    text = (
        LAUNCH.replace("local_size", "local-size")
        .replace("TGLLP", "TGLP")
        .replace("float32, shape: [80], init: ones", "flaot32, shape: [80], init: one")
    )
    launch.open(text, language)
    found = [(d.code, d.severity, d.range.start) for d in await launch.findings()]
    assert found == [
        ("V804", ERROR, at(text, "TGLP")),
        ("V801", ERROR, at(text, "local-size")),
        ("V804", ERROR, at(text, "flaot32")),
        ("V804", ERROR, at(text, "one}")),
    ]


async def test_what_is_typed_is_judged_with_the_kernel_by_its_ze_info(launch):
    text = LAUNCH.replace("  - {value: 2.5, dtype: float32}\n", "  - {local: 64}\n").replace(
        "dtype: int32", "dtype: float32"
    )
    launch.open(text)
    first, second = await launch.findings()
    assert (first.code, first.range.start) == ("V812", at(text, "{local: 64}"))
    assert "argument 2 (a: float)" in first.message
    assert second.code == "V813"
    assert "argument 3 (n: int)" in second.message


async def test_too_few_arguments_are_named_with_their_types(launch):
    text = LAUNCH.replace("  - {value: 70, dtype: int32}\n", "")
    launch.open(text)
    (found,) = await launch.findings()
    assert (found.code, found.range.start) == ("V811", at(text, "args"))
    assert found.message.endswith("takes 4 arguments, got 3; expected: 0 y: float*, 1 x: float*, 2 a: float, 3 n: int")


async def test_the_ze_info_counts_as_the_editor_has_it(launch):
    document = launch.folder / "saxpy.zeinfo.yaml"
    text = document.read_text()
    open_text(launch.client, document.as_uri(), text.replace("saxpy", "saxpi"), "yaml")
    launch.open(LAUNCH)
    (found,) = await launch.findings()
    assert (found.code, found.range.start) == ("V814", at(LAUNCH, "saxpy"))


async def test_a_file_that_is_not_there_is_found(launch):
    launch.open(LAUNCH.replace("file: saxpy.visaasm", "file: saxpi.visaasm"))
    assert "'saxpy.visaasm'" in (await launch.findings())[0].message
    assert launch.text.replace("saxpi", "saxpy") == await launch.fix("change to 'saxpy.visaasm'")


async def test_findings_follow_the_files_that_are_named(launch):
    """An answer that is unchanged is not given again; one that a file has changed is."""
    launch.open(LAUNCH.replace("values: [", "npy: out.npy} # ["))
    (found,) = await launch.findings()
    assert found.code == "V808"
    params = types.DocumentDiagnosticParams(launch.here)
    before = await launch.client.text_document_diagnostic_async(params)
    again = types.DocumentDiagnosticParams(launch.here, previous_result_id=before.result_id)
    assert (await launch.client.text_document_diagnostic_async(again)).kind == "unchanged"
    (launch.folder / "out.npy").write_bytes(b"no array")
    after = await launch.client.text_document_diagnostic_async(again)
    assert [d.code for d in after.items] == ["V809"]


async def test_a_bracket_that_stays_open_is_one_finding(launch):
    launch.open(LAUNCH.replace("[3, 1, 1]", "[3, 1"))
    (found,) = await launch.findings()
    assert found.code == "V800"


# ---- completion


async def test_keys_of_the_file(launch):
    found = await launch.completed("groups: [1]\n^")
    assert {"args", "local_size", "platform", "expect"} <= set(found)
    assert "groups" not in found
    assert found["platform"].text_edit.new_text == "platform: "
    assert "default: the zebin's, else TGLLP" in found["platform"].detail


@pytest.mark.parametrize(
    ("text", "some", "none"),
    [
        ("args:\n  - {^", {"buffer", "value", "local", "image", "sampler"}, {"groups", "shape"}),
        ("args:\n  - {buffer: {dtype: float32, ^", {"shape", "init", "npy"}, {"dtype", "format"}),
        ("args:\n  - buffer:\n      ^\n", {"dtype", "shape"}, {"buffer"}),
        ("args: [{image: {^}}]", {"format", "channels"}, {"image"}),
        ("args: [{buffer: {init: {^}}}]", {"random", "values", "npy"}, {"init"}),
        ("symbols:\n  TAB: {^", {"dtype", "npy"}, {"access"}),
        ("expect:\n  - {arg: 0, ^", {"values", "npy", "rtol", "atol", "ulp"}, {"arg"}),
        ("platform: ^", {"TGLLP", "DG2", "PVC"}, {"groups"}),
        ("args:\n  - {buffer: {dtype: ^", {"float32", "uint8"}, {"shape"}),
        ("args:\n  - {buffer: {dtype: float32, init: ^}}", {"zeros", "arange", "undefined"}, {"shape"}),
        ("args: [{sampler: {filter: ^}}]", {"nearest", "linear"}, {"address"}),
        ("mode: ^", {"gpgpu", "media"}, {"mode"}),
        ("kernel: ^", {"saxpy"}, {"kernel"}),
        ("file: ^", {"saxpy.visaasm"}, {"saxpy.zeinfo.yaml"}),
        ("files: [^]", {"saxpy.visaasm"}, set()),
        ("ze_info: ^", {"saxpy.zeinfo.yaml"}, {"saxpy.visaasm"}),
    ],
)
async def test_completion_at_each_level(launch, text, some, none):
    found = set(await launch.completed(text))
    assert some <= found
    assert not none & found


async def test_arguments_with_their_names_and_types(launch):
    found = await launch.completed("args:\n  x: {value: 1}\n  ^")
    assert list(found) == ["y", "a", "n"]
    assert found["y"].detail == "float*, global, readwrite"
    assert found["y"].text_edit.new_text == "y: {buffer: {dtype: float32, shape: [1024], init: arange}}"
    assert found["n"].text_edit.new_text == "n: {value: 1}"


async def test_the_next_argument_of_a_list(launch):
    found = await launch.completed("args:\n  - {value: 1}\n  - ^")
    template = "{buffer: {dtype: float32, shape: [1024], init: arange}}"
    assert (next(iter(found)), found[template].detail) == (template, "1 x: float*")


async def test_the_key_of_the_arguments_kind_comes_first(launch):
    found = await launch.completed("args:\n  - {value: 1}\n  - {value: 1}\n  - {^")
    assert min(found.values(), key=lambda item: item.sort_text).label == "value"


async def test_what_is_expected_is_compared_with_buffers(launch):
    found = await launch.completed("expect: [{arg: ^")
    assert {name: item.detail for name, item in found.items()} == {"0": "0 y: float*", "1": "1 x: float*"}


async def test_nothing_is_proposed_in_a_comment(launch):
    assert await launch.completed("groups: [1] # ^") == {}


# ---- hover and ways to other files


async def test_hover_on_a_key_says_type_default_and_example(launch):
    said = await launch.hover("groups: [1]\nglobal_off^set: [1]")
    assert "**global_offset** (LaunchFile)" in said
    assert "Default: [0, 0, 0]." in said
    assert "```yaml\nglobal_offset: [0, 8, 0]\n```" in said


async def test_hover_on_a_word_says_what_it_means(launch):
    assert "`arange`: 0, 1, 2, ..." in await launch.hover("args: [{buffer: {dtype: int8, init: ara^nge")
    assert "`DG2`: Arc A series" in await launch.hover("platform: D^G2")


async def test_hover_on_an_argument_says_name_type_and_address_space(launch):
    said = await launch.hover("args:\n  - {buf^fer: {")
    assert said.startswith("Argument 0 `y` of `saxpy`: float*, global, readwrite")
    assert "**buffer** (Argument)" in said
    assert await launch.hover("args:\n  n^: {value: 1}") == "Argument 3 `n` of `saxpy`: int"


async def test_definition_leads_to_files_kernel_and_argument(launch):
    program, info = launch.kernel.text.split("\n"), (launch.folder / "saxpy.zeinfo.yaml").read_text().split("\n")
    line = next(n for n, text in enumerate(program) if text.startswith(".kernel "))
    assert await launch.definition(LAUNCH.replace("kernel: s", "kernel: ^s")) == ("saxpy.visaasm", line)
    assert await launch.definition(LAUNCH.replace("file: s", "file: s^")) == ("saxpy.visaasm", 0)
    name, line = await launch.definition(LAUNCH.replace("{value: 70", "{va^lue: 70"))
    assert (name, info[line].split()) == ("saxpy.zeinfo.yaml", ["name:", "n"])
    assert await launch.definition(LAUNCH.replace("groups", "gr^oups")) is None


async def test_links_lead_to_the_files_that_are_there(launch):
    text = LAUNCH + "files:\n  - saxpy.visaasm\n  - gone.visaasm\n"
    launch.open(text)
    found = await ask(launch.client, "documentLink", launch.here)
    assert [(link.range.start, link.target.rpartition("/")[2]) for link in found] == [
        (at(text, "saxpy.visaasm"), "saxpy.visaasm"),
        (at(text, "saxpy.zeinfo.yaml"), "saxpy.zeinfo.yaml"),
        (at(text, "- saxpy.visaasm", 2), "saxpy.visaasm"),
    ]


async def test_outline_has_the_arguments(launch):
    launch.open(LAUNCH)
    found = await ask(launch.client, "documentSymbol", launch.here)
    args = next(entry for entry in found if entry.name == "args")
    assert [(child.name, child.detail) for child in args.children][2:] == [("2", "2 a: float"), ("3", "3 n: int")]


# ---- fixes


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("local_size", "local-size"),
        ("value: 2.5", "valu: 2.5"),
        ("ones", "onse"),
        ("float32, shape: [80], init: ones", "flaot32, shape: [80], init: ones"),
    ],
)
async def test_a_misspelt_key_or_word_is_mended(launch, right, wrong):
    launch.open(LAUNCH.replace(right, wrong))
    assert await launch.fix(f"change to '{right.partition(',')[0].partition(':')[0]}'") == LAUNCH


async def test_a_key_that_is_missing_is_added(launch):
    launch.open(LAUNCH.replace("groups: [3, 1, 1]\n", ""))
    assert (await launch.fix("add groups: [1, 1, 1]")).startswith("groups: [1, 1, 1]\nkernel: saxpy\n")
