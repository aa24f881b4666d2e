import { expect, test } from 'vitest';
import { createMarkedStream } from './marked-stream.ts';

const marks = { begin: '<begin>', end: '<end>' };

const outputOf = async (chunks: readonly string[]): Promise<string> => {
  const stream = createMarkedStream();
  let taken = '';
  const ended = stream.open(marks, (chunk) => {
    taken += chunk.toString();
  });
  for (const chunk of chunks) stream.push(Buffer.from(chunk));
  await ended;
  return taken;
};

test.each([
  [['late<begin>a<end>later']],
  [['late', '<begin>', 'a', '<end>', 'later']],
  [[...'late<beg<begin>a<end>later']],
  [['<begin>a<en', 'd>']],
])('only text between the marks is output: %j', async (chunks) => {
  expect(await outputOf(chunks)).toBe('a');
});

test('text that only begins like a mark is output', async () => {
  expect(await outputOf(['<begin>a<e', 'nough><en', '<end>'])).toBe('a<enough><en');
});

test('output is forwarded as it arrives', () => {
  const stream = createMarkedStream();
  const taken: string[] = [];
  void stream.open(marks, (chunk) => taken.push(chunk.toString()));
  stream.push(Buffer.from('<begin>one<'));
  expect(taken).toEqual(['one']);
  stream.abandon();
  expect(taken).toEqual(['one', '<']);
});

test('text between two calls belongs to no call', async () => {
  const stream = createMarkedStream();
  const first = stream.open(marks, () => undefined);
  stream.push(Buffer.from('<begin>a<end>between'));
  await first;
  let taken = '';
  const second = stream.open({ begin: '<2>', end: '</2>' }, (chunk) => {
    taken += chunk.toString();
  });
  stream.push(Buffer.from('still between<2>b</2>'));
  await second;
  expect(taken).toBe('b');
});
