"""Rows of buffers as kernels index them."""

import pytest

from visa_lsp.app.read.pseudo_code import CodeLine, ReadKernel
from visa_lsp.app.read.row_lengths import find_row_lengths


@pytest.mark.parametrize(
    ("code", "row"),
    [
        ("b[V1 * w + V2] = V3;", 32),
        ("b[(V1 + V5) * w + V2] = V3;", 32),
        ("float V4 = b[V2 + (long)V1 * w] + b[0];", 32),
        ("b[z * w * h + V1 * w + V2] = V3;", 32),
        ("b[(V1 << 4) + V2] = V3;", 16),
        ("b[V1 * 8 + 3] = V3;", 8),
        ("int V6 = V1 * w; b[0] = V3;\n    int V7 = V6 + V2;\n    b[V7] = V3;", None),
        ("int V6 = V1 * w;\n    int V7 = V6 + V2;\n    b[V7] = V3;", 32),
        ("b[V1 + V2] = V3;", None),
        ("int V6 = group_id[0] << 4;\n    b[V6 + local_id_x] = V3;", None),
        ("int V6 = V1 << 3;\n    b[V6 * w + V2] = b[V6];", 32),
        ("b[V1 * n + V2] = V3;", None),
        ("b[V1 * k + V2] = V3;", None),
        ("((float *)slm)[V1 * w] = b[w * h];", None),
    ],
)
def test_a_row_is_the_known_factor_of_the_index(code, row):
    lines = tuple(CodeLine(line, ()) for line in ("kernel k(global float *b, int w) {", *code.split("\n"), "}"))
    kernel = ReadKernel("k", True, True, 1, 0, 0, lines)
    found = find_row_lengths(kernel, {"w": 32, "h": 4, "n": 7}, {"b": 1024})
    assert found == ({} if row is None else {"b": row})
