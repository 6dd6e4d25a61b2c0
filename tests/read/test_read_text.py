"""What pseudo-code looks like: conditions, loops, halves, memory; each index says the elements that its region selects."""

from __future__ import annotations

import pytest
from each_case import check_each

from visa_lsp.app.read.indices import index_text
from visa_lsp.app.read.pseudo_code import as_json, as_text, chosen, read_data
from visa_lsp.isa.operands import Region
from visa_lsp.program.regions import source_elements

HEAD = """.version 4.1
.kernel "k"
.decl id v_type=G type=d num_elts=16 align=GRF
.decl x v_type=G type=d num_elts=16 align=GRF
.decl y v_type=G type=d num_elts=16 align=GRF
.decl n v_type=G type=d num_elts=1
.decl at v_type=G type=ud num_elts=16 align=GRF
.decl low v_type=G type=d num_elts=16 align=GRF
.decl high v_type=G type=d num_elts=16 align=GRF
.decl wide v_type=G type=q num_elts=16 align=GRF
.decl bits v_type=G type=ud num_elts=16 alias=<x, 0>
.decl real v_type=G type=f num_elts=16 align=GRF
.decl vec v_type=G type=d num_elts=64 align=GRF
.decl r v_type=G type=d num_elts=8 alias=<%r0, 0>
.decl P1 v_type=P num_elts=32
.decl P2 v_type=P num_elts=32
.decl out v_type=T num_elts=1
.input out offset=32 size=4
.input id offset=64 size=64
.input n offset=128 size=4
.kernel_attr SimdSize={simd}
"""
STORE = "    scatter4_scaled.R (M1, 16) out 0x0:ud at.0 {0}.0\n"


def read(code, simd=16, **more):
    return read_text(HEAD.format(simd=simd) + code, **more)


def read_text(text, **more):
    said = []
    found = read_data("k.visaasm", (text + "    ret (M1, 1)\n").encode(), "TGLLP", say=said.append)
    assert found is not None, said
    return chosen(found, more.get("kernel"), more.get("lines"))


def body(code, simd=16):
    lines = as_text(read(code, simd)).splitlines()
    assert lines[0].startswith("kernel void k(void) {")
    assert lines[-1] == "}"
    return [line[4:] for line in lines[1:-1] if "payload" not in line]


def test_a_value_moves_to_its_only_use():
    code = "    add (M1, 16) x(0,0)<1> id(0,0)<1;1,0> n(0,0)<0;1,0>\n    shl (M1, 16) at(0,0)<1> id(0,0)<1;1,0> 0x2:d\n"
    assert body(code + STORE.format("x")) == ["*(int *)(surface(out) + (uint)(id << 2)) = id + n;"]


def test_a_rotated_number_keeps_its_sign():
    code = "    rol (M1, 16) x(0,0)<1> id(0,0)<1;1,0> 0x3:d\n    asr (M1, 16) y(0,0)<1> x(0,0)<1;1,0> 0x2:d\n"
    assert body(code + STORE.format("y"))[-1].endswith("= (int)rotate_left(id, 3) >> 2;")


def test_comparisons_with_constants_are_a_switch():
    code = "".join(
        f"    cmp.ne (M1, 16) P1 id(0,0)<1;1,0> {number}:d\n    (P1) goto (M1, 16) next{number}\n"
        f"    mul (M1, 16) x(0,0)<1> n(0,0)<0;1,0> {number + 5}:d\n    goto (M1, 16) done\nnext{number}:\n"
        for number in (1, 2, 4)
    )
    lines = body(code + "    mov (M1, 16) x(0,0)<1> 0x0:d\ndone:\n" + STORE.format("x"))
    assert lines[1:7] == [
        "switch (id) {",
        "    case 1: x = n * 6; break;",
        "    case 2: x = n * 7; break;",
        "    case 4: x = n * 9; break;",
        "    default: x = 0; break;",
        "}",
    ]


def test_a_narrow_value_is_compared_by_the_sign_that_the_instruction_reads():
    head = "".join(
        f".decl {line}\n"
        for line in ("c v_type=G type=b num_elts=16 align=GRF", "u v_type=G type=ub num_elts=16 alias=<c, 0>")
    )
    code = """    mov (M1, 16) c(0,0)<1> id(0,0)<1;1,0>
    add (M1, 16) c(0,0)<1> c(0,0)<1;1,0> 0xbf:b
    cmp.lt (M1, 16) P1 u(0,0)<1;1,0> 0x1a:ub
    (P1) sel (M1, 16) x(0,0)<1> id(0,0)<1;1,0> 0x0:d
"""
    text = as_text(read_text(HEAD.format(simd=16) + head + code + STORE.format("x")))
    assert "(uchar)(id - 65) < 26" in text


def test_a_value_that_is_read_again_stays():
    code = "    mul (M1, 16) x(0,0)<1> id(0,0)<1;1,0> n(0,0)<0;1,0>\n    add (M1, 16) y(0,0)<1> x(0,0)<1;1,0> x(0,0)<1;1,0>\n"
    assert body(code + STORE.format("x") + STORE.format("y"))[:1] == ["int x = id * n;"]


