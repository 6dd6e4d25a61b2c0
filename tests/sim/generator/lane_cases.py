"""Cases of rows with vector operands, from their own slots and types.

For each row the dimensions are: execution size, mask offset, no-mask, predicate control and its bits, execution mask,
register size, for every source its type, form (regions, indirect with one or several addresses, immediate, packed
immediate), origin and modifier, the destination's type, form and saturation, the modes of ``%cr0``, and every modifier
word of the row. ``pairwise`` picks the combinations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tests.sim.generator.bench import Bench
from tests.sim.generator.pairwise import SEED, cases
from tests.support.model.numbers import FLOATS, INTS, SIGNED, SIZES, execution_type, inputs
from tests.support.model.words import words_of
from visa_lsp.isa.lane import Lane
from visa_lsp.isa.model import ExecStyle, Instruction, Modifier, Role, Shape
from visa_lsp.isa.operands import IM, G, I, OperandModifier, P, Region
from visa_lsp.isa.types import TYPE_BY_NAME, ExecControl
from visa_lsp.program.model import (
    Combine,
    General,
    Immediate,
    Indirect,
    Predicate,
    PredicateOperand,
)

EMASKS = (0xFFFF_FFFF, 0x5A3C_B6D3, 0x0000_0100)
PREDICATES = (0x5CA7_39E1, 0, 0xFFFF_FFFF)
CONTROLS = ("none", "+", "-", "any", "all", "-any", "-all")
DIRECT = ((1, 1, 0), (0, 1, 0), (8, 4, 2), (2, 2, 0), (0, 4, 1), (16, 16, 1), (4, 1, 0))
ROWS_OF_ADDRESSES = (1, 2, 4, 8)
ROUNDINGS = (0, 0x10, 0x20, 0x30)
KEPT = (0x4C0, 0, 0x80, 0x440)  # all denormals, none, f only, df and hf
# Rows whose types go together in a few ways only (pages FCVT, SRND): destination, then sources. They are unmasked.
PINNED = {
    "fcvt": {("ub", "hf"), ("b", "hf"), ("hf", "ub"), ("hf", "b"), ("ud", "f"), ("f", "ud")},
    "srnd": {("hf", "f", "uw"), ("hf", "f", "f"), ("ub", "hf", "ub"), ("ub", "hf", "hf")},
}
LOGIC = {"and", "or", "xor", "not"}
OFFSETS = 16  # elements of an address variable


def vector_slots(row: Instruction, role: Role) -> list:
    """Return the vector operands of a role."""
    return [s for s in row.slots if s.shape in (Shape.VECTOR, Shape.SIMPLE) and s.role is role]


def names_of(types) -> list[str]:
    """Names of the types that a model knows, in a fixed order."""
    return [n for n in SIZES if any(t.name == n for t in types or ())]


def source_forms(slot) -> list[tuple]:
    """Return the forms that a source may take, by its classes."""
    forms: list[tuple] = []
    if slot.classes & G:
        regions = [(0, 1, 0)] if slot.scalar else DIRECT
        forms += [("direct", r) for r in regions]
    if slot.classes & I:
        forms += [("single", r) for r in ([(0, 1, 0)] if slot.scalar else ((1, 1, 0), (0, 1, 0), (8, 4, 2)))]
        if not slot.scalar:
            forms += [("multi", w) for w in ROWS_OF_ADDRESSES]
    if slot.classes & IM:
        forms += [("immediate",), ("packed",)]
    return forms


def kind_sets(row: Instruction) -> list[str]:
    """Return the kinds of sources between which a row does not mix: integers, floats, predicates."""
    if row.mnemonic in PINNED:
        return ["any"]
    sources = [names_of(s.types) for s in vector_slots(row, Role.READ)]
    sets = [
        name
        for name, kinds in (("int", INTS), ("float", FLOATS))
        if all(any(k in kinds for k in found) for found in sources)
    ]
    takes_predicates = [bool(s.classes & P) for s in vector_slots(row, Role.READ)]
    if sources and all(takes_predicates):
        sets.append("bool")
    return sets


def saturable(row: Instruction, kinds: list[str]) -> bool:
    """Whether the row may clamp a destination of some of these types."""
    if not any(m.field == "sat" for m in row.modifiers):
        return False
    if row.mnemonic in PINNED:  # another test has them
        return False
    types = row.saturation.types if row.saturation is not None else None
    return types is None or any(t.name in kinds for t in types)


def dimensions(row: Instruction, kind_set: str) -> dict[str, list]:
    """Return the dimensions of a row for one kind of sources."""
    known = INTS if kind_set == "int" else FLOATS if kind_set == "float" else SIZES
    found: dict[str, list] = {"emask": list(EMASKS), "grf": platforms_of(row)}
    if row.has_field("exec"):
        # A row without a parenthesis has no size to choose.
        found["size"] = [1] if row.exec_style is ExecStyle.NONE else list(row.exec_sizes)
        found["offset"], found["no_mask"] = list(range(8)), [False, True]
    if row.has_field("pred"):
        found["control"], found["bits"] = list(CONTROLS), list(PREDICATES)
    for slot in vector_slots(row, Role.READ):
        kinds = names_of(slot.types)
        found[f"{slot.name} type"] = [k for k in kinds if k in known]
        found[f"{slot.name} form"] = [f for f in source_forms(slot) if f != ("packed",) or row.mnemonic not in PINNED]
        found[f"{slot.name} origin"] = [0, 3, 11]
        found[f"{slot.name} modifier"] = modifiers_of(row)
    for slot in vector_slots(row, Role.WRITE):
        if slot.classes & (G | I):
            kinds = names_of(slot.types)
            own = kinds if row.mnemonic == "mov" else [k for k in kinds if k in known] or kinds
            found[f"{slot.name} type"] = own
            found[f"{slot.name} form"] = [
                (c, s) for c in ("direct", "single") if slot.classes & (G if c == "direct" else I) for s in (1, 2, 4)
            ]
            if slot.classes & P and "bool" not in kind_sets(row):
                found[f"{slot.name} form"].append(("predicate", 1))
            if slot.name == "dst":
                found["sat"] = [False, True] if saturable(row, own) else [False]
    pinned = PINNED.get(row.mnemonic)
    if pinned:
        found = {n: v for n, v in found.items() if not n.endswith(" type")} | {"pinned": sorted(pinned)}
    if kind_set == "float" or row.mnemonic == "mov":
        found["rounding"], found["kept"] = list(ROUNDINGS), list(KEPT)
    for modifier in row.modifiers:
        if modifier.field != "sat" and modifier.kind is Modifier.Kind.WORD:
            found[f"field {modifier.field}"] = sorted(set(modifier.words.values()))
    found = {name: values for name, values in found.items() if values}
    sources = [n for n in found if n.startswith("src") and n.endswith(" type")]
    if row.mnemonic == "mov":
        # A conversion meets every destination, with and without saturation.
        triple = (found.pop(sources[0]), found.pop("dst type"), found.pop("sat", [False]))
        found["conversion"] = [(s, d, sat) for s in triple[0] for d in triple[1] for sat in triple[2]]
    return found


def modifiers_of(row: Instruction) -> list[str]:
    """Source modifiers that a row's words may take: complement on logic, sign on arithmetic."""
    if isinstance(row.meaning, Lane) and words_of(row.meaning.expr) & LOGIC:
        return ["NONE", "NOT"]
    if row.family == "logic" or row.mnemonic in ("fcvt", "srnd", "setp", "addc", "subb"):
        return ["NONE"]
    return ["NONE", "NEG", "ABS", "NEGABS"]


