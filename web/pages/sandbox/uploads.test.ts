import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { uploadBytesMax } from './upload-limit.ts';
import { useUploads } from './uploads.ts';

type Put = {
  readonly path: string;
  readonly signal: AbortSignal;
  readonly answer: (status: number) => void;
};
let puts: Put[];

/** A server that holds each upload back until the test answers it. */
beforeEach(() => {
  puts = [];
  vi.stubGlobal('location', { origin: 'http://x.example' });
  vi.stubGlobal('fetch', (url: string, { signal }: RequestInit & { readonly signal: AbortSignal }) => {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    signal.addEventListener('abort', () => reject(signal.reason));
    const error = { code: 'disk_full', message: 'no space is left', suggestions: ['Delete files.'] };
    const answer = (status: number): void =>
      resolve(Response.json(status === 200 ? {} : { error }, { status }));
    puts.push({ path: url.split('/files/')[1] ?? '', signal, answer });
    return promise;
  });
});
afterEach(() => void vi.unstubAllGlobals());

const file = (path: string) => ({ path, file: new File(['a'], path) });
const statesOf = ({ rows }: ReturnType<typeof useUploads>) => rows.value.map(({ state }) => state);
const sent = () => expect.poll(() => puts.map(({ path }) => path));

test('an upload is cancelled, the next one begins, and the first is tried again', async () => {
  const uploads = useUploads('s1');
  uploads.add([file('a.txt'), file('b.txt')]);
  await sent().toEqual(['a.txt']);
  uploads.cancel('a.txt');
  expect(puts[0]?.signal.aborted).toBe(true);
  expect([statesOf(uploads), uploads.open.value]).toEqual([['cancelled', 'waiting'], 1]);
  await sent().toEqual(['a.txt', 'b.txt']);
  uploads.again('a.txt');
  expect(statesOf(uploads)).toEqual(['waiting', 'sending']);
  puts[1]?.answer(200);
  await sent().toEqual(['a.txt', 'b.txt', 'a.txt']);
  puts[2]?.answer(200);
  await expect.poll(() => statesOf(uploads)).toEqual(['done', 'done']);
});

test('one that waits is cancelled before anything of it is sent, and all are', async () => {
  const uploads = useUploads('s1');
  uploads.add([file('a.txt'), file('b.txt'), file('c.txt')]);
  uploads.cancel('b.txt');
  await sent().toEqual(['a.txt']);
  puts[0]?.answer(200);
  await sent().toEqual(['a.txt', 'c.txt']);
  uploads.cancelAll();
  expect(statesOf(uploads)).toEqual(['done', 'cancelled', 'cancelled']);
  uploads.clear();
  expect(uploads.rows.value).toEqual([]);
});

test('the same path again ends its upload that runs', async () => {
  const uploads = useUploads('s1');
  uploads.add([file('a.txt')]);
  await sent().toEqual(['a.txt']);
  uploads.add([file('a.txt')]);
  expect([puts[0]?.signal.aborted, statesOf(uploads)]).toEqual([true, ['waiting']]);
  await sent().toEqual(['a.txt', 'a.txt']);
  puts[1]?.answer(200);
  await expect.poll(() => statesOf(uploads)).toEqual(['done']);
});

test('a failed one says what to do, does not stop the others, and is tried again; one above the limit is not sent', async () => {
  const uploads = useUploads('s1');
  const large = new File([], 'large.bin');
  Object.defineProperty(large, 'size', { value: uploadBytesMax + 1 });
  uploads.add([file('a.txt'), { path: 'large.bin', file: large }, file('b.txt')]);
  await sent().toEqual(['a.txt']);
  puts[0]?.answer(400);
  await sent().toEqual(['a.txt', 'b.txt']);
  expect(uploads.rows.value).toMatchObject([
    { state: 'failed', problem: 'no space is left. Delete files.' },
    { state: 'refused', problem: 'The limit is 2.0 GB.' },
    { state: 'sending' },
  ]);
  uploads.again('a.txt');
  puts[1]?.answer(200);
  await sent().toEqual(['a.txt', 'b.txt', 'a.txt']);
  expect(uploads.rows.value).toMatchObject([{ state: 'sending', problem: '' }, {}, { state: 'done' }]);
});

test('one that runs or is done is not begun again', async () => {
  const uploads = useUploads('s1');
  uploads.add([file('a.txt')]);
  await sent().toEqual(['a.txt']);
  uploads.again('a.txt');
  expect(statesOf(uploads)).toEqual(['sending']);
  puts[0]?.answer(200);
  await expect.poll(() => statesOf(uploads)).toEqual(['done']);
  uploads.again('a.txt');
  expect(statesOf(uploads)).toEqual(['done']);
});
