"""Lists are read to their end, however many pages they have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sallyport import Sallyport, SallyportError
from wire_server import WireServer

PAGES = 25


@pytest.fixture
def server() -> Iterator[WireServer]:
    wire = WireServer()
    yield wire
    wire.close()


def test_all_pages_are_read_and_their_names_come_back_as_they_were(server: WireServer) -> None:
    asked: list[dict[str, list[str]]] = []

    def answer(handler: Any, _: bytes) -> None:
        query = parse_qs(urlsplit(handler.path).query)
        asked.append(query)
        at = int(query.get("after", ["a+/= 0"])[0].split()[1])
        more = {"next": f"a+/= {at + 1}"} if at < PAGES - 1 else {}
        kind = "execution" if at % 2 == 0 else "agent"
        handler.answer(200, {"sessions": [{"id": str(at), "kind": kind}], **more})

    server.replies["GET /api/sessions"] = answer
    with Sallyport(server.url, "t") as sallyport:
        assert [one.id for one in sallyport.sandboxes.list()] == [str(at) for at in range(0, PAGES, 2)]
        assert [one.id for one in sallyport.sessions.list()] == [str(at) for at in range(1, PAGES, 2)]
    assert asked[0] == {"status": ["active"]}
    assert asked[1] == {"status": ["active"], "after": ["a+/= 1"]}
    assert len(asked) == 2 * PAGES


def test_a_list_whose_page_names_itself_as_the_next_one_is_refused(server: WireServer) -> None:
    page = {"sessions": [{"id": "1", "kind": "agent"}], "next": "x"}
    server.replies["GET /api/sessions"] = lambda handler, _: handler.answer(200, page)
    with Sallyport(server.url, "t") as sallyport:
        with pytest.raises(SallyportError) as refused:
            sallyport.sessions.list()
    assert refused.value.code == "internal_error"
    assert len(server.asked) == 2
