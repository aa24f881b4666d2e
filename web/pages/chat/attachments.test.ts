import { afterEach, expect, test, vi } from 'vitest';
import { hasRefused, useAttachments } from './attachments.ts';

afterEach(() => void vi.unstubAllGlobals());

/** A server that refuses an upload, and leaves the next one without an answer until it is aborted. */
const stubServer = (): void => {
  let uploads = 0;
  vi.stubGlobal('location', { origin: 'http://x.example' });
  vi.stubGlobal('fetch', (_url: string, { signal }: RequestInit) => {
    uploads += 1;
    if (uploads === 1) return Promise.resolve(Response.json({}, { status: 500 }));
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  });
};

test('files that are cleared while they are sent belong to no message: another session is open by then', async () => {
  stubServer();
  const { rows, add, sendAll, clear } = useAttachments(() => 's1');
  add([new File(['a'], 'a.txt')]);
  await vi.waitFor(() => expect(rows.value.map(({ state }) => state)).toEqual(['failed']), {
    timeout: 50_000,
  });
  const sending = sendAll();
  clear();
  expect(await sending).toBe(undefined);
  expect(await sendAll()).toEqual([]);
});

test('a file that is removed while a message waits calls the message off at once', async () => {
  stubServer();
  const { rows, add, sendAll, remove } = useAttachments(() => 's1');
  add([new File(['a'], 'a.txt'), new File(['b'], 'b.txt')]);
  await vi.waitFor(() => expect(rows.value.map(({ state }) => state)).toEqual(['failed', 'sending']), {
    timeout: 50_000,
  });
  const sending = sendAll();
  const [first] = rows.value;
  if (first) remove(first);
  expect(await sending).toBe(undefined);
  expect(rows.value.map(({ file, state }) => [file.name, state])).toEqual([['b.txt', 'sending']]);
});

test('a message does not go without a file that was refused', async () => {
  vi.stubGlobal('location', { origin: 'http://x.example' });
  vi.stubGlobal('fetch', async () => Response.json({ path: 'a', size: 1 }));
  const { rows, add, sendAll, remove } = useAttachments(() => 's1');
  add([new File(['a'], 'a.txt'), new File([new Uint8Array(3_600_000)], 'large.png', { type: 'image/png' })]);
  expect([await sendAll(), hasRefused(rows.value)]).toEqual([undefined, true]);
  const [, refused] = rows.value;
  if (refused) remove(refused);
  expect([await sendAll(), hasRefused(rows.value)]).toEqual([[expect.stringMatching(/-a\.txt$/)], false]);
});

test('a message waits for the uploads that run, and has their files', async () => {
  const answers: (() => void)[] = [];
  vi.stubGlobal('location', { origin: 'http://x.example' });
  vi.stubGlobal(
    'fetch',
    () => new Promise((resolve) => answers.push(() => resolve(Response.json({ path: 'a', size: 1 })))),
  );
  const { rows, add, sendAll } = useAttachments(() => 's1');
  add([new File(['a'], 'a.txt')]);
  await vi.waitFor(() => expect(answers).toHaveLength(1), { timeout: 50_000 });
  let isSettled = false;
  const sending = sendAll().finally(() => {
    isSettled = true;
  });
  await Promise.resolve();
  add([new File(['b'], 'b.txt')]);
  await vi.waitFor(() => expect(answers).toHaveLength(2), { timeout: 50_000 });
  answers[0]?.();
  await vi.waitFor(() => expect(rows.value.map(({ state }) => state)).toEqual(['done', 'sending']));
  expect(isSettled).toBe(false);
  answers[1]?.();
  expect(await sending).toEqual([expect.stringMatching(/-a\.txt$/), expect.stringMatching(/-b\.txt$/)]);
});
