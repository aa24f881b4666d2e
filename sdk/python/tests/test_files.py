"""The reason why a file cannot be described, which an answer to HEAD cannot carry."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sallyport import Sallyport, SallyportError
from wire_server import WireServer


@pytest.fixture
def server() -> Iterator[WireServer]:
    wire = WireServer()
    yield wire
    wire.close()


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [(404, "file_not_found", "file_not_found"), (400, "invalid_request", "unexpected_answer")],
)
def test_a_path_that_cannot_be_described_is_refused_with_the_reason(
    server: WireServer, status: int, code: str, expected: str
) -> None:
    server.replies["HEAD /files/a"] = lambda handler, _: handler.answer(404, None)
    error = {"error": {"code": code, "message": "no", "requestId": "r"}}
    server.replies["GET /files"] = lambda handler, _: handler.answer(status, error)
    with Sallyport(server.url, "t") as sallyport:
        with pytest.raises(SallyportError) as refused:
            sallyport.sandboxes.get("s").files.stat("a")
    assert (refused.value.status, refused.value.code) == (404, expected)
