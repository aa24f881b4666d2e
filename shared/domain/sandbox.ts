/**
 * The sandbox of a workspace: its generation, its states, and what a caller who needs it must do next.
 *
 * This module decides; it never starts anything. A generation is a fence: RunTask is asked under
 * `<workspace>:<generation>`, and whoever still speaks of an older generation is refused by the table.
 */
import type { Checkpoint } from './checkpoint.ts';
import type { Flavor, Template } from './flavor.ts';
import type { OwnerId, ProjectId, SessionId, WorkspaceId } from './ids.ts';
import {
  addressLateMs,
  previewPortCount,
  previewPortFirst,
  sandboxStartMsMax,
  startReissueMs,
} from './limits.ts';

export type SandboxState = 'starting' | 'ready' | 'stopping' | 'stopped';

/** `cold`: its task was started for it. `pool`: it was warm already. */
export type SandboxSource = 'cold' | 'pool';

export type SandboxRecord = {
  readonly generation: number;
  readonly state: SandboxState;
  readonly flavor: Flavor;
  readonly template: Template;
  /** Epoch milliseconds, as every time here. */
  readonly requestedAt: number;
  readonly source: SandboxSource;
  /** Of a warm sandbox: the pool entry and generation under which it was started. */
  readonly warm?: { readonly entry: WorkspaceId; readonly generation: number };
  readonly taskArn?: string;
  /** `http://<private address>:<port>`, written by the task's state event. */
  readonly address?: string;
  readonly readyAt?: number;
  /** Somebody restores the workspace into it until then at the latest. */
  readonly restoringUntil?: number;
  /** Absent in a stopped one: it ended by itself. */
  readonly stopRequestedAt?: number;
  /** Somebody saves it for the last time until then at the latest. */
  readonly savingUntil?: number;
  /** ECS has taken the stop: there is nothing left to be saved. */
  readonly taskStopRequestedAt?: number;
  readonly stoppedAt?: number;
  readonly stoppedReason?: string;
  /** Why the one before it ended by itself, if it did: what it had not saved is gone. */
  readonly lost?: string;
  /** Leased for preview, in the order they were leased. */
  readonly ports?: readonly number[];
  /** How many of its log lines are kept. */
  readonly logsSeen?: number;
};

export type Workspace = {
  readonly id: WorkspaceId;
  readonly owner: OwnerId;
  readonly project: ProjectId;
  readonly createdAt: number;
  /** The sessions that share it; the sandbox stops when the last lets go. */
  readonly users: readonly SessionId[];
  /** Listed with its project, and kept until somebody deletes it; any other goes with its last session. */
  readonly isNamed?: true;
  /** What its project falls back to: never deleted before the project. */
  readonly isDefault?: true;
  /** What its client calls it. */
  readonly externalId?: string;
  /** Where it comes from, in words of its client. */
  readonly source?: string;
  /** The agent session that entered it last: the one that answers in it while it is not ended. */
  readonly latestAgent?: SessionId;
  /** Nobody enters it any more; what is left of it is being deleted. */
  readonly deletedAt?: number;
  readonly sandbox?: SandboxRecord;
  readonly checkpoint?: Checkpoint;
};

/** A sandbox that answers: where it is and which generation it is. */
export type LiveSandbox = {
  readonly workspaceId: WorkspaceId;
  readonly generation: number;
  readonly address: string;
  readonly flavor: Flavor;
};

export type AcquireStep =
  | { readonly step: 'use'; readonly address: string }
  /** Claim this generation and ask ECS for a task. */
  | { readonly step: 'start'; readonly generation: number }
  /** Whoever claimed it died before ECS answered: ask again with the same token. */
  | { readonly step: 'reissue'; readonly generation: number }
  /** The task runs; see whether its server answers, and restore the workspace into it. */
  | { readonly step: 'probe'; readonly address: string }
  /** Its state event is late or lost: ask ECS what became of the task. */
  | { readonly step: 'locate'; readonly taskArn: string }
  | { readonly step: 'give-up' }
  | { readonly step: 'wait' };

