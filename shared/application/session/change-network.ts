/**
 * Changes the network of a session, within its project's and its parent's, and of the sandbox that runs in its workspace; the sessions
 * below it keep what the new one allows.
 *
 * A host that is taken away is refused by the platform from its next look on; the variables that name the proxy change for
 * programs that start later.
 */

import { isSameNetwork, type Network } from '../../domain/egress-policy.ts';
import { narrowedTo } from '../../domain/inject-rule.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Session } from '../../domain/session.ts';
import { isAppError } from '../../errors.ts';
import { audit } from '../access/audit.ts';
import { projectNotFound } from '../access/find-project.ts';
import { sessionNotFound } from '../access/find-session.ts';
import type { AuditDeps, Deps } from '../deps.ts';
import { configureSandbox } from '../sandbox/configure-sandbox.ts';
import { chooseNetwork, refuseBeyond, refuseRulesBeyond } from './choose-network.ts';
import { descendantsOf } from './read-session-tree.ts';

type NetworkDeps = AuditDeps &
  Deps<'sessions' | 'workspaces' | 'projects' | 'environments' | 'sandboxAuthority' | 'link'>;

type NetworkChange = {
  readonly principal: Principal;
  /** Null: none. */
  readonly network: Network | null;
};

export const changeNetwork = async (
  ports: NetworkDeps,
  session: Session,
  { principal, network: wanted }: NetworkChange,
): Promise<Session> => {
  const project = await ports.projects.get(session.project);
  if (project === undefined) throw projectNotFound();
  const network = chooseNetwork(wanted, project);
  if (network !== undefined) await refuseBeyondParent(ports, session, network);
  if (isSameNetwork(network, session.network)) return session;
  const changed = await ports.sessions.change(session.id, { network });
  if (changed === undefined) throw sessionNotFound();
  await audit(ports, principal, {
    action: 'session.network',
    subject: session.id,
    project: session.project,
    detail: {
      sessionId: session.id,
      allow: [...(network?.allow ?? [])],
      before: [...(session.network?.allow ?? [])],
      ...(network?.inject === undefined ? {} : { inject: network.inject.map((rule) => ({ ...rule })) }),
    },
  });
  await applyToSandbox(ports, session, network);
  await narrowChildren(ports, session, network);
  return changed;
};

/** A child has at most its parent's (EG1). */
const refuseBeyondParent = async (
  { sessions }: NetworkDeps,
  { tree }: Session,
  network: Network,
): Promise<void> => {
  const parent = tree && (await sessions.get(tree.parent));
  if (parent === undefined) return;
  refuseBeyond(network, parent.network, 'the session that started this one does not allow');
  refuseRulesBeyond(network, parent.network, 'the session that started this one');
};

const narrowChildren = async (
  ports: NetworkDeps,
  session: Session,
  above: Network | undefined,
): Promise<void> => {
  for (const child of await descendantsOf(ports.sessions, session)) {
    const network = narrowedTo(child.network, above);
    if (isSameNetwork(network, child.network)) continue;
    await ports.sessions.change(child.id, { network });
    if (child.workspace !== session.workspace) await applyToSandbox(ports, child, network);
  }
};

/** One that is not reached learns it when it is made ready, or has nothing more to learn. */
const applyToSandbox = async (
  ports: NetworkDeps,
  { workspace: workspaceId }: Session,
  network: Network | undefined,
): Promise<void> => {
  const { sandbox } = (await ports.workspaces.get(workspaceId)) ?? {};
  if (sandbox === undefined) return;
  const { generation, flavor, address } = sandbox;
  if (!(await ports.workspaces.setNetwork(workspaceId, generation, network))) return;
  if (sandbox.state !== 'ready' || address === undefined) return;
  const { network: _, ...rest } = sandbox;
  const configured = network === undefined ? rest : { ...rest, network };
  try {
    await configureSandbox(ports, configured, { workspaceId, generation, address, flavor });
  } catch (error) {
    if (!isAppError(error) || error.code !== 'sandbox_unavailable') throw error;
    ports.telemetry.warn('a sandbox was not told of its network', { workspaceId, error });
  }
};
