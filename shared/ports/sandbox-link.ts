/**
 * The only connection into a sandbox, shaped like `fetch`: a request goes in, a streamed response comes out.
 *
 * Nothing inside a sandbox can open a connection out, and only the link can open one in.
 */
import type { LiveSandbox } from '../domain/sandbox.ts';

export type LinkRequest = {
  readonly method: string;
  /** With the query, from the root: `/files/a.txt`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal | undefined;
};

export interface SandboxLink {
  /** Throws `sandbox_unavailable` when the sandbox cannot be reached or breaks off before its headers. */
  fetch(sandbox: LiveSandbox, request: LinkRequest): Promise<Response>;
}
