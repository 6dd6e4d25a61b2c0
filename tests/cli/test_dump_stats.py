"""The command ``stats`` on native dumps: figures, formats, two folders, limits, baselines, ze_info that contradicts."""

import csv
import functools
import io
import json

import pytest

HEAD = """\
//.kernel {name}
//.platform TGLLP
//.thread_config numGRF=128, numAcc=2, numSWSB=16
//.options_string ""
//.instCount 9
//.RA type	GRAPH_COLORING_SPILL_FF_RA
"""
SPILLS = "//.spill size 512\n//.spill GRF est. ref count 3\n"
PRIVATE = "//.private memory size 1024\n"
CODE = """
//.declare V0033 (39)  rf=r size=32 type=d alias=+0 align=16 words (r0.0)
// B000: Preds:{},  Succs:{B001}
_main_0:
(W)     or (32|M0)               cr0.0<1>:ud   cr0.0<0;1,0>:ud   0x4C0:uw              {@1}          // $0
        sync.nop                             null                             {Compacted,$2.dst}     // $2
        add (8|M8)               r2.0<1>:d     r3.0<8;8,1>:d     r4.0<8;8,1>:d    {I@1}              // $2
(f0.0)  dpas.8x8 (8|M0)          r40:d         null:d            r8:b              r6.0:b            // $3
        load.ugm.d32.a64 (16|M0)  r11:2         [r6:4]             {I@1,$1} // ex_desc:0x0; desc:0x8200580 // $4
        send.dc0 (8|M0)          null     r3      r4      0x40            0x020F0000           {@1,$0} // wr:1h+1, rd:0; hword scratch block write x1 //  scratch space spill: V5 from offset[0x32]; $5
(W)     send.dc0 (8|M0)          r4       r3      null    0x40            0x020F0000           {@1,$0} // wr:1h+0, rd:1; hword scratch block read x1 //  scratch space fill: V5 from offset[0x32]; $6
(W)     send.ts (8|M0)           null     r127    null    0x0            0x02000010           {EOT} // wr:1+0, rd:0; end of thread // $7
L176:
        nop                                                                                          // $7


//.BankConflicts: 3
//.SIMD8s: 298
"""
ZE_INFO = """\
version: '1.20'
kernels:
  - name: k
    execution_env: {{grf_count: 128, simd_size: 16{env}}}
{buffers}"""
FIGURES = {
    "name": "k", "platform": "TGLLP", "instructions": 9, "simd": 16, "grf": 128, "spill_bytes": 512, "spills": 1,
    "fills": 1, "private_bytes": 1024, "allocation": "GRAPH_COLORING_SPILL_FF_RA", "dpas": 1, "sends": 4, "syncs": 1,
    "bank_conflicts": 3,
}  # fmt: skip


def dump(name="k", spills=SPILLS):
    return HEAD.format(name=name) + spills + PRIVATE + CODE


@pytest.fixture
def stats(run, here):
    (here / "k.asm").write_text(dump())
    return functools.partial(run, "stats")


def test_json_has_the_figures_of_a_dump(stats):
    status, out, err = stats("k.asm", "--format", "json")
    assert (status, err) == (0, "")
    assert json.loads(out) == {"kernels": [], "dumps": [{"path": "k.asm", **FIGURES}]}


def test_one_dump_is_a_line_and_several_are_a_table(stats, tmp_path):
    assert stats("k.asm")[1] == (
        "k on TGLLP: 9 instructions, SIMD16, 128 GRF, 512 bytes spilled by 1 message, filled by 1, 1024 bytes of private memory, "
        "4 sends, 1 sync, 1 dpas, 3 bank conflicts, GRAPH_COLORING_SPILL_FF_RA\n"
    )
    (tmp_path / "bare.asm").write_text("//.kernel bare\n        nop\n")
    _, out, _ = stats("k.asm", "bare.asm")
    head, *rows = out.splitlines()
    assert head.split()[:4] == ["kernel", "instructions", "SIMD", "GRF"]
    assert [row.split()[:5] for row in rows] == [["k", "9", "16", "128", "512"], ["bare", "1", "1", "-", "0"]]


def test_a_folder_has_its_dumps_and_texts_and_no_files_of_other_assemblers(stats, tmp_path):
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "k.asm").write_text(dump())
    (folder / "boot.asm").write_text("section .text\nmov eax, 1\n")
    (folder / "k.visaasm").write_text('.version 4.1\n.kernel "k"\n    ret (M1, 1)\n')
    (folder / "k.isa").write_bytes(b"CISA truncated")
    status, out, err = stats("d", "--format", "json")
    assert (status, err) == (0, "")
    answer = json.loads(out)
    assert [one["path"] for key in ("kernels", "dumps") for one in answer[key]] == ["d/k.visaasm", "d/k.asm"]
    rows = list(csv.DictReader(io.StringIO(stats("d", "--format", "csv")[1])))
    assert [(row["kernel"], row["name"], row["spill_bytes"]) for row in rows] == [("k", "", ""), ("", "k", "512")]


