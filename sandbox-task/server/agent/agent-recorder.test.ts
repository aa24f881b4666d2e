/** The recorder of a turn: RT1. */
import { expect, test } from 'vitest';
import { type RuntimeFact, runtimeFactsMax, runtimeFactsPerStepMax } from '#shared/domain/runtime.ts';
import { createAgentRecorder } from './agent-recorder.ts';

const fact = (path: string): RuntimeFact => ({ type: 'file', path });
const at = { ms: 0, signal: new AbortController().signal };
const patient = { ms: 50_000, signal: new AbortController().signal };

test('RT1: facts are numbered, and kept until they were taken', async () => {
  const recorder = createAgentRecorder();
  for (const name of ['a', 'b', 'c']) recorder.fact(fact(name));
  const numbers = async (after: number) =>
    (await recorder.take(after, at)).events.map(({ number }) => number);
  expect(await numbers(0)).toEqual([1, 2, 3]);
  expect(await numbers(0)).toEqual([1, 2, 3]);
  expect(await numbers(2)).toEqual([3]);
  // Taken facts are forgotten.
  expect(await numbers(0)).toEqual([3]);
});

test('a question waits for the first fact', async () => {
  const recorder = createAgentRecorder();
  const taking = recorder.take(0, patient);
  recorder.fact(fact('a'));
  expect((await taking).events).toHaveLength(1);
});

test('RT1: a program that is ahead waits, and loses nothing', async () => {
  const recorder = createAgentRecorder();
  for (let count = 0; count < runtimeFactsMax; count += 1) recorder.fact(fact(`file ${count}`));
  let hasRoom = false;
  const room = recorder.room().then(() => {
    hasRoom = true;
  });
  const first = await recorder.take(0, at);
  expect(first.events).toHaveLength(runtimeFactsPerStepMax);
  expect(hasRoom).toBe(false);
  await recorder.take(runtimeFactsPerStepMax, at);
  await room;
  expect(hasRoom).toBe(true);
});

test('nothing is heard after the end', async () => {
  const recorder = createAgentRecorder();
  recorder.fact({ type: 'ended', reason: 'finished' });
  recorder.fact(fact('late'));
  expect((await recorder.take(0, at)).events).toHaveLength(1);
  expect(recorder.hasEnded()).toBe(true);
});

test('long texts are cut, and pieces of text come once', async () => {
  const recorder = createAgentRecorder();
  recorder.delta({ kind: 'text', messageId: 'm', offset: 0, text: 'a piece' });
  recorder.fact({ type: 'text', messageId: 'm', text: 'x'.repeat(1_000_000) });
  const { events, deltas } = await recorder.take(0, at);
  expect(deltas).toHaveLength(1);
  expect(JSON.stringify(events).length).toBeLessThan(250_000);
  expect((await recorder.take(0, at)).deltas).toEqual([]);
});
