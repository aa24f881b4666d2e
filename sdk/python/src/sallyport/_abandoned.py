"""Requests whose answer names what they started, for both kinds of programs.

One that its caller gives up goes on in the background until that name is known, so that what it started can be ended.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")
#: False: the caller has given up, so that no further try begins.
IsWanted = Callable[[], bool]
#: Those that go on after their callers have given up.
AsyncEnds = set[asyncio.Task[None]]
Ends = set[threading.Thread]

#: Between two looks at a thread: without a timeout a wait cannot be interrupted everywhere.
LOOK_SECONDS = 1.0


async def until_named_async(
    ends: AsyncEnds,
    request: Callable[[IsWanted], Awaitable[T]],
    end: Callable[[T], Awaitable[None]],
) -> T:
    """The answer of `request`. `ends` has those that go on after their caller was cancelled."""
    is_wanted = True
    task = asyncio.ensure_future(request(lambda: is_wanted))
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        is_wanted = False
        later = asyncio.ensure_future(_end_later(task, end))
        ends.add(later)
        later.add_done_callback(ends.discard)
        raise
    return task.result()


async def _end_later(task: asyncio.Future[T], end: Callable[[T], Awaitable[None]]) -> None:
    try:
        await end(await task)
    except Exception:
        # It was refused, or its outcome is unknown: there is no caller to tell.
        pass


async def wait_for_ends_async(ends: AsyncEnds) -> None:
    while ends:
        await asyncio.wait(set(ends))


def until_named_sync(
    ends: Ends, request: Callable[[IsWanted], T], end: Callable[[T], None]
) -> T:
    """The answer of `request`. `ends` has the threads of those that go on after their caller was interrupted."""
    # Ctrl-C reaches the main thread alone.
    if threading.current_thread() is not threading.main_thread():
        return request(lambda: True)
    work = _Work(request, end)
    thread = threading.Thread(target=work.run, args=(ends,), name="sallyport-request")
    try:
        try:
            thread.start()
        except RuntimeError:
            # The interpreter ends, and starts no thread any more.
            return request(lambda: True)
        while not work.is_done.wait(LOOK_SECONDS):
            pass
    except BaseException:
        # It may be interrupted in `start`, too, of a thread that runs by then.
        ends.add(thread)
        work.abandon()
        raise
    return work.outcome.result()


def wait_for_ends_sync(ends: Ends) -> None:
    for thread in list(ends):
        while thread.is_alive():
            thread.join(LOOK_SECONDS)


class _Work(Generic[T]):
    """A request in a thread of its own, which ends what it started if its caller has given up by then."""

    def __init__(self, request: Callable[[IsWanted], T], end: Callable[[T], None]) -> None:
        self.outcome: Future[T] = Future()
        self.is_done = threading.Event()
        self._request = request
        self._end = end
        self._lock = threading.Lock()
        self._is_wanted = True

    def run(self, ends: Ends) -> None:
        # Given up before this thread ran: nothing is waited for, so nothing may begin.
        with self._lock:
            if not self._is_wanted:
                return
        try:
            self.outcome.set_result(self._request(lambda: self._is_wanted))
        except BaseException as error:
            self.outcome.set_exception(error)
        with self._lock:
            self.is_done.set()
            is_wanted = self._is_wanted
        if not is_wanted:
            self._end_what_began()
        ends.discard(threading.current_thread())

    def abandon(self) -> None:
        with self._lock:
            self._is_wanted = False
            is_done = self.is_done.is_set()
        if is_done:
            self._end_what_began()

    def _end_what_began(self) -> None:
        if self.outcome.exception() is not None:
            return
        try:
            self._end(self.outcome.result())
        except Exception:
            # There is no caller to tell.
            pass
