"""The model of an instruction: the row from which every other room derives its view.

A row gives, in one place:

* ``slots``: its operands in the order of the text; * ``modifiers``: the dotted words after the mnemonic, in the order
of the text; * ``fields``: the items of its record in the object, in byte order. Slots and modifiers fill
  fields *by name*. A resolved instruction (``program.model.Inst``) holds one value per field;
* where it exists (dialects, platforms), what it means, and the prose that hover and ``explain`` print.

Instructions without an object form (``opcode`` None) have ``fields`` too, as names of values only.
"""

from __future__ import annotations

from enum import Enum, Flag, auto
from functools import cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec import field as member

from visa_lsp.isa.operands import NO_CLASS, OperandClass
from visa_lsp.isa.platforms import ALL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from visa_lsp.isa.lane import Meaning
    from visa_lsp.isa.lsc_codes import Atomic
    from visa_lsp.isa.types import DataType


class FieldKind(Enum):
    """The encoding of one item of an instruction record. The value is the letter used in ``layout`` strings."""

    EXEC = "E"  # UB exec byte                        value: ExecControl
    PREDICATE = "P"  # UW                             value: Predicate | None
    VECTOR = "v"  # tag UB + info                     value: vector operand
    RAW = "r"  # id UD, byte offset UW                value: RawOperand
    SURFACE = "s"  # UB surface number                value: int
    SAMPLER = "m"  # UB sampler number                value: int
    U8 = "b"  #                                       value: int
    U16 = "w"  #                                      value: int
    U32 = "d"  #                                      value: int
    S32 = "i"  #                                      value: int, signed
    LABEL = "label"  # UW label number                value: int
    STRING16 = "strw"  # UW string pool index         value: int
    STRING32 = "strd"  # UD string pool index         value: int
    VARIABLE = "var"  # UD number of a variable       value: int (its class is in another field)
    EXEC_CODE = "code"  # UB lanes 8:0 16:1 1:2 | mask << 4   value: ExecControl
    EXEC_LOG2 = "log2"  # UB log2 of the parenthesis  value: ExecControl (its mask is not stored)
    COUNT = "count"  # UB length of the list field    value: int
    RAWS = "raws"  # the list, RAW each               value: tuple[RawOperand, ...]
    LABELS = "labels"  # the list, LABEL each         value: tuple[int, ...]
    VECTORS = "vectors"  # the list, VECTOR or RAW each   value: tuple[operand, ...]


# Fields that name labels and strings of the body by their numbers.
LABEL_KINDS: Final = (FieldKind.LABEL, FieldKind.LABELS)
STRING_KINDS: Final = (FieldKind.STRING16, FieldKind.STRING32)


_KIND: Final = {kind.value: kind for kind in FieldKind}


class Field(Struct, frozen=True):
    """An item of the record.

    ``const`` is a fixed value that distinguishes rows of one opcode. ``const_mask`` has the fixed bits; the other bits
    belong to modifiers. ``stored`` is False for values that only newer text can express (``lsc`` third cache control):
    an object can hold only ``default``. In a ``lossy`` field any value is allowed, but the object loses it (``.mod``,
    ``.divS``). ``hidden`` are bits that compilers set in objects and for which text 4.1 has no word;
    ``program.object_bits`` prints them in a comment.
    """

    name: str
    kind: FieldKind
    const: int | None = None
    const_mask: int = -1
    stored: bool = True
    lossy: bool = False
    default: int = 0
    hidden: int = 0


def layout(spec: str) -> tuple[Field, ...]:
    """Return the fields of a compact spec: ``"E P relop:b dst:v src0:v src1:v"``.

    ``E`` and ``P`` are named ``exec`` and ``pred``. ``sub:b=3`` is constant; ``mask:b=0x20/0x20`` fixes only the bits
    of the mask after the slash; ``l2:b?`` is not stored (default 0), ``l2:b?7`` has default 7, ``mod:b!`` is lossy;
    ``mask:b~0x7f`` has hidden bits.
    """
    return tuple([_item(item) for item in spec.split()])


