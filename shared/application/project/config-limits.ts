/** The limits that hold for a caller: their project's, and the part that one session of it has used. */

import { projectOf } from '../../domain/access.ts';
import { type Flavor, flavors } from '../../domain/flavor.ts';
import { defaultProject, type Principal } from '../../domain/principal.ts';
import { allowsFlavor, type Project } from '../../domain/project.ts';
import { type Session, treeOf } from '../../domain/session.ts';
import { executionSlots } from '../../domain/slot-holder.ts';
import { settledAt, type Tree } from '../../domain/tree-budget.ts';
import { AppError } from '../../errors.ts';
import { findProject } from '../access/find-project.ts';
import { findSession } from '../access/find-session.ts';
import type { Deps } from '../deps.ts';

/** The operator's settings, except the defaults of sessions. */
export type ConfigLimits = {
  readonly recursionDepthMax: number;
  readonly agentsPerSessionMax: number;
  readonly costUsdMax: number;
  readonly stepsPerTurnMax: number;
  readonly rate: { readonly perSecond: number; readonly burst: number };
};

export type LimitsRequest = {
  readonly principal: Principal;
  readonly projectId?: string | undefined;
  readonly sessionId?: string | undefined;
};

export type LimitsInForce = {
  readonly project: Project;
  readonly session?: Session;
  /** Absent: it has no tree. */
  readonly tree?: Tree | undefined;
  readonly flavorsAllowed: readonly Flavor[];
  readonly activeSessions: number;
};

export const limitsInForce = async (
  ports: Deps<'sessions' | 'turns' | 'projects' | 'slots' | 'trees' | 'world'>,
  { principal, projectId, sessionId }: LimitsRequest,
): Promise<LimitsInForce> => {
  const wanted = { id: sessionId ?? '', principal, intent: 'read' } as const;
  const session = sessionId === undefined ? undefined : (await findSession(ports.turns, wanted)).session;
  if (session !== undefined && projectId !== undefined && session.project !== projectId)
    throw new AppError('invalid_session_state', 'the session is of another project', {
      suggestions: ['Leave the project out.'],
      recoveryActions: ['correct_arguments'],
    });
  const id = session?.project ?? projectId ?? projectOf(principal.scope) ?? defaultProject;
  const project = await findProject(ports.projects, { id, principal, intent: 'read' });
  const root = session && treeOf(session);
  const tree = root === undefined ? undefined : await ports.trees.read(root);
  const names = Object.keys(flavors) as Flavor[];
  return {
    project,
    ...(session === undefined ? {} : { session }),
    tree: tree && settledAt(tree, ports.world.now()),
    flavorsAllowed: names.filter((flavor) => allowsFlavor(project, flavor)),
    activeSessions: (await ports.slots.read(executionSlots(principal.owner))).taken.length,
  };
};
