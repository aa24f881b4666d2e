import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { digestOf, refusal, type Talk } from '../fixtures/fake-deployment.ts';
import { logIn } from '../fixtures/logged-in.ts';

const waitingIn = (sessionId: string, command: string) => {
  const call = { turnId: 't1', callId: 'c/1', name: 'execute_command', args: { command } };
  return { ...call, sessionId, digest: digestOf(call), queuePosition: 1, totalInQueue: 1 };
};
const listed = (sessionId: string, command: string) => ({
  ...waitingIn(sessionId, command),
  title: `About ${sessionId}`,
  project: 'p1',
  askedAt: new Date(Date.now() - 200_000).toISOString(),
});

test('pending approvals of all sessions are listed, oldest first, page by page', async () => {
  const [one, two] = [listed('s1', 'ls\n\u200b'), listed('s2', 'make')];
  await using there = await logIn({
    'GET /api/approvals': { body: { approvals: [one], next: 'n' } },
    'GET /api/approvals?after=n': { body: { approvals: [two] } },
    'GET /api/approvals?project=p1': { body: { approvals: [] } },
  });
  expect((await there.run(['approvals'])).stdout).toBe(
    [
      'WAITS  SESSION  CALL  WANTS                               TITLE',
      '3 min  s1       c/1   execute_command ls⟦U+000A⟧⟦U+200B⟧  About s1',
      '3 min  s2       c/1   execute_command make                About s2',
      '',
      'Decide with `sallyport approvals approve <session> <call>` or `reject`; `show` prints a call in full.',
      '',
    ].join('\n'),
  );
  expect(JSON.parse((await there.run(['approvals', 'list', '--json'])).stdout)).toEqual({
    approvals: [one, two],
  });
  expect((await there.run(['approvals', '--project', 'p1'])).stdout).toBe('No pending approvals.\n');
});

test('a call is shown whole with its digest, and approved by that digest', async () => {
  const waiting = waitingIn('s1', 'echo one');
  const route = 'POST /api/sessions/s1/approvals/c%2F1';
  await using there = await logIn({
    'GET /api/sessions/s1/approvals/c%2F1': { body: waiting },
    [route]: ({ body }) =>
      JSON.parse(body).digest === waiting.digest || JSON.parse(body).approved === false
        ? { body: { callId: 'c/1', approved: JSON.parse(body).approved, digest: waiting.digest } }
        : { status: 409, body: refusal('conflict', 'the digest is of another call') },
  });
  expect((await there.run(['approvals', 'show', 's1', 'c/1'])).stdout).toBe(
    `execute_command, call c/1, session s1\ncommand (text: 8 bytes, 1 line)\n│ echo one\ndigest ${waiting.digest}\n`,
  );
  const shown = JSON.parse((await there.run(['approvals', 'show', 's1', 'c/1', '--json'])).stdout);
  expect(shown).toEqual(waiting);
  const approve = ['approvals', 'approve', 's1', 'c/1', '--digest'];
  expect(await there.run([...approve, waiting.digest])).toMatchObject({ code: 0, stdout: 'Approved c/1.\n' });
  expect((await there.run([...approve, waiting.digest, '--effect', 'e1'])).code).toBe(0);
  expect((await there.run(['approvals', 'approve', 's1', 'c/1', '--effect', 'e1'])).code).toBe(2);
  const other = await there.run([...approve, '0'.repeat(64)]);
  expect([other.code, other.stderr]).toEqual([1, 'sallyport: the digest is of another call (conflict)\n']);
  const reject = ['approvals', 'reject', 's1', 'c/1', '--reason', 'not now', '--json'];
  expect(JSON.parse((await there.run(reject)).stdout)).toMatchObject({ approved: false });
  await writeFile(join(there.folder, 'args.json'), '{"command": "echo two"}');
  await there.run([...approve, waiting.digest, '--prefix', 'echo', '--args', 'args.json']);
  const missing = await there.run([...approve, waiting.digest, '--args', 'none.json']);
  expect(missing.stderr).toContain('the local file none.json cannot be read: ENOENT (file_not_found)');
  expect(there.bodies(route)).toEqual([
    { approved: true, digest: waiting.digest },
    { approved: true, digest: waiting.digest, effectDigest: 'e1' },
    { approved: true, digest: '0'.repeat(64) },
    { approved: false, reason: 'not now' },
    { approved: true, digest: waiting.digest, remember: { prefix: 'echo' }, args: { command: 'echo two' } },
  ]);
});

test('a server whose digest does not match the shown call is not trusted', async () => {
  await using there = await logIn({
    'GET /api/sessions/s1/approvals/c%2F1': {
      body: { ...waitingIn('s1', 'ls'), args: { command: 'rm -r /' } },
    },
  });
  const { code, stdout, stderr } = await there.run(['approvals', 'show', 's1', 'c/1']);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('(digest_mismatch)');
});

