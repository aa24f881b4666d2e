import { expect, test } from 'vitest';
import { newSession } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { Session } from '../../domain/session.ts';
import { readSessionTree } from './read-session-tree.ts';

const opened = async (times: Readonly<Record<'root' | 'child', readonly number[]>>) => {
  const { ports } = openQuietPorts();
  const { sessions, eventLog } = ports;
  const log = async ({ id }: Session, at: readonly number[]): Promise<Session> => {
    for (const time of at)
      await eventLog.append(id, [{ type: 'system', data: { kind: 'note', time } }], time);
    return (await sessions.get(id)) as Session;
  };
  const root = newSession();
  await sessions.create(root, {});
  const tree = { root: root.id, parent: root.id };
  const child = { ...newSession(), depth: 1, tree };
  const made = await sessions.create(child, { child: { parent: root, agentsMax: 2 } });
  expect(made).toBe('created');
  await log(child, times.child);
  const read = await log(root, times.root);
  return (since: number, eventsMax = 1000) => readSessionTree(ports, read, { since, eventsMax });
};

const timesOf = ({ events }: { readonly events: readonly { readonly at: string }[] }): readonly number[] =>
  events.map(({ at }) => Date.parse(at));

test('the events of all sessions are merged by time, each with its session', async () => {
  const read = await opened({ root: [10, 30, 50], child: [20, 40, 60] });
  const all = await read(-1);
  expect(timesOf(all)).toEqual([10, 20, 30, 40, 50, 60]);
  expect(new Set(all.events.map(({ sessionId }) => sessionId)).size).toBe(2);
  expect(all.lastIndex).toBe(2);
});

test('a reader that continues misses no event, and no session is ahead of it', async () => {
  const read = await opened({ root: [10, 30, 50], child: [20, 30, 60] });
  expect(timesOf(await read(-1, 1))).toEqual([10]);
  expect(timesOf(await read(0, 1))).toEqual([20, 30, 30]);
  expect(timesOf(await read(1, 1))).toEqual([30, 50, 60]);
  expect(timesOf(await read(2))).toEqual([60]);
});
