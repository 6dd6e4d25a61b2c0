"""The meanings of the finalizer's and the compiler's messages, and the codes of the rules that report the same mistake earlier.

One row for each kind of message. The messages are those of releases from 2020 to 2026; the rules are those that report
the texts of the corpus for which the finalizer gives such a message. Invariant: the first row that matches is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_MAX_MESSAGE_CHARS: Final = 500  # because the longest messages of releases have some 200
_SYNTAX: Final = re.compile(r"syntax error, unexpected (.+?)(?:, expecting (.+))?$")
# The grammar's names of tokens; a name that is missing here is shown as it is.
_TOKENS: Final = {
    "IDENT": "a name", "BUILTIN": "a predefined name", "BUILTIN_NULL": "%null", "NEWLINE": "the end of the line",
    "HEX_LIT": "a hexadecimal number", "DEC_LIT": "a decimal number", "F32_LIT": "a float", "F64_LIT": "a double",
    "STRING_LIT": "a string", "LPAREN": "(", "RPAREN": ")", "LANGLE": "<", "RANGLE": ">", "LBRACK": "[", "RBRACK": "]",
    "IND_LBRACK": "r[", "LBRACE": "{", "RBRACE": "}", "DOT": "a dot", "COMMA": "a comma", "COLON": "a colon", "SEMI": "a semicolon",
    "PLUS": "+", "MINUS": "-", "TIMES": "*", "AMP": "&", "SAT": ".sat", "ITYPE": "an integer type", "VTYPE": "a vector type",
    "BFTYPE": "a bfloat type", "DFTYPE": "a double type", "FTYPE": "a float type", "HFTYPE": "a half type",
    "DECL_DATA_TYPE": "a type of declarations", "CMP_OP": "cmp", "CPS": ".cps", "SAMPLER_CHANNEL": "the channels such as .RGBA",
    "PIXEL_NULL_MASK": ".pixel_null_mask", "NON_UNIFORM_SAMPLER": ".divS", "DIRECTIVE_VERSION": ".version",
    "DIRECTIVE_KERNEL": ".kernel", "LSC_SFID_UNTYPED_TOKEN": "the unit .ugm, .ugml or .slm", "LSC_SFID_TYPED_TOKEN": "the unit .tgm",
    "LSC_AM_FLAT": "flat", "LSC_AM_BTI": "bti", "LSC_AM_SS": "ss", "LSC_AM_BSS": "bss", "LSC_AM_SURF": "surf",
    "LSC_ADDR_SIZE_TK": "an address size such as :a64", "LSC_DATA_SHAPE_TK": "a data size such as :d32",
    "LSC_DATA_SHAPE_TK_CHMASK": "a data size with channels such as :d32.xyz", "LSC_DATA_SHAPE_TK_BLOCK2D": "the shape of a 2D block",
    "LSC_DATA_SHAPE_TK_TYPED_BLOCK2D": "the shape of a typed 2D block", "LSC_CACHING_OPT": "a cache control",
    "LSC_FENCE_OP_TYPE": "a fence operation", "LSC_FENCE_SCOPE": "a fence scope", "end": "the end of the text",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a message, and the codes of rules, the most likely first; empty if no rule reports such a mistake."""

    words: str
    rules: tuple[str, ...]


def _row(pattern: str, words: str, *rules: str) -> tuple[re.Pattern[str], Meaning]:
    return re.compile(pattern, re.IGNORECASE), Meaning(words, rules)


