"""Parts of a body that repeat become functions: the C is compiled before and after, and both leave the same."""

import subprocess

import pytest
from c_runner import COMPILER
from test_line_rules import nodes, texts

from visa_lsp.app.read.code_lines import Line, Node, walk
from visa_lsp.app.read.lines import print_lines
from visa_lsp.app.read.prelude import read_prelude
from visa_lsp.app.read.repeated_parts import share_parts

PARAMETERS = {"a": "global int *", "b": "global int *", "n": "int", "u": "uint"}
MAIN = """
int main(void) {
    for (int n = -9; n < 10; n++) {
        int a[64], b[64] = {0};
        for (int i = 0; i < 64; i++) a[i] = (i * 37 + n * 11) % 23 - 9;
        k(a, b, n, (uint)n * 7);
        for (int i = 0; i < 64; i++) printf("%d %d\\n", a[i], b[i]);
    }
}
"""


def unrolled(count, *lines):
    """Return lines as often as that, with ``#`` as the number."""
    return [line.replace("#", str(number)) for number in range(count) for line in lines]


# Name, lines, words of the declaration of the function, and of the first call.
SHARED = {
    "returned": (
        ["int sum = n;", *unrolled(4, "int v# = a[#];", "if (v# > n) {", "sum += v# * 3;", "} else {", "sum ^= v#;", "}"), "b[0] = sum;"],
        "static int k_part(global int *a, int index, int n, int sum)", "sum = k_part(a, 0, n, sum);",
    ),
    "by_pointers": (
        ["int sum = n;", "uint t = u;", *unrolled(4, "int v# = a[# + 3];", "sum += v#;", "t = t * 5 + v#;", "if (t > 100) {", "t >>= 2;", "b[#] = sum;", "}"), "b[9] = sum;", "b[10] = t;"],
        "static void k_part(global int *a, int index, global int *b, int *sum, uint *t)", "k_part(a, 0, b, &sum, &t);",
    ),
    "leaves": (
        ["int sum = 0;", *unrolled(6, "if (a[#] > n) {", "b[1] = sum + 1;", "b[2] = a[#];", "return;", "}", "sum += a[#] & 3;", "sum ^= n;"), "b[3] = sum;"],
        "static bool k_part(", "if (k_part(a, 0, n, b, &sum)) return;",
    ),
    "leaves_a_loop": (
        ["int sum = 0;", "for (int j = 0; j < 5; j++) {", *unrolled(7, "for (int k = #;; k++) {", "sum += a[k & 31];", "if (k > n) break;", "}", "if (sum > 60) {", "b[1] = sum + #;", "break;", "}"), "sum += 7;", "}", "b[3] = sum;"],
        "static bool k_part(", "if (k_part(",
    ),
    "used_after": (
        [*unrolled(3, "int v#;", "if (a[#] > n) {", "v# = a[#] * 3;", "} else if (a[#] == 2) {", "v# = -n;", "} else {", "v# = 7;", "}"), "b[0] = v0 + v1 * v2;"],
        "static int k_part(global int *a, int index, int n)", "int v0 = k_part(a, 0, n);",
    ),
    "sums_with_numbers": (
        [*unrolled(6, "int v# = a[n * n + # - # + 3];", "b[#] = v#;", "b[# + 8] = v# * n;", "b[# + 16] = v# - n;", "b[# + 24] = v# ^ n;", "b[# + 32] = v# | n;")],
        "static void k_part(", "k_part(",
    ),
    "other_targets": (
        ["int s = 1;", "int t = 2;", "int x = 3;", "int y = 4;", *[line.replace("#", name) for name in ("s", "t", "x", "y") for line in ("if (a[2] > n) {", "# += 2;", "} else {", "# -= n;", "}", "# *= 3;")], "b[0] = s + t * 3 + x * 5 + y * 7;"],
        "static int k_part(global int *a, int n, int s)", "s = k_part(a, n, s);",
    ),
    "arguments": (
        ["int sum = 0;", *[line.replace("#", str(i)).replace("@", op) for i, op in enumerate("+-^|&") for line in ("int d# = a[#] @ n;", "int e# = a[d# & 7] @ (d# & 3);", "sum += e# * 5;", "if (sum > 40) {", "sum -= 7;", "b[#] = sum;", "}", "sum ^= e#;")], "b[9] = sum;"],
        "static int k_part(int e0, global int *b, int index, int sum)", "sum = k_part(a[d0 & 7] + (d0 & 3), b, 0, sum);",
    ),
}  # fmt: skip
REFUSED = {
    "jumps inside": unrolled(4, "b[#] = n;", "if (a[#] > n) goto L#;", "b[# + 8] = n;", "b[# + 16] = n;", "b[# + 24] = n;", "L#:;"),
    "lanes together": unrolled(4, "b[#] = n;", "b[# + 8] = ballot(n > #);", "b[# + 16] = n;", "b[# + 24] = n;", "b[# + 32] = n;"),
    "two ways out": ["for (;;) {", *unrolled(4, "if (a[#] > n) {", "b[1] = #;", "return;", "}", "if (a[#] < n) {", "b[2] = #;", "break;", "}"), "break;", "}"],
    "too few lines": unrolled(4, "b[#] = n;", "b[# + 8] = n + 1;"),
    "memory read later": ["int t = 0;", *[line.replace("#", value) for value in ("a[3]", "b[1]", "n", "t") for line in ("b[1] = 2;", "t += #;", "b[2] = t;", "t ^= n;", "b[3] = t * 5;")]],
}  # fmt: skip


def printed(body, functions):
    heads = "".join(f"{function.head};\n" for function in functions)
    own = Node("void k(global int *a, global int *b, int n, uint u) {", inner=body, tail=Line("}"))
    others = [Node(f"{function.head} {{", inner=function.code, tail=Line("}")) for function in functions]
    return heads + "\n".join(line.text for line in print_lines([own, *others], ""))


def output_of(text, folder):
    (folder / "k.c").write_text(f"{read_prelude()}\n#include <stdio.h>\n{text}{MAIN}")
    subprocess.run([COMPILER, "-w", "-fwrapv", "-o", folder / "k", folder / "k.c", "-lm"], check=True)
    return subprocess.run([folder / "k"], check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
@pytest.mark.parametrize("name", SHARED)
def test_the_function_leaves_what_the_parts_left(name, tmp_path):
    lines, head, call = SHARED[name]
    before, after = nodes(*lines), nodes(*lines)
    for number, node in enumerate(walk(after)):
        node.places = (number,)
    (function,) = functions = share_parts(after, "k", PARAMETERS)
    assert function.head.startswith(head)
    assert any(text.startswith(call) for text in texts(after)), texts(after)
    assert len(texts(after)) + len(texts(function.code)) < len(texts(before)) - 4
    places = {place for node in [*walk(after), *walk(function.code)] for place in node.places}
    assert places == set(range(len(list(walk(before)))))
    assert output_of(printed(after, functions), tmp_path) == output_of(printed(before, []), tmp_path)


@pytest.mark.parametrize("lines", REFUSED.values(), ids=REFUSED)
def test_parts_that_are_no_function_stay(lines):
    body = nodes(*lines)
    assert share_parts(body, "k", PARAMETERS) == []
    assert texts(body) == texts(nodes(*lines))
