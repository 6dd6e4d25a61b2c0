"""A document against its kernels: the corpus agrees, and each planted disagreement is found at its place in both files."""

import pytest
from corpus import at_least, files
from cursor import apply_edits
from tiers import first

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.zeinfo.kernel_texts import kernel_texts
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.payload_layout import registers
from visa_lsp.zeinfo.kernel_checks import disagreements
from visa_lsp.zeinfo.source import ZeInfoSource

# The dump of another width than the one that was taken: the compiler tried both (ze_info has the one that it kept).
OTHER_WIDTH = {("TGLLP", "gen"), ("TGLLP", "mmt"), ("DG2", "mmt")}

TEXT = """\
.version 4.1
.kernel "k"
.decl ids v_type=G type=uw num_elts=16 align=GRF
.decl header v_type=G type=d num_elts=8 align=GRF
.decl p v_type=G type=uq num_elts=1 align=qword
.decl n v_type=G type=d num_elts=1 align=dword
.decl v v_type=G type=f num_elts=1 align=dword
.decl w v_type=G type=f num_elts=1 align=dword
.decl o v_type=G type=ud num_elts=16 align=GRF
.decl x v_type=G type=f num_elts=16 align=GRF
.decl a v_type=G type=uq num_elts=16 align=GRF
.decl T6 v_type=T num_elts=1
.input ids offset=32 size=32
.input header offset=64 size=32
.input p offset=96 size=8
.input n offset=104 size=4
.input v offset=108 size=4
.input w offset=112 size=4
.kernel_attr Target="3d"
.kernel_attr SimdSize=16
.kernel_attr PerThreadInputSize=32
    mov (M1, 16) o(0,0)<1> ids(0,0)<1;1,0>
    movs (M1_NM, 1) T6(0) 0x0:ud
    gather4_scaled.R (M1, 16) T6 0x0:ud o.0 x.0
    scatter4_scaled.R (M1, 16) %slm 0x0:ud o.0 x.0
    fence_local
    barrier
    scatter4_scaled.R (M1, 16) T6 0x0:ud o.0 x.0
    ret (M1, 1)
"""

DOCUMENT = """\
version: '1.20'
kernels:
  - name: k
    execution_env:
      barrier_count: 1
      grf_count: 128
      simd_size: 16
      slm_size: 1024
    payload_arguments:
      - {arg_type: global_id_offset, offset: 0, size: 12}
      - {arg_type: local_size, offset: 12, size: 12}
      - {arg_type: arg_bypointer, offset: 0, size: 0, arg_index: 0, addrmode: stateful, addrspace: global}
      - {arg_type: buffer_address, offset: 32, size: 8, arg_index: 0}
      - {arg_type: arg_byvalue, offset: 40, size: 4, arg_index: 1}
      - {arg_type: arg_byvalue, offset: 44, size: 8, arg_index: 2}
    per_thread_payload_arguments:
      - {arg_type: local_id, offset: 0, size: 32}
    binding_table_indices:
      - {bti_value: 0, arg_index: 0}
"""

SVM = "    svm_atomic.inc (M1, 16) a.0 %null.0 %null.0 %null.0\n"


def compare(document: str, text: str, platform: str | None = "TGLLP"):
    """Return the findings: (code, marked text, related text, message)."""
    source = ZeInfoSource.of(document)
    analysis = Analysis.of(text, platform)
    kernels = kernel_texts(analysis, "k.visaasm")
    assert kernels, [d.message for d in analysis.diagnostics]
    known = platform_named(platform) if platform else None
    found = disagreements(source, kernels, registers(known.grf_bytes, known.generation) if known else None)
    left = [(d.code, cut(document, d.span), cut(text, d.related[0].span), d.message) for d in found]
    assert {d.related[0].path for d in found} <= {"k.visaasm"}
    return left


def cut(text: str, span) -> str:
    line = text.count("\n", 0, span.start) + 1
    return f"{line}:{text[span.start : span.end]}"


@pytest.mark.parametrize("platform", ["TGLLP", None])
def test_document_and_text_agree(platform):
    assert compare(DOCUMENT, TEXT, platform) == []


def test_a_kind_of_any_length_makes_a_short_message():
    found = compare(DOCUMENT.replace("global_id_offset, offset: 0", f"{'long' * 5000}, offset: 256"), TEXT)
    assert found
    assert all(len(message) < 300 for *_, message in found)


