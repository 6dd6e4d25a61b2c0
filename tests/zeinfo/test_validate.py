"""Findings about whole documents: numbers, lists that belong together, versions, texts that are no YAML."""

import subprocess
import sys
from pathlib import Path

import pytest
from corpus import ROOTS, at_least, files
from cursor import apply_edits

from tests.support.work import calls_of
from visa_lsp.diagnostics import Severity
from visa_lsp.text import LineIndex
from visa_lsp.zeinfo.plain import load_plain
from visa_lsp.zeinfo.rules import RULES
from visa_lsp.zeinfo.source import ZeInfoSource
from visa_lsp.zeinfo.source_findings import MAX_FINDINGS
from visa_lsp.zeinfo.validate import validate
from visa_lsp.zeinfo.yaml import load

EXAMPLES = Path(__file__).parents[2] / "examples"

GOOD = """\
version: '1.14'
kernels:
  - name: k
    execution_env:
      grf_count: 128
      simd_size: 16
    payload_arguments:
      - {arg_type: arg_bypointer, offset: 0, size: 0, arg_index: 0, addrmode: stateful, addrspace: global}
      - {arg_type: arg_bypointer, offset: 32, size: 8, arg_index: 1, addrmode: stateless, addrspace: global}
      - {arg_type: arg_byvalue, offset: 40, size: 4, arg_index: 2}
    per_thread_payload_arguments:
      - {arg_type: local_id, offset: 0, size: 96}
    binding_table_indices:
      - {bti_value: 0, arg_index: 0}
    per_thread_memory_buffers:
      - {type: scratch, usage: single_space, size: 1024}
"""


def findings(text: str) -> list[str]:
    index = LineIndex(text)
    out = []
    for d in validate(text):
        line, column = index.position(d.span.start)
        out.append(f"{line + 1}:{column + 1} {d.code} {d.message}")
    return out


def changed(*changes: tuple[str, str]) -> str:
    text = GOOD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def test_a_right_document_has_no_finding():
    assert findings(GOOD) == []


CASES = [
    ("'1.14'", "1.20", "1:10 V701 version must be a text, but 1.20 without quotes is the number 1.2"),
    ("'1.14'", "'2.0'", "1:10 V705 major version 2 is newer than 1: its keys may mean anything"),
    (
        "'1.14'",
        "'1.99'",
        "1:10 V705 version 1.99 is newer than 1.73, the newest known version; unknown keys are ignored",
    ),
    ("'1.14'", "'one'", "1:10 V705 invalid version 'one'; expected two numbers with a point between, such as '1.14'"),
    ("simd_size: 16", "simd_sise: 16\n      simd_size: 16", "6:7 V703 unknown key 'simd_sise' in ExecutionEnv"),
    ("grf_count", "grf_cuont", "5:7 V703 unknown key 'grf_cuont' in ExecutionEnv; did you mean 'grf_count'?"),
    ("simd_size: 16", "simd_size: 12", "6:18 V710 simd_size must be 1, 8, 16 or 32, not 12"),
    (
        "grf_count: 128",
        "grf_count: 100",
        "5:18 V710 grf_count must be a multiple of 32 up to 512 (usually 128 or 256), not 100",
    ),
    ("grf_count: 128", "grf_count: 128\n      slm_size: -1", "6:17 V710 slm_size is -1, but must be at least 0"),
    (
        "grf_count: 128",
        "grf_count: 99999999999",
        "5:18 V710 grf_count must be a whole number of 32 bits; 99999999999 does not fit",
    ),
    (
        "grf_count: 128",
        "grf_count: 128\n      work_group_walk_order_dimensions: [2, 2, 2]",
        "6:41 V710 the walk order must be [0, 0, 0], [0, 1, 0], [0, 1, 2], [1, 0, 0] or [2, 1, 0], not [2, 2, 2]",
    ),
    (
        "grf_count: 128",
        "grf_count: 128\n      required_work_group_size: [16, 0, 1]",
        "6:33 V710 required_work_group_size must have three numbers above 0, or three zeros",
    ),
    (
        "grf_count: 128",
        "grf_count: 128\n      required_sub_group_size: 8",
        "6:32 V710 required_sub_group_size is 8, but simd_size is 16",
    ),
    ("offset: 40, size: 4", "offset: 36, size: 4", "10:41 V708 bytes 36 to 39 also belong to arg_bypointer"),
    (
        "offset: 40, size: 4",
        "offset: 9000, size: 4",
        "10:41 V712 bytes 9000 to 9003 lie past the end of the payload: 128 registers hold at most 8192 bytes",
    ),
    ("offset: 40", "offset: -4", "10:41 V710 offset is -4, but must be at least 0"),
    (
        "bti_value: 0, arg_index: 0",
        "bti_value: 0, arg_index: 7",
        "14:35 V709 there is no stateful argument 7 for this surface",
    ),
    (
        "bti_value: 0, arg_index: 0",
        "bti_value: 0, arg_index: 1",
        "14:35 V709 argument 1 is not stateful; its addrmode is stateless",
    ),
    (
        "      - {bti_value: 0, arg_index: 0}\n",
        "",
        "8:79 V709 argument 0 is stateful, but binding_table_indices has no entry for it",
    ),
    (
        "- {bti_value: 0",
        "- {bti_value: 0, arg_index: 0}\n      - {bti_value: 0",
        "15:21 V707 binding_table_indices has two entries with bti_value 0",
    ),
    ("size: 8,", "size: 6,", "9:53 V710 a stateless pointer must have 8 bytes, not 6"),
    ("size: 96", "size: 80", "12:47 V710 local_id of 16 lanes must have one to three times 32 or 64 bytes, not 80"),
    (
        "arg_type: local_id",
        "arg_type: local_size",
        "12:20 V706 local_size is not a per-thread argument; expected local_id or packed_local_ids",
    ),
    ("arg_type: local_id", "arg_type: packed_local_ids", "12:20 V706 packed_local_ids needs simd_size 1, not 16"),
    ("arg_type: arg_byvalue", "arg_type: local_id", "10:20 V706 local_id belongs to per_thread_payload_arguments"),
    (", arg_index: 2}", "}", "10:9 V706 arg_byvalue needs an arg_index, the number of the kernel argument"),
    ("addrmode: stateless, ", "", "9:9 V706 arg_bypointer needs an addrmode"),
    (
        "addrmode: stateless",
        "addrmode: shared_local_memory",
        "9:80 V711 'shared_local_memory' was removed by version 1.0; it is now called slm",
    ),
    (
        "type: scratch, usage: single_space",
        "type: global, usage: spill_fill_space",
        "16:31 V706 only private_space can have a global buffer",
    ),
    ("size: 1024", "size: 0", "16:52 V710 size is 0, but must be at least 1"),
    (
        "kernels:",
        "kernels_misc_info: [{name: other}]\nkernels:",
        "2:28 V713 there is no kernel 'other' in this document",
    ),
]


