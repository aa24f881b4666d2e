/**
 * Changes the network of a session, within its project's and its parent's, and of the sandbox that runs in its workspace. The
 * sessions below it keep the part that the new network allows.
 *
 * The platform refuses a removed host as soon as it reads the lists again. The variables that name the proxy change for
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
import { alignChildWithParent } from '../turn/children/align-child-with-parent.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';
import { chooseNetwork, refuseBeyond, refuseRulesBeyond } from './choose-network.ts';
import { descendantsOf } from './show-tree.ts';

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
  const isSame = isSameNetwork(network, session.network);
  const changed = isSame ? session : await changeOwn(ports, session, { principal, network });
  // A repeat of one that was cut short goes on.
  await applyToSandbox(ports, changed);
  await narrowChildren(ports, changed);
  return changed;
};

type OwnChange = { readonly principal: Principal; readonly network: Network | undefined };

/** Its parent may have been narrowed since that was read, by one who found it within that. */
const changeOwn = async (
  ports: NetworkDeps,
  session: Session,
  { principal, network: wanted }: OwnChange,
): Promise<Session> => {
  const written = await ports.sessions.change(session.id, { network: wanted });
  if (written === undefined) throw sessionNotFound();
  const changed = await alignChildWithParent(ports, written);
  const { network } = changed;
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
  refuseBeyond(network, parent.network, 'parent');
  refuseRulesBeyond(network, parent.network, 'the session that started this one');
};

/** A listing that finds nothing to narrow is the last: a child that is made after it finds its parent narrowed. */
const narrowChildren = (ports: NetworkDeps, changed: Session): Promise<void> =>
  untilWon(async () => {
    const { sessions } = ports;
    const below = await descendantsOf(sessions, changed);
    const top = below.length === 0 ? undefined : await sessions.get(changed.id);
    if (top === undefined) return undefined;
    const wider = below.filter(
      (child) => !isSameNetwork(narrowedTo(child.network, top.network), child.network),
    );
    for (const { id, workspace, network: read } of wider) {
      const network = narrowedTo(read, top.network);
      const narrowed = await sessions.change(id, { network }, { network: read });
      if (narrowed !== undefined && workspace !== top.workspace) await applyToSandbox(ports, narrowed);
    }
    return wider.length === 0 ? undefined : raceLost;
  }, changesTooOften('the tree'));

/** The network of now, and again if it was changed concurrently: of two changes the last one holds in the sandbox as well. */
const applyToSandbox = (ports: NetworkDeps, { id }: Session): Promise<void> =>
  untilWon(async () => {
    const session = await ports.sessions.get(id);
    if (session === undefined) return undefined;
    await applyOnce(ports, session);
    const now = await ports.sessions.get(id);
    return now === undefined || isSameNetwork(now.network, session.network) ? undefined : raceLost;
  }, changesTooOften('the session'));

/** One that is not reached learns it when it is made ready, or has nothing more to learn. */
const applyOnce = async (ports: NetworkDeps, { workspace: workspaceId, network }: Session): Promise<void> => {
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
