/**
 * The session that tries a call: a fork of the agent's workspace, of its size and with its variables, without a network, and in
 * no list. It counts against the slots of executions like any other session, and ends with its call. It reports the hosts that
 * its programs wanted.
 *
 * Its saved files are kept until the call is decided. The janitor deletes them then, or when the call can no longer be decided.
 */

import { decode } from '../../../contracts/decode.ts';
import { wantedHostsAnswer } from '../../../contracts/wanted-hosts.ts';
import type { SessionId, WorkspaceId } from '../../../domain/ids.ts';
import { trialWatchMs } from '../../../domain/limits.ts';
import { noUsage } from '../../../domain/model.ts';
import type { LiveSandbox } from '../../../domain/sandbox.ts';
import { type Session, unheldLease } from '../../../domain/session.ts';
import { type FilesSource, filesOfFork } from '../../../domain/snapshot.ts';
import { noTurn } from '../../../domain/turn/turn.ts';
import { AppError } from '../../../errors.ts';
import type { Deps, TurnDeps } from '../../deps.ts';
import { endSession } from '../requests/end-session.ts';

export type NewTrial = {
  readonly id: SessionId;
  readonly parent: Session;
  readonly source: FilesSource;
  /** Its call, and when it cannot be running any more, in epoch milliseconds. */
  readonly key: string;
  readonly until: number;
};

/** Undefined when the source has changed since it was read. */
export const createTrial = async (
  ports: Deps<'sessions' | 'world'>,
  { id, parent, source, key, until }: NewTrial,
): Promise<Session | undefined> => {
  const workspace = ports.world.uuid() as WorkspaceId;
  const now = ports.world.now();
  const { owner, project, flavor, template, provider, model, environment, cwd } = parent;
  const session: Session = {
    ...{ id, owner, project, workspace, flavor, template, provider, model },
    ...{ kind: 'execution', status: 'ready', approvals: 'ask', grants: [], trialOf: parent.id },
    ...(environment === undefined ? {} : { environment }),
    ...(cwd === undefined ? {} : { cwd }),
    ...{ usage: noUsage, costUsd: 0, depth: 0, allowSmallerFlavor: parent.allowSmallerFlavor },
    ...{ createdAt: now, lastActiveAt: now, runningCalls: { [key]: until } },
    ...{ dueAt: Math.min(until, now + trialWatchMs) },
    ...{ lastSeq: -1, workSeq: 0, lease: unheldLease },
  };
  const empty = { id: workspace, owner, project, createdAt: now, users: [id] };
  const made = await ports.sessions.create(session, {
    workspace: { ...empty, ...filesOfFork(source, workspace) },
    source,
  });
  return made === 'created' ? session : undefined;
};

/** A prompt names so many. */
const hostsMax = 20;

/** The hosts that programs of a trial wanted to reach, as `host:port`, `models` or `platform`. Throws `sandbox_unavailable` when it does not answer as it should. */
export const wantedHosts = async (
  { link }: Deps<'link'>,
  sandbox: LiveSandbox,
): Promise<readonly string[]> => {
  const response = await link.fetch(sandbox, { method: 'GET', path: '/relay/wanted-hosts', headers: {} });
  const decoded = decode(wantedHostsAnswer, response.ok ? await response.json() : undefined);
  if (!decoded.ok) throw new AppError('sandbox_unavailable', 'its sandbox did not say which hosts it wanted');
  return decoded.value.hosts.slice(0, hostsMax).map((host) => host.toWellFormed());
};

/** Its sandbox stops; its saved files stay. */
export const endTrial = async (ports: TurnDeps, id: SessionId): Promise<void> => {
  const session = await ports.sessions.get(id);
  if (session !== undefined) await endSession(ports, session, { reason: 'the trial is over' });
};

/**
 * The use of a session that tries a call: it runs there, or its files are kept until the call is decided and carried out.
 * Undefined for one that its turn has left.
 */
export const trialUse = async (
  { turns }: Deps<'turns'>,
  { id, trialOf }: Pick<Session, 'id' | 'trialOf'>,
): Promise<'running' | 'kept' | undefined> => {
  const { state } = trialOf === undefined ? noTurn : (await turns.loadWork(trialOf)).turn;
  const calls = state.kind === 'deciding' || state.kind === 'acting' ? state.calls : [];
  const own = calls.find(({ trial }) => trial !== undefined && 'session' in trial && trial.session === id);
  if (own?.trial?.state === 'due') return 'running';
  const isOpen = own?.status === 'pending' || own?.status === 'approved' || own?.status === 'executing';
  return isOpen ? 'kept' : undefined;
};
