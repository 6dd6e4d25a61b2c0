"""vISA in a long C++ file: opening it, keystrokes away from vISA and in it, and a vISA text as long as the vISA for comparison.

CPU time of the process. A keystroke counts until the findings are there, as the server sends them; with it counts what is read again
where what was typed may reach beyond its line. The file is generated: functions, classes, comments, strings.
Usage: python -m benchmarks.embedded [LINES]
"""

from __future__ import annotations

import gc
import random
import statistics
import time
from typing import TYPE_CHECKING, Final

from benchmarks.measure import Machine, read_number, table
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.embed.host_findings import findings
from visa_lsp.embed.host_text import HostText
from visa_lsp.embed.languages import Host

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCKS: Final = 40
_AIMS: Final = {"open": 300.0, "outside": 10.0}
_ROUNDS: Final = 9
_PLAIN: Final = """
/// Values that belong together, by index; "quoted" words and 'others' stand in comments too.
template <typename T, int N>
struct Table{n} {{
  T values[N] = {{}};
  const char *name = "table {n}: %d of \\"%s\\"\\n";
  [[nodiscard]] constexpr T at(int index) const {{ return index < N ? values[index] : T{{}}; }}
}};

static int helper_{n}(const std::vector<int> &input, Table{n}<int, {m}> *table) {{
  int total = {m};
  for (std::size_t i = 0; i < input.size(); ++i) {{
    if (input[i] % {m} == 0) {{
      total += table->at(static_cast<int>(i)) * (input[i] >> 2);  // a shift
    }} else {{
      total -= std::max(input[i], '\\n' + {m});
    }}
  }}
  return total;
}}
"""
_KERNEL: Final = """
template <typename T>
void kernel_{n}(sycl::queue &queue, T *data, float factor) {{
  queue.parallel_for(sycl::nd_range<1>(1024, 16), [=](sycl::nd_item<1> item) [[sycl::reqd_sub_group_size(16)]] {{
    float value = data[item.get_global_id(0)];
    int count_{n} = {n};
    asm volatile("{{\\n"
                 ".decl wide_{n} v_type=G type=f num_elts=16 align=GRF\\n"
                 ".decl flag_{n} v_type=P num_elts=16\\n"
                 "mul (M1, 16) wide_{n}(0,0)<1> %0(0,0)<1;1,0> %1(0,0)<1;1,0>\\n"
                 "cmp.lt (M1, 16) flag_{n} %2(0,0)<1;1,0> 0x{n:x}:d\\n"
                 "(flag_{n}) sel (M1, 16) %0(0,0)<1> wide_{n}(0,0)<1;1,0> %1(0,0)<1;1,0>\\n"
                 "}}\\n"
                 : "+rw"(value)
                 : "rw"(factor), "rw"(count_{n}));
    data[item.get_global_id(0)] = value;
  }});
}}
"""


def host(lines: int, seed: int = 1) -> str:
    """Return a C++ file of about so many lines with ``BLOCKS`` blocks of vISA, spread over it."""
    draw = random.Random(seed)
    parts = ["#include <sycl/sycl.hpp>\n#include <vector>\n"]
    each = max(1, (lines - BLOCKS * _KERNEL.count("\n")) // BLOCKS // _PLAIN.count("\n"))
    for n in range(BLOCKS):
        parts += [_PLAIN.format(n=n * each + m, m=draw.randrange(2, 900)) for m in range(each)]
        parts.append(_KERNEL.format(n=n))
    return "".join(parts)


def _took(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1e3


def _type(snapshot: HostText, words: str, new: str) -> list[float]:
    """Return the milliseconds of typing behind words in the middle of the file and of undoing it, in turn."""
    text = snapshot.document.text
    at = text.index(words, len(text) // 2) + len(words)
    times = []

    def edit(start: int, end: int, put: str) -> None:
        nonlocal snapshot
        snapshot = snapshot.edit(snapshot.document.edit(start, end, put))
        findings(snapshot)

    for _ in range(_ROUNDS):
        times.append(_took(lambda: edit(at, at, new)))
        times.append(_took(lambda: edit(at, at + len(new), "")))
    return times


def _type_in_visa(text: str) -> list[float]:
    analysis = Analysis.of(text)
    analysis.diagnostics  # noqa: B018 - judges the text before the keystroke
    at = text.index("mul (M1, 16)", len(text) // 2) + 3
    times = []

    def edit(start: int, end: int, put: str) -> None:
        nonlocal analysis
        analysis = analysis.edit(start, end, put)
        analysis.diagnostics  # noqa: B018

    for _ in range(_ROUNDS):
        times.append(_took(lambda: edit(at, at, "x")))
        times.append(_took(lambda: edit(at, at + 1, "")))
    return times


def main(lines: int) -> None:
    machine, text = Machine(), host(lines)
    snapshot = HostText.of(text, Host.CPP)
    findings(snapshot)
    visa = snapshot.visa_text
    opening = [_took(lambda: findings(HostText.of(text, Host.CPP))) for _ in range(3)]
    rows: list[list[object]] = [["opening", statistics.median(opening), max(opening), _AIMS["open"]]]
    kinds = (
        ("a letter outside", "total += table->at", "x", _AIMS["outside"]),
        ("a line outside", "*table) {", "\n  int more = 1;", _AIMS["outside"]),
        ("a letter beside vISA", "int count_", "x", ""),
        ("a letter in a mnemonic", '"mul', "x", ""),
        ("a line of vISA", '<1;1,0>\\n"\n', '                 "mov (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0>\\n"\n', ""),
        ("a quote outside", "total += table->at", '"', ""),
        ("a brace outside", "total += table->at", "{", ""),
        ("a comment opened outside", "total += table->at", "/*", ""),
        ("a block begun", "*table) {\n", "  asm", ""),
    )  # fmt: skip
    for name, words, new, aim in kinds:
        times = _type(snapshot, words, new)
        rows.append([name, statistics.median(times), max(times), aim])
    times = _type_in_visa(visa)
    rows.append(["a letter in a vISA text", statistics.median(times), max(times), ""])
    title = (
        f"{text.count(chr(10))} lines of C++, {BLOCKS} blocks, {visa.count(chr(10))} lines of vISA; {machine.words()}"
    )
    table(title, ["", "CPU ms", "worst", "aim"], rows)


if __name__ == "__main__":
    main(int(read_number(__doc__, "lines", 20_000)))
