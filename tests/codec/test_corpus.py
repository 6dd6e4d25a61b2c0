"""Real objects: decoding and encoding again gives the same bytes."""

from __future__ import annotations

import pytest
from codec_builders import read, write
from corpus import at_least, files, forms, reference_texts

from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode, instruction_offsets
from visa_lsp.codec.errors import CodecError
from visa_lsp.codec.object_reader import summary
from visa_lsp.program.model import AddressOf

OBJECTS = [path.with_suffix(".isa") for path in reference_texts()]


@pytest.mark.corpus
def test_every_object_survives() -> None:
    instructions = 0
    for path in OBJECTS:
        data = path.read_bytes()
        module = decode(data)
        assert data == encode(module), path
        found = summary(data)
        for body, outline in zip(module.bodies, (*found.kernels, *found.functions), strict=True):
            offsets = instruction_offsets(body)
            assert len(offsets) == len(body.instructions)
            last = len(write(body.instructions[-1])) if offsets else 0
            assert outline.code_size == (offsets[-1] + last if offsets else 0), path
            instructions += len(offsets)
    print(f"{len(OBJECTS)} objects, {instructions} instructions")
    assert len(OBJECTS) >= at_least(80, 384)


@pytest.mark.corpus
def test_truncated_objects_of_the_stock_tool_are_refused() -> None:
    found = files("dev/stock/*.isa")
    assert found
    for path in found:
        data = path.read_bytes()
        assert summary(data).kernels or summary(data).functions
        with pytest.raises(CodecError, match=r"\.instructions\["):
            decode(data)


@pytest.mark.corpus
def test_every_form_survives_and_has_its_mnemonic() -> None:
    pairs = {(form.text, form.code) for form in forms() if form.code}
    assert len(pairs) > 100
    for text, code in pairs:
        (found,) = read(code)
        assert code == write(found), text
        assert found.row.mnemonic.lower().split(".")[0] in text.lower(), text


@pytest.mark.corpus
def test_addresses_of_variables_stand_where_the_text_has_them() -> None:
    for path in OBJECTS:
        text = path.with_suffix(".visaasm").read_text(encoding="utf-8")
        wanted = sum(
            line.split("//")[0].count("&") for line in text.splitlines() if line.lstrip().startswith("addr_add")
        )
        found = sum(
            isinstance(v, AddressOf)
            for body in decode(path.read_bytes()).bodies
            for i in body.instructions
            for v in i.values
        )
        assert wanted == found, path
