import { expect, test } from 'vitest';
import { newSession } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { Session } from '../../domain/session.ts';
import { childrenOf, readFamily } from './read-family.ts';

const opened = async (times: Readonly<Record<'root' | 'child', readonly number[]>>) => {
  const { ports } = openQuietPorts();
  const logged = async (at: readonly number[]): Promise<Session> => {
    const { id } = newSession();
    await ports.sessions.create({ ...newSession(), id }, { placesMax: 10 });
    for (const time of at)
      await ports.sessions.append(id, [{ type: 'system', data: { kind: 'note', time } }], time);
    return (await ports.sessions.get(id)) as Session;
  };
  const root = await logged(times.root);
  const child = await logged(times.child);
  return (since: number, eventsMax = 1000) =>
    readFamily(ports.sessions, root, { since, eventsMax, childrenOf: async () => [child] });
};

const timesOf = ({ events }: { readonly events: readonly { readonly at: string }[] }): readonly number[] =>
  events.map(({ at }) => Date.parse(at));

test('the events of all are merged by time, and each says whose it is', async () => {
  const read = await opened({ root: [10, 30, 50], child: [20, 40, 60] });
  const all = await read(-1);
  expect(timesOf(all)).toEqual([10, 20, 30, 40, 50, 60]);
  expect(new Set(all.events.map(({ sessionId }) => sessionId)).size).toBe(2);
  expect(all.lastIndex).toBe(2);
});

test('a reader who goes on misses none of the others, and the others are not ahead of it', async () => {
  const read = await opened({ root: [10, 30, 50], child: [20, 30, 60] });
  expect(timesOf(await read(-1, 1))).toEqual([10]);
  expect(timesOf(await read(0, 1))).toEqual([20, 30, 30]);
  expect(timesOf(await read(1, 1))).toEqual([30, 50, 60]);
  expect(timesOf(await read(2))).toEqual([60]);
});

test('a session without others is read alone', async () => {
  expect(await childrenOf(newSession())).toEqual([]);
});
