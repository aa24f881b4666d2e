/** The names that people and programs give things, of which no character is obeyed instead of shown. */
import type * as z from 'zod';
import { isPlainName, plainNameRule } from '#shared/domain/plain-name.ts';

export const plainName = (text: z.ZodString): z.ZodString => text.refine(isPlainName, plainNameRule);
