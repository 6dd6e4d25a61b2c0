"""``explain`` of files of errors and build logs: places, meanings, rules."""

import functools
import json

import pytest

ERRORS = """\
Instruction / Operand / Region Errors:

/--------------------------------------------!!!INSTRUCTION ERROR FOUND!!!---------------------------------------------\\
Error in CISA routine with name: k
                  Error Message: Horizontal Stride should not be 0 for a destination operand.
                    Diagnostics:
          Violating Instruction:     mov (M1, 8) V0032(0,0)<0> 0x1:d                          /// $0
\\----------------------------------------------------------------------------------------------------------------------/
"""
TEXT = '.version 4.1\n.kernel "k"\n.decl V40 v_type=G type=d num_elts=8 align=GRF\n    mov (M1, 8) V40(0,0)<0> 0x1:d\n    ret (M1, 1)\n'
LOG = """\
1:2:10: error: use of undeclared identifier 'b'
error: parsing vISA inline assembly failed:
near line 38: syntax error, unexpected IDENT, expecting LANGLE or LPAREN
error: backend compiler failed build.
warning: kernel hp  compiled SIMD8 allocated 128 regs and spilled around 336
Build failed with error code: -11
"""


@pytest.fixture
def explain(run, here):
    return functools.partial(run, "explain")


def test_a_file_of_errors_has_the_instruction_its_meaning_and_the_rule(explain, tmp_path):
    (tmp_path / "k.errors.txt").write_text(ERRORS)
    assert explain("k.errors.txt") == (
        0,
        (
            "kernel 'k', instruction $0: horizontal Stride should not be 0 for a destination operand\n"
            "    mov (M1, 8) V0032(0,0)<0> 0x1:d\n"
            "  meaning: a destination writes each element once, so that its stride is 1, 2 or 4\n"
            "  earlier: `visa-lsp check` reports such mistakes: V302 destination-stride\n"
        ),
        "",
    )


@pytest.mark.parametrize("name", ["k.visaasm", "of_another_name.visaasm"])
def test_beside_its_text_it_has_the_line_and_what_check_reports_there(explain, tmp_path, name):
    (tmp_path / "k.errors.txt").write_text(ERRORS)
    (tmp_path / name).write_text(TEXT)
    _, out, _ = explain("k.errors.txt", "--format", "json")
    [page] = json.loads(out)
    [message] = page["messages"]
    assert (message["path"], message["line"], message["code"]) == (name, 4, "mov (M1, 8) V40(0,0)<0> 0x1:d")
    assert (message["rules"], message["reported"]) == (["V302 destination-stride"], True)


def test_a_build_log_is_read_from_standard_input(explain):
    status, out, err = explain("-", "--format", "json", stdin=LOG.encode())
    assert (status, err) == (0, "")
    assert [one["message"][:12] for one in json.loads(out)[0]["messages"]] == [
        "use of undec", "syntax error", "kernel hp  c", "Build failed",
    ]  # fmt: skip
    messages = {
        one["place"]: (one["line"], one["meaning"], one["rules"][:1]) for one in json.loads(out)[0]["messages"][:3]
    }
    assert messages == {
        "line 38 of the vISA text": (38, "the line has a name where < or ( is expected", ["V001 syntax-error"]),
        "": (
            None,
            "the kernel needs more registers than there are, so that values go through memory; `visa-lsp stats` shows where",
            [],
        ),
        "line 2, column 10 of the source": (
            2,
            "the OpenCL compiler refuses a line of the source, before there is any vISA",
            [],
        ),
    }


def test_an_unknown_option_is_a_mistake_of_the_call(explain):
    _, out, _ = explain("-", stdin=b"Unrecognized build options: -x\nBuild failed with error code: -11\n")
    assert out.startswith("the compiler does not know the option '-x'\n  meaning: the call is wrong, not the text\n")


def test_a_log_without_messages_is_an_unknown_word(explain):
    status, out, err = explain("-", stdin=b"Build succeeded.\n")
    assert (status, out) == (2, "")
    assert err == "visa-lsp explain: -: no message of the finalizer or the compiler found\n"


def test_a_folder_and_a_missing_file_are_no_unknown_words(explain, tmp_path):
    assert explain(str(tmp_path))[2].startswith(f"visa-lsp explain: {tmp_path}: ")
    assert explain("k.errors.txt")[2].startswith("visa-lsp explain: k.errors.txt: ")
    assert explain("a" * 5000)[2].startswith("visa-lsp explain: unknown word `a")
    assert explain("/dev/null")[2].startswith("visa-lsp explain: /dev/null: ")


def test_messages_without_the_word_error_are_known_and_in_order(explain):
    lines = [
        "IGC: Internal Compiler Error: Segmentation violation",
        "G4Verification failure",
        "total scratch space exceeds HW supported limit for kernel k: 587264 bytes (max permitted PTSS 262144 bytes)",
        "VISA builder API call failed: general failure",
        "Build failed with error code: -6",
    ]
    for order in (lines, lines[::-1]):
        messages = json.loads(explain("-", "--format", "json", stdin="\n".join(order).encode())[1])[0]["messages"]
        assert [one["message"] for one in messages] == order
        assert all(one["meaning"] for one in messages)


def test_a_file_wins_over_the_first_part_of_its_name(explain, tmp_path):
    assert explain("log.txt")[2].startswith("visa-lsp explain: log.txt: ")
    (tmp_path / "log.txt").write_text("error: undefined variable V99\n")
    assert explain("log.txt")[1].startswith("undefined variable V99\n  meaning: ")
    assert explain("log")[1].startswith("# log\n")


def test_words_win_over_files_of_their_name(explain, tmp_path):
    (tmp_path / "mad").write_text(ERRORS)
    assert explain("mad")[1].startswith("# mad\n")
