# Written by generate_sync.py from the module of the same name in _async.
"""Sessions with agents: messages and the events of their turns, decisions about their calls, their files."""

from __future__ import annotations

import builtins
import json
from collections.abc import Generator
from typing import Any, Literal

from .._digest import is_as_named
from .._errors import SallyportError
from .._paths import given, options, session_path, with_query
from .._results import Event
from .._tool_runs import CallerTool
from ._caller_tools import answer_calls
from ._sandbox import Sandbox
from ._transport import Transport, read_pages
from ._turn_events import retry_and_follow, send_and_follow

#: More than the 1,000 events that are kept have.
EXPORT_PAGES_MAX = 50


class Session:
    def __init__(
        self, client: Transport, id: str, session: dict[str, Any] | None = None
    ) -> None:
        self._client = client
        self.id = id
        #: The session as it was when it was created or found.
        self.session = session
        #: Its workspace and the sandbox that it shares with the agent.
        self.sandbox = Sandbox(client, id, session)

    def send(
        self,
        text: str,
        *,
        model: str | None = None,
        thinking: str | None = None,
        message_id: str | None = None,
        attachments: builtins.list[str] | None = None,
        tools: builtins.list[CallerTool] | None = None,
        caller_id: str = "program",
    ) -> Generator[Event, None]:
        """Sends a message and gives the events until the end of its turn: the last one is its `completion`.

        `attachments` are paths of the workspace: images are shown to the model, other files named. The same `message_id` is
        accepted once: sent again, it gives the events of the first time. Calls of `tools`, which the agent sees as
        `<caller_id>_<name>`, are answered while the events are read.
        """
        files = None if attachments is None else [{"path": path} for path in attachments]
        body = given(text=text, model=model, thinking=thinking, attachments=files)
        events = send_and_follow(self._client, self.id, body, message_id)
        return self._with_tools(events, tools, caller_id)

    def retry(
        self, *, tools: builtins.list[CallerTool] | None = None, caller_id: str = "program"
    ) -> Generator[Event, None]:
        """Repeats the message of the last turn, which failed, and gives the events until the end of its turn."""
        return self._with_tools(retry_and_follow(self._client, self.id), tools, caller_id)

    def _with_tools(
        self,
        events: Generator[Event, None],
        tools: builtins.list[CallerTool] | None,
        caller_id: str,
    ) -> Generator[Event, None]:
        if tools is None:
            return events
        return answer_calls(self._client, self.id, tools=tools, caller_id=caller_id, events=events)

    def approve(
        self,
        call: Event | dict[str, Any],
        *,
        args: dict[str, Any] | None = None,
        remember: str | dict[str, str] | None = None,
    ) -> None:
        """Approves the call that an event shows: another one that waits by now is a `conflict`, and nothing runs.

        A call that was shown elsewhere is named by its `callId` and its `digest`, and by the `turnId`, `effectDigest` and
        `sessionId` that it has: as in `GET /api/approvals`.
        """
        self._decide(call, given(approved=True, args=args, remember=remember))

    def reject(self, call: Event | dict[str, Any], reason: str | None = None) -> None:
        """Rejects the call that an event shows; the reason reaches the agent."""
        self._decide(call, given(approved=False, reason=reason))

    def _decide(self, call: Event | dict[str, Any], decision: dict[str, Any]) -> None:
        shown = call if isinstance(call, dict) else {**call.data, "sessionId": call.session_id}
        if isinstance(call, Event) and not is_as_named(call.data):
            message = f"the server's digest of call {shown['callId']} is not that of what it showed"
            raise SallyportError(0, "digest_mismatch", message, suggestions=["Nothing was decided."])
        body = {**decision, **given(digest=shown["digest"], turnId=shown.get("turnId"))}
        if decision["approved"] and "effectDigest" in shown:
            body["effectDigest"] = shown["effectDigest"]
        session_id = shown.get("sessionId", self.id)
        self._client.request(
            "POST", session_path(session_id, "approvals", shown["callId"]), body
        )

    def cancel(self) -> str:
        """Stops the running turn. Not sent twice: a second one would stop the next.

        Says what it found: the `turn` of the session, those of sessions `below` it alone, or `nothing`.
        """
        answer = self._client.request("POST", session_path(self.id, "cancel"))
        return str(answer["cancelled"])

    def messages(self) -> list[dict[str, Any]]:
        """Reads the conversation so far."""
        answer = self._client.request("GET", session_path(self.id, "messages"))
        return list(answer["messages"])

    def info(self) -> dict[str, Any]:
        return dict(self._client.request("GET", session_path(self.id)))

    def update(self, **change: Any) -> dict[str, Any]:
        """Changes the same as `sandbox.update`. A turn that runs ends when its `max_cost_usd` is spent."""
        return self.sandbox.update(**change)

    def resume(self) -> dict[str, Any]:
        """Reopens the session after its end, while its history is kept; without its grants."""
        return dict(self._client.request("POST", session_path(self.id, "resume")))

    def export(self) -> str:
        """Exports the conversation as JSON: the session and all events that are kept."""
        events: builtins.list[Any] = []
        last, is_cut = -1, False
        for _ in range(EXPORT_PAGES_MAX):
            answer = self._client.request(
                "GET", with_query(session_path(self.id, "events"), since_index=last)
            )
            events += answer["events"]
            is_cut = is_cut or answer["droppedEvents"] > 0
            if not answer["hasMore"] or not answer["events"]:
                break
            last = events[-1]["index"]
        document = {"session": self.info(), "eventsAreMissing": is_cut, "events": events}
        return json.dumps(document, ensure_ascii=False, indent=2) + "\n"

    def branch(
        self,
        message_id: str,
        *,
        files: Literal["then", "now"] | None = None,
        approvals: str | None = None,
        provider: str | None = None,
        model: str | None = None,
        thinking: str | None = None,
        max_cost_usd: float | None = None,
        **more: Any,
    ) -> Session:
        """Makes a new session that goes on from a message of this one, with the files of that time, or those of now.

        Settings that are left out are those of this session. A message of the user is left out, with all that follows. `more` takes
        every other field of `POST /api/sessions`, in snake case.
        """
        body = options(
            approvals=approvals,
            provider=provider,
            model=model,
            thinking=thinking,
            max_cost_usd=max_cost_usd,
            **more,
        )
        body["from"] = given(session=self.id, messageId=message_id, files=files)
        session = self._client.request("POST", "/api/sessions", body)
        return Session(self._client, session["id"], session)

    def stop(self) -> None:
        """Ends the session and its sandbox."""
        self._client.request("DELETE", session_path(self.id))


