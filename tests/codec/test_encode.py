"""What stands in an object; ``tests/test_docs.py`` reads one item by item as docs/format.md lists them."""

from __future__ import annotations

import struct

import pytest
from codec_builders import DST, inst, made_up, small_kernel, small_module
from msgspec.structs import replace

from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode, instruction_offsets
from visa_lsp.codec.errors import CodecError
from visa_lsp.isa.types import UD, ExecControl
from visa_lsp.program.model import (
    Attribute,
    FileVariable,
    GenBinary,
    General,
    Inst,
    Kernel,
    Module,
    RawOperand,
    StateVariable,
    Variable,
)
from visa_lsp.sema.lower import resolve_text


def test_functions_follow_all_kernels() -> None:
    module = Module(
        kernels=(small_kernel("a"), small_kernel("b")), functions=(small_kernel("f", is_kernel=False, linkage=2),)
    )
    data = encode(module)
    assert module == decode(data)
    names = [data.index(text) for text in (b"\1\0a", b"\1\0b", b"\2\1\0f")]
    assert names == sorted(names)
    bodies = [data.index(name + b"\0%null") for name in (b"a", b"b", b"f")]
    assert bodies == sorted(bodies)


def test_a_function_has_argument_sizes_and_no_inputs() -> None:
    kernel = small_kernel("f", is_kernel=False, input_size=3, return_value_size=1)
    assert kernel == decode(encode(Module(functions=(kernel,)))).functions[0]


def test_a_module_survives() -> None:
    assert small_module() == decode(encode(small_module()))


def test_the_version_is_always_4_1() -> None:
    assert decode(encode(replace(small_module(), version=(3, 6)))).version == (4, 1)


def test_gen_binaries_follow_their_kernel() -> None:
    first = small_kernel("a", gen_binaries=(GenBinary(12, b"AAAA"), GenBinary(13, b"BB")))
    module = Module(kernels=(first, small_kernel("b")))
    data = encode(module)
    assert module == decode(data)
    at = data.index(b"AAAABB")
    assert struct.pack("<BBIIBII", 2, 12, at, 4, 13, at + 4, 2) in data


def test_file_variables_and_relocations_survive() -> None:
    variables = (FileVariable(1, "g", UD, 5, 8, (Attribute(1, 2, b"xy"),)), FileVariable(0, "h", UD, 2, 1))
    kernel = small_kernel(variable_relocs=((1, 2), (3, 4)), function_relocs=((5, 6),))
    module = Module(kernels=(kernel,), variables=variables)
    assert module == decode(encode(module))


def test_an_external_function_has_no_body() -> None:
    external = Kernel(is_kernel=False, strings=("elsewhere",), linkage=0)
    module = Module(kernels=(small_kernel(),), functions=(external,))
    data = encode(module)
    assert b"\0\x09\0elsewhere" + bytes(12) in data
    assert module == decode(data)


def test_names_that_are_no_utf8_survive() -> None:
    kernel = small_kernel("caf\udce9")
    data = encode(Module(kernels=(kernel,)))
    assert b"caf\xe9\0%null" in data
    assert kernel == decode(data).kernels[0]


def test_offsets_of_instructions() -> None:
    kernel = small_kernel()
    offsets = instruction_offsets(kernel)
    assert offsets == [0, 1 + 1 + 2 + 9 + 9 + 6, 28 + 4 + 27]
    assert instruction_offsets(small_kernel(instructions=())) == []


def test_number_of_elements_is_cut_as_the_tools_do() -> None:
    kernel = small_kernel(variables=(Variable(0, UD, 2, 65536 + 5),), predicates=(StateVariable(0, 65536 + 1),))
    found = decode(encode(Module(kernels=(kernel,)))).kernels[0]
    assert (found.variables[0].num_elements, found.predicates[0].num_elements) == (5, 1)


def test_seventy_thousand_variables() -> None:
    kernel = small_kernel(variables=tuple(Variable(30, UD, 2, 1) for _ in range(70_000)))
    assert kernel == decode(encode(Module(kernels=(kernel,)))).kernels[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"surfaces": (StateVariable(0, 1),) * 300}, r"kernels\[0\].surfaces: 300 is more than .* at most 255"),
        ({"samplers": (StateVariable(0, 1),) * 256}, r"kernels\[0\].samplers: 256 is more"),
        ({"inputs": small_kernel().inputs * 150}, r"kernels\[0\].inputs: 300 inputs; an object holds at most 255"),
        ({"labels": small_kernel().labels * 65536}, r"label_count: 65536 is more"),
        ({"strings": ()}, "needs a name"),
        ({"strings": ("",)}, "needs a name"),
        ({"strings": ("k", "a\0b")}, r"strings\[1\]: a zero character"),
        ({"strings": ("k", "\ud800")}, r"strings\[1\]: '\\ud800' cannot be written as UTF-8"),
        ({"strings": ("k" * 65536,)}, "name_len: 65536 is more"),
        (
            {"attributes": (Attribute(0, 300, bytes(300)),)},
            r"attributes\[0\].size: 300 is out of range; expected 0 to 255",
        ),
        ({"variables": (Variable(0, UD, 2, 1, alias_offset=70000),)}, r"variables\[0\].alias_offset: 70000"),
        ({"variables": (Variable(-1, UD, 2, 1),)}, r"variables\[0\].name_index: -1"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(CodecError, match=message) as caught:
        encode(Module(kernels=(small_kernel(**change),)))
    assert caught.value.offset is None


def test_a_form_without_opcode_names_instruction_and_line() -> None:
    row = made_up("E", "tanh", None).rows[0]
    kernel = small_kernel(instructions=(inst("ret", ExecControl(1), None), Inst(row, (ExecControl(1),), 41)))
    said = r"^kernels\[0\].instructions\[1\]: 'tanh' has no opcode$"
    with pytest.raises(CodecError, match=said) as caught:
        encode(Module(kernels=(kernel,)))
    assert caught.value.line == 41
    with pytest.raises(CodecError, match="'tanh' has no opcode"):
        instruction_offsets(kernel)


def test_an_operand_of_the_wrong_kind_is_named() -> None:
    bad = inst("mul", ExecControl(8), None, General(33, 0, 0, DST), RawOperand(1, 0), General(33, 0, 0, DST))
    with pytest.raises(CodecError, match=r"instructions\[0\].src0: `src0`: RawOperand.* is not a vector operand"):
        encode(Module(kernels=(small_kernel(instructions=(bad,)),)))


@pytest.mark.parametrize("letter", ["S", "T", "A"])
def test_a_state_of_no_elements_is_written_as_it_stands(letter: str) -> None:
    text = f'.version 4.1\n.kernel "k"\n.decl X9 v_type={letter} num_elts=0\n    ret (M1, 1)\n'
    made = resolve_text(text).module
    assert made is not None
    kernel = decode(encode(made)).kernels[0]
    states = {"S": kernel.samplers, "T": kernel.surfaces, "A": kernel.addresses}[letter]
    assert [state.num_elements for state in states] == [0]
