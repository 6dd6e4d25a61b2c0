"""Texts that are made to need much time: the answers that no time is left for are unknown, the others are there."""

from __future__ import annotations

from pathlib import Path

import pytest
from each_case import check_each
from planted_faults import HEAD, INDEX, STORE

from visa_lsp.app.assemble import program_of_text
from visa_lsp.app.prove.document import ProofOptions, prove_kernel
from visa_lsp.app.prove.terms import Level, SumPool, less, number

pytest.importorskip("z3")
_ACCESS = INDEX.format("gid") + STORE.format("y", "at")
_COMPARE = "    cmp.lt (M1, 16) P1 {}(0,0)<{}> 0x{:x}:d\n"


def _guard(number_: int) -> str:
    return _COMPARE.format("gid", "1;1,0", number_ + 1) + f"    (!P1) goto (M1, 16) out{number_}\n"


def _nested(depth: int) -> str:
    return "".join(map(_guard, range(depth))) + _ACCESS + "".join(f"out{one}:\n" for one in reversed(range(depth)))


def _branches(count: int) -> str:
    step = "    add (M1, 16) at(0,0)<1> at(0,0)<1;1,0> gid(0,0)<1;1,0>\n" + STORE.format("y", "at")
    return "    mov (M1, 16) at(0,0)<1> 0x0:d\n" + "".join(f"{_guard(one)}{step}out{one}:\n" for one in range(count))


def _loops(depth: int) -> str:
    end = "    add (M1_NM, 1) step(0,0)<1> step(0,0)<0;1,0> 0x1:d\n" + _COMPARE.format("step", "0;1,0", 0x7FFFFFFE)
    ends = "".join(f"{end}    (P1) goto (M1, 16) again{one}\n" for one in reversed(range(depth)))
    return "".join(f"again{one}:\n" for one in range(depth)) + _ACCESS + ends


def _products(count: int) -> str:
    start = "    mov (M1, 16) at(0,0)<1> gid(0,0)<1;1,0>\n"
    return start + "    mul (M1, 16) at(0,0)<1> at(0,0)<1;1,0> at(0,0)<1;1,0>\n" * count + STORE.format("y", "at")


def _prove(code: str, seconds: float) -> dict[str, set[str]]:
    text = f"{HEAD}{code}    ret (M1, 1)\n"
    program = program_of_text(text)
    assert program.module is not None, program.diagnostics
    options = ProofOptions(("race", "bounds", "uninitialised"), seconds=seconds)
    kernel = program.module.kernels[0]
    found: dict[str, set[str]] = {}
    for one in prove_kernel(program.module, kernel, "k.visaasm", Path("k.visaasm"), text.encode(), options):
        found.setdefault(one.property, set()).add(one.answer)
    return found


CASES = {
    "conditions nested too deeply": _nested(150),
    "many branches": _branches(60),
    "loops in one another": _loops(6),
    "products of products": _products(20),
}


def test_a_proof_ends_when_its_time_has_passed():
    def check(name: str) -> None:
        found = _prove(CASES[name], 0.1)
        assert found["race"] | found["bounds"] <= {"unknown", "proved"}, found

    check_each(CASES, check)


def test_choices_that_are_nested_in_one_another_are_decided():
    from visa_lsp.app.prove.solve import Solver, SymbolicItem

    pool = SumPool()
    item, total = pool.symbol("item", Level.ITEM, 0, 1000), number(0)
    for one in range(100):
        total = pool.choice(less(item + total, one), total + item, total + one)
    solver = Solver(pool, float("inf"), 1.0)
    question = solver.question()
    hard = [question.condition(less(total, number(-1)), SymbolicItem(1, 0))]
    assert solver.ask(question, hard).word in {"no", "unknown"}
