/** The tools inside a sandbox, called over MCP through the link. */
import type { ToolContent } from '../domain/event-log.ts';
import type { JsonObject } from '../domain/json.ts';
import type { LiveSandbox } from '../domain/sandbox.ts';

export type SandboxCall = {
  readonly sandbox: LiveSandbox;
  /** The sandbox stores results by it: a repeat gets the first one. */
  readonly callKey: string;
  readonly name: string;
  readonly args: JsonObject;
  readonly correlationId: string;
  readonly onProgress: (progress: ToolProgress) => void;
  readonly signal?: AbortSignal;
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
    }
  /** The tool refused, or a limit ended it. */
  | {
      readonly status: 'failed';
      readonly code: string;
      readonly message: string;
      readonly structured?: JsonObject;
    }
  /** The connection broke: the call may or may not have run; ask again under the same key. */
  | { readonly status: 'lost'; readonly message: string };

export interface SandboxTools {
  call(call: SandboxCall): Promise<ToolOutcome>;
}