@cache
def _item(item: str) -> Field:
    # Cached because most layouts have the same few items.
    if item in ("E", "P"):
        return Field({"E": "exec", "P": "pred"}[item], _KIND[item])
    name, kind = item.split(":", 1)
    kind, _, bits = kind.partition("~")
    hidden = int(bits or "0", 0)
    mark = next((m for m in "?!" if m in kind), None)
    if mark:
        kind, default = kind.split(mark)
        return Field(name, _KIND[kind], stored=False, lossy=mark == "!", default=int(default or "0", 0))
    if "=" in kind:
        kind, const = kind.split("=")
        value, _, mask = const.partition("/")
        return Field(name, _KIND[kind], int(value, 0), int(mask, 0) if mask else -1, hidden=hidden)
    return Field(name, _KIND[kind], hidden=hidden)


class Shape(Enum):
    """The form of an operand in text, and the fields of the record for it."""

    VECTOR = "vector operand"
    RAW = "raw operand"
    SURFACE = "surface"
    SAMPLER = "sampler"
    LABEL = "label"
    LABELS = "list of labels"  # switchjmp (L1, L2): fills the LABELS field and its COUNT
    NAME = "name"  # faddr: a function or symbol, quoted or not, into a STRING field
    IDENTIFIER = "identifier"  # fcall: a function's name without quotes, into a STRING field
    STRING = "string"  # FILE "x"
    INTEGER = "number"  # a bare number, into an integer field
    GROUP = "group"  # media (w,h), vme (a,b): ``name`` lists the fields it fills, by commas: "width,height"
    RAWS = "payload operands"  # as many raw operands as follow: fills a RAWS field and its COUNT
    VECTORS = "message operands"  # raw or vector operands, as many as follow
    VARIABLE = "variable"  # lifetime: fills ``var`` and the class bits of ``prop``
    EXEC_WORD = "keyword"  # avs AVS_16_FULL: a word from ``words`` into an integer field
    SIMPLE = "element"  # dpas VD(0,0): a vector operand without a region, taken as <1;1,0>
    # Load/store controller forms. ``name`` is the register field.
    LSC_DATA = "data operand"  # V1:d32x2t  fills name, datasize, elems, order, chmask
    LSC_DATA_2D = "block data operand"  # V1:d8.2x8x8nn fills name, datasize, order, blocks, width, height, vnni
    LSC_DATA_TYPED_2D = "typed block data operand"  # V1:32x8  fills name, width, height
    LSC_ADDRESS = "address operand"  # bti(0)[4*V1+8]:a32  fills addrtype, surface, immscale, immoffset, addrsize, name
    LSC_ADDRESS_STRIDED = "strided address operand"  # flat[V1,32]:a64  as LSC_ADDRESS, and ``pitch``
    LSC_ADDRESS_2D = "block address operand"  # flat[b,w,h,p,x,y]  fills name0 .. name5 (vector fields), immx, immy
    LSC_ADDRESS_TYPED = "typed address operand"  # bti(0)[U,V,R,LOD]:a32  fills addrtype, surface, addrsize, u v r lod
    LSC_ADDRESS_TYPED_2D = "typed block address operand"  # bti(0)[X,Y]  fills addrtype, surface, src0, src1, immx, immy
    LSC_SURFACE = "surface address"  # bti(0)[V1]  fills addrtype, surface, name: read_state_info
    LSC_PAYLOAD = "payload register"  # V1, V1.32 or %null into a RAW field


class Role(Enum):
    """The use of an operand by its instruction."""

    READ = "read"
    WRITE = "written"
    READ_WRITE = "read and written"
    TARGET = "branch target"
    OTHER = "named"


