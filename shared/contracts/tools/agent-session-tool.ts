/**
 * The arguments of an agent's `session` tool, decoded as they arrive from a model: a wrong field is reported to
 * it by name.
 */
import * as z from 'zod';
import { messageTextBytesMax, modelNameCharactersMax } from '#shared/domain/limits.ts';
import { templateNamePattern } from '#shared/domain/template.ts';
import { givenUuid } from '../fields.ts';
import { onFirstUse } from '../on-first-use.ts';
import { networkArgument } from './free-form-fields.ts';
import { sliceFields } from './slice-fields.ts';
import { flavor } from './tool-fields.ts';

const variablesMax = 64;
const nameCharactersMax = 128;

/** Made when a call is first read: its parts are many, and most functions that load it read none. */
export const agentSessionCall = onFirstUse(() => {
  const prompt = z.string().min(1).max(messageTextBytesMax);
  const model = z.string().min(1).max(modelNameCharactersMax).optional();
  const wait = z.boolean().default(true);
  const ofSession = { session_id: givenUuid };
  return z.discriminatedUnion('action', [
    z.object({
      action: z.literal('spawn'),
      prompt,
      wait,
      model,
      workspace: z.enum(['shared', 'own']).default('shared'),
      template: z.string().regex(templateNamePattern).optional(),
      flavor: flavor.optional(),
      env: z.array(z.string().min(1).max(nameCharactersMax)).max(variablesMax).optional(),
      network: networkArgument.optional(),
      ...sliceFields,
    }),
    z.object({ action: z.literal('message'), ...ofSession, prompt, wait, model }),
    z.object({ action: z.literal('get'), ...ofSession }),
    z.object({ action: z.literal('list') }),
    z.object({
      action: z.literal('events'),
      ...ofSession,
      since_index: z.number().int().min(-1).default(-1),
    }),
    z.object({ action: z.literal('end'), ...ofSession }),
  ]);
});

export type AgentSessionCall = z.output<ReturnType<typeof agentSessionCall>>;
