"""Pauses, for both kinds of programs."""

from __future__ import annotations

import asyncio
import time


async def sleep_async(seconds: float) -> None:
    await asyncio.sleep(seconds)


def sleep_sync(seconds: float) -> None:
    time.sleep(seconds)
