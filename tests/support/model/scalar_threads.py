"""Control flow, lane by lane: every lane runs the whole program alone, as a scalar thread with one bit of execution mask.

Lanes that never talk to each other have to end with what they would compute alone, however the simulator parts and joins
them. Straight-line instructions are those of ``registry``; branches, calls and returns move one program counter.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.support.model import registry
from tests.support.model.numbers import encode
from tests.support.model.state import State
from visa_lsp.isa.lane import Effect
from visa_lsp.program.model import Combine, Predicate

SHARED = (8, 9, 10, 11)  # %arg, %retval, %sp, %fp: what calls hand over
STRUCTURED = frozenset({"if", "else", "endif", "do", "while", "break", "cont"})
EFFECTS = frozenset(
    {"goto", "jmp", "switchjmp", "call", "ret", "fcall", "ifcall", "fret", "faddr", "label", *STRUCTURED}
)
ADDRESSES = 0x1000  # what a function's address is here; the simulator may have others


@dataclass
class Frame:
    """An activation: its body and state, where it is, and the subroutine returns that are open."""

    state: State
    code: tuple
    places: dict[int, int]
    pc: int = 0
    returns: list[int] = field(default_factory=list)


class Lane:
    """A lane's run of a program."""

    def __init__(self, kernel, functions: dict, grf: int, lane: int, initial: dict[int, bytes]) -> None:
        self.functions, self.grf, self.lane = functions, grf, lane
        self.shared = {n: bytearray(4096) for n in SHARED}
        self.frames = [self.frame(kernel)]
        for var, data in initial.items():
            self.frames[0].state.regs[var][: len(data)] = data
        self.visited: list[str] = []

    def frame(self, kernel) -> Frame:
        """Return a new activation of a body."""
        state = State(kernel, self.grf, 1 << self.lane)
        state.regs.update(self.shared)
        places = {i.get("label"): pc for pc, i in enumerate(kernel.instructions) if i.row.opens_label}
        return Frame(state, kernel.instructions, places)

    def run(self, budget: int = 50_000) -> State:
        """To the end; the state of the kernel."""
        first = self.frames[0].state
        while self.frames and budget:
            budget -= 1
            frame = self.frames[-1]
            if frame.pc >= len(frame.code):
                break
            inst = frame.code[frame.pc]
            frame.pc += 1
            name = inst.row.meaning.name if isinstance(inst.row.meaning, Effect) else ""
            if name in EFFECTS:
                getattr(self, f"_{name}")(frame, inst)
            else:
                registry.execute(frame.state, inst)
        assert budget, "a lane's program does not end"
        return first

    def takes_jump(self, frame: Frame, inst) -> bool:
        """Return whether this lane takes the jump of an instruction. One lane of execution size moves all."""
        control, pred = inst.get("exec"), inst.get("pred")
        size, at = control.exec_size, control.mask_offset
        if size > 1 and not at <= self.lane < at + size:
            return False
        if not isinstance(pred, Predicate):
            return True
        bits = [frame.state.preds[pred.var] >> at + i & 1 for i in range(size)]
        if pred.combine is Combine.NONE:
            hit = bits[self.lane - at] if size > 1 else bits[0]
        else:
            hit = any(bits) if pred.combine is Combine.ANY else all(bits)
        return bool(hit) != pred.inverse

    def _goto(self, frame: Frame, inst) -> None:
        if self.takes_jump(frame, inst):
            frame.pc = frame.places[inst.get("label")]

    _jmp = _goto

    def _switchjmp(self, frame: Frame, inst) -> None:
        frame.pc = frame.places[inst.get("labels")[frame.state.scalar(inst.get("index"))]]

    def _call(self, frame: Frame, inst) -> None:
        if self.takes_jump(frame, inst):
            frame.returns.append(frame.pc)
            frame.pc = frame.places[inst.get("label")]

    def _ret(self, frame: Frame, inst) -> None:
        if self.takes_jump(frame, inst):
            if frame.returns:
                frame.pc = frame.returns.pop()
            else:
                self.frames.pop()

    _fret = _ret

    def _enter(self, frame: Frame, inst, name: str) -> None:
        if self.takes_jump(frame, inst):
            self.frames.append(self.frame(self.functions[name]))

    def _fcall(self, frame: Frame, inst) -> None:
        self._enter(frame, inst, frame.state.kernel.string(inst.get("name")))

    def _ifcall(self, frame: Frame, inst) -> None:
        number = frame.state.scalar(inst.get("callee")) - ADDRESSES
        self._enter(frame, inst, sorted(self.functions)[number])

    def _faddr(self, frame: Frame, inst) -> None:
        number = sorted(self.functions).index(frame.state.kernel.string(inst.get("name"))) + ADDRESSES
        dst = inst.get("dst")
        frame.state.put(inst, dst, {0: encode(number, frame.state.type_name(dst))}, 1)

    def _label(self, frame: Frame, inst) -> None:
        pass

    # ---- the words of the appendix: partners are found by counting

    def _partner(self, frame: Frame, opens: str, stop: tuple[str, ...], closes: str) -> int:
        depth, pc = 0, frame.pc
        while True:
            word = frame.code[pc].row.mnemonic
            if depth == 0 and word in stop:
                return pc
            depth += (word == opens) - (word == closes)
            pc += 1

    def _if(self, frame: Frame, inst) -> None:
        if not self.takes_jump(frame, inst):
            frame.pc = self._partner(frame, "if", ("else", "endif"), "endif") + 1

    def _else(self, frame: Frame, inst) -> None:
        frame.pc = self._partner(frame, "if", ("endif",), "endif") + 1

    _endif = _do = _label

    def _while(self, frame: Frame, inst) -> None:
        if self.takes_jump(frame, inst):
            depth, pc = 0, frame.pc - 2
            while depth or frame.code[pc].row.mnemonic != "do":
                depth += (frame.code[pc].row.mnemonic == "while") - (frame.code[pc].row.mnemonic == "do")
                pc -= 1
            frame.pc = pc + 1

    def _break(self, frame: Frame, inst) -> None:
        if self.takes_jump(frame, inst):
            frame.pc = self._partner(frame, "do", ("while",), "while") + 1

    def _cont(self, frame: Frame, inst) -> None:
        if self.takes_jump(frame, inst):
            frame.pc = self._partner(frame, "do", ("while",), "while")
