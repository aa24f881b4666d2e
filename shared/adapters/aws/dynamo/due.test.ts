/** The janitor's reads of what is due, in requests. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openMemoryTable, tableOver } from '../../../../tests/simulation/memory-table.ts';
import { dueItems } from './due.ts';
import { dueShards } from './table.ts';

test('the shards of a kind are asked once each, and a few at a time', async () => {
  const memory = openMemoryTable();
  let [asked, open, most] = [0, 0, 0];
  const table = tableOver(async (command) => {
    asked += 1;
    open += 1;
    most = Math.max(most, open);
    await nextTurn();
    open -= 1;
    return memory.execute(command).output;
  });
  expect(await dueItems(table, { kind: 'session', now: 1, itemsMax: 400 })).toEqual([]);
  expect({ asked, most }).toEqual({ asked: dueShards.session, most: 4 });
});
