/** Facts of a session, from its `system:ready` frame and the status changes of its log. Pure. */
import type { Frame, Greeting } from '#sdk/frames.ts';

export type SessionFacts = Pick<Greeting, 'provider' | 'model' | 'sessionId' | 'status'> & {
  readonly tools: readonly string[];
  readonly mcpServers: readonly { readonly name: string; readonly status: string }[];
};

export const factsOf = ({
  provider,
  model,
  sessionId,
  status,
  tools = [],
  mcpServers = [],
}: Greeting): SessionFacts => ({
  provider,
  model,
  sessionId,
  status,
  tools,
  mcpServers,
});

type SystemData = Extract<Frame, { readonly type: 'system' }>['data'];

export const factsAfter = (facts: SessionFacts, data: SystemData): SessionFacts => ({
  ...facts,
  status: data.kind === 'session_status' ? String(data['status']) : facts.status,
});
