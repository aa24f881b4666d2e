/** A call that waits for a person is shown to each new connection, however much was logged since it was asked. */
import { expect, test } from 'vitest';
import { newSession } from '../../../tests/conformance/session-fixture.ts';
import { fake } from '../../../tests/fake.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { LogEntry } from '../../domain/event-log.ts';
import type { CallId, MessageId, TurnId } from '../../domain/ids.ts';
import { eventsPerSessionMax } from '../../domain/limits.ts';
import { deploymentOwner } from '../../domain/principal.ts';
import { approvalRequest } from '../../domain/turn/call-queue.ts';
import type { ToolCall } from '../../domain/turn/tool-call.ts';
import { type Deciding, noTurn } from '../../domain/turn/turn.ts';
import type { TokenStore } from '../../ports/access.ts';
import type { Connection } from '../../ports/connections.ts';
import type { McpServerStore } from '../../ports/mcp-servers.ts';
import { sendGreeting } from './send-greeting.ts';

const call: ToolCall = {
  ...{ callId: 'c' as CallId, name: 'execute_command', args: { command: 'ls' }, askedHuman: true },
  ...{ status: 'pending', digest: 'd', askedAt: '2026-01-01T00:00:00.000Z' },
};
const deciding: Deciding = {
  ...{ kind: 'deciding', turnId: 't' as TurnId, messageId: 'm' as MessageId, step: 1, spentUsd: 0 },
  ...{ usage: { inputTokens: 0, outputTokens: 0 }, policy: { mode: 'ask', grants: [] }, calls: [call] },
};
const note: LogEntry = { type: 'system', data: { kind: 'note' } };

/** The approval requests of a connection without a replay, with so many entries behind the request. */
const askedBehind = async (later: number, state = deciding) => {
  const { ports } = openQuietPorts();
  const made = newSession();
  await ports.sessions.create(made, {});
  const entries = [note, approvalRequest(deciding.turnId, call, deciding.calls), ...Array(later).fill(note)];
  for (let from = 0; from < entries.length; from += 40)
    await ports.eventLog.append(made.id, entries.slice(from, from + 40), 1);
  const session = (await ports.sessions.get(made.id)) ?? made;
  const principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'h' } as const;
  const connection = { id: 'c', sessionId: made.id, principal, connectedAt: 1 } as Connection;
  await ports.connections.put(connection);
  const frames: { readonly seq: number | null; readonly type: string; readonly data: object }[] = [];
  await sendGreeting(
    {
      ...ports,
      turns: { ...ports.turns, getWithTurn: async () => ({ session, turn: { ...noTurn, state } }) },
      sockets: {
        post: async (_id, text) => {
          frames.push(JSON.parse(text));
          return 'sent';
        },
        close: async () => undefined,
      },
      mcpServers: fake<McpServerStore>({ list: async () => [] }),
      tokens: fake<TokenStore>({ get: async () => undefined }),
      recursionDepthMax: 0,
      checkProvider: () => undefined,
    },
    { connectionId: connection.id },
  );
  return frames.filter(({ type }) => type === 'tool:approval_required');
};

const shown = { callId: 'c', turnId: 't', digest: 'd', queuePosition: 1, totalInQueue: 1 };

test.each([0, 99, 100, 450, eventsPerSessionMax - 2])(
  'with its own number, behind %i entries',
  async (later) => {
    expect(await askedBehind(later)).toMatchObject([{ seq: 1, data: shown }]);
  },
);

test('without a number, once the log has dropped it', async () => {
  const [request, ...others] = await askedBehind(eventsPerSessionMax + 5);
  expect(request).toMatchObject({ seq: null, at: call.askedAt, data: shown });
  expect(others).toEqual([]);
});

test('a call that is tried anew is not shown with what it did before', async () => {
  const due = { ...call, trial: { state: 'due', isAgain: true } } as const;
  expect(await askedBehind(0, { ...deciding, calls: [due] })).toEqual([]);
});