_PLATFORM: Final = "the instruction, type or form does not exist on the platform that the text is compiled for"
_ROWS: Final = (
    _row(r"vISA instruction not supported", _PLATFORM, "V220"),
    # The parser, which stops at the first mistake and names a line of the text.
    _row(r"unbound identifier|undefined .*variable|undefined state operand|unbound variable|unbound alias referent|undefined surface"
         r"|not declaired|uses undeclared (?:surface|sampler)",
         "this kernel declares no such name, or declares it with another class", "V101", "V205", "V233", "V238"),
    _row(r"undefined label", "a branch or call names a label that this kernel does not have", "V103"),
    _row(r"label is redefined|redefinition of label", "two labels of a kernel have the same name", "V104"),
    _row(r"variable redeclaration|redefined", "a name is declared twice", "V102"),
    _row(r"not a (?:general register|predicate|address|surface|sampler) variable|invalid variable type for lifetime",
         "the operand's place takes a variable of another class, by the v_type of its declaration", "V205", "V238", "V212", "V303"),
    _row(r"wrong type of src\d* operand|only supports general operands", "an operand of another class is expected here", "V205", "V215"),
    _row(r"invalid execution size|illegal (?:common ISA )?exec(?:ution )?size|only execution size|only supports execution size|execution size must be|execution sizes?\b.*not",
         "the instruction does not exist with this execution size, here or on this platform", "V209", "V236"),
    _row(r"invalid execution offset", "the mask offset must be one of M1 to M8 or their _NM forms", "V210"),
    _row(r"illegal combination of execution size and mask|invalid \wmask", "the mask offset is not a multiple of the execution size's lanes", "V219"),
    _row(r"predic\w+ .*(?:not allowed|not supported)|cannot be predicated", "the instruction takes no predicate", "V211"),
    _row(r"number of elements\(?\d*\)? is not valid|max possible address registers|number of elements",
         "the declaration has more elements than a variable of its class can have, or a number that is not a power of two", "V114"),
    _row(r"invalid align value", "the word after align= is not an alignment", "V113"),
    _row(r"type\(\w+\) is not legal", "general variables cannot have this type", "V112"),
    _row(r"alias offset", "the alias reaches beyond its base variable, or an offset is given without a base", "V115"),
    _row(r"circular alias|invalid alias index", "an alias leads to itself, or to nothing"),
    _row(r"input \S+ = .* intersects", "two inputs share bytes of the payload", "V123"),
    _row(r"input \S+ is <1 GRF but straddles", "an input smaller than a register lies across two registers", "V125"),
    _row(r"input \S+ ?size.* does not agree|input .*does not agree", "the size of .input differs from the size of its variable", "V124"),
    _row(r"wrong input variable|failed to create input variable", "the variable's class cannot be an input", "V122"),
    _row(r"target attribute|kernel_attr Target", "Target is cm or 3d", "V121"),
    _row(r"unknown attribute", "the attribute's name is unknown to this release", "V120"),
    _row(r"hex literal too long|lexical error", "a word or number is longer than the finalizer reads", "V005", "V001"),
    _row(r"row \(register\) offset must be positive|offset must be", "the register offset of an operand is negative", "V306"),
    # Regions.
    _row(r"(?:horz|vert)stride must be|region width must be|legal CISA region|region has width|must have region",
         "a region has numbers that the hardware cannot select: <vertical; width, horizontal>", "V301"),
    _row(r"horizontal stride should not be", "a destination writes each element once, so that its stride is 1, 2 or 4", "V302"),
    _row(r"execution size must be greater than width", "a row of the region is wider than the instruction", "V304"),
    _row(r"access out of 2 GRF|accesses more than 2 GRF", "one operand touches more than two registers", "V307"),
    _row(r"out of bounds byte access|access should not exceed",
         "an operand reads or writes past the end of its variable", "V305"),
    # Types and modifiers.
    _row(r"saturation is not supported|does not support saturation|destination modifier", "the instruction has no .sat", "V224", "V202"),
    _row(r"f_?cvt\b|[a-z]*8 mov is not|tf32 mov|FP\d/TF\d+ conversion|srnd must|fcvt must", "this pair of narrow float types has no conversion, or needs _NM",
         "V237", "V211"),
    _row(r"type is not allowed on this platform|datatype is not supported on this platform|does not support \S+ types? on the selected",
         "this platform has no such type", "V401", "V220"),
    _row(r"must use the same type for all", "float arithmetic takes one type; add a conversion with mov", "V402", "V401"),
    _row(r"must be of integral type|only supports?\b.*\btypes?\b|do(?:es)? not support .*types?|illegal \w+ type|must have \w+ type|"
         r"opnd is not allowed|opnd in BF mixed mode|are allowed to use double|int divide|data ?type in .* must be|must be UD",
         "the instruction does not take this type of operand", "V401", "V403"),
    _row(r"raw operand \S+ has incorrect type|allowed for b?dpas|only U\w* ", "the payload's variable has a type that the message does not take", "V403"),
    _row(r"invalid data type", "the word is not a type of this release", "V232", "V112"),
    _row(r"boolean types for immediate", "an immediate has the type bool", "V215"),
    _row(r"only (?:logical|arithmetic) modifiers|source modifier", "(-), (abs) belong to arithmetic, (~) to logic", "V216", "V202"),
    _row(r"read only variable", "the destination is a predefined variable that can only be read", "V217"),
    # Messages.
    _row(r"raw operand should be GRF-aligned", "a payload begins in the middle of a register", "V601"),
    _row(r"raw operand's offset|allocated operand size", "a payload reaches beyond its variable", "V602"),
    _row(r"MEDIA_LD|MEDIA_ST", "the block is wider, higher or larger than one message moves", "V603"),
    _row(r"caching options", "the platform does not have this number or combination of cache controls", "V620"),
    _row(r"AppendVISALsc\w+: unknown error|\blsc_|\bLSC\b|UGML? |chmask|vector load|(?:flat )?address (?:size|model)|fence scope", "the message does not have this combination of operation, data size and unit", "V609", "V604"),
    _row(r"AppendVISA\w+: unknown error|unknown error creating|operand not found", "the instruction does not take these operands", "V204", "V205", "V001"),
    _row(r"unsupported (?:load|store) operation|sfid|incorrect element size", "the operation does not exist on this unit", "V202", "V238"),
    _row(r"OWORD_LD|illegal (?:SVM|Oword)|number of (?:labels|parameters)|valid range for|must be in the range", "a number in the message is out of its range", "V213", "V209"),
    _row(r"SLM surface", "T0 is shared local memory, which this message cannot use", "V205", "V607"),
    _row(r"paired surface|CPS LOD|only one of R|one one of|only supports \d", "the sampler message has no such part", "V238", "V202"),
    # Platforms.
    _row(r"\dD Sample OpCode", _PLATFORM, "V220"),
    _row(r"invalid opcode", "the opcode is not an instruction of this kind of text", "V221", "V201"),
    _row(r"not supported on|is not allowed on this platform", _PLATFORM, "V220"),
    # Register allocation and the ends of a run.
    _row(r"spill memory used|spilled around|compiled SIMD\d+ allocated",
         "the kernel needs more registers than there are, so that values go through memory; `visa-lsp stats` shows where"),
    _row(r"scratch s(?:pace|ize).*exceeds",
         "the values and private arrays that do not fit into registers need more scratch memory than a thread has: "
         "make private arrays or the sub-group size smaller; `visa-lsp stats` shows the pressure"),
    _row(r"SLM size exceeds", "the kernel declares more shared local memory than a group can have", "V607"),
    _row(r"size of kernel arguments exceeds", "the arguments do not fit into the payload: pass large structures through a buffer"),
    _row(r"builder API call failed",
         "the finalizer refused vISA that the compiler made of the source: `visa-lsp check` names the line in the text that the compiler dumps",
         "V238", "V220"),
    _row(r"G4Verification failure", "the finalizer found a mistake in its own machine code: another release, or another form of the line, avoids it"),
    _row(r"Build failed with error code: -11\b", "the build failed: the messages before this line name the reason"),
    _row(r"Build failed with error code: -(?:5|6)\b", "the build ran out of memory, or the compiler crashed"),
    _row(r"Build failed with error code: -43\b", "the build options are wrong, not the text"),
    _row(r"Build failed with error code", "the build failed with this status of OpenCL: the messages before this line name the reason"),
    _row(r"internal compiler error|abnormal program termination|segmentation fault|^aborted",
         "the compiler or its finalizer crashed: no message names the mistake", "V236", "V238", "V220"),
    _row(r"\.[ch]pp:\d+", "an assertion of the finalizer failed: this release does not handle something in the text", "V238", "V220"),
    _row(r"found a total of \d+ error", "the messages are in the file of errors that is named"),
)  # fmt: skip


def meaning_of(message: str) -> Meaning | None:
    """Return the meaning of a message; None for an unknown one."""
    message = message[:_MAX_MESSAGE_CHARS]
    if match := _SYNTAX.search(message):
        expected = f" where {' or '.join(_tokens(match[2]))} is expected" if match[2] else " where it cannot be"
        return Meaning(f"the line has {next(_tokens(match[1]))}{expected}", ("V001", "V201", "V238"))
    return next((meaning for pattern, meaning in _ROWS if pattern.search(message)), None)


def _tokens(words: str) -> Iterator[str]:
    return (_TOKENS.get(word.split(" ")[0], word) for word in words.split(" or "))
