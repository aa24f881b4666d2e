import { describe, expect, test } from 'vitest';
import { digestOf, type Routes, refusal, type Talk } from '../fixtures/fake-deployment.ts';
import { logIn } from '../fixtures/logged-in.ts';

const call = (command: string, callId = 'c1') => ({
  turnId: 't1',
  callId,
  name: 'execute_command',
  args: { command },
});
type Waiting = Omit<ReturnType<typeof call>, 'args'> & { readonly args: Readonly<Record<string, string>> };
const frameOf = (waiting: Waiting, rest: object = {}) => ({
  type: 'tool:approval_required',
  data: { ...waiting, digest: digestOf(waiting), queuePosition: 1, totalInQueue: 1, ...rest },
});

/** A session whose agent asks about calls, one after the other, once a message was sent to it. */
const deploy = async (frames: readonly { data: object }[], routes: Routes = {}) => {
  const decided: { route: string; body: unknown }[] = [];
  let tell: (frame: object) => void = () => undefined;
  let seq = 0;
  const ask = (): void => {
    const next = frames[decided.length];
    tell(
      next === undefined
        ? { type: 'completion', seq: seq++, data: { turnId: 't1', stopReason: 'end_turn', text: '' } }
        : { ...next, seq: seq++ },
    );
  };
  const talk: Talk = ({ send, onAction }) => {
    tell = send;
    send({ type: 'system:ready', data: { lastSeq: -1, model: 'm', provider: 'p' } });
    onAction(({ action, messageId, text }) => {
      if (action !== 'message') return;
      send({ type: 'message', seq: seq++, data: { messageId, role: 'user', text } });
      ask();
    });
  };
  const decide: Routes[string] = ({ route, body }) => {
    decided.push({ route, body: JSON.parse(body) });
    setTimeout(ask, 0);
    return { body: {} };
  };
  const there = await logIn(
    {
      'POST /api/sessions': { status: 201, body: { id: 's' } },
      'POST /api/sessions/s/approvals/c1': decide,
      'POST /api/sessions/s/approvals/c2': decide,
      ...routes,
    },
    talk,
  );
  return {
    ...there,
    chat: (...words: readonly string[]) => there.at(['chat', ...words], { columns: 80 }),
    tell: (frame: object) => tell(frame),
    decided: () => decided.map(({ body }) => body),
  };
};

const prompt = '[l]ater: ';

test.each([
  ['y', { approved: true }],
  ['approve', { approved: true }],
  ['always', { approved: true, remember: 'session' }],
])(
  '%s typed after the question is the decision, with turn and digest of the shown call',
  async (word, decision) => {
    const waiting = call('echo one');
    await using one = await deploy([frameOf(waiting)]);
    const terminal = one.chat('go');
    await terminal.until(prompt);
    expect(terminal.text()).toContain(
      `execute_command, call c1, session s\ncommand (text: 8 bytes, 1 line)\n│ echo one\ndigest ${digestOf(waiting)}`.replaceAll(
        '\r\n',
        '\n',
      ),
    );
    terminal.wait(1);
    terminal.type(`${word}\r`);
    expect(await terminal.code).toBe(0);
    expect(one.decided()).toEqual([{ ...decision, turnId: 't1', digest: digestOf(waiting) }]);
  },
);

test('input to a process cannot be allowed for the session', async () => {
  const args = { action: 'input', process_id: 'p', text: 'yes' };
  await using one = await deploy([frameOf({ ...call(''), name: 'process', args })]);
  const terminal = one.chat('go');
  await terminal.until(prompt);
  terminal.wait(1);
  terminal.type('always\r');
  await terminal.until('Input to a process is always asked about. Not decided yet.');
  await terminal.until(prompt);
  terminal.wait(1);
  terminal.type('y\r');
  expect(await terminal.code).toBe(0);
  expect(one.decided()).toMatchObject([{ approved: true }]);
  expect(one.decided()[0]).not.toHaveProperty('remember');
});

test('a rejection may have a reason, and a prefix grant its words', async () => {
  await using one = await deploy([frameOf(call('rm -r x')), frameOf(call('git status -s', 'c2'))]);
  const terminal = one.chat('go');
  await terminal.until(prompt);
  terminal.wait(1);
  terminal.type('reject\r');
  await terminal.until('may be empty): ');
  terminal.type('move it instead\r');
  await terminal.until(prompt);
  terminal.wait(1);
  terminal.type('prefix\r');
  await terminal.until('begin with: ');
  terminal.type('git push\r');
  await terminal.until('Not decided yet.');
  await terminal.until(prompt);
  terminal.wait(1);
  terminal.type('p\r');
  await terminal.until('begin with: ');
  terminal.type('git status\r');
  expect(await terminal.code).toBe(0);
  expect(one.decided()).toMatchObject([
    { approved: false, reason: 'move it instead' },
    { approved: true, remember: { prefix: 'git status' } },
  ]);
});

