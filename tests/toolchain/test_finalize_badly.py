"""A finalizer that crashes, hangs, floods, writes elsewhere or says strange things: the user is told in words, at a line."""

import pytest
from fake_tools import fake_tool

from visa_lsp.toolchain.finalize import FinalizerCall, finalize

CODES = [".version 4.1", '.kernel "k"', ".decl V1 v_type=G type=d num_elts=8 align=GRF", "    mov (M1, 8) V1(0,0)<1> 0x1:d", ""]  # fmt: skip


@pytest.fixture
def said(tmp_path):
    """(kernels, findings as (rule, line from 1, message)) of a run with a fake finalizer."""

    def run(body, codes=CODES, **how):
        result = finalize(codes, FinalizerCall(fake_tool(tmp_path, body), "TGLLP", **{"seconds": 60, **how}))
        return result.kernels, [(f.rule.name, f.line + 1, f.message) for f in result.findings]

    return run


def test_the_listing_is_the_verdict_and_not_the_status(said):
    (kernel,), findings = said("write_listing(); sys.exit(1)")
    assert findings == []
    assert [(one.line + 1, len(one.instructions)) for one in kernel.lines] == [(4, 1)]
    assert kernel.listing.registers == {"V0033": "r3.0"}
    kernels, findings = said("sys.exit(0)")
    assert kernels == ()
    assert findings == [("finalizer-failure", 2, "the finalizer ended with status 0: no machine code of 'k'")]


@pytest.mark.parametrize(
    ("body", "how", "words"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", {}, "the finalizer crashed (segmentation fault): no machine code of 'k'"),
        ("os.abort()", {}, "the finalizer crashed (aborted): no machine code of 'k'"),
        ("time.sleep(1000)", {"seconds": 1}, "the finalizer did not end within 1 seconds: no machine code of 'k'"),
        ("print('assertion failed'); sys.exit(3)", {}, "the finalizer ended with status 3: assertion failed: no machine code of 'k'"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_said_in_words(said, body, how, words):
    assert said(body, **how) == ((), [("finalizer-failure", 2, words)])


def test_a_crash_behind_the_work_keeps_the_work(said):
    kernels, findings = said("write_listing(); sys.stdout.flush(); os.kill(os.getpid(), signal.SIGSEGV)")
    assert len(kernels) == 1
    assert [name for name, _, _ in findings] == ["finalizer-warning"]


def test_what_it_writes_elsewhere_is_no_listing(said, tmp_path):
    """A listing counts where we asked for it: not at a path that the tool chose."""
    kernels, findings = said('write_listing("other.asm")')
    assert kernels == ()
    assert [name for name, _, _ in findings] == ["finalizer-failure"]


def test_a_listing_that_is_called_after_the_text_counts_where_there_is_one_body(said):
    """Older releases do not know the attribute that names the file."""
    kernels, findings = said('write_listing("text.asm")')
    assert (len(kernels), findings) == (1, [])
    two = [*CODES, '.kernel "two"', "    mov (M1, 8) V1(0,0)<1> 0x1:d"]
    kernels, findings = said('write_listing("text.asm")', codes=two)
    assert kernels == ()
    assert [line for _, line, _ in findings] == [2, 6]


@pytest.mark.parametrize("kind", ["os.mkfifo(names[0])", "os.symlink('/dev/zero', names[0])", "os.mkdir(names[0])"])
def test_a_listing_that_is_no_file_is_none(said, kind):
    kernels, findings = said(kind)
    assert kernels == ()
    assert [name for name, _, _ in findings] == ["finalizer-failure"]


def test_a_listing_of_anything_is_read(said):
    kernels, findings = said("open(names[0], 'wb').write(os.urandom(100_000))")
    assert len(kernels) == 1
    assert findings == []


def test_a_complaint_beyond_the_text_is_put_on_its_last_line(said):
    _, findings = said("print('near line 99999: syntax error, unexpected end of file'); sys.exit(1)")
    assert [(name, line) for name, line, _ in findings] == [("finalizer-error", 5)]


def test_lines_are_those_of_the_text_and_not_of_the_copy(said):
    """The copy has a line more behind each head of a body."""
    _, findings = said("print('near line 5: bad'); print('near line 3: head'); print('near line 2: head'); sys.exit(1)")
    assert [line for _, line, _ in findings] == [2, 2, 4]
    assert findings[-1] == ("finalizer-error", 4, "bad")


def test_pressure_that_cannot_be_had_is_unknown(said):
    (kernel,), _ = said("sys.exit(1) if '-dumpRPE' in sys.argv else write_listing()")
    assert kernel.max_pressure is None
    assert [one.pressure for one in kernel.lines] == [None]


def test_a_text_without_kernels_is_not_given_to_it(said):
    kernels, findings = said("write_listing()", codes=["// nothing", ""])
    assert kernels == ()
    assert findings == [("finalizer-failure", 1, "no kernel found for the finalizer")]


def test_options_reach_it_as_they_are(said):
    _, findings = said("print(sys.argv[-3:]); sys.exit(1)", options=("-a b", "$HOME", "*"))
    assert "['-a b', '$HOME', '*']" in findings[0][2]
