"""Files and folders of a sandbox's workspace. A path is relative to the workspace.

A larger content than one request holds is sent in parts, each of which may be repeated. A folder goes as one archive
(tar.gz), in and out.
"""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Literal, overload

from .._errors import SallyportError
from .._paths import file_path, session_path, with_query
from .._results import FileChange, FileEntry, FileStat, file_entry_of
from .._server_events import ServerEvent
from ._streams import open_stream, resume_events

if TYPE_CHECKING:
    from ._client import AsyncSallyport

#: The largest body of a request.
PART_BYTES_MAX = 4 * 1_048_576


class AsyncFiles:
    def __init__(self, client: AsyncSallyport, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    def _path(self, path: str, **query: str) -> str:
        address = file_path(self._session_id, path)
        # The workspace itself has no name.
        is_root = address.endswith("/files")
        return with_query(address, **query, path="." if is_root else None)

    @overload
    async def read(self, path: str, *, format: Literal["text"] = "text") -> str: ...
    @overload
    async def read(self, path: str, *, format: Literal["bytes"]) -> bytes: ...
    async def read(self, path: str, *, format: Literal["text", "bytes"] = "text") -> str | bytes:
        content = (await self._client.send("GET", self._path(path))).content
        return content if format == "bytes" else content.decode(errors="replace")

    async def write(self, path: str, content: str | bytes) -> None:
        data = content.encode() if isinstance(content, str) else content
        await self._send(self._path(path), data)

    async def download(self, path: str) -> bytes:
        """Downloads a folder as an archive (tar.gz)."""
        return (await self._client.send("GET", self._path(path, archive="tar.gz"))).content

    async def upload(self, path: str, archive: bytes) -> None:
        """Unpacks an archive (tar.gz) into a folder."""
        await self._send(self._path(path, archive="tar.gz"), archive)

    async def _send(self, address: str, data: bytes) -> None:
        total = len(data)
        headers = {"content-type": "application/octet-stream"}
        if total <= PART_BYTES_MAX:
            await self._change("PUT", address, content=data, headers=headers)
            return
        for start in range(0, total, PART_BYTES_MAX):
            end = min(start + PART_BYTES_MAX, total)
            part = {**headers, "content-range": f"bytes {start}-{end - 1}/{total}"}
            await self._change("PUT", address, content=data[start:end], headers=part)

    async def list(self, path: str = ".", *, recursive: bool = False) -> builtins.list[FileEntry]:
        address = session_path(self._session_id, "files")
        query = with_query(address, path=path, recursive=1 if recursive else None)
        answer = await self._client.request("GET", query)
        return [file_entry_of(entry) for entry in answer["files"]]

    async def mkdir(self, path: str) -> None:
        # A folder that exists stays as it is.
        await self._change("POST", self._path(path, op="mkdir"), repeat="lost")

    async def move(self, path: str, to: str) -> None:
        await self._change("POST", self._path(path, op="move", to=to), repeat="refused")

    async def copy(self, path: str, to: str) -> None:
        await self._change("POST", self._path(path, op="copy", to=to), repeat="refused")

    async def remove(self, path: str) -> None:
        await self._change("DELETE", self._path(path))

    async def _change(self, method: str, address: str, **options: Any) -> None:
        """Ends when the change is done, or has failed: the status of a slow answer does not say it."""
        await self._client.send(method, address, fails_late=True, **options)

    async def stat(self, path: str) -> FileStat:
        try:
            headers = (await self._client.send("HEAD", self._path(path))).headers
        except SallyportError as refused:
            raise await self._explain(refused, path) from None
        size = headers.get("x-sallyport-size", "0")
        modified_at = headers["x-sallyport-modified-at"]
        return FileStat(path, headers["x-sallyport-type"], int(size), modified_at)

    async def _explain(self, refused: SallyportError, path: str) -> SallyportError:
        """An answer to HEAD has no body: the list of the same path is refused for the same reason, and names it."""
        if refused.code != "unexpected_answer":
            return refused
        try:
            await self.list(path)
        except SallyportError as named:
            return named if named.status == refused.status else refused
        return refused

    async def watch(self, path: str = ".") -> AsyncIterator[FileChange]:
        """Follows changes below a folder from now on. Those while a lost connection is opened again are not seen."""
        address = with_query(session_path(self._session_id, "watch"), path=path)

        async def open_next() -> AsyncIterator[ServerEvent]:
            return await open_stream(self._client, address)

        async for event in resume_events(open_next):
            if event.event == "changed":
                yield FileChange(event.data["path"], event.data["kind"])
