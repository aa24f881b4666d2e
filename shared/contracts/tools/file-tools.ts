/** The arguments and results of the file tools at `/mcp`, and the largest file they read and write. */
import * as z from 'zod';
import { filePathProblem } from '../file-path.ts';
import { pathCharactersMax } from './sandbox-tools.ts';
import { closed, id, moment, oneOf, text } from './tool-fields.ts';

const path = text(pathCharactersMax)
  .refine((given) => filePathProblem(given) === undefined, {
    error: ({ input }) => filePathProblem(String(input)) ?? '',
  })
  .describe('A path in /workspace: relative to it, or absolute under it.');
/** A session of any kind: files belong to its workspace. */
const anySession = id.describe('The id of a session; its sandbox is started when needed.');

/** Text and base64 alike fit the 4 MiB that a request may have. */
export const writeFileBytesMax = 3 * 1_048_576 - 65_536;

export const readFileArguments = closed({ session_id: anySession, path });
export const readFileResult = z.object({
  path: z.string().describe('The path that was asked for.'),
  size: z.int().describe('Bytes.'),
  mime_type: z.string().describe('text/plain, or what kind of binary file it is.'),
  content: z
    .string()
    .optional()
    .describe('The text; absent for a binary file, whose bytes are an image or a resource beside it.'),
});

export const writeFileArguments = closed({
  session_id: anySession,
  path,
  content: z.string({ error: 'a text' }).describe('The whole new content.'),
  encoding: oneOf(['utf-8', 'base64'])
    .default('utf-8')
    .describe('How content is to be read: as text, or as the base64 of bytes.'),
});
export const writeFileResult = z.object({
  path: z.string().describe('The path that was asked for.'),
  size: z.int().describe('Bytes.'),
  created: z.boolean().describe('Whether the file is new.'),
  message: z.string().describe('The same for a person.'),
});

export const listFilesArguments = closed({
  session_id: anySession,
  path: path.default('.').describe('A folder in /workspace; absent: /workspace itself.'),
});
export const listFilesResult = z.object({
  path: z.string().describe('The path that was asked for.'),
  files: z
    .array(
      z.object({
        name: z.string().describe('Its name in the folder.'),
        type: z.string().describe('file, directory, symlink or other.'),
        size: z.number().optional().describe('Bytes.'),
        modified_at: moment.optional(),
      }),
    )
    .describe('At most 10,000.'),
});
