"""Generates the JSON schema of launch files from the table of keys, for editors and tools that know YAML but not vISA.

It rejects mistakes that are visible without other files, the kernel, or a comparison of two places. The same file is in
``docs`` and in the extension.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.isa.platforms import PLATFORMS
from visa_lsp.launchfile.formulas import MAX_EXPRESSION_CHARS
from visa_lsp.launchfile.npy import MAX_AXES
from visa_lsp.launchfile.tables import ROOT, TABLES
from visa_lsp.program.elements import MAX_BUFFER_BYTES, MAX_SHARED_BYTES
from visa_lsp.zeinfo.schema import NUMERIC, SchemaKey, SchemaTable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


FILES: Final = ("docs/launch.schema.json", "vscode-extension/schemas/launch.schema.json")
_DRAFT: Final = "http://json-schema.org/draft-07/schema#"

Schema = dict[str, Any]


def _number(low: int, high: int) -> Schema:
    return {"type": "integer", "minimum": low, "maximum": high}


def _sizes(low: int) -> Schema:
    each = _number(low, (1 << 32) - 1)
    return {"anyOf": [each, {"type": "array", "items": each, "minItems": 1, "maxItems": 3}]}


_TEXT: Final[Schema] = {"type": ["string", "number", "boolean"]}
# The schema of each type of launch files; words are lists of the words, and numbers may be nested.
_TYPES: Final[dict[str, Schema]] = {
    "text": _TEXT,
    "file": _TEXT,
    "word": _TEXT,
    "sizes": _sizes(1),
    "offsets": _sizes(0),
    "pair": {"type": "array", "items": _number(1, 65535), "minItems": 2, "maxItems": 2},
    "arguments": {
        "anyOf": [
            {"type": "array", "items": {"$ref": "#/definitions/Argument"}},
            {"type": "object", "additionalProperties": {"$ref": "#/definitions/Argument"}},
        ]
    },
    "numbers": {"$ref": "#/definitions/numbers"},
    "bytes": _number(1, MAX_SHARED_BYTES),
    "axes": {
        "anyOf": [
            _number(0, MAX_BUFFER_BYTES),
            {"type": "array", "items": _number(0, MAX_BUFFER_BYTES), "maxItems": MAX_AXES},
        ]
    },
    "seed": _number(0, (1 << 64) - 1),
    "bool": {"type": "boolean"},
    "channels": {"enum": [1, 2, 4]},
    "dimensions": {"enum": [1, 2, 3]},
    "argument": {"type": ["integer", "string"]},
    "tolerance": {"type": "number", "minimum": 0},
    "places": _number(0, 1 << 30),
    "address": _number(4096, 1 << 56),
    "ranges": {
        "type": "array",
        "items": {"type": "array", "items": _number(0, MAX_BUFFER_BYTES), "minItems": 2, "maxItems": 2},
    },
    "expression": {"type": "string", "maxLength": MAX_EXPRESSION_CHARS},
}
_FORMULA: Final[Schema] = {"type": "string", "pattern": r"^[A-Za-z0-9_ .,()+*/%-]+$", "maxLength": MAX_EXPRESSION_CHARS}
_FORMULAS: Final[Schema] = {
    "anyOf": [
        _FORMULA,
        {"type": "array", "items": {"anyOf": [{"type": "integer"}, _FORMULA]}, "contains": {"type": "string"}},
    ]
}


def _numbers_of(name: str, *others: Schema) -> Schema:
    return {"anyOf": [{"type": "number"}, *others, {"type": "array", "items": {"$ref": f"#/definitions/{name}"}}]}


_NUMBERS: Final = _numbers_of("numbers", _FORMULA)


def schema() -> Schema:
    """Return the whole schema."""
    root = _table(TABLES[ROOT])
    definitions = {name: _table(table) for name, table in TABLES.items() if name != ROOT}
    computed = {
        _name_computed(name): _without_expressions(table)
        for name, table in TABLES.items()
        if name not in (ROOT, "Sweep")
    }
    return {
        "$schema": _DRAFT,
        "title": "Launch file of visa-lsp (NAME.launch.yaml)",
        **root,
        "if": {"not": _require("sweep")},
        "then": _without_expressions(TABLES[ROOT]),
        "definitions": {
            "numbers": _NUMBERS, _name_computed("numbers"): _numbers_of(_name_computed("numbers")), **definitions, **computed,
        },
    }  # fmt: skip


def _name_computed(name: str) -> str:
    return f"{name}WithoutExpressions"


def _without_expressions(table: SchemaTable) -> Schema:
    """Return the schema of a file without a sweep: numbers may not be expressions."""
    properties = {row.name: inner for row in table.keys if (inner := _make_computed(row))}
    return {"properties": properties} if properties else {}


def _make_computed(row: SchemaKey) -> Schema:
    each = {"$ref": f"#/definitions/{_name_computed('Argument' if row.type == 'arguments' else row.table or 'Init')}"}
    if row.type == "arguments":
        return {"items": each, "additionalProperties": each}
    if row.table == "Sweep":
        return {}
    if row.table or row.type == "contents":
        return {"list": {"items": each}, "map": {"additionalProperties": each}}.get(row.many, each)
    if row.type == "numbers":
        return {"$ref": f"#/definitions/{_name_computed('numbers')}"}
    return _TYPES[row.inner] if row.inner in NUMERIC else {}


def _table(table: SchemaTable) -> Schema:
    others: Schema = {"type": "array", "items": {"type": "number"}, "minItems": 1}
    table_schema: Schema = {
        "description": table.doc,
        "type": "object",
        "additionalProperties": others if table.others else False,
        "properties": {row.name: _key(row) for row in table.keys},
    }
    rules = _RULES.get(table.name)
    return {**table_schema, "allOf": rules} if rules else table_schema


def _key(row: SchemaKey) -> Schema:
    value = _value(row)
    if row.many == "list":
        value = {"type": "array", "items": value}
    elif row.many == "map":
        value = {"type": "object", "additionalProperties": value}
    elif row.type.endswith("?"):
        value = {"anyOf": [value, {"type": "null"}]}
    default = f" Default: {row.default}." if row.default else ""
    if "$ref" in value:  # because older readers ignore keys beside it
        value = {"allOf": [value]}
    return {
        "description": f"{row.doc}{default}",
        "markdownDescription": f"{row.doc}{default}\n\n```yaml\n{row.example}\n```",
        **value,
    }


def _value(row: SchemaKey) -> Schema:
    if row.table:
        return {"$ref": f"#/definitions/{row.table}"}
    if row.name == "platform":
        return {"anyOf": [_words(row), {"type": "string", "pattern": _any_platform()}]}
    if row.type == "contents":
        return {"anyOf": [_words(row), {"$ref": "#/definitions/Init"}]}
    if row.words:
        return _words(row)
    # For files with a sweep; the schema of a file without one removes them again.
    return _allow_expression(_TYPES[row.inner]) if row.inner in NUMERIC else _TYPES[row.inner]


def _allow_expression(value: Schema) -> Schema:
    return value if "$ref" in value else {"anyOf": [value, _FORMULAS]}


def _words(row: SchemaKey) -> Schema:
    return {"enum": [word.name for word in row.words], "markdownEnumDescriptions": [word.doc for word in row.words]}


def _any_platform() -> str:
    """Return a pattern of all names of platforms, in any case and with any separators, with steppings, and of IP versions."""
    names = {word.lower().replace("-", "").replace("_", "") for p in PLATFORMS for word in p.words}
    each = ("[-_]*".join(f"[{c.upper()}{c}]" if c.isalpha() else c for c in name) for name in sorted(names))
    stepping, version = "[-_][a-dA-D][0-9][pPxX]?", "[0-9]{1,3}(?:[.][0-9]{1,3}){1,2}"
    return f"^(?:(?:{'|'.join(each)})(?:{stepping})?[-_]*|{version})$"


# ---- dependences between keys


def _require(*keys: str) -> Schema:
    return {"required": list(keys)}


def _one_of(keys: Iterable[str]) -> Schema:
    return {"oneOf": [_require(key) for key in keys]}


def _not_together(*keys: str) -> Schema:
    return {"not": _require(*keys)}


def _if(key: str, then: Schema) -> Schema:
    return {"anyOf": [{"not": _require(key)}, then]}


def _init(*keys: str) -> Schema:
    """Return the schema of ``init`` as a map with exactly one of its keys."""
    inner = {"anyOf": [_require(key) for key in keys]}
    return {"required": ["init"], "properties": {"init": {"type": "object", **inner}}}


_SOURCES: Final = ("init", "values", "npy", "random")
_MEDIA: Final[Schema] = {"required": ["mode", "threads"], "properties": {"mode": {"const": "media"}}}
_SWEPT: Final[Schema] = {
    "required": ["sweep"],
    "properties": {"sweep": {"anyOf": [_require("groups"), _require("global_size")]}},
}
_MEMORY: Final = [
    *(_not_together(a, b) for at, a in enumerate(_SOURCES) for b in _SOURCES[at + 1 :]),
    {"anyOf": [_require("dtype"), _require("npy"), _init("npy")]},
    {"anyOf": [_require("shape"), _require("values"), _require("npy"), _init("npy", "values")]},
]
_RULES: Final[dict[str, list[Schema]]] = {
    ROOT: [
        {"anyOf": [_require("groups"), _require("global_size"), _MEDIA, _SWEPT]},
        *(_not_together("threads", key) for key in ("groups", "local_size", "global_size")),
        _not_together("groups", "global_size"),
        _if("threads", _MEDIA),
        {"anyOf": [{"not": {"required": ["mode"], "properties": {"mode": {"const": "media"}}}}, _require("threads")]},
    ],
    "Argument": [
        _one_of(("buffer", "value", "values", "local", "image", "sampler")),
        _if("dtype", {"anyOf": [_require("value"), _require("values")]}),
        _if("access", {"anyOf": [_require("buffer"), _require("image")]}),
    ],
    "Buffer": _MEMORY,
    "Image": _MEMORY,
    "Symbol": _MEMORY,
    "Init": [_one_of(TABLES["Init"].names)],
    "Expectation": [
        _one_of(("npy", "values", "expr", "reference")),
        {"anyOf": [_require("arg"), _require("expr"), _require("reference")]},
        *(_not_together("dtype", key) for key in ("expr", "reference")),
    ],
}


def generate_files(_: Path) -> dict[str, str]:
    """Return the schema, for documents and for the extension."""
    text = json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
    return dict.fromkeys(FILES, text)
