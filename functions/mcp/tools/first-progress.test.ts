/** The first news of a call is the session that it works in: a client that loses its connection finds the work by that alone. */
import { expect, test } from 'vitest';
import type { LogEvent } from '#shared/domain/event-log.ts';
import { noTurn } from '#shared/domain/turn/turn.ts';
import { newSession } from '../../../tests/conformance/session-fixture.ts';
import type { CallContext } from '../define-tool.ts';
import { listFiles } from './files.ts';
import { session as sessionTool } from './session.ts';

const answered = (text: string): readonly LogEvent[] => {
  const usage = { inputTokens: 1, outputTokens: 1 };
  const end = { turnId: 't', stopReason: 'end_turn', text, usage, sessionCostUsd: 0 };
  return [
    { seq: 0, at: 0, type: 'message', data: { messageId: 'm', role: 'user', text: 'hello' } },
    { seq: 1, at: 0, type: 'completion', data: end },
  ] as unknown as readonly LogEvent[];
};

const contextFor = (scope: string) => {
  const session = newSession();
  const heard: string[] = [];
  const ports = {
    turns: { getWithTurn: async () => ({ session, turn: noTurn }) },
    workspaces: { get: async () => undefined },
    inbox: { accept: async () => 'accepted' },
    slotLimits: { agentMax: 1, conversationsMax: 1 },
    invoker: { runTurn: async () => undefined },
    eventLog: { read: async () => ({ events: answered('done'), hasMore: false }) },
    correlation: { id: () => 'c' },
    telemetry: { info: () => undefined },
    world: { now: () => 0, uuid: () => 'm' },
  };
  const context = {
    ports,
    settings: { defaults: { lifetimes: {} } },
    principal: { scope, owner: session.owner },
    signal: new AbortController().signal,
    gone: new AbortController().signal,
    onSession: (id: string) => void heard.push(`session ${id}`),
    onPhase: (phase: string) => void heard.push(phase),
    tell: () => void heard.push('told'),
  } as unknown as CallContext;
  return { session, heard, context };
};

test('of a message whose client waits for the answer', async () => {
  const { session, heard, context } = contextFor('admin');
  const call = { action: 'message', session_id: session.id, message: 'hello' };
  await sessionTool.run(call, context);
  expect(heard).toEqual([]);
  expect(await sessionTool.run({ ...call, wait: true }, context)).toMatchObject({
    finished: true,
    text: 'done',
  });
  expect(heard).toEqual([`session ${session.id}`, 'completion', 'told']);
});

test('of a file tool', async () => {
  const { session, heard, context } = contextFor('admin:ro');
  expect(await listFiles.run({ session_id: session.id }, context)).toEqual({ path: '.', files: [] });
  expect(heard).toEqual([`session ${session.id}`]);
});
