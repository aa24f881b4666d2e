"""A search sends what was asked for, and gives the page as it came."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sallyport import Sallyport
from wire_server import WireServer


@pytest.fixture
def server() -> Iterator[WireServer]:
    wire = WireServer()
    yield wire
    wire.close()


def test_a_search_names_its_words_and_goes_on_with_the_next_page(server: WireServer) -> None:
    page = {"found": [], "searchedSessions": 25, "cutConversations": 0, "next": "n"}
    asked: list[dict[str, list[str]]] = []

    def answer(handler: Any, _: bytes) -> None:
        asked.append(parse_qs(urlsplit(handler.path).query))
        handler.answer(200, page)

    server.replies["GET /api/search"] = answer
    with Sallyport(server.url, "t") as sallyport:
        assert sallyport.search("dates & parser") == page
        sallyport.search("x", project="p", archived=True, after="n")
    assert asked == [
        {"text": ["dates & parser"]},
        {"text": ["x"], "project": ["p"], "archived": ["true"], "after": ["n"]},
    ]
