/** Secrets of a project on their way: into the API, into Secrets Manager, and by name alone out of both. */
import * as z from 'zod';
import { secretValueBytesMax } from '#shared/domain/limits.ts';
import { isSecretValue } from '#shared/domain/project.ts';

export const putSecretBody = z.object({
  value: z
    .string()
    .refine(isSecretValue, `a secret has 1 to ${secretValueBytesMax} bytes of text and no NUL`),
});

export const secretView = z.object({ name: z.string() });
export const secretsView = z.object({ secrets: z.array(secretView) });
export const removedView = z.object({ message: z.string() });

/** All values of one project, as they are sealed. */
export const sealedSecrets = z.record(z.string(), z.string());
