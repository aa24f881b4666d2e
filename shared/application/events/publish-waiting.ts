/**
 * Publishes the number of waiting calls to the sockets of those who may decide them. Each gets a number of its own, which
 * counts only the calls that its principal may decide.
 */

import { unnumberedFrame } from '../../contracts/frames.ts';
import { decidableBy } from '../../domain/access.ts';
import type { ProjectId } from '../../domain/ids.ts';
import { isSignedIn } from '../../domain/person.ts';
import type { Principal } from '../../domain/principal.ts';
import type { WaitingFilter } from '../../ports/approval-store.ts';
import type { Approver } from '../../ports/connections.ts';
import type { Deps } from '../deps.ts';

/** One count for all principals that see the same. */
export const publishWaiting = async (
  ports: Deps<'connections' | 'approvals' | 'sockets' | 'world'>,
  project: ProjectId,
): Promise<void> => {
  const groups = new Map<string, { readonly filter: WaitingFilter; readonly approvers: Approver[] }>();
  for (const approver of await ports.connections.approvers()) {
    if (approver.principal.isPerson && !isSignedIn(approver.principal, ports.world.now())) continue;
    const filter = decidableBy(approver.principal);
    if (filter === undefined || (filter.project !== undefined && filter.project !== project)) continue;
    const key = `${filter.project ?? ''} ${filter.owner ?? ''}`;
    const group = groups.get(key) ?? { filter, approvers: [] };
    group.approvers.push(approver);
    groups.set(key, group);
  }
  await Promise.all(
    [...groups.values()].map(async ({ filter, approvers }) => {
      const frame = waitingFrame(ports, await ports.approvals.count(filter));
      await Promise.all(approvers.map(({ id }) => post(ports, id, frame)));
    }),
  );
};

/** The number as it is now, for a socket that has just connected. */
export const waitingFrameFor = async (
  ports: Deps<'connections' | 'approvals' | 'sockets' | 'world'>,
  principal: Principal,
): Promise<string> => {
  const filter = decidableBy(principal);
  return waitingFrame(ports, filter === undefined ? 0 : await ports.approvals.count(filter));
};

const waitingFrame = (
  { world }: Deps<'connections' | 'approvals' | 'sockets' | 'world'>,
  waiting: number,
): string =>
  JSON.stringify(unnumberedFrame('approvals', { sessionId: null, at: world.now(), data: { waiting } }));

const post = async (
  { sockets, connections }: Deps<'connections' | 'approvals' | 'sockets' | 'world'>,
  id: Approver['id'],
  frame: string,
): Promise<void> => {
  if ((await sockets.post(id, frame)) === 'gone') await connections.remove(id);
};
