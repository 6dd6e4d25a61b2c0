"""A client of the debug adapter in this process."""

import pytest
from dap_client import ClientHere


@pytest.fixture
def client():
    with ClientHere() as client:
        yield client
