import { describe, expect, test } from 'vitest';
import { type Routes, refusal } from '../fixtures/fake-deployment.ts';
import { logIn } from '../fixtures/logged-in.ts';

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
    suggestions: ['Leave out session_id to create a new session.'],
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

test.each([
  ['ended', {}],
  ['broke off', { isDropped: true }],
])('--stop ends the session of a call whose answer %s before its result, too', async (_, way) => {
  const params = { progressToken: 'p', progress: 1, message: '', _meta: { 'dev.sallyport/sessionId': id } };
  const progress = { jsonrpc: '2.0', method: 'notifications/progress', params };
  await using there = await logIn({
    'POST /mcp': {
      body: `data: ${JSON.stringify(progress)}\n\n`,
      headers: { 'content-type': 'text/event-stream' },
      ...way,
    },
    [`DELETE /api/sessions/${id}`]: { body: { id } },
  });
  const lost = await there.run(['exec', '--stop', '--', 'ls']);
  expect(lost).toMatchObject({ code: 1, stderr: expect.stringContaining('(connection_lost)') });
  expect(lost.stderr).toContain(`The program may still be running: look at ${id}.`);
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

describe('output that is not what the program wrote is told on stderr', () => {
  const whole = { session_id: id, session_created: false, stdout: 'a', stderr: '', exit_code: 0 };
  const text = 'a\n[... 9 bytes left out; the whole is in /workspace/out.txt ...]\nz';
  const cut = { ...whole, stdout: text, stdout_truncated: true };
  const stored = { ...cut, stdout_file: '/workspace/.sallyport/outputs/a.stdout.txt' };
  test.each([
    { name: 'whole', result: whole, note: '' },
    {
      ...{ name: 'cut', result: stored },
      note: `left out. What the sandbox kept of it: sallyport files get ${id} .sallyport/outputs/a.stdout.txt `,
    },
    { name: 'cut and gone', result: stored, isStopped: true, note: 'A session without --stop keeps it' },
    { name: 'cut without a file', result: cut, note: 'A part of stdout was left out.\n' },
    { name: 'no text', result: { ...whole, stdout: '\ufffdPNG' }, note: 'stdout has U+FFFD' },
  ])('$name', async ({ result, isStopped, note }) => {
    const end = { [`DELETE /api/sessions/${id}`]: { body: { id } } };
    await using there = await logIn({ ...answering({ result: { structuredContent: result } }), ...end });
    const options = isStopped ? ['--stop'] : [];
    const done = await there.run(['exec', ...options, '--session', id, '--', 'ls']);
    expect(done).toMatchObject({ code: 0, stdout: result.stdout });
    if (note === '') expect(done.stderr).toBe('');
    else expect(done.stderr).toContain(note);
  });

  test('a cut result whose output came whole as it was printed is no loss', async () => {
    const params = { progressToken: 'p', progress: 1, message: 'a123456789z' };
    const _meta = { 'dev.sallyport/stream': 'stdout', 'dev.sallyport/offset': 0 };
    await using there = await logIn({
      'POST /mcp': ({ body }) => {
        const progress = { method: 'notifications/progress', params: { ...params, _meta } };
        const messages = [progress, { id: JSON.parse(body).id, result: { structuredContent: stored } }];
        return {
          body: messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join(''),
          headers: { 'content-type': 'text/event-stream' },
        };
      },
    });
    const done = await there.run(['exec', '--session', id, '--', 'ls']);
    expect(done).toEqual({ code: 0, stdout: 'a123456789z', stderr: '' });
  });
});
