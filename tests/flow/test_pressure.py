"""What a body takes of the register files: rows by hand for small bodies, invariants for random ones."""

from itertools import pairwise
from random import Random

from each_case import each_of

from tests.support.flows import VARIABLES, kernel_of, random_steps
from visa_lsp.flow.graph import graph_of
from visa_lsp.flow.pressure import Pressure, Size
from visa_lsp.flow.register_use import RegisterUse, registers_of

GRF = 32
SET_A = "    mov (M1, 16) A(0,0)<1> 0x1:d\n"
SET_B = "    mov (M1, 16) B(0,0)<1> 0x1:d\n"
END = "    ret (M1, 1)\n"
R0 = 1  # lives as long as a kernel


def registers(code: str) -> RegisterUse:
    return registers_of(kernel_of(code), GRF)


def rows(code: str) -> list[int]:
    """GRF rows behind each instruction, without `%r0`."""
    return [found - R0 for found in registers(code).grf_rows]


def names(registers_: RegisterUse, step: int) -> list[str]:
    return [registers_.kernel.variable_name(key >> 3) for key in registers_.general.live(step)]


def test_a_variable_takes_whole_rows_from_its_first_write_to_its_last_read():
    use = "    add (M1, 16) C(0,0)<1> A(0,0)<1;1,0> B(0,0)<1;1,0>\n"
    store = "    mov (M1, 16) A(0,0)<1> C(0,0)<1;1,0>\n"
    assert rows(SET_A + SET_B + use + store + END) == [2, 4, 2, 0, 0]


def test_a_small_variable_takes_its_bytes_and_twice_as_many_where_it_must_lie_evenly():
    decl = "".join(
        f".decl S{n}x v_type=G type=d num_elts=1 align={align}\n" for n, align in enumerate(("dword", "GRF"))
    )
    code = "    mov (M1_NM, 1) S0x(0,0)<1> 0x1:d\n    mov (M1_NM, 1) S1x(0,0)<1> S0x(0,0)<0;1,0>\n"
    code += "    mov (M1_NM, 1) A(0,0)<1> S1x(0,0)<0;1,0>\n"
    assert registers(decl + code + END).general.at == [4, 8, 8, 0], "a part of A is written while its source is there"


def test_an_input_lives_from_the_start():
    code = ".input A offset=32 size=64\n" + SET_B + "    mov (M1, 16) B(0,0)<1> A(0,0)<1;1,0>\n" + END
    assert rows(code) == [2, 0, 0]


def test_a_partial_write_happens_while_its_sources_are_there():
    halves = "    mov (M1, 8) B(0,0)<1> A(0,0)<1;1,0>\n    mov (M1, 8) B(1,0)<1> A(1,0)<1;1,0>\n"
    last = "    mov (M1, 16) C(0,0)<1> B(0,0)<1;1,0>\n"
    whole = "    mov (M1, 16) B(0,0)<1> A(0,0)<1;1,0>\n"
    assert rows(SET_A + halves + last + END) == [2, 4, 2, 0, 0]
    assert rows(SET_A + whole + last + END) == [2, 2, 0, 0]


def test_a_variable_of_one_block_begins_at_its_first_write_whatever_that_leaves_out():
    half, read = "    mov (M1, 8) A(0,0)<1> 0x1:d\n", "    mov (M1, 8) B(0,0)<1> A(0,0)<1;1,0>\n"
    assert rows(half + half + read + END) == [0, 2, 2, 0], "the first of two equal writes is for nothing"
    branch = f"{SET_A}    (P1) goto (M1, 16) out\n{half}out:\n{read}{END}"
    assert rows(branch) == [2, 2, 2, 2, 2, 0], "what it held before may be needed where it is used in several blocks"


def test_a_guarded_write_keeps_what_was_there():
    read = "    mov (M1, 16) B(0,0)<1> A(0,0)<1;1,0>\n"
    assert rows(f"{SET_A}    (P1) goto (M1, 16) out\n(P1) {SET_A.strip()}\nout:\n{read}{END}") == [2, 2, 2, 2, 0, 0]


def test_a_masked_write_where_lanes_wait_ends_nothing_but_in_programs_for_3d():
    read = "    mov (M1, 16) B(0,0)<1> A(0,0)<1;1,0>\n"
    code = f"{SET_A}{read}    (P1) goto (M1, 16) out\n{SET_A}{read}out:\n{END}"
    for target, kept in (("3d", []), ("cm", ["A", "B"])):
        assert names(registers(f'.kernel_attr Target="{target}"\n{code}'), 1) == kept


