"""Launch files: what each key gives, and what each mistake says."""

from pathlib import Path

import numpy as np
import pytest

from visa_lsp.app.launch.file import parse_launch, read_launch_file
from visa_lsp.sim.launch.config import ImageArg, LaunchError, LocalArg, SamplerArg

FULL = """\
kernel: k
platform: tgllp
groups: [4, 2]
local_size: 256
global_offset: [8, 0, 0]
symbols: {TAB: {dtype: int32, values: [1, 2, 3]}}
args:
  - {buffer: {dtype: float32, shape: [2, 3], init: arange}}
  - {value: 2.5, dtype: float32}
  - {values: [1, 2, 3, 4], dtype: int16}
  - {local: 1024}
  - {image: {dtype: uint8, shape: [5, 7, 4], random: 3}}
  - {sampler: {address: clamp_to_edge, filter: linear, normalized: true}}
  - {buffer: {dtype: uint64, values: [0xffffffffffffffff, 0]}}
  - {buffer: {dtype: int8, shape: 4, init: {random: 9}}}
expect:
  - {arg: 0, values: [0, 1, 2, 3, 4, 5], rtol: 1.0e-6, ulp: 2}
"""


def parse(text, folder=Path()):
    return parse_launch(text, folder / "k.launch.yaml")


def test_every_key_is_read():
    launch = parse(FULL)
    config = launch.config
    assert (config.kernel, launch.platform) == ("k", "TGLLP")
    assert (config.groups, config.local_size, config.global_offset) == ((4, 2, 1), (256, 1, 1), (8, 0, 0))
    assert config.symbols["TAB"].tolist() == [1, 2, 3]
    first, scalar, vector, local, image, sampler, big, noise = config.args
    assert first.array.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert (scalar.array.dtype, scalar.typed) == (np.float32, True)
    assert vector.array.dtype == np.int16
    assert local == LocalArg(1024)
    assert isinstance(image, ImageArg)
    assert (image.dims, image.channels, image.format) == ((7, 5, 1), 4, "unorm8")
    assert sampler == SamplerArg("clamp_to_edge", "linear", normalized=True)
    assert big.array.tolist() == [2**64 - 1, 0]
    assert noise.array.dtype == np.int8
    (expect,) = config.expect
    assert (expect.arg, expect.rtol, expect.atol, expect.ulp) == (0, 1e-6, None, 2)


def test_random_contents_are_those_of_the_seed():
    text = "groups: [1]\nargs: [{buffer: {dtype: float32, shape: [8], init: {random: 5}}}]"
    again = parse(text).config.args[0].array
    assert parse(text).config.args[0].array.tolist() == again.tolist()
    assert parse(text.replace("5", "6")).config.args[0].array.tolist() != again.tolist()


