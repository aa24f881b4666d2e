/** A terminal of the library, against a server of sockets that break and frames that repeat. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiClient, type SocketLike } from './api-client.ts';
import { openTerminal } from './terminal.ts';

type Sent = {
  readonly action: string;
  readonly text?: string;
  readonly order: number;
  readonly offset: number;
};
type FakeServerSocket = {
  readonly sent: Sent[];
  readonly tell: (type: string, data: object) => void;
  readonly drop: () => void;
};

const open = () => {
  const sockets: FakeServerSocket[] = [];
  class FakeSocket implements SocketLike {
    readonly readyState = 1;
    readonly #listeners: Record<string, (event: { readonly data: string }) => void> = {};
    readonly #sent: Sent[] = [];
    constructor() {
      const tell = (event: string, frame: object) =>
        this.#listeners[event]?.({ data: JSON.stringify(frame) });
      sockets.push({
        sent: this.#sent,
        tell: (type, data) => tell('message', { sessionId: 's', seq: null, at: '', type, data }),
        drop: () => tell('close', {}),
      });
    }
    addEventListener(type: string, listener: (event: { readonly data: string }) => void): void {
      this.#listeners[type] = listener;
    }
    send = (text: string): void => void this.#sent.push(JSON.parse(text));
    close = (): void => undefined;
  }
  const client = new ApiClient({
    url: 'http://x.example',
    WebSocket: FakeSocket,
    triesMax: 1,
    fetch: async () => Response.json({ ticket: 't' }),
  });
  const told: unknown[] = [];
  const terminal = openTerminal(
    client,
    { sessionId: 's', processId: 'p' },
    {
      size: { cols: 80, rows: 24 },
      onOutput: (text) => void told.push(text),
      onGap: (from, to) => void told.push([from, to]),
      onExit: (exit) => void told.push(exit),
      onState: (state) => void (state.kind === 'ended' && told.push(state.error.code)),
      onInputLost: ({ code }) => void told.push(`lost: ${code}`),
    },
  );
  return { terminal, sockets, told };
};

const connected = async (sockets: readonly FakeServerSocket[]): Promise<FakeServerSocket> => {
  await vi.advanceTimersByTimeAsync(1500);
  const socket = sockets.at(-1) as FakeServerSocket;
  socket.tell('system:ready', { lastSeq: 0 });
  return socket;
};
const output = (offset: number, text: string) => ({
  ...{ processId: 'p', stream: 'pty', offset, bytes: new TextEncoder().encode(text).length, text },
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('it attaches with its size, and numbers what it sends', async () => {
  const { terminal, sockets, told } = open();
  const socket = await connected(sockets);
  expect(terminal.type('l')).toBe(true);
  terminal.type('s');
  terminal.type('\r');
  terminal.resize({ cols: 80, rows: 24 });
  await vi.advanceTimersByTimeAsync(1000);
  terminal.resize({ cols: 90, rows: 30 });
  expect(socket.sent.map(({ action, text, order }) => [action, text, order])).toEqual([
    ['process:resize', undefined, 0],
    ['process:input', 'l', 1],
    ['process:input', 's\r', 2],
    ['process:resize', undefined, 3],
  ]);
  socket.tell('process:output', { ...output(0, 'x'), processId: 'another' });
  socket.tell('process:exit', { processId: 'p', exitCode: 143, signal: 'SIGTERM' });
  expect(told).toEqual([{ exitCode: 143, signal: 'SIGTERM' }]);
  expect(terminal.type('late')).toBe(false);
});

test('after a lost connection it goes on at the next byte: nothing is repeated, a gap is told', async () => {
  const { sockets, told } = open();
  const first = await connected(sockets);
  first.tell('process:output', output(0, 'aé'));
  first.drop();
  const second = await connected(sockets);
  expect(second.sent).toMatchObject([{ action: 'process:resize', order: 0, offset: 3 }]);
  second.tell('process:output', output(0, 'aéb'));
  second.tell('process:output', output(9, 'c'));
  expect(told).toEqual(['aé', 'b', [4, 9], 'c']);
});

test('a long text is sent in parts, no faster than a connection may, and without splitting a character', async () => {
  const { terminal, sockets } = open();
  const socket = await connected(sockets);
  const text = 'x'.repeat(3999) + '\u{1f600}'.repeat(30_000);
  terminal.type(text);
  await vi.advanceTimersByTimeAsync(1000);
  const typed = () => socket.sent.flatMap((frame) => frame.text ?? []);
  expect(new TextEncoder().encode(typed().join('')).length).toBeLessThan(64 * 1024);
  await vi.advanceTimersByTimeAsync(4000);
  expect(typed().join('')).toBe(text);
  for (const part of typed()) expect(part.isWellFormed()).toBe(true);
});

test('typed text that was on its way is told, and none is taken without a connection', async () => {
  const { terminal, sockets, told } = open();
  expect(terminal.type('early')).toBe(false);
  const socket = await connected(sockets);
  terminal.type('x'.repeat(9000));
  socket.drop();
  expect(told).toEqual(['lost: connection_lost']);
  expect(terminal.type('x')).toBe(false);
});

test('a refusal that names no frame may be of typed text: it is told, and the numbers begin anew', async () => {
  const { terminal, sockets, told } = open();
  const first = await connected(sockets);
  terminal.type('x');
  first.tell('error', { error: { code: 'internal_error', message: '' } });
  const second = await connected(sockets);
  second.tell('error', { error: { code: 'internal_error', message: '' } });
  const third = await connected(sockets);
  expect(third.sent).toMatchObject([{ action: 'process:resize', order: 0 }]);
  expect(told).toEqual(['lost: internal_error']);
});

test('a refusal that may pass begins the numbers anew, and one that lasts ends the terminal', async () => {
  const { terminal, sockets, told } = open();
  const first = await connected(sockets);
  terminal.type('x');
  first.tell('error', { processId: 'p', order: 1, error: { code: 'rate_limited', message: '' } });
  const second = await connected(sockets);
  expect(second.sent).toMatchObject([{ action: 'process:resize', order: 0 }]);
  second.tell('error', { processId: 'p', order: 0, error: { code: 'forbidden', message: '' } });
  expect(told).toEqual(['lost: rate_limited', 'forbidden']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sockets).toHaveLength(2);
});

test('refusals in a row end the terminal, and those with a quiet time between them do not', async () => {
  const { sockets, told } = open();
  const refuseSome = async (count: number, pauseMs: number): Promise<void> => {
    for (let refused = 0; refused < count; refused += 1) {
      const socket = await connected(sockets);
      await vi.advanceTimersByTimeAsync(pauseMs);
      socket.tell('error', { processId: 'p', order: 0, error: { code: 'rate_limited', message: '' } });
    }
  };
  await refuseSome(9, 120_000);
  expect(told).toEqual([]);
  // The last one of those is the first one in this row.
  await refuseSome(5, 0);
  expect(told).toEqual(['rate_limited']);
});
