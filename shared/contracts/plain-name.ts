/** Names that people and programs give things, without characters that a terminal obeys instead of showing. */
import type * as z from 'zod';
import { isPlainName, plainNameRule } from '#shared/domain/visible-text.ts';

export const plainName = (text: z.ZodString): z.ZodString => text.refine(isPlainName, plainNameRule);
