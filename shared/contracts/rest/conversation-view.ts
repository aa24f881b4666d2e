/** The conversation of a session as REST shows it: messages, events, and the outcome of a request. */
import * as z from 'zod';
import { callOutcomes, type HistoryMessage } from '#shared/domain/history.ts';
import { imageTypes } from '#shared/domain/image-type.ts';
import { sessionStatuses } from '#shared/domain/session.ts';

const jsonObject = z.record(z.string(), z.unknown());
const logNumber = z.number().int().min(-1);

const askedCall = z.object({ callId: z.string(), name: z.string(), args: jsonObject });

const message = z
  .discriminatedUnion('role', [
    z.object({
      role: z.literal('user'),
      messageId: z.string(),
      text: z.string(),
      attachments: z
        .array(z.object({ path: z.string(), mimeType: z.enum(imageTypes).optional() }))
        .optional()
        .describe('Files of the workspace that the message is about.'),
    }),
    z.object({
      role: z.literal('assistant'),
      messageId: z.string(),
      text: z.string(),
      calls: z.array(askedCall),
    }),
    z.object({
      role: z.literal('tool'),
      callId: z.string(),
      name: z.string(),
      text: z.string(),
      outcome: z.enum(callOutcomes),
    }),
  ])
  .meta({ id: 'Message' });

export const messagesAnswer = z.object({ messages: z.array(message) });

export const acceptedAnswer = z.object({ messageId: z.string(), lastSeq: logNumber });

export const answeredAnswer = z.object({ requestId: z.string() });

export const declaredAnswer = z.object({
  callerId: z.string(),
  offer: z.string().describe('Id of this offer, by which its program withdraws it.'),
  tools: z.array(z.string()).describe('Names under which the agent sees the tools.'),
  lastSeq: logNumber.describe('Last event when they were offered: later requests are for this offer.'),
  requests: z
    .array(z.string())
    .describe('`requestId` of each earlier request of the turn that waits for an answer of this caller.'),
});

/** `below`: the session itself had no turn, but sessions under it worked for it. */
export const cancelledWork = ['turn', 'below', 'nothing'] as const;
export const cancelledAnswer = z.object({
  cancelled: z
    .enum(cancelledWork)
    .describe(
      'What was cancelled: its turn, those of sessions under it alone, or nothing. Programs of requests run on.',
    ),
});

export const eventsAnswer = z.object({
  sessionId: z.uuid(),
  status: z.enum(sessionStatuses),
  lastIndex: logNumber,
  events: z.array(
    z
      .object({
        index: logNumber,
        type: z.string().describe('Type of the event, as in the frames at /ws.'),
        at: z.iso.datetime(),
        data: jsonObject,
        sessionId: z.uuid(),
      })
      .meta({ id: 'Event' }),
  ),
  completed: z.boolean(),
  failed: z.boolean(),
  droppedEvents: z.number().int().min(0),
  hasMore: z.boolean(),
  leftOut: z
    .array(z.object({ sessionId: z.uuid(), sinceIndex: z.number().int().min(-1) }))
    .optional()
    .describe(
      'With include_children: descendants with more events than one answer holds; read the log of each from since_index=sinceIndex.',
    ),
});

/** Without provider state, without the routes of calls, and without images, which the log has. */
export const messageView = (said: HistoryMessage): z.output<typeof message> => {
  if (said.role === 'user') {
    const { images: _, attachments, ...shown } = said;
    return { ...shown, ...(attachments === undefined ? {} : { attachments: [...attachments] }) };
  }
  if (said.role === 'tool') {
    const { images: _, ...shown } = said;
    return shown;
  }
  const { role, messageId, text, calls } = said;
  return { role, messageId, text, calls: calls.map(({ callId, name, args }) => ({ callId, name, args })) };
};
