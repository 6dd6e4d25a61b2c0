"""The rules about ze_info documents: V700 to V719 of one document, V720 to V739 of a document and its kernels.

Each rule's page is what ``explain`` and hover print. Codes are never used twice.
"""

from __future__ import annotations

from typing import Final

from visa_lsp.diagnostics import Rule, Severity

_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFORMATION


def _rule(code: str, name: str, severity: Severity, what: str, why: str, example: str, instead: str) -> Rule:
    example, instead = (text.replace("\n", "\n    ") for text in (example, instead))
    page = f"{what}\n\nWhy: {why}\n\nExample:\n\n    {example}\n\nInstead:\n\n    {instead}\n\nAuthority: seed 002 (ze_info 1.14).\n"
    return Rule(code, name, severity, page)


SYNTAX: Final = _rule(
    "V700", "ze-info-syntax", _E, "The text is not valid YAML, or too large: a broken line, a tab, another encoding, a duplicate key, or a size that no compiler writes.",
    "the runtime refuses the whole program.", "kernels:\n\t- name: k", "kernels:\n  - name: k",
)  # fmt: skip
WRONG_TYPE: Final = _rule(
    "V701", "ze-info-wrong-type", _E, "A value does not have the type of its key.",
    "the runtime reads a number, a flag, a string or a list there and fails on anything else. A version without quotes is a number: 1.20 becomes 1.2.",
    "simd_size: sixteen", "simd_size: 16",
)  # fmt: skip
MISSING: Final = _rule(
    "V702", "ze-info-missing-key", _E, "A required key is missing.", "the runtime has no default for it.",
    "execution_env:\n  simd_size: 16", "execution_env:\n  grf_count: 128\n  simd_size: 16",
)  # fmt: skip
UNKNOWN: Final = _rule(
    "V703", "ze-info-unknown-key", _I, "A key is unknown: misspelt, or newer than version 1.73.",
    "runtimes ignore unknown keys, so a misspelt key has no effect.",
    "execution_env:\n  simd_sise: 16", "execution_env:\n  simd_size: 16",
)  # fmt: skip
WRONG_WORD: Final = _rule(
    "V704", "ze-info-wrong-word", _E, "A value is not one of the words that its key takes.",
    "the runtime knows these words only.", "addrmode: statefull", "addrmode: stateful",
)  # fmt: skip
VERSION: Final = _rule(
    "V705", "ze-info-version", _E, "The version is newer than any known version, or is not a version.",
    "a newer minor version only adds keys, so the document can still be read; a newer major version may mean anything.",
    "version: '2.0'", "version: '1.14'",
)  # fmt: skip
OUT_OF_PLACE: Final = _rule(
    "V706", "ze-info-out-of-place", _W, "A key is used where it does not apply, or is missing where it is required.",
    "some keys apply to certain kinds of argument or buffer only; elsewhere they have no effect.",
    "- arg_type: local_size\n  addrspace: global", "- arg_type: local_size",
)  # fmt: skip
DUPLICATE: Final = _rule(
    "V707", "ze-info-duplicate", _E, "Two entries of a list describe the same thing.",
    "the runtime finds kernels by name and surfaces by number, so it never reads one of the two.",
    "kernels:\n  - name: k\n  - name: k", "kernels:\n  - name: k\n  - name: k2",
)  # fmt: skip
OVERLAP: Final = _rule(
    "V708", "ze-info-overlap", _E, "Two payload arguments lie on the same bytes.", "one overwrites the other.",
    "- {arg_type: arg_byvalue, offset: 32, size: 8, arg_index: 0}\n- {arg_type: arg_byvalue, offset: 36, size: 4, arg_index: 1}",
    "- {arg_type: arg_byvalue, offset: 32, size: 8, arg_index: 0}\n- {arg_type: arg_byvalue, offset: 40, size: 4, arg_index: 1}",
)  # fmt: skip
BINDING: Final = _rule(
    "V709", "ze-info-binding", _E, "A binding table index without a stateful argument, or a stateful argument without one.",
    "arg_index links the two; without it the surface has no buffer, or the buffer no surface.",
    "binding_table_indices:\n  - {bti_value: 0, arg_index: 7}", "binding_table_indices:\n  - {bti_value: 0, arg_index: 0}",
)  # fmt: skip
RANGE: Final = _rule(
    "V710", "ze-info-range", _E, "A number is out of the range of its key.",
    "threads have 1, 8, 16 or 32 lanes; sizes and offsets are not negative; a size counts whole elements.",
    "simd_size: 12", "simd_size: 16",
)  # fmt: skip
NEWER_KEY: Final = _rule(
    "V711", "ze-info-other-version", _I, "A key or word is newer than the document's version, or was removed before it.",
    "a runtime that follows the version does not read it.",
    "version: '1.14'\nkernels_misc_info: []", "version: '1.19'\nkernels_misc_info: []",
)  # fmt: skip
PAST_PAYLOAD: Final = _rule(
    "V712", "ze-info-past-payload", _E, "An argument lies past the end of the payload.",
    "the payload fills registers: it cannot be larger than the register file, and a part cannot end after the whole.",
    "grf_count: 128\n# ...\n- {arg_type: arg_byvalue, offset: 9000, size: 4, arg_index: 0}",
    "- {arg_type: arg_byvalue, offset: 32, size: 4, arg_index: 0}",
)  # fmt: skip
ARGUMENT_LIST: Final = _rule(
    "V713", "ze-info-argument-list", _W, "The entries about a kernel's arguments contradict each other.",
    "arguments are numbered from 0 without gaps, and each entry of kernels_misc_info belongs to a kernel.",
    "kernels_misc_info:\n  - name: not_a_kernel", "kernels_misc_info:\n  - name: k",
)  # fmt: skip

