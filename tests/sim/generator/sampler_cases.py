"""Cases of sampler messages, from the payload that each row's prose lists, its channel words and its flags.

Coordinates are multiples of a sixteenth, so that the edges between texels and the middle of texels both occur.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from tests.sim.generator.lane_cases import CONTROLS, EMASKS, PREDICATES, platforms_of
from tests.sim.generator.message_cases import CHANNEL_MASKS, IMAGES, SIZES_OF_TEXEL, MessageBench
from tests.sim.generator.pairwise import cases
from tests.support.model.numbers import DTYPES
from tests.support.model.sampler import parameters
from visa_lsp.isa.model import Instruction, Modifier
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import UD, F
from visa_lsp.program.model import Immediate, RawOperand

STATES = [
    {"address": a, "filter": f, "normalized": n}
    for a in ("clamp_to_edge", "clamp", "repeat", "mirrored_repeat", "none")
    for f in ("nearest", "linear")
    for n in (True, False)
    if n or a not in ("repeat", "mirrored_repeat")
]


def image_of(bench: MessageBench, words: dict) -> int:
    """Return an image whose floats are all finite."""
    texel = SIZES_OF_TEXEL.get(words["format"], 4) * words["channels"]
    count = words["width"] * words["height"] * words["depth"] * words["channels"]
    data = bench.rng.bytes(texel * count // words["channels"])
    if words["format"] in ("float16", "float32"):
        kind = {"float16": "hf", "float32": "f"}[words["format"]]
        data = bench.rng.uniform(-2, 2, count).astype(DTYPES[kind]).tobytes()
    return bench.buffer(data, image={"layered": False, **words, "bytes": texel})


def dimensions(row: Instruction) -> dict[str, list]:
    """Return the dimensions of a row. Rows take turns with images and sampler states: the forms of one mnemonic have different ones."""
    turn = TABLE.rows.index(row) if row in TABLE.rows else 0
    images, states = list(range(len(IMAGES)))[turn % 3 :: 3], list(range(len(STATES)))[turn % 4 :: 4]
    found: dict[str, list] = {
        "emask": list(EMASKS), "grf": platforms_of(row), "image": images, "state": states, "bound": [True] * 5 + [False],
        "half": [False, True], "dst": ["f", "hf", "ud"], "cut": [False, True], "aoff": [0, 0x1F2, 0xE10],
    }  # fmt: skip
    if row.has_field("exec"):
        found |= {"size": list(row.exec_sizes), "offset": list(range(8)), "no_mask": [False, True]}
    if row.has_field("pred"):
        found |= {"control": list(CONTROLS), "bits": list(PREDICATES)}
    for number, modifier in enumerate(row.modifiers):
        if modifier.kind is Modifier.Kind.CHANNELS:
            found[f"word {number}"] = list(CHANNEL_MASKS)
        elif modifier.kind is Modifier.Kind.WORD and modifier.field != "divs":
            found[f"word {number}"] = sorted(
                {*modifier.words.values(), *([modifier.default] if modifier.optional else [])}
            )
    return found


def cases_of(row: Instruction) -> Iterator[dict]:
    """Yield the combinations that make sense: no filter on integers, no halves where bits of a float are offsets."""
    for case in cases(dimensions(row)):
        integer = "int" in IMAGES[case["image"]]["format"]
        state = dict(STATES[case["state"]])
        if integer:
            state["filter"] = "nearest"
        payload = row.has_field("payload")
        shared = payload and any("+" in p for p in parameters(row))
        half = case["half"] and payload and not shared and "offsets" not in row.detail and row.mnemonic != "load_2dms_w"
        comparing = payload and "ref" in parameters(row)
        dst = "ud" if integer and not comparing else "f" if case["dst"] == "ud" and comparing else case["dst"]
        if row.mnemonic == "lod":
            dst = "f"
        yield {**case, "sampler": state, "half": half, "dst": dst}


def _coordinate(bench: MessageBench, lanes: int, size: int, *, normalized: bool) -> np.ndarray:
    texels = bench.rng.integers(-3 * 16, (size + 3) * 16, lanes) / 16
    if not normalized:
        return texels
    return np.round(texels / size * 64) / 64


def payload_of(bench: MessageBench, row: Instruction, case: dict, lanes: int, words: dict) -> tuple[RawOperand, ...]:
    """Return the operands of the payload, one for each parameter that the row lists."""
    sizes = {
        "u": words["width"],
        "v": words["height"] if not words.get("layered") or words["dims"] == 3 else words["depth"],
        "r": words["depth"],
    }
    load = row.mnemonic.startswith("load")
    names = parameters(row)
    if case["cut"] and "ai" in names:
        names = names[: names.index("ai")]
    kind = ("w" if case["half"] else "d") if load else ("hf" if case["half"] else "f")
    operands = []
    for name in names:
        parts = name.split("+")
        if name in ("offu", "offv", "offsets"):
            data = bench.rng.integers(-8, 8, lanes) if name != "offsets" else bench.rng.integers(0, 1 << 12, lanes)
            raw = data.astype("<i2" if case["half"] else "<i4").tobytes()
        elif load:
            limit = sizes.get(name, 1)
            data = bench.rng.integers(-1, limit + 1, lanes) if name in sizes else bench.rng.integers(0, 5, lanes) // 4
            raw = data.astype(DTYPES[kind]).tobytes()
        else:
            normalized = case["sampler"]["normalized"] or row.mnemonic == "lod"
            if parts[0] in sizes:
                layer = words.get("layered") and parts[0] == ("v" if words["dims"] == 2 else "r")
                data = _coordinate(bench, lanes, sizes[parts[0]], normalized=normalized and not layer)
            else:
                data = bench.rng.integers(-16, 17, lanes) / 16
            raw = data.astype(DTYPES[kind]).tobytes()
            if len(parts) > 1:
                bits = np.frombuffer(raw, "<u4") & 0xFFFFF000 | bench.rng.integers(0, 1 << 12, lanes).astype("<u4")
                raw = bits.astype("<u4").tobytes()
        operands.append(
            RawOperand(
                bench.var(kind if not (load or name.startswith("off")) else ("w" if case["half"] else "d"), 64, raw), 0
            )
        )
    return tuple(operands)


def add(bench: MessageBench, row: Instruction, case: dict) -> None:
    """Append the instruction of a case."""
    words = IMAGES[case["image"]]
    index = image_of(bench, words) if case["bound"] or row.mnemonic == "sample_unorm" else 239
    fields: dict = {}
    for number, modifier in enumerate(row.modifiers):
        if f"word {number}" in case:
            fields[modifier.field] = fields.get(modifier.field, 0) | case[f"word {number}"]
    lanes = case.get("size", row.exec_sizes[0] if row.exec_sizes else 1)
    if row.has_field("exec"):
        fields["exec"] = bench.control(case)
    if row.has_field("pred"):
        fields["pred"] = bench.guard(case)
    pointers = any(f.name == "surface" and f.kind.value == "r" for f in row.fields)
    fields["surface"] = RawOperand(bench.words("uq", [index]), 0) if pointers else bench.surface(index)
    if row.has_field("sampler"):
        number = 1000 + len(bench.samplers)
        bench.samplers[number] = case["sampler"]
        fields["sampler"] = RawOperand(bench.words("uq", [number]), 0) if pointers else bench.sampler(number)
    if row.has_field("aoffimmi"):
        fields["aoffimmi"] = Immediate(UD, case["aoff"])
    if row.has_field("payload"):
        fields["payload"] = payload_of(bench, row, case, lanes, words)
        fields["n"] = len(fields["payload"])
    elif row.has_field("du"):
        steps = {"u": 0.125, "v": -0.25, "du": 0.09375, "dv": 0.21875}
        fields |= {n: Immediate(F, int(np.array(v, "<f4").view("<u4"))) for n, v in steps.items()}
    elif row.has_field("u"):
        load = row.mnemonic == "load"
        for name, size in (("u", words["width"]), ("v", words["height"]), ("r", words["depth"])):
            data = (
                bench.rng.integers(-1, size + 1, 32)
                if load
                else _coordinate(bench, 32, size, normalized=case["sampler"]["normalized"])
            )
            fields[name] = RawOperand(
                bench.var("d" if load else "f", 32, data.astype("<i4" if load else "<f4").tobytes()), 0
            )
    if row.has_field("lod"):
        fields["lod"] = RawOperand(bench.words("ud", [i // 5 % 2 for i in range(32)]), 0)
    kind = "ud" if row.has_field("lod") or row.mnemonic in ("sampleinfo", "sample_unorm") else case["dst"]
    fields["dst"] = RawOperand(bench.var(kind, 32 * 8 + 64), 0)
    bench.emit(row, **fields)
    bench.count += 1


def benches(row: Instruction, some: Callable[[Iterable[dict]], Iterable[dict]] = iter) -> Iterator[MessageBench]:
    """Yield the kernels that hold all cases of a row, or some."""
    groups: dict[tuple, MessageBench] = {}
    for case in some(cases_of(row)):
        key = (case["emask"], case["grf"])
        if key not in groups:
            groups[key] = MessageBench(row.mnemonic, platform=case["grf"], emask=case["emask"])
        add(groups[key], row, case)
    yield from groups.values()
