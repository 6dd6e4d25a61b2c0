"""Listings, pressure and complaints as the tools print them, cut down to what matters."""

from dataclasses import replace

from visa_lsp.app.gen.wait_words import wait_words
from visa_lsp.toolchain.build_log import messages_in
from visa_lsp.toolchain.complaints import complaints_in, misuse, warnings_in
from visa_lsp.toolchain.listing import count_code, read_listing
from visa_lsp.toolchain.pressure import read_pressure
from visa_lsp.toolchain.text_bodies import bodies_of, make_guarded_copy

LISTING = """\
//.kernel k
//.platform PVCXT
//.thread_config numGRF=256, numAcc=8, numSWSB=32
//.full_options "-output -platform PVCXT "
//.instCount 5
//.RA type\tGRAPH_COLORING_SPILL_FF_BC_RA
//.GRF count 97
//.spill size 64
//.spill GRF est. ref count 3

//.declare BuiltInR0 (0)  rf=r size=32 type=ud align=16 words (r0.0)
//.declare  (1)  rf=r size=32 type=ud alias=BuiltInR0+0 align=16 words (r0.0)
//.declare %null (9)  rf=r size=4 type=ud align=2 words
//.declare %retval (23)  rf=r size=0 type=ud align=16 words (r26.0) Output
//.declare V0034 (40)  rf=r size=32 type=w alias=V0033+0 align=16 words (r3.4)
//.declare V0035 (41)  rf=r size=32 type=w align=16 words (spilled -> Scratch[3x32])
//.declare P1 (50)  rf=f16  size=2 type=uw align=1 words (f0.1)

// .inputs
// | V0040    | :w x 16  |     32 | r1       | general    |

// B000: [inDivergent],  Preds:{B000, B003},  Succs:{B001, B002}
_main:
(W)     mov (8|M0)               r3.0<1>:ud    r0.0<1;1,0>:ud  {@2,$2}
        send.dc1 (16|M0)         r25      r20     null    0x0  0x04205E01  {@4,$0} // wr:2+0, rd:2; read/write // $18
        mov (8|M0)               null<1>:ud    r24.0<8;8,1>:ud                  {$6.dst}             //  memory fence commit; $34
        add (16|M0)              r22.0<1>:d    r22.0<8;8,1>:d    {@1}     // $68 R{} IR{}{E:3,E:3,},  R{r6,} IR{} {BC=1}
        join (16|M0)                         L232                                                    //
L232:

//.BankConflicts: 3
//.BankConflicts.SameBank: 1
"""


def test_a_listing_is_read_whole():
    found = read_listing(LISTING)
    assert (found.kernel, found.platform, found.instructions, found.spill_bytes) == ("k", "PVCXT", 5, 64)
    assert (found.bank_conflicts, found.grf_used, found.grf_total) == (3, 97, 256)
    assert found.allocation == "GRAPH_COLORING_SPILL_FF_BC_RA"
    assert found.registers == {
        "BuiltInR0": "r0.0", "%retval": "r26.0", "V0034": "r3.4", "V0035": "spilled -> Scratch[3x32]", "P1": "f0.1",
    }  # fmt: skip


def test_a_number_is_the_last_word_of_the_remark_and_no_scoreboard_token():
    assert [line.number for line in read_listing(LISTING).lines] == [None, None, 18, 34, 68, None, None]
    assert [line.is_label for line in read_listing(LISTING).lines] == [True, False, False, False, False, False, True]


def test_what_a_listing_does_not_say_is_unknown():
    found = read_listing("//.kernel k\n    mov (8|M0) r1.0<1>:d 0x0:d // $0\n")
    assert (found.instructions, found.bank_conflicts, found.grf_used, found.grf_total) == (1, None, None, None)
    assert read_listing("").instructions == 0
    assert read_listing("\0\x80 // $99999999999999\n").lines[0].number is None


def test_code_of_a_called_function_is_told_apart():
    found = read_listing("_main_0:\n  mov // $3\nL_f1_even__0:\n  mov // $3\n_even__f1_0_:\n  mov // $4\n")
    assert [line.function for line in found.lines if not line.is_label] == [None, 1, 1]


def test_the_last_table_of_pressure_counts():
    said = (
        "BB 0: (Pred:  Succ: 1,)\n[9] \tmov (8) V1 // $1:\nmax pressure: 9, 1 inst(s)\n\tmov (8) V1 // $1:\n"
        "BB 0: (Pred:  Succ: 1,)\n[3] _main:\n[3] \t(W) mul (1) acc0.0 // $0:\n[5] \tmach // $1:&2:\n[4] \tadd // $1:\n"
        "[2] \tjoin (16)\nBB 1: (Pred: 0, Succ:)\n[1] \tret // $2:\nmax pressure: 5, 2 inst(s)\n\tmach // $9:\n"
    )
    found = read_pressure(said)
    assert (found.peak, found.by_number) == (5, {0: 3, 1: 5, 2: 1})


def test_without_a_table_no_pressure_is_known():
    assert read_pressure("GenX_IR x.visaasm -dumpRPE\n") == read_pressure("")
    assert read_pressure("").peak is None