class Layout(Struct, frozen=True, eq=False):
    """A legal layout of a vector operand that hardware restricts: its regions in text form.

    ``columns`` is the number of first elements of a register at which it may begin. ``lanes`` and ``type`` are the
    execution size and the type of the operand that the layout applies to; None for any.
    """

    regions: tuple[str, ...]
    columns: int | None = None
    lanes: int | None = None
    type: DataType | None = None


class Slot(Struct, frozen=True, eq=False):
    """An operand of the text. ``name`` is the field it fills (see Shape for those that fill several)."""

    name: str
    shape: Shape
    role: Role
    classes: OperandClass = NO_CLASS  # VECTOR and SIMPLE
    types: frozenset[DataType] | None = None  # None: any
    optional: bool = False  # may be missing in the text; the field then has its default
    scalar: bool = False  # only the first element is used
    ignored: bool = False  # the finalizer does not check its value
    flag_result: frozenset[DataType] | None = None  # classes of the result if this operand is a predicate; None: any
    layouts: tuple[Layout, ...] = ()  # VECTOR: its legal layouts; empty: any
    grf_aligned: bool = False
    words: Mapping[str, int] | None = None  # EXEC_WORD
    # INTEGER: minimum and maximum of a number that the finalizer reads only in decimal; None for no maximum.
    limits: tuple[int, int | None] | None = None
    most: int | None = None  # INTEGER: maximum of a number that the finalizer reads in any form
    choices: Mapping[str, tuple[int, ...]] | None = None  # GROUP: the legal numbers of each of its fields
    hexadecimal: bool = False  # INTEGER: hexadecimal only in text 4.2
    length: bool = False  # INTEGER: a number after a slash, the length of the register before it
    # SURFACE: numbers of predefined surfaces that are refused here, with the platforms on which the finalizer refuses them.
    barred: Mapping[int, frozenset[str]] | None = None
    doc: str = ""  # a phrase: "lowest dword address"


