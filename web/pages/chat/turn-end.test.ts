import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Frame } from '#sdk/frames.ts';
// Before a page is there, which it would draw on.
import 'vue';

// The modules look at the page when they are loaded.
beforeEach(() => {
  vi.stubGlobal('location', { origin: 'http://x.example', hash: '', pathname: '/', search: '' });
  vi.stubGlobal('document', { addEventListener: () => undefined, visibilityState: 'visible' });
  vi.stubGlobal('addEventListener', () => undefined);
});
afterEach(() => void vi.unstubAllGlobals());

const load = async () => ({
  ...(await import('../../session/view-state.ts')),
  ...(await import('./turn-end.ts')),
});

const frame = (seq: number | null, type: string, data: object) =>
  ({
    type: 'frame-received',
    frame: { type, seq, at: '2026-11-21T00:00:00.000Z', sessionId: 's1', data } as unknown as Frame,
  }) as const;
const ready = (sessionId: string) => frame(null, 'system:ready', { sessionId, status: 'idle', lastSeq: -1 });
const ended = (seq: number, stopReason: string) =>
  frame(seq, 'completion', { turnId: 't', stopReason, text: '', usage: { inputTokens: 1, outputTokens: 1 } });

test('the end of a turn is told once, in its words', async () => {
  const { initialState, reduce, newEndOf, endingOf } = await load();
  const before = reduce(initialState, ready('s1'));
  const done = reduce(before, ended(1, 'end_turn'));
  const failed = reduce(done, ended(2, 'error'));
  const words = [
    newEndOf(before, done),
    newEndOf(done, failed),
    newEndOf(failed, reduce(failed, frame(3, 'system', { kind: 'turn_retried' }))),
    newEndOf(failed, reduce(failed, ended(4, 'out_of_paper'))),
  ].map((end) => end && endingOf(end));
  expect(words).toEqual(['Done', 'Failed', undefined, 'Ended: out_of_paper']);
});

test('an end that was there when the session was opened is not told', async () => {
  const { initialState, reduce, newEndOf } = await load();
  const opened = reduce(reduce(initialState, ready('s1')), ended(1, 'end_turn'));
  expect(newEndOf(initialState, opened)).toBeUndefined();
  const other = reduce(reduce(initialState, ready('s2')), ended(7, 'end_turn'));
  expect(newEndOf(opened, other)).toBeUndefined();
});
