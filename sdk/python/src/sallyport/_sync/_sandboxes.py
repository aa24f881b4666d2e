# Written by generate_sync.py from the module of the same name in _async.
"""The sandboxes of a deployment: created, found, listed."""

from __future__ import annotations

import builtins
from typing import Any

from .._paths import options, session_path
from .._results import Snapshot
from ._sandbox import Sandbox
from ._transport import Transport, read_pages


class Sandboxes:
    def __init__(self, client: Transport) -> None:
        self._client = client

    def create(
        self,
        *,
        template: str | None = None,
        flavor: str | None = None,
        project: str | None = None,
        workspace: str | None = None,
        env: dict[str, str] | None = None,
        labels: dict[str, str] | None = None,
        cwd: str | None = None,
        idle_seconds: int | None = None,
        lifetime_seconds: int | None = None,
        network: dict[str, Any] | None = None,
        source: Snapshot | Sandbox | dict[str, str] | None = None,
        **more: Any,
    ) -> Sandbox:
        """Creates a sandbox, which starts with the files of `source`: a snapshot, or a sandbox as it is now.

        By their ids these are `{"snapshot": id}` and `{"session": id}`. `more` takes every other field of `POST /api/sessions`, in
        snake case: `max_cost_usd` is `maxCostUsd`.
        """
        body = options(
            kind="execution",
            template=template,
            flavor=flavor,
            project=project,
            workspace=workspace,
            env=env,
            labels=labels,
            cwd=cwd,
            idle_seconds=idle_seconds,
            lifetime_seconds=lifetime_seconds,
            network=network,
            **more,
        )
        if isinstance(source, dict):
            body["from"] = source
        elif source is not None:
            kind = "session" if isinstance(source, Sandbox) else "snapshot"
            body["from"] = {kind: source.id}
        session = self._client.request("POST", "/api/sessions", body)
        return Sandbox(self._client, session["id"], session)

    def get(self, id: str) -> Sandbox:
        """Finds a sandbox by the id of its session; `session_not_found` if there is none."""
        session = self._client.request("GET", session_path(id))
        return Sandbox(self._client, id, session)

    def list(
        self,
        *,
        label: str | builtins.list[str] | None = None,
        project: str | None = None,
        status: str = "active",
    ) -> builtins.list[Sandbox]:
        """Lists sandboxes, by default those that have not ended. A label is `key:value`; of several, a sandbox has all."""
        return [
            Sandbox(self._client, session["id"], session)
            for session in read_pages(
                self._client, "/api/sessions", "sessions", status=status, label=label, project=project
            )
            if session["kind"] == "execution"
        ]
