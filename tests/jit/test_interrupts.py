"""Ctrl-C ends compiled code that would never end by itself."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
from tiers import first

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.runner import RunOptions, run_text

pytest.importorskip("llvmlite")
TEXT = """\
.version 4.1
.kernel "endless"
.decl V40 v_type=G type=d num_elts=16 align=GRF
.kernel_attr Target="cm"
.kernel_attr SimdSize=16
again:
    add (M1, 16) V40(0,0)<1> V40(0,0)<1;1,0> 0x1:d
    jmp (M1, 1) again
    ret (M1, 1)
"""


@pytest.mark.parametrize("threads", first(1, [2, 1]))
def test_an_interrupt_ends_a_kernel_that_does_not(tmp_path, threads):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    path = tmp_path / "k.visaasm"
    launch = parse_launch("groups: [2]\nlocal_size: [16]\n", path.with_suffix(".launch.yaml"))
    ended = threading.Event()

    def interrupt():
        time.sleep(1)  # the code is compiled then, or else the interrupt ends that
        if not ended.is_set():
            os.kill(os.getpid(), signal.SIGINT)

    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run_text(TEXT, launch, RunOptions(path, "TGLLP", "jit", "none", threads=threads))
    finally:
        ended.set()
        interrupter.join()
        signal.signal(signal.SIGINT, before)