@pytest.mark.parametrize(("old", "new", "finding"), CASES, ids=[c[2][:60] for c in CASES])
def test_document_with_one_mistake(old, new, finding):
    assert any(f.startswith(finding) for f in findings(changed((old, new)))), findings(changed((old, new)))


def test_two_kernels_of_one_name():
    text = GOOD + GOOD.split("kernels:\n")[1]
    found = [d for d in validate(text) if d.code == "V707"]
    assert [d.message for d in found] == ["kernels has two entries with name k"]
    assert LineIndex(text).position(found[0].related[0].span.start) == (2, 10)


def test_newer_minor_version_is_information():
    assert [(d.severity, d.code) for d in validate(changed(("'1.14'", "'1.99'")))] == [(Severity.INFORMATION, "V705")]


def test_fixes_mend():
    text = changed(("'1.14'", "1.20"), ("grf_count", "grf_cuont"), ("simd_size: 16", "simd_size: 12"))
    for _ in range(5):
        found = next((d for d in validate(text) if d.fixes), None)
        if found is None:
            break
        text = apply_edits(text, found.fixes[0].edits)
    assert findings(text) == []
    assert "version: '1.20'" in text


def test_missing_key_can_be_added():
    text = changed(("      grf_count: 128\n", ""))
    (found,) = validate(text)
    assert findings(apply_edits(text, found.fixes[0].edits)) == []


def test_rules_have_pages_and_codes_of_their_own():
    assert len({r.code for r in RULES}) == len({r.name for r in RULES}) == len(RULES)
    assert all(r.code.startswith("V7") and "Why:" in r.doc and "Instead:" in r.doc for r in RULES)


@pytest.mark.corpus
def test_every_ze_info_of_the_corpus_is_valid():
    paths = files("**/*.zeinfo.yaml") + sorted(EXAMPLES.glob("*.zeinfo.yaml"))
    assert len(paths) >= at_least(80, 400)
    assert {str(p): f for p in paths if (f := findings(p.read_text()))} == {}


def test_fast_reader_gives_what_the_library_gives():
    for path in [
        p
        for root in ROOTS
        for part in ("dev42/bmg/*", "run/DG2/*/*")
        for p in sorted(root.glob(f"{part}.zeinfo.yaml"))[:8]
    ]:
        text = path.read_text()
        fast = load_plain(text)
        assert fast is not None
        assert fast == load(text)


@pytest.mark.parametrize(
    "text",
    [
        "a: 1 # note\nb:\n  - c: 'x'\n    d: [ 1, 2, 3 ]\n  - c: y\ne:\n- f: true\n- f: -7\ng: 5\n",
        "---\na: 1\n...\n",
        "a:\n  b:\n    c: 1\n  d: 2\ne: 3\n",
        "a:\n  - b: 1\n    c:\n      - d: 2\n      - d: 3\n    e: 4\n  - b: 5\n",
        "a: 1\r\nb: 2\r\n",
    ],
)
def test_fast_reader_takes_plain_texts(text):
    fast = load_plain(text)
    assert fast is not None
    assert fast == load(text)


