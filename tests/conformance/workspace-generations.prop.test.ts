/** However what is said of an older sandbox mixes with what is said of this one, the table ends the same without it. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Item, keys } from '#shared/adapters/aws/dynamo/table.ts';
import type { SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import type { WorkspaceStore } from '#shared/ports/workspace-store.ts';
import { newSandbox, newSession, onTable, workspaceOf } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

type Said = (store: WorkspaceStore, id: WorkspaceId, generation: number) => Promise<unknown>;

const user = 'u' as SessionId;
const asRead = (id: WorkspaceId, generation: number) => ({
  ...workspaceOf(newSession({ workspace: id, id: user })),
  sandbox: newSandbox({ generation, state: 'ready' }),
});
const stop = { reason: 'r', at: 70, dueAt: 80 };

const said: Record<string, Said> = {
  claimStart: (store, id, generation) => store.claimStart(id, newSandbox({ generation, requestedAt: 1 })),
  recordTask: (store, id, generation) => store.recordTask(id, generation, `task-${generation}`),
  recordAddress: (store, id, generation) =>
    store.recordAddress(id, generation, { taskArn: `task-${generation}`, address: `http://${generation}` }),
  claimRestore: (store, id, generation) => store.claimRestore(id, generation, { at: 10, until: 20 }),
  giveRestoreBack: (store, id, generation) => store.unclaimRestore(id, generation, 1),
  markReady: (store, id, generation) => store.markReady(id, generation, { at: 30 }),
  recordLogsSeen: (store, id, generation) => store.recordLogsSeen(id, generation, 40 + generation),
  leasePort: (store, id, generation) => store.leasePort(id, generation, 8000 + generation),
  recordCheckpoint: (store, id, generation) =>
    store.recordCheckpoint(
      id,
      { id: `c${generation}`, sha256: 'a', savedAt: 50, generation, files: 1, bytes: 1, packs: [] },
      {},
    ),
  postpone: (store, id, generation) => store.postpone(asRead(id, generation), 60),
  markStopping: (store, id, generation) => store.markStopping(id, generation, stop),
  claimLastSave: (store, id, generation) => store.claimLastSave(id, generation, { at: 71, until: 72 }),
  giveLastSaveBack: (store, id, generation) => store.unclaimLastSave(id, generation, 72),
  recordStopRequest: (store, id, generation) => store.recordStopRequest(id, generation, { at: 75 }),
  withdrawStopRequest: (store, id, generation) => store.withdrawStopRequest(id, generation, 75),
  markIdle: (store, id, generation) =>
    store.markIdle(asRead(id, generation), [], { ...stop, pausedUntil: () => 99 }),
  markStopped: (store, id, generation) => store.markStopped(id, generation, { reason: 's', at: 90 }),
};

type Word = { readonly what: string; readonly generation: number };

const second = 2;
const word = fc.record({
  what: fc.constantFrom(...Object.keys(said)),
  generation: fc.constantFrom(1, second),
});

/** A workspace at its second sandbox, told these words in order; its item without what is another in each. */
const told = async (words: readonly Word[]): Promise<unknown> => {
  const { workspaces, item } = onTable(fixture.table);
  const { id } = workspaceOf(newSession());
  const owned = { ...workspaceOf(newSession()), id, users: [user], owner: 'o', project: 'p' };
  await workspaces.create(owned as unknown as Parameters<WorkspaceStore['create']>[0]);
  await workspaces.claimStart(id, newSandbox());
  await workspaces.markStopped(id, 1, { reason: 'over', at: 9 });
  await workspaces.claimStart(id, newSandbox({ generation: second }));
  for (const { what, generation } of words) await said[what]?.(workspaces, id, generation);
  const { pk: _pk, id: _id, duePk, sandbox, ...rest } = (await item(keys.workspace(id))) ?? {};
  const { attempt: _attempt, ...record } = sandbox as Item;
  return { ...rest, sandbox: record, isDue: duePk !== undefined };
};

test('events of an older generation change nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 14 }), async (words) => {
      const current = words.filter(({ generation }) => generation === second);
      expect(await told(words)).toEqual(await told(current));
    }),
    { numRuns: 60 },
  );
});

/** The words that bring the second sandbox to each of its states. */
const states: readonly (readonly string[])[] = [
  [],
  ['markReady'],
  ['markReady', 'markStopping'],
  ['markReady', 'markStopped'],
];

test.each(Object.keys(said))(
  'in no state of the current one does %s of the older one change it',
  async (what) => {
    for (const state of states) {
      const words = state.map((one) => ({ what: one, generation: second }));
      expect(await told([...words, { what, generation: 1 }])).toEqual(await told(words));
    }
  },
);

test('and the same event of the current one does', async () => {
  const changesIn = async (state: readonly string[], what: string): Promise<boolean> => {
    const words = state.map((one) => ({ what: one, generation: second }));
    const before = await told(words);
    return !isDeepStrictEqual(before, await told([...words, { what, generation: second }]));
  };
  const changed = await Promise.all(
    Object.keys(said).map(async (what) => {
      const inStates = await Promise.all(states.map((state) => changesIn(state, what)));
      return inStates.includes(true);
    }),
  );
  const silent = Object.keys(said).filter((_, index) => !changed[index]);
  // A start of the second once more is refused in each of its states; and nothing is there to be given back.
  expect(silent).toEqual(['claimStart', 'giveRestoreBack', 'giveLastSaveBack', 'withdrawStopRequest']);
});
