/** A sandbox as REST shows it: files, logs, leased ports. */
import * as z from 'zod';
import { previewPortCount, previewPortFirst } from '#shared/domain/limits.ts';

const bytes = z.number().int().min(0);

export const filesAnswer = z.object({
  files: z.array(
    z
      .object({
        name: z.string(),
        type: z.enum(['file', 'directory', 'symlink']),
        size: bytes,
        modifiedAt: z.iso.datetime(),
      })
      .meta({ id: 'FileEntry' }),
  ),
});

export const writtenAnswer = z
  .object({ path: z.string(), size: bytes })
  .meta({ id: 'WrittenFile', description: 'Complete file that a checkpoint contains.' });

export const receivedAnswer = z.object({
  received: bytes.describe('Number of bytes of the file received so far.'),
});

export const logsAnswer = z.object({
  lines: z.array(
    z.object({ at: z.iso.datetime(), stream: z.enum(['stderr', 'lifecycle']), text: z.string() }),
  ),
});

export const previewPort = z
  .number()
  .int()
  .min(previewPortFirst)
  .max(previewPortFirst + previewPortCount - 1);

export const portAnswer = z
  .object({ port: previewPort, path: z.string().describe('Path of the preview.') })
  .meta({ id: 'LeasedPort' });

export const portsAnswer = z.object({ ports: z.array(portAnswer) });