export const acquireStep = (sandbox: SandboxRecord | undefined, now: number): AcquireStep => {
  if (sandbox === undefined) return { step: 'start', generation: 1 };
  switch (sandbox.state) {
    case 'ready':
      return sandbox.address === undefined ? { step: 'wait' } : { step: 'use', address: sandbox.address };
    case 'stopped':
      return { step: 'start', generation: sandbox.generation + 1 };
    case 'stopping':
      return { step: 'wait' };
    case 'starting':
      return startingStep(sandbox, now);
  }
};

const startingStep = (sandbox: SandboxRecord, now: number): AcquireStep => {
  const age = now - sandbox.requestedAt;
  if (sandbox.restoringUntil !== undefined && sandbox.restoringUntil > now) return { step: 'wait' };
  if (age > sandboxStartMsMax) return { step: 'give-up' };
  if (sandbox.address !== undefined) return { step: 'probe', address: sandbox.address };
  const { taskArn, generation } = sandbox;
  if (taskArn !== undefined) return age > addressLateMs ? { step: 'locate', taskArn } : { step: 'wait' };
  return age > startReissueMs ? { step: 'reissue', generation } : { step: 'wait' };
};

/** `requested`: ECS has no task yet; `placed`: its task has no address yet; `booting`: its server does not answer yet. */
export const startPhases = ['requested', 'placed', 'booting', 'restoring'] as const;
export type StartPhase = (typeof startPhases)[number];

export const startPhase = (
  { taskArn, address, restoringUntil }: Pick<SandboxRecord, 'taskArn' | 'address' | 'restoringUntil'>,
  now: number,
): StartPhase => {
  if (restoringUntil !== undefined && restoringUntil > now) return 'restoring';
  if (address !== undefined) return 'booting';
  return taskArn === undefined ? 'requested' : 'placed';
};

/** When it last showed that it lives, as far as the table knows; epoch milliseconds. */
export const lastSeen = ({ sandbox, checkpoint }: Workspace): number =>
  Math.max(
    sandbox?.readyAt ?? 0,
    checkpoint?.generation === sandbox?.generation ? (checkpoint?.savedAt ?? 0) : 0,
  );

/** What the next sandbox must say of the one before it; one that was never ready had told nobody what it had to say. */
export const lossOf = (sandbox: SandboxRecord | undefined): string | undefined => {
  if (sandbox?.state !== 'stopped') return undefined;
  if (sandbox.readyAt === undefined) return sandbox.lost;
  return sandbox.stopRequestedAt === undefined ? (sandbox.stoppedReason ?? 'it stopped') : undefined;
};

/** The next port for preview, in rounds; undefined when all are leased. */
export const nextPort = (leased: readonly number[]): number | undefined => {
  const last = leased.at(-1) ?? previewPortFirst - 1;
  for (let step = 1; step <= previewPortCount; step += 1) {
    const port = previewPortFirst + ((last - previewPortFirst + step) % previewPortCount);
    if (!leased.includes(port)) return port;
  }
  return undefined;
};

export const isPreviewPort = (port: number): boolean =>
  Number.isInteger(port) && port >= previewPortFirst && port < previewPortFirst + previewPortCount;

/** The port of the server in every sandbox. */
const serverPort = 8080;

export const serverAddress = (privateIpv4: string): string => `http://${privateIpv4}:${serverPort}`;

/** The key under which ECS starts one task however often it is asked (at most 64 characters). */
export const startToken = (workspaceId: WorkspaceId, generation: number): string =>
  `${workspaceId}:${generation}`;

/** The ECS task group: how a task state event says whose sandbox it is. */
export const taskGroup = (workspaceId: WorkspaceId, generation: number): string =>
  `workspace/${workspaceId}/${generation}`;

export const decodeTaskGroup = (
  group: string,
): { readonly workspaceId: WorkspaceId; readonly generation: number } | undefined => {
  const [prefix, id, generation, ...rest] = group.split('/');
  if (prefix !== 'workspace' || !id || !/^\d+$/.test(generation ?? '') || rest.length > 0) return undefined;
  return { workspaceId: id as WorkspaceId, generation: Number(generation) };
};
