"""The printed text: names that no text can hold, quoting, layout, comments."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.model import Attribute, Input
from visa_lsp.program.operand_text import quote_string
from visa_lsp.program.text_form import module_text
from visa_lsp.sema.lower import resolve_text

TEXT = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=ud num_elts=16 align=GRF alias=<%r0, 4> attrs={Input, Scope=1}
.decl V33 v_type=G type=hf num_elts=16 align=wordx32
.decl A0 v_type=A num_elts=8
.decl P1 v_type=P num_elts=16
.decl S0 v_type=S num_elts=1
.decl T6 v_type=T num_elts=2 attrs={SurfaceUsage=1}
.input T6 offset=64 size=8
.implicit_UNDEFINED_4 V33 offset=96 size=32
.kernel_attr Target="cm"
.kernel_attr OutputAsmPath="a \\"b\\" \\\\"
L1:
    addr_add (M1, 1) A0(0)<1> &V33[36] 0x4:uw
    (!P1.all) goto (M5_NM, 16) L1
    ret (M1, 1)
"""


def round_trip(module, platform: str = "TGLLP") -> str:
    text = module_text(module, platform_named(platform))
    again = resolve_text(text, platform)
    assert again.module is not None, again.bound.problems
    assert encode(again.module) == encode(module)
    return text


def test_every_declaration_reads_back():
    text = round_trip(resolve_text(TEXT, "TGLLP").module)
    for line in TEXT.splitlines()[2:]:
        assert line in [printed.split("///")[0].rstrip() for printed in text.splitlines()]


@pytest.mark.parametrize("platform", ["SKL", "PVCXT"])
def test_offsets_of_addresses_depend_on_the_register_size(platform: str):
    assert "&V33[36]" in round_trip(resolve_text(TEXT, platform).module, platform)


def test_comments_are_those_of_the_compilers_and_may_be_left_out():
    module = resolve_text(TEXT, "TGLLP").module
    lines = module_text(module).splitlines()
    assert "/// VISA Predefined Variables" in lines
    assert "// .decl V0 v_type=G v_name=%null" in lines
    assert lines[-1] == "    ret (M1, 1)".ljust(80) + " /// $3"
    assert "//" not in module_text(module, comments=False)


NEWER = """.version 4.2
.kernel "k"
.funcdecl "even"
.decl V32 v_type=G type=ud num_elts=16 align=wordx32
.decl V33 v_type=G type=uq num_elts=16 align=wordx32
.kernel_attr Target="cm"
    lsc_load.ugm (M1, 16)  V32:d8u32  flat[V33]:a64
    lsc_store.ugm (M1, 16)  flat[V33]:a64  V32:d16u32h
    svm_block_ld.aligned (4) V33(0,0)<0;1,0> V32.0
    svm_block_st (4) V33(0,0)<0;1,0> V32.0
    fcall (M1, 16) even 1 1
    fcall (M1, 16) even 1 1
    ret (M1, 1)
"""


def test_platforms_that_only_newer_compilers_have_get_their_text():
    """Everything that is not in the object but follows from it, in the words of text 4.2, is there again."""
    module = resolve_text(NEWER, "BMG").module
    printed = [line.split("//")[0].rstrip() for line in round_trip(module, "BMG").splitlines()]
    assert [line for line in printed if line] == NEWER.splitlines()
    older = module_text(module, platform_named("PVCXT"))
    assert all(part in older for part in (".version 4.1", "d8c32", '.funcdecl "even"'))
    assert not any(word in older for word in ("d8u32", "aligned"))


def test_a_function_of_the_same_text_is_not_announced():
    text = NEWER + '.global_function "even"\n.kernel_attr Target="cm"\n    fcall (M1, 16) odd 1 1\n    fret (M1, 16)\n'
    assert "funcdecl" not in round_trip(resolve_text(text, "BMG").module, "BMG")


def test_names_that_text_cannot_hold_are_replaced():
    module = resolve_text(TEXT, "TGLLP").module
    kernel = module.kernels[0]
    strings = list(kernel.strings)
    strings[kernel.variables[1].name_index] = "a b"
    strings[kernel.labels[0].name_index] = "1.bad"
    odd = replace(module, kernels=(replace(kernel, strings=tuple(strings)),))
    text = module_text(odd)
    result = resolve_text(text)
    assert result.module is not None, result.bound.problems
    assert result.module.kernels[0].instructions == kernel.instructions
    assert "a b" not in text
    assert "1.bad" not in text


