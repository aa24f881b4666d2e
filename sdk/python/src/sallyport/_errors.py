"""Refusals and failures of a request, in the words of the server's error table (docs/runbook.md)."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx


class SallyportError(Exception):
    """`unreachable`: there was no answer. `unexpected_answer`: the answer was not Sallyport's."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        suggestions: list[str] | None = None,
        request_id: str | None = None,
        retry_after_seconds: float | None = None,
        facts: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        #: Of the HTTP answer; 0: there was none.
        self.status = status
        self.code = code
        self.message = message
        self.suggestions = suggestions or []
        self.request_id = request_id
        #: The pause for which the server asks before another try.
        self.retry_after_seconds = retry_after_seconds
        #: The whole error as the server sent it.
        self.facts = facts or {}

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


def connection_lost() -> SallyportError:
    return SallyportError(0, "connection_lost", "the connection was lost")


def outcome_unknown(exit_code: int | None) -> SallyportError:
    """Of a command whose exit code went with its sandbox, or what was left of its output."""
    suggestions = ["Check the workspace before you run it again."]
    message = (
        "the command was lost with its sandbox"
        if exit_code is None
        else f"the command ended with exit code {exit_code}, and output of it was lost with its sandbox"
    )
    return SallyportError(0, "tool_outcome_unknown", message, suggestions=suggestions)


def events_purged(oldest: int) -> SallyportError:
    message = f"events before {oldest} are no longer kept"
    suggestions = ["Read the conversation with messages()."]
    return SallyportError(410, "events_purged", message, suggestions=suggestions)


def unreachable(url: str, cause: Exception) -> SallyportError:
    if isinstance(cause, (httpx.ReadTimeout, httpx.WriteTimeout)):
        # The server may have the request.
        suggestions = ["Check the URL. Check whether it was done. If not, send it again."]
        return SallyportError(0, "unreachable", f"{url} did not answer in time", suggestions=suggestions)
    why = "no answer in time" if isinstance(cause, httpx.TimeoutException) else str(cause) or repr(cause)
    suggestions = ["Check the URL, your connection, and that the server runs."]
    return SallyportError(0, "unreachable", f"{url} cannot be reached: {why}", suggestions=suggestions)


def unexpected_answer(url: str, why: str, status: int) -> SallyportError:
    message = f"{url} does not answer as a Sallyport does: {why}"
    return SallyportError(status, "unexpected_answer", message, suggestions=["Check the URL."])


def repeated_page(after: str | None) -> SallyportError:
    message = f"a page names itself as the next one ({after})"
    again = "Try again. If it happens again, send this message to the operator."
    return SallyportError(0, "internal_error", message, suggestions=[again])


def refusal_in(status: int, answer: object) -> SallyportError | None:
    """None for an answer that is no error body."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict):
        return None
    code, message = error.get("code"), error.get("message")
    if not isinstance(code, str) or not isinstance(message, str):
        return None
    suggestions = [text for text in error.get("suggestions") or [] if isinstance(text, str)]
    request_id = error.get("requestId")
    return SallyportError(
        status, code, message, suggestions=suggestions, request_id=request_id, facts=error
    )


#: A server that asks for more than an hour is asked again after one.
RETRY_AFTER_SECONDS_KEPT = 3600.0


def _retry_after_of(headers: httpx.Headers) -> float | None:
    try:
        seconds = float(headers.get("retry-after") or "")
    except ValueError:
        return None
    return min(seconds, RETRY_AFTER_SECONDS_KEPT) if seconds > 0 else None


def _refusal_in_body(response: httpx.Response) -> SallyportError | None:
    try:
        refusal = refusal_in(response.status_code, json.loads(response.content))
    except ValueError:
        return None
    if refusal is not None:
        refusal.retry_after_seconds = _retry_after_of(response.headers)
    return refusal


def late_refusal_of(response: httpx.Response) -> SallyportError | None:
    """The refusal in an answer that has sent the status of a success, its body read."""
    refusal = _refusal_in_body(response)
    return refusal if refusal is not None and refusal.request_id is not None else None


def refusal_of(url: str, response: httpx.Response) -> SallyportError:
    """The refusal in an answer that is no success, its body read."""
    refusal = _refusal_in_body(response)
    if refusal is not None:
        return refusal
    target = response.headers.get("location")
    if target is None:
        return unexpected_answer(url, f"HTTP {response.status_code}", response.status_code)
    parts = urlsplit(urljoin(url, target))
    return unexpected_answer(
        url, f"it redirects to {parts.scheme}://{parts.netloc}", response.status_code
    )