class Sessions:
    def __init__(self, client: Transport) -> None:
        self._client = client

    def create(
        self,
        *,
        approvals: str | None = None,
        provider: str | None = None,
        model: str | None = None,
        thinking: str | None = None,
        project: str | None = None,
        max_cost_usd: float | None = None,
        template: str | None = None,
        flavor: str | None = None,
        env: dict[str, str] | None = None,
        labels: dict[str, str] | None = None,
        instructions: str | None = None,
        idle_seconds: int | None = None,
        lifetime_seconds: int | None = None,
        network: dict[str, Any] | None = None,
        **more: Any,
    ) -> Session:
        """Creates a session. `more` takes every other field of `POST /api/sessions`, in snake case: `allowed_tools` is `allowedTools`."""
        body = options(
            kind="agent",
            approvals=approvals,
            provider=provider,
            model=model,
            thinking=thinking,
            project=project,
            max_cost_usd=max_cost_usd,
            template=template,
            flavor=flavor,
            env=env,
            labels=labels,
            instructions=instructions,
            idle_seconds=idle_seconds,
            lifetime_seconds=lifetime_seconds,
            network=network,
            **more,
        )
        session = self._client.request("POST", "/api/sessions", body)
        return Session(self._client, session["id"], session)

    def get(self, id: str) -> Session:
        """Finds a session by its id; `session_not_found` if there is none."""
        session = self._client.request("GET", session_path(id))
        return Session(self._client, id, session)

    def list(
        self,
        *,
        label: str | builtins.list[str] | None = None,
        project: str | None = None,
        status: str = "active",
    ) -> builtins.list[Session]:
        """Lists sessions, by default those that have not ended. A label is `key:value`; of several, a session has all."""
        return [
            Session(self._client, session["id"], session)
            for session in read_pages(
                self._client, "/api/sessions", "sessions", status=status, label=label, project=project
            )
            if session["kind"] == "agent"
        ]
