/**
 * The trial of a call: it runs in a fork of the workspace before a person decides it by its effect. A call that has no trial
 * (code with its state, servers, clients, the platform's own tools) is asked about as it is, with the reason.
 */

import type { ManifestRef } from '../checkpoint.ts';
import type { Effect } from '../effect.ts';
import type { ToolContent } from '../event-log.ts';
import type { HistoryImage } from '../history.ts';
import type { SessionId, WorkspaceId } from '../ids.ts';
import type { RequestedCall } from '../requested-call.ts';
import { isSandboxTool } from '../tools.ts';

/** The result of the call in its trial: of an approved call it is the call's own. */
export type TrialOutcome =
  | {
      readonly content: readonly ToolContent[];
      readonly text: string;
      readonly images?: readonly HistoryImage[];
      readonly durationMs: number;
    }
  | { readonly code: string; readonly message: string };

export type TriedCall = {
  readonly state: 'tried';
  /** The session whose workspace holds the changed files. */
  readonly session: SessionId;
  readonly workspace: WorkspaceId;
  /** The files of the live workspace at the trial: the first checkpoint that has them. Absent: it was never saved. */
  readonly live?: string;
  /** The files before and after, each absent where there were none. */
  readonly before?: ManifestRef;
  readonly after?: ManifestRef;
  readonly effect: Effect;
  readonly effectDigest: string;
  readonly outcome: TrialOutcome;
};

export type CallTrial =
  /** `session`: of one that has begun; its function may have died. `isAgain`: the workspace moved after the one before. */
  | { readonly state: 'due'; readonly session?: SessionId; readonly isAgain?: true }
  | TriedCall
  | { readonly state: 'untried'; readonly reason: string };

/** The reason for which a call is asked without a trial; undefined for one that is tried. */
export const untriedReason = ({ name, args, route }: Pick<RequestedCall, 'name' | 'args' | 'route'>) => {
  if (route !== undefined || !isSandboxTool(name))
    return 'it runs outside of the sandbox or in its processes';
  if (name === 'execute_code') return 'code depends on the state of its interpreter, which cannot be copied';
  if (args['background'] === true) return 'a program in the background has no end to wait for';
  return undefined;
};

export const trialOf = (call: Pick<RequestedCall, 'name' | 'args' | 'route'>): CallTrial => {
  const reason = untriedReason(call);
  return reason === undefined ? { state: 'due' } : { state: 'untried', reason };
};
