# Written by generate_sync.py from the module of the same name in _async.
"""The client of one deployment."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from types import TracebackType
from typing import Any

from .._abandoned import wait_for_ends_sync
from .._paths import with_query
from ._sandboxes import Sandboxes
from ._sessions import Sessions
from ._streams import pieces_of
from ._transport import Transport


class Sallyport(Transport):
    """The client of one deployment: its sandboxes, its sessions, and every other route by `request`."""

    @cached_property
    def sandboxes(self) -> Sandboxes:
        return Sandboxes(self)

    @cached_property
    def sessions(self) -> Sessions:
        return Sessions(self)

    def __enter__(self) -> Sallyport:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Waits until the commands are ended that were abandoned before they began, and closes the connections."""
        try:
            wait_for_ends_sync(self._ends)
        finally:
            self._http.close()

    def search(
        self,
        text: str,
        *,
        project: str | None = None,
        archived: bool | None = None,
        after: str | None = None,
    ) -> dict[str, Any]:
        """Finds sessions, a page at a time, whose title or messages hold every word of the text, newest first.

        A page searches at most 25 sessions: one without results may have a `next`, which is the `after` of the next page.
        """
        kept = None if archived is None else str(archived).lower()
        path = with_query("/api/search", text=text, project=project, archived=kept, after=after)
        return dict(self.request("GET", path))

    def export_audit(self) -> Iterator[bytes]:
        """Reads the audit log with its seals, as JSON lines, oldest first; for an administrator."""
        response = self.send("GET", "/api/audit/export", is_stream=True)
        with pieces_of(response) as pieces:
            for piece in pieces:
                yield piece
