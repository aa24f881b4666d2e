"""Addresses and bodies of requests."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote, urlencode

from ._errors import SallyportError


def session_path(session_id: str, *names: str) -> str:
    return "/".join(["/api/sessions", *(_part(name) for name in (session_id, *names))])


def _part(name: str) -> str:
    # Without its last part the address would be that of the whole list.
    if name == "":
        raise SallyportError(
            0,
            "invalid_request",
            "an id or a name is empty",
            suggestions=["Give the id or the name."],
        )
    # A client of HTTP takes `..` for the resource above: with a NUL behind it the server refuses it as a name.
    return f"{name}%00" if name in (".", "..") else quote(name, safe="")


def file_path(session_id: str, path: str) -> str:
    relative = re.sub(r"^/workspace(/|$)", "", path)
    names = relative.split("/")
    # A client of HTTP would resolve `..` to another address.
    if relative.startswith("/") or ".." in names:
        raise SallyportError(
            0,
            "path_outside_workspace",
            f"{path} is not in the workspace",
            suggestions=["Give a path relative to /workspace, without `..`."],
        )
    return session_path(session_id, "files", *(name for name in names if name not in (".", "")))


def with_query(path: str, /, **query: Any) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    # A list is its name with each value.
    return f"{path}?{urlencode(given, quote_via=quote, doseq=True)}" if given else path


def given(**fields: Any) -> dict[str, Any]:
    """Without what was not given."""
    return {name: value for name, value in fields.items() if value is not None}


def named_as_sent(fields: dict[str, Any]) -> dict[str, Any]:
    """By the names of the API: `idle_seconds` is `idleSeconds`, and `from_`, which Python does not take otherwise, `from`."""
    return {
        re.sub(r"_([a-z0-9])", lambda found: found[1].upper(), name.rstrip("_")): value
        for name, value in fields.items()
    }


def options(**fields: Any) -> dict[str, Any]:
    """A body of what was given, whose fields may be named as Python does or as the API does."""
    return named_as_sent(given(**fields))
