/** Lost connections: output, events and files arrive whole, in order and once, however often the connection breaks off. */
import type { ServerResponse } from 'node:http';
import { afterEach, expect, test, vi } from 'vitest';
import { AgentSession } from '#sdk/agent-session.ts';
import type { SallyportError } from '#sdk/errors.ts';
import { Sallyport } from '#sdk/sallyport.ts';
import { outputFrom, type Piece, serveTurn, startWireServer, type WireServer } from './wire-server.ts';

const setRealTimeout = globalThis.setTimeout;
/** The clock of our own pauses is faster; a timer with arguments belongs to Node's client. */
const hurry = () =>
  vi
    .spyOn(globalThis, 'setTimeout')
    .mockImplementation(((act: () => void, ms = 0, ...given: []) =>
      setRealTimeout(act, given.length === 0 ? ms / 50 : ms, ...given)) as typeof setTimeout);
afterEach(() => void vi.restoreAllMocks());

const open = ({ url }: WireServer, options: object = {}) => {
  const sallyport = new Sallyport({ url, token: 't', ...options });
  return { sallyport, ids: { id: 's' } };
};
const sandboxOf = async (server: WireServer) => {
  server.on('POST /api/sessions', (_, response) =>
    server.send(response, 201, { id: 's', kind: 'execution' }),
  );
  return open(server).sallyport.sandboxes.create();
};
const failureOf = (request: Promise<unknown>) =>
  request.then(
    () => undefined,
    (error: unknown) => error as SallyportError,
  );

const pieces: readonly Piece[] = Array.from({ length: 900 }, (_, index) => ({
  stream: index % 3 === 0 ? 'stderr' : 'stdout',
  text: `${index}: ä€😀\n`,
}));
const textOf = (wanted: readonly Piece[], stream?: string) =>
  wanted.map((piece) => (stream === undefined || piece.stream === stream ? piece.text : '')).join('');

const serveOutput = (server: WireServer) =>
  server.on('GET /processes/p/output', ({ route }, response) =>
    server.stream(response, outputFrom(pieces, Number(/offset=(\d+)/.exec(route)?.[1]))),
  );

test('output of which the connection is cut 50 times has no gap and no repeat', async () => {
  hurry();
  await using server = await startWireServer();
  serveOutput(server);
  server.faults.cuts = 50;
  const sandbox = await sandboxOf(server);
  const process = await sandbox.processes.get('p');
  let text = '';
  const offsets: number[] = [];
  for await (const event of process.output()) {
    text += event.text;
    if (event.type === 'output') offsets.push(event.offset);
    expect(event.type).not.toBe('gap');
  }
  expect(server.faults.cuts).toBe(0);
  expect(text).toBe(textOf(pieces));
  expect(offsets).toEqual(offsets.toSorted((one, other) => one - other));
  expect(await process.wait()).toEqual({ exitCode: 3 });
});

test('output goes on behind a gateway that has no answer for a while', async () => {
  hurry();
  await using server = await startWireServer();
  let refusals = 0;
  server.on('GET /processes/p/output', ({ route }, response) => {
    const offset = Number(/offset=(\d+)/.exec(route)?.[1]);
    if (offset > 0 && refusals < 8) {
      refusals += 1;
      response.writeHead(502, { 'content-type': 'text/html' }).end('<html>');
    } else server.stream(response, outputFrom(pieces, offset));
  });
  server.faults.cuts = 1;
  const sandbox = await sandboxOf(server);
  let text = '';
  for await (const event of (await sandbox.processes.get('p')).output()) text += event.text;
  expect([refusals, text]).toEqual([8, textOf(pieces)]);
});

test('a command whose live output is cut goes on from where it was, and runs once', async () => {
  hurry();
  await using server = await startWireServer();
  serveOutput(server);
  server.on('POST /exec', (_, response) => server.stream(response, outputFrom(pieces, 0)));
  server.faults.cuts = 50;
  const sandbox = await sandboxOf(server);
  const live = { stdout: '', stderr: '' };
  const result = await sandbox.exec('make', {
    onStdout: (text) => {
      live.stdout += text;
    },
    onStderr: (text) => {
      live.stderr += text;
    },
  });
  const whole = { stdout: textOf(pieces, 'stdout'), stderr: textOf(pieces, 'stderr') };
  expect(live).toEqual(whole);
  expect(result).toMatchObject({ ...whole, exitCode: 3 });
  expect(server.asked.filter(({ route }) => route === 'POST /exec')).toHaveLength(1);
});

