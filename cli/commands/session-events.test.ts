/** `events --follow`: what was logged and what follows, each event once, over a connection that breaks. */
import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';

const event = (seq: number, text: string) => ({ seq, at: `at${seq}`, type: 'message', data: { text } });

test('events are followed once each, after a lost connection too, until Ctrl-C', async () => {
  const since: (string | null)[] = [];
  await using there = await logIn({}, ({ query, send, drop }) => {
    since.push(query.get('since'));
    const isFirst = since.length === 1;
    send({ type: 'system:ready', at: 'T', data: { lastSeq: isFirst ? 1 : 2 } });
    send({ type: 'delta', at: 'T', data: { messageId: 'm', offset: 0, text: 'no event' } });
    for (const one of isFirst ? [event(0, 'zero'), event(1, 'one')] : [event(1, 'one'), event(2, 'two')])
      send(one);
    if (isFirst) setTimeout(drop, 50);
  });
  const terminal = there.at(['events', 's', '--follow']);
  await terminal.until('"two"');
  terminal.interrupt();
  expect(await terminal.code).toBe(130);
  expect(since).toEqual(['-1', '1']);
  const lines = terminal.text().trimEnd().split('\n');
  expect(lines).toEqual([
    '   0  at0  message                 {"text":"zero"}',
    '   1  at1  message                 {"text":"one"}',
    'Connection lost, reconnecting…',
    '   2  at2  message                 {"text":"two"}',
  ]);
});

test('a program gets a line of JSON for each event', async () => {
  await using there = await logIn({}, ({ send }) => {
    send({ type: 'system:ready', at: 'T', data: { lastSeq: 5 } });
    send(event(5, 'five'));
  });
  const terminal = there.at(['sessions', 'events', 's', '--since', '4', '--follow', '--json']);
  await terminal.until('}}');
  terminal.interrupt();
  await terminal.code;
  expect(JSON.parse(terminal.text())).toEqual({
    ...{ index: 5, at: 'at5', type: 'message', sessionId: 's', data: { text: 'five' } },
  });
});

test('an event that is too long for a frame is printed whole', async () => {
  const log = 'GET /api/sessions/s/events?since_index=4&max_events=500';
  const whole = { index: 5, at: 'at5', type: 'message', sessionId: 's', data: { text: 'five' } };
  await using there = await logIn({ [log]: { body: { events: [whole] } } }, ({ send }) => {
    send({ type: 'system:ready', at: 'T', data: { lastSeq: 5 } });
    send({ ...event(5, 'fi'), data: { text: 'fi', truncated: true } });
  });
  const terminal = there.at(['events', 's', '--since', '4', '--follow', '--json']);
  await terminal.until('}}');
  terminal.interrupt();
  await terminal.code;
  expect(JSON.parse(terminal.text())).toEqual(whole);
});

test('a session that is not there is refused with the reason, and --children with --follow too', async () => {
  await using there = await logIn({});
  const missing = await there.run(['events', 'gone', '--follow']);
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('there is no such route')]);
  expect((await there.run(['events', 's', '--follow', '--children'])).code).toBe(2);
});
