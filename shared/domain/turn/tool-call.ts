/** A tool call within a turn: where it stands, its digest and edits, and who ends it while no function waits. */

import type { MessageId, SessionId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { RequestedCall } from '../requested-call.ts';
import type { CallTrial } from './trial.ts';

export const callStatuses = ['pending', 'approved', 'rejected', 'executing', 'completed', 'failed'] as const;
export type CallStatus = (typeof callStatuses)[number];

/** A call with its place in a turn: its own id, and the digest of all that a person approves. */
export type TurnCall = RequestedCall & {
  readonly digest: string;
  /** ISO 8601, UTC. */
  readonly askedAt: string;
};

/** A call as a model asked it. `isUnknown`: the model was offered no tool of that name. */
export type AskedCall = TurnCall & { readonly isUnknown?: true };

/** The arguments that a person put in place, and the digest of the call with them. */
export type Edited = { readonly args: JsonObject; readonly digest: string };

export type ToolCall = TurnCall & {
  readonly status: CallStatus;
  /** False when a policy allowed the call without a human. */
  readonly askedHuman: boolean;
  /** Runs in place of the arguments that the model gave. */
  readonly edited?: Edited;
  /** The grant that allowed it. */
  readonly grant?: string;
  /** The sandbox generation the call was started in: its outcome lives and dies with it. */
  readonly generation?: number;
  /** It was to start in a sandbox that no byte of it reached; `notice`: what the model reads before its result. */
  readonly unsent?: { readonly notice?: string };
  /** Of a rejected question of a program: the reason that it is given. */
  readonly rejection?: string;
  /** Of a call that a person decides by its effect. */
  readonly trial?: CallTrial;
  /** Of an executing call that no function waits for: a client, a child or the sandbox ends it. */
  readonly wait?: CallWait;
};

/** A call that a client answers, known by the id that was given out; over its time it has failed. */
export type CallerWait = {
  readonly id: string;
  /** Epoch milliseconds, both. */
  readonly since: number;
  readonly until: number;
};

/** A call that a child's answer to one message ends, however long it takes. */
export type ChildWait = {
  readonly id: string;
  readonly since: number;
  readonly child: { readonly session: SessionId; readonly message: MessageId };
};

/** A call that runs on in its sandbox, and is looked at now and then. */
export type SandboxWait = {
  /** The call's key. */
  readonly id: string;
  readonly since: number;
  /** The sandbox has ended it by then. */
  readonly endsBy: number;
  /** The model reads it before the result. */
  readonly notice?: string;
};

export type CallWait = CallerWait | ChildWait | SandboxWait;

/** True for a call that a client or a child ends, rather than its sandbox. */
export const isDelegated = ({ wait }: ToolCall): boolean => wait !== undefined && !('endsBy' in wait);

/** True for a call that makes, asks or ends a child: it does so before the turn records that it waits. */
export const asksChild = ({ route }: Pick<ToolCall, 'route'>): boolean =>
  route?.kind === 'platform' && route.tool === 'session';

/** The generation of a call that is started outside the sandbox: its outcome lives and dies with the function that runs it. */
export const remoteGeneration = 0;
