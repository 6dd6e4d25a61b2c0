"""Machine code run beside its text: equal where it is right, the first difference where it is not, hazards."""

from dataclasses import replace
from types import SimpleNamespace

import msgspec
import pytest
from machine_fixtures import EXAMPLES, TEXTS, read_case

from visa_lsp.app.verify.both_runs import MACHINE_STEPS, compare_with, run_text, verdict_of
from visa_lsp.app.verify.line_faults import line_faults
from visa_lsp.app.verify.verify_launches import launches_of
from visa_lsp.app.verify.verify_report import Answer, as_json, exit_status, text_lines
from visa_lsp.eu.decode import with_ranges
from visa_lsp.eu.machine_run import compile_op, unmodelled_in
from visa_lsp.eu.model import NO_WAIT, Direct, Guard, Layout, Register
from visa_lsp.eu.scoreboard import Scoreboard, unneeded_waits
from visa_lsp.eu.site import MachineFrame, MachineProgram, MachineSite
from visa_lsp.isa import types as ty
from visa_lsp.isa.operands import OperandModifier, Region
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.model import Immediate

CR0 = Layout(32).starts["cr"]


def verify_case(name, code=None, steps=MACHINE_STEPS):
    """Return the verdict about a fixture's text and machine code, or other code for it, and the scoreboard."""
    code = code or replace(read_case(name), has_inline_data=False)
    path, platform = TEXTS[name], platform_named(name.rpartition(".")[2])
    board = Scoreboard(code, platform)
    data = path.read_bytes()
    outcomes = [
        compare_with(run_text(opened), code, data.decode(), [board], steps)
        for opened in launches_of(path, None, platform.name, code.name, data, tries=False)
    ]
    return verdict_of(name, code.name, platform.name, outcomes, [], code, None), board


def edit(code, index, **fields):
    """Return code with other fields of one instruction."""
    instructions = list(code.instructions)
    instructions[index] = replace(instructions[index], **fields)
    return replace(code, instructions=tuple(instructions))


def place_of(code, op, **wanted):
    return next(
        i.index
        for i in code.instructions
        if i.op == op and all(getattr(i, key) == value for key, value in wanted.items())
    )


@pytest.mark.parametrize("name", ["saxpy.TGLLP", "average.DG2"])
def test_finalized_code_computes_what_its_text_says(name):
    verdict, board = verify_case(name)
    assert (verdict.answer, board.hazards()) == (Answer.EQUAL, ())
    assert verdict.threads > 1
    assert exit_status([verdict]) == 0


def test_the_miscompiled_bfn_is_found_by_the_generated_launches():
    verdict, _ = verify_case("bfnw.DG2")
    (row,) = as_json([verdict])
    assert (row["answer"], row["first"]["line"]) == ("different", 21)
    assert row["first"]["visa_value"] != row["first"]["gen_value"]
    assert "kernel: bfnw" in row["first"]["launch"]
    assert exit_status([verdict]) == 1
    assert any("first difference: " in line for line in text_lines([verdict]))


def saxpy():
    return replace(read_case("saxpy.TGLLP"), has_inline_data=False)


def saxpy_body(path):
    """Return the kernel of a text, as its first launch runs it."""
    (opened, *_) = launches_of(path, None, "TGLLP", "saxpy", path.read_bytes(), tries=False)
    return opened.ready().prepared.dispatch.kernel


def line_of(body, mnemonic):
    """Return the line of the first instruction with a mnemonic."""
    return next(inst.line for inst in body.instructions if inst.row.mnemonic == mnemonic)


def move_result(code):
    index = place_of(code, "mad")
    dst = code.instructions[index].dst
    return edit(code, index, dst=replace(dst, register=Register("r", dst.register.number + 2), start=dst.start + 64))


def invert_predicate(code):
    index = place_of(code, "goto")
    guard = code.instructions[index].guard
    return edit(code, index, guard=Guard(not guard.inverse, guard.combine))


def drop_mask(code):
    index = next(i.index for i in code.instructions if i.op == "send" and i.sources[1].registers == 2)
    return edit(code, index, no_mask=True)


