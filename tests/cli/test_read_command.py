"""``visa-lsp read``: pseudo-code on standard output or in a file, parts of it, and what it refuses."""

import html
import json
import re
from pathlib import Path

from visa_lsp.cli.main import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TEXT = str(EXAMPLES / "mandelbrot.visaasm")


def test_a_kernel_is_printed_with_the_names_of_its_arguments(printed):
    out = printed("read", TEXT)
    assert out.startswith("kernel void mandel(global uchar4 *img, int w, int h, float x0, float y0,")
    assert out.endswith("}\n")
    assert " = fma((float)x, d, x0);" in out


def test_the_prelude_comes_before_the_c_of_a_file(printed):
    prelude = printed("read", "--prelude")
    assert "typedef unsigned int uint;" in prelude
    out = printed("read", TEXT, "--format", "c")
    assert out.startswith(prelude)
    assert "kernel void mandel(" in out
    assert main(["read"]) == 2


def test_a_kernel_without_instructions_is_an_empty_body(printed, tmp_path):
    path = tmp_path / "k.visaasm"
    path.write_text('.version 4.1\n.kernel "k"\n.kernel_attr SimdSize=16\n')
    assert printed("read", str(path)) == "kernel void k(void) {  // 16 lanes\n}\n"


def test_json_tells_the_lines_of_the_text(printed):
    (kernel,) = json.loads(printed("read", TEXT, "--format", "json"))["kernels"]
    text = Path(TEXT).read_text().splitlines()
    (line,) = [one for one in kernel["lines"] if "fma((float)x, d, x0)" in one["text"]]
    assert [text[number - 1].split()[0] for number in line["visa"]] == ["mov", "mad"]
    assert (kernel["name"], kernel["kind"], kernel["structured"], kernel["kept_as_visa"]) == (
        "mandel",
        "kernel",
        True,
        0,
    )


def test_a_page_has_the_pseudo_code_beside_the_text_and_ties_their_lines(printed, here):
    text = (
        Path(TEXT)
        .read_text()
        .replace("_main_0:", '    FILE "m.cl"\n    LOC 2\n_main_0: // </code><script>alert(1)</script>', 1)
    )
    (here / "m.visaasm").write_text(text)
    (here / "m.cl").write_text("// the source\nvoid f() {}\n")
    page = printed("read", "m.visaasm", "--format", "html")
    visa, code = (
        re.search(rf'<div class="column {name}">(.*?)</div></div>', page, re.DOTALL)[1] for name in ("visa", "code")
    )
    bare = [html.unescape(re.sub("<[^>]*>", "", line)) for line in re.findall("<code>(.*?)</code>", visa)]
    assert [line.rstrip() for line in bare] == [line.rstrip() for line in text.splitlines()]
    (numbers,) = re.findall(r'data-v="([\d ]+)"[^>]*><i>\d+</i><code>[^<]*<span class="typ">float</span> sum2 ', code)
    assert [bare[int(number) - 1].split()[0] for number in numbers.split()] == ["mov", "mad"]
    assert re.search(rf'data-v="{numbers.split()[0]}" data-s="2"', visa)
    assert "// the source" in page
    assert "default-src 'none'" in page
    assert page.count("<script>") == 1
    assert not re.search("<(link|img|iframe)|https?:", page)


def test_an_object_reads_as_its_text(tmp_path, capsys):
    assert main(["asm", TEXT, "-o", str(tmp_path / "m.isa")]) == 0
    assert main(["read", str(tmp_path / "m.isa"), "-o", str(tmp_path / "m.txt")]) == 0
    assert "    while (" in (tmp_path / "m.txt").read_text()
    assert capsys.readouterr().out == ""


def test_a_text_with_errors_is_not_read(refused, tmp_path):
    path = tmp_path / "bad.visaasm"
    path.write_text('.version 4.1\n.kernel "k"\n    mov (M1, 1) nowhere(0,0)<1> 0x1:d\n    ret (M1, 1)\n')
    assert "nowhere" in refused("read", str(path), status=1)
