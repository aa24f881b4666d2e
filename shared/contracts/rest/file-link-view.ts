/** Links to files of a workspace, as clients ask for them. */
import * as z from 'zod';
import { linkMethods } from '#shared/domain/file-link.ts';
import { linkSecondsMax } from '#shared/domain/limits.ts';
import { filePath } from '../fields.ts';

export const linkBody = z.object({
  path: filePath.describe('Path of a file, relative to /workspace.'),
  method: z.enum(linkMethods).describe('GET reads the file until the link expires, PUT writes it once.'),
  expiresInSeconds: z.number().int().min(1).max(linkSecondsMax),
});

export const linkAnswer = z
  .object({
    url: z.string().describe('Address that needs no token.'),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'FileLink' });
