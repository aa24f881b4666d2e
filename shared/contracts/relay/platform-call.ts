/**
 * A call of the platform from inside a sandbox, as the holder of the relay gives it to the function that has the tools. Invoked directly:
 * no client can send it.
 */
import * as z from 'zod';
import type { SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import { anyUuid } from '../fields.ts';
import type { RelayAnswer } from './rpc.ts';

export const platformCall = z.strictObject({
  kind: z.literal('platform-call'),
  /** For which the relay is held: the call has its owner's rights, narrowed to its project. */
  session: z.custom<SessionId>((id) => anyUuid.safeParse(id).success),
  /** The workspace of the sandbox that asks. */
  workspace: z.custom<WorkspaceId>((id) => anyUuid.safeParse(id).success),
  method: z.string(),
  params: z.record(z.string(), z.unknown()),
  correlationId: z.string(),
});
export type PlatformCall = z.output<typeof platformCall>;

/** One of the two. */
export type PlatformAnswer = Pick<RelayAnswer, 'result' | 'error'>;

export const isPlatformCall = (event: object): event is PlatformCall =>
  'kind' in event && event.kind === 'platform-call';
