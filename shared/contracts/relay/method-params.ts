/** The parameters of the methods of the relay's socket; a field that is not here is refused by its name. */
import * as z from 'zod';
import { eventsPerSessionMax, messageTextBytesMax, modelNameCharactersMax } from '#shared/domain/limits.ts';
import { approvalModes } from '#shared/domain/session.ts';
import { templateNamePattern } from '#shared/domain/template.ts';
import { utf8Bytes } from '#shared/domain/text.ts';
import { givenUuid } from '../fields.ts';
import { sliceFields } from '../tools/slice-fields.ts';
import { flavor } from '../tools/tool-fields.ts';

const idCharactersMax = 128;
const nameCharactersMax = 200;
const variablesMax = 64;

const messageText = z
  .string()
  .min(1)
  .refine((text) => utf8Bytes(text) <= messageTextBytesMax, `has at most ${messageTextBytesMax} bytes`)
  .describe('Message to the agent.');

export const sessionMessageParams = z.strictObject({
  message: messageText,
  session_id: givenUuid
    .optional()
    .describe('Id of a session that this session started; absent: a new one is started.'),
  message_id: z
    .string()
    .min(1)
    .max(idCharactersMax)
    .optional()
    .describe('Id of the message; a repetition with the same id has no effect.'),
  model: z.string().min(1).max(modelNameCharactersMax).optional().describe('Model of the agent.'),
  ...sliceFields,
  approvals: z
    .enum(approvalModes)
    .optional()
    .describe('Approvals mode of a new session: at least as strict as that of this session.'),
  workspace: z
    .enum(['shared', 'own'])
    .default('shared')
    .describe('Workspace of a new session: that of this session, or an empty one of its own.'),
  template: z.string().regex(templateNamePattern).optional().describe('Template of a new session.'),
  flavor: flavor.optional().describe('Flavor of a new session, at most that of this session.'),
  env: z
    .array(z.string().min(1).max(idCharactersMax))
    .max(variablesMax)
    .optional()
    .describe('Names of the variables of this session that a new session gets; absent: all.'),
  wait: z.boolean().default(false).describe('True: respond after the agent has answered.'),
});

export const sessionEventsParams = z.strictObject({
  session_id: givenUuid
    .optional()
    .describe('Id of this session or of one that it started; absent: this session.'),
  since_index: z.int().min(-1).default(-1).describe('Index after which events are returned; -1: all.'),
  max_events: z
    .int()
    .min(1)
    .max(eventsPerSessionMax)
    .default(eventsPerSessionMax)
    .describe('Largest number of events.'),
  include_children: z.boolean().default(false).describe('True: include the events of all descendants.'),
});

const givenArguments = z.record(z.string(), z.unknown()).default({});

export const callerToolParams = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(nameCharactersMax)
    .describe('Name of a tool that a client of the session offers: <caller_id>_<tool>.'),
  arguments: givenArguments.describe('Arguments of the tool.'),
});

export const platformToolsParams = z.strictObject({});

export const platformCallParams = z.strictObject({
  name: z.string().min(1).max(nameCharactersMax).describe('Name of a tool of the platform.'),
  arguments: givenArguments.describe('Arguments of the tool.'),
});
