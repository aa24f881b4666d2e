/**
 * The sandbox of a workspace: its generation, its states, and the next step of a caller who needs it.
 *
 * It decides and never starts anything. A generation is a fence: in RunTask's client token, and in each write's condition.
 */
import type { Checkpoint } from './checkpoint.ts';
import type { Network } from './egress-policy.ts';
import type { Flavor } from './flavor.ts';
import type { OwnerId, ProjectId, SessionId, WorkspaceId } from './ids.ts';
import type { KeptCheckpoints } from './kept-checkpoints.ts';
import {
  addressLateMs,
  clocksApartMsMax,
  previewPortCount,
  previewPortFirst,
  sandboxMeterLookMs,
  sandboxStartMsMax,
  startReissueMs,
} from './limits.ts';
import type { Untold } from './losses.ts';
import type { SandboxMeter } from './sandbox-meter.ts';
import type { EnvironmentRef } from './session-environment.ts';
import type { SlotHolder } from './slot-holder.ts';
import type { Template } from './template.ts';

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
  /** The number of the last claim to restore. */
  readonly restores?: number;
  /** The janitor's check whether its many sessions are idle; a caller that uses it concurrently removes it. */
  readonly idleCheck?: string;
  /** Absent in a stopped one that ended by itself. */
  readonly stopRequestedAt?: number;
  /** The last save runs until then at the latest. */
  readonly savingUntil?: number;
  /** The time after its last save, just before ECS was asked to stop it: nothing is saved any more. */
  readonly taskStopRequestedAt?: number;
  /** Its last save failed. */
  readonly isUnsaved?: true;
  readonly stoppedAt?: number;
  readonly stoppedReason?: string;
  /** It is stopped, and some of these sessions may not have been told. */
  readonly untold?: readonly SessionId[];
  /** A snapshot was restored into the workspace: the files of this sandbox are saved no more. */
  readonly isDiscarded?: true;
  /** The reason for which the sandbox before it ended by itself, if it did: its unsaved files are lost. */
  readonly lost?: string;
  /** The last generation before this one in which processes were started: the agent is told which of them were lost. */
  readonly processesOf?: number;
  /** Ports leased for preview, in the order of the leases. */
  readonly ports?: readonly number[];
  /** A call is tried in it: it neither sees nor saves what sandboxes of its owner share. */
  readonly isTrial?: true;
  /** Processes were started in it that outlive their requests: its idle check asks for them. */
  readonly hasProcesses?: true;
  /** The number of its log lines that are stored. */
  readonly logsSeen?: number;
  /** The variables and the working folder that all its programs get. */
  readonly environment?: EnvironmentRef;
  readonly cwd?: string;
  /** The hosts that its programs may reach; absent: none. */
  readonly network?: Network;
  /** It is stopped this long after it became ready, whatever runs in it, in milliseconds. */
  readonly lifetimeMs?: number;
  /** The slot that it holds; absent: none, or not any more. */
  readonly slot?: { readonly holder: SlotHolder; readonly session: SessionId };
  /** The slices that pay for its time; absent: none, or not any more. */
  readonly meter?: SandboxMeter;
};