# What changes in the document, what in the text, the code, and what is marked in the document and in the text.
PLANTED = {
    "kernel renamed in the document": ((("name: k", "name: kk"),), (), "V720", "3:kk", '2:"k"'),
    "other SIMD size": ((("simd_size: 16", "simd_size: 8"),), (), "V721", "7:8", "20:SimdSize"),
    "other GRF count": ((), ((".kernel_attr SimdSize=16", ".kernel_attr SimdSize=16\n.kernel_attr NumGRF=256"),), "V724", "6:128", "21:NumGRF"),
    "no SLM": ((("      slm_size: 1024\n", ""),), (), "V722", "4:execution_env", "25:scatter4_scaled.R (M1, 16) %slm 0x0:ud o.0 x.0"),
    "SLM for nothing": ((), (("    scatter4_scaled.R (M1, 16) %slm 0x0:ud o.0 x.0\n", ""),), "V722", "8:1024", '2:"k"'),
    "other SLM size": ((), ((".kernel_attr SimdSize=16", ".kernel_attr SimdSize=16\n.kernel_attr SLMSize=4"),), "V722", "8:1024", "21:SLMSize"),
    "no barrier count": ((("barrier_count: 1", "barrier_count: 0"),), (), "V723", "5:0", "27:barrier"),
    "barrier count missing": ((("      barrier_count: 1\n", ""),), (), "V723", "4:execution_env", "27:barrier"),
    "barrier for nothing": ((), (("    barrier\n", ""),), "V723", "5:1", '2:"k"'),
    "stack calls for nothing": ((("grf_count: 128", "grf_count: 128\n      has_stack_calls: true"),), (), "V728", "7:true", '2:"k"'),
    "atomics not told": ((), (("    barrier\n", "    barrier\n" + SVM),), "V728", "4:execution_env", "28:" + SVM.strip()),
    "atomics denied": (
        (("grf_count: 128", "grf_count: 128\n      has_global_atomics: false"),), (("    barrier\n", "    barrier\n" + SVM),),
        "V728", "7:false", "28:" + SVM.strip(),
    ),
    "dpas for nothing": ((("grf_count: 128", "grf_count: 128\n      has_dpas: true"),), (), "V728", "7:true", '2:"k"'),
    "stateless write denied": (
        (("grf_count: 128", "grf_count: 128\n      has_global_atomics: true\n      has_no_stateless_write: true"),),
        (("    barrier\n", "    barrier\n" + SVM),), "V728", "8:true", "28:" + SVM.strip(),
    ),
    "argument moved": ((("offset: 40, size: 4", "offset: 60, size: 4"),), (), "V725", "14:60", "16:n"),
    "input moved": ((), ((".input n offset=104", ".input n offset=120"),), "V725", "14:40", "16:n"),
    "argument too large": ((("offset: 32, size: 8", "offset: 32, size: 4"),), (), "V726", "13:4", "15:p"),
    "input too small": ((), ((".input p offset=96 size=8", ".input p offset=96 size=4"),), "V726", "13:8", "15:p"),
    "argument in the middle": ((("offset: 40, size: 4", "offset: 42, size: 2"),), (), "V726", "14:42", "16:n"),
    "argument missing": ((("      - {arg_type: arg_byvalue, offset: 40, size: 4, arg_index: 1}\n", ""),), (), "V727", "9:payload_arguments", "16:n"),
    "input missing": ((), ((".input n offset=104 size=4\n", ""),), "V725", "14:40", '2:"k"'),
    "per-thread payload": ((("size: 32}", "size: 64}"),), (), "V729", "17:64", "21:PerThreadInputSize"),
    "surface missing": ((("      - {bti_value: 0,", "      - {bti_value: 3,"),), (), "V730", "18:binding_table_indices", "23:movs (M1_NM, 1) T6(0) 0x0:ud"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_planted_disagreement_is_found_in_both_files(name):
    in_yaml, in_asm, code, yaml_place, text_place = PLANTED[name]
    document, text = DOCUMENT, TEXT
    for old, new in in_yaml:
        assert old in document
        document = document.replace(old, new, 1)
    for old, new in in_asm:
        assert old in text
        text = text.replace(old, new, 1)
    found = compare(document, text)
    assert (code, yaml_place, text_place) in {f[:3] for f in found}, found


def test_fix_of_a_disagreement_mends():
    document = DOCUMENT.replace("simd_size: 16", "simd_size: 32").replace("offset: 40, size: 4", "offset: 60, size: 4")
    for _ in range(4):
        found = [d for d in disagreements(ZeInfoSource.of(document), kernel_texts(Analysis.of(TEXT), "k")) if d.fixes]
        if not found:
            break
        document = apply_edits(document, found[0].fixes[0].edits)
    assert compare(document, TEXT) == []


@pytest.mark.corpus
@pytest.mark.parametrize("platform", first(1, ["DG2", "TGLLP", "PVCXT"]))
def test_every_kernel_of_the_corpus_agrees(platform):
    known = platform_named(platform)
    where = registers(known.grf_bytes, known.generation)
    compared = 0
    for folder in files(f"run/{platform}/*"):
        source = ZeInfoSource.of(next(folder.glob("*.zeinfo.yaml")).read_text())
        for path in sorted(folder.glob("*.visaasm")):
            texts = [t for t in kernel_texts(Analysis.of(path.read_text(), platform), str(path)) if t.kernel.is_kernel]
            for given in (where, None):
                found = [(d.rule.code, d.message) for d in disagreements(source, texts, given)]
                expected = (
                    [("V721", "simd_size is 16, but the kernel has SimdSize=32")]
                    if (platform, path.stem) in OTHER_WIDTH
                    else []
                )
                assert found == expected, path
            compared += len(texts)
    assert compared >= at_least(15, 70)