@pytest.mark.parametrize(
    "text",
    [
        "a:\nb: 1\n", "a: 1\n  b: 2\n", "a: x: y\n", 'a: "q"\n', "a: 0x10\n", "a: 012\n", "a: 1.5\n", "a: null\n", "a: ~\n",
        "a: True\n", "- a: 1\n", "a: b c\n", "a: &x 1\n", "a: |\n  t\n", "a: {b: 1}\n", "a:\n  - 1\n", "a:\n   - b: 1\n  - b: 2\n",
        "a: 'it''s'\n", "a: 1\n---\nb: 2\n", "true: 1\n", "a:\n  b: 1\n c: 2\n", "a: [1, [2]]\n", "a: [08]\n", "",
    ],
)  # fmt: skip
def test_fast_reader_leaves_the_rest_to_the_library(text):
    assert load_plain(text) is None


# By name, what makes each text: some have millions of letters.
HOSTILE = {
    "billion laughs": lambda: (
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "\n".join(f"{c}: &{c} [{','.join(['*' + b] * 9)}]" for b, c in zip("abcdefgh", "bcdefghi", strict=True))
    ),
    "a million keys": lambda: "".join(f"k{i}: 1\n" for i in range(1_000_000)),
    "a million keys in one flow map": lambda: "{" + ", ".join(f"k{i}: 1" for i in range(1_000_000)) + "}",
    "many unknown keys": lambda: "version: '1.14'\nkernels: []\n" + "".join(f"kernelz{i}: 1\n" for i in range(150_000)),
    "many kernels of one name": lambda: "version: '1.14'\nkernels:\n" + "  - name: k\n" * 150_000,
    "tabs": lambda: "version: '1.14'\nkernels:\n\t- name: k\n",
    "tabs between": lambda: "version:\t'1.14'\nkernels:\t\t[]\n\tx: 1\n",
    "UTF-16": lambda: "version: '1.14'\n".encode("utf-16").decode("utf-8", "surrogateescape"),
    "Latin-1": lambda: b"name: caf\xe9\n".decode("utf-8", "surrogateescape"),
    "nulls": lambda: "version: \0\0\n",
    "deep lists": lambda: "a: " + "[" * 100_000,
    "deep maps": lambda: "\n".join(" " * i + f"k{i}:" for i in range(3000)),
    "deep dashes": lambda: "- " * 100_000,
    "a long scalar": lambda: "version: " + "x " * 7_000_000,
    "a long blank": lambda: "version: x" + " " * 900_000 + "y\nkernels: 3\n",
    "a cycle": lambda: "kernels: &k [*k]\nversion: '1.14'\n",
    "a long number": lambda: "version: '1.14'\nkernels: " + "9" * 100_000,
    "a long quoted text": lambda: "version: '" + "''" * 400_000,
    "a tag": lambda: "version: !!python/object:os.system x\nkernels: []\n",
    "binary": lambda: bytes(range(256)).decode("utf-8", "surrogateescape") * 100,
    "nothing": lambda: "",
    "two documents": lambda: "version: '1.14'\n---\nkernels: []\n",
    "carriage returns": lambda: "a: 1\r" * 10_000,
    "merge keys": lambda: "a: &a {x: 1}\nb: {<<: *a}\nversion: 3\n",
}
LONGEST = {
    "a million keys", "many kernels of one name", "a long quoted text", "a long blank", "a million keys in one flow map", "a long scalar",
}  # fmt: skip


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.full) if n in LONGEST else n for n in HOSTILE])
def test_hostile_text_ends_in_a_finding(name):
    text, found = HOSTILE[name](), []
    assert calls_of(lambda: found.extend(validate(text))) < 10_000_000
    assert found
    assert len(found) <= MAX_FINDINGS + 1
    assert all(0 <= d.span.start <= d.span.end <= len(text) for d in found)


@pytest.mark.full
def test_hostile_texts_take_little_memory(tmp_path):
    resource = pytest.importorskip("resource", reason="memory limits are a thing of Unix")
    assert resource
    for name in ("a million keys", "a million keys in one flow map", "many kernels of one name", "a long scalar"):
        (tmp_path / "x.yaml").write_text(HOSTILE[name](), encoding="utf-8")
        code = (
            "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30));"
            "from visa_lsp.zeinfo.validate import validate; sys.exit(0 if validate(open(sys.argv[1]).read()) else 1)"
        )
        assert (
            subprocess.run([sys.executable, "-c", code, tmp_path / "x.yaml"], check=False, timeout=60).returncode == 0
        ), name


def test_tab_has_a_fix():
    text = "version: '1.14'\nkernels:\n\t- name: k\n"
    (found,) = validate(text)
    assert (found.code, found.message) == ("V700", "a tab indents this line; YAML requires spaces")
    assert ZeInfoSource.of(apply_edits(text, found.fixes[0].edits)).root is not None