test.each([
  ['approve\r', 1, 0, [{ approved: true, remember: 'session' }]],
  ['y\r', 1, 0, [{ approved: true, remember: 'session' }]],
  ['n\r', 1, 130, []],
  ['\r', 1, 130, []],
  ['\u0003', 1, 130, []],
  ['approve\r', 0.5, 130, []],
])(
  'on a terminal %j, %d s after the call was shown, exits with %d',
  async (keys, seconds, ...[code, sent]) => {
    const waiting = waitingIn('s1', 'echo one');
    const route = 'POST /api/sessions/s1/approvals/c%2F1';
    await using there = await logIn({
      'GET /api/sessions/s1/approvals/c%2F1': { body: waiting },
      [route]: { body: { callId: 'c/1', approved: true } },
    });
    const terminal = there.at(['approvals', 'approve', 's1', 'c/1', '--always']);
    terminal.type('approve\r');
    await terminal.until('│ echo one\n');
    await terminal.until('every later call of execute_command in this session\n');
    await terminal.until('Type approve and Enter: ');
    terminal.wait(seconds);
    terminal.type(keys);
    if (seconds < 1) {
      await terminal.until('It was not used as an answer');
      terminal.hangUp();
    }
    expect(await terminal.code).toBe(code);
    const { digest, turnId } = waiting;
    expect(there.bodies(route)).toEqual(sent.map((one) => ({ ...one, digest, turnId })));
  },
);

test('each new pending call is printed once, also as a line of JSON', async () => {
  const [first, second] = [listed('s1', 'one'), listed('s2', 'two')];
  let approvals = [first];
  const talk: Talk = ({ query, send }) => {
    expect(query.get('approvals')).toBe('1');
    const tell = (): void =>
      send({ type: 'approvals', sessionId: null, data: { waiting: approvals.length } });
    tell();
    setTimeout(() => {
      approvals = [first, second];
      tell();
      tell();
    }, 200);
  };
  await using there = await logIn({ 'GET /api/approvals': () => ({ body: { approvals } }) }, talk);
  const plain = there.at(['approvals', '--watch', '--json']);
  await plain.until('"sessionId":"s2"');
  plain.interrupt();
  expect(await plain.code).toBe(130);
  expect(
    plain
      .text()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([first, second]);
});

test('on a terminal pending calls are decided one by one, or left for later', async () => {
  const waiting = new Map(
    [listed('s1', 'one'), listed('s2', 'two'), listed('s3', 'three')].map((one) => [one.sessionId, one]),
  );
  let tell = (): void => undefined;
  const talk: Talk = ({ send }) => {
    tell = () => send({ type: 'approvals', sessionId: null, data: { waiting: waiting.size } });
    tell();
  };
  const routes = Object.fromEntries(
    [...waiting].flatMap(([id, one]) => [
      [`GET /api/sessions/${id}/approvals/c%2F1`, { body: one }],
      [
        `POST /api/sessions/${id}/approvals/c%2F1`,
        () => {
          waiting.delete(id);
          return { body: { callId: 'c/1', approved: true } };
        },
      ],
    ]),
  );
  await using there = await logIn(
    { ...routes, 'GET /api/approvals': () => ({ body: { approvals: [...waiting.values()] } }) },
    talk,
  );
  const terminal = there.at(['approvals', '--watch']);
  const prompt = '[l]ater: ';
  await terminal.until('About s1');
  await terminal.until(prompt);
  terminal.wait(1);
  terminal.type('y\r');
  await terminal.until('Approved c/1.');
  await terminal.until('About s2');
  await terminal.until(prompt);
  waiting.delete('s2');
  tell();
  await terminal.until('About s3');
  await terminal.until(prompt);
  terminal.wait(1);
  terminal.type('later\r');
  await terminal.until('later');
  terminal.type('\u0003');
  expect(await terminal.code).toBe(130);
  expect([...waiting.keys()]).toEqual(['s3']);
});

test('a watch that may not decide ends with the reason, not as if it had been left', async () => {
  const call = listed('s1', 'ls');
  const talk: Talk = ({ send }) => send({ type: 'approvals', data: { waiting: 1 } });
  const address = '/api/sessions/s1/approvals/c%2F1';
  await using there = await logIn(
    {
      'GET /api/approvals': { body: { approvals: [call] } },
      [`GET ${address}`]: { body: waitingIn('s1', 'ls') },
      [`POST ${address}`]: { status: 403, body: refusal('forbidden', 'this token may only read') },
    },
    talk,
  );
  const terminal = there.at(['approvals', '--watch']);
  await terminal.until('[l]ater: ');
  terminal.wait(1);
  terminal.type('y\r');
  expect(await terminal.code).toBe(1);
  expect(terminal.text()).toContain('this token may only read (forbidden)');
});
