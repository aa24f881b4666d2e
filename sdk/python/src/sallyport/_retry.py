"""The policy of repeated requests: which failures are followed by another try, and after what pause.

A request that the server refused for its rate did nothing, so it is always repeated. One whose answer was lost may have
been carried out, so only those are repeated that change nothing the second time.
"""

from __future__ import annotations

import random
from typing import Literal

from ._errors import SallyportError

#: `lost`: also when its answer was lost. `refused`: only when the server did nothing. `limited`: only for its rate.
Repeat = Literal["lost", "refused", "limited"]

#: The sandbox did not run in time: nothing was done, or nothing that a second try would do otherwise.
UNSTARTED = frozenset({"sandbox_starting", "sandbox_unavailable"})
GATEWAY_STATUSES = frozenset({502, 503, 504})
PAUSE_SECONDS_FIRST = 0.25
PAUSE_SECONDS_MAX = 10.0
#: A server that asks for a longer pause is not asked again.
RETRY_AFTER_SECONDS_MAX = 60.0
#: A server that cannot be reached is told sooner than one that is busy.
LOST_TRIES_MAX = 4
#: About a minute: many requests of one token wait for their turn.
RATE_TRIES_MAX = 12


def repeat_of(method: str) -> Repeat:
    return "limited" if method == "POST" else "lost"


def back_off_seconds(tries: int) -> float:
    """Doubles with each try, between half of that and the whole."""
    whole = min(PAUSE_SECONDS_FIRST * 2.0 ** (tries - 1), PAUSE_SECONDS_MAX)
    return whole * random.uniform(0.5, 1)


def retry_pause_seconds(error: SallyportError, *, repeat: Repeat, tries: int, tries_max: int) -> float | None:
    """Seconds until the next try; None: there is none."""
    retry_after = error.retry_after_seconds
    is_rate = error.code == "rate_limited"
    most = max(tries_max, RATE_TRIES_MAX) if is_rate and tries_max > 1 else tries_max
    if tries >= most or not _can_repeat(error, repeat, tries):
        return None
    if retry_after is None:
        return back_off_seconds(tries)
    if retry_after > RETRY_AFTER_SECONDS_MAX:
        return None
    # All that were refused are told the same pause: together they would be refused again.
    return retry_after + back_off_seconds(tries) if is_rate else retry_after


def _can_repeat(error: SallyportError, repeat: Repeat, tries: int) -> bool:
    if error.code == "rate_limited":
        return True
    if repeat == "limited":
        return False
    if error.code in UNSTARTED:
        return True
    return repeat == "lost" and is_lost(error) and tries < LOST_TRIES_MAX


def is_lost(error: SallyportError) -> bool:
    """No answer, or that of a gateway which has none: for a function that ended before its answer it says `internal_error`."""
    return error.code in ("connection_lost", "unreachable", "internal_error") or (
        error.code == "unexpected_answer" and error.status in GATEWAY_STATUSES
    )