@pytest.mark.parametrize(
    "name", ["k", "a b", 'q"uote', "back\\slash", "tab\tnew\nline", "\u00e9\u00ff", "%x", "foo<int, 4>(a)"]
)
def test_any_kernel_name_is_quoted_so_that_it_reads_back(name: str):
    module = resolve_text(TEXT, "TGLLP").module
    kernel = module.kernels[0]
    renamed = replace(module, kernels=(replace(kernel, strings=(name, *kernel.strings[1:])),))
    text = round_trip(renamed)
    assert quote_string(name) in text
    assert resolve_text(text).module.kernels[0].name == name


def changed(**parts):
    """Return the module of ``TEXT`` with other parts of its kernel."""
    module = resolve_text(TEXT, "TGLLP").module
    return replace(module, kernels=(replace(module.kernels[0], **parts),))


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("name", ["SLMSize", "NBarrierCnt", "SimdSize", "NoBarrier"])
def test_numbers_of_any_size_are_printed_as_numbers(name: str, size: int):
    kernel = resolve_text(TEXT, "TGLLP").module.kernels[0]
    strings = (*kernel.strings, name)
    attribute = Attribute(len(strings) - 1, size, (1).to_bytes(size, "little"))
    text = module_text(changed(strings=strings, attributes=(*kernel.attributes, attribute)))
    assert f".kernel_attr {name}=1" in text.splitlines()
    assert resolve_text(text).module.kernels[0].int_attribute(name) == 1


@pytest.mark.parametrize("value", ["a", "ab", "abcd", "abcde"])
def test_texts_of_any_length_are_printed_as_texts(value: str):
    text = TEXT.replace('"a \\"b\\" \\\\"', f'"{value}"')
    assert f'.kernel_attr OutputAsmPath="{value}"' in round_trip(resolve_text(text, "TGLLP").module)


def test_check_has_nothing_to_say_of_printed_attributes():
    kernel = resolve_text(TEXT, "TGLLP").module.kernels[0]
    strings = (*kernel.strings, "SLMSize", "NBarrierCnt")
    more = (Attribute(len(strings) - 2, 1, b"\x04"), Attribute(len(strings) - 1, 1, b"\x10"))
    text = module_text(changed(strings=strings, attributes=(*kernel.attributes, *more)))
    assert ".kernel_attr SLMSize=4" in text
    assert [d for d in Analysis.of(text).diagnostics if d.name in ("attribute-value", "kernel-attribute")] == []


@pytest.mark.parametrize(
    ("kind", "number", "name", "what"),
    [(0, 77, "V0077", "general"), (1, 5, "S0005", "sampler"), (2, 99, "T0099", "surface"), (8, 77, "V0077", "general")],
)
def test_an_input_of_a_stripped_object_keeps_its_number(kind: int, number: int, name: str, what: str):
    module = changed(inputs=(Input(kind, number, 64, 4),))
    text = module_text(decode(encode(module)))
    line = next(line for line in text.splitlines() if "offset=64" in line)
    assert f" {name} offset=64 size=4" in line
    assert f"the object has no {what} variable {number}: it has been stripped" in line
    found = Analysis.of(text).diagnostics
    assert any(d.name == "undeclared-name" and name in d.message for d in found), "it is not taken for another variable"


def test_the_name_of_an_absent_variable_is_that_of_no_other():
    kernel = resolve_text(TEXT, "TGLLP").module.kernels[0]
    strings = list(kernel.strings)
    strings[kernel.variables[0].name_index] = "V0077"
    module = changed(
        strings=tuple(strings),
        inputs=(Input(0, 77, 64, 4),),
        variables=(kernel.variables[0], replace(kernel.variables[1], alias_index=77)),
    )
    text = module_text(module)
    assert ".input V0077_ offset=64" in text
    assert "alias=<V0077_, 0> /// the object has no general variable 77" in text


def test_a_surface_number_that_no_object_has_is_not_shown_as_the_bindless_surface():
    """The seed's name of that surface is T252: no absent variable is printed under it."""
    text = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=d num_elts=16 align=GRF
