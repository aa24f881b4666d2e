/** The money of a tree whose functions died: no call of theirs is on its way (TM7). */
import { expect, test } from 'vitest';
import { newSession } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { showTree } from './show-tree.ts';

test('a call whose function died is shown as unsettled when its time is over, though none is granted after it', async () => {
  const { ports } = openQuietPorts();
  const root = newSession();
  const { id, workspace, owner, project, createdAt } = root;
  await ports.sessions.create(root, { workspace: { id: workspace, owner, project, createdAt, users: [id] } });
  const session = (await ports.sessions.get(id)) ?? root;
  await ports.trees.begin(session);
  const at = ports.world.now();
  const lasting = { session: id, fence: 1, usd: 2, usdMin: 1, usdMax: 10, at, until: at + 1000, call: 'c' };
  await ports.trees.reserve(id, lasting);
  const begun = { ...session, hasChildren: true as const };
  const shownAt = async (time: number) => {
    const world = { ...ports.world, now: () => time };
    const { money, branches } = await showTree({ ...ports, world }, begun);
    return { ...money, ofBranch: branches[0]?.reservedUsd };
  };
  expect(await shownAt(at)).toMatchObject({ reservedUsd: 2, unsettledUsd: 0, ofBranch: 2 });
  expect(await shownAt(at + 1000)).toMatchObject({ reservedUsd: 0, unsettledUsd: 2, ofBranch: 0 });
});
