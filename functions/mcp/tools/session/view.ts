/** Sessions, events and calls as the tool `session` shows them. */
import type * as z from 'zod';
import type { ToldEvent } from '#shared/application/session/await-completion.ts';
import { cutArguments } from '#shared/contracts/frames.ts';
import type { sessionDetails } from '#shared/contracts/tools/session-tool/read.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { cutLongestText, type JsonObject } from '#shared/domain/json.ts';
import { frameBytesMax } from '#shared/domain/limits.ts';
import type { TokenUsage } from '#shared/domain/model.ts';
import type { Session } from '#shared/domain/session.ts';
import type { Deciding, TurnRecord } from '#shared/domain/turn/turn.ts';

const iso = (epochMs: number): string => new Date(epochMs).toISOString();

export const usageView = ({ inputTokens, outputTokens }: TokenUsage) => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
});

export const detailsOf = (session: Session): z.output<typeof sessionDetails> => ({
  session_id: session.id,
  kind: session.kind,
  ...(session.title === undefined ? {} : { title: session.title }),
  status: session.status,
  project_id: session.project,
  workspace_id: session.workspace,
  flavor: session.flavor,
  template: session.template,
  provider: session.provider,
  model: session.model,
  approvals: session.approvals,
  depth: session.depth,
  created_at: iso(session.createdAt),
  last_active_at: iso(session.lastActiveAt),
  last_event_index: session.lastSeq,
  usage: usageView(session.usage),
  cost_usd: session.costUsd,
});

export const pendingApprovals = (turn: TurnRecord | undefined) =>
  turn?.state.kind === 'deciding' ? pendingIn(turn.state) : [];

const pendingIn = ({ turnId, calls }: Deciding) =>
  calls
    .filter(({ status }) => status === 'pending')
    .map(({ callId, name, args, digest }) => ({ call_id: callId, turn_id: turnId, name, args, digest }));

type Logged = { readonly type: string; readonly data: Readonly<Record<string, unknown>> };

/** The text, its role, or the tool of an event. */
export const gistOf = ({ data }: Logged) => {
  const text = data['text'] ?? data['message'] ?? textOf(data['content']);
  return {
    ...(typeof text === 'string' ? { text } : {}),
    ...(typeof data['name'] === 'string' ? { tool_name: data['name'] } : {}),
    ...(typeof data['role'] === 'string' ? { role: data['role'] } : {}),
  };
};

const textOf = (content: unknown): string | undefined =>
  Array.isArray(content)
    ? content
        .flatMap((block: { text?: unknown }) => (typeof block.text === 'string' ? [block.text] : []))
        .join('\n')
    : undefined;

/** One event for a client that waits; the longest text of a large one is cut. */
export const toldData = (sessionId: SessionId, event: ToldEvent): JsonObject => {
  const { type, seq, data } = event;
  const told = {
    session_id: sessionId,
    index: seq,
    type,
    ...gistOf({ type, data: data as JsonObject }),
    ...('callId' in data && data.callId !== undefined ? { call_id: data.callId } : {}),
    ...('args' in data ? { args: cutArguments(data.args, frameBytesMax / 2) } : {}),
    ...(type === 'completion' ? { final_response: data.text, stop_reason: data.stopReason } : {}),
  };
  return cutLongestText(told as JsonObject, frameBytesMax);
};