NO_SUCH_KERNEL: Final = _rule(
    "V720", "ze-info-no-such-kernel", _E, "The document describes a kernel that the text does not have, or leaves one out.",
    "the runtime finds kernels by name and cannot launch one without an entry.",
    'kernels:\n  - name: saxpi   # the text has .kernel "saxpy"', "kernels:\n  - name: saxpy",
)  # fmt: skip
SIMD_DIFFERS: Final = _rule(
    "V721", "ze-info-simd-size", _W, "simd_size is not the SimdSize of the kernel.",
    "the runtime dispatches threads of the wrong width. A compiler dumps the text of every width that it tried, so this may be the text of another attempt.",
    "simd_size: 16   # the text has .kernel_attr SimdSize=32", "simd_size: 32",
)  # fmt: skip
SLM_DIFFERS: Final = _rule(
    "V722", "ze-info-slm-size", _E, "slm_size contradicts the kernel's use of shared local memory.",
    "the group gets less memory than the code uses, or memory that it never uses.",
    "slm_size: 0   # the text writes to T0", "slm_size: 1024",
)  # fmt: skip
BARRIER_DIFFERS: Final = _rule(
    "V723", "ze-info-barrier-count", _E, "barrier_count contradicts the kernel's barriers.",
    "without an allocated barrier a group hangs or loses synchronisation at the first barrier; one too many costs occupancy.",
    "barrier_count: 0   # the text has a barrier", "barrier_count: 1",
)  # fmt: skip
GRF_DIFFERS: Final = _rule(
    "V724", "ze-info-grf-count", _E, "grf_count is not the NumGRF of the kernel.",
    "the runtime dispatches threads with another number of registers than the code was compiled for.",
    "grf_count: 128   # the text has .kernel_attr NumGRF=256", "grf_count: 256",
)  # fmt: skip
NO_INPUT: Final = _rule(
    "V725", "ze-info-no-input", _E, "A payload argument lies where the kernel has no .input.",
    "the kernel never reads the argument.",
    "- {arg_type: arg_byvalue, offset: 60, size: 4, arg_index: 1}   # the text has nothing there",
    ".input n offset=156 size=4   # r0 and local ids precede the cross-thread payload",
)  # fmt: skip
SIZE_DIFFERS: Final = _rule(
    "V726", "ze-info-argument-size", _E, "A payload argument and the .input at its place have different sizes.",
    "the kernel reads bytes of the next argument, or misses bytes of this one.",
    "- {arg_type: arg_byvalue, offset: 32, size: 8, arg_index: 1}   # .input ... size=4",
    "- {arg_type: arg_byvalue, offset: 32, size: 4, arg_index: 1}",
)  # fmt: skip
UNFILLED_INPUT: Final = _rule(
    "V727", "ze-info-unfilled-input", _E, "An .input of the kernel lies where no payload argument is.",
    "the kernel reads bytes that were never written.",
    ".input n offset=200 size=4   # no argument of the document lies there",
    "- {arg_type: arg_byvalue, offset: 40, size: 4, arg_index: 2}",
)  # fmt: skip
FLAG_DIFFERS: Final = _rule(
    "V728", "ze-info-flag", _E, "A flag of execution_env contradicts the code: stack calls, atomics, dpas, samplers.",
    "the runtime configures the hardware for the flag, not for the code.",
    "# the text has fcall, the document no has_stack_calls", "has_stack_calls: true",
)  # fmt: skip
PER_THREAD_DIFFERS: Final = _rule(
    "V729", "ze-info-per-thread-size", _E, "The per-thread payload has another size than the kernel expects.",
    "local ids and everything after them are in the wrong registers.",
    "- {arg_type: local_id, offset: 0, size: 96}   # .kernel_attr PerThreadInputSize=192",
    "- {arg_type: local_id, offset: 0, size: 192}",
)  # fmt: skip
SURFACE_DIFFERS: Final = _rule(
    "V730", "ze-info-surface", _E, "The kernel uses a surface that the binding table does not have.",
    "the access has no buffer.",
    "// lsc_load.ugm ... bti(0x2)[...], and no entry with bti_value 2",
    "binding_table_indices:\n  - {bti_value: 2, arg_index: 1}",
)  # fmt: skip

NO_CODE: Final = _rule(
    "V731", "ze-info-no-code", _E, "A kernel of a zebin's ze_info has no section with its code.",
    "the runtime takes the code of kernel `k` from the section `.text.k`; without it the kernel cannot be launched.",
    "kernels:\n  - name: k   # the zebin has no section .text.k", "kernels:\n  - name: k   # the zebin has a section .text.k",
)  # fmt: skip

RULES: Final[tuple[Rule, ...]] = (
    SYNTAX, WRONG_TYPE, MISSING, UNKNOWN, WRONG_WORD, VERSION, OUT_OF_PLACE, DUPLICATE, OVERLAP, BINDING, RANGE,
    NEWER_KEY, PAST_PAYLOAD, ARGUMENT_LIST, NO_SUCH_KERNEL, SIMD_DIFFERS, SLM_DIFFERS, BARRIER_DIFFERS, GRF_DIFFERS,
    NO_INPUT, SIZE_DIFFERS, UNFILLED_INPUT, FLAG_DIFFERS, PER_THREAD_DIFFERS, SURFACE_DIFFERS, NO_CODE,
)  # fmt: skip
