import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { rememberedFiles } from '../../access/remembered.ts';
import { attachmentsOf } from './session-attachments.ts';

beforeEach(() => {
  const stored = new Map<string, string>();
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
    removeItem: (key: string) => stored.delete(key),
  });
  vi.stubGlobal('location', { origin: 'http://x.example' });
  vi.stubGlobal('fetch', () => new Promise(() => undefined));
});
afterEach(() => void vi.unstubAllGlobals());

const namesIn = (sessionId: string): readonly string[] =>
  attachmentsOf(sessionId).rows.value.map(({ file }) => file.name);

test('files of a session are there when it is shown again, up to ten sessions', () => {
  attachmentsOf('s0').add([new File(['a'], 'a.txt')]);
  expect(namesIn('s1')).toEqual([]);
  expect(namesIn('s0')).toEqual(['a.txt']);
  for (let other = 1; other < 10; other += 1) attachmentsOf(`s${other}`);
  expect(namesIn('s0')).toEqual(['a.txt']);
  for (let other = 1; other <= 10; other += 1) attachmentsOf(`s${other}`);
  expect(namesIn('s0')).toEqual([]);
});

test('files that went with a reload, or with other sessions, are named until others are chosen or the message is sent', () => {
  attachmentsOf('t0').add([new File(['a'], 'a.txt'), new File(['b'], 'b.png')]);
  expect(rememberedFiles('t0')).toEqual(['a.txt', 'b.png']);
  for (let other = 1; other <= 10; other += 1) attachmentsOf(`t${other}`);
  const again = attachmentsOf('t0');
  expect([namesIn('t0'), again.lost.value]).toEqual([[], ['a.txt', 'b.png']]);
  again.add([new File(['c'], 'c.txt')]);
  expect([again.lost.value, rememberedFiles('t0')]).toEqual([[], ['c.txt']]);
  again.lose(false);
  expect([again.lost.value, rememberedFiles('t0')]).toEqual([[], []]);
});
