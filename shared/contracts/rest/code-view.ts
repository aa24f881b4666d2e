/** Code that a client runs in a session, and its result as REST shows it. */
import * as z from 'zod';
import { executionSecondsMax, toolTimeoutSeconds } from '#shared/domain/limits.ts';
import { languages } from '#shared/domain/template.ts';
import { utf8Bytes } from '#shared/domain/text.ts';
import { hasNoNul, noNul } from '../program-fields.ts';
import {
  codeBytesMax,
  codeContextName,
  codeContextRule,
  executionSecondsMin,
} from '../tools/sandbox-tools.ts';
import { programResult } from './program-result.ts';

const contextName = z.string().regex(codeContextName, codeContextRule);

export const codeBody = z.object({
  code: z
    .string()
    .min(1)
    .refine((text) => utf8Bytes(text) <= codeBytesMax, `has at most ${codeBytesMax} bytes`)
    .refine(hasNoNul, noNul),
  language: z
    .enum(languages)
    .optional()
    .describe('Language of the code; absent: that of the session. Types of TypeScript are stripped.'),
  context: contextName
    .optional()
    .describe(
      'Name of the interpreter, made at first use; absent: `default`. Two contexts share no variables.',
    ),
  timeoutSeconds: z
    .number()
    .min(executionSecondsMin)
    .max(executionSecondsMax)
    .default(toolTimeoutSeconds)
    .describe('Seconds until the code is interrupted.'),
});

export const contextQuery = z.object({
  language: z.enum(languages).optional().describe('Absent: the interpreters of that name in all languages.'),
});

/** The `name` of a context in a path. */
export const contextPath = z.object({ name: contextName });

export const codeAnswer = z
  .object({
    ...programResult,
    results: z
      .array(z.record(z.string(), z.unknown()))
      .describe(
        'MIME bundles: one for each display, in order, and the last one for the value of the last expression. Images are base64, JSON is a value.',
      ),
    resultsLeftOut: z.number().int().optional().describe('Number of results over the limits of one call.'),
    stateLost: z.boolean().optional().describe('True: variables of earlier calls are lost.'),
  })
  .meta({ id: 'CodeResult' });
