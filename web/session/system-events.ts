/**
 * Session facts, notes and the state of the sandbox, from `system:ready` and the log's `system` events. Pure; an unknown
 * kind gives no note.
 */

import type { Greeting } from '#sdk/frames.ts';
import type { Json } from '#shared/domain/json.ts';
import { duration } from '../components/format.ts';

type SystemData = { readonly kind: string; readonly [key: string]: Json };

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

export const factsAfter = (facts: SessionFacts, data: SystemData): SessionFacts => ({
  ...facts,
  status: data.kind === 'session_status' ? String(data['status']) : facts.status,
});

export type SandboxState =
  | { readonly kind: 'none' }
  | { readonly kind: 'ready'; readonly startMs: number; readonly source: string }
  | { readonly kind: 'stopped'; readonly reason: string; readonly savedAt: string | null };

export const sandboxAfter = (before: SandboxState, data: SystemData): SandboxState => {
  if (data.kind === 'sandbox_started')
    return { kind: 'ready', startMs: Number(data['startMs']), source: String(data['source']) };
  if (data.kind !== 'sandbox_stopped') return before;
  const savedAt = data['savedAt'];
  return {
    kind: 'stopped',
    reason: String(data['reason']),
    savedAt: typeof savedAt === 'string' ? savedAt : null,
  };
};

export const noteOf = (data: SystemData): string | undefined => {
  switch (data.kind) {
    case 'sandbox_started':
      return `Sandbox ready in ${duration(Number(data['startMs']))}${data['source'] === 'pool' ? ', from the pool' : ''}`;
    case 'sandbox_stopped':
      return `Sandbox stopped: ${String(data['reason'])}`;
    case 'workspace_restored':
      return restoredNote(data);
    case 'workspace_not_saved':
      return `Workspace not saved: ${String(data['reason'])}`;
    case 'shared_not_saved':
      return `Shared volume not saved: ${String(data['reason'])}`;
    case 'history_reset':
      return 'Conversation cleared. This log stays.';
    case 'mcp_status':
      return `MCP server ${String(data['name'])} is ${String(data['status'])}`;
    case 'child_asked':
      return `Delegated to child session ${String(data['sessionId']).slice(0, 8)}`;
    case 'session_status':
      return `Session ${String(data['status'])}`;
    default:
      return undefined;
  }
};

const restoredNote = (data: SystemData): string => {
  const missing = Array.isArray(data['missing']) ? data['missing'].map(String) : [];
  if (typeof data['refused'] === 'string') return `Workspace not restored: ${data['refused']}`;
  const back = `Workspace restored: ${String(data['files'])} files`;
  return missing.length === 0 ? back : `${back}; missing: ${missing.join(', ')}`;
};