test.each([
  ['as the question comes', ['also keep it\r'], 'also keep it'],
  ['a whole word of the answers', ['y\r', 'a\r', 'approve\r'], 'y a approve'],
  ['in the middle of a word', ['oka', 'y\r'], 'oka y'],
])('text typed %s decides nothing and becomes part of the next message', async (_when, pieces, kept) => {
  await using one = await deploy([frameOf(call('echo one'))]);
  const terminal = one.chat();
  await terminal.until('› ');
  terminal.type(`go\r${pieces[0]}`);
  await terminal.until(prompt);
  for (const piece of pieces.slice(1)) terminal.type(piece);
  terminal.wait(0.9);
  terminal.type('actually wait, stop\r');
  await terminal.until('It was not used as an answer');
  expect(one.decided()).toEqual([]);
  terminal.wait(1.5);
  terminal.type('n\r');
  await terminal.until('may be empty): ');
  terminal.type('\r');
  await terminal.until(`› ${kept} actually wait, stop`);
  expect(one.decided()).toMatchObject([{ approved: false }]);
  terminal.hangUp();
  expect(await terminal.code).toBe(0);
});

test('a sentence that begins with an answer word decides nothing and stays for the message', async () => {
  await using one = await deploy([frameOf(call('echo one'))]);
  const terminal = one.chat();
  await terminal.until('› ');
  terminal.type('go\r');
  await terminal.until(prompt);
  for (const sentence of ['no problem, go on', 'yes but keep it', 'a']) {
    terminal.wait(sentence === 'a' ? 0.5 : 2);
    terminal.type(`${sentence}\r`);
    await terminal.until(sentence === 'a' ? 'It was not used as an answer' : 'Not decided yet');
  }
  expect(one.decided()).toEqual([]);
  terminal.hangUp();
  expect(await terminal.code).toBe(0);
  expect(terminal.text()).toContain('Call c1 still waits');
  expect(terminal.text()).toContain('Not sent: no problem, go on yes but keep it a');
});

test('a call whose frame was cut is loaded whole before it is shown', async () => {
  const waiting = call(`echo safe; : ${'A'.repeat(40_000)}; touch HIDDEN`);
  const cut = { ...waiting, args: { command: waiting.args.command.slice(0, 15_000) } };
  for (const flags of [{ argsTruncated: true, truncated: true }, {}]) {
    const route = 'GET /api/sessions/s/approvals/c1';
    const whole = { ...frameOf(waiting).data, sessionId: 's' };
    await using one = await deploy([frameOf(cut, { digest: digestOf(waiting), ...flags })], {
      [route]: { body: whole },
      'GET /api/sessions/s/events?since_index=0&max_events=500': {
        body: { events: [{ index: 1, sessionId: 's', ...frameOf(waiting) }] },
      },
    });
    const terminal = one.chat('go');
    await terminal.until(prompt);
    const shown = terminal.text().replaceAll('\n┆ ', '');
    expect(shown).toContain(`│ ${waiting.args.command}\n`);
    terminal.wait(1);
    terminal.type('y\r');
    await terminal.code;
    expect(one.decided()).toEqual([{ approved: true, turnId: 't1', digest: digestOf(waiting) }]);
  }
});

test('a call with a wrong digest cannot be decided', async () => {
  const waiting = call('echo one');
  const digest = digestOf(call('echo two'));
  await using one = await deploy([frameOf(waiting, { digest })], {
    'GET /api/sessions/s/approvals/c1': { body: { ...waiting, digest, sessionId: 's' } },
  });
  const terminal = one.chat('go');
  expect(await terminal.code).toBe(1);
  expect(terminal.text()).toContain('(digest_mismatch)');
  expect(one.decided()).toEqual([]);
});

test('a call that changed concurrently is shown again', async () => {
  const [first, second] = [call('echo one'), call('echo two')];
  let tries = 0;
  const bodies: unknown[] = [];
  await using one = await deploy([frameOf(first)], {
    'POST /api/sessions/s/approvals/c1': ({ body }) => {
      bodies.push(JSON.parse(body));
      tries += 1;
      return tries === 1 ? { status: 409, body: refusal('conflict', 'another call waits') } : { body: {} };
    },
    'GET /api/sessions/s/approvals/c1': { body: { ...frameOf(second).data, sessionId: 's' } },
  });
  const terminal = one.chat('go');
  await terminal.until(prompt);
  terminal.wait(1);
  terminal.type('y\r');
  await terminal.until('another call waits');
  await terminal.until('│ echo two');
  await terminal.until(prompt);
  terminal.wait(1);
  terminal.type('y\r');
  await expect.poll(() => bodies).toMatchObject([{ digest: digestOf(first) }, { digest: digestOf(second) }]);
  one.tell({ type: 'completion', seq: 2, data: { turnId: 't1', stopReason: 'end_turn', text: '' } });
  expect(await terminal.code).toBe(0);
});