def test_two_folders_are_compared_kernel_by_kernel(stats, tmp_path):
    for side, files in {
        "a": {"same.asm": dump("same"), "hash1_k.asm": dump(), "old.asm": dump("old")},
        "b": {"same.asm": dump("same"), "hash2_k.asm": dump(spills=""), "new.asm": dump("new")},
    }.items():
        (tmp_path / side).mkdir()
        for name, text in files.items():
            (tmp_path / side / name).write_text(text)
    status, out, _ = stats("--compare", "a", "b", "--format", "json")
    pairs = {
        one["name"]: (one["a"] and one["a"]["path"], one["b"] and one["b"]["path"]) for one in json.loads(out)["pairs"]
    }
    assert (status, pairs) == (
        0,
        {"same": ("a/same.asm", "b/same.asm"), "k": ("a/hash1_k.asm", "b/hash2_k.asm"), "old": ("a/old.asm", None), "new": (None, "b/new.asm")},
    )  # fmt: skip
    _, out, _ = stats("--compare", "a", "b")
    assert "512 -> 0" in out
    assert out.endswith("1 of 4 kernels have equal figures\n")
    rows = list(csv.DictReader(io.StringIO(stats("--compare", "a", "b", "--format", "csv")[1])))
    assert [(row["name"], row["spill_bytes_a"], row["spill_bytes_b"]) for row in rows] == [
        ("k", "512", "0"), ("old", "512", ""), ("same", "512", "512"), ("new", "", "512"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ("a",),
        ("k.asm", "k.asm", "--max-spill", "1"),
        ("k.asm", "empty"),
        ("k.asm", "text.asm"),
        ("k.asm", "k.asm", "k.asm"),
    ],
)
def test_what_cannot_be_compared_is_a_usage_mistake(stats, tmp_path, words):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.asm").write_text("mov eax, 1\n")
    status, out, err = stats("--compare", *words)
    assert (status, out) == (2, "")
    assert "expected" in err


def test_spills_have_a_limit_and_a_baseline(stats, tmp_path):
    assert stats("k.asm", "--max-spill", "512")[0] == 0
    status, _, err = stats("k.asm", "--max-spill", "511")
    assert (status, err) == (1, "k.asm:1: kernel 'k' needs 512 bytes for spills, more than --max-spill 511\n")
    status, _, err = stats("k.asm", "--write-baseline", "known.json")
    assert (status, err) == (0, "known.json: 1 kernel\n")
    assert stats("k.asm", "--baseline", "known.json")[0] == 0
    (tmp_path / "k.asm").write_text(dump().replace("size 512", "size 1024"))
    status, _, err = stats("k.asm", "--baseline", "known.json")
    assert (status, err) == (
        1,
        "k.asm:1: kernel 'k' needs 1024 bytes for spills, 512 more than the 512 of known.json\n",
    )


def test_a_baseline_holds_for_the_dumps_of_a_changed_source(stats, tmp_path):
    before, after = (f"OCL_asm{digest * 16}_simd16_entry_0001.asm" for digest in "0f")
    (tmp_path / before).write_text(dump(spills=""))
    assert stats(before, "--write-baseline", "known.json")[0] == 0
    (tmp_path / after).write_text(dump())
    status, _, err = stats(after, "--baseline", "known.json")
    assert (status, err.endswith("needs 512 bytes for spills, 512 more than the 0 of known.json\n")) == (1, True)


@pytest.mark.parametrize(
    ("env", "buffers", "is_told"),
    [
        ("", "", True),
        (
            ", spill_size: 0",
            "    per_thread_memory_buffers:\n      - {type: scratch, usage: private_space, size: 64}\n",
            True,
        ),
        (", spill_size: 512", "", False),
        ("", "    per_thread_memory_buffers:\n      - {type: scratch, usage: single_space, size: 1024}\n", False),
    ],
)
def test_a_spill_that_ze_info_does_not_have_is_a_finding(stats, tmp_path, env, buffers, is_told):
    (tmp_path / "k.zeinfo.yaml").write_text(ZE_INFO.format(env=env, buffers=buffers))
    status, _, err = stats("k.asm")
    told = "k.asm:7:1: warning V925 undeclared-spill: 'k' spills 512 bytes, but k.zeinfo.yaml says that it spills nothing\n"
    assert (status, err) == ((1, told) if is_told else (0, ""))


def test_an_attempt_that_was_thrown_away_is_no_finding(stats, tmp_path):
    (tmp_path / "k.zeinfo.yaml").write_text(ZE_INFO.format(env="", buffers=""))
    (tmp_path / "retry.asm").write_text(dump(spills=""))
    assert stats("k.asm", "retry.asm")[0] == 0
    (tmp_path / "k.zeinfo.yaml").write_text(ZE_INFO.format(env="", buffers="").replace("simd_size: 16", "simd_size: 8"))
    assert stats("k.asm")[0] == 0