@pytest.mark.parametrize("plant", [move_result, invert_predicate, drop_mask])
def test_a_planted_mistake_is_found(plant):
    verdict, _ = verify_case("saxpy.TGLLP", plant(saxpy()))
    assert Answer.DIFFERENT is verdict.answer


def with_source(code, op, index, **fields):
    sources = list(code.instructions[place_of(code, op)].sources)
    change = replace if isinstance(sources[index], Direct) else msgspec.structs.replace
    sources[index] = change(sources[index], **fields)
    return {"sources": tuple(sources)}


@pytest.mark.parametrize(
    ("op", "change", "needs"),
    [
        ("mad", {}, []),
        ("mad", {"no_mask": True}, ["the mask of its line, which is not executed in lanes that are off"]),
        ("mad", {"offset": 16}, ["lane 0 of the thread, which its line executes, but none of its instructions"]),
        ("mad", {"lanes": 8}, ["16 lanes, as its line has, not 8"]),
        (
            "mad",
            {"is_numbered": False, "line": -1, "no_mask": True},
            ["the mask, because no `mad` of the text is executed in lanes that are off"],
        ),
        ("cmp", {}, []),
        ("cmp", {"condition": "gt"}, []),
        ("cmp", {"condition": "le"}, ["`lt`, the relation of its line"]),
        (
            "cmp",
            {"is_numbered": False, "line": -1, "condition": "le"},
            ["another relation than `le`, which no comparison of the text has"],
        ),
        (
            "cmp",
            lambda code: with_source(code, "cmp", 1, region=Region(1, 1, 0)),
            ["one element for all lanes, as its line has"],
        ),
        ("shl", lambda code: with_source(code, "shl", 1, bits=3), ["0x2:ud, the immediate of its line"]),
    ],
)
def test_an_instruction_does_what_its_line_says(op, change, needs):
    body = saxpy_body(TEXTS["saxpy.TGLLP"])
    code = saxpy()
    fields = change(code) if callable(change) else change
    line = line_of(body, op)
    code = edit(code, place_of(code, op), **{"line": line, "is_numbered": True, **fields})
    assert needs == [what for _, what in line_faults(body, code)]


@pytest.mark.parametrize(
    ("fields", "needs"),
    [
        ({}, []),
        ({"no_mask": True}, ["the mask of its line, which is not executed in lanes that are off"]),
        ({"offset": 16}, ["lane 0 of the thread, which its line executes, but none of its instructions"]),
        ({"no_mask": True, "comment": "scratch block write"}, []),
        ({"line": -1, "is_numbered": False, "no_mask": True, "subop": "dc1"}, []),
        (
            {"line": -1, "is_numbered": False, "no_mask": True, "subop": "ugm"},
            ["the mask, because no message of the text is executed in lanes that are off"],
        ),
    ],
)
def test_a_message_has_the_lanes_of_its_line(fields, needs):
    body, code = saxpy_body(TEXTS["saxpy.TGLLP"]), saxpy()
    line = line_of(body, "gather4_scaled")
    code = edit(code, place_of(code, "send", no_mask=False), **{"line": line, "is_numbered": True, **fields})
    assert needs == [what for _, what in line_faults(body, code)]