class Modifier(Struct, frozen=True, eq=False):
    """A dotted word after the mnemonic.

    The word sets bits ``mask`` of ``field``. The field ``"sat"`` is the saturation of the destination operand, not a
    separate field. ``kind`` is the syntax of words: one of ``words``, a channel mask (``RGBA`` letters), fence letters,
    a hex byte (``xd8``), a decimal number, or angle-bracket flags (``<RTI>``).
    """

    class Kind(Enum):
        """The syntax of the word."""

        WORD = "word"
        CHANNELS = "channel mask"
        LETTERS = "flags"  # letters from ``words``, any subset, in that order: EISCR
        HEX = "hexadecimal byte"
        NUMBER = "number"
        ANGLE = "flags in angle brackets"  # from ``words``: rt_write_3d.<A><RTI>

    field: str
    words: Mapping[str, int] = member(default_factory=dict)
    kind: Kind = Kind.WORD
    optional: bool = False
    default: int = 0
    mask: int = -1
    after_size: bool = False  # WORD: it follows the parenthesis of the execution size
    fold: bool = False  # WORD: the case of letters does not matter
    seed_words: frozenset[str] = frozenset()  # words of the seed's text only (upper-case relations)
    # For a field that is not stored: the field and the bit in which other writers of objects store the word.
    heard: tuple[str, int] | None = None
    unread: frozenset[str] = frozenset()  # words that the finalizer of 2026 misreads
    any_number: bool = False  # WORD: the finalizer of 2026 reads any number
    newest: int | None = None  # a word of text 4.2 only: the value if such a text omits it
    doc: str = ""

    @property
    def reach(self) -> int:
        """The bits of the field that have words; -1 if any value has a text."""
        if self.mask != -1:
            return self.mask
        match self.kind:
            case Modifier.Kind.CHANNELS:
                return 0xF
            case Modifier.Kind.LETTERS | Modifier.Kind.ANGLE:
                return reduce(or_, self.words.values(), 0)
            case _:
                return -1

    def parse(self, text: str) -> int | None:
        """Return the value of a word without its dot; None if it is not one of this modifier's words."""
        match self.kind:
            case Modifier.Kind.WORD:
                return self.words.get(text.lower() if self.fold else text)
            case Modifier.Kind.CHANNELS:
                order = "RGBA"
                letters = text.upper()
                if letters and all(c in order for c in letters) and len(set(letters)) == len(letters):
                    return sum(1 << order.index(c) for c in letters)
                return None
            case Modifier.Kind.HEX:
                digits = text[1:] if text[:1] == "x" else ""
                try:
                    return int(digits, 16) & 0xFF if digits.isalnum() else None
                except ValueError:
                    return None
            case Modifier.Kind.NUMBER:
                return int(text) if text.isascii() and text.isdigit() else None
            case Modifier.Kind.LETTERS:
                return self._letters(text)
            case Modifier.Kind.ANGLE:
                return self._angles(text)

    def _letters(self, text: str) -> int | None:
        value = 0
        for word, bit in self.words.items():
            if text.startswith(word):
                value |= bit
                text = text[len(word) :]
        return None if text else value

    def _angles(self, text: str) -> int | None:
        value = 0
        for part in text.replace("<", " ").replace(">", " ").split():
            if part not in self.words:
                return None
            value |= self.words[part]
        return value

    def format(self, value: int) -> str:
        """Return the word for a value, with its dot; empty for the default of an optional modifier."""
        if self.mask != -1:
            value &= self.mask
        if self.optional and value == self.default:
            return ""
        match self.kind:
            case Modifier.Kind.WORD:
                text = next((w for w, v in self.words.items() if v == value), "") or self._wordless(value)
            case Modifier.Kind.CHANNELS:
                text = "".join(c for i, c in enumerate("RGBA") if value >> i & 1)
            case Modifier.Kind.HEX:
                text = f"x{value:02x}"
            case Modifier.Kind.NUMBER:
                text = str(value)
            case Modifier.Kind.LETTERS:
                text = "".join(w for w, v in self.words.items() if value & v)
            case Modifier.Kind.ANGLE:
                text = "".join(f"<{w}>" for w, v in self.words.items() if value & v)
        return "." + text

    def _wordless(self, value: int) -> str:
        """Return the text of a value without a word: its number, unless that is the word of another value."""
        return f"code{value}" if str(value) in self.words else str(value)


SAT: Final = Modifier("sat", {"sat": 1}, optional=True, doc="clamp the result to the destination type's range")


class Dialect(Enum):
    """The three texts of the language (docs/format.md, "Dialects")."""

    SEED = "seed"
    V41 = "4.1"
    V42 = "4.2"


EVERY_DIALECT: Final = frozenset(Dialect)
REAL: Final = frozenset({Dialect.V41, Dialect.V42})


class FlowClass(Enum):
    """The effect of an instruction on control flow."""

    NEXT = "to the next instruction"
    JUMP = "the whole thread to a label"
    GOTO = "lanes to a label"
    SWITCH = "the whole thread to one of several labels"
    CALL = "to a subroutine and back"
    KERNEL_CALL = "to another kernel and back"
    FUNCTION_CALL = "to a function and back"
    RETURN = "back to the caller of a subroutine, or the end"
    FUNCTION_RETURN = "back to the caller of a function"
    LABEL = "to the next instruction; other instructions jump here"
    SUBROUTINE = "into a subroutine that begins here"
    NOTE = "nowhere: it marks a place or a variable and computes nothing"
    # The structured words of the appendix.
    IF = "if"
    ELSE = "else"
    ENDIF = "endif"
    DO = "do"
    WHILE = "while"
    BREAK = "break"
    CONTINUE = "cont"

    @property
    def returns(self) -> bool:
        """True if control leaves the body, or returns to the caller."""
        return self in (FlowClass.RETURN, FlowClass.FUNCTION_RETURN)

    @property
    def branches(self) -> bool:
        """True if control jumps to a label of the same body and does not return."""
        return self in (FlowClass.JUMP, FlowClass.GOTO, FlowClass.SWITCH)

    @property
    def structured(self) -> bool:
        """True for a word of the appendix's structured control flow."""
        return self.name in {"IF", "ELSE", "ENDIF", "DO", "WHILE", "BREAK", "CONTINUE"}


