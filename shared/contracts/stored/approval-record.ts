/** An entry of the list of waiting calls, as the table holds it. */
import * as z from 'zod';
import type { CallId, OwnerId, ProjectId, SessionId, TurnId } from '#shared/domain/ids.ts';
import { id } from './fields.ts';

export const waitingRecord = z.object({
  sessionId: id<SessionId>(),
  project: id<ProjectId>(),
  owner: id<OwnerId>(),
  turnId: id<TurnId>(),
  callId: id<CallId>(),
  askedAt: z.string(),
});
