"""Every row of every table has a right and a wrong document, made from the row; the messages are in ``rows.golden.txt``.

``PYTHONPATH=.:tests/support python tests/zeinfo/test_schema_rows.py`` writes the golden file anew; read the difference before it is accepted.
"""

from pathlib import Path

import pytest
from each_case import check_each

from visa_lsp.diagnostics import Severity
from visa_lsp.text import LineIndex
from visa_lsp.zeinfo.closed_words import WORDS
from visa_lsp.zeinfo.schema import KNOWN_VERSION, SEED_VERSION, version_text
from visa_lsp.zeinfo.tables import TABLES
from visa_lsp.zeinfo.validate import validate
from visa_lsp.zeinfo.write import document

GOLDEN = Path(__file__).with_name("rows.golden.txt")

ENV = {"grf_count": 128, "simd_size": 16}
POINTER = {
    "arg_type": "arg_bypointer",
    "offset": 0,
    "size": 8,
    "arg_index": 0,
    "addrmode": "stateless",
    "addrspace": "global",
}
STATEFUL = {**POINTER, "size": 0, "addrmode": "stateful"}

# One right map for each table, and the key path to it from the document.
BASE = {
    "Container": {"version": "1.73", "kernels": []},
    "Kernel": {"name": "k", "execution_env": ENV},
    "Function": {"name": "f", "execution_env": ENV},
    "UserAttribute": {"reqd_work_group_size": [1, 1, 1]},
    "ExecutionEnv": ENV,
    "PayloadArgument": {"arg_type": "local_size", "offset": 0, "size": 12},
    "PerThreadPayloadArgument": {"arg_type": "local_id", "offset": 0, "size": 96},
    "BindingTableIndex": {"bti_value": 0, "arg_index": 0},
    "PerThreadMemoryBuffer": {"type": "scratch", "usage": "single_space", "size": 1024},
    "InlineSampler": {"sampler_index": 0, "addrmode": "repeat", "filtermode": "linear"},
    "ExperimentalProperties": {"has_non_kernel_arg_load": 0},
    "DebugEnv": {"sip_surface_bti": 1},
    "HostAccess": {"device_name": "a", "host_name": "b"},
    "KernelMiscInfo": {"name": "k"},
    "ArgInfo": {
        "index": 0, "address_qualifier": "__global", "access_qualifier": "NONE", "type_name": "int;4", "type_qualifiers": "NONE",
    },
    "KernelCostInfo": {"name": "k", "kcm_loop_count_exps": [], "Kcm_loop_costs": []},
    "CostSymbol": {"argNo": 0, "byteOffset": 0, "sizeInBytes": 4, "isInDirect": False},
    "CostCount": {"factor": 1, "C": 2, "argsym_index": 0},
    "CostLoop": {"cycle": 1, "bytes_loaded": 2, "bytes_stored": 3, "num_loops": 0},
}  # fmt: skip
WRONG = {"int32": "wide", "int64": "wide", "float": "wide", "bool": 7, "str": 7, "int32x3": [1, 2]}
RIGHT = {"int32": 0, "int64": 1, "float": 1, "bool": True, "str": "text", "int32x3": [1, 1, 1]}
SPECIAL = {
    "simd_size": 16, "grf_count": 128, "size": 12, "arg_index": 0, "required_sub_group_size": 16, "version": "1.73",
    "work_group_walk_order_dimensions": [0, 1, 2], "name": "k",
}  # fmt: skip
SIZES = {
    "local_id": 96,
    "private_base_stateless": 8,
    "arg_byvalue": 4,
    "buffer_offset": 4,
    "arg_bypointer": 8,
    "scratch": 1024,
    "global": 64,
}


