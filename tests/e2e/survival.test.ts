/** Survivors of a power cut: the waiting approval, the log, the token; nothing runs twice. */
import { expect, test } from 'vitest';
import { makeHomePath, startServer } from './server.ts';
import { connect } from './socket-client.ts';

/** The cut may come while a function still holds the session: its lease runs out soon, and is looked for. */
const variables = { TURN_LEASE_SECONDS: '3', SALLYPORT_SWEEP_SECONDS: '1' };

test('a process killed while an approval is pending continues where it was', async () => {
  const home = await makeHomePath();
  const first = await startServer({ home, variables });
  const before = await connect(first);
  before.send('message', { text: '$ echo one >> log.txt; cat log.txt', messageId: 'm1' });
  const asked = await before.untilType('tool:approval_required');
  const sessionId = before.sessionId();
  await first.kill();

  const second = await startServer({ home, variables });
  expect(second.token).toBe(first.token);
  const after = await connect(second, { sessionId, since: 1 });
  const again = await after.untilType('tool:approval_required');
  expect(again).toEqual(asked);
  expect(after.frames.slice(0, 2).map(({ type, seq }) => [type, seq])).toEqual([
    ['system:ready', null],
    ['tool:approval_required', 2],
  ]);
  after.send('tool:approval', { callId: again.data.callId, approved: true });
  const completion = await after.untilType('completion');
  expect(completion.data.stopReason).toBe('end_turn');
  const outputs = after.frames.filter(({ type }) => type === 'tool:output');
  expect(outputs.map(({ data }) => data.content[0].text.trim())).toEqual(['one']);

  after.send('tool:approval', { callId: again.data.callId, approved: true });
  const refusal = await after.untilType('error');
  expect(refusal.data.error).toMatchObject({ code: 'no_pending_tool_call' });
  expect(refusal.data.error.message).toMatch(/^No matching pending tool call/);
  expect(await second.stop()).toBe(0);
});

test('a second start over the same folder is refused in one line', async () => {
  const home = await makeHomePath();
  const first = await startServer({ home });
  await expect(startServer({ home })).rejects.toThrow(String(first.pid));
  expect(await first.stop()).toBe(0);
});

test('an invalid variable stops the start with one line that names it', async () => {
  const start = startServer({ variables: { MAX_STEPS_PER_TURN: '0' } });
  await expect(start).rejects.toThrow(
    /^it ended: MAX_STEPS_PER_TURN="0" is not allowed: set it to a whole number from 1 to 500\n$/,
  );
});
