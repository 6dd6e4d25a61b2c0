"""The model of an instruction: the row from which every other room derives its view.

A row gives, in one place:

* ``slots``: its operands in the order of the text;
* ``modifiers``: the dotted words behind the mnemonic, in the order of the text;
* ``fields``: the items of its record in the object, in byte order. Slots and modifiers fill
  fields *by name*. A resolved instruction (``program.model.Inst``) holds one value per field;
* where it exists (dialects, platforms), what it means, and the prose that hover and ``explain`` print.

``fields`` exist also for instructions without an object form (``opcode`` None): they are then only the names of values.
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
    """An item of the record. ``const`` is a fixed value that distinguishes rows of one opcode.

    ``const_mask`` says which bits are fixed; the other bits belong to modifiers. ``stored`` is False for values that
    only newer text can express (``lsc`` third cache control): an object can hold only ``default``, unless the field is
    ``lossy``: then the object silently forgets the value (``.mod``, ``.divS``). ``hidden`` are bits that compilers set in
    objects and that text 4.1 has no word for: ``program.object_bits`` prints them in a comment.
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
    of the mask behind the slash; ``l2:b?`` is not stored (default 0), ``l2:b?7`` has default 7, ``mod:b!`` is lossy;
    ``mask:b~0x7f`` has hidden bits.
    """
    return tuple([_item(item) for item in spec.split()])


@cache
def _item(item: str) -> Field:
    # Most layouts have the same few items: each is read once, and is the same value everywhere.
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
    """The form of an operand in text, and the fields that it fills."""

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
    """A legal layout of a vector operand, where hardware restricts it: its regions in text form.

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
    optional: bool = False  # may be left out of the text; the field then has its default
    scalar: bool = False  # only the first element is used
    ignored: bool = False  # the finalizer does not look at its value
    flag_result: frozenset[DataType] | None = (
        None  # what the result can be where this operand is a predicate; None: any
    )
    layouts: tuple[Layout, ...] = ()  # VECTOR: the only ways in which it may lie; empty: any
    grf_aligned: bool = False
    words: Mapping[str, int] | None = None  # EXEC_WORD
    # INTEGER: the least and the most that the finalizer takes, which reads it in decimal only; None for no most.
    limits: tuple[int, int | None] | None = None
    most: int | None = None  # INTEGER: the most that the finalizer takes, which reads it in any form
    choices: Mapping[str, tuple[int, ...]] | None = None  # GROUP: the numbers that each of its fields takes
    lane_bytes: int = 0  # RAW: what a lane moves of it, where that is certain; with ``per_channel`` for each letter
    per_channel: bool = False
    hexadecimal: bool = False  # INTEGER: text 4.2 has it in hexadecimal only
    length: bool = False  # INTEGER: a number behind a slash, the length of the register before it
    # SURFACE: numbers of predefined surfaces that are refused here, with the platforms on which the finalizer refuses them.
    barred: Mapping[int, frozenset[str]] | None = None
    doc: str = ""  # a phrase: "lowest dword address"


class Modifier(Struct, frozen=True, eq=False):
    """A dotted word after the mnemonic. The word gives bits ``mask`` of ``field``.

    ``field`` ``"sat"`` is the saturation of the destination operand and no field of its own.
    ``kind`` is the syntax of words: one of ``words``, a channel mask (``RGBA`` letters), fence letters, a hex byte
    (``xd8``), a decimal number, or angle-bracket flags (``<RTI>``).
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
    behind: bool = False  # WORD: it follows the parenthesis of the execution size
    fold: bool = False  # WORD: the case of letters does not matter
    seed_words: frozenset[str] = frozenset()  # words that only the seed's text has (upper-case relations)
    # A field that is not stored: the field and its bit where other writers of objects say the word.
    heard: tuple[str, int] | None = None
    unread: frozenset[str] = frozenset()  # words that the finalizer of 2026 reads as something else
    newest: int | None = None  # a word that only text 4.2 has: the value where such a text leaves it out
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
        while text:
            hit = next((w for w in sorted(self.words, key=len, reverse=True) if text.startswith(w)), None)
            if hit is None:
                return None
            value |= self.words[hit]
            text = text[len(hit) :]
        return value

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
    """The successors of an instruction in control flow."""

    NEXT = "to the next instruction"
    JUMP = "the whole thread to a label"
    GOTO = "lanes to a label"
    SWITCH = "the whole thread to one of several labels"
    CALL = "to a subroutine and back"
    KERNEL_CALL = "to another kernel and back"
    FUNCTION_CALL = "to a function and back"
    RETURN = "back to the caller of a subroutine, or the end"
    FUNCTION_RETURN = "back to the caller of a function"
    LABEL = "to the next instruction, and others come here"
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
        """A word of the appendix's structured control flow."""
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
    SHIFT = auto()  # moves the bits of its first source, round or over the end, by as many as its second one says
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
    SIZES_UNCHECKED = auto()  # the finalizer does not look at its execution size
    DWORD_DATA = auto()  # elements of its data operand have four bytes, whatever is moved
    CANCELS = auto()  # with one operand twice the result does not depend on its value
    ENDS = auto()  # the message ends the thread
    QUAD = auto()  # its data has four elements a lane at most, chosen by a mask behind the register
    FOURS = auto()  # lanes are taken four by four: a result depends on all of its group
    STRIDE_UNCHECKED = auto()  # the finalizer does not look at the stride of its destination
    OVERLOOKED = auto()  # the finalizer of 2026 looks neither at its destination, nor at regions and immediates
    MULTISAMPLED = auto()  # its fourth coordinate is the number of a sample
    DOTTED = auto()  # a word of the language only with the dot behind it: without, it can name a variable


