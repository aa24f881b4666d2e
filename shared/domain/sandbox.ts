/**
 * The sandbox of a workspace: its generation, its states, and the next step of a caller who needs it.
 *
 * This module decides; it never starts anything. A generation is a fence: RunTask is called with the client token
 * `<workspace>:<generation>`, and the table refuses a write of an older generation.
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

export const sandboxStates = ['starting', 'ready', 'stopping', 'stopped'] as const;

/** `cold`: its task was started for it. `pool`: it was warm already. */
export const sandboxSources = ['cold', 'pool'] as const;
export type SandboxSource = (typeof sandboxSources)[number];

export type SandboxRecord = {
  readonly generation: number;
  readonly state: (typeof sandboxStates)[number];
  readonly flavor: Flavor;
  readonly template: Template;
  /** Epoch milliseconds, as every time here. */
  readonly requestedAt: number;
  readonly source: SandboxSource;
  /** The pool entry and generation under which a warm sandbox was started. */
  readonly warm?: { readonly entry: WorkspaceId; readonly generation: number };
  readonly taskArn?: string;
  /** `http://<private address>:<port>`, written by the task's state event. */
  readonly address?: string;
  readonly readyAt?: number;
  /** A restore of the workspace into it runs until then at the latest. */
  readonly restoringUntil?: number;
  /** Absent in a stopped one that ended by itself. */
  readonly stopRequestedAt?: number;
  /** The last save runs until then at the latest. */
  readonly savingUntil?: number;
  /** The time at which ECS accepted the stop: nothing can be saved any more. */
  readonly taskStopRequestedAt?: number;
  readonly stoppedAt?: number;
  readonly stoppedReason?: string;
  /** The reason for which the sandbox before it ended by itself, if it did: its unsaved files are lost. */
  readonly lost?: string;
  /** Ports leased for preview, in the order of the leases. */
  readonly ports?: readonly number[];
  /** The number of its log lines that are stored. */
  readonly logsSeen?: number;
};

export type Workspace = {
  readonly id: WorkspaceId;
  readonly owner: OwnerId;
  readonly project: ProjectId;
  readonly createdAt: number;
  /** The sessions that share it; the sandbox stops when the last releases it. */
  readonly users: readonly SessionId[];
  /** Listed with its project, and kept until a client deletes it; any other is deleted with its last session. */
  readonly isNamed?: true;
  /** The default workspace of its project: never deleted before the project. */
  readonly isDefault?: true;
  /** The client's own id for it. */
  readonly externalId?: string;
  /** The client's description of its origin. */
  readonly source?: string;
  /** The agent session that entered it last: it answers in it until it has ended. */
  readonly latestAgent?: SessionId;
  /** Closed to new sessions; its contents are being deleted. */
  readonly deletedAt?: number;
  readonly sandbox?: SandboxRecord;
  readonly checkpoint?: Checkpoint;
};

/** A sandbox that answers: its address and its generation. */
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
  /** The claimant died before ECS answered: call again with the same token. */
  | { readonly step: 'reissue'; readonly generation: number }
  /** The task runs; check that its server answers, and restore the workspace into it. */
  | { readonly step: 'probe'; readonly address: string }
  /** Its state event is late or lost: ask ECS about the task. */
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
export const startPhase = (
  { taskArn, address, restoringUntil }: Pick<SandboxRecord, 'taskArn' | 'address' | 'restoringUntil'>,
  now: number,
): (typeof startPhases)[number] => {
  if (restoringUntil !== undefined && restoringUntil > now) return 'restoring';
  if (address !== undefined) return 'booting';
  return taskArn === undefined ? 'requested' : 'placed';
};

/** The last time the table has seen it alive, in epoch milliseconds. */
export const lastSeen = ({ sandbox, checkpoint }: Workspace): number =>
  Math.max(
    sandbox?.readyAt ?? 0,
    checkpoint?.generation === sandbox?.generation ? (checkpoint?.savedAt ?? 0) : 0,
  );

/** The loss that the next sandbox must report; one that was never ready passes on the loss it should have reported. */
export const lossOf = (sandbox: SandboxRecord | undefined): string | undefined => {
  if (sandbox?.state !== 'stopped') return undefined;
  if (sandbox.readyAt === undefined) return sandbox.lost;
  return sandbox.stopRequestedAt === undefined ? (sandbox.stoppedReason ?? 'it stopped') : undefined;
};

/** The next port for preview, in rotation; undefined when all are leased. */
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

/** The client token with which ECS starts one task however often it is called (at most 64 characters). */
export const startToken = (workspaceId: WorkspaceId, generation: number): string =>
  `${workspaceId}:${generation}`;

/** The ECS task group, by which a task state event names its sandbox. */
export const taskGroup = (workspaceId: WorkspaceId, generation: number): string =>
  `workspace/${workspaceId}/${generation}`;

export const decodeTaskGroup = (
  group: string,
): { readonly workspaceId: WorkspaceId; readonly generation: number } | undefined => {
  const [prefix, id, generation, ...rest] = group.split('/');
  if (prefix !== 'workspace' || !id || !/^\d+$/.test(generation ?? '') || rest.length > 0) return undefined;
  return { workspaceId: id as WorkspaceId, generation: Number(generation) };
};

/** The reason of a stopped task in one line: what killed its container, with which exit code, and ECS's own reason. */
export const taskStopReason = ({
  reason,
  exitCode,
  stoppedReason,
}: {
  readonly reason?: string | undefined;
  readonly exitCode?: number | undefined;
  readonly stoppedReason?: string | undefined;
}): string =>
  [reason, exitCode === undefined ? undefined : `exit code ${exitCode}`, stoppedReason]
    .filter((part) => part !== undefined && part !== '')
    .join('; ');
