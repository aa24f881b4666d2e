/**
 * Acquires the sandbox of a found session for a REST request, and starts it when needed.
 *
 * The proxies in front cut off an answer that is silent for a minute, and its error with it. A request that cannot begin its
 * answer earlier therefore waits for less, and is answered with `sandbox_starting` (503 with `Retry-After`) while the start
 * continues.
 */
import type { FileDeps } from '#shared/application/deps.ts';
import type { AcquiredSandbox } from '#shared/application/sandbox/acquire-sandbox.ts';
import { acquireWithHeartbeat, type Opening } from '#shared/application/sandbox/acquire-with-heartbeat.ts';
import type { Lifetimes } from '#shared/domain/idle-time.ts';
import { answerSilenceMsMax } from '#shared/domain/limits.ts';
import type { LiveSandbox } from '#shared/domain/sandbox.ts';
import type { Session } from '#shared/domain/session.ts';
import type { ErrorCode } from '#shared/errors.ts';
import type { SessionPorts } from './session-routes.ts';

export type SessionSandboxPorts = SessionPorts & FileDeps;

export type SessionSandboxSettings = { readonly lifetimes: Lifetimes };

/** The errors of acquiring it. */
export const insideErrors = [
  'invalid_session_state',
  'resource_limit_exceeded',
  'sandbox_start_failed',
  'sandbox_starting',
  'sandbox_unavailable',
] as const satisfies readonly ErrorCode[];

export const sandboxForRequest = async (
  ports: SessionSandboxPorts,
  options: OpenRequest,
): Promise<LiveSandbox> => (await acquireForRequest(ports, options)).sandbox;

type OpenRequest = {
  readonly session: Session;
  readonly settings: SessionSandboxSettings;
  /** The answer begins before its value is known, so that the whole start may be waited for. */
  readonly beginsEarly?: boolean;
};

/** The sandbox with its workspace, as it was read. */
export const acquireForRequest = (
  ports: SessionSandboxPorts,
  { session, settings, beginsEarly = false }: OpenRequest,
): Promise<AcquiredSandbox> => {
  const { waitMs, ...opening } = openingFor(settings);
  return acquireWithHeartbeat(ports, session, beginsEarly ? opening : { ...opening, waitMs });
};

export const openingFor = ({ lifetimes }: SessionSandboxSettings): Opening & { readonly waitMs: number } => ({
  lifetimes,
  waitMs: answerSilenceMsMax,
});
