/** Sandboxes as the platform uses them: started, reached, worked in, and their logs. */

import type { ToolContent } from '../domain/event-log.ts';
import type { Flavor } from '../domain/flavor.ts';
import type { WorkspaceId } from '../domain/ids.ts';
import type { JsonObject } from '../domain/json.ts';
import type { LiveSandbox } from '../domain/sandbox.ts';
import type { Template } from '../domain/template.ts';

export type StartTask = {
  /** The same token with the same request gives the same task. */
  readonly token: string;
  /** Comes back in every state event of the task. */
  readonly group: string;
  readonly flavor: Flavor;
  readonly template: Template;
  /** SHA-256 of the bearer that the sandbox accepts, in hexadecimal. */
  readonly bearerHash: string;
  /** It sees no shared volume. */
  readonly withoutShared?: true;
};

/** A task as the host describes it. */
export type HostTask = {
  readonly taskArn: string;
  readonly group: string;
  readonly lastStatus: string;
  /** The address of its server, once it runs. */
  readonly address?: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly stoppedReason?: string;
};

/**
 * The host of sandboxes: starts a task once per token, stops it, lists and describes tasks. ECS, or anything with
 * these four verbs.
 */
export interface SandboxHost {
  /** The task's ARN. Throws `sandbox_unavailable` for lack of capacity, `sandbox_start_failed` for a refusal. */
  start(task: StartTask): Promise<string>;
  /**
   * Requests the stop; ECS reports later that it is done. Gives the task as it stands then, which has stopped already where
   * that report was lost; undefined for one that the host does not know.
   */
  stop(taskArn: string, reason: string): Promise<HostTask | undefined>;
  /** The deployment's own tasks that run or are about to, page by page. */
  running(): AsyncIterable<readonly HostTask[]>;
  /** The tasks among these that the host still knows, at most 100. */
  describe(taskArns: readonly string[]): Promise<readonly HostTask[]>;
}

export type LinkRequest = {
  readonly method: string;
  /** With the query, from the root: `/files/a.txt`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal | undefined;
};

/**
 * The only connection into a sandbox, shaped like `fetch`: a request goes in, a streamed response comes out.
 *
 * Nothing inside a sandbox can open a connection out, and only the link can open one in.
 */
export interface SandboxLink {
  /** Throws `sandbox_unavailable` when the sandbox cannot be reached or breaks off before its headers. */
  fetch(sandbox: LiveSandbox, request: LinkRequest): Promise<Response>;
}

export type SandboxCall = {
  readonly sandbox: LiveSandbox;
  /** The sandbox stores results by it: a repeat gets the first one. */
  readonly callKey: string;
  readonly name: string;
  readonly args: JsonObject;
  readonly onProgress: (progress: ToolProgress) => void;
  /** A program of the sandbox waits for the relay, which nothing holds. */
  readonly onRelayWanted?: () => void;
  readonly signal?: AbortSignal;
  /** The checkpoint of the workspace before the call: the sandbox says whether all is still as it has it. */
  readonly savedAs?: string;
};

export type ToolProgress = {
  readonly stream: 'stdout' | 'stderr';
  readonly offset: number;
  readonly text: string;
};

export type ToolOutcome =
  | {
      readonly status: 'finished';
      readonly content: readonly ToolContent[];
      /** Fields for a program, as the tool returned them: untrusted. */
      readonly structured?: JsonObject;
      /** At the end the workspace was as `savedAs` has it; the number of the newest line of the sandbox's log. */
      readonly asSaved?: number;
    }
  /** The tool refused, or a limit ended it. */
  | {
      readonly status: 'failed';
      readonly code: string;
      readonly message: string;
      readonly structured?: JsonObject;
    }
  | Lost;

/** The connection broke: the call may or may not have run; ask again under the same key. */
export type Lost = {
  readonly status: 'lost';
  readonly message: string;
  /** No byte of the request was sent: it has had no effect. */
  readonly isUnsent?: true;
};

/** The sandbox answers after so many milliseconds, also if the call still runs. */
export type BoundedCall = SandboxCall & { readonly waitMs: number };

/** `running`: the call goes on. Asked again under its key, the sandbox returns its result. */
export type AskedOutcome = ToolOutcome | { readonly status: 'running' };

/** The tools inside a sandbox, called through the link. */
export interface SandboxTools {
  call(call: SandboxCall): Promise<ToolOutcome>;
  callFor(call: BoundedCall): Promise<AskedOutcome>;
  /** Kills a call, from any caller; an unreachable sandbox has nothing to kill. */
  cancel(sandbox: LiveSandbox, callKey: string): Promise<void>;
}

export type LogLine = {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly stream: 'stderr' | 'lifecycle';
  readonly text: string;
  /** Of a line that a sandbox wrote: two saves at once may both store it. */
  readonly id?: string;
};

/** The log of a workspace's sandboxes: their lives and their stderr; readable after they died. */
export interface SandboxLog {
  append(workspace: WorkspaceId, lines: readonly LogLine[]): Promise<void>;
  /** The newest lines, each once, in order of time. */
  read(workspace: WorkspaceId, linesMax: number): Promise<readonly LogLine[]>;
}