@pytest.mark.parametrize(
    ("text", "fields", "faults"),
    [
        ("mov (M1, 16) offset(0,0)<1> 0x2:d", {"op": "mov", "sources": (Immediate(ty.F, 2),)}, 0),
        ("mov (M1, 16) offset(0,0)<1> 0x2:d", {"op": "mov", "sources": (Immediate(ty.F, 3),)}, 1),
        ("mov (M1, 16) x_value(0,0)<1> 0x2:d", {"op": "mov", "sources": (Immediate(ty.F, 0x40000000),)}, 0),
        ("(P1) sel (M1, 16) offset(0,0)<1> index(0,0)<1;1,0> 0x2:ud", {"op": "mov", "sources": (Immediate(ty.UD, 2),)}, 0),
        ("(P1) sel (M1, 16) offset(0,0)<1> index(0,0)<1;1,0> 0x2:ud", {"op": "mov", "sources": (Immediate(ty.UD, 3),)}, 1),
        ("shl (M1, 16) index(0,0)<1> index(0,0)<1;1,0> 0x2:ud\n    cmp.eq (M1, 16) P1 index(0,0)<1;1,0> 0x0:ud", {"condition": "eq"}, 0),
        ("shl (M1, 16) index(0,0)<1> index(0,0)<1;1,0> 0x2:ud\n    cmp.eq (M1, 16) P1 index(0,0)<1;1,0> 0x0:ud", {"condition": "ne"}, 1),
    ],
)  # fmt: skip
def test_a_copy_has_the_bits_and_a_joined_comparison_the_relation_of_the_text(tmp_path, text, fields, faults):
    path = tmp_path / "saxpy.visaasm"
    shift = "shl (M1, 16) offset(0,0)<1> index(0,0)<1;1,0> 0x2:ud"
    given = TEXTS["saxpy.TGLLP"].read_text(encoding="utf-8")
    assert shift in given
    path.write_text(given.replace(shift, text), encoding="utf-8")
    body, code = saxpy_body(path), saxpy()
    line = line_of(body, text.removeprefix("(P1) ").partition(" ")[0])
    code = edit(code, place_of(code, "shl"), **{"line": line, "is_numbered": True, **fields})
    assert len(list(line_faults(body, code))) == faults


@pytest.mark.parametrize(("op", "bits", "faults"), [("cmp", 5, 0), ("cmp", 7, 0), ("cmp", 6, 1), ("shl", 6, 0)])
def test_an_immediate_without_a_line_is_one_of_the_operation_or_of_a_copy(tmp_path, op, bits, faults):
    path = tmp_path / "saxpy.visaasm"
    given = TEXTS["saxpy.TGLLP"].read_text(encoding="utf-8")
    compare = "cmp.lt (M1, 16) P1 index(0,0)<1;1,0> n(0,0)<0;1,0>"
    assert compare in given
    further = "mov (M1, 16) index(0,0)<1> 0x7:ud\n    cmp.lt (M1, 16) P1 index(0,0)<1;1,0> 0x5:ud"
    path.write_text(given.replace(compare, f"{compare}\n    {further}"), encoding="utf-8")
    body, code = saxpy_body(path), saxpy()
    place = place_of(code, op)
    sources = (code.instructions[place].sources[0], Immediate(ty.UD, bits))
    assert len(list(line_faults(body, edit(code, place, sources=sources, line=-1, is_numbered=False)))) == faults


@pytest.mark.parametrize(("elements", "faults"), [(0xC080400, 0), (0xC840, 1)])
def test_elements_of_a_vector_immediate_lie_apart_as_words_do(tmp_path, elements, faults):
    path = tmp_path / "saxpy.visaasm"
    path.write_text(TEXTS["saxpy.TGLLP"].read_text(encoding="utf-8").replace("0x2:ud", "0xc840:uv"), encoding="utf-8")
    body = saxpy_body(path)
    line = line_of(body, "shl")
    code = saxpy()
    place = place_of(code, "shl")
    sources = (code.instructions[place].sources[0], Immediate(ty.UV, elements))
    code = edit(code, place, sources=sources, line=line, is_numbered=True)
    assert len(list(line_faults(body, code))) == faults


@pytest.mark.parametrize(("is_of_line", "faults"), [(True, 0), (False, 1)])
def test_a_copy_of_a_scalar_on_its_line_may_have_an_element_for_each_lane(is_of_line, faults):
    body = saxpy_body(TEXTS["saxpy.TGLLP"])
    line = line_of(body, "cmp")
    code = saxpy()
    place = place_of(code, "cmp")
    copied = with_source(code, "cmp", 1, region=Region(1, 1, 0))
    code = edit(code, place, line=line, is_numbered=True, **copied)
    copy = edit(code, place_of(code, "shl"), op="mov", line=line, is_numbered=is_of_line)
    assert len(list(line_faults(body, copy))) == faults


def test_a_line_with_a_part_of_a_line_nearby_is_left_out():
    body = saxpy_body(TEXTS["saxpy.TGLLP"])
    line = line_of(body, "shl")
    code = saxpy()
    place = place_of(code, "shl")
    other = {"line": line, "is_numbered": True, **with_source(code, "shl", 1, bits=5)}
    assert len(list(line_faults(body, edit(code, place, **other)))) == 1
    part = replace(code.instructions[place], line=line, is_numbered=True)
    assert not list(
        line_faults(
            body, replace(edit(code, place, **other), instructions=(*edit(code, place, **other).instructions, part))
        )
    )