def base(table: str, row) -> dict:
    """Return a right map in which the row may stand."""
    if table == "PayloadArgument" and row.when:
        option = dict(part.strip().split("=") for part in row.when.split("|")[0].split("&"))
        words = {key: value.split(",")[0].rstrip("*") for key, value in option.items()}
        if words.get("arg_type") == "arg_bypointer" or "addrspace" in words:
            mode = {"local": "slm", "sampler": "bindless", "image": "bindless"}.get(
                words.get("addrspace", ""), "stateless"
            )
            return {**POINTER, "addrmode": mode, **words}
        index = {} if words["arg_type"].endswith("_base") else {"arg_index": 0}
        return {"arg_type": words["arg_type"], "offset": 0, "size": SIZES.get(words["arg_type"], 8), **index}
    if table == "PerThreadMemoryBuffer" and row.when:
        return {**BASE[table], "type": row.when.split("=")[1], "usage": "private_space"}
    return dict(BASE[table])


def value(table: str, row, right: bool):
    if row.table:
        entry = dict(BASE[row.table])
        good = [entry] if row.many else entry
        return good if right else 5
    if row.words:
        if not right:
            return "nonsense"
        return BASE[table].get(row.name) or base(table, row).get(row.name) or row.words[0].name
    if not right:
        return WRONG[row.type]
    return BASE[table].get(row.name, base(table, row).get(row.name, SPECIAL.get(row.name, RIGHT[row.type])))


PATHS = {
    "Function": ("functions",), "UserAttribute": ("kernel", "user_attributes"), "ExecutionEnv": ("kernel", "execution_env"),
    "PayloadArgument": ("kernel", "payload_arguments"), "PerThreadPayloadArgument": ("kernel", "per_thread_payload_arguments"),
    "BindingTableIndex": ("kernel", "binding_table_indices"), "PerThreadMemoryBuffer": ("kernel", "per_thread_memory_buffers"),
    "InlineSampler": ("kernel", "inline_samplers"), "ExperimentalProperties": ("kernel", "experimental_properties"),
    "DebugEnv": ("kernel", "debug_env"), "HostAccess": ("global_host_access_table",), "KernelMiscInfo": ("kernels_misc_info",),
    "ArgInfo": ("misc", "args_info"), "KernelCostInfo": ("kernels_cost_info",), "CostSymbol": ("cost", "kcm_args_sym"),
    "CostCount": ("cost", "kcm_loop_count_exps"), "CostLoop": ("cost", "Kcm_loop_costs"),
}  # fmt: skip
MAPS = {"UserAttribute", "ExecutionEnv", "ExperimentalProperties", "DebugEnv"}


def whole(table: str, entry: dict, version: str = "1.73") -> str:
    """Return the document with one map of a table."""
    root: dict = {"version": version}
    kernel = dict(BASE["Kernel"])
    if table == "Container":
        has_version = {"version": version} if isinstance(entry.get("version"), str) else {}
        kernels = (
            [dict(BASE["Kernel"])]
            if "kernels_misc_info" in entry and entry.get("kernels") == []
            else entry.get("kernels")
        )
        return document({**entry, **has_version, **({"kernels": kernels} if "kernels" in entry else {})})
    if table == "Kernel":
        kernel = dict(entry)
        if isinstance(kernel.get("binding_table_indices"), list):
            kernel["payload_arguments"] = [dict(STATEFUL)]
    elif table in PATHS:
        *parents, key = PATHS[table]
        holder = kernel if parents == ["kernel"] else root
        if parents == ["misc"]:
            root["kernels_misc_info"] = [holder := {"name": "k"}]
        elif parents == ["cost"]:
            root["kernels_cost_info"] = [holder := {**BASE["KernelCostInfo"]}]
        holder[key] = entry if table in MAPS else [entry]
        if table == "BindingTableIndex" or entry.get("addrmode") == "stateful":
            kernel.setdefault("payload_arguments", [dict(STATEFUL)])
    return document({"version": version, "kernels": [kernel], **root})


def rows():
    return [(table.name, row) for table in TABLES.values() for row in table.keys]


def before(version: tuple) -> str:
    return version_text((version[0], version[1] - 1))


