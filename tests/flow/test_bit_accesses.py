from pathlib import Path

from each_case import each_of

from tests.sim.case_files import CASES
from tests.support.flows import HEAD, body_of, kernel_of
from visa_lsp.checks.support.body_flow import steps_of_body, storage_of_body
from visa_lsp.flow.bit_accesses import accesses_of, touches_indirectly
from visa_lsp.flow.program_steps import steps_of
from visa_lsp.flow.steps import Access, AccessPurpose, Space, number_of, space_of, variable_key
from visa_lsp.flow.storage import MAX_VARIABLE_BITS, place, storage_of
from visa_lsp.flow.usage import usage_of
from visa_lsp.program.model import Kernel
from visa_lsp.sema.bind import bind
from visa_lsp.sema.lower import lower
from visa_lsp.sim.interp import Code
from visa_lsp.syntax.document import Document

PATHS = sorted(CASES.glob("*.visaasm"))


def accesses(line: str) -> list[Access]:
    kernel = kernel_of(f"    {line}\n    ret (M1, 1)\n")
    return list(accesses_of(kernel.instructions[0], storage_of(kernel, 32)))


def told(line: str) -> list[str]:
    """Each access in words: field, class and number, whether it writes, its bits, what for."""
    return [
        f"{a.field} {space_of(a.variable).name[0]}{number_of(a.variable)} {'writes' if a.writes else 'reads'}"
        f" {a.possible:x}{'' if a.certain else ' at most'}{'' if a.purpose is AccessPurpose.VALUE else ' ' + a.purpose.name}"
        for a in accesses(line)
    ]


def test_regions_give_bytes():
    assert told("add (M1, 4) A(0,1)<2> B(0,0)<0;1,0> C(0,0)<4;2,1>") == [
        "dst G32 writes f0f0f0f0",
        "src0 G33 reads f",
        "src1 G34 reads ff00ff",
    ]


def test_an_alias_is_told_as_its_root():
    assert told("mov (M1, 2) H(0,0)<1> B(0,0)<1;1,0>")[0] == f"dst G32 writes {15 << 32:x}"


def test_predicates_guard_choose_and_are_written():
    assert told("(P1) mov (M5, 4) A(0,0)<1> B(0,0)<1;1,0>")[0] == "pred P1 reads f0000 at most GUARD"
    assert told("(P1) sel (M1, 4) A(0,0)<1> B(0,0)<1;1,0> C(0,0)<1;1,0>")[0] == "pred P1 reads f at most"
    assert told("cmp.lt (M1, 4) P1 A(0,0)<1;1,0> B(0,0)<1;1,0>")[0] == "dst P1 writes f"


def test_the_predicate_that_receives_the_overflow_is_written():
    kernel = lower(
        bind(
            Document.parse(
                f"{HEAD}    (P1) add3.o (M1, 8) A(0,0)<1> A(0,0)<1;1,0> B(0,0)<1;1,0> C(0,0)<1;1,0>\n    ret (M1, 1)\n"
            )
        )
    )
    assert kernel is not None
    inst = kernel.kernels[0].instructions[0]
    [found] = [a for a in accesses_of(inst, storage_of(kernel.kernels[0], 32)) if a.field == "pred"]
    assert found.writes


def test_addresses_say_which_register_is_meant():
    assert told("mov (M1, 8) A(0,0)<1> r[D1(1),0]<1;1,0>:d")[1] == "src0 A0 reads 2 at most ADDRESSES"
    assert told("addr_add (M1, 2) D1(1)<2> &A 0x0:w") == [
        "dst A0 writes 6",
        f"src0 G32 reads {(1 << 64) - 1:x} at most TAKEN",
    ]


def test_an_indirect_operand_touches_what_nobody_knows():
    kernel = kernel_of(
        "    mov (M1, 8) r[D1(0),0]<1>:d A(0,0)<1;1,0>\n    mov (M1, 8) A(0,0)<1> r[D1(0),0]<1;1,0>:d\n    ret (M1, 1)\n"
    )
    assert [touches_indirectly(i) for i in kernel.instructions] == [(False, True), (True, False), (False, False)]
    table = kernel_of("    switchjmp (M1, 1) A(0,0)<0;1,0> (l)\nl:\n    ret (M1, 1)\n")
    assert touches_indirectly(table.instructions[0]) == (False, False)


def test_a_message_moves_the_bytes_of_its_value():
    kernel = kernel_of("    svm_block_ld (1) A(0,0)<0;1,0> B.32\n    ret (M1, 1)\n")
    storage, inst = storage_of(kernel, 32), kernel.instructions[0]
    [loaded] = [a for a in accesses_of(inst, storage) if a.writes]
    assert loaded.possible == loaded.certain == 0xFFFF << 32


