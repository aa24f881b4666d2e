/** A call of a client's tool by a program of a sandbox: it is asked with whole arguments, and by the name of its caller. */
import { expect, test } from 'vitest';
import { newSession } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { eventBytesMax } from '../../domain/limits.ts';
import { callerCallFromSandbox } from './caller-call-from-sandbox.ts';

/** The result of the call, and what the client was asked, which answers at once. */
const call = async (path: string) => {
  const { ports } = openQuietPorts();
  const session = newSession({ approvals: 'auto' });
  await ports.sessions.create(session, {});
  const tools = [{ name: 'open', description: '', inputSchema: { type: 'object' } }];
  await ports.callers.declare(session.id, { callerId: 'editor', tools });
  const { turn } = await ports.turns.loadWork(session.id);
  const ask: typeof ports.callers.ask = async (id, requestId, until) => {
    await ports.callers.ask(id, requestId, until);
    await ports.callers.answer(id, requestId, { text: '[]', isError: false, at: 0 });
  };
  const asking = { ...ports, callers: { ...ports.callers, ask } };
  const given = { name: 'editor_open', args: { path } };
  const result = await callerCallFromSandbox(asking, { session, turn }, given).catch((error) => error);
  const { events } = await ports.eventLog.read(session.id, { since: -1, eventsMax: 20 });
  const asked = events.flatMap(({ type, data }) =>
    type === 'caller_tool:request'
      ? [{ callerId: data.callerId, name: data.name, characters: String(data.args['path']).length }]
      : [],
  );
  return { result, asked };
};

test('a client is asked with whole arguments, or the call fails and says why', async () => {
  const characters = eventBytesMax - 1000;
  expect(await call('x'.repeat(characters))).toEqual({
    result: { text: '[]', isError: false },
    asked: [{ callerId: 'editor', name: 'open', characters }],
  });
  const tooLong = await call('x'.repeat(eventBytesMax));
  expect([tooLong.asked, tooLong.result.code]).toEqual([[], 'payload_too_large']);
});