def test_a_value_does_not_pass_a_change_of_what_it_reads():
    code = (
        "    add (M1, 16) x(0,0)<1> id(0,0)<1;1,0> 0x1:d\n    mov (M1, 16) id(0,0)<1> 0x7:d\n"
        + STORE.format("x") + STORE.format("id")
    )  # fmt: skip
    assert body(code) == ["uint at;", "*(int *)(surface(out) + at) = id + 1;", "*(int *)(surface(out) + at) = 7;"]


def test_other_lanes_keep_what_they_had():
    """The first write is of all lanes, the use of the active ones: the others are still read."""
    code = "    mov (M1_NM, 16) x(0,0)<1> 0x3:d\n    mov (M1, 16) x(0,0)<1> 0x4:d\n    mov (M1_NM, 1) y(0,0)<1> x(0,3)<0;1,0>\n"
    assert body(code + STORE.format("y"))[2:5] == ["each_lane(0, 15) x[lane] = 3;", "x[lane] = 4;", "once y[0] = x[3];"]


def test_conditions_and_loops():
    code = """    cmp.lt (M1, 16) P1 id(0,0)<1;1,0> n(0,0)<0;1,0>
    (!P1) goto (M1, 16) else
    mov (M1, 16) x(0,0)<1> 0x0:d
loop:
    add (M1, 16) x(0,0)<1> x(0,0)<1;1,0> 0x3:d
    cmp.lt (M1, 16) P2 x(0,0)<1;1,0> n(0,0)<0;1,0>
    (P2) goto (M1, 16) loop
    goto (M1, 16) end
else:
    mov (M1, 16) x(0,0)<1> 0x7:d
end:
"""
    assert body(code + STORE.format("x")) == [
        "int x;",
        "if (id < n) {",
        "    x = 0;",
        "    do {",
        "        x += 3;",
        "    } while (x < n);",
        "} else {",
        "    x = 7;",
        "}",
        "uint at;",
        "*(int *)(surface(out) + at) = x;",
    ]


def test_two_entries_of_a_loop_are_jumps():
    code = """    cmp.lt (M1, 16) P1 id(0,0)<1;1,0> n(0,0)<0;1,0>
    (P1) goto (M1, 16) second
first:
    add (M1, 16) x(0,0)<1> x(0,0)<1;1,0> 0x3:d
second:
    cmp.lt (M1, 16) P2 x(0,0)<1;1,0> n(0,0)<0;1,0>
    (P2) goto (M1, 16) first
"""
    found = read(code + STORE.format("x"))
    assert not found.kernels[0].structured
    assert sum("goto" in line.text for line in found.kernels[0].lines) == 2


def test_halves_are_one_statement():
    code = """    add (M1, 16) low(0,0)<1> id(0,0)<1;1,0> n(0,0)<0;1,0>
    add (M5, 16) high(0,0)<1> id(0,0)<1;1,0> n(0,0)<0;1,0>
"""
    # The upper lanes read the same elements of id again: no text can say both.
    assert body(code, 32) == [
        "int low;", "if (lane <= 15) low = id[lane] + n;", "int high;", "if (lane >= 16) high = id[lane - 16] + n;",
    ]  # fmt: skip
    code = """    mul (M1, 16) x(0,0)<1> n(0,0)<0;1,0> 0x3:d
    mul (M5, 16) y(0,0)<1> n(0,0)<0;1,0> 0x3:d
    xor (M1, 16) low(0,0)<1> x(0,0)<1;1,0> x(0,0)<1;1,0>
    xor (M5, 16) high(0,0)<1> y(0,0)<1;1,0> y(0,0)<1;1,0>
    scatter4_scaled.R (M1, 16) out 0x0:ud at.0 low.0
    scatter4_scaled.R (M5, 16) out 0x0:ud at.0 high.0
    scatter4_scaled.R (M1, 16) out 0x0:ud at.0 low.0
    scatter4_scaled.R (M5, 16) out 0x0:ud at.0 high.0
"""
    assert body(code, 32)[1:3] == ["int x = n * 3;", "int low = x ^ x;"]


