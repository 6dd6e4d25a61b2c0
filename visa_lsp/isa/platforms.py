"""Platforms: names, numbers in objects, register size, order of appearance.

Sources: seed 000 ``gen_binary_info``, REAL_FORMAT 2 (numbers seen), seed 001 (PVC has 64-byte registers).
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Platform(Struct, frozen=True):
    """One platform as ``--platform`` names it.

    ``generation`` orders platforms: a feature exists from one generation on, or up to one.
    """

    name: str
    generation: int
    grf_bytes: int
    number: int | None
    devices: tuple[str, ...]
    doc: str

    def __repr__(self) -> str:
        return self.name


PLATFORMS: Final[tuple[Platform, ...]] = (
    Platform("BDW", 80, 32, 3, ("bdw", "gen8"), "Broadwell, Gen8"),
    Platform("CHV", 81, 32, 4, ("chv", "gen8lp"), "Cherryview, Gen8 low power"),
    Platform("SKL", 90, 32, 5, ("skl", "kbl", "cfl", "aml", "whl", "cml", "gen9"), "Skylake, Gen9"),
    Platform("BXT", 91, 32, 6, ("bxt", "glk", "apl", "gen9lp"), "Broxton and Gemini Lake, Gen9 low power"),
    Platform("CNL", 100, 32, None, ("cnl", "gen10", "gen10lp"), "Cannon Lake, Gen10"),
    Platform("ICLLP", 110, 32, 10, ("icllp", "icl", "ehl", "jsl", "lkf", "gen11", "gen11lp"), "Ice Lake, Gen11"),
    Platform(
        "TGLLP", 120, 32, 12,
        ("tgllp", "tgl", "dg1", "adl", "adl-s", "adl-p", "adl-n", "rkl", "xe", "xelp", "gen12lp"), "Tiger Lake, Xe-LP",
    ),
    Platform("XeHP_SDV", 125, 32, 11, ("xe-hp-sdv", "xe-hp"), "XeHP software development vehicle"),
    Platform(
        "DG2", 127, 32, 13,
        ("dg2", "dg2-g10", "dg2-g11", "dg2-g12", "acm-g10", "acm-g11", "acm-g12", "ats-m75", "ats-m150", "xe-hpg"),
        "Arc A series, Xe-HPG",
    ),
    Platform("MTL", 128, 32, None, ("mtl", "mtl-h", "mtl-u", "mtl-s", "mtl-p", "mtl-m", "xe-lpg"), "Meteor Lake, Xe-LPG"),
    Platform("ARL", 129, 32, None, ("arl", "arl-h", "arl-s", "arl-u", "xe-lpgplus"), "Arrow Lake, Xe-LPG+"),
    Platform("PVC", 130, 64, None, ("pvc-xl", "pvc-sdv"), "Ponte Vecchio, base die, Xe-HPC"),
    Platform("PVCXT", 131, 64, 15, ("pvc", "pvc-xt", "pvc-vg", "xe-hpc", "xe-hpc-vg"), "Ponte Vecchio XT, Xe-HPC"),
    Platform(
        "BMG", 200, 64, None,
        ("bmg", "bmg-g21", "bmg-g31", "lnl", "lnl-m", "xe2", "xe2-hpg", "xe2-lpg"), "Battlemage and Lunar Lake, Xe2",
    ),
    Platform("PTL", 300, 64, None, ("ptl", "ptl-h", "ptl-u", "wcl", "nvl-s", "xe3", "xe3-lpg"), "Panther Lake, Xe3"),
    Platform(
        "CRI", 350, 64, None,
        ("cri", "nvl", "nvl-p", "nvl-u", "xe3p", "xe3p-cri", "xe3p-xpc", "xe3p-lpg"), "Crescent Island and Nova Lake, Xe3P",
    ),
)  # fmt: skip

DEFAULT_PLATFORM: Final = "TGLLP"


def _key(word: str) -> str:
    """A name without its separators and case, in which tools differ: ``xe_hp_sdv``, ``XeHP_SDV``, ``xe-hp-sdv``."""
    return word.lower().replace("-", "").replace("_", "")


# A later one goes first: `PVC` is also what drivers call PVCXT.
_BY_NAME: Final[dict[str, Platform]] = {_key(word): p for p in PLATFORMS for word in (p.name, *p.devices)}
_BY_NUMBER: Final[dict[int, Platform]] = {p.number: p for p in PLATFORMS if p.number is not None}


def platform_named(name: str) -> Platform | None:
    """The platform of a name, its own or that of a device, in any case and with any separators; None if there is none."""
    return _BY_NAME.get(_key(name))


def address_registers(platform: Platform | None) -> int:
    """How many address registers there are at most."""
    return 32 if platform is not None and platform.generation >= 350 else 16


def platform_numbered(number: int) -> Platform | None:
    """The platform of a number in a ``gen_binary_info`` record."""
    return _BY_NUMBER.get(number)


ALL: Final = frozenset(p.name for p in PLATFORMS)


def since(name: str) -> frozenset[str]:
    """The platforms from ``name`` on."""
    first = _BY_NAME[_key(name)].generation
    return frozenset(p.name for p in PLATFORMS if p.generation >= first)


def until(name: str) -> frozenset[str]:
    """The platforms up to and with ``name``."""
    last = _BY_NAME[_key(name)].generation
    return frozenset(p.name for p in PLATFORMS if p.generation <= last)


def between(first: str, last: str) -> frozenset[str]:
    """The platforms from ``first`` to ``last``, both included."""
    return since(first) & until(last)


MATRIX: Final = since("XeHP_SDV") - {"MTL"}  # with the matrix unit, and with it `bf`
FUSED: Final = between("TGLLP", "ARL")  # two units share their control flow
INEXACT: Final = frozenset({"ICLLP", "TGLLP", "DG2", "MTL", "ARL"})  # without the unit for exact division and roots