def negate(code, *numbers):
    index = place_of(code, "mad")
    sources = list(code.instructions[index].sources)
    for number in numbers:
        sources[number] = replace(sources[number], modifier=OperandModifier.NEG)
    return edit(code, index, sources=tuple(sources))


def test_the_sign_of_a_nan_of_an_operation_is_open(tmp_path):
    text, launch = tmp_path / "saxpy.visaasm", tmp_path / "saxpy.launch.yaml"
    text.write_bytes(TEXTS["saxpy.TGLLP"].read_bytes())
    launch.write_text(
        "kernel: saxpy\nplatform: TGLLP\ngroups: [1, 1, 1]\nlocal_size: [16, 1, 1]\nargs:\n"
        "  x: {buffer: {dtype: float32, shape: [16], init: {repeat: [2.0, .nan, .inf]}}}\n"
        "  y: {buffer: {dtype: float32, shape: [16], init: {repeat: [1.0, -.inf]}}}\n  a: {value: 2.5}\n  n: {value: 16}\n",
        encoding="utf-8",
    )
    (opened,) = launches_of(text, None, "TGLLP", "saxpy", text.read_bytes(), tries=False)
    run, words = run_text(opened), text.read_text(encoding="utf-8")
    both = negate(saxpy(), 1, 2)  # the factors: the same product, but a NaN of the other sign
    assert compare_with(run, both, words).first is None
    assert run.with_one_nan is not None
    assert compare_with(run, negate(saxpy(), 1), words).first is not None


def stuck():
    return replace(read_case("stuck.TGLLP"), has_inline_data=False)


def test_a_barrier_that_cannot_complete_ends_both_runs():
    verdict, _ = verify_case("stuck.TGLLP")
    assert (verdict.answer, verdict.stuck) == (Answer.EQUAL, 1)
    assert any("it ends at a barrier that cannot complete" in line for line in text_lines([verdict]))


def skip(code, op, **wanted):
    return edit(code, place_of(code, op, **wanted), op="nop", subop="", sources=(), guard=None)


def store_behind_the_barrier(code):
    return edit(code, 10, guard=Guard(True, ""), flag=0)  # thread 0 stores nothing, as if it waited


@pytest.mark.parametrize(
    ("plant", "place"),
    [
        (lambda code: skip(code, "sync", subop="bar"), "element 0 of `y`"),
        (lambda code: skip(code, "goto"), "element 16 of `y`"),
        (
            lambda code: store_behind_the_barrier(skip(code, "sync", subop="bar")),
            "the text: the barrier can never complete",
        ),
    ],
)
def test_machine_code_that_passes_such_a_barrier_differs(plant, place):
    verdict, _ = verify_case("stuck.TGLLP", plant(stuck()))
    assert verdict.answer is Answer.DIFFERENT
    assert place in verdict.first.place


@pytest.mark.parametrize("bits", [0x7E000000, 0x7F002000])
def test_a_signal_of_another_barrier_or_with_a_count_is_a_difference(bits):
    index = place_of(stuck(), "and")
    sources = (stuck().instructions[index].sources[0], Immediate(ty.UD, bits))
    verdict, _ = verify_case("stuck.TGLLP", edit(stuck(), index, sources=sources))
    assert "a signal of the group's barrier has" in f"{verdict.first.place} {verdict.first.gen}"


def test_a_register_that_nothing_has_written_shows():
    code = saxpy()
    mad = code.instructions[place_of(code, "mad")]
    moved = replace(mad.sources[1], start=60 * code.grf_bytes)
    verdict, _ = verify_case("saxpy.TGLLP", edit(code, mad.index, sources=(mad.sources[0], moved, mad.sources[2])))
    assert Answer.DIFFERENT is verdict.answer