def test_what_leaves_the_variable_is_not_there():
    assert told("mov (M1, 16) A(1,0)<1> B(0,0)<0;1,0>")[0] == f"dst G32 writes {((1 << 32) - 1) << 32:x}"


def test_numbers_of_any_size_take_no_room():
    body = body_of(
        "    mov (M1, 16) A(999999999,0)<1> D1(999999999)<1>\n    mov (M1, 8) r[D1(99999999),0]<1>:d B.999999999\n    ret (M1, 1)\n"
    )
    assert all(a.possible.bit_length() <= MAX_VARIABLE_BITS for step in steps_of_body(body) for a in step.accesses)
    huge = place({32: (1 << 40, 4)}, {33: (32, 1 << 50)}, 32)
    assert huge.room[32] == MAX_VARIABLE_BITS


def test_aliases_in_a_circle_end():
    storage = place({32: (64, 4), 33: (64, 4), 34: (64, 4)}, {32: (33, 0), 33: (32, 4), 34: (33, 8)}, 32)
    assert storage.root(34) in (32, 33)
    assert storage.root(99) == 99


def test_a_long_chain_of_aliases():
    count = 20_000
    storage = place(dict.fromkeys(range(32, 32 + count), (4, 4)), {n: (n - 1, 1) for n in range(33, 32 + count)}, 32)
    assert storage.general[31 + count].root == 32
    assert storage.general[31 + count].offset == count - 1


def test_lines_without_a_meaning_touch_the_names_in_them():
    body = body_of("    mov (M1, 16) A(0,0)<1> B(0,0)<9;9,9> 0x1\n    ret (M1, 1)\n")
    assert body.code[0].inst is None
    found = usage_of(steps_of_body(body))
    keys = {s.name: s.id << 3 | Space.GENERAL for s in body.symbols}
    assert (found[keys["A"]].written, found[keys["A"]].read) == (True, False)
    assert (found[keys["B"]].written, found[keys["B"]].read) == (False, True)


def kernels(path: Path) -> list[Kernel]:
    bound = bind(Document.parse(path.read_text(encoding="utf-8")))
    module = lower(bound)
    return [] if module is None else [*module.bodies]


def test_cases_are_there():
    assert sum(len(kernels(path)) for path in PATHS) > 40


@each_of(PATHS, lambda path: path.stem)
def test_text_and_program_give_the_same_accesses(path):
    bound = bind(Document.parse(path.read_text(encoding="utf-8")))
    module = lower(bound)
    assert module is not None
    by_name = {body.name: body for body in bound.bodies}
    for kernel in module.bodies:
        body = by_name[kernel.name]
        storage = storage_of_body(body)
        assert storage == storage_of(kernel, body.platform.grf_bytes)
        from_text = [(s.flow, s.condition, s.accesses) for s in steps_of_body(body) if s.line >= 0]
        assert from_text == [(s.flow, s.condition, s.accesses) for s in steps_of(kernel, storage)]


@each_of(PATHS, lambda path: path.stem)
def test_accesses_cover_what_the_simulator_touches(path):
    for kernel in kernels(path):
        code = Code(kernel, 32)
        for number, inst in enumerate(kernel.instructions):
            touched = {True: 0, False: 0}
            for touch in code.touches.get(number, ()):
                if touch.indirect is None and touch.var > 0:
                    low = code.layout.offset(touch.var)
                    room = (1 << code.layout.byte_size(touch.var)) - 1 << low
                    for place_ in touch.places.reshape(-1).tolist():
                        touched[touch.write] |= 1 << place_ & room
            possible, certain = {True: 0, False: 0}, 0
            for access in accesses_of(inst, code.storage):
                if space_of(access.variable) is Space.GENERAL and number_of(access.variable) > 31:
                    at = code.layout.offset(number_of(access.variable))
                    possible[access.writes] |= access.possible << at
                    certain |= access.certain << at if access.writes else 0
            declared = -1 << code.layout.predefined_end
            for writes in (True, False):
                assert touched[writes] & declared & ~possible[writes] == 0
            assert number not in code.touches or certain & ~touched[True] == 0


def test_keys_tell_classes_apart():
    keys = {variable_key(space, number) for space in Space for number in range(50)}
    assert len(keys) == 250
    assert {(space_of(k), number_of(k)) for k in keys} == {(s, n) for s in Space for n in range(50)}


def test_a_number_made_of_a_predicate_reads_all_of_its_lanes_and_logic_on_predicates_reads_its_own():
    number = accesses("mov (M1_NM, 1) A(0,0)<1> P1")
    logic = accesses("and (M5, 16) P1 P1 P1")
    assert [a.possible for a in number if not a.writes] == [0xFFFFFFFF]
    assert [a.possible for a in logic if not a.writes] == [0xFFFF0000, 0xFFFF0000]
