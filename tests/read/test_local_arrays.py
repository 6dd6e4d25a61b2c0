"""Accesses of shared local memory as elements of the arrays that a kernel declares."""

from __future__ import annotations

from each_case import check_each

from visa_lsp.app.read.code_lines import Node
from visa_lsp.app.read.local_arrays import write_local_arrays
from visa_lsp.app.read.names import NamedArray, PointerArgument

ARRAYS = (
    NamedArray(PointerArgument("ta", "float"), 0, 1024, (16, 16)),
    NamedArray(PointerArgument("tb", "float"), 1024, 2048, (16, 16)),
    NamedArray(PointerArgument("t", "int"), 2048, 2048 + 132, (33,)),
)
LINES = {
    "ta[y * 16 + x] = f;": "ta[y][x] = f;",
    "ta[y * 16 + 256 + x] = f;": "tb[y][x] = f;",
    "f = ta[(y + k) * 16 + x - 1];": "f = ta[y + k][x - 1];",
    "f = ta[x + y * 16 + 17];": "f = ta[y + 1][x + 1];",
    "f = ta[(y << 4) + 272];": "f = tb[y + 1][0];",
    "f = fma(ta[i * 16 + x + 256], ta[y * 16 + i], f);": "f = fma(tb[i][x], ta[y][i], f);",
    "((int *)ta)[x + 512] = 1;": "t[x] = 1;",
    "t[x - 1] = 1;": "t[x - 1] = 1;",
    "f = ta[v + i];": "f = ta[y][i + 4];",
}


def test_an_access_is_an_element_of_its_array():
    code = [Node("v = y * 16 + 4;"), *(Node(line) for line in LINES)]
    assert write_local_arrays(code, ARRAYS) == {"ta", "tb"}
    printed = dict(zip(LINES, (node.text for node in code), strict=True))
    check_each(LINES, lambda line: compare(printed[line], LINES[line]))


def compare(printed, expected):
    assert printed == expected


def test_an_array_has_one_index_where_an_access_has_no_rows():
    for lines in (["ta[y * 16 + x] = f;", "ta[x] = f;"], ["ta[x] = f;"], ["ta[y * 16] = f;", "g(&ta);"]):
        code = [Node(line) for line in lines]
        assert write_local_arrays(code, ARRAYS) == set()
        assert [node.text for node in code] == lines
