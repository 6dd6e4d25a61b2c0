"""The words that stand for a platform: those that tools print, their dumps carry and drivers use."""

import pytest
from each_case import each_of

from visa_lsp.isa.platforms import PLATFORMS, device_for, platform_named, since

WORDS = {
    "BDW": "BDW GEN8",
    "CHV": "CHV GEN8LP",
    "SKL": "SKL GEN9 kbl cfl whl aml cml",
    "BXT": "BXT GEN9LP glk apl",
    "CNL": "CNL GEN10",
    "ICLLP": "ICLLP ICL GEN11 GEN11LP ehl jsl lkf",
    "TGLLP": "TGLLP DG1 GEN12LP ADL adl-s adl-p adl-n rpl-s rpl-p rkl xe XeLP 12.0.0 12.3.0 12.10.0",
    "XeHP_SDV": "XeHP_SDV xe_hp_sdv xe-hp-sdv xehp-sdv XEHPSDV",
    "DG2": "DG2 acm-g10 ACM_G11 acmg12 dg2-g10 ats-m150 xe-hpg XeHPG dg2-g10-a1 12.55.8 12.57",
    "MTL": "MTL mtl-u XeLPG arl-u ARL_S mtl-h-b0 12.71.4",
    "ARL": "ARL arl-h XeLPGPlus arl-h-a0 12.74.4",
    "PVC": "pvc-sdv pvc_xl pvc-xl-a0p 12.60.1",
    "PVCXT": "PVCXT PVC pvc_xt XeHPC XeHPCVG pvc-xt-c0-vg 12.60.7 12.61.7",
    "BMG": "XE2 Xe2 LNL bmg_g21 lnl-b0 lnl_a1 20.04.4 20.1.0 20.02",
    "PTL": "XE3 PTL ptl-h nvl-s nvl-u nvl-h nvl-hx nvl-ul nvl-u-a1 30.5.4 30.3.1",
    "CRI": "XE3P_CRI CRI Xe3P xe3p_xpc cri-a0 35.11.0",
    "NVL": "NVL nvl-p Xe3PLPG nvl-p-b0 35.10.4",
}


@each_of(WORDS)
def test_words_name_their_platform(name):
    for word in WORDS[name].split():
        for spelling in (word, word.lower(), word.upper(), word.replace("-", "_")):
            assert getattr(platform_named(spelling), "name", None) == name, spelling


@pytest.mark.parametrize(
    "word", ["", "-", "GEN7", "XE4", "TGLLPX", "DG", "-a0", "lnl-b0-x", "35", "35.9.1", "20.", "1.2.3.4"]
)
def test_other_words_name_none(word):
    assert platform_named(word) is None


def test_devices_to_compile_for():
    """A name of a platform or family stands for one device, since the compiler takes neither; others are the device."""
    names = {"TGLLP": "tgllp", "BMG": "bmg", "xe2": "bmg", "xe3p-lpg": "nvl-p", "PVC": "PVC", "lnl-b0": "lnl-b0"}
    assert {name: device_for(name) for name in (*names, "20.04.4", "0x9a49")} == {
        **names, "20.04.4": "20.04.4", "0x9a49": "0x9a49",
    }  # fmt: skip


def test_platforms_stand_in_their_order():
    generations = [p.generation for p in PLATFORMS]
    assert generations == sorted(set(generations))
    assert since("xe3p_cri") == {"CRI", "NVL"}
    assert "PVC" in since("PVC")
    assert "PVC" not in since("PVCXT")
