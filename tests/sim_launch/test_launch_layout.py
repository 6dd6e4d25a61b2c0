"""Where per-thread and cross-thread bytes lie: against every kernel that the compiler printed, and by hand."""

import csv

import numpy as np
import pytest
from corpus import files

from visa_lsp.codec.decode import decode
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.payload import ExecutionEnv, KernelInfo, PayloadArgument
from visa_lsp.sim.launch.config import LaunchError
from visa_lsp.sim.launch.layout import Geometry, GroupPayload, LaunchLayout
from visa_lsp.zeinfo.read_kernels import read

HEADER = {"global_id_offset", "local_size"}


@pytest.mark.corpus
@pytest.mark.parametrize("platform", ["BDW", "SKL", "BXT", "ICLLP", "TGLLP", "XeHP_SDV", "DG2", "PVCXT"])
def test_every_input_of_the_corpus_is_one_payload_argument(platform):
    checked = 0
    where = platform_named(platform)
    for index, row in ((i, row) for i in files("dev/index.tsv") for row in csv.DictReader(i.open(), delimiter="\t")):
        if row["platform"] != platform or row["object_kind"] != "kernel" or not row["ze_info"]:
            continue
        infos = {info.name: info for info in read((index.parent / row["ze_info"]).read_text())}
        kernel = decode((index.parent / row["isa"]).read_bytes()).kernels[0]
        if kernel.name not in infos:
            continue
        info = infos[kernel.name]
        geometry = Geometry(kernel.int_attribute("SimdSize"), where.grf_bytes, (1, 1, 1), (64, 1, 1))
        layout = LaunchLayout.of(info, geometry, where)
        for entry in kernel.inputs:
            if entry.offset < layout.payload.cross_start:
                assert entry.offset + entry.size <= layout.payload.cross_start, row["text"]
                continue
            hits = {
                a
                for a in info.payload
                if layout.payload.place(a.offset) < entry.offset + entry.size
                and layout.payload.place(a.offset) + a.size > entry.offset
            }
            if entry.offset == layout.payload.cross_start and {a.arg_type for a in hits} <= HEADER:
                continue
            assert len(hits) == 1, row["text"]
            checked += 1
    assert checked > 20


def test_lanes_of_the_last_thread_are_masked():
    geometry = Geometry(16, 32, (1, 1, 1), (20, 1, 1))
    assert geometry.threads == 2
    assert [geometry.lanes(n) for n in range(3)] == [0xFFFF, 0xF, 0]


def test_local_ids_go_x_first_and_absent_lanes_are_zero():
    ids = Geometry(8, 32, (1, 1, 1), (3, 3, 1)).local_ids()
    assert ids.shape == (2, 3, 8)
    assert ids[0, 0].tolist() == [0, 1, 2, 0, 1, 2, 0, 1]
    assert ids[0, 1].tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert ids[1, 0].tolist() == [2, 0, 0, 0, 0, 0, 0, 0]


def test_local_ids_follow_the_walk_order():
    ids = Geometry(8, 32, (1, 1, 1), (4, 2, 1), walk_order=(1, 0, 0)).local_ids()
    assert ids[0, 1].tolist() == [0, 1, 0, 1, 0, 1, 0, 1]
    assert ids[0, 0].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_a_group_that_is_too_large_is_refused():
    with pytest.raises(LaunchError, match="too large"):
        Geometry(8, 32, (1, 1, 1), (1 << 20, 1 << 20, 1)).local_ids()


@pytest.mark.parametrize(
    ("platform", "simd", "start"), [("TGLLP", 32, 224), ("TGLLP", 16, 128), ("TGLLP", 8, 128), ("PVCXT", 16, 256)]
)
def test_cross_thread_data_start_behind_the_local_ids(platform, simd, start):
    where = platform_named(platform)
    geometry = Geometry(simd, where.grf_bytes, (1, 1, 1), (8, 1, 1))
    per_dimension = -(-2 * simd // where.grf_bytes) * where.grf_bytes
    info = KernelInfo("k", ExecutionEnv(simd), per_thread=(PayloadArgument("local_id", 0, 3 * per_dimension),))
    assert LaunchLayout.of(info, geometry, where).payload.cross_start == start


def test_inline_data_smaller_than_a_row_have_it_for_themselves():
    where = platform_named("BMG")
    geometry = Geometry(16, where.grf_bytes, (1, 1, 1), (8, 1, 1))
    layout = LaunchLayout.of(KernelInfo("k", ExecutionEnv(16, inline_data_payload_size=32)), geometry, where)
    assert [layout.payload.place(offset) - layout.payload.cross_start for offset in (0, 24, 32, 40)] == [0, 24, 64, 72]


def test_payload_has_group_ids_and_thread_number_in_r0():
    block = GroupPayload(Geometry(8, 32, (4, 4, 4), (16, 1, 1)), 100)
    block.put(64, b"\x01\x02")
    words = np.frombuffer(block.payload((1, 2, 3), 1), np.uint32)
    assert words.nbytes == 128
    assert (words[1], words[6], words[7], words[2], words[16]) == (1, 2, 3, 1, 0x201)
