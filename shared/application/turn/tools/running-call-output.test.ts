/** Output of running calls: kept when it lasts, told by whoever ends the call without having heard it. */
import { expect, test } from 'vitest';
import {
  inboxLimits,
  message,
  newSession,
  workspaceOf,
} from '../../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import type { CallId, MessageId, TurnId } from '../../../domain/ids.ts';
import type { TurnState } from '../../../domain/turn/turn.ts';
import { cancelTurn } from '../requests/cancel-turn.ts';
import { failTurn } from '../requests/fail-turn.ts';
import { openRunningCallOutput } from './running-call-output.ts';

const key = 'tool:t:1:c';
const acting: TurnState = {
  ...{ kind: 'acting', turnId: 't' as TurnId, messageId: 'm' as MessageId, step: 1, spentUsd: 0 },
  usage: { inputTokens: 0, outputTokens: 0 },
  policy: { mode: 'ask', grants: [] },
  calls: [
    {
      ...{ callId: 'c' as CallId, name: 'execute_command', args: {}, askedHuman: true },
      ...{ digest: 'd', askedAt: 'then', status: 'executing', generation: 1 },
    },
  ],
};

/** A session whose only call runs, and that nobody works on. */
const open = async () => {
  const quiet = openQuietPorts();
  const { ports, clock } = quiet;
  const made = newSession({ createdAt: clock.now });
  await ports.sessions.create(made, { workspace: workspaceOf(made) });
  await ports.inbox.accept(made, message('m', clock.now), inboxLimits);
  const session = (await ports.sessions.get(made.id)) ?? made;
  await ports.turns.commit({
    ...{ session, version: 0, state: acting, at: clock.now, log: [], history: [] },
    ...{ historyNext: 0, historyFrom: 0, historyKept: 0 },
    ...{ release: true, wakes: false, dueAt: clock.now + 900_000 },
  });
  quiet.takeRequests();
  const ended = async () => (await ports.turns.history(made.id)).map((said) => 'text' in said && said.text);
  return { ...quiet, id: made.id, ended };
};

test('output of a call that runs on is kept, with what an earlier function had heard', async () => {
  const { ports, id } = await open();
  const first = openRunningCallOutput(ports, id, [{ key }]);
  first.push(key, 'one\n');
  await first.stop();
  const next = openRunningCallOutput(ports, id, [{ key, generation: 1 }]);
  next.push(key, 'two\n');
  expect(await next.of(key)).toBe('one\ntwo\n');
  await next.stop();
  expect(await ports.turns.outputsOf(id, [key])).toEqual({ [key]: 'one\ntwo\n' });
});

test('output of a call that ends at once costs no request', async () => {
  const { ports, id, takeRequests } = await open();
  const kept = openRunningCallOutput(ports, id, [{ key }]);
  kept.push(key, 'one\n');
  kept.drop(key);
  await kept.stop();
  expect(takeRequests()).toEqual([]);
});

test('a cancelled call tells what it had printed', async () => {
  const { ports, id, ended } = await open();
  await ports.turns.keepOutput(id, { key, printed: 'one\n', at: 1 });
  await cancelTurn(ports, id);
  expect(await ended()).toEqual([
    'The user cancelled the turn; this call may have run in part. It had printed:\none\n',
  ]);
});

test('so does one of a turn that no function continues', async () => {
  const { ports, id, ended } = await open();
  await ports.turns.keepOutput(id, { key, printed: 'one\n', at: 1 });
  await failTurn(ports, id, { version: 1 });
  expect(await ended()).toEqual([expect.stringMatching(/it may have run in part; it had printed:\none\n$/)]);
});
