"""Generates the syntax file for Vim and Neovim from the tables; it colours words by shape, as the TextMate grammar does."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from visa_lsp.generate.vocabulary import OF_INPUTS, VALUED, WORDED, directives, mnemonics, types
from visa_lsp.isa.model import Mark
from visa_lsp.isa.table import TABLE, InstructionTable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


FILE: Final = "docs/editors/vim/syntax/visa.vim"
_WIDTH: Final = 118

_HEAD: Final = r"""" Vim syntax file of vISA assembly, for Vim 8 and later and for Neovim.
" Made by python -m visa_lsp.generate; docs/editors/README.md says how to use it.

if exists('b:current_syntax')
  finish
endif
let s:cpo = &cpo
set cpo&vim

syntax case match
syntax iskeyword @,48-57,_

" Where several begin at one place, the last one that stands here wins.
syntax match visaVariable /[A-Za-z_$@?][A-Za-z0-9_$@?]*/
syntax match visaNumber /\<\d\+\%(\.\d\+\)\?\%([eE][-+]\?\d\+\)\?\>/
syntax match visaNumber /\<0[xX]\x\+\>/
syntax match visaRegion /<[0-9;, ]\+>/
syntax match visaSourceModifier /(\%(-abs\|-\|abs\|\~\|not\))/
syntax match visaMask /\<\%(M[1-8]\%(_NM\)\?\|NoMask\)\>/
syntax match visaRegister /%[A-Za-z_][A-Za-z0-9_]*/
syntax region visaString start=/"/ skip=/\\./ end=/"/ oneline
"""

# Words of declarations; a mnemonic is at the beginning of a line or behind a predicate there.
_STARTS: Final = r"""
syntax match visaEquals /=/ contained nextgroup=visaWord skipwhite
syntax match visaWord /[A-Za-z0-9_]\+/ contained
syntax match visaStart /^\s*\%({\s*\)*/ nextgroup=visaPredicate,visaInstruction,visaControl
syntax match visaPredicate /([^()]*)\s*/ contained contains=visaVariable,visaModifier nextgroup=visaInstruction,visaControl
syntax match visaModifier /\%(\s*\.\s*[A-Za-z0-9_<>]\+\)\+/ contained
"""

_TAIL: Final = r"""
syntax match visaLabel /^[A-Za-z_$@?][A-Za-z0-9_$@?-]*\s*:\ze\s*\%($\|}\|\/\/\|\/\*\)/
syntax match visaComment /\/\/.*$/ contains=@Spell
syntax region visaComment start=/\/\*/ end=/\*\// contains=@Spell
syntax sync ccomment visaComment

highlight default link visaVariable Identifier
highlight default link visaNumber Number
highlight default link visaRegion Operator
highlight default link visaSourceModifier Operator
highlight default link visaMask Constant
highlight default link visaRegister Special
highlight default link visaString String
highlight default link visaModifier StorageClass
highlight default link visaInstruction Statement
highlight default link visaControl Conditional
highlight default link visaType Type
highlight default link visaWord Type
highlight default link visaAttribute Label
highlight default link visaDirective PreProc
highlight default link visaLabel Function
highlight default link visaComment Comment

let b:current_syntax = 'visa'
let &cpo = s:cpo
unlet s:cpo
"""


def syntax(table: InstructionTable = TABLE) -> str:
    """Return the file."""
    marks = [word[1:] for mark in Mark for word in table.marks(mark) if word.startswith(".")]
    pointed = _either([*directives(), *marks, r"implicit[A-Za-z0-9_]*"])
    type_ = _either(types())
    lines = [
        rf"syntax match visaType /:\s*\zs{type_}\>/",
        rf"syntax match visaAttribute /\<{_either([*VALUED, *OF_INPUTS])}\ze\s*=/",
        rf"syntax match visaAttribute /\<{_either(['type', *WORDED])}\ze\s*=/ nextgroup=visaEquals skipwhite",
        _STARTS.strip("\n"),
        *(_keywords(table, control=control) for control in (False, True)),
        rf"syntax match visaDirective /^\s*\%({{\s*\)*\zs\.{pointed}\>/",
    ]
    return _HEAD + "\n".join(lines) + _TAIL


def _either(words: Iterable[str]) -> str:
    return r"\%(" + r"\|".join(words) + r"\)"


def _keywords(table: InstructionTable, *, control: bool) -> str:
    """Return the first words of mnemonics; the words after a dot are coloured as modifiers."""
    # A source mark with a leading dot is a directive here.
    words = sorted({word.partition(".")[0] for word in mnemonics(table, control=control)} - {""})
    head = f"syntax keyword visa{'Control' if control else 'Instruction'} contained nextgroup=visaModifier"
    return "\n".join([head, *(f"  \\ {line}" for line in textwrap.wrap(" ".join(words), _WIDTH - 4))])


def generate_files(_root: Path) -> dict[str, str]:
    """Return the file by its path."""
    return {FILE: syntax()}
