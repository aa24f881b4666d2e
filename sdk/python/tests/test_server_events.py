"""Server-sent events are divided at line feeds alone, wherever the pieces of an answer end."""

from __future__ import annotations

import json

import pytest
from sallyport._server_events import EventParser, ServerEvent


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_the_text_of_an_event_may_hold_every_line_end_of_unicode(size: int) -> None:
    data = {"text": "a\u2028b\u2029c\x85d\x0be\x1cf\r\ng"}
    written = json.dumps(data, ensure_ascii=False)
    answer = f": still here\r\n\r\nevent: output\r\ndata: {written}\r\n\r\nevent: exit\ndata: {{}}\n\n".encode()
    parser = EventParser()
    events = [
        event
        for start in range(0, len(answer), size)
        for event in parser.feed(answer[start : start + size])
    ]
    assert events == [ServerEvent("output", data), ServerEvent("exit", {})]
