"""ze_info texts to values: what is read, and what bad texts end in."""

import pytest
from corpus import at_least, files

from visa_lsp.program.payload import BindingTableEntry, PayloadArgument
from visa_lsp.zeinfo.read_kernels import ZeInfoError, read
from visa_lsp.zeinfo.yaml import load

SAXPY = """\
version: '1.20'
kernels:
  - name: saxpy
    execution_env:
      simd_size: 32
      slm_size: 1024
      required_work_group_size: [16, 2, 1]
      something_new: 7
    payload_arguments:
      - {arg_type: arg_bypointer, offset: 0, size: 0, arg_index: 0, addrmode: stateful, addrspace: global}
      - {arg_type: arg_byvalue, offset: 0x20, size: 4, arg_index: 1}
    per_thread_payload_arguments:
      - {arg_type: local_id, offset: 0, size: 192}
    binding_table_indices:
      - {bti_value: 0, arg_index: 0}
kernels_misc_info:
  - name: saxpy
    args_info:
      - {index: 0, name: y, type_name: 'float*;8', address_qualifier: __global}
      - {index: 1, name: a, type_name: 'float;4'}
"""


def test_read_gives_what_a_launch_needs():
    (info,) = read(SAXPY)
    assert info.name == "saxpy"
    assert (info.env.simd_size, info.env.grf_count, info.env.slm_size) == (32, 128, 1024)
    assert info.env.required_work_group_size == (16, 2, 1)
    assert info.payload[1] == PayloadArgument("arg_byvalue", 32, 4, 1)
    assert info.bindings == (BindingTableEntry(0, 0),)
    assert info.argument_count == 2
    assert info.argument_name(1) == "a"


def test_read_gives_no_kernel_where_there_is_none():
    assert read("version: '1.20'\n") == []


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", (1, 1), "ze_info must be a map"),
        ("kernels: 3", (1, 10), "kernels must be a list, not the number 3"),
        ("kernels:\n  - execution_env: {simd_size: 8}", (2, 5), "'name' is missing"),
        ("kernels:\n  - name: k", (2, 5), "'k' has no execution_env"),
        ("kernels:\n  - name: k\n    execution_env: {simd_size: wide}", (3, 32), "simd_size must be a whole number"),
        ("kernels:\n  - {name: k, execution_env: {simd_size: 99999999999999999999}}", (2, 42), "64 bits"),
        (
            "kernels:\n  - name: k\n    execution_env: {simd_size: 8}\n    payload_arguments: [{arg_type: x, offset: -1}]",
            (4, 47),
            "offset is -1",
        ),
        ("a: [1, 2", (1, 9), "expected"),
        ("a: 1\na: 2", (2, 1), "duplicate key 'a', first in line 1"),
        ("? [1]\n: 2", (1, 3), "a key must be a word"),
        ("a: &x [*x]", (1, 4), "nested too deeply"),
        pytest.param("[" * 5000, (1, 1), "nested too deeply", marks=pytest.mark.full),
    ],
)
def test_read_refuses_with_a_place(text, place, words):
    with pytest.raises(ZeInfoError) as error:
        read(text)
    assert words in error.value.message
    assert place == (error.value.line, error.value.column)


def test_aliases_do_not_multiply():
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{name}: &{name} [{', '.join(['*' + below] * 10)}]" for below, name in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    with pytest.raises(ZeInfoError, match="aliases that multiply"):
        read("\n".join(lines))


@pytest.mark.corpus
def test_read_takes_every_ze_info_of_the_corpus():
    paths = files("run/TGLLP/*/*.zeinfo.yaml", "dev42/bmg/*.zeinfo.yaml")
    infos = [info for path in paths for info in read(path.read_text())]
    assert len(infos) >= at_least(30, 80)
    assert all(info.env.simd_size in (8, 16, 32) for info in infos)


def test_an_anchor_may_be_given_again_without_a_warning(recwarn):
    load("a: &x 1\nb: *x\nc: &x 2\nd: *x\n")
    assert not recwarn.list
