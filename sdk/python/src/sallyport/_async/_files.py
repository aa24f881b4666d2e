"""Files and folders of a sandbox's workspace. A path is relative to the workspace.

A larger content than one request holds is sent in parts, each of which may be repeated. A folder goes as one archive
(tar.gz), in and out.
"""

from __future__ import annotations

import builtins
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any, Literal, overload
from urllib.parse import urljoin

import httpx

from .._errors import SallyportError, connection_lost
from .._paths import file_path, session_path, with_query
from .._results import FileChange, FileEntry, FileLink, FileStat, file_entry_of
from .._server_events import ServerEvent
from ._streams import open_stream, pieces_of, resume_events
from ._transport import AsyncTransport

#: The largest body of a request.
PART_BYTES_MAX = 4 * 1_048_576

#: Called with the bytes that were sent, and all of them.
OnProgress = Callable[[int, int], None]


class AsyncFiles:
    def __init__(self, client: AsyncTransport, session_id: str) -> None:
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

    async def stream(self, path: str) -> AsyncIterator[bytes]:
        """Reads a file as it comes; it is not repeated once it has begun."""
        response = await self._client.send("GET", self._path(path), is_stream=True)
        async with pieces_of(response) as pieces:
            async for piece in pieces:
                yield piece

    async def write(
        self,
        path: str,
        content: str | bytes,
        *,
        part_bytes: int = PART_BYTES_MAX,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Writes a file. `part_bytes` is the size of one request, at most 4 MB: the step of the progress."""
        data = content.encode() if isinstance(content, str) else content
        await self._send(self._path(path), data, part_bytes, on_progress)

    async def download(self, path: str) -> bytes:
        """Downloads a folder as an archive (tar.gz)."""
        return (await self._client.send("GET", self._path(path, archive="tar.gz"))).content

    async def upload(
        self,
        path: str,
        archive: bytes,
        *,
        part_bytes: int = PART_BYTES_MAX,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Unpacks an archive (tar.gz) into a folder."""
        await self._send(self._path(path, archive="tar.gz"), archive, part_bytes, on_progress)

    async def _send(
        self, address: str, data: bytes, part_bytes: int, on_progress: OnProgress | None
    ) -> None:
        total = len(data)
        is_whole = total <= part_bytes
        # Two uploads of one path never mix.
        upload_id = str(uuid.uuid4())
        for start in [0] if is_whole else range(0, total, part_bytes):
            end = min(start + part_bytes, total)
            span = {"content-range": f"bytes {start}-{end - 1}/{total}", "upload-id": upload_id}
            headers = {"content-type": "application/octet-stream", **({} if is_whole else span)}
            await self._change("PUT", address, content=data[start:end], headers=headers)
            if on_progress is not None:
                on_progress(end, total)

    async def list(
        self,
        path: str = ".",
        *,
        recursive: bool = False,
        on_truncated: Callable[[], None] | None = None,
    ) -> builtins.list[FileEntry]:
        """Lists a folder. `on_truncated` is called if it has more entries than a list may have."""
        address = session_path(self._session_id, "files")
        query = with_query(address, path=path, recursive=1 if recursive else None)
        answer = await self._client.request("GET", query)
        if answer.get("truncated") and on_truncated is not None:
            on_truncated()
        return [file_entry_of(entry) for entry in answer["files"]]

    async def mkdir(self, path: str) -> None:
        # A folder that exists stays as it is.
        await self._change("POST", self._path(path, op="mkdir"), repeat="lost")

    async def move(self, path: str, to: str, *, overwrite: bool = False) -> None:
        """Moves or renames. A file in its place is replaced with `overwrite` only, a folder never."""
        await self._relocate("move", path, to, overwrite)

    async def copy(self, path: str, to: str, *, overwrite: bool = False) -> None:
        """Copies under the rules of `move`. A link below a folder is copied as a link."""
        await self._relocate("copy", path, to, overwrite)

    async def _relocate(self, op: str, path: str, to: str, overwrite: bool) -> None:
        address = self._path(path, op=op, to=to, **({"overwrite": "1"} if overwrite else {}))
        await self._change("POST", address, repeat="refused")

    async def link(
        self, path: str, *, method: Literal["GET", "PUT"] = "GET", expires_in_seconds: int = 3600
    ) -> FileLink:
        """Makes an address that needs no token: it reads one file until it expires, or writes it once."""
        body = {"path": path, "method": method, "expiresInSeconds": expires_in_seconds}
        address = session_path(self._session_id, "links")
        answer = await self._client.request("POST", address, body)
        return FileLink(urljoin(self._client.url, answer["url"]), answer["expiresAt"])

    async def remove(self, path: str) -> None:
        await self._change("DELETE", self._path(path))

    async def _change(self, method: str, address: str, **options: Any) -> None:
        """Ends when the change is done, or has failed: the status of a slow answer does not say it."""
        await self._client.send(method, address, fails_late=True, **options)

    async def exists(self, path: str) -> bool:
        """True if a file or a folder has this path."""
        try:
            await self.stat(path)
        except SallyportError as error:
            if error.code == "file_not_found":
                return False
            raise
        return True

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
