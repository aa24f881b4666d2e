/** The arguments and results of the file tools at `/mcp`, and the largest file they read and write. */
import * as z from 'zod';
import { filePathProblem } from '../file-path.ts';
import { pathCharactersMax } from './sandbox-tools.ts';
import { closed, id, moment, oneOf, text } from './tool-fields.ts';

const path = text(pathCharactersMax)
  .refine((given) => filePathProblem(given) === undefined, {
    error: ({ input }) => filePathProblem(String(input)) ?? '',
  })
  .describe('Path in /workspace: relative to it, or absolute under it.');
/** A session of any kind: files belong to its workspace. */
const anySession = id.describe('Id of a session; its sandbox is started when needed.');

/** Text and base64 alike fit the 4 MiB that a request may have. */
export const writeFileBytesMax = 3 * 1_048_576 - 65_536;

export const readFileArguments = closed({ session_id: anySession, path });
export const readFileResult = z.object({
  path: z.string().describe('Path from the request.'),
  size: z.int().describe('Size in bytes.'),
  mime_type: z.string().describe('Media type: text/plain, or that of the binary file.'),
  content: z
    .string()
    .optional()
    .describe(
      'Text of the file; absent for a binary file, which is an image or a resource beside the result.',
    ),
});

export const writeFileArguments = closed({
  session_id: anySession,
  path,
  content: z.string({ error: 'a text' }).describe('Complete new content.'),
  encoding: oneOf(['utf-8', 'base64'])
    .default('utf-8')
    .describe('Encoding of content: text, or the base64 of bytes.'),
});
export const writeFileResult = z.object({
  path: z.string().describe('Path from the request.'),
  size: z.int().describe('Size in bytes.'),
  created: z.boolean().describe('True: the file is new.'),
  message: z.string().describe('Summary for a person.'),
});

export const listFilesArguments = closed({
  session_id: anySession,
  path: path.default('.').describe('Path of a folder in /workspace; absent: /workspace itself.'),
});
export const listFilesResult = z.object({
  path: z.string().describe('Path from the request.'),
  files: z
    .array(
      z.object({
        name: z.string().describe('Name in the folder.'),
        type: z.string().describe('Type: file, directory, symlink or other.'),
        size: z.number().optional().describe('Size in bytes.'),
        modified_at: moment.optional(),
      }),
    )
    .describe('Entries of the folder, at most 10,000.'),
});
