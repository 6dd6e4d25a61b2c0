"""The real finalizer: each Gen line under its line, whatever stands between; hostile texts; texts that bring it down."""

import os
import random
import re
import shutil

import pytest
from corpus import BESIDE, HAS_MORE, OWN, files, place, read

from visa_lsp.text import lines_of
from visa_lsp.toolchain.finalize import FinalizerCall, finalize
from visa_lsp.toolchain.find_tools import FINALIZER, find_tool
from visa_lsp.toolchain.process import ToolError

pytestmark = pytest.mark.skipif(
    shutil.which(FINALIZER.program) is None, reason="GenX_IR is not installed: apt-get install libigc-tools"
)

NUMBER = re.compile(r"/// \$(\d+)\s*$")
GEN_NUMBER = re.compile(r"\$(\d+)(?:\s+R\{.*)?\s*$")
PLATFORMS = ("TGLLP", "DG2", "PVCXT", "SKL")
# How many texts of each platform are taken of the corpus beside the repository.
SAMPLE = int(os.environ.get("VISA_LSP_TEST_GEN") or 4)


def call(platform, *options):
    return FinalizerCall(find_tool(FINALIZER), platform, options)


def sampled():
    own = [path for path in files("dev/[A-Z]*/*.visaasm") if path.is_relative_to(OWN)]
    more = []
    for platform in PLATFORMS if HAS_MORE else ():
        found = sorted((BESIDE / "dev" / platform).glob("*.visaasm"))
        more += random.Random(platform).sample(found, min(SAMPLE, len(found)))
    return [*own[::6], *more]


def edited(text, seed):
    """Return the text without comments, its lines moved by comments and blank lines; no line keeps its number."""
    chance = random.Random(seed)
    out = ["// moved"]
    for line in lines_of(text):
        bare = re.sub(r"\s*//.*", "", line)
        out += chance.choice(([], [""], ["// a comment $9"], ["/* two", "lines $3 */"]))
        out.append(bare + chance.choice(("", "", " // mov $1", " /* x */")))
    return "\n".join(out)


def under(result, text):
    """Each Gen line with a number, and the words of the line that it stands under."""
    lines = lines_of(text)
    return [(gen.text, lines[one.line]) for k in result.kernels for one in k.lines for gen in one.instructions]


@pytest.mark.corpus
@pytest.mark.parametrize("path", sampled(), ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_each_gen_line_stands_under_the_line_of_its_number(path, codes_of):
    """The numbers behind ``///`` are the compiler's, those behind ``//`` the finalizer's: nobody of us wrote either."""
    text, platform = read(path), path.parent.name
    result = finalize(codes_of(text), call(platform), with_pressure=False)
    if not result.kernels:
        words = " ".join(finding.message for finding in result.findings)
        assert "crashed" in words or "no machine code" in words, words
        return
    numbered = 0
    for kernel in result.kernels:
        assert sum(len(one.instructions) for one in kernel.lines) == kernel.listing.instructions
    for gen, line in under(result, text):
        theirs, ours = GEN_NUMBER.search(gen), NUMBER.search(line)
        if theirs is not None and ours is not None:
            assert theirs[1] == ours[1], (gen, line)
            numbered += 1
    assert numbered or not NUMBER.search(text)
    moved = edited(text, str(path))
    again = finalize(codes_of(moved), call(platform), with_pressure=False)
    bare = [(gen, " ".join(re.sub(r"\s*///?.*", "", line).split())) for gen, line in under(result, text)]
    assert bare == [
        (gen, " ".join(re.sub(r"\s*//.*|/\*.*?\*/", "", line).split())) for gen, line in under(again, moved)
    ]


def test_a_text_of_two_kernels_has_a_listing_of_each(codes_of):
    text = read(OWN.parents[1] / "examples" / "saxpy.visaasm")
    second = text[text.index(".kernel") :].replace('"saxpy"', '"../second"')
    result = finalize(codes_of(text + "\n" + second), call("TGLLP"))
    assert [kernel.body.name for kernel in result.kernels] == ["saxpy", "../second"]
    one, two = result.kernels
    assert one.listing.instructions == two.listing.instructions > 0
    moved = two.body.line - one.body.line
    assert [(u.line + moved, u.pressure) for u in one.lines] == [(u.line, u.pressure) for u in two.lines]
    assert one.max_pressure == two.max_pressure == max(u.pressure or 0 for u in one.lines)


@pytest.mark.parametrize(
    "line",
    [
        '.kernel_attr OutputAsmPath="{}/evil.asm"',
        '  .kernel_attr\tAsmName /* x */ = "{}/evil.asm" // y',
        '.kernel_attr \\\nAsmName="{}/evil.asm"',
        '.kernel_attr /* \n */ OutputAsmPath="{}/evil.asm"',
        '.kernel_attr OutputAsmPath="0.asm"\n.kernel_attr OutputAsmPath="{}/evil.asm"',
        '.kernel_attr OutputAsmPath="../evil.asm"',
    ],
)
def test_a_hostile_text_makes_the_finalizer_write_nowhere_else(codes_of, tmp_path, monkeypatch, line):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "tmp").mkdir()
    text = read(OWN.parents[1] / "examples" / "saxpy.visaasm")
    text = text.replace(".kernel_attr SimdSize=16\n", f".kernel_attr SimdSize=16\n{line.format(tmp_path)}\n")
    finalize(codes_of(text), call("TGLLP"))
    assert [path.name for path in tmp_path.rglob("*")] == ["tmp"]


