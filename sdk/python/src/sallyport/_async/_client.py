"""The client of one deployment."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import cached_property
from types import TracebackType
from typing import Any

from .._abandoned import wait_for_ends_async
from .._paths import with_query
from ._sandboxes import AsyncSandboxes
from ._sessions import AsyncSessions
from ._streams import pieces_of
from ._transport import AsyncTransport


class AsyncSallyport(AsyncTransport):
    """The client of one deployment: its sandboxes, its sessions, and every other route by `request`."""

    @cached_property
    def sandboxes(self) -> AsyncSandboxes:
        return AsyncSandboxes(self)

    @cached_property
    def sessions(self) -> AsyncSessions:
        return AsyncSessions(self)

    async def __aenter__(self) -> AsyncSallyport:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Waits until the commands are ended that were abandoned before they began, and closes the connections."""
        try:
            await wait_for_ends_async(self._ends)
        finally:
            await self._http.aclose()

    async def search(
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
        return dict(await self.request("GET", path))

    async def export_audit(self) -> AsyncIterator[bytes]:
        """Reads the audit log with its seals, as JSON lines, oldest first; for an administrator."""
        response = await self.send("GET", "/api/audit/export", is_stream=True)
        async with pieces_of(response) as pieces:
            async for piece in pieces:
                yield piece
