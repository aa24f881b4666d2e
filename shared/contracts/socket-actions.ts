/**
 * The messages a client may send over the WebSocket, by `action`.
 *
 * Unknown fields are ignored, an optional one that is null counts as absent, and wrong ones are refused by name; an unknown action is
 * refused with the list of those that exist.
 */
import * as z from 'zod';
import { attachmentPathCharactersMax, attachmentsPerMessageMax } from '#shared/domain/attachment.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import {
  callIdCharactersMax,
  clientIdCharactersMax,
  inputBytesPerSecondMax,
  messageTextBytesMax,
  modelNameCharactersMax,
  reasonCharactersMax,
} from '#shared/domain/limits.ts';
import { thinkingLevels } from '#shared/domain/model.ts';
import { prefixCharactersMax } from '#shared/domain/turn/grant.ts';
import { withoutNulls } from './absent-fields.ts';
import { callerAnswer, callerOffer } from './caller-tools.ts';
import { type Decoded, decode, decodeJson } from './decode.ts';
import { givenId, givenUuid, queryFlag } from './fields.ts';
import { terminalSize } from './process.ts';

const clientId = z.string().min(1).max(clientIdCharactersMax);
const modelName = z.string().min(1).max(modelNameCharactersMax);

/** The length of a text is checked where it is accepted: too long is another error than wrong. */
export const userMessage = z.object({
  text: z.string().min(1).describe(`Message to the agent, at most ${messageTextBytesMax} bytes.`),
  messageId: clientId.optional(),
  model: modelName.optional(),
  thinking: z
    .enum(thinkingLevels)
    .optional()
    .describe('How long the model thinks before it answers this message; absent: as in the session.'),
  attachments: z
    .array(z.object({ path: z.string().min(1).max(attachmentPathCharactersMax) }))
    .max(attachmentsPerMessageMax)
    .optional()
    .describe(
      'Files of the workspace that the message is about: PNG, JPEG, GIF and WebP images are shown to the model, other files are named.',
    ),
});

/** A decision about one waiting call, the same over every protocol. */
export const approval = z.object({
  approved: z.boolean(),
  digest: z
    .string()
    .max(clientIdCharactersMax)
    .optional()
    .describe('Digest of the call that was shown; a different call is a conflict.'),
  turnId: givenId(clientId).optional().describe('Turn of the call that was shown.'),
  effectDigest: z
    .string()
    .max(clientIdCharactersMax)
    .optional()
    .describe('Digest of the effect that was shown: required to approve a call that was tried.'),
  reason: z
    .string()
    .max(reasonCharactersMax)
    .optional()
    .describe('Reason for a rejection, passed to the model.'),
  /** Any values, bounded where they are judged: `z.json()` would recurse into them until the stack overflows. */
  args: z
    .record(z.string(), z.unknown())
    .transform((args) => args as JsonObject)
    .optional()
    .describe('Arguments that replace those of the call.'),
  remember: z
    .union([z.literal('session'), z.strictObject({ prefix: z.string().min(1).max(prefixCharactersMax) })], {
      error: `use "session", or {"prefix": "words"} of at most ${prefixCharactersMax} characters`,
    })
    .optional()
    .describe(
      'Later calls to approve: `session` for every call of the tool, a prefix for commands that begin with these words.',
    ),
});

const ofProcess = {
  processId: givenId(clientId),
  order: z.int().min(0).optional().describe('Number of this frame among those to this process, from 0.'),
  offset: z.int().min(0).optional().describe('First byte of the output to send; absent: the oldest kept.'),
};

export const socketActions = {
  message: z.object({ action: z.literal('message'), ...userMessage.shape }),
  'tool:approval': z.object({
    action: z.literal('tool:approval'),
    callId: z.string().min(1).max(callIdCharactersMax),
    ...approval.shape,
    /** The descendant session that made the call; absent: this one. */
    sessionId: givenUuid.optional(),
  }),
  'turn:cancel': z.object({ action: z.literal('turn:cancel') }),
  'history:reset': z.object({ action: z.literal('history:reset') }),
  'session:stop': z.object({ action: z.literal('session:stop') }),
  'caller_tools:declare': z.object({ action: z.literal('caller_tools:declare'), ...callerOffer.shape }),
  'caller_tool:result': z.object({ action: z.literal('caller_tool:result'), ...callerAnswer.shape }),
  'process:input': z.object({
    action: z.literal('process:input'),
    ...ofProcess,
    text: z.string().max(inputBytesPerSecondMax).describe('Text to type; empty: only attaches.'),
  }),
  'process:resize': z.object({ action: z.literal('process:resize'), ...ofProcess, ...terminalSize.shape }),
  ping: z.object({ action: z.literal('ping') }),
} as const;

export const socketAction = z.discriminatedUnion('action', [
  socketActions.message,
  socketActions['tool:approval'],
  socketActions['turn:cancel'],
  socketActions['history:reset'],
  socketActions['session:stop'],
  socketActions['caller_tools:declare'],
  socketActions['caller_tool:result'],
  socketActions['process:input'],
  socketActions['process:resize'],
  socketActions.ping,
]);

export type SocketAction = z.output<typeof socketAction>;

export const decodeAction = (text: string): Decoded<SocketAction> => {
  const frame = decodeJson(z.unknown(), text);
  return frame.ok ? decode(socketAction, withoutNulls(socketAction, frame.value)) : frame;
};

/** The query of a connection. */
export const connectionQuery = z.object({
  sessionId: givenUuid.optional(),
  model: modelName.optional(),
  provider: z.string().max(64).optional(),
  project: givenUuid.optional(),
  flavor: z.string().max(64).optional(),
  template: z.string().max(64).optional(),
  approvals: queryFlag.optional(),
  since: z
    .string()
    .regex(/^-1$|^\d{1,12}$/, 'must be -1 or a number of the log')
    .transform(Number)
    .optional(),
});
