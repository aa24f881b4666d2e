"""Server-sent events (HTML standard, section 9.2) from pieces of an answer.

An event counts when the blank line after it was read: the rest of a connection that broke off is asked for again.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
#: `splitlines` knows more ends of lines, which JSON holds as they are.
_LINE_END = re.compile(r"\r?\n")


@dataclass(frozen=True)
class ServerEvent:
    event: str
    data: Any


class EventParser:
    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        *blocks, self._rest = _BLANK_LINE.split(self._rest + chunk)
        parsed = (_event_of(block.decode()) for block in blocks)
        return [event for event in parsed if event is not None]


def _event_of(block: str) -> ServerEvent | None:
    """None for a comment."""
    fields: dict[str, list[str]] = {}
    for line in _LINE_END.split(block):
        name, _, value = line.partition(":")
        fields.setdefault(name, []).append(value.removeprefix(" "))
    if "data" not in fields:
        return None
    return ServerEvent(fields.get("event", ["message"])[0], json.loads("\n".join(fields["data"])))