class Trait(Flag):
    """Properties of an instruction for rules and tools, besides its operands."""

    PLAIN = 0
    SCALAR = auto()  # one lane reads its vector operands; the parenthesis counts blocks, or there is none
    OWN_REGIONS = auto()  # the regions of its operands are ignored
    OWN_SHAPE = auto()  # its operands are not one element per lane
    COPIES = auto()  # it copies its source unchanged to its destination
    COMPARES = auto()
    PRODUCT = auto()  # a product of its first two sources is part of the result
    SUM = auto()
    SHIFT = auto()  # shifts or rotates the bits of its first source by the number in its second one
    MOVES_STATE = auto()  # between surface or sampler variables and numbers
    BARRIER = auto()
    FENCE = auto()
    MATRIX = auto()
    SAMPLES = auto()
    LOADS_PIXELS = auto()  # reads an image without a sampler
    NO_LEVEL = auto()  # its payload gives no level of detail
    MEDIA = auto()  # a block of a surface in two dimensions
    IMAGE = auto()  # its surface is an image
    ATOMIC = auto()
    WRITES = auto()  # to memory or an image
    STATELESS_WRITE = auto()  # to addresses of lanes, without a surface
    CHANNELS = auto()  # a mask chooses elements
    RESIDENCY = auto()  # returns whether pages are present
    BLOCK = auto()  # owords side by side
    MAY_END = auto()  # the message can end the thread
    SIZES_UNCHECKED = auto()  # the finalizer does not check its execution size
    DWORD_DATA = auto()  # elements of its data operand have four bytes, whatever the message moves
    CANCELS = auto()  # with equal operands the result does not depend on their value
    ENDS = auto()  # the message ends the thread
    QUAD = auto()  # its data has at most four elements per lane, selected by a mask after the register
    FOURS = auto()  # lanes form groups of four: a result depends on its whole group
    STRIDE_UNCHECKED = auto()  # the finalizer does not check the stride of its destination
    OVERLOOKED = auto()  # the finalizer of 2026 checks neither its destination, nor regions and immediates
    MULTISAMPLED = auto()  # its fourth coordinate is the number of a sample
    DOTTED = auto()  # a reserved word only with the dot after it; otherwise it can name a variable


class Mark(Enum):
    """The kind of source position that a mark sets for the instructions after it."""

    FILE = "file"
    LINE = "line"


class PredicateUse(Enum):
    """The effect of the predicate in front of an instruction."""

    GUARDS = "lanes whose bit is clear are left out"
    CHOOSES = "each lane takes one source or the other; all are written"
    RECEIVES = "it is a result"


class Together(Struct, frozen=True, eq=False):
    """Types of operands that may be combined, by the name of the slot, and the platforms that support them."""

    types: Mapping[str, frozenset[DataType]]
    platforms: frozenset[str] = ALL
    unmasked: bool = False  # only without an execution mask
    plain: bool = False  # only without predicate and source modifiers
    saturable: bool = True
    dialects: frozenset[Dialect] = REAL  # the texts whose finalizer accepts it


class BrainFloat(Struct, frozen=True, eq=False):
    """The slots of an instruction that take `bf`, and the types that may be used beside it."""

    platforms: frozenset[str]
    beside: frozenset[DataType]
    verified: frozenset[str] = ALL  # the platforms on which the finalizer checks it
    unseen: frozenset[str] = frozenset()  # slots that it does not check while the others have no `bf`
    apart: frozenset[str] = frozenset()  # slots that may have any type beside `bf`
    newest: bool = True  # the finalizer of 2026 checks it


