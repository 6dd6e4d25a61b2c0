"""Forty tasks done by a client of the official SDK over stdio with the tools alone, and how long the answers are."""

import statistics
from time import perf_counter

import pytest
from agent_tasks import GEMM, SLOW, TASKS, text_of

SHARE = 0.1  # of the bytes that the answers are about
CHECKS = 60
LINES = 500


async def do(agent, tasks):
    """Do tasks; a failure is noted with the name of its task."""
    for task in tasks:
        try:
            await task(agent)
        except Exception as error:
            error.add_note(f"in the task {task.__name__}")
            raise


async def test_an_agent_does_its_tasks_with_the_tools_alone(one):
    await do(one, [task for task in TASKS if task.__name__ not in SLOW])


@pytest.mark.full
async def test_all_the_tasks_and_what_their_answers_cost(one):
    """Print the figures (``-s``); times are not judged here."""
    assert len(TASKS) >= 40
    one.answers.clear()
    await do(one, TASKS)
    shares = [answer / raw for _, answer, raw, _ in one.answers]
    sizes, raws = ([entry[at] for entry in one.answers] for at in (1, 2))
    print(
        f"\n{len(TASKS)} tasks, {len(shares)} answers: median {statistics.median(sizes):.0f} bytes about "
        f"{statistics.median(raws):.0f}; median share {statistics.median(shares):.3f}"
    )
    assert statistics.median(shares) <= SHARE
    print(f"check of {LINES} lines, warm: p95 {await slowest_checks(one):.1f} ms of {CHECKS}")


async def slowest_checks(agent):
    """Check texts of one length, each with another edit; return the 95th percentile in milliseconds."""
    lines = text_of(agent, GEMM).split("\n")
    code = [number for number, line in enumerate(lines) if "(M1, 16)" in line]
    text = [*lines[: code[0]], *(lines[code[n % len(code)]] for n in range(LINES - code[0] - 1)), "    ret (M1, 1)"]
    assert len(text) == LINES
    times = []
    for number in range(CHECKS):
        changed = [*text[:-2], f"    add (M1, 16) V0053(0,0)<1> V0053(0,0)<1;1,0> 0x{number:x}:d", text[-1]]
        began = perf_counter()
        await agent.call("check", text="\n".join(changed) + "\n")
        times.append((perf_counter() - began) * 1e3)
    return statistics.quantiles(times[5:], n=20)[-1]
