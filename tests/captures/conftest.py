"""Compiles each program of these tests once."""

from dataclasses import replace

import pytest

from visa_lsp.app.launch import opencl

_made = {}
_compile = opencl.build_source


def _built(source, device, options="", *rest):
    key = source.data, device, options
    if key not in _made:
        _made[key] = _compile(source, device, options, *rest)
    return replace(_made[key], source=source)


@pytest.fixture(autouse=True)
def _compile_once(monkeypatch):
    monkeypatch.setattr(opencl, "build_source", _built)
