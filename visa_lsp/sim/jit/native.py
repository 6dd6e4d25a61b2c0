"""Compiles LLVM's text to callable functions. No other module knows the compiler."""

from __future__ import annotations

import ctypes
import hashlib
from base64 import b64decode
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

import llvmlite
import llvmlite.binding as llvm
from llvmlite.binding.newpassmanagers import NewPassManager

from visa_lsp.sim.jit.emitter import CALLBACK

if TYPE_CHECKING:
    from llvmlite import ir

    from visa_lsp.sim.jit.code_cache import ObjectStore
    from visa_lsp.sim.jit.machine import CompiledMachine

_CALLBACK: Final = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64
)
BODY: Final = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
LEVEL: Final = 2  # of LLVM's optimisation; tests of semantics use 0, which compiles in a fifth of the time
# Size of a module of some 1,200 instructions: all passes take 0.5 s for it, two passes 0.1 s.
MAX_OPTIMISED_CHARS: Final = 1 << 20
_MAX_STORED_BYTES: Final = 1 << 20  # bytes of one object
GROUPS: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)

# Machines by address of the launch.
_listeners: Final[WeakValueDictionary[int, CompiledMachine]] = WeakValueDictionary()


def _interpret(registers: int, _addresses: int, block: int, launch: int, pc: int) -> int:
    return _listeners[launch].interpret(registers, block, pc)


_interpreter = _CALLBACK(_interpret)  # kept alive, because compiled code calls it by address


def listen(launch: int, machine: CompiledMachine) -> None:
    """Send a launch's calls into the interpreter to a machine, as long as the machine exists."""
    _listeners[launch] = machine


@cache
def _target() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()  # because bodies contain instructions as text
    address = ctypes.cast(_interpreter, ctypes.c_void_p).value
    llvm.add_symbol(CALLBACK, address)
    return llvm.Target.from_default_triple()


def _machine() -> Any:
    """Return a target machine, owned by the caller."""
    target = _target()
    opt = max(LEVEL, 1)  # because LLVM ends the process at vectors of 63 words when it selects instructions at level 0
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=_features(), opt=opt)


@cache
def _features() -> str:
    features: str = llvm.get_host_cpu_features().flatten()
    return features


@cache
def _pass_builder(level: int) -> Any:
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    return llvm.create_pass_builder(_machine(), options)


@cache
def vector_bytes() -> int:
    """Return the vector size, in bytes, of the host's fused instructions of three operands; 0 without such instructions."""
    features = llvm.get_host_cpu_features()
    if not (features.get("avx") and features.get("fma")):
        return 0
    return 64 if features.get("avx512f") else 32


def _object(text: str, machine: Any, store: ObjectStore | None) -> bytes:
    """Return the object code of a module, from the store if an earlier process has compiled it for such a machine."""
    sign = f"{llvmlite.__version__}\n{llvm.get_host_cpu_name()}\n{_features()}\n{LEVEL}\n{text}"
    key = hashlib.sha256(sign.encode()).hexdigest()
    stored = store.get(key) if store is not None else None
    if isinstance(stored, str):
        return b64decode(stored)
    parsed = llvm.parse_assembly(text, llvm.create_context())  # because the global context keeps constants for ever
    parsed.verify()
    if LEVEL:
        builder = _pass_builder(LEVEL)
        if len(text) > MAX_OPTIMISED_CHARS:
            manager = llvm.create_new_module_pass_manager()
            manager.add_sroa_pass()
            manager.add_instruction_combine_pass()
        else:
            manager = builder.getModulePassManager()
        manager.run(parsed, builder)
        NewPassManager._dispose(manager)  # noqa: SLF001 - llvmlite forgets it: 60 KB for each module
        manager.detach()
    object_code: bytes = machine.emit_object(parsed)
    if store is not None and len(object_code) <= _MAX_STORED_BYTES:
        store.put(key, object_code)
        store.flush()
    return object_code


class Native:
    """The compiled functions of one module; callable while this object exists."""

    def __init__(self, module: ir.Module, store: ObjectStore | None = None) -> None:
        machine = _machine()
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        object_code = _object(str(module), machine, store)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(object_code))
        self._engine.finalize_object()

    def function(self, name: str, kind: Any = BODY) -> Any:
        """Return a function by name, as ctypes calls it."""
        return kind(self.address(name))

    def address(self, name: str) -> int:
        """Return the address of a function."""
        return int(self._engine.get_function_address(name))