def test_a_loop_keeps_alive_what_its_next_round_reads():
    use = "    add (M1, 16) B(0,0)<1> A(0,0)<1;1,0> 0x1:d\n"
    found = registers(f"{SET_A}again:\n{use}    (P1) goto (M1, 16) again\n{END}")
    assert [rows_ - R0 for rows_ in found.grf_rows] == [2, 2, 2, 2, 0]
    assert [found.depth(step) for step in range(5)] == [0, 1, 1, 1, 0]


def test_only_writes_that_can_reach_count():
    read = "    mov (M1, 16) B(0,0)<1> A(0,0)<1;1,0>\n"
    never = rows(f"    (P1) goto (M1, 16) out\nout:\n{read}{END}")
    assert never == [0, 2, 0, 0], (
        "what is read counts from the beginning of its block, and no way leads there with a value"
    )


def test_what_a_subroutine_reads_lives_through_its_call():
    read = "    mov (M1, 16) B(0,0)<1> A(0,0)<1;1,0>\n"
    code = f"{SET_A}{SET_B}    call (M1, 1) sub\n{END}sub:\n{read}{END}"
    found = registers(code.replace("sub:\n", '.function "sub"\nsub:\n') if ".function" in code else code)
    assert [r - R0 for r in found.grf_rows][:3] == [2, 2, 2]


def test_an_indirect_read_needs_only_what_its_address_may_be_of():
    code = (
        ".decl D2 v_type=A num_elts=1\n"
        f"{SET_A}{SET_B}"
        "    addr_add (M1_NM, 1) D1(0)<1> &A 0x0:uw\n"
        "    addr_add (M1_NM, 1) D2(0)<1> &B 0x0:uw\n"
        "    mov (M1, 1) C(0,0)<1> r[D1(0),0]<0;1,0>:d\n"
        "    mov (M1, 1) C(0,1)<1> r[D2(0),0]<0;1,0>:d\n" + END
    )
    assert rows(code) == [2, 4, 4, 4, 4, 2, 0], "C is written in parts, while what is read is still there"
    assert registers(code).addresses.at == [0, 0, 4, 5, 1, 0, 0], "D1 has four elements"


def test_predicates_take_flags_of_sixteen_bits():
    code = (
        ".decl P2 v_type=P num_elts=32\n"
        "    cmp.lt (M1, 16) P1 A(0,0)<1;1,0> 0x1:d\n"
        "    setp (M1_NM, 32) P2 0x0:ud\n"
        "    (P2) goto (M1, 32) out\n"
        "    (P1) goto (M1, 16) out\nout:\n" + END
    )
    assert registers(code).flags.at == [1, 3, 1, 0, 0, 0]


def test_the_peak_names_its_variables_and_their_ranges():
    use = "    add (M1, 16) C(0,0)<1> A(0,0)<1;1,0> B(0,0)<1;1,0>\n"
    found = registers(SET_A + SET_B + use + END)
    peak = found.general.peak
    assert (peak, names(found, peak)) == (1, ["A", "B"])
    assert list(found.general.ranges(found.general.live(peak)).values()) == [[(0, 1)], [(1, 1)]]


def test_a_kernel_keeps_r0_and_a_function_does_not():
    kernel = kernel_of(SET_A + END)
    assert registers_of(kernel, GRF).grf_rows == [1, 1]
    function = type(kernel)(False, kernel.strings, kernel.variables, instructions=kernel.instructions)
    assert registers_of(function, GRF).grf_rows == [0, 0]


def test_a_body_without_instructions_has_no_peak():
    kernel = kernel_of("")
    found = registers_of(kernel, GRF)
    assert (found.grf_rows, found.general.peak) == ([], -1)


@each_of(range(60))
def test_sums_are_those_of_the_variables_that_are_told(seed: int):
    steps = random_steps(Random(seed), 30, calls=seed % 2 == 0)
    graph = graph_of(steps, calls_end_blocks=True)
    sizes = {variable: Size(0b1111, 10**number) for number, variable in enumerate(VARIABLES)}
    pressure = Pressure(graph, sizes, frozenset(VARIABLES[:1]))
    ranges = pressure.ranges(VARIABLES)
    for step, found in enumerate(pressure.at):
        live = pressure.live(step)
        assert sum(live.values()) == found
        assert {v for v, runs in ranges.items() if any(first <= step <= last for first, last in runs)} == live.keys()
    for runs in ranges.values():
        assert all(before[1] + 1 < after[0] for before, after in pairwise(runs))
