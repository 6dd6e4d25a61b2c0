"""A block of vISA as a kernel of its own: what its output operands hold, lane by lane, and in words why a block is not run."""

from __future__ import annotations

import pytest
from lsp_client import ask, close_text, command, open_text

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.embed.block_text import BlockRefused
from visa_lsp.embed.host_text import HostText
from visa_lsp.embed.languages import Host
from visa_lsp.embed.runnable import runnable_block
from visa_lsp.lsp.jobs.run_process import perform

URI = "file:///src/k.cl"
HEAD = "__attribute__((intel_reqd_sub_group_size(16)))\nkernel void k(global int *d, float factor, int4 four, double wide) {\n"
LOCALS = "  int out, in = d[0]; float value; short small; half h; int4 many; __global int *where = d;\n"


def source(*statements, head=HEAD):
    """Return a kernel with some asm statements, each on a line of its own."""
    return head + LOCALS + "".join(f"  __asm__({statement});\n" for statement in statements) + "}\n"


TEXT = source(
    r'"add (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0> %2\n" : "=rw"(out) : "rw"(in), "i"(5)',
    r'"mad (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %1(0,0)<0;1,0> %0(0,0)<1;1,0>\n" : "+rw"(value) : "rw.u"(factor)',
    r'"mov (M1, 16) %[to](0,0)<1> %[from](0,0)<1;1,0>\n" : [to] "=rw"(small) : [from] "rw"(in)',
    r'"mov (M1, 16) %0(0,0)<1> %1(2,0)<1;1,0>\n" "mov (M1, 16) %0(2,0)<1> %1(0,0)<1;1,0>\n"'
    r' "mov (M1, 16) %0(4,0)<1> %1(6,0)<1;1,0>\n" "mov (M1, 16) %0(6,0)<1> %1(4,0)<1;1,0>\n" : "=rw"(many) : "rw"(four)',
    r'"add (M1_NM, 1) %0(0,0)<1> %1(0,3)<0;1,0> 0x1:w\n" : "=rw.u"(out) : "rw"(in)',
)

SWAPPED = [[16 + n, n, 48 + n, 32 + n] for n in range(16)]


async def run(client, text, **argument):
    """Return the server's answer about running a block."""
    document = open_text(client, URI, text, "opencl")
    answer = await command(client, "visa.runBlock", {"uri": URI, **argument})
    close_text(client, document)
    return answer


def written(answer):
    """Return the values of each output operand, by its name in the strings."""
    return {o["operand"]: o["values"] for o in answer["operands"] if o["written"]}


async def test_blocks_tell_what_their_outputs_hold_lane_by_lane(client):
    for block, wanted in ((1, [lane * 3.0 + lane for lane in range(16)]), (3, SWAPPED)):
        quick = {"args": {"factor_buffer": [3, 9, 9, 9]}} if block == 1 else {}
        answer = await run(client, TEXT, block=block, quick=quick)
        assert (answer["ok"], answer["block"], answer.get("error"), answer["faults"]) == (True, block, None, [])
        assert written(answer) == {"%0": wanted}


@pytest.mark.parametrize(
    ("block", "held"),
    [
        (0, {"%0": [lane + 5 for lane in range(16)]}),
        (2, {"%[to]": list(range(16))}),
        (3, {"%0": SWAPPED}),
        (4, {"%0": [4]}),
    ],
)
def test_a_block_is_a_kernel_whose_buffers_hold_its_operands(block, held):
    made = runnable_block(HostText.of(TEXT, Host.OPENCL), block, "k.cl")
    answer = perform(made.text, None, {"quick": made.launch, "head": max(o.buffer_elements for o in made.operands)})
    assert (answer["ok"], answer["faults"]) == (True, [])
    buffers = {buffer["arg"]: buffer["head"] for buffer in answer["buffers"]}
    assert {o.written_as: o.by_lane(buffers[o.buffer]) for o in made.operands if o.written} == held


@pytest.mark.full
async def test_the_buffers_can_be_given_and_the_block_be_named_by_its_place(client):
    answer = await run(client, TEXT, line=3, quick={"args": {"in_buffer": list(range(100, 116))}})
    assert answer["block"] == 0
    assert written(answer) == {"%0": list(range(105, 121))}
    (out, read) = answer["operands"]
    assert (out["constraint"], out["expression"], out["type"], out["lanes"]) == ("=rw", "out", "d", 16)
    assert (read["operand"], read["read"], read["written"]) == ("%1", True, False)
    assert "values" not in read