export type Workspace = Untold & {
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
  readonly firstGeneration?: number;
  readonly sandbox?: SandboxRecord;
  readonly checkpoint?: Checkpoint;
  /** Absent: it had no checkpoint, or one at most. */
  readonly kept?: KeptCheckpoints;
  /** Snapshots or forks need objects of it, or did so a moment ago. */
  readonly isPinned?: true;
  /** Other workspaces whose packs it holds by a pin: those of the snapshot or the session it was made from. */
  readonly sources?: readonly WorkspaceId[];
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
  | { readonly step: 'start' }
  /** The claimant died before ECS answered: call again with the same token. */
  | { readonly step: 'reissue'; readonly generation: number }
  /** The task runs; check that its server answers, and restore the workspace into it. With `lateTask` ECS is asked if it does not. */
  | { readonly step: 'probe'; readonly address: string; readonly lateTask?: string }
  /** Its state event is late or lost: ask ECS about the task. */
  | { readonly step: 'locate'; readonly taskArn: string }
  | { readonly step: 'give-up' }
  | { readonly step: 'wait' };

export const acquireStep = (sandbox: SandboxRecord | undefined, now: number): AcquireStep => {
  switch (sandbox?.state) {
    case undefined:
    case 'stopped':
      return { step: 'start' };
    case 'ready':
      return sandbox.address === undefined ? { step: 'wait' } : { step: 'use', address: sandbox.address };
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
  const { taskArn, address, generation } = sandbox;
  const lateTask = taskArn !== undefined && age > addressLateMs ? { lateTask: taskArn } : {};
  if (address !== undefined) return { step: 'probe', address, ...lateTask };
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

/** The end of its lifetime; undefined where it has none. */
export const lifetimeEnd = ({ readyAt, lifetimeMs }: SandboxRecord): number | undefined =>
  readyAt === undefined || lifetimeMs === undefined ? undefined : readyAt + lifetimeMs;

/** The time after which one that becomes ready is looked at, since a slice pays for it; undefined where none does. */
export const meterLookMs = ({ meter, lifetimeMs = sandboxMeterLookMs }: SandboxRecord): number | undefined =>
  meter && Math.min(meter.restMs, sandboxMeterLookMs, lifetimeMs);

/** The last time the table has seen it alive, in epoch milliseconds. */
export const lastSeen = ({ sandbox, checkpoint }: Workspace): number =>
  Math.max(
    sandbox?.readyAt ?? 0,
    checkpoint?.generation === sandbox?.generation ? (checkpoint?.savedAt ?? 0) : 0,
  );

/** True while a sandbox is being stopped and its files may still be saved. */
export const isLastSaveOpen = ({
  state,
  readyAt,
  isDiscarded,
  taskStopRequestedAt,
}: SandboxRecord): boolean =>
  state === 'stopping' &&
  readyAt !== undefined &&
  isDiscarded === undefined &&
  taskStopRequestedAt === undefined;

/** The loss that the next sandbox must report; one that was never ready passes on the loss it should have reported. */
export const lossOf = (sandbox: SandboxRecord | undefined): string | undefined => {
  // One that could not be saved before it was asked to stop is lost before its end is known.
  const isLast = sandbox?.state === 'stopping' && sandbox.isUnsaved;
  if (sandbox === undefined || (sandbox.state !== 'stopped' && !isLast)) return undefined;
  if (sandbox.isDiscarded) return sandbox.stoppedReason ?? 'a snapshot was restored';
  if (sandbox.readyAt === undefined) return sandbox.lost;
  if (sandbox.isUnsaved) return 'its last save failed';
  // ECS is asked to stop what was saved: one that ended before that, after the first phase of a stop or without one, was not.
  return sandbox.taskStopRequestedAt === undefined ? (sandbox.stoppedReason ?? 'it stopped') : undefined;
};

/**
 * Why files of a turn that began at `since` may be lost with its sandbox, which ended by itself; undefined where the last
 * checkpoint has all that was written before the turn's last step.
 */
export const lostSince = (
  workspace: Pick<Workspace, 'sandbox' | 'checkpoint'>,
  { since, steppedAt }: { readonly since: number; readonly steppedAt: number },
): string | undefined => {
  const { sandbox } = workspace;
  const reason = lossOf(sandbox);
  const endedAt = sandbox?.stoppedAt ?? sandbox?.taskStopRequestedAt ?? 0;
  if (reason === undefined || endedAt < since) return undefined;
  return isSavedSince(workspace, steppedAt) ? undefined : `its sandbox was lost: ${reason}`;
};

/** True when a checkpoint of its sandbox has what was in it at that time, by whichever clock either was read. */
export const isSavedSince = (
  { sandbox, checkpoint }: Pick<Workspace, 'sandbox' | 'checkpoint'>,
  at: number,
): boolean =>
  checkpoint?.generation === sandbox?.generation && (checkpoint?.savedAt ?? 0) >= at + clocksApartMsMax;

/** The generation whose processes may be lost and were not named yet: the last one, or one before those that never began. */
export const processesBefore = (sandbox: SandboxRecord | undefined): number | undefined => {
  if (sandbox?.hasProcesses) return sandbox.generation;
  return sandbox?.readyAt === undefined ? sandbox?.processesOf : undefined;
};

/** The next port for preview, in rotation; undefined when all are leased. */
export const nextPort = (leased: readonly number[]): number | undefined => {
  const end = previewPortFirst + previewPortCount;
  const last = leased.findLast((port) => port >= previewPortFirst && port < end) ?? previewPortFirst - 1;
  for (let step = 1; step <= previewPortCount; step += 1) {
    const port = previewPortFirst + ((last - previewPortFirst + step) % previewPortCount);
    if (isPreviewPort(port) && !leased.includes(port)) return port;
  }
  return undefined;
};

/** Programs of the platform listen on these: its server, and its relay and proxy for user code. */
const platformPorts = [4096, 8080, 19_998, 19_999];
const userPortFirst = 1024;
const userPortLast = 65_535;

export const previewPortRule = `a number from ${userPortFirst} to ${userPortLast}, but for the platform's own: ${platformPorts.join(', ')}`;

export const isPreviewPort = (port: number): boolean =>
  Number.isInteger(port) && port >= userPortFirst && port <= userPortLast && !platformPorts.includes(port);

/** The port of the server in every sandbox of AWS: that of its security group and of its image. */
const serverPort = 8080;

/** On one machine sandboxes are reached at another port, since programs of that machine may have this one. */
export const serverAddress = (privateIpv4: string, port = serverPort): string =>
  `http://${privateIpv4}:${port}`;

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
