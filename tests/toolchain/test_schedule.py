"""The finalizer's schedule: rows of blocks, what a stalled row waits for, and the lines of a listing that they belong to."""

from visa_lsp.toolchain.listing import read_listing
from visa_lsp.toolchain.schedule import read_schedule, with_issues

FIRST = """\
   0      [0]I0L4E0P9 _main_0:,\x20
   1       ...\x20
   2       ...\x20
   3       ...\x20
   4   mul[1]I1L1E0P8 (W) mul (1)              acc0.0<1>:d  r9.0<0;1,0>:d // $1:&1:,\x20
   5  send[2]I2L2E5P8     send (16)            r20.0<1>:w  r16<1;1,0>:ud  0x4805001:ud // $2:&2:,\x20
   6  send ...\x20
   7   mov[4]I4L1E5P1     mov (8)              r0.0<1>:d  r0.0<1;1,0>:d // $4:&4:,\x20
   8\x20
+++++++++++ 20 empty cycles 9-29 +++++++++++
  29   and[3]I3L2E29P5    and (16)  (eq)f1.0   r76.0<1>:d  r20.0<1;1,0>:d  0x7:w {AccWrEn} // $3:&3:,\x20
  30   and ...\x20
"""
GRAPH = """\
digraph DAG {
3[label="and, [3]I3O2E0P5", style="filled", fillcolor="#CCCCCC"]
1->3[label="6",color="black"];
2->3[label="24",color="black"];
}
"""
SECOND = """\
   0  mov  mov[0]I0I1L2E0P1     mov (8)  r1.0<1>:f  r2.0<1;1,0>:f // $7:&7:,     mov (8|M8)  r3.0<1>:f  r4.0<1;1,0>:f // $8:&8:,\x20
   2  wait[2]I2L1E2P1 (W) wait                 null:ud // $9:&9:,\x20
   3       [3]I3L1E3P1     join (8)            ,\x20
"""
LISTING = """\
//.kernel k
//.instCount 9
// B002: Preds:{B001},  Succs:{}
(W)     mov (8|M0)               r127.0<1>:ud  0x0:ud                              {$9.dst} //
// _main_0:
        sync.nop                             null                             {Compacted,A@1}        // $1
(W)     mul (1|M0)               acc0.0<1>:d   r9.0<0;1,0>:d                       // $1
        send.dc1 (16|M0)         r20     r16     null    0x0            0x04805001           {A@1,$5} // wr:2+0, rd:8 // $2
        and (16|M0)   (eq)f1.0   r76.0<1>:d    r20.0<8;8,1>:d    7:w      {$5.dst}    // $3
L100:
        mov (8|M0)               r1.0<1>:f    r2.0<8;8,1>:f                   {Compacted,$6}  // $7
        mov (8|M8)               r3.0<1>:f    r4.0<8;8,1>:f                   {Compacted}     // $8
(W)     sync.bar                             null                             {$6.src}        // $9
        join (8|M0)                          L200                                             //
"""


def test_rows_have_cycles_stalls_and_what_they_wait_for():
    rows = read_schedule({1: (SECOND, ""), 0: (FIRST, GRAPH)})
    assert [(row.block, row.cycle, row.busy, row.stall, row.waits_for) for row in rows] == [
        (0, 0, 4, 0, None), (0, 4, 1, 0, None), (0, 5, 2, 0, None), (0, 7, 1, 0, None), (0, 29, 2, 21, 2),
        (1, 0, 2, 0, None), (1, 0, 0, 0, None), (1, 2, 1, 0, None), (1, 3, 1, 0, None),
    ]  # fmt: skip
    assert [row.key for row in rows[4:8]] == [(3, "and"), (7, "mov"), (8, "mov"), (9, "sync")]
    assert rows[0].text == "_main_0:"


def test_rows_are_tied_to_lines_in_order_and_lines_without_a_row_keep_their_tokens():
    lines = read_listing(LISTING).lines
    timed, rows = with_issues(lines, [read_schedule({0: (FIRST, GRAPH), 1: (SECOND, "")})])
    code = [line.text.split()[0 + line.text.startswith("(W)")] for line in lines]
    named = [None if row.gen is None else code[row.gen] for row in rows]
    # The label has no line, and the move of a register to itself was dropped.
    assert named == [None, "mul", "send.dc1", None, "and", "mov", "mov", "sync.bar", "join"]
    issues = {name: line.issue for name, line in zip(code, timed, strict=True)}
    assert (issues["and"].cycle, issues["and"].stall, code[issues["and"].waits_for]) == (29, 21, "send.dc1")
    assert (issues["sync.bar"].cycle, issues["sync.bar"].stall, code[issues["sync.bar"].waits_for]) == (2, 0, "mov")
    # Nothing earlier takes the token of the first line; what was inserted has no cycle.
    assert issues["sync.nop"] is None
    assert timed[0].issue is None
    assert [line.text for line in timed] == [line.text for line in lines]


def test_functions_follow_their_kernel():
    lines = read_listing(LISTING.partition("L100:")[0] * 2).lines
    one = read_schedule({0: (FIRST, GRAPH)})
    timed, rows = with_issues(lines, [one, one])
    half = len(lines) // 2
    assert [row.gen for row in rows[5:]] == [None if row.gen is None else row.gen + half for row in rows[:5]]
    assert timed[-1].issue.waits_for == len(lines) - 2


def test_what_is_no_schedule_has_no_rows():
    assert read_schedule({}) == ()
    assert read_schedule({0: ("", "")}) == read_schedule({0: ("no table\n 3 x[ ]\n", "1->2\n")}) == ()
    assert with_issues((), [()]) == ([], ())
