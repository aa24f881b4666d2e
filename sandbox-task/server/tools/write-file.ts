/** `write_file`: replaces a file by a text of at most 4 MB, making its folders. It ends with its request. */
import * as z from 'zod';
import { Refusal } from '../refusal.ts';
import { writeFile } from '../user-files.ts';
import { defineTool, textResult, workspacePath } from './tool.ts';

const contentBytesMax = 4 * 1_048_576;

export const writeFileTool = defineTool({
  name: 'write_file',
  description: 'Writes a text file in the workspace; missing folders are made, an existing file is replaced.',
  input: z.object({ path: workspacePath, content: z.string().describe('The whole new content.') }),
  run: async ({ path, content }, { userSide }) => {
    const bytes = Buffer.from(content);
    if (bytes.length > contentBytesMax) {
      throw new Refusal(
        'payload_too_large',
        `the content has ${bytes.length} bytes; at most ${contentBytesMax}`,
      );
    }
    await writeFile(userSide, path, bytes);
    return textResult(`Successfully wrote to ${path}`);
  },
});
