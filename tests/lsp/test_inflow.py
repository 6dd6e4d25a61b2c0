"""Messages come out of a pipe as they went in, however the pipe hands them over, waited for or not."""

from __future__ import annotations

import contextlib
import io
import os
import random
from collections.abc import Iterator
from threading import Thread

import pytest

from visa_lsp.lsp.transport.input_stream import MAX_MESSAGE_BYTES, Inflow, inflow_of


@pytest.fixture
def pipe() -> Iterator[tuple[Inflow, int]]:
    reads, writes = os.pipe()
    yield inflow_of(os.fdopen(reads, "rb", closefd=False)), writes
    for fd in (reads, writes):
        with contextlib.suppress(OSError):
            os.close(fd)


def framed(body: bytes, more: bytes = b"") -> bytes:
    return b"%bContent-Length: %d\r\n\r\n%b" % (more, len(body), body)


def drained(inflow: Inflow) -> list[bytes]:
    found = []
    while (body := inflow.message()) is not None:
        found.append(body)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_messages_do_not_depend_on_the_pieces(seed: int, pipe: tuple[Inflow, int]) -> None:
    pick = random.Random(seed)
    inflow, writes = pipe
    bodies = [bytes(pick.choices(b"ab\r\n:{}0", k=pick.choice((1, 5, 300)))) for _ in range(12)]
    odd = (b"", b"Content-Type: x\r\n", b"\r\n", b"noise\n", b"content-LENGTH : 7\r\n")
    sent = b"".join(framed(body, pick.choice(odd)) for body in bodies)
    found = []
    while sent:
        size = pick.choice((1, 2, 17, 400))
        os.write(writes, sent[:size])
        sent = sent[size:]
        inflow.fill()
        found += drained(inflow)
    assert found == bodies
    os.close(writes)
    inflow.fill()
    assert inflow.ended
    assert inflow.message() is None


def test_what_is_left_of_the_last_message_counts(pipe: tuple[Inflow, int]) -> None:
    inflow, writes = pipe
    os.write(writes, framed(b"whole") + b"Content-Length: 10\r\n\r\nhalf")
    inflow.fill()
    assert drained(inflow) == [b"whole"]
    os.close(writes)
    inflow.fill()
    assert drained(inflow) == [b"half"]


@pytest.mark.parametrize("size", [b"%d" % (MAX_MESSAGE_BYTES + 1), b"9" * 30_000])
def test_a_message_that_is_too_long_ends_the_conversation(size: bytes, pipe: tuple[Inflow, int], caplog) -> None:
    inflow, writes = pipe
    os.write(writes, b"Content-Length: %b\r\n\r\nx" % size + framed(b"never read"))
    inflow.fill()
    assert drained(inflow) == []
    assert inflow.ended
    assert "not read" in caplog.text


def test_noise_without_an_end_is_not_held() -> None:
    noise = io.BytesIO(b"x" * (8 << 20) + b"\n" + framed(b"said"))
    inflow = inflow_of(noise)
    most = 0
    while (body := inflow.message()) is None:
        inflow.fill()
        most = max(most, len(inflow._held))
    assert body == b"said"
    assert most <= 2 << 20


@pytest.mark.parametrize("blocking", [True, False])
def test_a_message_is_waited_for_and_taken_back(pipe: tuple[Inflow, int], *, blocking: bool) -> None:
    inflow, writes = pipe
    assert inflow.fd is not None
    os.set_blocking(inflow.fd, blocking)
    sent = framed(b"first") + framed(b"second")
    late = Thread(target=lambda: [os.write(writes, sent[at : at + 9]) for at in range(0, len(sent), 9)])
    late.start()
    assert inflow.next() == b"first"
    inflow.unread(b"first")
    assert inflow.next() == b"first"
    assert inflow.next() == b"second"
    late.join()
    os.close(writes)
    assert inflow.next() is None
    assert inflow.ended


def test_a_pipe_that_must_not_block_is_not_waited_for(pipe: tuple[Inflow, int]) -> None:
    inflow, _ = pipe
    assert inflow.fd is not None
    os.set_blocking(inflow.fd, False)
    with pytest.raises(BlockingIOError):
        inflow.fill()


class Slow:
    """A stream without ``read1`` that waits for as much as it is asked for."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def read(self, size: int) -> bytes:
        found = self._data.read(size)
        assert len(found) in {0, size}, "would wait"
        return found

    def fileno(self) -> int:
        raise OSError


@pytest.mark.parametrize("kind", [io.BytesIO, Slow])
def test_a_stream_without_a_descriptor_is_read_as_well(kind: type) -> None:
    inflow = inflow_of(kind(framed(b"first") + framed(b"second", b"noise\n")))
    assert inflow.fd is None
    assert [inflow.next(), inflow.next(), inflow.next()] == [b"first", b"second", None]
