"""The server of the layer, without a program."""

import os
import socket
import struct

from visa_lsp.app.exec.programs import Programs
from visa_lsp.app.exec.report import ExecReport
from visa_lsp.app.launch.report import source_excerpt
from visa_lsp.isa.platforms import platform_named
from visa_lsp.opencl.layer_server import UNDEFINED_BYTES, Server


def test_a_process_that_ends_without_its_answer_is_no_refusal(tmp_path):
    report, said = ExecReport(), []
    server = Server(Programs(tmp_path, platform_named("TGLLP"), None), report, "all", said.extend)
    ours, theirs = socket.socketpair()
    memory = os.memfd_create("arena")
    os.ftruncate(memory, 4096)
    socket.send_fds(theirs, [b"A"], [memory])
    theirs.sendall(struct.pack("<5Q", ord("H"), 24, 0, 4096, UNDEFINED_BYTES))
    theirs.shutdown(socket.SHUT_RD)  # the answer cannot be sent
    server.serve(ours)
    assert (said, report.refused) == ([], {})


def test_a_long_line_of_a_source_is_shortened(tmp_path):
    (tmp_path / "one.cl").write_text("x" * 5000)
    place, line = source_excerpt(None, (str(tmp_path / "one.cl"), 1))
    assert (place, line) == (f"{tmp_path}/one.cl:1", "x" * 300 + "...")
