"""The command ``visa-lsp mcp`` where the SDK is missing, and its place among the commands."""

import pytest

from visa_lsp.cli import mcp as command
from visa_lsp.cli.main import main


@pytest.mark.parametrize("missing", ["mcp", "mcp_types"])
def test_without_the_extra_the_command_says_what_to_install(missing, monkeypatch, capsys):
    """Version 1 of the SDK has no package of types."""
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == missing else object())
    assert main(["mcp"]) == 2
    assert capsys.readouterr().err == (
        "visa-lsp: mcp: the server for agents needs the SDK of the protocol: pip install 'visa-lsp[mcp]'\n"
    )


def test_a_time_that_is_none_is_refused(capsys):
    assert main(["mcp", "--timeout", "soon"]) == 2
    assert "expected a number of seconds" in capsys.readouterr().err
