/** The way into a session's sandbox for a REST request: found, allowed, started when needed. */
import { type OpenSandboxPorts, openSandbox } from '#shared/application/open-sandbox.ts';
import type { SavePorts } from '#shared/application/save-workspace.ts';
import type { LiveSandbox } from '#shared/domain/sandbox.ts';
import type { Lifetimes } from '#shared/domain/session-lifetime.ts';
import { AppError, isErrorCode } from '#shared/errors.ts';
import type { ApiEvent } from './api-request.ts';
import { found, type SessionPorts } from './session-routes.ts';

export type InsidePorts = SessionPorts & OpenSandboxPorts & SavePorts;

export type InsideSettings = { readonly lifetimes: Lifetimes };

export const inside = async (
  ports: InsidePorts,
  event: ApiEvent,
  { intent, settings }: { readonly intent: 'read' | 'write'; readonly settings: InsideSettings },
): Promise<LiveSandbox> => {
  const { session } = await found(ports, event, intent);
  const correlationId = event.requestContext.requestId;
  const { lifetimes } = settings;
  return (await openSandbox(ports, session, { lifetimes, correlationId })).sandbox;
};

/** What the sandbox's server said no to, in our words for it. */
export const refusalOf = async (response: Response): Promise<AppError> => {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return isErrorCode(error.code)
    ? new AppError(error.code, error.message)
    : new AppError('internal_error', 'the sandbox refused the request');
};
