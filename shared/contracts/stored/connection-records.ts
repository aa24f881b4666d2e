/** The connections of a session as the table holds them: its subscribers, and the callers that offer tools. */
import * as z from 'zod';
import type { ConnectionId, SessionId } from '#shared/domain/ids.ts';
import { principalRecord } from './access-records.ts';
import { epochMs, id, jsonObject } from './fields.ts';

export const connectionRecord = z.object({
  id: id<ConnectionId>(),
  sessionId: id<SessionId>().exactOptional(),
  principal: principalRecord,
  connectedAt: epochMs,
  since: z.number().int().min(-1).exactOptional(),
});

export const approverRecord = z.object({ id: id<ConnectionId>(), principal: principalRecord });

export const callerRecord = z.object({
  callerId: z.string(),
  /** As text: DynamoDB does not retain the order of fields, and a schema reaches the model as its client wrote it. */
  tools: z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(z.array(z.object({ name: z.string(), description: z.string(), inputSchema: jsonObject }))),
  connectionId: id<ConnectionId>().exactOptional(),
});
