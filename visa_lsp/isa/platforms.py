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
    Platform("BDW", 80, 32, 3, ("bdw",), "Broadwell, Gen8"),
    Platform("CHV", 81, 32, 4, ("chv",), "Cherryview, Gen8 low power"),
    Platform("SKL", 90, 32, 5, ("skl", "kbl", "cfl"), "Skylake, Gen9"),
    Platform("BXT", 91, 32, 6, ("bxt", "glk", "apl"), "Broxton and Gemini Lake, Gen9 low power"),
    Platform("ICLLP", 110, 32, 10, ("icllp", "ehl"), "Ice Lake, Gen11"),
    Platform("TGLLP", 120, 32, 12, ("tgllp", "dg1", "adl-s", "adl-p", "rkl"), "Tiger Lake, Xe-LP"),
    Platform("XeHP_SDV", 125, 32, 11, ("xe_hp_sdv", "xe-hp-sdv"), "XeHP software development vehicle"),
    Platform("DG2", 127, 32, 13, ("dg2", "acm-g10", "acm-g11", "acm-g12"), "Arc A series, Xe-HPG"),
    Platform("MTL", 128, 32, None, ("mtl", "mtl-h", "mtl-u", "arl-h"), "Meteor Lake, Xe-LPG"),
    Platform("PVC", 130, 64, None, ("pvc-xl",), "Ponte Vecchio, base die, Xe-HPC"),
    Platform("PVCXT", 131, 64, 15, ("pvc", "pvc-xt"), "Ponte Vecchio XT, Xe-HPC"),
    Platform("BMG", 200, 64, None, ("bmg", "bmg-g21", "lnl", "lnl-m"), "Battlemage and Lunar Lake, Xe2"),
    Platform("PTL", 300, 64, None, ("ptl", "ptl-h"), "Panther Lake, Xe3"),
    Platform("CRI", 350, 64, None, ("cri", "nvl"), "Crescent Island, Xe3P"),
)

DEFAULT_PLATFORM: Final = "TGLLP"
_BY_NAME: Final[dict[str, Platform]] = {key.lower(): p for p in PLATFORMS for key in (p.name, *p.devices)} | {
    "lnl": PLATFORMS[11],
    "xehp_sdv": PLATFORMS[6],
    "gen12lp": PLATFORMS[5],
}
_BY_NUMBER: Final[dict[int, Platform]] = {p.number: p for p in PLATFORMS if p.number is not None}


def platform_named(name: str) -> Platform | None:
    """The platform of a name, its own or that of a device, in any case; None if there is none."""
    return _BY_NAME.get(name.lower())


def platform_numbered(number: int) -> Platform | None:
    """The platform of a number in a ``gen_binary_info`` record."""
    return _BY_NUMBER.get(number)


ALL: Final = frozenset(p.name for p in PLATFORMS)


def since(name: str) -> frozenset[str]:
    """The platforms from ``name`` on."""
    first = _BY_NAME[name.lower()].generation
    return frozenset(p.name for p in PLATFORMS if p.generation >= first)


def until(name: str) -> frozenset[str]:
    """The platforms up to and with ``name``."""
    last = _BY_NAME[name.lower()].generation
    return frozenset(p.name for p in PLATFORMS if p.generation <= last)


def between(first: str, last: str) -> frozenset[str]:
    """The platforms from ``first`` to ``last``, both included."""
    return since(first) & until(last)