class Saturation(Struct, frozen=True, eq=False):
    """The results that an instruction can saturate: types (None: every one) and platforms.

    ``verified`` are the platforms on which the finalizer rejects other types; elsewhere it does not check.
    """

    types: frozenset[DataType] | None = None
    platforms: frozenset[str] = ALL
    verified: frozenset[str] = ALL


class Lack(Struct, frozen=True, eq=False):
    """Types that some platforms lack for an instruction, in its result only or in every operand."""

    types: frozenset[DataType]
    platforms: frozenset[str]
    result: bool = True
    reason: str = ""  # the missing part of these platforms: ``the unit for exact results``


class Refusal(Struct, frozen=True, eq=False):
    """A form that the finalizer of 2026 (text 4.2) does not compile: the platforms, the sizes, and the reason.

    ``efficient64b`` is the dialect of CRI and later; None for both. The finalizer ends with an assertion if ``stops`` is
    set, else it reports an error.
    """

    reason: str
    platforms: frozenset[str] = ALL
    efficient64b: bool | None = None
    stops: bool = False
    lanes: frozenset[int] = frozenset()  # the execution sizes; empty: any
    unpredicated: bool = False  # only without a predicate


class Operation(Struct, frozen=True, eq=False):
    """The operands of one operation of an atomic message: types by slot, and the slots that must be %null."""

    types: Mapping[str, frozenset[DataType]]
    unused: frozenset[str] = frozenset()


class ExecStyle(Enum):
    """The syntax of the parenthesis after the mnemonic."""

    NONE = "none"
    MASKED = "(M1, 16)"  # the mask may be missing
    SIZE = "(4)"  # only the size counts


# Families of rows that compute, with vector operands; the others move data or control the flow.
COMPUTING: Final = frozenset({"arith", "math", "logic", "compare", "mov"})
# Families of rows that send a message to a unit: memory, images, samplers.
SENDING: Final = frozenset({"data_port", "svm", "sampler", "media", "lsc"})