test('a command that takes longer than one answer is followed to its end', async () => {
  await using server = await startWireServer();
  serveOutput(server);
  server.on('POST /exec', (_, response) => server.send(response, 202, { processId: 'p' }));
  const sandbox = await sandboxOf(server);
  expect(await sandbox.exec('make')).toMatchObject({ exitCode: 3, stdout: textOf(pieces, 'stdout') });
});

const lost = { end: { exitCode: null, lost: true }, message: 'the command was lost' };
const outputLost = {
  end: { exitCode: 0, outputLost: true },
  message: 'ended with exit code 0, and output of it was lost',
};

test.each([
  { what: 'that is followed and', isFollowed: true, ...lost },
  { what: 'that takes longer than one answer and', isFollowed: false, ...lost },
  { what: 'whose output', isFollowed: true, ...outputLost },
])(
  'a command $what is lost with its sandbox is none that was killed',
  async ({ isFollowed, end, message }) => {
    hurry();
    await using server = await startWireServer();
    const start = 'event: start\ndata: {"processId":"p"}\n\n';
    server.on('POST /exec', (_request, response) => {
      if (isFollowed) server.stream(response, `${start}${start}`);
      else server.send(response, 202, { processId: 'p' });
    });
    server.on('GET /processes/p/output', (_request, response) =>
      server.stream(response, `${start}event: exit\ndata: ${JSON.stringify(end)}\n\n`),
    );
    server.faults.cuts = isFollowed ? 1 : 0;
    const sandbox = await sandboxOf(server);
    const failed = failureOf(sandbox.exec('make', isFollowed ? { onStdout: () => undefined } : {}));
    expect(await failed).toMatchObject({
      ...{ code: 'tool_outcome_unknown', status: 0, message: expect.stringContaining(message) },
      suggestions: ['Check the workspace before you run it again.'],
    });
    expect(server.asked.map(({ route }) => route)).not.toContain('DELETE /processes/p');
  },
);

test('an aborted command is ended, and its caller gets the reason of the abort', async () => {
  await using server = await startWireServer();
  const abort = new AbortController();
  server.on('POST /exec', (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('event: start\ndata: {"processId":"p"}\n\n');
    response.write('event: output\ndata: {"stream":"stdout","offset":0,"text":"x"}\n\n');
  });
  const view = { processId: 'p', state: 'exited', exitCode: 143 };
  server.on('DELETE /processes/p', (_, response) => server.send(response, 200, view));
  const sandbox = await sandboxOf(server);
  const ended = failureOf(
    sandbox.exec('sleep 60', { signal: abort.signal, onStdout: () => abort.abort(new Error('enough')) }),
  );
  expect(await ended).toMatchObject({ message: 'enough' });
  expect(server.asked.at(-1)?.route).toBe('DELETE /processes/p');
});

test('a command that is aborted before it has a name is ended when it gets one; its caller waits for nothing', async () => {
  await using server = await startWireServer();
  const abort = new AbortController();
  const asked = Promise.withResolvers<ServerResponse>();
  server.on('POST /exec', (_, response) => asked.resolve(response));
  const ended = Promise.withResolvers<void>();
  server.on('DELETE /processes/p', (_, response) => {
    server.send(response, 200, { processId: 'p', state: 'exited', exitCode: 143 });
    ended.resolve();
  });
  const sandbox = await sandboxOf(server);
  const failed = failureOf(sandbox.exec('sleep 60', { signal: abort.signal }));
  const response = await asked.promise;
  abort.abort(new Error('enough'));
  expect(await failed).toMatchObject({ message: 'enough' });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('event: start\ndata: {"processId":"p"}\n\n');
  await ended.promise;
});

