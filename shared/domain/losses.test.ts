/** Losses as they are kept: until they were told, of a bounded size. */
import { expect, test } from 'vitest';
import type { SessionId } from './ids.ts';
import { lossesAfter, lossesFor, noticeCharactersMax } from './losses.ts';

const [one, other] = ['one', 'other'] as SessionId[] as [SessionId, SessionId];
const users = [one, other];
const losses = { generation: 2, notice: '[first]' };

test('a start that lost nothing keeps what was kept', () => {
  expect(
    lossesAfter({ users, losses, unaware: [one] }, { generation: 3, notice: undefined }),
  ).toBeUndefined();
});

test('a start adds its losses to those that somebody has not heard of', () => {
  const next = { generation: 3, notice: '[second]' };
  expect(lossesAfter({ users }, next)).toEqual(next);
  expect(lossesAfter({ users, losses }, next)).toEqual(next);
  expect(lossesAfter({ users: [other], losses, unaware: [one] }, next)).toEqual(next);
  expect(lossesAfter({ users, losses, unaware: [one] }, next)).toEqual({
    generation: 3,
    notice: '[first]\n[second]',
  });
});

test('what is kept is bounded', () => {
  const untold = {
    users,
    losses: { generation: 2, notice: 'x'.repeat(noticeCharactersMax) },
    unaware: [one],
  };
  const kept = lossesAfter(untold, { generation: 3, notice: 'y'.repeat(9000) });
  expect(kept?.notice.length).toBeLessThanOrEqual(noticeCharactersMax);
  expect(kept?.notice).toMatch(/^x+\n\.\.\. \(\d+ characters left out\) \.\.\.\ny+$/);
});

test('only a session that has not heard of them is told', () => {
  expect(lossesFor({ losses, unaware: [one] }, one)).toBe(losses);
  expect(lossesFor({ losses, unaware: [one] }, other)).toBeUndefined();
  expect(lossesFor({ losses }, one)).toBeUndefined();
  expect(lossesFor({}, one)).toBeUndefined();
});
