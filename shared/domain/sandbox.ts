/**
 * The sandbox of a workspace: its generation, its states, and what a caller who needs it must do next.
 *
 * This module decides; it never starts anything. A generation is a fence: RunTask is asked under
 * `<workspace>:<generation>`, and whoever still speaks of an older generation is refused by the table.
 */
import type { Flavor, Template } from './flavor.ts';
import type { OwnerId, ProjectId, SessionId, WorkspaceId } from './ids.ts';
import { sandboxStartMsMax, startReissueMs } from './limits.ts';

export type SandboxState = 'starting' | 'ready' | 'stopping' | 'stopped';

export type SandboxRecord = {
  readonly generation: number;
  readonly state: SandboxState;
  readonly flavor: Flavor;
  readonly template: Template;
  /** Epoch milliseconds, as every time here. */
  readonly requestedAt: number;
  readonly taskArn?: string;
  /** `http://<private address>:<port>`, written by the task's state event. */
  readonly address?: string;
  readonly readyAt?: number;
  readonly stopRequestedAt?: number;
  readonly stoppedReason?: string;
};

export type Workspace = {
  readonly id: WorkspaceId;
  readonly owner: OwnerId;
  readonly project: ProjectId;
  readonly createdAt: number;
  /** The sessions that share it; the sandbox stops when the last lets go. */
  readonly users: readonly SessionId[];
  readonly sandbox?: SandboxRecord;
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
  /** The task runs; see whether its server answers. */
  | { readonly step: 'probe'; readonly address: string }
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
  if (age > sandboxStartMsMax) return { step: 'give-up' };
  if (sandbox.address !== undefined) return { step: 'probe', address: sandbox.address };
  return sandbox.taskArn === undefined && age > startReissueMs
    ? { step: 'reissue', generation: sandbox.generation }
    : { step: 'wait' };
};

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