VERIFIER = """\
Instruction / Operand / Region Errors:

/-------------------------------------------!!!KERNEL HEADER ERRORS FOUND!!!-------------------------------------------\\
Error in CISA routine with name: one
                  Error Message: P1's number of elements(3) is not valid:  Error in predicate variable decl: .decl P2 v_type=P num_elts=3
\\----------------------------------------------------------------------------------------------------------------------/




/--------------------------------------------!!!INSTRUCTION ERROR FOUND!!!---------------------------------------------\\
Error in CISA routine with name: two
                  Error Message: Horizontal Stride should not be 0 for a destination operand.
                    Diagnostics:
   Instruction variables' decls:
                                 .decl V0033 v_type=G type=d num_elts=16 align=hword

          Violating Instruction:     mov (M1, 8) V0033(0,0)<0> 0x1:d                                              /// $7
\\----------------------------------------------------------------------------------------------------------------------/
"""


def test_complaints_of_the_verifier_name_body_number_and_declaration():
    header, instruction = complaints_in("Found a total of 2 errors in vISA input.\n", VERIFIER)
    assert (header.body, header.number, header.message) == ("one", None, "P1's number of elements(3) is not valid")
    assert header.means(".decl P5 v_type=P num_elts=3")
    assert not header.means(".decl P5 v_type=P num_elts=16")
    assert (instruction.body, instruction.number) == ("two", 7)
    assert instruction.message == "horizontal Stride should not be 0 for a destination operand"


def test_complaints_of_the_parser_have_the_line_and_are_told_once():
    said = "[vISA Finalizer Messages]\n\tnear line 24: Bad op.\nnear line 24: Bad op.\nnear line 31: syntax error, unexpected NEWLINE"
    assert [(c.line, c.message) for c in complaints_in(said, "")] == [
        (23, "bad op"), (29, "syntax error, unexpected NEWLINE"),
    ]  # fmt: skip


def test_warnings_that_differ_in_numbers_are_one():
    found = warnings_in("WARNING: out of bounds: 288\nsome words\nWARNING: out of bounds: 292\nWARNING: other\n")
    assert [c.message for c in found] == ["out of bounds: 288", "other"]


def test_unknown_platforms_and_options_are_the_users_mistakes():
    said = "XYZ: unrecognized platform string\nsupported platforms are: BDW, SKL\n"
    assert misuse(said) == "the finalizer does not know the platform 'XYZ' (known: BDW, SKL)"
    assert misuse("-foo: unrecognized option\nUSAGE: GenX_IR\n") == "the finalizer does not know the option '-foo'"
    assert misuse("near line 3: syntax error") == ""


def test_hostile_words_are_read_without_going_back_and_forth():
    """Each of these has many beginnings of something that never ends; going back for each would take hours."""
    many = 300_000
    assert bodies_of([".kernel_attr " * many]) == ()
    assert ".kernel_attr" in make_guarded_copy([".kernel_attr " * many], ()).text
    assert read_listing("add // " * many).lines[0].number is None
    assert read_listing("add // $1 R{" * many).lines
    assert read_listing("//.declare V (1) size=1 type=d (" * many).registers == {}
    assert complaints_in("near line " * many, "/---!!!" * many + "Violating Instruction:" * many) == ()
    assert messages_in("1:1:" * many) == ()
    assert misuse(": unrecognized " * many) == ""
    assert read_pressure("BB 0:" * many).peak is None


def test_messages_of_spills_are_counted_in_the_words_of_each_release():
    newer = """//.kernel k
(W)     store.ugm.d32x32t.a32 (1|M0)  ss[a0.2][r4:1-0x10000] r84:2  {F@1,$6} // ex_desc:a0.2; desc:0x4200E504 //  spill to offset[0*64] of ?; ; $7
(W)     sendg.ugm (1|M0)         r5       r3:1  null:0  s0.56  0x10000D704 {F@1,$1} // rd:64 B; load.ugm.d32x32t.a32 //  fill from offset[2*64] of V2; ; $14
(W)     mov (1|M0)               r3.0<1>:f     0x0:f          {Compacted}       //  spill/fill zero register; (0x00000000:f); $1
"""
    older = """//.kernel k
        sends (8)                null:w   r3      r4      0x10C           0x020F0000           // wr:1h+1; //  scratch space spill: V5 from offset[0x32]; $5
(W)     send (8|M0)              r4       r3      0xA             0x021F0000           // wr:1h, rd:1; //  scratch space fill: FL_V5 from offset[0x32]; $6
"""
    for text in (newer, older):
        counts = count_code(read_listing(text).lines)
        assert (counts.sends, counts.spills, counts.fills) == (2, 1, 1)


def test_scoreboard_words_name_the_line_that_they_wait_for():
    lines = [line for line in read_listing(LISTING).lines if not line.is_label]
    reader = replace(lines[3], text="add (16|M0) r22.0<1>:d r25.0<8;8,1>:d 1:d {I@1,$0.dst} // $69")
    words = list(wait_words(zip([*lines[:4], reader], range(40, 45), strict=True)))
    assert words == [
        "@2 waits for the last instruction but 1 of its pipe",
        "@4 waits for the last instruction but 3 of its pipe",
        "$6.dst waits for the result of a later line",
        "@1 waits for the last instruction of its pipe",
        "I@1 waits for the last instruction of the integer pipe; $0.dst waits for the result of line 42",
    ]
