/** The call registry: one start per id, answers to those who wait, and to those who wait no longer. */
import { expect, test } from 'vitest';
import { type CallWork, createCallRegistry } from './call-registry.ts';

const result = { content: [{ type: 'text' as const, text: 'done' }] };
const onOutput = (): void => undefined;

const open = () => {
  const registry = createCallRegistry({ callsMax: 10, bytesMax: 1000 });
  const starts: AbortSignal[] = [];
  const { promise, resolve } = Promise.withResolvers<typeof result>();
  const work: CallWork = ({ signal }) => {
    starts.push(signal);
    return promise;
  };
  return { registry, starts, work, end: () => resolve(result) };
};

test('a call that takes longer than its caller waits runs on, and returns its result later', async () => {
  const { registry, starts, work, end } = open();
  expect(await registry.run('c', { onOutput, waitMs: 1 }, work)).toBe('running');
  expect(await registry.run('c', { onOutput, waitMs: 0 }, work)).toBe('running');
  end();
  expect(await registry.run('c', { onOutput, waitMs: 0 }, work)).toBe(result);
  expect(await registry.run('c', { onOutput }, work)).toBe(result);
  expect(starts.map(({ aborted }) => aborted)).toEqual([false]);
});

test('a caller that waits long enough gets the result', async () => {
  const { registry, work, end } = open();
  const asked = registry.run('c', { onOutput, waitMs: 100_000 }, work);
  end();
  expect(await asked).toBe(result);
});

test('a call that nobody waits for can be cancelled', async () => {
  const { registry, starts, work } = open();
  await registry.run('c', { onOutput, waitMs: 0 }, work);
  expect([registry.cancel('c'), starts[0]?.aborted]).toEqual(['running', true]);
});

test('a call whose result was dropped ran, also when it was cancelled in its middle', async () => {
  const { registry, work, end } = open();
  const large = { content: [{ type: 'text' as const, text: 'x'.repeat(1000) }] };
  await registry.run('c', { onOutput, waitMs: 0 }, work);
  registry.cancel('c');
  end();
  await registry.run('c', { onOutput }, work);
  await registry.run('larger', { onOutput }, async () => large);
  await expect(registry.run('c', { onOutput }, work)).rejects.toThrow('the call ran');
});

test('a cancel that overtakes its call prevents it, also when it comes twice', async () => {
  const { registry, starts, work } = open();
  expect([registry.cancel('c'), registry.cancel('c')]).toEqual(['unknown', 'unknown']);
  await expect(registry.run('c', { onOutput }, work)).rejects.toThrow('it did not run');
  expect(starts).toEqual([]);
});