def documents(table: str, row):
    """(kind, text) for a row: right, wrong, missing, too new, removed, misplaced."""
    version = before(row.removed) if row.removed else version_text(KNOWN_VERSION)
    right = {**base(table, row), row.name: value(table, row, right=True)}
    yield "right", whole(table, right, version)
    yield "wrong", whole(table, {**right, row.name: value(table, row, right=False)}, version)
    if row.required:
        yield (
            "missing",
            whole(
                table, {k: v for k, v in right.items() if k != row.name} | ({} if len(right) > 1 else {"x": 1}), version
            ),
        )
    if row.since > (1, 0):
        yield "older", whole(table, right, before(row.since))
    if row.removed:
        yield "removed", whole(table, right, version_text(row.removed))
    if row.when:
        other = (
            {"arg_type": "local_size", "offset": 0, "size": 12}
            if table == "PayloadArgument"
            else {**BASE[table], "type": "slm"}
        )
        yield "misplaced", whole(table, {**other, row.name: value(table, row, right=True)}, version)


def findings(text: str) -> list[str]:
    index = LineIndex(text)
    out = []
    for d in validate(text):
        line, column = index.position(d.span.start)
        out.append(f"{line + 1}:{column + 1} {d.severity.value} {d.code}: {d.message}")
    return out


def golden_text() -> str:
    lines = []
    for table, row in rows():
        for kind, text in documents(table, row):
            lines.append(f"{table}.{row.name} {kind}: {' | '.join(findings(text)) or 'nothing'}")
    for words, known in WORDS.items():
        table, row = next((t.name, a) for t in TABLES.values() for a in t.keys if a.words == known)
        for word in known:
            if word.since > max(row.since, (1, 0)):
                text = whole(table, {**base(table, row), row.name: word.name}, before(word.since))
                lines.append(f"{words}.{word.name} older: {' | '.join(findings(text)) or 'nothing'}")
    return "\n".join(lines) + "\n"


def test_row_has_a_right_and_a_wrong_document():
    check_each(rows(), _check_documents, lambda case: f"{case[0]}.{case[1].name}")


def _check_documents(case):
    table, row = case
    expected = {
        "wrong": "V704" if row.words else "V701",
        "missing": "V702",
        "older": "V711",
        "removed": "V711",
        "misplaced": "V706",
    }
    for kind, text in documents(table, row):
        found = validate(text)
        if kind == "right":
            assert findings(text) == []
        else:
            assert expected[kind] in {d.code for d in found}, (kind, text)
            own = [d for d in found if d.code == expected[kind]]
            assert any(row.name in d.message or text[d.span.start : d.span.end] == row.name for d in own)


@pytest.mark.parametrize("words", WORDS)
def test_every_word_is_known_where_it_stands(words):
    table, row = next((t.name, a) for t in TABLES.values() for a in t.keys if a.words == WORDS[words])
    for word in WORDS[words]:
        version = (
            version_text(KNOWN_VERSION)
            if not word.removed
            else version_text((word.removed[0] - (not word.removed[1]), max(word.removed[1] - 1, 0)))
        )
        found = [
            d for d in validate(whole(table, {**base(table, row), row.name: word.name}, version)) if d.code == "V704"
        ]
        assert found == []


def test_every_row_of_the_seed_is_here():
    seed = Path(__file__).parents[2] / "../shared/spec/seeds/ze-info.md"
    if not seed.is_file():
        pytest.skip("the seed documents are not here")
    known = {row.name for _, row in rows()} | {w.name for words in WORDS.values() for w in words}
    names = set()
    for line in seed.read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 3 and cells[1] and not cells[1].startswith("-") and cells[1].islower() and " " not in cells[1]:
            names.add(cells[1])
    assert len(names) > 80
    assert names <= known
    seed_rows = [row for _, row in rows() if row.since <= SEED_VERSION]
    assert len(seed_rows) >= 60


def test_messages_are_the_golden_ones():
    assert GOLDEN.read_text(encoding="utf-8").splitlines() == golden_text().splitlines()


def test_missing_version_is_an_error():
    (found,) = validate("kernels: []\n")
    assert (found.code, found.severity, found.message) == (
        "V702",
        Severity.ERROR,
        "the key 'version' is missing in the document",
    )


if __name__ == "__main__":
    GOLDEN.write_text(golden_text(), encoding="utf-8")
