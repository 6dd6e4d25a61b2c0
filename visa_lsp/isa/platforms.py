"""Platforms: names, numbers in objects, register size, order of appearance, and the place of a thread's number.

Sources: seed 000 ``gen_binary_info``, the numbers that compilers write, seed 001 (PVC has 64-byte registers). The
places of a thread's number are those from which compiled texts extract bits; from Xe2 on, those of the public compiler.
Devices, families and IP versions are those of ``ocloc`` of 2022 and 2026, each listed under the platform in its text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

EFFICIENT64B_SINCE: Final = 350  # the generation of the first platform with it


class ThreadNumber(Struct, frozen=True):
    """The place of the hardware thread's number in ``%sr0`` (element 0) and ``%msg0``.

    ``fields`` are (bits, place of the lowest), the lowest bits of the number first; the bits between them are zero, and
    kernels remove them. Each execution unit runs ``threads`` threads, so that codes of the first field may be unused.
    If ``message_from`` is not zero, the bits of the number from there on are in ``%msg0`` too.
    """

    fields: tuple[tuple[int, int], ...]
    threads: int = 8
    message_from: int = 0

    @property
    def codes(self) -> int:
        """The number of values that the fields can hold."""
        return 1 << sum(bits for bits, _ in self.fields)

    def slot(self, thread: int) -> int:
        """Return the number that a kernel computes for thread ``thread`` after it removes the zero bits."""
        unit, own = divmod(thread, self.threads)
        return unit << self.fields[0][0] | own

    def registers(self, thread: int) -> tuple[int, int]:
        """Return element 0 of ``%sr0`` and ``%msg0`` in a thread; numbers that do not fit lose their upper bits."""
        left = slot = self.slot(thread)
        state = 0
        for bits, place in self.fields:
            state |= (left & (1 << bits) - 1) << place
            left >>= bits
        return state, slot >> self.message_from if self.message_from else 0


# Up to TGLLP texts read the number from %hw_id; %sr0 has the number without gaps.
_WHOLE: Final = ThreadNumber(((3, 0), (11, 3)))
_XE_HP: Final = ThreadNumber(((3, 0), (2, 4), (7, 7)))
_XE_HPC: Final = ThreadNumber(((3, 0), (2, 4), (7, 8)))
_XE2: Final = ThreadNumber(((3, 0), (3, 4), (2, 8), (5, 11)), message_from=6)
_XE3: Final = ThreadNumber(((4, 0), (3, 4), (4, 8), (4, 14)), threads=10, message_from=7)
_XE3P: Final = ThreadNumber(((3, 0), (3, 4), (8, 8)), message_from=6)


class Platform(Struct, frozen=True):
    """A platform, with the names that ``--platform`` accepts.

    ``generation`` orders platforms: a feature exists from a generation on, or up to one. ``devices`` are targets of the
    compiler, ``families`` names for several devices, ``versions`` the first numbers of their IP versions.
    """

    name: str
    generation: int
    grf_bytes: int
    number: int | None
    devices: tuple[str, ...]
    doc: str
    thread_number: ThreadNumber = _WHOLE
    products: tuple[int, ...] = ()  # product families in the notes of a zebin
    option: bool | None = None  # whether the text is compiled for Efficient64b, by its options
    families: tuple[str, ...] = ()
    versions: tuple[tuple[int, ...], ...] = ()

    def __repr__(self) -> str:
        return self.name

    @property
    def efficient64b(self) -> bool:
        """True if texts have the Efficient64b dialect, which compilers choose if it exists."""
        return self.generation >= EFFICIENT64B_SINCE and self.option is not False

    @property
    def variant(self) -> str:
        """The name of the platform, with a mark if its texts do not have the dialect that compilers choose."""
        return self.name if self.option is not False else f"{self.name} without Efficient64b"

    @property
    def sub_group_sizes(self) -> tuple[int, ...]:
        """The sub-group sizes that a kernel can require."""
        return (16, 32) if self.grf_bytes > 32 else (8, 16, 32)

    @property
    def words(self) -> tuple[str, ...]:
        """All names of the platform."""
        return (self.name, *self.devices, *self.families)


PLATFORMS: Final[tuple[Platform, ...]] = (
    Platform("BDW", 80, 32, 3, ("bdw",), "Broadwell, Gen8", products=(16,), families=("gen8",), versions=((8, 0),)),
    Platform("CHV", 81, 32, 4, ("chv",), "Cherryview, Gen8 low power", products=(17,), families=("gen8lp",)),
    Platform(
        "SKL", 90, 32, 5,
        ("skl", "kbl", "cfl", "aml", "whl", "cml"), "Skylake, Gen9", products=(18, 19, 20), families=("gen9",),
        versions=((9, 0), (9, 1), (9, 2), (9, 5), (9, 6), (9, 7)),
    ),
    Platform(
        "BXT", 91, 32, 6, ("bxt", "glk", "apl"), "Broxton and Gemini Lake, Gen9 low power", products=(22, 23),
        families=("gen9lp",), versions=((9, 3), (9, 4)),
    ),
    Platform("CNL", 100, 32, None, ("cnl",), "Cannon Lake, Gen10", products=(24,), families=("gen10", "gen10lp")),
    Platform(
        "ICLLP", 110, 32, 10, ("icllp", "icl", "ehl", "jsl", "lkf"), "Ice Lake, Gen11", products=(25, 26, 27, 28),
        families=("gen11", "gen11lp"), versions=((11,),),
    ),
    Platform(
        "TGLLP", 120, 32, 12,
        ("tgllp", "tgl", "dg1", "adl", "adl-s", "adl-p", "adl-n", "rpl-s", "rpl-p", "rkl"), "Tiger Lake, Xe-LP",
        products=(29, 30, 31, 32, 33, 1210), families=("xe", "xe-lp", "gen12lp"),
        versions=((12, 0), (12, 1), (12, 2), (12, 3), (12, 4), (12, 10)),
    ),
    Platform(
        "XeHP_SDV", 125, 32, 11, ("xe_hp_sdv",), "XeHP software development vehicle", _XE_HP, products=(1250,),
        families=("xe-hp",), versions=((12, 50),),
    ),
    Platform(
        "DG2", 127, 32, 13,
        ("dg2", "dg2-g10", "dg2-g11", "dg2-g12", "acm-g10", "acm-g11", "acm-g12", "ats-m75", "ats-m150"),
        "Arc A series, Xe-HPG", _XE_HP, products=(1270,), families=("xe-hpg",),
        versions=((12, 55), (12, 56), (12, 57)),
    ),
    Platform(
        "MTL", 128, 32, None, ("mtl", "mtl-h", "mtl-u", "mtl-s", "mtl-p", "mtl-m", "arl-s", "arl-u"),
        "Meteor Lake, Xe-LPG", _XE_HP, products=(1272,), families=("xe-lpg",), versions=((12, 70), (12, 71)),
    ),
    Platform(
        "ARL", 129, 32, None, ("arl", "arl-h"), "Arrow Lake, Xe-LPG+", _XE_HP, products=(1273,),
        families=("xe-lpgplus",), versions=((12, 74),),
    ),
    Platform(
        "PVC", 130, 64, None, ("pvc-sdv", "pvc-xl"), "Ponte Vecchio, base die, Xe-HPC", _XE_HPC,
        versions=((12, 60, 0), (12, 60, 1)),
    ),
    Platform(
        "PVCXT", 131, 64, 15, ("pvc", "pvc-xt", "pvc-vg", "pvc-xt-vg"), "Ponte Vecchio XT, Xe-HPC", _XE_HPC,
        products=(1271,), families=("xe-hpc", "xe-hpc-vg"), versions=((12, 60), (12, 61)),
    ),
    Platform(
        "BMG", 200, 64, None, ("bmg", "bmg-g21", "bmg-g31", "lnl", "lnl-m"), "Battlemage and Lunar Lake, Xe2", _XE2,
        products=(1274, 1275), families=("xe2", "xe2-hpg", "xe2-lpg"), versions=((20,),),
    ),
    Platform(
        "PTL", 300, 64, None, ("ptl", "ptl-h", "ptl-u", "wcl", "nvl-s", "nvl-u", "nvl-h", "nvl-hx", "nvl-ul"),
        "Panther Lake, and Nova Lake except NVL-P; Xe3", _XE3, products=(1300, 1340), families=("xe3", "xe3-lpg"),
        versions=((30,),),
    ),
    Platform(
        "CRI", 350, 64, None, ("cri",), "Crescent Island, Xe3P", _XE3P, products=(1380,),
        families=("xe3p", "xe3p-cri", "xe3p-xpc"), versions=((35, 11),),
    ),
    # Newer than CRI in the order of the compiler, although its numbers are lower.
    Platform(
        "NVL", 360, 64, None, ("nvl-p",), "Nova Lake P, Xe3P", _XE3, products=(1360,), families=("xe3p-lpg",),
        versions=((35, 10),),
    ),
)  # fmt: skip

DEFAULT_PLATFORM: Final = "TGLLP"


_STEPPING: Final = re.compile(r"[-_][a-d]\d[px]?(?=[-_]|\Z)", re.IGNORECASE)
_VERSION: Final = re.compile(r"\d{1,3}\.\d{1,3}(?:\.\d{1,3})?", re.ASCII)


def _key(word: str) -> str:
    """Return a name without its separators and case, in which tools differ: ``xe_hp_sdv``, ``XeHP_SDV``, ``xe-hp-sdv``."""
    return word.lower().replace("-", "").replace("_", "")


# Later platforms first, because drivers call PVCXT `PVC` too.
_BY_NAME: Final[dict[str, Platform]] = {_key(word): p for p in PLATFORMS for word in p.words}
_BY_VERSION: Final[dict[tuple[int, ...], Platform]] = {version: p for p in PLATFORMS for version in p.versions}
_BY_PRODUCT: Final[dict[int, Platform]] = {number: p for p in PLATFORMS for number in p.products}
_BY_NUMBER: Final[dict[int, Platform]] = {p.number: p for p in PLATFORMS if p.number is not None}


def platform_named(name: str) -> Platform | None:
    """Return the platform with a name, device, family or IP version; None if there is none.

    Case and separators of a name do not matter, and a device may have a stepping: ``lnl-b0``.
    """
    platform = _BY_NAME.get(_key(name)) or _BY_NAME.get(_key(_STEPPING.sub("", name)))
    if platform is None and _VERSION.fullmatch(name):
        numbers = tuple(map(int, name.split(".")))
        return next((p for n in (3, 2, 1) if (p := _BY_VERSION.get(numbers[:n])) is not None), None)
    return platform


def device_for(name: str) -> str:
    """Return the device to compile for; a name of several devices means the first of them."""
    platform = platform_named(name)
    if platform is not None and _key(name) in map(_key, (platform.name, *platform.families)):
        return platform.devices[0]
    return name


@lru_cache(maxsize=64)
def select_dialect(platform: Platform, *, efficient64b: bool) -> Platform:
    """Return the platform for a text whose build options select or deselect Efficient64b."""
    return replace(platform, option=efficient64b)


def address_registers(platform: Platform | None) -> int:
    """Return the largest number of address registers."""
    return 32 if platform is not None and platform.generation >= 350 else 16


def register_counts(platform: Platform) -> tuple[int, ...]:
    """Return the register counts that a kernel may request (``NumGRF``) in text 4.2; 0 lets the finalizer choose."""
    if platform.generation < 125:
        return (128,)
    if platform.generation < 300:
        return (128, 256)
    common = (32, 64, 96, 128, 160, 192, 256)
    if not platform.efficient64b:
        return common
    return (*common, 512) if platform.generation < 360 else (*common, 320, 448, 512)


def thread_widths(grf_bytes: int) -> tuple[int, ...]:
    """Return the legal numbers of work items per thread for a register size (1: a scalar text)."""
    return (1, 8, 16, 32) if grf_bytes < 64 else (1, 16, 32)


def platform_numbered(number: int) -> Platform | None:
    """Return the platform of a number in a ``gen_binary_info`` record; None for an unknown number."""
    return _BY_NUMBER.get(number)


def platform_of_product(family: int) -> Platform | None:
    """Return the platform of a product family, as a zebin's note numbers it."""
    return _BY_PRODUCT.get(family)


ALL: Final = frozenset(p.name for p in PLATFORMS)


def _find_platform(name: str) -> Platform:
    """Return the platform with exactly this name, else the result of ``platform_named``. Raises KeyError if there is none."""
    return next((p for p in PLATFORMS if p.name == name), None) or _BY_NAME[_key(name)]


def since(name: str) -> frozenset[str]:
    """Return the platforms from ``name`` on."""
    generation = _find_platform(name).generation
    return frozenset(p.name for p in PLATFORMS if p.generation >= generation)


def until(name: str) -> frozenset[str]:
    """Return the platforms up to and with ``name``."""
    last = _find_platform(name).generation
    return frozenset(p.name for p in PLATFORMS if p.generation <= last)


def between(oldest: str, newest: str) -> frozenset[str]:
    """Return the platforms from ``oldest`` to ``newest``, both included."""
    return since(oldest) & until(newest)


MATRIX: Final = since("XeHP_SDV") - {"MTL"}  # with the matrix unit, and with it `bf`
FUSED: Final = between("TGLLP", "ARL")  # two units share their control flow
INEXACT: Final = frozenset({"ICLLP", "TGLLP", "DG2", "MTL", "ARL"})  # without the unit for exact division and roots