const started = 'event: start\ndata: {"processId":"p"}\n\n';
const printed = 'event: output\ndata: {"stream":"stdout","offset":0,"text":"x"}\n\n';
const refusal = (code: string) => ({ error: { code, message: 'no', requestId: 'r' } });

/** The argument of `onEnded` for a command that is aborted at its first output, by a client that repeats nothing. */
const endOfAborted = async (server: WireServer) => {
  const abort = new AbortController();
  const ended = Promise.withResolvers<unknown>();
  server.on('POST /exec', (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(started + printed);
  });
  const sandbox = open(server, { triesMax: 1 }).sallyport.sandboxes;
  server.on('GET ', (_, response) => server.send(response, 200, { id: 's', kind: 'execution' }));
  const failed = failureOf(
    (await sandbox.get('s')).exec('sleep 60', {
      ...{ signal: abort.signal, onEnded: ended.resolve },
      onStdout: () => abort.abort(new Error('enough')),
    }),
  );
  expect(await failed).toMatchObject({ message: 'enough' });
  return ended.promise;
};

test('an aborted command is ended even by a client that repeats nothing, and its caller hears of it', async () => {
  hurry();
  await using server = await startWireServer();
  let refusals = 2;
  server.on('DELETE /processes/p', (_, response) => {
    refusals -= 1;
    if (refusals < 0) return server.send(response, 200, { processId: 'p', state: 'exited', exitCode: 143 });
    response.writeHead(429, { 'retry-after': '0.01' }).end(JSON.stringify(refusal('rate_limited')));
  });
  expect([await endOfAborted(server), refusals]).toEqual([undefined, -1]);
});

test.each([
  ['and is ended', 200],
  ['and cannot be ended', 403],
])('a command whose listener throws is given up %s: its caller gets what was thrown', async (_, status) => {
  await using server = await startWireServer();
  server.on('POST /exec', (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(started + printed);
  });
  server.on('DELETE /processes/p', (_asked, response) =>
    server.send(response, status, status === 200 ? { processId: 'p' } : refusal('forbidden')),
  );
  const onStdout = (): never => {
    throw new Error('full');
  };
  const sandbox = await sandboxOf(server);
  expect(await failureOf(sandbox.exec('yes', { onStdout }))).toMatchObject({ message: 'full' });
  expect(server.asked.at(-1)?.route).toBe('DELETE /processes/p');
});

test('the caller of an aborted command hears why it was not ended', async () => {
  await using server = await startWireServer();
  server.on('DELETE /processes/p', (_, response) => server.send(response, 403, refusal('forbidden')));
  expect(await endOfAborted(server)).toMatchObject({ code: 'forbidden', status: 403 });
});

test.each([
  ['is over when it was refused', false, undefined],
  ['may run when the answer was lost', true, { code: 'unreachable' }],
])('a command that is aborted before it has a name %s', async (_, isLost, failure) => {
  await using server = await startWireServer();
  const abort = new AbortController();
  const ended = Promise.withResolvers<unknown>();
  server.on('POST /exec', (_, response) => {
    abort.abort(new Error('enough'));
    if (isLost) response.destroy();
    else server.send(response, 409, refusal('invalid_session_state'));
  });
  const sandbox = await sandboxOf(server);
  const failed = failureOf(sandbox.exec('ls', { signal: abort.signal, onEnded: ended.resolve }));
  expect(await failed).toMatchObject({ message: 'enough' });
  if (failure === undefined) expect(await ended.promise).toBeUndefined();
  else expect(await ended.promise).toMatchObject(failure);
});

test('a decision ends with the signal of its caller', async () => {
  await using server = await startWireServer();
  const abort = new AbortController();
  const bodies: unknown[] = [];
  server.on('POST /approvals/c', ({ body }) => {
    bodies.push(JSON.parse(String(body)));
    abort.abort(new Error('enough'));
  });
  const session = new AgentSession(open(server).sallyport, 's');
  const call = { callId: 'c', digest: 'd' };
  const { signal } = abort;
  expect(await failureOf(session.approve(call, { signal }))).toMatchObject({ message: 'enough' });
  expect(await failureOf(session.reject(call, 'why', { signal }))).toMatchObject({ message: 'enough' });
  expect(bodies).toEqual([{ approved: true, digest: 'd' }]);
});

