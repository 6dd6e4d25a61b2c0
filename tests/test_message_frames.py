"""Messages come out of a stream as they went in, however the stream hands them over; broken frames harm none after them."""

from __future__ import annotations

import contextlib
import io
import os
import random
from threading import Thread

import pytest

from visa_lsp.message_frames import BrokenFrame, FrameReader

MAX_BYTES = 100_000


def framed(body: bytes, more: bytes = b"") -> bytes:
    return b"%bContent-Length: %d\r\n\r\n%b" % (more, len(body), body)


def read_all(reader: FrameReader) -> list[bytes | None]:
    """Return every message; None for a broken frame."""
    messages: list[bytes | None] = []
    while True:
        try:
            body = reader.next()
        except BrokenFrame:
            messages.append(None)
            continue
        if body is None:
            return messages
        messages.append(body)


@pytest.mark.parametrize("blocking", [True, False])
def test_messages_do_not_depend_on_the_pieces(blocking):
    pick = random.Random(1)
    for _ in range(10):
        bodies = [bytes(pick.choices(b"ab\r\n:{}0", k=pick.choice((0, 1, 5, 300)))) for _ in range(12)]
        odd = (b"", b"Content-Type: x\r\n", b"\r\n", b"noise\n", b"content-LENGTH : 7\r\n")
        sent = b"".join(framed(body, pick.choice(odd)) for body in bodies)
        reads, writes = os.pipe()
        os.set_blocking(reads, blocking)

        def send(rest: bytes = sent, pipe: int = writes) -> None:
            while rest:
                size = pick.choice((1, 2, 17, 400))
                os.write(pipe, rest[:size])
                rest = rest[size:]
            os.close(pipe)

        late = Thread(target=send)
        late.start()
        with os.fdopen(reads, "rb") as stream:
            assert read_all(FrameReader(stream, MAX_BYTES)) == bodies
        late.join()


@pytest.mark.parametrize(
    ("sent", "messages"),
    [
        (framed(b"whole") + b"Content-Length: 10\r\n\r\nhalf", [b"whole"]),
        (framed(b"x" * (MAX_BYTES + 1)) + framed(b"then"), [None, b"then"]),
        (b"Content-Length: x\r\n\r\n" + framed(b"then"), [None, b"then"]),
        (b"Content-Length: %b\r\n\r\n" % (b"9" * 9_000) + framed(b"then"), [None, b"then"]),
        (b"X: y\r\n\r\n" + framed(b"then"), [None, b"then"]),
        (b"x" * 3_000_000 + b"\n" + framed(b"then"), [None, None, None, b"then"]),
    ],
)
def test_a_broken_frame_harms_none_after_it(sent, messages):
    reader = FrameReader(io.BytesIO(sent), MAX_BYTES)
    assert [body for body in read_all(reader) if body is not None] == [body for body in messages if body is not None]
    with contextlib.suppress(BrokenFrame):
        assert FrameReader(io.BytesIO(sent), MAX_BYTES).next() == messages[0]
    assert len(reader._held) <= 2 << 20
