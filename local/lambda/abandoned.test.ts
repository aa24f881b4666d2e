/** A disconnected caller: its function still ends in order, and serves the next call. */
import { existsSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { makeKeys } from '../endpoint/account.ts';
import type { Outcome } from './function.ts';
import { openFunctionHost, type RunningFunctionHost } from './function-host.ts';

let host: RunningFunctionHost;
afterEach(() => host.stop());

const open = async () => {
  host = openFunctionHost({ mode: { kind: 'shared' }, log: () => undefined, keys: makeKeys() });
  host.deploy([
    {
      name: 'late',
      entry: join(import.meta.dirname, 'fixtures', 'middy.ts'),
      environment: {},
      timeoutMs: 20_000,
      memoryMb: 128,
    },
  ]);
  return join(await mkdtemp(join(tmpdir(), 'sallyport-late-')), 'go');
};

type Leaving = { readonly ended: Promise<Outcome>; readonly leave: () => void };

const ask = (event: object): Leaving => {
  const leaving = new AbortController();
  const sink = { began: () => undefined, chunk: () => undefined, abandoned: leaving.signal };
  return { ended: host.invokeStreamed('late', JSON.stringify(event), sink), leave: () => leaving.abort() };
};

test.each([
  ['a short text', { characters: 10 }],
  ['no text', { characters: 0 }],
  ['a long text', { characters: 1_000_000 }],
  ['a stream', { characters: 1_000_000, kind: 'stream' }],
  ['a stream that says nothing', { characters: 0, kind: 'quiet' }],
])('a function that answers with %s to a closed connection ends', async (_what, answer) => {
  const file = await open();
  const { ended, leave } = ask({ file, ...answer });
  await vi.waitFor(() => expect(existsSync(`${file}.begun`)).toBe(true), { timeout: 50_000 });
  leave();
  await writeFile(file, '');
  expect(JSON.stringify(await ended)).not.toContain('timed out');
  expect(await ask({ file, characters: 1 }).ended).toEqual({ kind: 'finished' });
});

test('an answer without a reader ends its function in the middle', async () => {
  const file = await open();
  await writeFile(file, '');
  const leaving = new AbortController();
  let taken = 0;
  const chunk = (bytes: Uint8Array): void => {
    taken += bytes.length;
    if (taken > 300_000) leaving.abort();
  };
  const sink = { began: () => undefined, chunk, abandoned: leaving.signal };
  const event = JSON.stringify({ file, characters: 50_000_000 });
  const ended = await host.invokeStreamed('late', event, sink);
  expect(ended).toMatchObject({
    kind: 'failed',
    error: { errorMessage: 'the reader of the answer has disconnected' },
  });
  expect(taken).toBeLessThan(50_000_000);
});