test('a command that is aborted while it met no sandbox is not sent again', async () => {
  await using server = await startWireServer();
  const abort = new AbortController();
  server.on('POST /exec', (_, response) => {
    abort.abort(new Error('enough'));
    const error = { code: 'sandbox_starting', message: 'soon', requestId: 'r' };
    response.writeHead(503, { 'retry-after': '0.01' }).end(JSON.stringify({ error }));
  });
  const sandbox = await sandboxOf(server);
  const failed = failureOf(sandbox.exec('sleep 60', { signal: abort.signal }));
  expect(await failed).toMatchObject({ message: 'enough' });
  // A second one would come in a hundredth of a second.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(server.asked.filter(({ route }) => route === 'POST /exec')).toHaveLength(1);
});

test('output that is no longer kept is a gap, and its result says so', async () => {
  await using server = await startWireServer();
  const events = [
    'event: start\ndata: {"processId":"p"}\n\n',
    'event: gap\ndata: {"from":0,"to":10}\n\n',
    'event: output\ndata: {"stream":"stdout","offset":10,"text":"end"}\n\n',
    'event: exit\ndata: {"exitCode":143,"signal":"SIGTERM"}\n\n',
  ].join('');
  server.on('POST /exec', (_, response) => server.stream(response, events));
  const sandbox = await sandboxOf(server);
  expect(await sandbox.exec('yes', { onStdout: () => undefined })).toMatchObject({
    exitCode: 143,
    stdout: '\n[... 10 bytes left out ...]\nend',
    stdoutTruncated: true,
  });
});

test.each([
  ['over a WebSocket', undefined],
  ['without one', null],
])(
  'events of a turn arrive once and in order %s, on a connection that is cut 50 times',
  async (_, WebSocket) => {
    hurry();
    await using server = await startWireServer();
    serveTurn(server, 400);
    server.append({ type: 'system', data: { kind: 'before' } });
    const { sallyport } = open(server, WebSocket === null ? { WebSocket: null } : {});
    server.on('POST /api/sessions', (_, response) => server.send(response, 201, { id: 's', kind: 'agent' }));
    const session = await sallyport.sessions.create();
    server.faults.cuts = WebSocket === null ? 0 : 50;
    server.faults.lostAnswers = WebSocket === null ? 3 : 0;
    const types: string[] = [];
    const numbers: (number | null)[] = [];
    for await (const event of session.send('hello')) {
      types.push(event.type);
      numbers.push(event.seq);
    }
    expect(server.faults).toEqual({ cuts: 0, lostAnswers: 0 });
    expect([types.at(0), types.at(-1)]).toEqual(['message', 'completion']);
    expect(numbers).toEqual(Array.from({ length: 402 }, (_, index) => index + 1));
  },
);

test('events that are read again and again come on after a refusal for the rate of requests', async () => {
  hurry();
  await using server = await startWireServer();
  let messageId = '';
  server.on('POST /messages', ({ body }, response) => {
    ({ messageId } = JSON.parse(String(body)));
    server.send(response, 202, { messageId, lastSeq: -1 });
  });
  const event = { sessionId: 's', at: '' };
  let asked = 0;
  server.on('GET /events', (_, response) => {
    asked += 1;
    if (asked === 1) return server.send(response, 200, { sessionId: 's', lastIndex: -1, events: [] });
    if (asked < 5) return server.send(response, 429, refusal('rate_limited'));
    const events = [
      { ...event, index: 0, type: 'message', data: { messageId } },
      { ...event, index: 1, type: 'completion', data: {} },
    ];
    server.send(response, 200, { sessionId: 's', lastIndex: 1, events });
  });
  const { sallyport } = open(server, { WebSocket: null, triesMax: 1 });
  const types: string[] = [];
  for await (const { type } of new AgentSession(sallyport, 's').send('hello')) types.push(type);
  expect(types).toEqual(['message', 'completion']);
});

