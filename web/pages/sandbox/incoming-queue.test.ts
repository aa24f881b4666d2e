import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { effectScope } from 'vue';
import { useIncomingQueue } from './incoming-queue.ts';
import { useUploads } from './uploads.ts';

/** Requests that the server got; it holds each back until the test answers it. */
let asked: string[];
let answers: ((body: object) => void)[];
beforeEach(() => {
  [asked, answers] = [[], []];
  vi.stubGlobal('location', { origin: 'http://x.example' });
  vi.stubGlobal('fetch', (url: string, { method = 'GET', signal }: RequestInit) => {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    signal?.addEventListener('abort', () => reject(signal.reason));
    asked.push(`${method} ${url.split('/files')[1]}`);
    answers.push((body) => resolve(Response.json(body)));
    return promise;
  });
});
afterEach(() => void vi.unstubAllGlobals());

const taken = (...names: readonly string[]) => ({
  files: names.map((name) => ({ name, type: 'file', size: 1, modifiedAt: '2026-01-01T00:00:00Z' })),
});
const file = (path: string) => ({ path, file: new File(['a'], path) });
const requests = (count: number) => expect.poll(() => asked.length).toBe(count);

const open = () => {
  const questions: { readonly title: string; readonly answer: (isYes: boolean) => void }[] = [];
  const ask = ({ title }: { readonly title: string }) =>
    new Promise<boolean>((answer) => questions.push({ title, answer }));
  const scope = effectScope();
  const uploads = useUploads('s1');
  const queue = scope.run(() => useIncomingQueue({ sessionId: 's1', uploads, ask }));
  if (queue === undefined) throw new Error('the scope is over');
  const paths = () => uploads.rows.value.map(({ path }) => path);
  return {
    questions,
    titles: () => questions.map(({ title }) => title),
    queue,
    uploads,
    paths,
    leave: () => scope.stop(),
  };
};

test('two choices ask one after the other, and count until they are uploads', async () => {
  const { questions, titles, queue, paths } = open();
  queue.take('', [file('a.txt')]);
  queue.take('', [file('b.txt')]);
  expect(queue.open.value).toBe(2);
  await requests(1);
  answers[0]?.(taken('a.txt', 'b.txt'));
  await expect.poll(titles).toEqual(['Replace a.txt?']);
  questions[0]?.answer(true);
  await requests(3);
  expect([queue.open.value, paths()]).toEqual([1, ['a.txt']]);
  answers[asked.findLastIndex((one) => one.startsWith('GET'))]?.(taken('a.txt', 'b.txt'));
  await expect.poll(titles).toEqual(['Replace a.txt?', 'Replace b.txt?']);
  questions[1]?.answer(true);
  await expect.poll(paths).toEqual(['a.txt', 'b.txt']);
  expect(queue.open.value).toBe(0);
});

test.each([[[]], [['a.txt']]])(
  'nothing is uploaded or asked once the page is gone, with %j in the workspace',
  async (names) => {
    const { titles, queue, paths, leave } = open();
    queue.take('', [file('a.txt')]);
    await requests(1);
    leave();
    answers[0]?.(taken(...names));
    await expect.poll(() => queue.open.value).toBe(0);
    expect([titles(), paths(), asked.length]).toEqual([[], [], 1]);
  },
);

test('of two files with one path the last is uploaded, and they are one row', async () => {
  const { queue, uploads } = open();
  const last = { path: 'a.txt', file: new File(['longer'], 'a.txt') };
  queue.take('', [file('a.txt'), last]);
  await requests(1);
  answers[0]?.(taken());
  await expect.poll(() => uploads.rows.value.map((row) => row.file)).toEqual([last.file]);
});

test('entries that cannot be read end their choice alone', async () => {
  const { queue, paths } = open();
  queue.take('', Promise.reject(new DOMException('gone', 'NotFoundError')));
  queue.take('src', [file('a.txt')]);
  await requests(1);
  answers[0]?.(taken());
  await expect.poll(paths).toEqual(['src/a.txt']);
});

test('an upload that is tried again replaces only after a question', async () => {
  const { questions, queue, uploads } = open();
  const states = () => uploads.rows.value.map(({ state }) => state);
  uploads.add([file('a.txt')]);
  uploads.cancelAll();
  await requests(1);
  queue.again('a.txt');
  await requests(2);
  answers[1]?.(taken('a.txt'));
  await expect.poll(() => questions.length).toBe(1);
  expect(states()).toEqual(['cancelled']);
  questions[0]?.answer(true);
  await expect.poll(states).toEqual(['sending']);
});