class Mark(Enum):
    """The kind of source position that a mark gives to the instructions after it."""

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
    dialects: frozenset[Dialect] = REAL  # the texts whose finalizer takes it


class BrainFloat(Struct, frozen=True, eq=False):
    """The slots of an instruction that take `bf`, and the types that may be used beside it."""

    platforms: frozenset[str]
    beside: frozenset[DataType]
    verified: frozenset[str] = ALL  # the platforms on which the finalizer looks
    unseen: frozenset[str] = frozenset()  # slots that it does not look at as long as the others have no `bf`
    apart: frozenset[str] = frozenset()  # slots that may have any type beside `bf`
    newest: bool = True  # the finalizer of 2026 looks


class Saturation(Struct, frozen=True, eq=False):
    """The results that an instruction can saturate: types (None: every one) and platforms.

    ``verified`` are the platforms on which the finalizer rejects other types; elsewhere it does not check.
    """

    types: frozenset[DataType] | None = None
    platforms: frozenset[str] = ALL
    verified: frozenset[str] = ALL


class Lack(Struct, frozen=True, eq=False):
    """Types that some platforms lack for an instruction: of its result alone, or of every operand."""

    types: frozenset[DataType]
    platforms: frozenset[str]
    result: bool = True
    reason: str = ""  # what these platforms are without: ``the unit for exact results``


class Refusal(Struct, frozen=True, eq=False):
    """A form that the finalizer of 2026 (text 4.2) does not compile: where, for which sizes, and why.

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
    MASKED = "(M1, 16)"  # the mask may be left out
    SIZE = "(4)"  # only the number counts


# Families of rows that compute, with vector operands: the others move or steer.
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
    exec_optional: bool = False  # lsc transposed forms and others may leave the parenthesis out
    needs: OperandClass = NO_CLASS  # at least one vector operand is of these classes
    unmixed: OperandClass = NO_CLASS  # either all vector operands are of these classes or none is
    predicable: bool = True
    predicate_lost: bool = False  # the text may be predicated, the object has no place for it (min, max)
    opens_label: bool = False  # the two label records
    dialects: frozenset[Dialect] = REAL
    platforms: frozenset[str] = ALL
    seed_opcode: int | None = None  # where the appendix (seed 003) numbers it differently or it has no other number
    meaning: Meaning | None = None
    flow: FlowClass = FlowClass.NEXT
    traits: Trait = Trait.PLAIN
    predicate_use: PredicateUse = PredicateUse.GUARDS
    mask_refused: bool = False  # the parenthesis has only a size; elsewhere a mask is read and lost
    exec_stored: Mapping[int, int] = member(
        default_factory=dict
    )  # sizes that the finalizer takes and writes as another
    exec_verified: tuple[int, ...] | None = None  # sizes that the finalizer takes where it does not take all
    saturation: Saturation | None = (
        None  # what `.sat` may clamp; None where every result may, or the row has no word for it
    )
    # The types that the finalizer's own verifier accepts, by slot; it does not look at slots that are not here.
    verified: Mapping[str, frozenset[DataType]] = member(default_factory=dict)
    together: tuple[Together, ...] = ()  # legal combinations of types; empty: any
    limited: frozenset[DataType] = frozenset()  # the types that ``together`` is about; empty: every type
    refusals: tuple[Refusal, ...] = ()
    # Words of the first two modifiers that text 4.2 has together; empty: any.
    families: tuple[frozenset[str], ...] = ()
    brain: BrainFloat | None = None  # None: no operand of type bf, where the finalizer looks
    lacks: tuple[Lack, ...] = ()
    # By a word behind the mnemonic: the types of the raw operands of its operation, and those that it leaves %null.
    operations: Mapping[str, Operation] = member(default_factory=dict)
    atomic: Atomic | None = None  # the operation of an atomic message whose name says it
    update: str = ""  # what that does to the word in memory, as a word of ``lsc_codes.ATOMIC_OP`` or its own name
    chooses: bool = False  # the result is one of the sources
    negates: bool = True  # sources may have (-), (abs) and (-abs)
    inverts: bool = False  # sources may have (~)
    unmodified: frozenset[str] = frozenset()  # the platforms on which sources have no modifier at all
    unmodified_newest: bool = False  # sources have no modifier on any platform, says the finalizer of 2026
    narrow_immediates: bool = False  # integers of any type count as the type that an operand needs
    saturation_dropped: bool = False  # `.sat` is read where the row has no word for it, and lost
    summary: str = ""
    detail: str = ""
    pitfalls: tuple[str, ...] = ()
    doc_page: str | None = None  # file stem under documentation/visa/instructions of intel-graphics-compiler
    seed: str | None = "003"
    marks_source: Mark | None = None  # not an instruction, but the source line of the following ones
    # The parameters of a sampler message in the order of its payload. ``a+b`` share one operand.
    parameters: tuple[str, ...] = ()
    half_parameters: tuple[str, ...] = ()  # those of a payload of 16 bits, where these are others
    # Words of other assemblers and of C that say the same, with what to write where another mnemonic is not enough.
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
        """The first of the mnemonic's words, with the point of a directive: ``lifetime``, ``.loc``."""
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
