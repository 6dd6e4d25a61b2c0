"""The words that stand for a platform: those that tools print, their dumps carry and drivers use."""

import pytest
from each_case import each_of

from visa_lsp.isa.platforms import PLATFORMS, platform_named, since

WORDS = {
    "BDW": "BDW GEN8",
    "CHV": "CHV GEN8LP",
    "SKL": "SKL GEN9 kbl cfl whl aml cml",
    "BXT": "BXT GEN9LP glk apl",
    "CNL": "CNL GEN10",
    "ICLLP": "ICLLP ICL GEN11 GEN11LP ehl jsl lkf",
    "TGLLP": "TGLLP DG1 GEN12LP ADL adl-s adl-p adl-n rkl xe XeLP",
    "XeHP_SDV": "XeHP_SDV xe_hp_sdv xe-hp-sdv xehp-sdv XEHPSDV",
    "DG2": "DG2 acm-g10 ACM_G11 acmg12 dg2-g10 ats-m150 xe-hpg XeHPG",
    "MTL": "MTL mtl-u XeLPG",
    "ARL": "ARL arl-h ARL_S XeLPGPlus",
    "PVCXT": "PVCXT PVC pvc_xt XeHPC XeHPCVG",
    "BMG": "XE2 Xe2 LNL bmg_g21",
    "PTL": "XE3 PTL ptl-h",
    "CRI": "XE3P_CRI CRI NVL nvl-p Xe3P Xe3PLPG xe3p_xpc",
}


@each_of(WORDS)
def test_words_name_their_platform(name):
    for word in WORDS[name].split():
        for spelling in (word, word.lower(), word.upper(), word.replace("-", "_")):
            assert getattr(platform_named(spelling), "name", None) == name, spelling


@pytest.mark.parametrize("word", ["", "-", "GEN7", "XE4", "TGLLPX", "DG"])
def test_other_words_name_none(word):
    assert platform_named(word) is None


def test_platforms_stand_in_their_order():
    generations = [p.generation for p in PLATFORMS]
    assert generations == sorted(set(generations))
    assert since("xe3p_cri") == {"CRI"}
    assert "PVC" in since("PVC")
    assert "PVC" not in since("PVCXT")
