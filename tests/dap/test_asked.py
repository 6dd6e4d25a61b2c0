"""Values of requests at the ends of what is allowed."""

import pytest

from visa_lsp.dap.request_arguments import RequestError, text, whole

MIB = 1 << 20


def test_a_text_has_a_mebibyte_at_most():
    assert len(text({"name": "x" * MIB}, "name")) == MIB
    with pytest.raises(RequestError, match="'name' must be a text"):
        text({"name": "x" * (MIB + 1)}, "name")


def test_a_whole_number_has_64_bits_at_most():
    assert [whole({"n": value}, "n") for value in (2.0, -(1 << 62), 1 << 63)] == [2, -(1 << 62), 1 << 63]
    for value in ((1 << 63) + 1, 1.5, True, "1"):
        with pytest.raises(RequestError, match="'n' must be a whole number"):
            whole({"n": value}, "n")
