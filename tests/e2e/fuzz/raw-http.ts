/**
 * One HTTP request as bytes on a connection of its own, and what came back: clients that refuse to send what
 * is malformed are of no use here. An answer that does not come in time is one, too.
 */
import { connect } from 'node:net';

export type Header = readonly [name: string, value: string];

/** `short`: less is sent than announced, and the sending side closed. `none`: no body at all. */
export type Framing = 'length' | 'chunked' | 'short' | 'expect' | 'both' | 'none';

/** Everything one character a byte. */
export type RawRequest = {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly Header[];
  readonly body: string;
  readonly framing: Framing;
};

export type RawAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: ReadonlyMap<string, string>;
      readonly text: string;
    }
  | { readonly kind: 'cut' }
  | { readonly kind: 'silent' };

/** The gateway gives a function up after 29 s and says so: that is heard before this, on a busy machine as well. */
export const answerMsMax = 120_000;
const shortBy = 10;

const framed: Readonly<Record<Framing, (body: string) => { headers: readonly Header[]; body: string }>> = {
  none: () => ({ headers: [], body: '' }),
  length: (body) => ({ headers: [['Content-Length', String(body.length)]], body }),
  short: (body) => ({ headers: [['Content-Length', String(body.length + shortBy)]], body }),
  expect: (body) => ({
    headers: [
      ['Content-Length', String(body.length)],
      ['Expect', '100-continue'],
    ],
    body,
  }),
  chunked: (body) => ({ headers: [['Transfer-Encoding', 'chunked']], body: inChunks(body) }),
  both: (body) => ({
    headers: [
      ['Content-Length', String(body.length)],
      ['Transfer-Encoding', 'chunked'],
    ],
    body: inChunks(body),
  }),
};

const chunkBytes = 4096;

const inChunks = (body: string): string => {
  const chunks: string[] = [];
  for (let at = 0; at < body.length; at += chunkBytes) {
    const chunk = body.slice(at, at + chunkBytes);
    chunks.push(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  }
  return `${chunks.join('')}0\r\n\r\n`;
};

export const bytesOfRequest = ({ method, target, headers, body, framing }: RawRequest): Buffer => {
  const sent = framed[framing](body);
  const lines = [...headers, ...sent.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}\r\n${sent.body}`, 'latin1');
};

export const exchange = (port: number, request: RawRequest): Promise<RawAnswer> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    const done = (answer: RawAnswer): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => done({ kind: 'silent' }), answerMsMax);
    const end = (): void => done(readAnswer(Buffer.concat(chunks).toString('latin1'), request.method));
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      // An upgraded connection stays.
      if (chunks.length === 1 && chunk.subarray(9, 12).toString() === '101') end();
    });
    socket.on('close', end);
    socket.on('error', () => undefined);
    socket.write(bytesOfRequest(request));
    if (request.framing === 'short') socket.end();
  });

const readAnswer = (bytes: string, method: string): RawAnswer => {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return { kind: 'cut' };
  const [statusLine = '', ...lines] = bytes.slice(0, headEnd).split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  const rest = bytes.slice(headEnd + 4);
  if (status === 100) return readAnswer(rest, method);
  const headers = new Map(
    lines.map((line) => [nameIn(line).toLowerCase(), line.slice(nameIn(line).length + 1).trim()]),
  );
  if (method === 'HEAD') return { kind: 'answered', status, headers, text: '' };
  const body = headers.get('transfer-encoding') === 'chunked' ? outOfChunks(rest) : rest;
  const isWhole = body !== undefined && body.length >= Number(headers.get('content-length') ?? 0);
  if (!isWhole) return { kind: 'cut' };
  return { kind: 'answered', status, headers, text: Buffer.from(body, 'latin1').toString() };
};

const nameIn = (line: string): string => line.slice(0, Math.max(0, line.indexOf(':')));

/** Undefined when the last chunk is missing. */
const outOfChunks = (bytes: string): string | undefined => {
  const parts: string[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = lineEnd < 0 ? Number.NaN : Number.parseInt(bytes.slice(at, lineEnd), 16);
    if (Number.isNaN(size)) return undefined;
    if (size === 0) return parts.join('');
    parts.push(bytes.slice(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
};