class Instruction(Struct, frozen=True, eq=False):
    """A row of the instruction table."""

    mnemonic: str
    opcode: int | None
    family: str
    fields: tuple[Field, ...]
    slots: tuple[Slot, ...]
    modifiers: tuple[Modifier, ...] = ()
    exec_style: ExecStyle = ExecStyle.MASKED
    exec_sizes: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    exec_optional: bool = False  # the parenthesis may be missing, as in lsc transposed forms
    needs: OperandClass = NO_CLASS  # at least one vector operand is of these classes
    unmixed: OperandClass = NO_CLASS  # either all vector operands are of these classes or none is
    predicable: bool = True
    predicate_lost: bool = False  # the text may be predicated, but the object has no place for the predicate (min, max)
    opens_label: bool = False  # the two label records
    dialects: frozenset[Dialect] = REAL
    platforms: frozenset[str] = ALL
    seed_opcode: int | None = None  # the number in the appendix (seed 003), if different or the only one
    meaning: Meaning | None = None
    flow: FlowClass = FlowClass.NEXT
    traits: Trait = Trait.PLAIN
    predicate_use: PredicateUse = PredicateUse.GUARDS
    mask_refused: bool = False  # the parenthesis has only a size; otherwise a mask is read and lost
    exec_stored: Mapping[int, int] = member(
        default_factory=dict
    )  # sizes that the finalizer accepts and writes as another size
    exec_verified: tuple[int, ...] | None = None  # sizes that the finalizer accepts, if not all
    # Results that `.sat` may clamp; None for every result, or for a row without the word.
    saturation: Saturation | None = None
    # The types that the finalizer's verifier accepts, by slot; it does not check other slots.
    verified: Mapping[str, frozenset[DataType]] = member(default_factory=dict)
    together: tuple[Together, ...] = ()  # legal combinations of types; empty: any
    limited: frozenset[DataType] = frozenset()  # the types to which ``together`` applies; empty: every type
    refusals: tuple[Refusal, ...] = ()
    # Legal combinations of words of the first two modifiers in text 4.2; empty: any.
    families: tuple[frozenset[str], ...] = ()
    brain: BrainFloat | None = None  # None: no operand of type bf, where the finalizer checks it
    lacks: tuple[Lack, ...] = ()
    # By a word after the mnemonic: the types of the raw operands of its operation, and the operands that must be %null.
    operations: Mapping[str, Operation] = member(default_factory=dict)
    atomic: Atomic | None = None  # the operation of an atomic message, if its name determines it
    update: str = ""  # the effect on the word in memory, as a word of ``lsc_codes.ATOMIC_OP`` or its own name
    chooses: bool = False  # the result is one of the sources
    negates: bool = True  # sources may have (-), (abs) and (-abs)
    inverts: bool = False  # sources may have (~)
    unmodified: frozenset[str] = frozenset()  # the platforms on which sources have no modifier at all
    unmodified_newest: bool = False  # the finalizer of 2026 allows no modifiers of sources on any platform
    narrow_immediates: bool = False  # an integer of any type counts as the required type
    saturation_dropped: bool = False  # `.sat` is accepted although the row has no word for it, and is lost
    summary: str = ""
    detail: str = ""
    pitfalls: tuple[str, ...] = ()
    seed: str | None = "003"
    marks_source: Mark | None = None  # not an instruction, but the source line of the following ones
    # The parameters of a sampler message in the order of its payload. ``a+b`` share one operand.
    parameters: tuple[str, ...] = ()
    half_parameters: tuple[str, ...] = ()  # the parameters of a payload of 16 bits, if different
    # Equivalent words of other assemblers and of C, with the text to write if another mnemonic is not enough.
    foreign: Mapping[str, str] = member(default_factory=dict)
    index: Mapping[str, int] = member(default_factory=dict)  # field name -> position; filled by table.py

    def has(self, trait: Trait) -> bool:
        """Return whether the instruction has a trait, or one of several."""
        return bool(self.traits & trait)

    @property
    def key(self) -> tuple[str, int | None, tuple[tuple[str, int], ...]]:
        """The identity of a row: mnemonic, opcode and constant fields."""
        return (self.mnemonic, self.opcode, tuple((f.name, f.const) for f in self.fields if f.const is not None))

    def has_field(self, name: str) -> bool:
        """Return whether the record has a field of this name."""
        return any(f.name == name for f in self.fields)

    @property
    def head(self) -> str:
        """The first word of the mnemonic, with the dot of a directive: ``lifetime``, ``.loc``."""
        return self.mnemonic[0] + self.mnemonic[1:].partition(".")[0]

    @property
    def moves_blocks(self) -> bool:
        """True if a message moves a block for the whole thread although it has an exec size."""
        return self.mnemonic.endswith("_block2d")

    @property
    def syntax(self) -> str:
        """The form of the text: ``[(P)] add[.sat] (M1, 16) dst src0 src1``."""
        parts = ["[(P)] " if self.predicable else "", self.mnemonic]
        for mod in self.modifiers:
            word = next(iter(mod.words)) if mod.kind is Modifier.Kind.WORD and len(mod.words) == 1 else mod.field
            parts.append(f"[.{word}]" if mod.optional else f".{word}")
        if self.exec_style is ExecStyle.MASKED:
            parts.append(" [(mask, size)]" if self.exec_optional else " (mask, size)")
        elif self.exec_style is ExecStyle.SIZE:
            parts.append(" (size)")
        parts.extend(f" [{slot.name}]" if slot.optional else f" {slot.name}" for slot in self.slots)
        return "".join(parts)