def test_files_are_relative_to_the_launch_file(tmp_path):
    np.save(tmp_path / "in.npy", np.arange(4, dtype=np.int16))
    (tmp_path / "k.visaasm").write_text("")
    (tmp_path / "k.launch.yaml").write_text("groups: [1]\nargs: [{buffer: {npy: in.npy, shape: [2, 2]}}]\n")
    launch = read_launch_file(tmp_path / "k.launch.yaml")
    assert launch.config.args[0].array.tolist() == [[0, 1], [2, 3]]
    assert launch.file == tmp_path / "k.visaasm"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", "1:1", "is empty"),
        ("- 1", "1:1", "expected a launch file as a map, got a list"),
        ("groups: [1]\nlocal-size: [1]", "2:1", "unknown key 'local-size'; did you mean 'local_size'?"),
        ("args: []", "1:1", "'groups' is missing"),
        ("groups: [0]", "1:10", "0 is out of range: expected 1"),
        ("groups: [-1, 1, 1]", "1:10", "-1 is out of range"),
        ("groups: [1, 1, 1, 1]", "1:9", "one to three numbers"),
        ("groups: [1.5]", "1:10", "expected a whole number, got the number 1.5"),
        ("groups: [1]\nplatform: TGLP", "2:11", "unknown platform 'TGLP'; did you mean 'tgllp'?"),
        ("groups: [1]\nfile: nowhere.visaasm", "2:7", "no such file"),
        ("threads: [2, 2]", "1:1", "needs mode: media"),
        ("mode: media", "1:1", "needs threads"),
        ("groups: [1]\nmode: medya", "2:7", "did you mean 'media'?"),
        ("groups: [1]\nargs: 3", "2:7", "expected args as a list or a map"),
        ("groups: [1]\nargs: [{}]", "2:8", "got none"),
        ("groups: [1]\nargs: [{value: 1, local: 2}]", "2:8", "got value, local"),
        ("groups: [1]\nargs: [{bufer: {}}]", "2:9", "did you mean 'buffer'?"),
        ("groups: [1]\nargs: [{local: 0}]", "2:16", "out of range"),
        (
            "groups: [1]\nargs: [{buffer: {dtype: float, shape: [2]}}]",
            "2:25",
            "unknown dtype 'float'; did you mean 'float",
        ),
        ("groups: [1]\nargs: [{buffer: {shape: [2]}}]", "2:17", "needs a dtype"),
        ("groups: [1]\nargs: [{buffer: {dtype: int8}}]", "2:17", "needs a shape"),
        ("groups: [1]\nargs: [{buffer: {dtype: int8, shape: [-2]}}]", "2:39", "-2 is out of range"),
        ("groups: [1]\nargs: [{buffer: {dtype: float64, shape: [100000, 100000]}}]", "2:41", "1 GiB"),
        ("groups: [1]\nargs: [{buffer: {dtype: int8, shape: [2], init: zeroes}}]", "2:49", "did you mean 'zeros'?"),
        ("groups: [1]\nargs: [{buffer: {dtype: uint8, values: [256]}}]", "2:40", "256 does not fit into uint8"),
        ("groups: [1]\nargs: [{buffer: {dtype: uint8, values: [1.5]}}]", "2:40", "1.5 is not a whole number"),
        ("groups: [1]\nargs: [{buffer: {dtype: uint8, values: [[1, 2], [3]]}}]", "2:49", "rows of different lengths"),
        (
            "groups: [1]\nargs: [{buffer: {dtype: uint8, values: [1], shape: [2]}}]",
            "2:40",
            "has 2 elements, got 1",
        ),
        ("groups: [1]\nargs: [{buffer: {npy: gone.npy}}]", "2:23", "no such file"),
        ("groups: [1]\nargs: [{value: yes-please}]", "2:16", "expected a number"),
        ("groups: [1]\nargs: [{sampler: {filter: cubic}}]", "2:27", "unknown filter 'cubic'"),
        ("groups: [1]\nargs: [{image: {dtype: int64, shape: [2, 2]}}]", "2:16", "an image cannot hold int64"),
        ("groups: [1]\nargs: [{value: 1}]\nexpect: [{arg: 1, values: [1]}]", "3:16", "unknown argument 1"),
        ("groups: [1]\nargs: [{value: 1}]\nexpect: [{values: [1]}]", "3:10", "'arg' is missing"),
        ("groups: [1]\nargs: [{value: 1}]\nexpect: [{arg: 0}]", "3:10", "takes one of npy, values"),
        ("groups: [1]\nargs: [{value: 1}]\nexpect: [{arg: 0, values: [1], rtol: -1}]", "3:38", "a number >= 0"),
        ("groups: [1", "1:11", "expected"),
    ],
)
def test_mistakes_have_a_place_and_say_what_is_right(text, place, words):
    with pytest.raises(LaunchError) as error:
        parse(text)
    assert words in error.value.message
    assert str(error.value).startswith(f"k.launch.yaml:{place}: ")


def test_a_file_that_is_no_array_is_refused(tmp_path):
    (tmp_path / "bad.npy").write_bytes(b"\x93NUMPY\x01\x00garbage")
    np.save(tmp_path / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.save(tmp_path / "complex.npy", np.zeros(2, np.complex64))
    for name, words in (
        ("bad", "cannot read the array file"),
        ("object", "cannot read the array file"),
        ("complex", "holds complex64"),
    ):
        with pytest.raises(LaunchError, match=words):
            parse(f"groups: [1]\nargs: [{{buffer: {{npy: {name}.npy}}}}]", tmp_path)


def test_not_all_of_very_many_arguments_are_listed():
    with pytest.raises(LaunchError) as error:
        parse("groups: [1]\nargs: [" + ", ".join(["{value: 1}"] * 300) + "]\nexpect: [{arg: y, values: [1]}]")
    assert "known arguments: 0, 1, 2, " in error.value.message
    assert error.value.message.endswith(", 39 and 260 more")
