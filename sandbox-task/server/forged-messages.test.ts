/** W9: what a runner that user code has taken over can say in a checkpoint, and what becomes of it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { type ArchiveHeader, encodeArchiveFrame } from '#shared/contracts/archive.ts';
import { parseRunnerMessage } from './runner-message.ts';
import type { Answer } from './runner-process.ts';
import { sendCheckpoint } from './transfers.ts';
import type { Ask, UserSide } from './user-side.ts';

const request = { id: '14b0e92d-2022-422b-8c1f-b9a2f919b14c', base: '', volume: 'workspace' as const };

/** The runner says these pieces, one after another, and nothing after the last. */
const forge = (pieces: readonly Buffer[]): UserSide => {
  const left = [...pieces];
  const ask: Ask = async ({ type }): Promise<Answer> => {
    if (type !== 'checkpoint-read') return { message: { type: 'done', id: 1 }, payload: Buffer.alloc(0) };
    const payload = left.shift() ?? Buffer.alloc(0);
    return { message: { type: 'piece', id: 1, isLast: left.length === 0 }, payload };
  };
  const pinned = async (): Promise<Ask> => ask;
  return {
    ready: Promise.resolve(),
    ask,
    pin: pinned,
    execute: () => Promise.reject(new Error('not asked')),
    startProcess: () => Promise.reject(new Error('not asked')),
    askStdio: () => Promise.reject(new Error('not asked')),
    endContext: () => Promise.reject(new Error('not asked')),
    configure: () => Promise.reject(new Error('not asked')),
    stop: async () => undefined,
  };
};

/** The whole answer at the client, or that it broke off. */
const receive = async (pieces: readonly Buffer[]): Promise<Buffer | 'broken off'> => {
  const server = createServer((_, response) => {
    sendCheckpoint({ userSide: forge(pieces), logRing: { last: () => 0 } }, request, response).catch(() =>
      response.destroy(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    return Buffer.from(await answer.arrayBuffer());
  } catch {
    return 'broken off';
  } finally {
    server.close();
  }
};

const frames = (...headers: readonly ArchiveHeader[]): Buffer =>
  Buffer.concat(headers.map((header) => encodeArchiveFrame(header)));
const begin: ArchiveHeader = { type: 'begin', isFull: true };
const end: ArchiveHeader = { type: 'end' };
const folder = (path: string): ArchiveHeader => ({ type: 'directory', path, mode: 0o755 });
const fileOf = (mtimeMs: number): Buffer =>
  frames(
    begin,
    { type: 'file', path: 'a', mode: 0o644, mtimeMs, size: 0 },
    { type: 'file-end', size: 0, isWhole: true },
    end,
  );

test('valid pieces pass unchanged', async () => {
  const pieces = [frames(begin, folder('a')), frames(folder('a/b'), end)];
  expect(await receive(pieces)).toEqual(Buffer.concat(pieces));
  const late = fileOf(Date.parse('9999-12-31T23:59:59.999Z'));
  expect(await receive([late])).toEqual(late);
});

test.each<[string, Buffer[]]>([
  ['a path that leaves the workspace', [frames(begin, folder('../a'), end)]],
  ['an absolute path', [frames(begin, { type: 'symlink', path: '/etc/x', target: 'y' }, end)]],
  ['what is gone from a workspace', [frames(begin, { type: 'removed', path: 'a' }, end)]],
  ['no end', [frames(begin, folder('a'))]],
  ['something after the end', [frames(begin, end), frames(folder('a'))]],
  ['a frame cut by a piece', [frames(begin, end).subarray(0, -1)]],
  ['bytes that are no archive', [Buffer.from('GET / HTTP/1.1\r\n\r\n')]],
  ['a time that no date has', [fileOf(1e300)]],
  ['a header of another shape', [frames(begin, { type: 'hardlink' } as never, end)]],
])('%s breaks the answer off', async (_, pieces) => {
  expect(await receive(pieces)).toBe('broken off');
});

test.each([
  { type: 'piece', id: 1 },
  { type: 'received', id: 1, bytes: -1 },
  { type: 'written', id: 1, isNew: 'yes', size: 1 },
  { type: 'restored', id: 1, files: 0.5 },
  { type: 'refused', id: 1, failure: 'internal_error', message: '' },
  { type: 'done' },
])('an invalid message is refused: %o', (message) => {
  expect(() => parseRunnerMessage(message)).toThrow();
});

const log = (server: string) => parseRunnerMessage({ type: 'stdio-log', server });

test('W9: the name of a log line is a possible name of an MCP server', () => {
  expect(log('git-hub_2')).toEqual({ type: 'stdio-log', server: 'git-hub_2' });
  const forged = ['', 'x\n', 'x\n\u001b[31mroot', 'x]', 'x y', '\u202ex', 'x'.repeat(65), 'naïve'];
  for (const name of forged) expect(() => log(name)).toThrow();
});