EXPRESSIONS = {
    "mov (M1, 16) wide(0,0)<1> id(0,0)<1;1,0>": "wide[lane] = id;",
    "mul (M1, 16) wide(0,0)<1> id(0,0)<1;1,0> x(0,0)<1;1,0>": "wide[lane] = (long)id * x;",
    "shr (M1, 16) y(0,0)<1> x(0,0)<1;1,0> 0x3:d": "int y = x >> 3;",
    "asr (M1, 16) y(0,0)<1> x(0,0)<1;1,0> 0x3:d": "int y = x >> 3;",
    "add (M1, 16) y(0,0)<1> x(0,0)<1;1,0> (-)n(0,0)<0;1,0>": "int y = x - n;",
    "add.sat (M1, 16) y(0,0)<1> x(0,0)<1;1,0> n(0,0)<0;1,0>": "int y = convert_int_sat((long)x + (long)n);",
    "mov.sat (M1, 16) y(0,0)<1> real(0,0)<1;1,0>": "int y = convert_int_sat(real);",
    "mov (M1, 16) y(0,0)<1> real(0,0)<1;1,0>": "*(int *)(surface(out) + at) = convert_int(real);",
    "min (M1, 16) y(0,0)<1> bits(0,0)<1;1,0> n(0,0)<0;1,0>": "int y = min(x, n);",
    "mad (M1, 16) y(0,0)<1> x(0,0)<1;1,0> n(0,0)<0;1,0> id(0,0)<1;1,0>": "int y = x * n + id;",
    "mov (M1, 8) y(0,0)<1> x(0,0)<16;8,2>": "if (lane <= 7) y = x;",
    "mov (M1, 1) y(0,3)<1> x(0,1)<0;1,0>": "once y[3] = x_0;",
    "(P1) mov (M1_NM, 16) y(0,0)<1> 0x12345:d": "if (holds) y = 0x12345;",
    "(P1) sel (M1, 16) y(0,0)<1> x(0,0)<1;1,0> 0xffffffff:d": "int y = holds ? x : -1;",
    "add (M1, 16) y(0,0)<1> y(0,0)<1;1,0> n(0,0)<0;1,0>": "y += n;",
    "shl (M1, 16) y(0,0)<1> n(0,0)<0;1,0> y(0,0)<1;1,0>": "y = n << (y & 31);",
    "mov (M1, 16) y(0,0)<1> r(0,6)<0;1,0>": "*(int *)(surface(out) + at) = group_y;",
    "mov (M1, 16) y(0,0)<1> vec(2,0)<1;1,0>": "*(int *)(surface(out) + at) = vec;",
    "bfn.xf8 (M1, 16) y(0,0)<1> x(0,0)<1;1,0> n(0,0)<0;1,0> id(0,0)<1;1,0>": "int y = id | (x & n);",
    "bfn.xd8 (M1, 16) y(0,0)<1> x(0,0)<1;1,0> n(0,0)<0;1,0> id(0,0)<1;1,0>": "int y = (x & n) | (id & ~x);",
    "xor (M1, 16) y(0,0)<1> (~)x(0,0)<1;1,0> n(0,0)<0;1,0>": "int y = ~x ^ n;",
}


def test_a_vector_has_components():
    code = "".join(f"    mov (M1, 16) vec({2 * row},0)<1> 0x{row}:d\n" for row in range(4))
    code += (
        "    gather4_scaled.RGBA (M1, 16) out 0x0:ud at.0 vec.0\n    add (M1, 16) vec(6,0)<1> vec(6,0)<1;1,0> 0x2:d\n"
    )
    assert body(code + "    scatter4_scaled.RGBA (M1, 16) out 0x0:ud at.0 vec.0\n")[-3:] == [
        "int4 vec = *(int4 *)(surface(out) + at);", "vec.w += 2;", "*(int4 *)(surface(out) + at) = vec;",
    ]  # fmt: skip


def test_expressions():
    def check(line):
        found = body(
            f"    {line}\n{STORE.format('y')}    scatter4_scaled.R (M1, 16) out 0x0:ud at.0 y.0\n    scatter4_scaled.R (M1, 16) out 0x0:ud at.0 wide.0\n"
        )
        assert EXPRESSIONS[line] in found

    check_each(EXPRESSIONS, check)


@pytest.mark.parametrize("offset", [0, 8, 16])
def test_an_index_gives_the_elements_of_the_region(offset):
    def check(case):
        region, lanes, first = case
        elements = [first + e for e in source_elements(region, lanes)]
        text = index_text(elements, offset).replace("/", "//")
        assert [eval(text, {"lane": lane}) for lane in range(offset, offset + lanes)] == elements  # noqa: S307 - our own text

    regions = [Region(v, w, h) for v in (0, 1, 2, 4, 8, 16, 32) for w in (1, 2, 4, 8, 16) for h in (0, 1, 2, 4)]
    check_each([(region, lanes, first) for region in regions for lanes in (1, 4, 16) for first in (0, 3)], check)


def test_lines_and_kernels_are_chosen():
    code = "    mov (M1, 16) x(0,0)<1> 0x5:d\n" + STORE.format("x") + STORE.format("y")
    last = HEAD.count("\n") + 3
    found = read(code, lines=(last, last), kernel="k")
    assert [line.text.strip() for line in found.kernels[0].lines] == ["*(int *)(surface(out) + at) = y;"]
    assert [line.visa for line in found.kernels[0].lines] == [(last,)]


def test_every_instruction_belongs_to_a_line():
    code = "LOC 7\n    mov (M1, 16) x(0,0)<1> 0x5:d\nLOC 8\n" + STORE.format("x")
    found = read('    FILE "k.cl"\n    ' + code)
    first = HEAD.count("\n") + 3
    value = as_json(found)["kernels"][0]
    (store,) = [line for line in value["lines"] if "out" in line["text"]]
    assert store == {
        "text": "    *(int *)(surface(out) + at) = 5;",
        "visa": [first, first + 2],
        "source": {"file": "k.cl", "line": 7},
    }
    assert (value["instructions"], value["kept_as_visa"]) == (3, 0)
