import { afterEach, expect, test, vi } from 'vitest';
import { attachmentsOf } from './session-attachments.ts';

afterEach(() => void vi.unstubAllGlobals());

const namesIn = (sessionId: string): readonly string[] =>
  attachmentsOf(sessionId).rows.value.map(({ file }) => file.name);

test('files of a session are there when it is shown again, up to ten sessions', () => {
  vi.stubGlobal('location', { origin: 'http://x.example' });
  vi.stubGlobal('fetch', () => new Promise(() => undefined));
  attachmentsOf('s0').add([new File(['a'], 'a.txt')]);
  expect(namesIn('s1')).toEqual([]);
  expect(namesIn('s0')).toEqual(['a.txt']);
  for (let other = 1; other < 10; other += 1) attachmentsOf(`s${other}`);
  expect(namesIn('s0')).toEqual(['a.txt']);
  for (let other = 1; other <= 10; other += 1) attachmentsOf(`s${other}`);
  expect(namesIn('s0')).toEqual([]);
});
