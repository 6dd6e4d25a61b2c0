"""Finds instructions by words of their names and descriptions, and by the words of C and other assemblers."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from visa_lsp.isa.table import TABLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.isa.model import Instruction

_WORD: Final = re.compile(r"[a-z0-9_]+")
# Words that do not describe an instruction.
_EMPTY: Final = frozenset(
    ("a", "an", "and", "by", "for", "from", "how", "in", "into", "is", "of", "on", "or", "the", "to", "with")
)
# Functions of OpenCL C, and the instructions that do their work.
_BUILTINS: Final = {
    "barrier lsc_fence fence_sw fence_global": "barrier work_group_barrier",
    "lsc_fence fence_global fence_local": "mem_fence read_mem_fence write_mem_fence atomic_work_item_fence",
    "lsc_atomic_iadd dword_atomic svm_atomic": "atomic_add atomic_fetch_add atomic_fetch_add_explicit",
    "lsc_atomic_iinc dword_atomic svm_atomic": "atomic_inc",
    "lsc_atomic_icas dword_atomic svm_atomic": "atomic_cmpxchg atomic_compare_exchange_strong",
    "lsc_load svm_gather4scaled gather4_scaled": "vload4 vload8 vload16",
    "lsc_store svm_scatter4scaled scatter4_scaled": "vstore4 vstore8 vstore16",
    "lsc_load svm_block_ld oword_ld": "intel_sub_group_block_read intel_sub_group_block_read4",
    "lsc_store svm_block_st oword_st": "intel_sub_group_block_write intel_sub_group_block_write4",
    "lsc_load_block2d": "intel_sub_group_2d_block_read_16b_8r16x1c intel_sub_group_2d_block_prefetch",
    "dpas": "intel_sub_group_f16_f16_matrix_mad_k16 intel_sub_group_i8_i8_matrix_mad_k32",
    "sample sample_3d load_3d load": "read_imagef read_imagei read_imageui",
    "lsc_store_quad scatter4_typed": "write_imagef write_imagei write_imageui",
    "exp": "native_exp native_exp2 exp2 half_exp", "log": "native_log native_log2 log2 half_log",
    "sin": "native_sin half_sin", "cos": "native_cos half_cos", "sqrt": "native_sqrt half_sqrt", "rsqrt": "native_rsqrt half_rsqrt",
    "inv": "native_recip half_recip", "pow": "native_powr half_powr", "div": "native_divide half_divide",
    "mad add mul": "get_global_id",
    "mad": "mad fma mad24 mad_sat", "mul": "mul24", "mulh": "mul_hi mad_hi", "cbit": "popcount", "lzd fbh": "clz", "fbl": "ctz",
    "rol": "rotate", "bfn": "bitselect", "sel": "select", "min": "fmin", "max": "fmax", "rndd": "floor", "rndu": "ceil",
    "rnde": "rint", "rndz": "trunc", "avg": "hadd rhadd", "add": "add_sat sub_sat sub_group_reduce_add sub_group_scan_inclusive_add",
    "dp4a": "dot_4x8packed_ss_int dot_acc_sat_4x8packed_ss_int", "mov addr_add": "sub_group_broadcast sub_group_shuffle intel_sub_group_shuffle",
    "mov": "get_local_id get_group_id get_local_size get_sub_group_local_id convert_int convert_float as_int as_float abs fabs", "lsc_load": "prefetch", "setp": "sub_group_any sub_group_all sub_group_ballot",
    "bfrev": "bit_reverse", "frc": "fract", "cmp": "isnan isinf isequal isless",
}  # fmt: skip
_BY_BUILTIN: Final = {
    builtin: tuple(names.split()) for names, builtins in _BUILTINS.items() for builtin in builtins.split()
}
_NAME_SCORE, _PREFIX_SCORE, _SUMMARY_SCORE, _DETAIL_SCORE = 8, 3, 4, 1
_MIN_STEM_CHARS: Final = 4


def search_instructions(query: str, platform: str | None = None) -> list[Instruction]:
    """Return the instructions that match any word of a query, the best first; with a platform only those that it has.

    An empty query matches every instruction.
    """
    words = [word for word in dict.fromkeys(_WORD.findall(query.lower())) if word not in _EMPTY]
    rows = [row for row in TABLE.rows if platform is None or platform in row.platforms]
    if not words:
        return rows
    scored = [(_score(row, words), -number) for number, row in enumerate(rows)]
    return [rows[-number] for score, number in sorted(scored, reverse=True) if score]


def _score(row: Instruction, words: Iterable[str]) -> int:
    names, summary, detail = _words_of(row)
    scores = []
    for word in words:
        is_builtin = row.mnemonic.split(".")[0] in _BY_BUILTIN.get(word, ())
        of_name = (
            _NAME_SCORE
            if word in names or is_builtin
            else _PREFIX_SCORE
            if any(n.startswith(word) for n in names)
            else 0
        )
        of_text = _SUMMARY_SCORE if _has_stem(summary, word) else _DETAIL_SCORE if _has_stem(detail, word) else 0
        scores.append(of_name + of_text)
    # A row that matches several words ranks above one that matches a single word well.
    return sum(scores) * sum(score > 0 for score in scores)


@cache
def _words_of(row: Instruction) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return three sets of words: of the names, of the summary and family, and of the other texts."""
    names = [row.mnemonic, *row.mnemonic.replace("_", ".").split("."), *row.foreign]
    detail = " ".join((row.detail, *row.pitfalls))
    return (
        frozenset(name.lower() for name in names),
        frozenset(_WORD.findall(f"{row.summary} {row.family}".lower())),
        frozenset(_WORD.findall(detail.lower())),
    )


def _has_stem(words: frozenset[str], word: str) -> bool:
    """Return whether a word, or one that differs only in its ending, is among the words."""
    if word in words:
        return True
    if len(word) < _MIN_STEM_CHARS:
        return False
    stem = word[: max(_MIN_STEM_CHARS, len(word) - 3)]
    return any(other.startswith(stem) and abs(len(other) - len(word)) <= 3 for other in words)
