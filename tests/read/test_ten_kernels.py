"""The kernels of the tutorial are as the compiler, the corpus and ``visa-lsp read`` have them."""

import ten_kernels


def test_the_page_is_what_the_corpus_reads_as():
    assert ten_kernels.PAGE.read_text(encoding="utf-8") == ten_kernels.page(), "run python tests/support/ten_kernels.py"
