/** The memory of uploads: one start per last part, and answers to its repeats until another upload begins. */
import { expect, test } from 'vitest';
import { createUploadMemory, type UploadAnswer } from './upload-memory.ts';

const open = () => {
  const memory = createUploadMemory();
  const begun: PromiseWithResolvers<UploadAnswer>[] = [];
  const take = (start: number, content: string, name: { path?: string; upload?: string } = {}) =>
    memory.take({ kind: 'archive', path: 'a', ...name, start, total: 4, body: Buffer.from(content) }, () => {
      const work = Promise.withResolvers<UploadAnswer>();
      begun.push(work);
      return work.promise;
    });
  return { take, begun };
};
const answer = { status: 201, body: {} };

test('a last part that comes again is not begun again, neither while it is served nor later', async () => {
  const { take, begun } = open();
  const answers = [take(2, 'cd'), take(2, 'cd')];
  begun[0]?.resolve(answer);
  expect(await Promise.all([...answers, take(2, 'cd')])).toEqual([answer, answer, answer]);
  expect(begun).toHaveLength(1);
});

test('other bytes, another path, and the part behind the beginning of another upload are begun', async () => {
  const { take, begun } = open();
  const first = take(2, 'cd');
  begun[0]?.resolve(answer);
  await first;
  for (const next of [
    () => take(2, 'xx'),
    () => take(2, 'cd', { path: 'b' }),
    () => take(2, 'cd', { upload: 'other' }),
    () => take(0, 'ab'),
    () => take(2, 'xx'),
  ]) {
    const started = begun.length;
    void next();
    expect(begun.length).toBe(started + 1);
  }
});

test('an upload in one part is begun again once it is over, and so is one that failed', async () => {
  const { take, begun } = open();
  const whole = [take(0, 'abcd'), take(0, 'abcd')];
  begun[0]?.resolve(answer);
  await Promise.all(whole);
  const again = take(0, 'abcd');
  expect(begun).toHaveLength(2);
  begun[1]?.reject(new Error('refused'));
  await expect(again).rejects.toThrow('refused');
  void take(0, 'abcd');
  expect(begun).toHaveLength(3);
});

test('an upload with an id keeps its answer while others of its path begin and end', async () => {
  const { take, begun } = open();
  const named = { upload: 'one' };
  const first = take(2, 'cd', named);
  begun[0]?.resolve(answer);
  await first;
  for (const other of [{}, { upload: 'two' }]) {
    void take(0, 'ab', other);
    void take(2, 'cd', other);
  }
  expect(begun).toHaveLength(5);
  expect(await take(2, 'cd', named)).toEqual(answer);
  expect(begun).toHaveLength(5);
  // Begun anew under its own id.
  void take(0, 'ab', named);
  void take(2, 'cd', named);
  expect(begun).toHaveLength(7);
});
