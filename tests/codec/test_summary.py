"""The summary of an object."""

from __future__ import annotations

import pytest
from codec_builders import old_object, small_kernel, small_module

from visa_lsp.codec.encode import encode
from visa_lsp.codec.errors import CodecError
from visa_lsp.codec.object_reader import summary
from visa_lsp.codec.records import BinaryPlace
from visa_lsp.program.model import Input, Module


def test_summary_of_a_module() -> None:
    data = encode(small_module())
    found = summary(data)
    assert ((4, 1), len(data)) == (found.version, found.size)
    (kernel,), (function,) = found.kernels, found.functions
    assert (kernel.name, function.name) == ("k", "f")
    assert (("V32", Input(0, 32, 32, 64)), ("T6", Input(0x22, 6, 100, 4, reserved=True))) == kernel.inputs
    assert kernel.attributes == (("Target", b"\0"),)
    assert kernel.offset + kernel.size == function.offset
    assert len(data) == function.offset + function.size
    assert (kernel.code_size, function.code_size) == (63, 63)
    assert (BinaryPlace(0, function.offset, 0),) == kernel.binaries
    assert (len(kernel.kernel.variables), len(kernel.kernel.labels), kernel.kernel.instructions) == (2, 1, ())


def test_summary_needs_no_known_instruction() -> None:
    found = summary(old_object((3, 6), b"\xee" * 10))
    assert (found.kernels[0].code_size, found.kernels[0].name) == (10, "old")
    assert found.kernels[0].binaries[0].platform == 5


def test_inputs_of_unknown_symbols_show_their_number() -> None:
    kernel = small_kernel(inputs=(Input(2, 60, 0, 4), Input(1, 0, 0, 4), Input(0, 7, 0, 32), Input(0, 999, 0, 1)))
    names = [name for name, _ in summary(encode(Module(kernels=(kernel,)))).kernels[0].inputs]
    assert names == ["60", "S0", "%r0", "V999"]


def test_summary_of_a_damaged_object() -> None:
    with pytest.raises(CodecError):
        summary(encode(small_module())[:-70])