def test_a_load_that_the_text_lacks_is_a_difference():
    code = saxpy()
    load = next(i for i in code.instructions if i.is_message and not i.no_mask and i.dst.start >= 0)
    verdict, _ = verify_case("saxpy.TGLLP", edit(code, load.index, no_mask=True))
    assert Answer.DIFFERENT is verdict.answer
    assert "which the text does not load" in verdict.first.place


def test_a_lost_wait_is_a_hazard_that_names_both_instructions():
    code = saxpy()
    index = next(i.index for i in code.instructions if i.wait.use == "dst" and i.op != "sync")
    verdict, board = verify_case("saxpy.TGLLP", edit(code, index, wait=NO_WAIT))
    hazard, *_ = board.hazards()
    assert index == hazard.inst.index
    assert hazard.behind.is_message
    assert ".dst before it reads" in hazard.needs
    assert Answer.EQUAL is verdict.answer


@pytest.mark.parametrize(("lanes", "hazards"), [(0xF0, 0), (0xFF, 1)])
def test_two_sides_of_a_branch_do_not_meet(lanes, hazards):
    code = saxpy()
    load = next(i for i in code.instructions if i.is_message and i.dst.start >= 0)
    reader = next(i for i in code.instructions if i.wait.use == "dst" and i.wait.token == load.wait.token)
    board = Scoreboard(code, platform_named("TGLLP"))
    frame = SimpleNamespace(
        emask=0x0F, word=lambda _at: 2 << 25 | 2 << 20, code=SimpleNamespace(layout=SimpleNamespace(grf_bytes=32))
    )
    thread = SimpleNamespace(frame=frame)
    board.before(thread, load)
    frame.emask = lanes
    board.before(thread, replace(reader, wait=NO_WAIT))
    assert hazards == len(board.hazards())


def test_generated_launches_end_inside_a_thread_and_hold_special_values():
    path, text = TEXTS["bfnw.DG2"], TEXTS["bfnw.DG2"].read_bytes()
    (in_cm, launches) = (
        list(launches_of(path, None, "DG2", "bfnw", text.replace(b'"cm"', target), tries=False))
        for target in (b'"cm"', b'"3d"')
    )
    assert {opened.launch.config.local_size[0] for opened in in_cm} == {16}
    assert {opened.launch.config.local_size[0] for opened in launches} == {1, 13, 16, 29}
    assert any("repeat: [" in opened.proposed.proposal.written.text for opened in launches)
    (apart,) = (opened.launch.config.memory for opened in launches if opened.launch.config.memory)
    assert len({region.address >> 32 for region in apart}) == len(apart) > 1


def test_waits_that_nothing_needs_are_listed():
    code = saxpy()
    index = place_of(code, "shl")
    wait = replace(code.instructions[index].wait, distances=(("", 7),))
    _, board = verify_case("saxpy.TGLLP", edit(code, index, wait=wait))
    assert index in {inst.index for inst in unneeded_waits(board)} or index in board.needed_waits


def test_what_is_not_modelled_is_named_with_its_count():
    code = saxpy()
    for index in (place_of(code, "shl"), place_of(code, "mad")):
        code = edit(code, index, op="sad2", subop="")
    verdict, _ = verify_case("saxpy.TGLLP", code)
    assert unmodelled_in(code) == {"sad2": 2}
    assert (verdict.answer, verdict.unmodelled) == (Answer.UNMODELLED, (("sad2", 2),))
    assert exit_status([verdict]) == 3


def test_modes_that_are_not_modelled_are_named():
    code = saxpy()
    control = replace(code.instructions[place_of(code, "shl")].dst, register=Register("cr", 0), start=CR0, type=ty.UD)
    modes = {"op": "mov", "lanes": 1, "no_mask": True, "dst": control, "sources": (Immediate(ty.UD, 0x4C1),)}
    verdict, _ = verify_case("saxpy.TGLLP", edit(code, place_of(code, "shl"), **modes))
    assert (verdict.answer, verdict.unmodelled) == (Answer.UNMODELLED, (("cr0 with bits 0x1", 1),))


