"""The compiled engine wherever a test runs a kernel: ``pytest --compiled``.

Nothing is too small to be compiled then, and no instruction is interpreted first to see whether it pays.
"""

from __future__ import annotations


def everywhere() -> None:
    """Put the compiled engine in the interpreter's place, before tests import either."""
    from visa_lsp.app.launch import ready_run
    from visa_lsp.sim import machine
    from visa_lsp.sim.jit import engine

    compile_at_once()
    interpreter = machine.Machine
    machine.Machine = machine_class()
    machine.run = engine.run
    engine.Machine = interpreter
    ready_run.engine_function = lambda name, _: ("interp" if name == "interp" else "jit", engine.run)


def machine_class():
    """Return the class of machines for a test, interpreted or compiled."""
    from visa_lsp.sim import machine
    from visa_lsp.sim.jit import machine as compiled
    from visa_lsp.sim.jit import state
    from visa_lsp.sim.jit.code_cache import RunMode

    interpreter = machine.Machine

    class Machine(compiled.CompiledMachine):
        """Compiled without listeners: listeners need single instructions, which only the interpreter reports."""

        def __new__(cls, dispatch, observers=(), quantum=machine.QUANTUM):
            return interpreter(dispatch, observers, quantum) if observers else object.__new__(cls)

        def __init__(self, dispatch, observers=(), quantum=machine.QUANTUM):
            super().__init__(dispatch, mode=RunMode(to_the_end=True))
            self.quantum = self.launch[state.QUANTUM // 8] = quantum

    return Machine


def compile_at_once(put=setattr):
    """Compile every body before its first instruction; ``put`` may be ``monkeypatch.setattr``, for one test."""
    from visa_lsp.sim.jit import engine

    for name, value in (("WARM", 0), ("MAX_COPIED_BYTES", -1)):
        put(engine, name, value)


def sample_first(monkeypatch, warm):
    """Compile a launch after ``warm`` interpreted steps for each instruction, where as many are estimated to follow."""
    from visa_lsp.sim.jit import engine

    for name, value in (
        ("WARM", warm),
        ("MAX_COPIED_BYTES", 1 << 24),
        ("START", 0),
        ("LEAST", 0),
        ("SAMPLED", 1),
        ("CHECKED_STEP", 0),
        ("CHECKED_BYTE", 0),
    ):
        monkeypatch.setattr(engine, name, value)