.decl Tx v_type=T num_elts=1
    oword_ld (2) Tx 0x0:ud V32.0
"""
    module = resolve_text(text, "TGLLP").module
    (kernel,) = module.kernels
    load = kernel.instructions[-1]
    values = (252 if f.name == "surface" else v for f, v in zip(load.row.fields, load.values, strict=True))
    odd = replace(kernel, instructions=(*kernel.instructions[:-1], replace(load, values=tuple(values))))
    assert "oword_ld (2) T252_ " in module_text(replace(module, kernels=(odd,)))


@pytest.mark.parametrize("declared", ["v_type=T num_elts=1", "v_type=G type=ud num_elts=1"])
def test_a_declaration_of_the_seeds_bindless_surface_keeps_its_name(declared: str):
    """Such a declaration hides the surface, for the finalizer too, so its text reads back with the same strings."""
    use = "oword_ld (2) T252 0x0:ud V32.0" if "=T" in declared else "mov (M1, 1) T252(0,0)<1> 0x1:ud"
    text = f""".version 4.1
.kernel "k"
.decl V32 v_type=G type=d num_elts=16 align=GRF
.decl T252 {declared}
    {use}
"""
    module = resolve_text(text, "TGLLP").module
    assert use in module_text(module)
    assert resolve_text(module_text(module), "TGLLP").module == module


@pytest.mark.parametrize(
    ("number", "name"),
    [(1, "LOCAL_SIZE"), (2, "GROUP_COUNT"), (3, "LOCAL_ID"), (4, "PSEUDO_INPUT"), (16, "PSEUDO_INPUT"), (7, "")],
)
def test_an_implicit_input_is_named_and_its_byte_comes_back(number: int, name: str):
    module = resolve_text(TEXT.replace("UNDEFINED_4", f"UNDEFINED_{number}"), "TGLLP").module
    assert module.kernels[0].inputs[1].kind == number << 3
    text = round_trip(module)
    line = next(line for line in text.splitlines() if line.startswith(".implicit"))
    assert line == f".implicit_UNDEFINED_{number} V33 offset=96 size=32" + (f" /// {name}" if name else "")


def test_an_address_model_without_a_word_is_no_other_model():
    text = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=uq num_elts=32 align=GRF
    lsc_load.ugm (M1, 16) V32:d32 flat[V32]:a64
    ret (M1, 1)
"""
    module = resolve_text(text, "DG2").module
    load, end = module.kernels[0].instructions
    values = [128 if f.name == "addrtype" else v for f, v in zip(load.row.fields, load.values, strict=True)]
    odd = replace(module.kernels[0], instructions=(replace(load, values=tuple(values)), end))
    printed = module_text(replace(module, kernels=(odd,)))
    assert "addrtype_128" in printed
    assert resolve_text(printed, "DG2").module is None


STRINGS = r"""
.kernel "k"
.decl V32 v_type=G type=uq num_elts=8
.kernel_attr OutputAsmPath="a\xbd\xc3\xa9é"
    FILE "a\xbdb"
    FILE "\xc3\xa9\303\251é\xbd"
    faddr "f\xff" V32(0,0)<1>
    ret (M1, 1)
"""


def test_an_escape_is_a_byte_and_any_byte_comes_back():
    data = encode(resolve_text(STRINGS).module)
    # The finalizer has the same bytes.
    for part in (b"a\xbd\xc3\xa9\xc3\xa9", b"\0a\xbdb\0", b"\0\xc3\xa9\xc3\xa9\xc3\xa9\xbd\0", b"\0f\xff\0"):
        assert part in data
    text = round_trip(decode(data))
    assert 'FILE "a\\xbdb"' in text
    assert text.isascii()


@pytest.mark.parametrize("strings", ["empty", "absent"])
def test_a_string_that_an_object_lacks_is_not_the_name_of_the_kernel(strings: str):
    module = resolve_text(STRINGS).module
    kernel = module.kernels[0]
    pool = list(kernel.strings)
    number = pool.index("f\udcff")
    assert number == len(pool) - 2
    if strings == "empty":
        pool[number], pool[-1] = "", "Target"
    else:
        pool[number:] = ["Target"]
        calls = [structs_with(inst, 90) for inst in kernel.instructions]
        kernel = replace(kernel, instructions=tuple(calls), attributes=(Attribute(number, 1, b"\1"),))
        number = 90
    odd = replace(module, kernels=(replace(kernel, strings=tuple(pool)),))
    text = module_text(odd)
    assert f"faddr F{number:04d} V32" in text
    again = resolve_text(text)
    assert again.module is not None, again.bound.problems
    assert module_text(again.module) == text