async def test_what_an_output_does_not_get_is_a_fault(client):
    text = source(r'"add (M1, 8) %0(0,0)<1> %1(0,0)<1;1,0> 0x1:d\n" : "=rw"(out) : "rw"(in)')
    answer = await run(client, text, block=0)
    assert not answer["ok"]
    (fault,) = answer["faults"]
    assert fault["kind"] == "uninitialised-read"
    assert "bytes 32 to 63 of out were never written" in fault["message"]


@pytest.mark.full
async def test_a_block_with_a_mistake_is_not_run(client):
    text = source(r'"add (M1, 16) %0(0,0)<1> nope(0,0)<1;1,0> 0x1:d\n" : "=rw"(out)')
    answer = await run(client, text, block=0)
    assert not answer["ok"]
    assert "nope" in answer["error"]
    assert "values" not in answer["operands"][0]


@pytest.mark.full
async def test_a_buffer_that_there_is_not_is_told(client):
    answer = await run(client, TEXT, block=0, quick={"args": {"nope": [1]}})
    assert not answer["ok"]
    assert "unknown argument 'nope'" in answer["error"]


async def test_the_kernel_is_opened_as_a_text_with_its_launch(client):
    document = open_text(client, URI, TEXT, "opencl")
    lenses = await ask(client, "codeLens", document)
    assert [lens.command.title for lens in lenses[:2]] == ["Open as vISA", "Run this block"]
    argument = {"uri": URI, "block": 1, "as": "kernel"}
    answer = await command(client, "visa.openBlock", argument)
    assert answer["uri"].startswith("visa-block:/k.cl.2.run.visaasm?")
    assert not Analysis.of(answer["text"]).diagnostics
    assert list(answer["quick"]["args"]) == ["value_buffer", "factor_buffer"]
    answer = await command(client, "visa.openBlock", {**argument, "as": "x"})
    assert "`as` must be `kernel`" in answer["error"]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (r'"mov (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0>\n" : "=rw"(out) : "rw"(unseen())', "the type of `%1` (unseen()) is not known here"),
        (r'"add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %1\n" : "+rw"(out) : "i"(N)', "the number `N` of operand 1 is not known here"),
        (r'"mov (M1, 16) %0(0,0)<1> " LATE "\n" : "=rw"(out)', "comes from a macro"),
        (r'"add (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0> 0x1:d\n" : "=rw"(out) : "0"(in)', "`%1` shares its register with operand 0"),
        (r'"mov (M1, 16) %0(0,0)<1> 0x1:d\n" : "=rw"(out) : : : away', "label of the host"),
    ],
)  # fmt: skip
def test_a_block_that_is_not_known_whole_is_not_run_and_words_say_why(statement, words):
    host = HostText.of(source(statement), Host.OPENCL)
    with pytest.raises(BlockRefused, match="the block is not run: ") as refused:
        runnable_block(host, 0, "k.cl")
    assert words in str(refused.value)


def test_an_operand_that_is_not_used_needs_no_size_and_no_number():
    host = HostText.of(source(r'"mov (M1, 16) %0(0,0)<1> 0x1:d\n" : "=rw"(out) : "rw"(unseen()), "i"(N)'), Host.OPENCL)
    assert [o.written_as for o in runnable_block(host, 0, "k.cl").operands] == ["%0"]


@pytest.mark.parametrize(
    ("line", "lanes"), [("(M1, 4)", 8), ("(M1, 8)", 8), ("(M1, 16)", 16), ("(M1_NM, 32)", 32), ("(M5, 16)", 32)]
)
def test_a_function_that_does_not_say_its_width_has_as_many_lanes_as_the_block_needs(line, lanes):
    text = source(rf'"mov {line} %0(0,0)<1> 0x1:w\n" : "=rw"(out)', head="kernel void k(global int *d) {\n")
    made = runnable_block(HostText.of(text, Host.OPENCL), 0, "k.cl")
    assert made.launch["local_size"] == [lanes, 1, 1]
    assert [o.lanes for o in made.operands] == [lanes]


def test_names_of_buffers_take_no_name_of_the_block():
    text = source(
        r'".decl out_buffer v_type=G type=d num_elts=16 align=GRF\n" "mov (M1, 16) %0(0,0)<1> 0x1:w\n" : "=rw"(out)'
    )
    made = runnable_block(HostText.of(text, Host.OPENCL), 0, "k.cl")
    assert [o.buffer for o in made.operands] == ["out_buffer_"]
