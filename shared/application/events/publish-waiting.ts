/**
 * Publishes the number of waiting calls to the sockets of those who may decide them. Each gets a number of its own, which
 * counts only the calls that its principal may decide.
 */
import { unnumberedFrame } from '../../contracts/frames.ts';
import { decidableBy } from '../../domain/access.ts';
import type { ProjectId } from '../../domain/ids.ts';
import { isSignedIn } from '../../domain/person.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApprovalStore, WaitingFilter } from '../../ports/approval-store.ts';
import type { Approver, ConnectionStore } from '../../ports/connection-store.ts';
import type { Sockets } from '../../ports/sockets.ts';
import type { World } from '../../ports/world.ts';

export type WaitingPorts = {
  readonly connections: Pick<ConnectionStore, 'approvers' | 'remove'>;
  readonly approvals: Pick<ApprovalStore, 'count'>;
  readonly sockets: Sockets;
  readonly world: World;
};

/** One count for all principals that see the same. */
export const publishWaiting = async (ports: WaitingPorts, project: ProjectId): Promise<void> => {
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
export const waitingFrameFor = async (ports: WaitingPorts, principal: Principal): Promise<string> => {
  const filter = decidableBy(principal);
  return waitingFrame(ports, filter === undefined ? 0 : await ports.approvals.count(filter));
};

const waitingFrame = ({ world }: WaitingPorts, waiting: number): string =>
  JSON.stringify(unnumberedFrame('approvals', { sessionId: null, at: world.now(), data: { waiting } }));

const post = async (
  { sockets, connections }: WaitingPorts,
  id: Approver['id'],
  frame: string,
): Promise<void> => {
  if ((await sockets.post(id, frame)) === 'gone') await connections.remove(id);
};
