"""Machine code that uses values of single lanes as its text does not."""

from dataclasses import replace

import pytest
from machine_fixtures import TEXTS, read_case
from test_machine_runs import edit, place_of, with_source

from visa_lsp.app.verify.line_faults import text_faults
from visa_lsp.app.verify.verify_launches import launches_of
from visa_lsp.eu.lane_owners import lane_faults
from visa_lsp.isa.operands import Region
from visa_lsp.isa.platforms import platform_named

TEXT = TEXTS["saxpy.TGLLP"].read_text(encoding="utf-8").replace('Target="cm"', 'Target="3d"')
DECLARATIONS = """.decl never v_type=G type=ud num_elts=16 align=GRF
.decl places v_type=A num_elts=16
.input local_id_x"""
TGLLP = platform_named("TGLLP")
OTHER_LANE = "the value of lane 16 in r5, where that of lane 0 is"
BROADCAST = "an element for each lane, because its source has values of single lanes"
MASK = "the mask, because its source has no values in lanes that are off"


def other_lanes(code):
    return edit(code, place_of(code, "shl"), offset=16)


def one_element(code):
    return edit(code, place_of(code, "shl"), **with_source(code, "shl", 0, region=Region(0, 1, 0)))


def one_local_id(code):
    place = place_of(code, "add", lanes=16)
    ids, base = code.instructions[place].sources
    return edit(code, place, sources=(replace(ids, region=Region(0, 1, 0)), base))


def without_mask(code):
    return edit(code, place_of(code, "shl"), no_mask=True)


def right(code):
    return code


def case_of(tmp_path, line="", target="3d"):
    """Return the kernel of the text with a further line, and its machine code, which ends with its last message."""
    path = tmp_path / "saxpy.visaasm"
    text = TEXT.replace('Target="3d"', f'Target="{target}"').replace(".input local_id_x", DECLARATIONS, 1)
    path.write_text(text.replace("    shl (M1, 16)", f"    {line}\n    shl (M1, 16)"), encoding="utf-8")
    (opened, *_) = launches_of(path, None, "TGLLP", "saxpy", path.read_bytes(), tries=False)
    code = read_case("saxpy.TGLLP")
    end = replace(code.instructions[-1], op="nop", sources=())
    return opened.ready().prepared.dispatch.kernel, edit(
        replace(code, instructions=(*code.instructions[:-1], end)), 14, options=frozenset({"EOT"})
    )


@pytest.mark.parametrize(
    ("plant", "needs"),
    [
        (right, []),
        (other_lanes, [OTHER_LANE]),
        (one_element, [BROADCAST]),
        (one_local_id, [BROADCAST]),
        (without_mask, [MASK]),
    ],
)
def test_values_of_single_lanes_stay_in_their_lanes(tmp_path, plant, needs):
    kernel, code = case_of(tmp_path)
    assert [what for _, what in lane_faults(kernel, plant(code), TGLLP)] == needs


@pytest.mark.parametrize(
    ("plant", "line"),
    [
        (other_lanes, "mov (M1, 8) index(0,0)<1> index(1,0)<1;1,0>"),
        (one_element, "mov (M1_NM, 1) group_base(0,0)<1> index(0,0)<0;1,0>"),
        (other_lanes, "mov (M1, 16) y_value(0,0)<1> never(0,0)<1;1,0>"),
        (other_lanes, "mov (M1, 16) y_value(0,0)<1> r[places(0),0]<1,0>:d"),
        (without_mask, "mov (M1_NM, 16) y_value(0,0)<1> index(0,0)<1;1,0>"),
    ],
)
def test_what_the_text_does_itself_is_not_reported(tmp_path, plant, line):
    kernel, code = case_of(tmp_path, line)
    assert not list(lane_faults(kernel, plant(code), TGLLP))


def test_an_instruction_is_reported_once(tmp_path):
    kernel, code = case_of(tmp_path)
    ((inst, needs),) = text_faults(kernel, without_mask(code), TGLLP)
    assert inst.op == "shl"
    assert needs != MASK  # that no such line is executed in lanes that are off comes first


def test_threads_of_c_for_metal_have_all_lanes(tmp_path):
    kernel, code = case_of(tmp_path, target="cm")
    assert not list(lane_faults(kernel, other_lanes(code), TGLLP))


def test_bytes_that_another_path_gives_to_the_lane_are_not_reported(tmp_path):
    """``goto`` over the ``shl`` leaves r7, which the store reads: nothing has an owner there on that path."""
    kernel, code = case_of(tmp_path)
    store = place_of(code, "send", index=14)
    target = code.instructions[place_of(code, "goto")].sources
    skipping = edit(code, place_of(code, "goto"), sources=tuple(replace(t, index=store) for t in target))
    moved = edit(skipping, place_of(code, "shl"), offset=16, **with_source(code, "shl", 0, region=Region(0, 1, 0)))
    assert [inst.op for inst, _ in lane_faults(kernel, moved, TGLLP)] == ["shl"]
