"""Makes texts into what the finalizer's room takes: lines without comments."""

import pytest

from visa_lsp.syntax.document import Document


@pytest.fixture
def codes_of():
    def codes(text):
        return [code for chunk in Document.parse(text).chunks for code in chunk.codes()]

    return codes
