/** A person who cancels, forgets, puts a file, stops, and says something to an agent that another agent started. */

import { acquireWithHeartbeat } from '#shared/application/sandbox/acquire-with-heartbeat.ts';
import { saveWorkspace } from '#shared/application/sandbox/save-workspace.ts';
import { resetHistory } from '#shared/application/session/reset-history.ts';
import { cancelTree } from '#shared/application/turn/requests/cancel-turn.ts';
import { endSession } from '#shared/application/turn/requests/end-session.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { childrenOf } from './stored.ts';
import { found, sayOnce, type Users } from './users.ts';

const acts = ['cancel', 'cancel', 'cancel', 'reset', 'file', 'file', 'stop'] as const;
const actsOnChildren = ['cancel', 'stop', 'say', 'say', 'reset', 'file'] as const;

/** At times of a child of theirs, nearest or not. */
const aim = ({ platform: { table, sim } }: Users, root: SessionId) => {
  const children = childrenOf(table, root);
  const isAtChild = children.length > 0 && sim.random.chance(0.4);
  return isAtChild
    ? { id: sim.random.pick(children).id, what: sim.random.pick<Act>(actsOnChildren) }
    : { id: root, what: sim.random.pick<Act>(acts) };
};

type Act = (typeof acts)[number] | (typeof actsOnChildren)[number];

export const interruptAtRandom = async (users: Users, root: SessionId): Promise<void> => {
  const { platform, until } = users;
  const { sim, settings } = platform;
  const { random } = sim;
  for (;;) {
    await sim.pause(random.spread(3000, 120_000));
    if (sim.now() > until) return;
    const { id, what } = aim(users, root);
    const say = () => sayOnce(platform, id, { messageId: `m-${random.uuid()}` });
    // Somebody else writes at the same moment.
    for (let other = random.int(-3, what === 'say' ? 1 : 3); other > 0; other -= 1)
      sim.after(random.int(0, 150), () => void say());
    if (what === 'say') {
      await say();
      continue;
    }
    await platform.request(what, async (ports) => {
      const all = await found(ports, id);
      if (what === 'cancel') await cancelTree(ports, id);
      if (what === 'reset') await resetHistory(ports, all);
      if (what === 'stop') await endSession(ports, all.session, { reason: 'the user stopped it' });
      if (what !== 'file') return;
      const { lifetimes } = settings;
      const { sandbox } = await acquireWithHeartbeat(ports, all.session, { lifetimes });
      await saveWorkspace(ports, sandbox);
    });
    if (what === 'stop' && id === root && random.chance(0.7)) return;
  }
};