def test_faulty_texts_are_answered_at_the_faulty_line(codes_of):
    """The template of the corpus has its faults in one line, or in the declaration before it."""
    answers = {}
    for path in files("errors/*.visaasm"):
        result = finalize(codes_of(read(path)), call("TGLLP"), with_pressure=False)
        assert result.kernels or result.findings, path
        answers[path.stem] = [(f.rule.name, f.line + 1) for f in result.findings]
    refused = [found for found in answers.values() if ("finalizer-error" in {name for name, _ in found})]
    assert len(refused) > 20
    assert all(name != "finalizer-failure" or len(found) == 1 for found in answers.values() for name, _ in found)


def test_an_unknown_platform_or_option_is_the_users_mistake(codes_of):
    codes = codes_of(read(OWN.parents[1] / "examples" / "saxpy.visaasm"))
    with pytest.raises(ToolError, match="'BMG'"):
        finalize(codes, call("BMG"))
    with pytest.raises(ToolError, match="'-foo'"):
        finalize(codes, call("TGLLP", "-foo"))


def test_a_called_function_stands_in_its_kernel_and_under_its_own_lines(codes_of):
    folder = place("run/TGLLP/stackcall") if HAS_MORE else place("run/TGLLP/deep")
    bodies = [read(path) for path in sorted(folder.glob("*.visaasm"))]
    bodies.sort(key=lambda text: ".global_function" in text)
    text = bodies[0] + "".join(body.partition("\n")[2] for body in bodies[1:])
    result = finalize(codes_of(text), call("TGLLP"), with_pressure=False)
    assert result.findings == ()
    functions = [body for body in result.bodies if not body.is_kernel]
    (kernel,) = result.kernels
    for function in functions:
        assert any(function.line < one.line < function.end for one in kernel.lines), function.name
    for gen, line in under(result, text):
        theirs, ours = GEN_NUMBER.search(gen), NUMBER.search(line)
        assert theirs is None or ours is None or theirs[1] == ours[1]


MOVE = "mov (M1, 1) group_base(0,0)<1> 0x1:ud"


@pytest.mark.parametrize(
    "lines",
    [
        "LOC 3", '.loc 3\n.file "a"', 'FILE "a"', "lab:", "{\n}", f"{{\n{MOVE}\n{MOVE} }}", "lifetime.start index",
        '.function "f"\nf:', f'.function "f"\n{MOVE}\nf:', 'f:\n.function "f"', '.function "f"\nf:\nf:', '.function "f"\ng:',
        '.function "a b"', '.function "f"\n.function "g"\ng:\nf:', '.funcdecl "x"\nx:', '.function "f"\nLOC 3\nf:',
        ".decl Z v_type=G type=d num_elts=8 align=GRF", ".kernel_attr Foo=1", f"/* {MOVE}\n{MOVE} */", f"// {MOVE}",
    ],
)  # fmt: skip
def test_what_stands_before_a_branch_does_not_move_it(codes_of, lines):
    """The line of a branch is found whatever counts or does not count before it."""
    text = read(OWN.parents[1] / "examples" / "saxpy.visaasm")
    text = text.replace("    // Lanes at n", f"{lines}\n    // Lanes at n", 1)
    result = finalize(codes_of(text), call("TGLLP"), with_pressure=False)
    assert result.findings == ()
    places = {line for gen, line in under(result, text) if " goto " in gen}
    assert places == {"    (!P1) goto (M1, 16) done"}
