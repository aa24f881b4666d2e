/** The conversation of a session as the table holds it: waiting messages, the model's history, the clients' log. */
import * as z from 'zod';
import type { LogEntry } from '#shared/domain/event-log.ts';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { CallId, ConnectionId, MessageId } from '#shared/domain/ids.ts';
import { epochMs, id, jsonObject } from './fields.ts';
import { askedCall } from './turn-state.ts';

export const inboxRecord = z.object({
  messageId: id<MessageId>(),
  text: z.string(),
  acceptedAt: epochMs,
  model: z.string().exactOptional(),
  connectionId: id<ConnectionId>().exactOptional(),
  correlationId: z.string(),
});

export const historyRecord: z.ZodType<HistoryMessage> = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), messageId: id<MessageId>(), text: z.string() }),
  z.object({
    role: z.literal('assistant'),
    messageId: id<MessageId>(),
    text: z.string(),
    calls: z.array(askedCall),
    providerState: jsonObject.exactOptional(),
  }),
  z.object({
    role: z.literal('tool'),
    callId: id<CallId>(),
    name: z.string(),
    text: z.string(),
    outcome: z.enum(['completed', 'failed', 'rejected']),
  }),
]);

/** The shape of `data` belongs to the writer: it was typed when it was written. */
export const logRecord = z.custom<LogEntry>(
  (value) => typeof value === 'object' && value !== null && 'type' in value && 'data' in value,
);
