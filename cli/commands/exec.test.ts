import { describe, expect, test } from 'vitest';
import { type Routes, refusal } from '../fixtures/fake-deployment.ts';
import { logIn } from '../fixtures/logged-in.ts';
import { nextPart, nothingPrinted, remaining } from './exec.ts';

test('consecutive pieces are printed, each byte once', () => {
  const first = nextPart(nothingPrinted, { offset: 0, text: 'hé' });
  expect(first).toEqual({ printed: { bytes: 3 }, text: 'hé' });
  expect(nextPart(first.printed, { offset: 0, text: 'hé' })).toEqual({ printed: { bytes: 3 }, text: '' });
  expect(nextPart(first.printed, { offset: 1, text: 'éllo' })).toEqual({
    printed: { bytes: 6 },
    text: 'llo',
  });
  expect(nextPart(first.printed, { offset: 9, text: 'late' })).toEqual({ printed: { bytes: 3 }, text: '' });
});

test('the result adds the output that was not printed', () => {
  expect(remaining({ bytes: 3 }, 'héllo', false)).toBe('llo');
  expect(remaining(nothingPrinted, 'all', false)).toBe('all');
  expect(remaining({ bytes: 3 }, 'all', false)).toBe('');
});

test.each(['', '; the whole is in /workspace/.sallyport/outputs/a.stdout.txt'])(
  'after a gap no output is repeated, and the missing part is reported%s',
  (place) => {
    const whole = `head\n[... 10 bytes left out${place} ...]\ntail`;
    expect(remaining({ bytes: 2 }, whole, true)).toBe(`ad\n[... 10 bytes left out${place} ...]\ntail`);
    expect(remaining({ bytes: 8 }, whole, true)).toBe(`\n[... 6 bytes left out${place} ...]\ntail`);
    expect(remaining({ bytes: 16 }, whole, true)).toBe('il');
    expect(remaining({ bytes: 14 }, whole, true)).toBe('tail');
    expect(remaining({ bytes: 18 }, whole, true)).toBe('');
  },
);

test('output that is no UTF-8 is printed once and in order, live and at the end', () => {
  const pieces = [
    { offset: 0, text: '\ufffd\ufffd\ufffd' },
    { offset: 3, text: 'hello ' },
    { offset: 9, text: '\ufffdworld' },
    { offset: 15, text: '\n' },
  ];
  const whole = `${pieces.map(({ text }) => text).join('')}end`;
  let printed = nothingPrinted;
  let shown = '';
  for (const piece of [...pieces, { offset: 90, text: 'late' }]) {
    const next = nextPart(printed, piece);
    printed = next.printed;
    shown += next.text;
  }
  expect(shown + remaining(printed, whole, false)).toBe(whole);
});

const id = '4063255e-c414-4616-8709-96618624f944';

/** The answer of the tool call, as JSON. */
const answering = (message: object): Routes => ({
  'POST /mcp': ({ body }) => ({ body: { jsonrpc: '2.0', id: JSON.parse(body).id, ...message } }),
});

test('a session id in the place of a command is no command: the refusal says where it belongs', async () => {
  await using there = await logIn({});
  const refused = await there.run(['exec', id, '--', 'true']);
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`sallyport exec --session ${id}`),
  });
});

test('a session with an agent is refused with the commands that work in it', async () => {
  const error = {
    ...{ type: 'invalid_session_state', message: 'this is an agent session: programs run in its turns' },
    suggestions: ['Leave session_id out for a new session.'],
    recovery_actions: [],
  };
  const text = JSON.stringify({ error });
  await using there = await logIn({
    ...answering({ result: { isError: true, content: [{ type: 'text', text }] } }),
    [`GET /api/sessions/${id}`]: { body: { id, kind: 'agent' } },
  });
  const { code, stderr } = await there.run(['exec', '--session', id, '--', 'true']);
  expect(code).toBe(1);
  expect(stderr).toContain('this is an agent session: programs run in its turns (invalid_session_state)');
  expect(stderr).toContain(`sallyport shell --session ${id}`);
  expect(stderr).toContain(`sallyport chat --session ${id}`);
  expect(stderr).not.toContain('session_id');
});

test('--stop ends the session of a call whose answer was lost, too', async () => {
  const params = { progressToken: 'p', progress: 1, message: '', _meta: { 'dev.sallyport/sessionId': id } };
  const progress = { jsonrpc: '2.0', method: 'notifications/progress', params };
  await using there = await logIn({
    'POST /mcp': {
      body: `data: ${JSON.stringify(progress)}\n\n`,
      headers: { 'content-type': 'text/event-stream' },
    },
    [`DELETE /api/sessions/${id}`]: { body: { id } },
  });
  const lost = await there.run(['exec', '--stop', '--', 'ls']);
  expect(lost).toMatchObject({ code: 1, stderr: expect.stringContaining('(connection_lost)') });
  expect(there.fake.asked.map(({ route }) => route)).toEqual(['POST /mcp', `DELETE /api/sessions/${id}`]);
});

describe('a session that --stop cannot end', () => {
  const end = `DELETE /api/sessions/${id}`;
  const refused = { [end]: { status: 403, body: refusal('forbidden', 'the token may not end it') } };

  test('is asked to end once, after the whole output, and reported', async () => {
    const result = { session_id: id, session_created: true, stdout: 'done', stderr: '', exit_code: 3 };
    await using there = await logIn({ ...answering({ result: { structuredContent: result } }), ...refused });
    const left = await there.run(['exec', '--stop', '--session', id, '--', 'ls']);
    expect(left).toMatchObject({ code: 1, stdout: 'done' });
    expect(left.stderr).toContain('the token may not end it (forbidden)');
    expect(there.fake.asked.map(({ route }) => route)).toEqual(['POST /mcp', end]);
  });

  test('is named beside the failure of its call', async () => {
    const error = { type: 'output_too_large', message: 'too much', suggestions: [], recovery_actions: [] };
    const content = [{ type: 'text', text: JSON.stringify({ error }) }];
    await using there = await logIn({ ...answering({ result: { isError: true, content } }), ...refused });
    const failed = await there.run(['exec', '--stop', '--session', id, '--', 'ls']);
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(failed.stderr.split('\n')).toEqual([
      `Session ${id} was not ended: the token may not end it (forbidden)`,
      'sallyport: too much (output_too_large)',
      '',
    ]);
  });
});