def test_an_endless_kernel_ends_by_its_budget():
    code = saxpy()
    index = place_of(code, "goto")
    target = replace(code.instructions[index].sources[0], index=1)
    code = edit(code, index, op="jmpi", subop="", guard=None, sources=(target,))
    verdict, _ = verify_case("saxpy.TGLLP", code, (2, 500))
    assert Answer.DIFFERENT is verdict.answer
    assert "may never end" in verdict.first.gen


def test_operands_behind_the_last_register_are_reported():
    code = saxpy()
    index = place_of(code, "mad")
    dst = code.instructions[index].dst
    assert isinstance(dst, Direct)
    verdict, _ = verify_case("saxpy.TGLLP", edit(code, index, dst=replace(dst, start=1 << 20)))
    assert verdict.answer is not Answer.EQUAL
    assert EXAMPLES.is_dir()


def run_alone(inst, values):
    """Return the registers after one instruction that runs with some bytes in registers."""
    code = saxpy()
    inst = with_ranges(inst, code.grf_bytes)
    program = MachineProgram(edit(code, inst.index, sources=inst.sources), compile_op)
    frame = MachineFrame(program)
    for place, value in values.items():
        frame.put(place, value)
    frame.emask = (1 << inst.lanes) - 1
    with program.let_grow():
        op = compile_op(MachineSite(program, inst, inst.index))
    op(frame)
    return frame.regs


def general(number, type_, region):
    return Direct(Register("r", number), type_, region, 32 * number)


@pytest.mark.parametrize(("value", "shifted"), [(ty.UD, 0x3_FFFF_FFF8), (ty.D, -8)])
def test_a_shift_into_a_qword_extends_the_value_by_its_own_type(value, shifted):
    code, r6, r8 = saxpy(), general(6, value, Region(0, 1, 0)), general(8, ty.Q, Region(0, 1, 0))
    shl = code.instructions[place_of(code, "shl")]
    inst = replace(shl, dst=r8, sources=(r6, Immediate(ty.W, 2)), lanes=1, no_mask=True, guard=None)
    regs = run_alone(inst, {r6.start: 0xFFFFFFFE})
    assert int.from_bytes(regs[r8.start : r8.start + 8].tobytes(), "little", signed=True) == shifted


@pytest.mark.parametrize(("type_", "lanes"), [(ty.UW, [0, 0, 4, 0]), (ty.UD, [0, 4, 8, 12])])
def test_elements_of_a_vector_immediate_belong_to_the_words_of_the_destination(type_, lanes):
    code, r8 = saxpy(), general(8, type_, Region(None, None, 1))
    shl = code.instructions[place_of(code, "shl")]
    inst = replace(shl, op="mov", dst=r8, sources=(Immediate(ty.UV, 0xC080400),), lanes=4, no_mask=True, guard=None)
    regs = run_alone(inst, {})
    assert regs[r8.start : r8.start + 4 * type_.size].view(f"<u{type_.size}").tolist() == lanes


def test_a_copy_to_nowhere_waits_for_nothing():
    code = saxpy()
    shl = code.instructions[place_of(code, "shl")]
    null = Direct(Register("null", 0), ty.UD, Region(None, None, 1), -1)
    copy = replace(shl, op="mov", dst=null, sources=(general(6, ty.UD, Region(0, 1, 0)),), lanes=1, condition="")
    assert with_ranges(copy, code.grf_bytes).reads == ()
    assert with_ranges(replace(copy, condition="ne"), code.grf_bytes).reads != ()


def test_a_copy_into_the_accumulator_begins_a_product():
    code, r6, r8 = saxpy(), general(6, ty.D, Region(0, 1, 0)), general(8, ty.D, Region(0, 1, 0))
    shl = code.instructions[place_of(code, "shl")]
    acc = Layout(32).starts["acc"]
    mach = replace(
        shl,
        op="mach",
        dst=r8,
        sources=(r6, Immediate(ty.D, 0x20000)),
        lanes=1,
        no_mask=True,
        guard=None,
        options=("AccWrEn",),
    )
    regs = run_alone(mach, {r6.start: 0x40000000, acc: 0xFFFFFFFF})
    # Upper half of 0x40000000 * 0x20000 and of the -1 that the accumulator holds.
    assert int.from_bytes(regs[r8.start : r8.start + 4].tobytes(), "little", signed=True) == 0x8000 - 1
