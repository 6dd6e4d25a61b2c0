"""Programs from OpenCL C and SPIR-V, and memory at addresses that outlives a launch."""

import shutil
import subprocess
import sys

import numpy as np
import pytest

import visa_lsp

pytestmark = pytest.mark.skipif(shutil.which("ocloc") is None, reason="ocloc is not installed")
SOURCE = """struct node { global struct node *next; int value; };
kernel void walk(global struct node *n, global int *sum) {
  int s = 0;
  for (; n; n = n->next) s += n->value;
  *sum = s;
}
kernel void twice(global const int *x, global int *y, int step) {
  int i = get_global_id(0);
  y[i] = 2 * x[i * step];
}
"""
NODE = np.dtype([("next", np.uint64), ("value", np.int32), ("unused", np.int32)])


@pytest.fixture(scope="module")
def program():
    return visa_lsp.compile_program(SOURCE)


def test_pointers_in_memory_lead_to_live_allocations(program):
    walk = program.kernels["walk"]
    assert [(a.name, a.kind, a.type) for a in walk.arguments] == [
        ("n", "buffer", "struct node*"),
        ("sum", "buffer", "int*"),
    ]
    context = visa_lsp.Context()
    last = context.copy(np.array([(0, 5, 0)], NODE))
    start = context.copy(np.array([(last.address, 7, 0)], NODE))
    total = context.allocate(1, np.int32)
    result = walk.launch(1, 1, [start, total], context=context)
    assert (result.faults, total.array.tolist(), len(context.allocations)) == ([], [12], 3)
    context.free(last)
    faults = walk.launch(1, 1, [start, total], context=context).faults
    assert [(fault.kind, hex(last.address + 8) in fault.message) for fault in faults] == [("out-of-bounds", True)]
    with pytest.raises(ValueError, match="no longer"):
        context.free(last)


def test_undefined_bytes_stay_undefined_until_they_are_written(program):
    twice, context = program.kernels["twice"], visa_lsp.Context()
    x, y = context.allocate(16, np.int32), context.allocate(16, np.int32)
    assert [f.kind for f in twice.launch(1, 16, [x, y, 1], context=context).faults] == ["uninitialised-read"]
    x.array[:] = range(16)
    assert twice.launch(1, 16, [x, y, 1], context=context).ok
    assert y.array.tolist() == list(range(0, 32, 2))


def test_a_pointer_leads_into_an_allocation(program):
    twice, context = program.kernels["twice"], visa_lsp.Context()
    x, y = context.copy(np.arange(16, dtype=np.int32)), context.allocate(16, np.int32)
    assert twice.launch(1, 16, [x.address + 60, y, -1], context=context).faults == []
    assert y.array.tolist() == list(range(30, -2, -2))
    faults = twice.launch(1, 16, [x.address + 56, y, -1], context=context).faults
    assert [(fault.kind, fault.lane) for fault in faults] == [("out-of-bounds", 15)]
    for words, arguments, more in [
        ("no allocation of the context has the address", [x.address - 4, y, 1], {"context": context}),
        ("a pointer needs the context", [x, y, 1], {}),
    ]:
        with pytest.raises(visa_lsp.LaunchError, match=words):
            twice.launch(1, 16, arguments, **more)


def test_sources_options_and_spirv_are_compiled(tmp_path):
    path = tmp_path / "add.cl"
    path.write_text("kernel void add(global int *x) { x[get_global_id(0)] += BY; }")
    subprocess.run(
        [sys.executable, "-m", "visa_lsp", "compile", "add.cl", "--keep-ir", "--options", "-DBY=3"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    for program in (
        visa_lsp.compile_program(path, "-DBY=3"),
        visa_lsp.compile_program((tmp_path / "add.spv").read_bytes()),
    ):
        x = np.arange(16, dtype=np.int32)
        assert program.launch(groups=1, local_size=16, args={"x": x}).ok
        assert x.tolist() == list(range(3, 19))
    with pytest.raises(visa_lsp.TextError, match="undeclared identifier 'BY'") as caught:
        visa_lsp.compile_program(path)
    assert [(finding.line, finding.severity) for finding in caught.value.findings] == [(1, "error")]
    with pytest.raises(visa_lsp.LaunchError, match="nowhere"):
        visa_lsp.compile_program(path, ocloc=str(tmp_path / "nowhere"))
