"""Digests are SHA-256, whatever part of Python they come from."""

import hashlib

import pytest

from visa_lsp.digests import digest_of


@pytest.mark.parametrize("parts", [[], [b""], [b"abc"], [b"a", b"", b"bc" * 1000]])
def test_a_digest_is_the_sha_256_of_its_parts(parts):
    assert digest_of(parts) == hashlib.sha256(b"".join(parts)).hexdigest()