describe.each([
  ['another effect', 'e2'],
  ['the same effect', 'e1'],
])('a call that was tried and is asked again with %s', (_, effectDigest) => {
  const waiting = call('make');
  const [before, after] = [frameOf(waiting, { effectDigest: 'e1' }), frameOf(waiting, { effectDigest })];
  const deployTrial = async () => {
    const bodies: { approved: boolean; effectDigest?: string }[] = [];
    let isAsked = false;
    const one = await deploy([before], {
      'POST /api/sessions/s/approvals/c1': ({ body }) => {
        bodies.push(JSON.parse(body));
        const isFirst = bodies.length === 1;
        return isFirst
          ? { status: 409, body: refusal('conflict', 'the workspace has changed') }
          : { body: {} };
      },
      'GET /api/sessions/s/approvals/c1': () =>
        isAsked
          ? { body: { ...after.data, sessionId: 's' } }
          : { status: 404, body: refusal('not_found', 'no such call waits') },
    });
    const askAgain = (): void => {
      isAsked = true;
      one.tell({ ...after, seq: 2 });
    };
    const end = (): void => {
      isAsked = false;
      one.tell({ ...after, seq: 3 });
      one.tell({ type: 'completion', seq: 4, data: { turnId: 't1', stopReason: 'end_turn', text: '' } });
    };
    return { ...one, bodies, askAgain, end, [Symbol.asyncDispose]: one[Symbol.asyncDispose] };
  };

  test('is shown again, and decided', async () => {
    await using one = await deployTrial();
    const terminal = one.chat('go');
    await terminal.until(prompt);
    terminal.wait(1);
    terminal.type('y\r');
    await terminal.until('Not decided: the workspace has changed.');
    // It is being tried: no call waits.
    const read = 'GET /api/sessions/s/approvals/c1';
    await expect.poll(() => one.fake.asked.some(({ route }) => route === read)).toBe(true);
    one.askAgain();
    await terminal.until(prompt);
    terminal.wait(1);
    terminal.type('y\r');
    await expect.poll(() => one.bodies).toMatchObject([{ effectDigest: 'e1' }, { effectDigest }]);
    one.end();
    expect(await terminal.code).toBe(0);
    expect(one.bodies).toHaveLength(2);
  });

  test('is approved again under --yes', async () => {
    await using one = await deployTrial();
    const ran = one.run(['chat', '--yes', 'go']);
    await expect.poll(() => one.bodies).toHaveLength(1);
    one.askAgain();
    await expect.poll(() => one.bodies).toMatchObject([{ effectDigest: 'e1' }, { effectDigest }]);
    one.end();
    expect((await ran).code).toBe(0);
  });
});

test('a question whose call was decided elsewhere is withdrawn with a note', async () => {
  const waiting = call('echo one');
  await using one = await deploy([frameOf(waiting)]);
  const terminal = one.chat('go');
  await terminal.until(prompt);
  const by = { kind: 'person', id: 'u-1', name: 'Ann' };
  one.tell({ type: 'tool:decided', seq: 2, data: { ...waiting, approved: false, by, reason: 'not now' } });
  await terminal.until('execute_command rejected by Ann: not now');
  one.tell({ type: 'completion', seq: 3, data: { turnId: 't1', stopReason: 'end_turn', text: '' } });
  expect(await terminal.code).toBe(0);
  expect(one.decided()).toEqual([]);
});

test('a call of a child is decided in the child’s own session', async () => {
  const frame = { ...frameOf(call('echo one')), sessionId: 'child' };
  const route = 'POST /api/sessions/child/approvals/c1';
  await using one = await deploy([frame], { [route]: { body: {} } });
  const terminal = one.chat('go');
  await terminal.until(prompt);
  terminal.wait(1);
  terminal.type('y\r');
  await expect.poll(() => one.fake.asked.some((asked) => asked.route === route)).toBe(true);
  one.tell({ type: 'completion', seq: 2, data: { turnId: 't1', stopReason: 'end_turn', text: '' } });
  await terminal.code;
});

test('a call is changed in the editor, shown with the change, and approved with it', async () => {
  const waiting = call('echo one');
  await using one = await deploy([frameOf(waiting)]);
  const terminal = one.at(['chat', 'go'], { variables: { EDITOR: 'sed -i s/one/two/' } });
  await terminal.until(prompt);
  terminal.wait(1);
  terminal.type('e\r');
  await terminal.until('As you changed it:');
  await terminal.until('│ echo two');
  await terminal.until(prompt);
  terminal.wait(1);
  terminal.type('y\r');
  expect(await terminal.code).toBe(0);
  expect(one.decided()).toEqual([
    { approved: true, args: { command: 'echo two' }, turnId: 't1', digest: digestOf(waiting) },
  ]);
});