def structs_with(inst, number: int):
    """Return a ``faddr`` of another string; other instructions as they are."""
    if inst.row.mnemonic != "faddr":
        return inst
    return replace(inst, values=(number, *inst.values[1:]))


@pytest.mark.parametrize("name", ["SLMSize", "NBarrierCnt", "ArgSize"])
@pytest.mark.parametrize(("said", "number"), [("a", 97), ("ab", 25185), ("abcd", None)])
def test_a_number_that_was_a_text_keeps_its_bytes(name: str, said: str, number: int | None):
    module = resolve_text(TEXT.replace('OutputAsmPath="a \\"b\\" \\\\"', f'{name}="{said}"'), "TGLLP").module
    assert module.kernels[0].attribute(name).data == said.encode()
    text = round_trip(module)
    if number is None:
        assert f".kernel_attr {name}=1684234849" in text
    else:
        assert f'.kernel_attr {name}="{said}" /// {number}' in text
        assert f'.kernel_attr {name}="{said}"\n' in module_text(module, comments=False)


def test_a_finding_can_be_written_though_a_name_has_a_byte_that_is_no_text():
    text = '.version 4.1\n.kernel "x\\xbdy"\n    ret (M1, 1)\n.kernel "x\\xbdy"\n    ret (M1, 1)\n'
    messages = [d.message for d in Analysis.of(text).full_diagnostics]
    assert any("`x\ufffdy` is already the name" in message for message in messages)
    for message in messages:
        message.encode("utf-8")


HEAD = '.version 4.1\n.kernel "k"\n'


@pytest.mark.parametrize(
    "body",
    [
        '    FILE ""\n    FILE "k"\n    FILE "a"\n    ret (M1, 1)\n',
        '.decl V v_type=G type=uq num_elts=1\n    faddr "" V(0,0)<1>\n    ret (M1, 1)\n',
        "L:\n    {\n    .decl V v_type=G type=d num_elts=8 align=hword\n    }\n    ret (M1, 1)\n",
        (
            "L:\n    {\n    .decl P v_type=P num_elts=8\n    .decl A v_type=A num_elts=8\n    setp (M1, 8) P 0x1:ud\n    }\nM:\n"
            "    .decl V v_type=G type=d num_elts=8\n    lifetime.start V\n.kernel_attr SimdSize=8\n    ret (M1, 1)\n"
        ),
        ".kernel_attr SimdSize=8\n.decl V v_type=G type=d num_elts=8\n.input V offset=32 size=32\n    ret (M1, 1)\n",
        (
            '.kernel_attr SimdSize=8\n.decl V v_type=G type=d num_elts=8\n.kernel_attr AsmName="x"\n.decl W v_type=G type=d num_elts=8\n'
            ".input W offset=32 size=32\nL:\n    mov (M1, 8) V(0,0)<1> W(0,0)<1;1,0>\n    ret (M1, 1)\n"
        ),
    ],
)
def test_strings_are_named_in_the_order_of_the_text_that_made_the_object(body: str):
    module = resolve_text(HEAD + body).module
    assert module is not None
    data = encode(module)
    for comments in (True, False):
        again = resolve_text(module_text(decode(data), comments=comments)).module
        assert again is not None
        assert encode(again) == data


def test_a_pool_in_no_order_of_a_text_has_all_declarations_in_front():
    text = f"{HEAD}L:\n    .decl V v_type=G type=d num_elts=8\n    mov (M1, 8) V(0,0)<1> 0x0:d\nM:\n    ret (M1, 1)\n"
    module = resolve_text(text).module
    assert module is not None
    (kernel,) = module.kernels
    label, *others = kernel.instructions
    moved = replace(
        kernel, instructions=(others[0], label, *others[1:])
    )  # V is used before the label that stood before it
    printed = module_text(replace(module, kernels=(moved,)), comments=False)
    assert printed.index(".decl V") < printed.index("mov")
