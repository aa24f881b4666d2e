"""The most that a session may cost, as it is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from wire_server import WireServer

from sallyport import Sallyport


@pytest.fixture
def server() -> Iterator[WireServer]:
    wire = WireServer()
    yield wire
    wire.close()


def test_a_session_is_given_a_budget_and_another_one_later(server: WireServer) -> None:
    sent: list[Any] = []

    def answer(handler: Any, body: bytes) -> None:
        sent.append(json.loads(body))
        handler.answer(200, {"id": "s", "kind": "agent"})

    server.replies["POST /api/sessions"] = server.replies["PATCH "] = answer
    with Sallyport(server.url, "t") as sallyport:
        session = sallyport.sessions.create(max_cost_usd=0.5)
        session.update(max_cost_usd=2)
        session.update(max_cost_usd=None)
    assert sent == [
        {"kind": "agent", "maxCostUsd": 0.5},
        {"maxCostUsd": 2},
        {"maxCostUsd": None},
    ]
