"""The server keeps nothing of a message that it has handled; pygls would keep a future of each notification."""

from __future__ import annotations

from visa_lsp.lsp.server import create_server


def test_no_future_of_a_notification_is_kept():
    protocol = create_server("").protocol
    ended = []

    def handle(number):
        yield (lambda: ended.append(number)), (), None

    for number in range(3):
        protocol._execute_handler(f"{number}", handle, lambda future: ended.append(future.result()), (number,))
    assert ended == [0, None, 1, None, 2, None]
    assert protocol._request_futures == {}