test('events of a turn arrive where no WebSocket gets through, and the message is sent once', async () => {
  hurry();
  await using server = await startWireServer();
  serveTurn(server, 3);
  server.refuseSockets();
  server.on('POST /api/sessions', (_, response) => server.send(response, 201, { id: 's', kind: 'agent' }));
  const session = await open(server).sallyport.sessions.create();
  const types: string[] = [];
  for await (const { type } of session.send('hello')) types.push(type);
  expect(types).toEqual(['message', 'system', 'system', 'system', 'completion']);
  expect(server.asked.filter(({ route }) => route === 'POST /messages')).toHaveLength(1);
});

test('parts whose answers are lost are sent again, and the file is whole', async () => {
  hurry();
  await using server = await startWireServer();
  const sandbox = await sandboxOf(server);
  server.faults.lostAnswers = 3;
  const content = new Uint8Array(9 * 1_048_576).map((_, index) => index % 251);
  const steps: number[] = [];
  await sandbox.files.write('d/a b.bin', content, { onProgress: (sent) => void steps.push(sent) });
  expect(steps).toEqual([4 * 1_048_576, 8 * 1_048_576, content.length]);
  expect(server.files.get('PUT /files/d/a%20b.bin')?.equals(content)).toBe(true);
  expect(server.asked.filter(({ route }) => route.startsWith('PUT'))).toHaveLength(6);
});

test('a file whose download breaks off is read again', async () => {
  hurry();
  await using server = await startWireServer();
  const content = 'x'.repeat(5000);
  server.faults.cuts = 2;
  server.on('GET /files/a.txt', (_, response) => server.stream(response, content));
  const sandbox = await sandboxOf(server);
  expect(await sandbox.files.read('a.txt')).toBe(content);
  expect(server.faults.cuts).toBe(0);
});

test('a deletion whose answer was lost is done, and a file that never was there is an error', async () => {
  hurry();
  await using server = await startWireServer();
  const sandbox = await sandboxOf(server);
  server.faults.lostAnswers = 1;
  await sandbox.files.remove('a.txt');
  expect(server.asked.filter(({ route }) => route === 'DELETE /files/a.txt')).toHaveLength(2);
  expect(await failureOf(sandbox.files.remove('a.txt'))).toMatchObject({ status: 404 });
});

test.each(['exec', 'start', 'write', 'cancel'])(
  '%s is not sent twice when its answer was lost',
  async (name) => {
    await using server = await startWireServer();
    const sandbox = await sandboxOf(server);
    server.faults.lostAnswers = 1;
    const acts = {
      exec: () => sandbox.exec('rm -r x'),
      start: () => sandbox.processes.start('rm -r x'),
      write: () => sandbox.processes.get('p').write('y\n'),
      // It ends the turn that runs, so that a second one would end the next.
      cancel: () => new AgentSession(open(server).sallyport, 's').cancel(),
    };
    const before = server.asked.length;
    expect(await failureOf(acts[name as keyof typeof acts]())).toMatchObject({
      code: 'unreachable',
      status: 0,
    });
    expect(server.asked.length - before).toBe(1);
  },
);

test('a cancel says what it found', async () => {
  await using server = await startWireServer();
  server.on('POST /cancel', (_, response) => server.send(response, 202, { cancelled: 'below' }));
  expect(await new AgentSession(open(server).sallyport, 's').cancel()).toBe('below');
});

test('a busy server is asked again after the pause that it names, and not if that is too long', async () => {
  await using server = await startWireServer();
  const sandbox = await sandboxOf(server);
  const busy = {
    error: { code: 'rate_limited', message: 'slow down', suggestions: [], recoveryActions: [] },
  };
  let refusals = 2;
  let seconds = '0.01';
  server.on('POST /exec', (_, response) => {
    refusals -= 1;
    if (refusals < 0)
      return server.send(response, 200, { exitCode: 0, stdout: 'ok', stderr: '', durationMs: 1 });
    response.writeHead(429, { 'retry-after': seconds }).end(JSON.stringify(busy));
  });
  expect(await sandbox.exec('true')).toMatchObject({ stdout: 'ok' });
  [refusals, seconds] = [1, '86400'];
  expect(await failureOf(sandbox.exec('true'))).toMatchObject({ code: 'rate_limited', status: 429 });
});
