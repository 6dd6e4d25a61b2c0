"""Pages keep their limits whatever is in an answer, and lose nothing but what they say."""

import json
import random

import pytest

from visa_lsp.app.errors import UserError
from visa_lsp.mcp.pages import DEFAULT_TOKENS, MIN_TOKENS, ToolAnswer, item_ids, page, tokens_of


def pages(answer, max_tokens=DEFAULT_TOKENS):
    found = [page(answer, "", max_tokens)]
    while cursor := found[-1].get("cursor"):
        found.append(page(answer, cursor, max_tokens))
    return found


def random_value(rng, depth):
    kind = rng.randrange(6 if depth else 4)
    if kind == 0:
        return rng.randrange(1 << rng.randrange(1, 60))
    if kind < 4:
        return "".join(rng.choice('ab (1,16)<;>:é"\\\n\ud800') for _ in range(rng.choice((3, 50, 50, 2000))))
    if kind == 4:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(8))]
    return {f"k{n}": random_value(rng, depth - 1) for n in range(rng.randrange(6))}


def test_pages_keep_their_limit_and_have_every_item_once():
    rng = random.Random(3)
    for number in range(20):
        items = [random_value(rng, 2) for _ in range(rng.choice((0, 1, 5, 20)))]
        head = {f"h{n}": random_value(rng, 1) for n in range(rng.randrange(4))}
        limit = rng.choice((MIN_TOKENS, DEFAULT_TOKENS))
        found = pages(ToolAnswer(head, "items", items), limit)
        assert sum(len(one["items"]) for one in found) == len(items), number
        for one in found:
            text = json.dumps(one, ensure_ascii=False, separators=(",", ":"))
            assert tokens_of(text) <= limit, number
            assert len(text) <= 2 * limit, number
            text.encode()  # no lone surrogates


def test_short_items_are_whole_and_in_order():
    items = [{"line": n, "text": f"mov (M1, 16) V{n}(0,0)<1> V{n}(0,0)<1;1,0>"} for n in range(300)]
    found = pages(ToolAnswer({"ok": True}, "items", items))
    assert [item for one in found for item in one["items"]] == items
    assert [one["first"] for one in found] == [1 + sum(len(p["items"]) for p in found[:n]) for n in range(len(found))]
    assert all(one["ok"] and one["total"] == 300 for one in found)
    assert len(pages(ToolAnswer({"ok": True}, "items", items), 50_000)) == 1


def test_an_answer_that_fits_has_no_cursor_and_no_count():
    assert page(ToolAnswer({"ok": True}, "text", ["a", "b"], is_text=True), "", 2000) == {"ok": True, "text": "a\nb"}


def test_a_cursor_of_an_answer_that_has_changed_is_refused():
    items = [{"n": n} for n in range(5000)]
    cursor = page(ToolAnswer({}, "items", items), "", 2000)["cursor"]
    with pytest.raises(UserError, match="another answer"):
        page(ToolAnswer({}, "items", [*items, {"n": 1}]), cursor, 2000)


def test_ids_follow_what_an_item_is_and_not_where_it_stands():
    assert item_ids([("a", (1,)), ("a", (2,)), ("a", (1,))])[0] == item_ids([("a", (1,))])[0]
    first, second, third = item_ids([("a", (1,)), ("a", (2,)), ("a", (1,))])
    assert third == f"{first}.2"
    assert second != first