def platforms_of(row: Instruction) -> list[str]:
    """One platform with registers of 32 bytes and one of 64, as far as the row exists there."""
    found = [n for n in ("TGLLP", "DG2", "PVCXT", "BMG", "CRI", "SKL", "ICLLP") if n in row.platforms]
    small = [n for n in found if n in ("TGLLP", "DG2", "SKL", "ICLLP")][:1]
    large = [n for n in found if n not in ("TGLLP", "DG2", "SKL", "ICLLP")][:1]
    return small + large


class LaneBench(Bench):
    """A bench that builds vector operands."""

    def control(self, case: dict) -> ExecControl:
        """Return the parenthesis of a case; offsets are multiples of the size (seed 001)."""
        size = case.get("size", 1)
        return ExecControl(size, case["offset"] * max(4, size) % 32, case["no_mask"])

    def guard(self, case: dict) -> Predicate | None:
        """Return the predicate control of a case."""
        word = case.get("control", "none")
        if word == "none":
            return None
        combine = Combine.ANY if "any" in word else Combine.ALL if "all" in word else Combine.NONE
        return Predicate(self.shared_predicate(case["bits"]), word.startswith("-"), combine)

    def shared_predicate(self, bits: int) -> int:
        """Return the predicate variable of given bits."""
        known = next((p for p, b in self.predicates.items() if b == bits), None)
        return known or self.predicate(bits)

    def operand(self, case: dict, name: str, lanes: int):
        """Return the source of a case: its type, form, origin and modifier."""
        kind, form, origin = case[f"{name} type"], case[f"{name} form"], case.get(f"{name} origin", 0)
        modifier = case.get(f"{name} modifier", "NONE")
        if modifier in ("ABS", "NEGABS", "NEG") and kind in INTS and kind not in SIGNED:
            modifier = "NONE"
        mark = OperandModifier[modifier]
        if form[0] in ("immediate", "packed"):
            return self.immediate(kind, packed=form[0] == "packed")
        var, size = self.source(name, kind), SIZES[kind]
        per_row = self.grf // size
        if form[0] == "direct":
            vert, width, horz = form[1]
            if width > lanes:
                vert, width, horz = 1, 1, 0
            return General(var, origin // per_row, origin % per_row, Region(vert, width, horz), mark)
        address = self.builder.address(OFFSETS)
        if form[0] == "single":
            vert, width, horz = form[1]
            if width > lanes:
                vert, width, horz = 1, 1, 0
            self.point(address, 2, var, origin * size)
            return Indirect(address, 2, 2 * size, TYPE_BY_NAME[kind], Region(vert, width, horz), mark)
        width = min(form[1], lanes)
        while lanes // width > OFFSETS:
            width *= 2
        for row in range(lanes // width):
            self.point(address, row, var, int(self.rng.integers(0, 64)) * size)
        return Indirect(address, 0, size, TYPE_BY_NAME[kind], Region(None, width, 1 if width > 1 else 0), mark)

    def immediate(self, kind: str, *, packed: bool) -> Immediate:
        """Return a constant of a type, or the packed one that counts as it; bits as text writes them."""
        vector = {"w": "v", "d": "v", "uw": "uv", "ud": "uv", "f": "vf"}.get(kind)
        if packed and vector:
            return Immediate(TYPE_BY_NAME[vector], int.from_bytes(self.rng.bytes(4), "little"))
        size = SIZES[kind]
        data = inputs(kind, 64, SEED)
        at = int(self.rng.integers(64)) * size
        return Immediate(TYPE_BY_NAME[kind], int.from_bytes(data[at : at + size], "little"))

    def destination(self, case: dict, name: str, lanes: int, *, halves: int = 1):
        """Return a destination of its own for a case."""
        form = case[f"{name} form"]
        if form[0] == "predicate":
            return PredicateOperand(self.predicate(int.from_bytes(self.rng.bytes(4), "little")))
        kind = case[f"{name} type"]
        size = SIZES[kind]
        span = -(-(lanes * form[1] + 5) * size // self.grf) * self.grf
        var = self.var(kind, halves * span // size + self.grf // size)
        mark = OperandModifier.SAT if name == "dst" and case.get("sat") else OperandModifier.NONE
        origin = 0 if halves > 1 else 3
        if form[0] == "direct":
            return General(var, 0, origin, Region(None, None, form[1]), mark)
        address = self.builder.address(2)
        self.point(address, 1, var, origin * size)
        return Indirect(address, 1, 0, TYPE_BY_NAME[kind], Region(None, None, form[1]), mark)


def _keep_brain_floats_apart(row: Instruction, case: dict) -> None:
    """Where a row takes `bf` among its own kind only, all operands are of it; an immediate has no such type."""
    names = [f"{s.name} type" for s in vector_slots(row, Role.READ)]
    every = [name for name in ("dst type", *names) if name in case]
    if row.brain is None or {t.name for t in row.brain.beside} != {"bf"} or "bf" not in map(case.get, every):
        return
    given = any(case[f"{s.name} form"][0] in ("immediate", "packed") for s in vector_slots(row, Role.READ))
    case.update(
        {name: "f" if case[name] == "bf" else case[name] for name in every} if given else dict.fromkeys(every, "bf")
    )


def fits(row: Instruction, case: dict) -> dict | None:
    """Return a case made legal by the documents, or None where it cannot be: float results go to floats, integers to integers."""
    case = dict(case)
    if "pinned" in case:
        names = ["dst type", *(f"{s.name} type" for s in vector_slots(row, Role.READ))]
        case |= dict(zip(names, case.pop("pinned"), strict=True)) | {"no_mask": True}
    if "conversion" in case:
        name = next(s.name for s in vector_slots(row, Role.READ))
        case[f"{name} type"], case["dst type"], case["sat"] = case.pop("conversion")
    _keep_brain_floats_apart(row, case)
    sources = [case[f"{s.name} type"] for s in vector_slots(row, Role.READ) if f"{s.name} type" in case]
    dst = case.get("dst type")
    if row.mnemonic == "add3.o":
        case["control"], case["fresh"] = "+", True
    types = row.saturation.types if row.saturation is not None else None
    if case.get("sat") and types is not None and dst not in {t.name for t in types}:
        case["sat"] = False
    if row.mnemonic == "shl" and case.get("sat"):
        return None  # more than 33 bits are undefined; test_a_shift_that_clamps has the others
    if sources and dst and row.mnemonic not in {"mov", "cmp"} and row.mnemonic not in PINNED:
        exec_kind = execution_type(sources)
        if (exec_kind in FLOATS) != (dst in FLOATS):
            return None
    return case


def cases_of(row: Instruction) -> Iterator[dict]:
    """All cases of a row; every function of a HEX modifier occurs."""
    sets = kind_sets(row)
    for kind_set in sets:
        if kind_set == "bool":
            continue
        found = [c for c in (fits(row, c) for c in cases(dimensions(row, kind_set))) if c]
        hexes = [m.field for m in row.modifiers if m.kind is Modifier.Kind.HEX]
        if hexes:
            found = (found * (256 // len(found) + 1))[: max(256, len(found))]
        for number, case in enumerate(found):
            yield {**case, **{f"field {name}": number * 89 % 256 for name in hexes}}
    if "bool" in sets:
        yield from predicate_cases(row)


def predicate_cases(row: Instruction) -> Iterator[dict]:
    """Cases of a row whose sources, or whose destination too, are predicates."""
    dims = {"emask": list(EMASKS), "grf": platforms_of(row), "bits0": list(PREDICATES), "bits1": list(PREDICATES[::-1])}
    whole = any(s.classes & P for s in vector_slots(row, Role.WRITE))
    if whole:
        dims |= {"size": list(row.exec_sizes), "offset": list(range(8)), "no_mask": [False, True]}
    else:
        dims |= {"dst type": ["ub", "uw", "ud"], "dst form": [("direct", 1), ("single", 1)]}
    yield from ({**case, "predicates": True} for case in cases(dims))


def add(bench: LaneBench, row: Instruction, case: dict) -> None:
    """Append the instructions of a case: modes and addresses, then the instruction itself."""
    if case.get("predicates"):
        return _add_predicates(bench, row, case)
    if "rounding" in case:
        bench.mode(case["rounding"] | case["kept"])
    fields: dict = {name.removeprefix("field "): v for name, v in case.items() if name.startswith("field ")}
    lanes = case.get("size", 1)
    if row.has_field("exec"):
        fields["exec"] = bench.control(case)
    if row.has_field("pred"):
        fields["pred"] = Predicate(bench.predicate(case["bits"])) if case.get("fresh") else bench.guard(case)
    for slot in (*vector_slots(row, Role.READ), *vector_slots(row, Role.WRITE)):
        if slot.role is Role.READ:
            fields[slot.name] = bench.operand(case, slot.name, lanes)
        elif f"{slot.name} form" in case:
            halves = 2 if "high halves" in slot.doc else 1
            fields[slot.name] = bench.destination(case, slot.name, lanes, halves=halves)
        else:
            fields[slot.name] = PredicateOperand(bench.predicate(int.from_bytes(bench.rng.bytes(4), "little")))
    bench.emit(row, **fields)
    bench.count += 1
    return None


def _add_predicates(bench: LaneBench, row: Instruction, case: dict) -> None:
    sources = {
        s.name: PredicateOperand(bench.shared_predicate(case[f"bits{i}"]))
        for i, s in enumerate(vector_slots(row, Role.READ))
    }
    if "dst type" in case:
        fields = {"dst": bench.destination(case, "dst", 1), "exec": ExecControl(1, 0, no_mask=True)}
    else:
        fields = {"dst": PredicateOperand(bench.predicate(0xC3A5_0FF0)), "exec": bench.control(case)}
    bench.emit(row, **fields, **sources)
    bench.count += 1


def benches(row: Instruction, some: Callable[[Iterable[dict]], Iterable[dict]] = iter) -> Iterator[LaneBench]:
    """Yield the kernels that hold all cases of a row, or some: one per execution mask and register size."""
    groups: dict[tuple, LaneBench] = {}
    for case in some(cases_of(row)):
        key = (case["emask"], case["grf"])
        if key not in groups:
            groups[key] = LaneBench(row.mnemonic, platform=case["grf"], emask=case["emask"])
        add(groups[key], row, case)
    yield from groups.values()
