"""Real objects of versions 3.x: decoded whole, printed, assembled again, re-encoded to the same instruction bytes.

They are public as byte arrays in ``Intel-Media-SDK/MediaSDK`` and ``intel/media-driver`` and are not committed: set
``VISA_LSP_OLD_OBJECTS`` to a folder of ``.isa`` files. Ten that decode whole are ``cm_gpuinit_kernel_g11lp`` (3.5),
``genx_scd_gen9_isa``, ``genx_mc_gen12lp_isa``, ``genx_me_gen8_isa``, ``genx_sd_gen11_isa``, ``genx_histogram_gen11_isa``,
``genx_simple_me_gen9_isa``, ``Gen12_HEVC_BRC_UPDATE``, ``Gen12LP_hme_genx`` and ``igvpkrn_isa_g11_icllp`` (3.6). Objects of
version 3.2 decode, print and assemble too, but have narrower numbers in their records; some hold Gen code only.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from corpus import codes_of

from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.isa.model import FieldKind
from visa_lsp.program.text_form import module_text
from visa_lsp.sema.lower import resolve_text

FOLDER = os.environ.get("VISA_LSP_OLD_OBJECTS")
pytestmark = pytest.mark.skipif(
    not FOLDER or not Path(FOLDER).is_dir(),
    reason="VISA_LSP_OLD_OBJECTS does not name a folder of objects of versions 3.x",
)
# Before these versions a record holds the field in another width or not at all (docs/format.md, "Older versions"): no bytes to compare.
WIDTHS_CHANGED = (3, 4)
_NUMBERS = (FieldKind.LABEL, FieldKind.LABELS, FieldKind.STRING16, FieldKind.STRING32)


def objects() -> list[Path]:
    return sorted(Path(FOLDER).glob("*.isa")) if FOLDER else []


def label_places(kernel) -> dict[int, int]:
    """Label numbers, and where their records stand."""
    return {i.values[0]: at for at, i in enumerate(kernel.instructions) if i.row.opens_label}


def meaning(kernel, inst, places: dict[int, int]) -> tuple:
    """Return an instruction with labels by place and strings by name, because their numbers follow the order of the text."""
    values = []
    for field, value in zip(inst.row.fields, inst.values, strict=True):
        if field.name == "mod_byte":
            continue  # `.mod` is a byte that today's assembler always writes as zero
        if field.kind is FieldKind.LABEL:
            values.append(places.get(value))
        elif field.kind is FieldKind.LABELS:
            values.append(tuple(places.get(v) for v in value))
        elif field.kind in _NUMBERS:
            values.append(kernel.string(value))
        else:
            values.append(value)
    return (inst.row.key, *values)


@pytest.mark.parametrize("path", objects(), ids=lambda p: p.stem)
def test_an_old_object_survives(path: Path):
    data = path.read_bytes()
    module = decode(data)
    assert module.version[0] == 3
    again = encode(module)
    assert [k.instructions for k in decode(again).bodies] == [k.instructions for k in module.bodies]
    equal = [a == b for a, b in zip(codes_of(data), codes_of(again), strict=True)]
    result = resolve_text(module_text(module), "SKL")
    assert result.module is not None, result.bound.problems[:3]
    before = {id(k): label_places(k) for k in (*module.bodies, *result.module.bodies)}
    differ = [
        (x, y)
        for old, new in zip(module.bodies, result.module.bodies, strict=True)
        for a, b in zip(old.instructions, new.instructions, strict=True)
        if (x := meaning(old, a, before[id(old)])) != (y := meaning(new, b, before[id(new)]))
    ]
    count = sum(len(k.instructions) for k in module.bodies)
    version = ".".join(map(str, module.version))
    binaries = sum(len(b.data) for k in module.bodies for b in k.gen_binaries)
    print(
        f"\n{path.stem}: {version}, {len(equal)} bodies, {count} instructions, {binaries} bytes of Gen code, {sum(equal)} bodies with equal bytes"
    )
    assert not differ
    assert all(equal) or module.version < WIDTHS_CHANGED
    assert len(data) >= binaries


def test_there_are_ten_with_equal_bytes():
    equal = [
        p.stem
        for p in objects()
        if any(codes_of(p.read_bytes())) and codes_of(p.read_bytes()) == codes_of(encode(decode(p.read_bytes())))
    ]
    print(f"\n{len(equal)} of {len(objects())} objects have the same instruction bytes: {', '.join(equal)}")
    assert len(equal) >= 10
