"""Launch files: what each key gives, and what each mistake says."""

from pathlib import Path

import numpy as np
import pytest

from visa_lsp.app.launch.file import parse_launch, read_launch_file
from visa_lsp.sim.launch.config import ImageArg, LaunchError, LocalArg, SamplerArg
from visa_lsp.sim.launch.layout import Geometry

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


def test_not_all_of_very_many_arguments_are_listed():
    with pytest.raises(LaunchError) as error:
        parse("groups: [1]\nargs: [" + ", ".join(["{value: 1}"] * 300) + "]\nexpect: [{arg: y z, values: [1]}]")
    assert "known arguments: 0, 1, 2, " in error.value.message
    assert error.value.message.endswith(", 39 and 260 more")


@pytest.mark.parametrize(
    ("sizes", "dimensions"),
    [("groups: [4, 1]", 2), ("groups: 4", 1), ("groups: [4, 1, 1]", 1), ("global_size: [4, 1]", 2), ("groups: [2, 1, 3]", 3),
     ("groups: [4]\nwork_dim: 3", 3)],
)  # fmt: skip
def test_the_number_of_dimensions_follows_the_numbers_given(sizes, dimensions):
    config = parse_launch(f"{sizes}\nlocal_size: [1, 1]\n", Path("k.launch.yaml")).config
    groups = config.global_size or config.groups
    assert Geometry(16, 32, groups, (1, 1, 1), given_dimensions=config.dimensions).dimensions == dimensions
