/** Files and folders of a workspace over REST: what requests name, and what answers describe. */
import * as z from 'zod';
import { filePath, queryFlag } from '../fields.ts';

const folderPath = filePath.default('.').describe('Path relative to /workspace.');

const archive = z
  .enum(['tar.gz'])
  .optional()
  .describe('`tar.gz`: a folder with everything below it, as an archive.');

export const archiveQuery = z.object({ archive });

export const filesQuery = z.object({
  path: folderPath,
  recursive: queryFlag.prefault('0').describe('1: list everything below the folder.'),
  archive,
});

/** An archive for the workspace itself, or for a folder named in the query. */
export const unpackQuery = z.object({ path: folderPath, archive: z.enum(['tar.gz']) });

export const watchQuery = z.object({ path: folderPath });

export const folderOps = ['mkdir', 'move', 'copy'] as const;

export const folderChangeQuery = z.object({
  op: z.enum(folderOps),
  to: filePath.optional().describe('The new path of what is moved or copied.'),
  overwrite: queryFlag.prefault('0').describe('1: replace a file that is there. A folder is never replaced.'),
});

export const partHeaders = z.object({
  'content-range': z
    .string()
    .optional()
    .describe('Range `bytes a-b/total`, for a file that is sent in parts.'),
  'upload-id': z
    .uuid()
    .optional()
    .describe('Id of an upload in parts, made by its sender: two uploads of one path never mix.'),
});

const bytes = z.number().int().min(0);

const entryFields = {
  name: z.string(),
  type: z.enum(['file', 'directory', 'symlink']),
  size: bytes,
  modifiedAt: z.iso.datetime(),
};

export const filesAnswer = z.object({
  files: z.array(
    z
      .object({
        ...entryFields,
        path: z.string().describe('Path relative to /workspace.'),
      })
      .meta({ id: 'FileEntry' }),
  ),
  truncated: z.literal(true).optional().describe('There are more entries than the list may have.'),
});

/** A link that leads nowhere from its new place has a path alone. */
export const changedAnswer = z
  .object({ path: z.string() })
  .extend(z.object(entryFields).partial().shape)
  .meta({
    id: 'ChangedEntry',
    description: 'Entry that was made, moved or copied; a checkpoint contains it.',
  });

export const writtenAnswer = z
  .object({ path: z.string(), size: bytes })
  .meta({ id: 'WrittenFile', description: 'Complete file that a checkpoint contains.' });

export const unpackedAnswer = z
  .object({ path: z.string(), files: bytes.describe('Number of unpacked files.'), bytes })
  .meta({ id: 'UnpackedFolder', description: 'Folder with what an archive held; a checkpoint contains it.' });

export const receivedAnswer = z.object({
  received: bytes.describe('Number of bytes of the file received so far.'),
});
