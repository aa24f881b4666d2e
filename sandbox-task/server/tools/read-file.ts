/**
 * `read_file`: a text file as a whole.
 *
 * At most 1 MB, because its reader is a language model; bytes that are no UTF-8 become replacement
 * characters. Larger and binary files are read over `GET /files`. It ends with its request.
 */
import * as z from 'zod';
import { Refusal } from '../refusal.ts';
import { readChunk } from '../user-files.ts';
import { defineTool, textResult, workspacePath } from './tool.ts';

const fileBytesMax = 1_048_576;

export const readFileTool = defineTool({
  name: 'read_file',
  description: 'Reads a text file of the workspace, at most 1 MB.',
  input: z.object({ path: workspacePath }),
  run: async ({ path }, { userSide }) => {
    const { bytes, size } = await readChunk(userSide, path, { offset: 0, bytesMax: fileBytesMax });
    if (size > fileBytesMax) {
      throw new Refusal(
        'payload_too_large',
        `${path} has ${size} bytes; at most ${fileBytesMax} can be read at once`,
      );
    }
    return textResult(bytes.toString());
  },
});
