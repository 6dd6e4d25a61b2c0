"""The text of a launch file with its items: YAML, read with the limits of this format."""

from __future__ import annotations

from typing import Final

from visa_lsp.text import with_newlines
from visa_lsp.zeinfo.source import YamlSource
from visa_lsp.zeinfo.yaml import Limits, YamlError, load

# A payload has space for far fewer arguments; long arrays belong in .npy files, which are read quickly.
_LIMITS: Final = Limits(of_document=100_000, of_entries=4096, advice="; long arrays belong in .npy files")


def launch_source(text: str) -> YamlSource:
    """Parse the text of a launch file; never raises."""
    text = with_newlines(text)
    try:
        return YamlSource(text, load(text, _LIMITS))
    except YamlError as error:
        return YamlSource(text, None, error)
