/** The frames of a connection, counted by functions that share a table and nothing else. */
import { expect, test } from 'vitest';
import { afterTake, type FrameCount, frameBucketMs, frameIntervalMs, frameStep } from './frame-rate.ts';
import { frameBurstMax, framesPerSecondMax, ownFrameMs, ownFramesMax } from './limits.ts';

const openFunctions = (functions: number) => {
  const counts: (FrameCount | undefined)[] = Array.from({ length: functions }, () => undefined);
  const table = { fullAt: 0, writes: 0 };
  let turn = 0;
  const take = (frames: number, now: number) => {
    table.writes += 1;
    const before = Math.max(table.fullAt, now);
    const next = before + frames * frameIntervalMs;
    if (next > now + frameBucketMs) return { isTaken: false, fullAt: before };
    table.fullAt = next;
    return { isTaken: true, fullAt: next };
  };
  /** True if the function whose turn it is lets a frame through. */
  const send = (now: number): boolean => {
    const place = turn++ % functions;
    const known = counts[place];
    const step = frameStep(known, now);
    if (step.step !== 'take') {
      counts[place] = step.count;
      return step.step === 'pass';
    }
    const taken = take(step.frames, now);
    counts[place] = afterTake(known, taken, now);
    return taken.isTaken;
  };
  const sendMany = (now: number, frames: number): number =>
    Array.from({ length: frames }, () => send(now)).filter(Boolean).length;
  return { table, send, sendMany };
};

const start = 1_000_000;

test('a burst passes whole, and no more, where one function sees all of it', () => {
  const { sendMany } = openFunctions(1);
  expect(sendMany(start, frameBurstMax)).toBe(frameBurstMax);
  expect(sendMany(start, 1000)).toBe(0);
  expect(sendMany(start + 1000, 1000)).toBe(framesPerSecondMax);
});

test.each([2, 7, 30, 200])('a burst passes whole, and no more, where %i functions see it', (functions) => {
  const { sendMany } = openFunctions(functions);
  expect(sendMany(start, frameBurstMax)).toBe(frameBurstMax);
  expect(sendMany(start, 5000)).toBe(0);
  const seconds = 60;
  let passed = 0;
  for (let at = 1; at <= seconds * 1000; at += 1) passed += sendMany(start + at, 2);
  const expected = seconds * framesPerSecondMax;
  expect(passed).toBe(expected);
});

test('a flood leaves the bucket just empty: later frames wait only for their turn', () => {
  const { sendMany, table } = openFunctions(50);
  sendMany(start, 10_000);
  expect(table.fullAt).toBeLessThanOrEqual(start + frameBucketMs);
  expect(sendMany(start + 2000, 100)).toBeGreaterThanOrEqual(50);
});

test('the rate itself is never refused', () => {
  const { send } = openFunctions(3);
  const answers = Array.from({ length: 5000 }, (_, index) => send(start + index * frameIntervalMs));
  expect(answers.filter((isAllowed) => !isAllowed)).toEqual([]);
});

test('a connection at a person`s pace is written once by each function, and never again', () => {
  const { send, table } = openFunctions(2);
  for (let index = 0; index < 1000; index += 1) expect(send(start + index * 5000)).toBe(true);
  expect(table.writes).toBe(2);
  for (let index = 0; index < 1000; index += 1)
    expect(send(start + 10_000_000 + index * ownFrameMs)).toBe(true);
  expect(table.writes).toBe(2);
});

test('a message and the approvals that follow it at once cost no write, where the function knows the connection', () => {
  const { send, table } = openFunctions(1);
  send(start);
  for (let round = 1; round <= 100; round += 1)
    for (let index = 0; index < ownFramesMax; index += 1)
      expect(send(start + round * ownFramesMax * ownFrameMs + index)).toBe(true);
  expect(table.writes).toBe(1);
});

test.each([2, 30, 200])(
  'in a flood over %i functions that know the connection, each admits a few',
  (functions) => {
    const { sendMany } = openFunctions(functions);
    sendMany(start, functions);
    const quiet = start + 10_000;
    expect(sendMany(quiet, 20_000)).toBeLessThanOrEqual(frameBurstMax + functions * ownFramesMax);
    const seconds = 60;
    let passed = 0;
    for (let at = 1; at <= seconds * 1000; at += 1) passed += sendMany(quiet + at, 10);
    expect(passed).toBeLessThanOrEqual(seconds * framesPerSecondMax);
  },
);

test.each([
  [20, 100],
  [200, 400],
])(
  'in a stream over the limit, each of %i functions admits a few and one a second',
  (functions, perSecond) => {
    const { send, sendMany } = openFunctions(functions);
    sendMany(start, functions);
    const quiet = start + 10_000;
    const seconds = 60;
    let passed = 0;
    for (let index = 0; index < seconds * perSecond; index += 1)
      if (send(quiet + (index * 1000) / perSecond)) passed += 1;
    const own = functions * (ownFramesMax + (seconds * 1000) / ownFrameMs);
    expect(passed).toBeLessThanOrEqual(frameBurstMax + seconds * framesPerSecondMax + own);
    expect(passed).toBeLessThan(seconds * perSecond);
  },
);

test('a frame admitted after a silence is counted with the next', () => {
  const { sendMany } = openFunctions(30);
  sendMany(start, 30);
  expect(sendMany(start + 10_000, 5000)).toBeLessThanOrEqual(frameBurstMax + 30);
  expect(sendMany(start + 11_000, 5000)).toBeLessThanOrEqual(framesPerSecondMax);
});

test('a flood that is refused costs no write', () => {
  const { sendMany, table } = openFunctions(5);
  sendMany(start, 500);
  const { writes } = table;
  sendMany(start, 5000);
  expect(table.writes).toBe(writes);
});
